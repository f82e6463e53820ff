"""What facets refuse: all problems at once, those of the search included."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from testing.api_calls import FACETS, answered, bad_fields, refused


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"facets": "country"}, {"facets"}),
        ({"facets": [1]}, {"facets"}),
        ({"facets": ["nope"]}, {"facets"}),
        ({"facets": ["emails"]}, {"facets"}),
        ({"size": 0}, {"size"}),
        ({"size": "10"}, {"size"}),
        ({"size": True}, {"size"}),
        ({"facet": ["country"]}, {"facet"}),
        ({"facets": ["nope"], "size": 51, "limt": 1, "min_score": 140}, {"facets", "size", "limt", "min_score"}),
    ],
)
def test_bodies(own: httpx.Client, body: dict[str, Any], fields: set[str]) -> None:
    assert bad_fields(own, body, FACETS) == fields


@pytest.mark.promise("limit.facet_size")
def test_the_most_values(own: httpx.Client) -> None:
    answered(own.post(FACETS, json={"size": 50}))
    assert bad_fields(own, {"size": 51}, FACETS) == {"size"}


def test_the_nearest_name(own: httpx.Client) -> None:
    (detail,) = refused(own.post(FACETS, json={"facets": ["contry"]}), 400, "INVALID_REQUEST")
    assert detail == {
        "field": "facets",
        "message": "'contry' is not a facet; did you mean country?",
        "nearest": "country",
    }


def test_a_sentence_that_says_nothing(own: httpx.Client) -> None:
    refused(own.post(FACETS, json={"query": "the best ones"}), 400, "INVALID_QUERY")
