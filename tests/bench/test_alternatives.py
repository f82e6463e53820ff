"""A small size of `make long-alternatives`: a page costs at most what a separate search per branch costs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bench import alternatives
from siteglass.corpus.lead import Lead
from siteglass.index.documents import sort_keys
from siteglass.index.index import open_index
from siteglass.platform.backends import open_backends
from siteglass.query.directives import parse
from siteglass.settings import Settings
from testing.outcomes import judge_times

NIGHTLY = True


def test_every_search_has_four_branches() -> None:
    for text in alternatives.SEARCHES:
        assert len(alternatives.branches_of(parse(text))) == 4


@pytest.mark.timing
def test_a_page_costs_no_more_than_its_branches(live_settings: Settings, leads: list[Lead]) -> None:
    ranked = [(lead, sort_keys(lead)) for lead in leads]

    async def measure() -> dict[str, Any]:
        async with open_backends(live_settings) as backends:
            return await alternatives.measure(open_index(backends), alternatives.SEARCHES[0], ranked)

    figures = asyncio.run(measure())
    judge_times(max(figures["ratio"].values()) <= alternatives.MAX_RATIO, figures)
