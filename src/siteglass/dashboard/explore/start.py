"""The Explore page before a search: saved searches with what is new, and examples that find leads in this index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from siteglass.access.browsing import BrowserTerms
from siteglass.dashboard.examples import EXAMPLES
from siteglass.dashboard.explore.address import apply_changes
from siteglass.dashboard.explore.chips import make_chips
from siteglass.dashboard.explore.saved import reader_of
from siteglass.dashboard.forms import Form
from siteglass.dashboard.guard import Dashboard, Visit
from siteglass.dashboard.saved_searches import SavedRow, find_rows
from siteglass.errors import SiteglassError, TooManyRequests
from siteglass.leads.facets import FacetsRequest
from siteglass.leads.lists.lists import RECEIVED
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.leads.searches.searches import SavedSearch
from siteglass.query.doubt import find_doubts

SAVED_SHOWN = 5
# What the index has most of: a value of the first with one of the second reads as a search.
_PAIRS = (("trades", "city"), ("technologies", "country"))


@dataclass(frozen=True, slots=True)
class Example:
    """A search to begin with, how it is read, and how many leads it finds now; None if that is not known in time."""

    words: str
    reading: str = ""
    total: int | None = None
    doubted: bool = False
    """Whether a part of it may be misread."""


@dataclass(frozen=True, slots=True)
class Start:
    """What somebody can begin with."""

    saved: Sequence[SavedRow]
    has_more: bool
    examples: Sequence[Example]


async def find_start(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> Start:
    """The searches that somebody opened last, and examples."""
    seen = await dashboard.searches.seen(reader_of(terms))
    last = sorted(seen, key=_opened_at, reverse=True)[:SAVED_SHOWN]
    may_count = True
    try:
        await dashboard.take_units(visit, terms.caller, COUNTING_UNITS * (len(last) + 1))
    except TooManyRequests:
        may_count = False
    rows, examples = await asyncio.gather(
        find_rows(dashboard, visit, terms, last, may_count=may_count),
        _find_examples(dashboard, terms, may_count=may_count),
    )
    return Start([row for row in rows if row.path], len(seen) > len(last), examples)


def _opened_at(saved: SavedSearch) -> float:
    return (saved.counted_at or saved.made_at).timestamp()


async def _find_examples(dashboard: Dashboard, terms: BrowserTerms, *, may_count: bool) -> list[Example]:
    """Ours, as far as they find something; an index of other leads gives others."""
    if not may_count:
        return list(map(Example, EXAMPLES))
    counted = await _count(dashboard, terms, EXAMPLES)
    found = [one for one in counted if one.total != 0]
    if len(found) < len(EXAMPLES):
        own = await _count(dashboard, terms, await _words_of_index(dashboard, terms))
        found += [one for one in own if one.total and not one.doubted]
    return found[: len(EXAMPLES)]


async def _count(dashboard: Dashboard, terms: BrowserTerms, searches: Sequence[str]) -> list[Example]:
    leads = dashboard.leads

    async def counted(words: str) -> Example:
        reading = ""
        try:
            wanted = leads.read({"query": words, "exclude_lists": [RECEIVED]})
            search, _ = apply_changes(wanted.meaning, Form(), leads.index.clock.now_ms())
            reading = " · ".join(chip.name for chip in make_chips(search, wanted.meaning))
            total = (await leads.count(terms.caller, wanted)).count
            return Example(words, reading, total, bool(find_doubts(wanted.meaning)))
        except SiteglassError:
            return Example(words, reading)

    return await asyncio.gather(*map(counted, searches))


async def _words_of_index(dashboard: Dashboard, terms: BrowserTerms) -> list[str]:
    """Sentences about the most frequent trades, places and technologies of this index."""
    fields = tuple(field for pair in _PAIRS for field in pair)
    try:
        wanted = dashboard.leads.read({})
        request = FacetsRequest(wanted.meaning, fields, len(EXAMPLES) // len(_PAIRS), wanted.lists)
        counted, _total = await dashboard.leads.count_values(terms.caller, request)
    except SiteglassError:
        return []
    names = {facet.facet: [value.name for value in facet.counts] for facet in counted.facets}
    return [f"{first} in {second}" for one, other in _PAIRS for first in names[one] for second in names[other][:1]]
