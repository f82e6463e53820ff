"""A small size of `make long-depth`: no page, near or deep, in any order and direction, costs a multiple of another."""

from __future__ import annotations

import asyncio

import pytest

from bench import depth
from siteglass.corpus.lead import Lead
from siteglass.index.documents import sort_keys
from siteglass.index.index import open_index
from siteglass.platform.backends import open_backends
from siteglass.query.directives import parse
from siteglass.query.fields import SORTS
from siteglass.settings import Settings
from testing.outcomes import judge_times

NIGHTLY = True

# With the 20,000 leads of the night, walking over all matches would cost about six times a page; the machine is busy.
MOST_TIMES_THE_CHEAPEST = 3.5


@pytest.mark.timing
def test_deep_pages_cost_what_near_ones_cost(live_settings: Settings, leads: list[Lead]) -> None:
    text = "!@country(USA)"
    matching = [(lead, sort_keys(lead)) for lead in leads if depth.SEARCHES[text](lead)]

    async def measure() -> dict[str, float]:
        medians: dict[str, float] = {}
        async with open_backends(live_settings) as backends:
            live_index = open_index(backends)
            for sort in SORTS:
                order = depth.in_order(matching, sort)
                figures = await depth.measure(live_index, parse(text), sort, order)
                medians |= {f"{sort} {kind}": f["median"] for kind, f in figures["milliseconds"].items()}
        return medians

    medians = asyncio.run(measure())
    assert len(medians) == 3 * len(SORTS)
    judge_times(max(medians.values()) <= MOST_TIMES_THE_CHEAPEST * min(medians.values()), medians)
