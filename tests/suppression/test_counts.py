"""Counts show nothing that a person opted out: not as a search word, not as a value, not as a lead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.service import serving
from tests.suppression.world import World, world

ADDRESS, WHOLE = "anna.berg@example.com", "whole.example"
# Texts that a hostile or careless page may put anywhere.
LEADS = [
    Lead(domain="words.example", crawled_at_ms=1, keywords=("bread", ADDRESS), country="DEU", emails=(ADDRESS,)),
    Lead(domain="text.example", crawled_at_ms=1, text=f"Write to {ADDRESS} today", country="DEU"),
    Lead(domain="place.example", crawled_at_ms=1, city=ADDRESS, technologies=(ADDRESS, "Shopify"), country="DEU"),
    Lead(domain=WHOLE, crawled_at_ms=1, country="DEU", emails=(f"info@{WHOLE}",), keywords=("bread",)),
    Lead(domain="other.example", crawled_at_ms=1, country="DEU", emails=("info@other.example",)),
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world("counts", LEADS, tmp_path_factory.mktemp("counts")) as made:
        yield made


def _post(client: httpx.Client, operation: str, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.post(f"/v1/leads/{operation}", json=body).raise_for_status().json()
    return answer


def _counts(answer: dict[str, Any]) -> dict[str, dict[str, int]]:
    return {facet["facet"]: {one["value"]: one["count"] for one in facet["counts"]} for facet in answer["facets"]}


@pytest.mark.promise("facets.opt_out")
def test_what_is_suppressed_is_not_counted(scene: World) -> None:
    with serving(scene.settings) as client:
        before = _post(client, "facets", keywords=[ADDRESS], facets=["country"])
        assert before["total_results"] == 2  # so that the search would find it
        everything = _post(client, "facets", size=50)
        # A text with an address is never a value, opted out or not.
        assert ADDRESS not in json.dumps(everything)
        assert _counts(everything)["technologies"] == {"Shopify": 1}
        assert everything["price"]["with_email"] == 3
    for value in (ADDRESS, WHOLE):
        scene.command("suppress", "add", value, "--reason", "asked to")
    with serving(scene.settings) as client:
        for place in ({"keywords": [ADDRESS]}, {"city": ADDRESS}, {"technologies": [ADDRESS]}):
            answer = _post(client, "facets", **place)
            assert answer["total_results"] == answer["price"]["with_email"] == 0
            own = next(iter(place))
            assert not any(counts for field, counts in _counts(answer).items() if field != own)
            assert ADDRESS not in json.dumps([facet["counts"] for facet in answer["facets"]])
            diagnosis = _post(client, "diagnose", country="DEU", **place)
            assert diagnosis["total_results"] == 0
            assert sorted(one["matches"] for one in diagnosis["conditions"]) == [0, 4]
        everything = _post(client, "facets", size=50)
        assert everything["total_results"] == 4
        assert everything["price"]["with_email"] == 1
        assert _counts(everything)["country"] == {"DEU": 4}
        assert _post(client, "facets", keywords=["bread"])["total_results"] == 1
        assert ADDRESS not in json.dumps(everything)
