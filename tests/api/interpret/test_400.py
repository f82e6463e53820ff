"""What interpret refuses: wrong bodies as a search does, wrong lines with their places."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from testing.api_calls import INTERPRET, SEARCH, answered, bad_fields, refused


def test_wrong_lines_are_told_with_their_places(own: httpx.Client) -> None:
    """A linter of `wrapped_query`."""
    text = "@country(Germny)\n@technology(Shopify)\n  @technologies(Wix)\n@score(>95)"
    details = refused(own.post(INTERPRET, json={"wrapped_query": text}), 400, "INVALID_QUERY")
    assert [(one["line"], one["column"], one.get("nearest")) for one in details] == [
        (1, 10, "DEU"),
        (3, 3, "@technology"),
        (4, 8, None),
    ]
    assert {one["field"] for one in details} == {"wrapped_query"}
    assert details == refused(own.post(SEARCH, json={"wrapped_query": text}), 400, "INVALID_QUERY")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"query": "x" * 1001}, {"query"}),
        ({"query": ["dentist"]}, {"query"}),
        ({"query": "dentist", "limt": 1, "min_score": 140}, {"limt", "min_score"}),
        ({"explain": 1}, {"explain"}),
        ({"strict": "yes"}, {"strict"}),
        ({"query": "dentist", "require": "dentist"}, {"require"}),
        ({"query": "dentist", "require": ["dentist", "vegan"]}, {"require"}),
        ({"query": "dentist", "require": ["dentist"] * 11}, {"require"}),
        ({"query": "dentist", "require": [" "]}, {"require"}),
        ({"require": ["dentist"]}, {"require"}),
        ({"query": "dentist", "wrapped_query": "@not_secure", "require": ["dentist"]}, {"require"}),
        ({"limit": 0, "select": ["nope"], "sort": "best"}, {"limit", "select", "sort"}),
    ],
)
def test_bodies(own: httpx.Client, body: dict[str, Any], fields: set[str]) -> None:
    for path in (INTERPRET, SEARCH):
        assert bad_fields(own, body, path) == fields


def test_a_query_may_have_a_thousand_characters(own: httpx.Client) -> None:
    answered(own.post(INTERPRET, json={"query": "é" * 1000}))
    details = refused(own.post(INTERPRET, json={"query": "é" * 1001}), 400, "INVALID_REQUEST")
    assert details == [{"field": "query", "message": "expected at most 1000 characters, found 1001"}]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null"])
def test_what_is_no_object(own: httpx.Client, body: bytes) -> None:
    response = own.post(INTERPRET, content=body, headers={"Content-Type": "application/json"})
    assert [detail["field"] for detail in refused(response, 400, "INVALID_REQUEST")] == ["body"]
