"""A small size of `make long-overhead`: a request costs no more CPU than it did when the reference was made."""

from __future__ import annotations

import asyncio
import itertools
import re
from pathlib import Path

import pytest

from bench import common
from bench.overhead import regression
from bench.overhead.mix import Mix
from siteglass.corpus.lead import Lead
from siteglass.query.fields import DIRECTIVES, FILTERS, SORTS


@pytest.mark.timing
def test_a_request_costs_no_more_cpu_than_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "FOLDER", tmp_path)
    measured = asyncio.run(regression.measure())
    times = regression.times_the_reference(measured["units"])
    assert len(times) == len(regression.CELLS) * len(regression.PROCESSES)
    assert max(times.values()) <= regression.MOST_TIMES_THE_REFERENCE, (times, measured)


HISTORY = {"added", "dropped"}
"""The demo's leads have none, so nothing asks for it."""


@pytest.mark.no_cover  # the same lines over and over
def test_the_mix_is_repeatable_and_asks_for_everything_that_the_catalogue_offers(leads: list[Lead]) -> None:
    drawn = list(itertools.islice(Mix(leads, seed=1).searches(), 5_000))
    assert drawn[:500] == list(itertools.islice(Mix(leads, seed=1).searches(), 500))
    assert {name for search in drawn for name in search.body} == {
        *FILTERS.keys() - HISTORY,
        *("query", "wrapped_query", "sort", "limit", "select"),
    }  # fmt: skip
    said = " ".join(search.body.get("wrapped_query", "") for search in drawn)
    assert set(re.findall(r"(?<!\w)@(\w+)", said)) >= set(DIRECTIVES) - HISTORY
    assert {search.body.get("sort", "-score") for search in drawn} == set(SORTS)
    assert {search.body.get("limit", 20) for search in drawn} == {20, 100}
    assert 0.2 < sum(search.page > 1 for search in drawn) / len(drawn) < 0.4
