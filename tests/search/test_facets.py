"""Facets count exactly the leads that a reference scan counts, or say by how much an estimate may be off."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.query.criteria import Condition, Criteria
from siteglass.query.fields import FACETS
from siteglass.query.filters import write_filters
from siteglass.settings import Settings
from testing.api_calls import FACETS as PATH
from testing.api_calls import answered
from testing.facet_scan import IN_ORDER, VALUES, counted
from testing.random_searches import Drawer
from testing.reference_scan import matching
from testing.service import serving

# 300 searches of each kind with SITEGLASS_LONG=1.
EXACT, SAMPLED = (300, 300) if os.environ.get("SITEGLASS_LONG") else (10, 12)
SIZE = 12
# 4,000 leads and 20 facets are 80,000: a search that finds some hundred leads is estimated.
SMALL_BUDGET = 1_000

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


def _counted_over(criteria: Criteria, field: str) -> Criteria:
    """A facet ignores the search's own conditions on its field."""
    kept = [one for one in criteria.conditions if not (isinstance(one, Condition) and one.field == field)]
    return Criteria(tuple(kept))


class Scan:
    """Counts by the reference scan; each set of leads is matched once."""

    def __init__(self, leads: list[Lead]) -> None:
        self._leads = leads
        self._matching: dict[Criteria, list[Lead]] = {}

    def matching(self, criteria: Criteria) -> list[Lead]:
        if criteria not in self._matching:
            self._matching = {} if len(self._matching) > 100 else self._matching
            self._matching[criteria] = matching(criteria, self._leads)
        return self._matching[criteria]

    def counted(self, criteria: Criteria, field: str) -> dict[str, int]:
        return counted(field, self.matching(_counted_over(criteria, field)))


def facets(client: httpx.Client, criteria: Criteria, **body: Any) -> dict[str, Any]:
    return answered(client.post(PATH, json={**write_filters(criteria), "size": SIZE, **body}))


def _paid(criteria: Criteria, leads: list[Lead]) -> int:
    """What a walk over all pages costs."""
    personal = criteria.hides_generic_emails()
    return sum(bool(lead.emails_personal if personal else lead.emails) for lead in leads)


def _is_within(facet: dict[str, Any], expected: dict[str, int]) -> bool:
    return all(abs(value["count"] - expected[value["value"]]) <= value["error"] for value in facet["counts"])


def test_the_scan_knows_every_facet() -> None:
    assert set(VALUES) == set(FACETS)


@pytest.mark.promise("facets.exact", "facets.selection", "facets.price")
def test_counts_are_those_of_a_reference_scan(client: httpx.Client, leads: list[Lead]) -> None:
    drawer, scan = Drawer(leads, seed=26_000), Scan(leads)
    # All leads, too: no facet has conditions of its own.
    searches = [Criteria(), *(drawer.criteria() for _ in range(EXACT - 1))]
    for criteria in searches:
        answer = facets(client, criteria)
        found = scan.matching(criteria)
        assert answer["total_results"] == len(found), criteria
        assert answer["price"]["with_email"] == _paid(criteria, found), criteria
        assert not answer["price"]["estimated"]
        assert [facet["facet"] for facet in answer["facets"]] == list(FACETS)
        for facet in answer["facets"]:
            field, expected = facet["facet"], scan.counted(criteria, facet["facet"])
            shown = {value["value"]: value["count"] for value in facet["counts"]}
            assert len(shown) == len(facet["counts"])
            assert shown == {value: expected[value] for value in shown}, (criteria, field)
            assert not facet["estimated"]
            if field in IN_ORDER:
                assert list(shown) == [value for value in IN_ORDER[field] if expected[value]]
            elif not field.startswith("has_") and field != "crawled_at":
                assert list(shown.values()) == sorted(expected.values(), reverse=True)[:SIZE], (criteria, field)
                assert facet["more"] is (len(expected) > SIZE), (criteria, field)


@pytest.mark.promise("facets.estimated", "setting.facet_budget")
def test_estimates_are_within_their_errors(live_settings: Settings, leads: list[Lead]) -> None:
    drawer, scan = Drawer(leads, seed=26_001), Scan(leads)
    estimated = within = 0
    with serving(replace(live_settings, facet_budget=SMALL_BUDGET)) as client:
        while estimated < SAMPLED:
            criteria = drawer.criteria()
            answer = facets(client, criteria)
            found = scan.matching(criteria)
            assert answer["total_results"] == len(found)
            assert answer["price"]["with_email"] == _paid(criteria, found)
            guessed = [facet for facet in answer["facets"] if facet["estimated"]]
            if not guessed:
                continue
            estimated += 1
            within += all(_is_within(facet, scan.counted(criteria, facet["facet"])) for facet in guessed)
    assert within >= 0.95 * estimated


def test_a_sample_is_no_better_than_the_rest(live_settings: Settings, leads: list[Lead]) -> None:
    """The index is sorted by score: a sample of its first leads would find only high ones."""
    expected = counted("score", leads)
    with serving(replace(live_settings, facet_budget=40_000)) as client:
        (facet,) = facets(client, Criteria(), facets=["score"])["facets"]
        all_of_them = facets(client, Criteria(), facets=["score", "country", "city", "trades"])["facets"][0]
    assert not facet["estimated"]
    assert all_of_them["estimated"]
    assert _is_within(all_of_them, expected)
    assert max(value["error"] for value in all_of_them["counts"]) < 2_000
    assert {value["value"] for value in all_of_them["counts"]} == set(expected)
