"""Each condition removes what a reference scan says, and every relaxation finds the leads that it promises."""

from __future__ import annotations

import os
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Condition, Criteria, criteria
from siteglass.query.filters import write_filters
from siteglass.query.relaxations import MAX_SHOWN
from testing.api_calls import DIAGNOSE, SEARCH, answered
from testing.random_searches import Drawer
from testing.reference_scan import matching

# 200 impossible searches with SITEGLASS_LONG=1.
IMPOSSIBLE = 200 if os.environ.get("SITEGLASS_LONG") else 8

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


def _impossible(client: httpx.Client, drawer: Drawer) -> Criteria:
    """A search of two to five conditions that finds nothing; every third one has a technology that nobody knows."""
    while True:
        clauses = drawer.criteria(5).conditions
        if drawer.random.random() < 0.3:
            clauses = (*clauses, Condition("technologies", (drawer.random.choice(("shopfy", "qqqqqq", "wordpres")),)))
        made = criteria(clauses)
        body = {**write_filters(made), "limit": 1, "dry_run": True}
        if len(made.conditions) > 1 and answered(client.post(SEARCH, json=body))["total_results"] == 0:
            return made


def _total(client: httpx.Client, filters: dict[str, Any]) -> int:
    total: int = answered(client.post(SEARCH, json={**filters, "limit": 1, "dry_run": True}))["total_results"]
    return total


@pytest.mark.promise("diagnose.relaxations", "diagnose.conditions")
def test_every_relaxation_finds_what_it_promises(client: httpx.Client, leads: list[Lead]) -> None:
    drawer = Drawer(leads, seed=26_002)
    helped = 0
    for _ in range(IMPOSSIBLE):
        made = _impossible(client, drawer)
        answer = answered(client.post(DIAGNOSE, json=write_filters(made)))
        assert answer["total_results"] == 0
        for clause, effect in zip(made.conditions, answer["conditions"], strict=True):
            others = Criteria(tuple(one for one in made.conditions if one != clause))
            assert effect["matches"] == len(matching(Criteria((clause,)), leads)), effect
            assert effect["removes"] == len(matching(others, leads)), effect
        helped += bool(answer["relaxations"])
        single = {effect["directive"] for effect in answer["conditions"] if effect["removes"]}
        respelled = {one["directive"] for change in answer["relaxations"] for one in change["replace"]}
        dropped = [change["drop"] for change in answer["relaxations"] if change["drop"]]
        if single - respelled:
            # One condition less is enough: these are offered, and nothing larger.
            offered = {directive for drop in dropped if len(drop) == 1 for directive in drop}
            assert offered == single - respelled or len(answer["relaxations"]) == MAX_SHOWN
            assert offered <= single
        for change in answer["relaxations"]:
            assert change["total_results"] > 0
            assert _total(client, change["filters"]) == change["total_results"], change
            meant = read_meaning(change["filters"], 0).criteria
            assert len(matching(meant, leads)) == change["total_results"], change
            assert len(meant.conditions) >= 1
            known = {effect["directive"] for effect in answer["conditions"]}
            assert set(change["drop"]) <= known
    assert helped >= 0.9 * IMPOSSIBLE
