"""Pages of a search, forward and backward, each in one engine request whose cost does not grow with its depth.

The first page has a second request beside it, for the total: see `counting`.

Every order starts with a fine-grained number, the key. A later page adds a range on the key to `search_after`, which
alone walks over all matches before the page. In the order in which the index is sorted, the engine stops early. In the
opposite direction, every match would look better than the last. So the range is also bounded on the far side: by some
page widths, then by more of them if that was too little.

An example: a page of `-score` starts at rank 1,000, and its leads span 50 ranks (its width). The next page runs along
the index: the range is `rank >= 1000` and the engine stops after the page. The page before runs against it: the first
window is 2 widths, `900 <= rank <= 1000`. If fewer leads than needed are in there, the next window is 16 widths,
`200 <= rank <= 1000`. 128 widths are more than all ranks below 1,000, so the last attempt is `rank <= 1000` without a
lower bound.

Leads with the same key are in the order of their domains. To sort by text costs the engine an eighth of its work for a
page, and two leads rarely have the same key. So it sorts by the key alone and the page is put in order here. Only if
leads with the same key are on both sides of the page's end, the page is requested again, sorted by both.

Leads without a score have the highest ranks, so `score`, which runs down the ranks, would begin with them. It has two
stretches instead: first down from the highest rank of a score, then down the ranks of leads without one. A page at the
seam between them takes two requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from siteglass.errors import Unavailable
from siteglass.index.cards import needs_rest, needs_source
from siteglass.index.compile import Extra, Query, compile_criteria
from siteglass.index.counting import Total, count_if_possible, search_and_count
from siteglass.index.documents import RANK_HASH_BITS
from siteglass.index.hits import Hit, NoCards, SearchAnswer, decode_answer, failure
from siteglass.index.index import Index
from siteglass.platform import metrics
from siteglass.platform.opensearch import EngineError
from siteglass.query.criteria import Criteria, Range
from siteglass.query.cursor import Position
from siteglass.query.fields import OLD_SCORE_SORT

# How many page widths a window spans, one try after the other; then there is no window. The engine looks at every lead
# in a window, so the first is narrow. With 8 widths a page backward cost up to 1.4 times as much as page 2.
WIDENINGS = (2, 16, 128)
ONE_SCORE = 1 << RANK_HASH_BITS
# The first page against the index order knows no width yet: parts and multiples of the leads of one score.
FIRST_WINDOWS = (ONE_SCORE >> 10, ONE_SCORE >> 4, ONE_SCORE << 2)
# A page that ends with leads that were never fetched spans nearly all keys; cursors hold numbers of 64 bits.
MAX_WIDTH = 1 << 62
# Leads without a score have this rank and higher ones, below the last.
UNKNOWN_RANK, LAST_RANK = 101 * ONE_SCORE, 102 * ONE_SCORE
# After every domain.
_LAST_DOMAIN = "\uffff"

# From where the engine takes records, as part of a request: leads that an older build wrote have no cards.
Records = Mapping[str, Any]
CARD: Records = {"stored_fields": "_none_", "docvalue_fields": ["card"]}
CARD_AND_REST: Records = {"stored_fields": "_none_", "docvalue_fields": ["card", "rest"]}
SOURCE: Records = {"_source": True}


def records_with(select: Sequence[str]) -> Records:
    """From where a page with these fields takes its records."""
    if needs_source(select):
        return SOURCE
    return CARD_AND_REST if needs_rest(select) else CARD


# The part of the timeout of a search in which a page and its total, as one request, are quick.
QUICK_PART = 20
# How long a page waits for a count that it does not need.
LEFT_OVER_S = 0.05


class Stretch(NamedTuple):
    """Keys that are walked in one piece, both ends included; None: there is no end."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A total order of leads: the leading key, then the domain, both in the same direction."""

    key: str
    descending: bool = False
    unknown_from: int | None = None
    """Keys from here on belong to leads without a value, with which the order ends although it runs down the keys."""

    def stretch(self, position: Position | None) -> Stretch:
        """The keys that a walk from this position meets before a seam."""
        if self.unknown_from is None:
            return Stretch()
        if position is None or position.key < self.unknown_from:
            return Stretch(high=self.unknown_from - 1)
        return Stretch(low=self.unknown_from)

    def after_seam(self, position: Position) -> Position | None:
        """Where a walk in the direction of this position continues at the end of its stretch; None: it ends there."""
        if self.unknown_from is None or (position.key < self.unknown_from) is position.backward:
            return None
        return Position(0, "", backward=True) if position.backward else Position(LAST_RANK - 1, _LAST_DOMAIN)

    def runs_down(self, *, backward: bool) -> bool:
        """Whether travel in this direction goes from high keys to low ones."""
        return self.descending != backward

    @property
    def has_rare_ties(self) -> bool:
        """Whether the key contains a hash of the domain, so that two leads rarely have the same."""
        return self.key != "domain_rank"

    def sort(self, *, backward: bool, by_domain: bool) -> list[dict[str, str]]:
        """The engine's `sort`: by the key, and by the domain for leads with the same key."""
        direction = "desc" if self.runs_down(backward=backward) else "asc"
        return [{self.key: direction}, *([{"domain": direction}] if by_domain else ())]


INDEX_ORDER = "rank"
ORDERS = {
    "-score": Order(INDEX_ORDER),
    "score": Order(INDEX_ORDER, descending=True, unknown_from=UNKNOWN_RANK),
    # Only by cursors of the release before: unknown scores first. Goes with the next release.
    OLD_SCORE_SORT: Order(INDEX_ORDER, descending=True),
    "-spending": Order("spending_rank"),
    "-crawled_at": Order("crawled_rank"),
    "domain": Order("domain_rank"),
}


class Tied(Exception):
    """Leads with the same key are on both sides of an end of the page: only the engine can put them in order."""


@dataclass(frozen=True, slots=True)
class HitPage:
    """Leads in the order of the search, and whether there are more in the direction of travel."""

    hits: list[Hit]
    more: bool

    def width(self, sort: str, limit: int) -> int:
        """How much of the leading key a page of `limit` leads takes here; the step over a seam does not count."""
        sign = -1 if ORDERS[sort].descending else 1
        steps = [step for one, other in pairwise(self.hits) if (step := sign * (other.key - one.key)) >= 0]
        return min(sum(steps) * limit // len(steps), MAX_WIDTH) if steps else 0


def page_body(
    criteria: Criteria,
    sort: str,
    limit: int,
    position: Position | None,
    window: int | None,
    extra: tuple[Extra, ...] = (),
    records: Records = CARD,
    *,
    by_domain: bool = False,
) -> dict[str, Any]:
    """The engine's request for a page; `window` bounds how far it looks, `extra` filters are added.

    Unless it sorts by domain, it finds the lead at the position again.
    """
    order = ORDERS[sort]
    by_domain = by_domain or not order.has_rare_ties
    body: dict[str, Any] = {
        "size": limit + (1 if by_domain or position is None else 2),
        "track_total_hits": False,
        "sort": order.sort(backward=position is not None and position.backward, by_domain=by_domain),
        "query": compile_criteria(criteria, extra if position is None else (*extra, _nearby(order, position, window))),
        **records,
    }
    if position is not None:
        body["search_after"] = [position.key, position.domain] if by_domain else [_just_before(order, position)]
    return body


def _just_before(order: Order, position: Position) -> int:
    """The key before that of the position. It lets the engine skip what is too far; by a filter alone, it cannot."""
    return position.key + (1 if order.runs_down(backward=position.backward) else -1)


def _nearby(order: Order, position: Position, window: int | None) -> Query:
    """The range that lets the engine start at the page instead of walking there, and stop after it."""
    stretch = order.stretch(position)
    if order.runs_down(backward=position.backward):
        ends = [end for end in (stretch.low, None if window is None else position.key - window) if end is not None]
        bounds = {"lte": position.key, **({"gte": max(ends)} if ends else {})}
    else:
        ends = [end for end in (stretch.high, None if window is None else position.key + window) if end is not None]
        bounds = {"gte": position.key, **({"lte": min(ends)} if ends else {})}
    return {"range": {order.key: bounds}}


def _windows(order: Order, position: Position) -> Iterator[int | None]:
    """How far to look, one try after the other."""
    down = order.runs_down(backward=position.backward)
    along_index = order.key == INDEX_ORDER and not down
    if position.width > 0 and not along_index and (position.backward or down):
        for factor in WIDENINGS:
            window = factor * position.width
            if down and window >= position.key - (order.stretch(position).low or 0):
                break
            yield window
    yield None


def _start(order: Order, criteria: Criteria) -> Position | None:
    """Where a first page against the index order starts: at the highest rank that the criteria leave."""
    if order.key != INDEX_ORDER or not order.descending:
        return None
    lowest = min((min(lows) for lows in _asked_scores(criteria)), default=0)
    return Position((101 - lowest) * ONE_SCORE - 1, _LAST_DOMAIN)


def _asked_scores(criteria: Criteria) -> list[list[int]]:
    """The lowest scores of each condition that asks for one; leads without a score meet none of these conditions."""
    return [
        [value.low or 0 for value in condition.values if isinstance(value, Range)]
        for condition in criteria.plain
        if condition.field == "score" and not condition.negated
    ]


async def _cross_seam(
    index: Index,
    criteria: Criteria,
    sort: str,
    limit: int,
    position: Position | None,
    page: HitPage,
    extra: tuple[Extra, ...],
    records: Records,
) -> HitPage:
    """The page with leads of the order's next stretch, if this one had too few to fill it."""
    start = None if page.more or position is None else ORDERS[sort].after_seam(position)
    if start is None or (not start.backward and _asked_scores(criteria)):
        return page
    lacking = limit - len(page.hits)
    windows = (None,) if start.backward else (*FIRST_WINDOWS, None)
    # One even if none is lacking, to know whether there are more.
    further = await _look(index, criteria, sort, max(lacking, 1), start, windows, extra, records)
    if lacking == 0:
        return HitPage(page.hits, more=bool(further.hits))
    hits = [*further.hits, *page.hits] if start.backward else [*page.hits, *further.hits]
    return HitPage(hits, more=further.more)


async def later_page(
    index: Index,
    criteria: Criteria,
    sort: str,
    limit: int,
    position: Position,
    extra: tuple[Extra, ...] = (),
    *,
    records: Records = CARD_AND_REST,
) -> HitPage:
    """The page at a position; one round trip, more only to look further."""
    windows = list(_windows(ORDERS[sort], position))
    page = await _look(index, criteria, sort, limit, position, windows, extra, records)
    return await _cross_seam(index, criteria, sort, limit, position, page, extra, records)


async def _look(
    index: Index,
    criteria: Criteria,
    sort: str,
    limit: int,
    position: Position | None,
    windows: Sequence[int | None],
    extra: tuple[Extra, ...],
    records: Records,
    *,
    by_domain: bool = False,
) -> HitPage:
    """The page in the first window that fills it, or in the last."""
    page = HitPage([], more=False)
    for attempt, window in enumerate(windows):
        if attempt:
            metrics.PAGES_WIDENED.inc()
        timeout_ms = index.settings.search_timeout_ms
        body = page_body(criteria, sort, limit, position, window, extra, records, by_domain=by_domain)
        try:
            answer = await index.opensearch.search(
                f"/{index.names.read}/_search",
                {**body, "timeout": f"{timeout_ms}ms"},
                timeout_ms=timeout_ms,
                params={"allow_partial_search_results": "false", "request_cache": "false"},
                decode=decode_answer,
            )
        except EngineError as error:
            raise failure(error) from error
        answer.require_whole()
        try:
            page = _page(answer, ORDERS[sort], limit, position, rest=records is not CARD)
        except NoCards:
            left = windows[attempt:]
            return await _look(index, criteria, sort, limit, position, left, extra, SOURCE, by_domain=by_domain)
        except Tied:
            left = windows[attempt:]
            return await _look(index, criteria, sort, limit, position, left, extra, records, by_domain=True)
        if page.more:
            break
    return page


async def first_page(
    index: Index,
    criteria: Criteria,
    sort: str,
    limit: int,
    extra: tuple[Extra, ...] = (),
    *,
    records: Records = CARD_AND_REST,
    total_wait_s: float | None = None,
) -> tuple[HitPage, Total]:
    """The first page and the total. Whatever becomes of the count, the page is returned.

    While counts are quick, both are one request: two would cost a tenth more CPU. Otherwise they go side by side.

    `total_wait_s`: how long a page that is ready waits for its total; None: until it is counted or estimated.
    """
    start = _start(ORDERS[sort], criteria)
    windows = (*FIRST_WINDOWS, None) if start else (None,)
    if start is None and not extra and total_wait_s is None:
        quickly = await _look_and_count(index, criteria, sort, limit, records)
        if quickly is not None:
            return quickly
    counting = asyncio.create_task(count_if_possible(index, criteria, extra))
    try:
        page = await _look(index, criteria, sort, limit, start, windows, extra, records)
        page = await _cross_seam(index, criteria, sort, limit, start, page, extra, records)
        # The leads of a page that no other follows are all: a count that runs may only end, so that its connection
        # is kept. A new one costs more.
        wait_s = total_wait_s if page.more else LEFT_OVER_S
        if wait_s is not None and not counting.done():
            await asyncio.wait({counting}, timeout=wait_s)
        return page, _total(page, await counting if wait_s is None or counting.done() else None)
    finally:
        counting.cancel()


async def _look_and_count(
    index: Index, criteria: Criteria, sort: str, limit: int, records: Records
) -> tuple[HitPage, Total] | None:
    """The first page and the total in one request; None if that is late, or was late a moment ago."""
    pace, settings = index.opensearch.counted_pages, index.settings
    timeout_ms = min(settings.search_timeout_ms // QUICK_PART, settings.total_exact_ms)
    if timeout_ms <= 0 or not pace.may_try():
        return None
    try:
        body = page_body(criteria, sort, limit, None, None, records=records)
        found, counted = await search_and_count(index, body, compile_criteria(criteria), timeout_ms)
        found.require_whole()
    except (Unavailable, EngineError):
        counted = None
    pace.note(quick=counted is not None)
    if counted is None:
        return None
    try:
        page = _page(found, ORDERS[sort], limit, None, rest=records is not CARD)
    except (NoCards, Tied):
        return None
    return page, _total(page, Total(counted))


def _total(page: HitPage, counted: Total | None) -> Total:
    """The total of a search with this first page; the least that it can be if the count is not known."""
    if not page.more:
        return Total(len(page.hits))
    known = len(page.hits) + 1
    return Total(known, None) if counted is None else Total(max(counted.count, known), counted.error)


def _page(answer: SearchAnswer, order: Order, limit: int, position: Position | None, *, rest: bool) -> HitPage:
    """The page; raises NoCards or Tied."""
    found = answer.hits.hits
    backward = position is not None and position.backward
    if found and len(found[0].sort) > 1:  # sorted by domain, too: in order, and none too many
        hits = [one.hit(rest=rest) for one in found[:limit]]
        return HitPage(hits[::-1] if backward else hits, more=len(found) > limit)
    down = order.runs_down(backward=backward)
    hits = sorted((one.hit(rest=rest) for one in found), key=attrgetter("key", "domain"), reverse=down)
    if position is not None:
        at = (position.key, position.domain)
        hits = [hit for hit in hits if ((hit.key, hit.domain) < at if down else (hit.key, hit.domain) > at)]
        if len(found) == limit + 2 and len(hits) <= limit:
            raise Tied
    if len(hits) > limit and hits[limit - 1].key == hits[limit].key:
        raise Tied
    shown = hits[:limit]
    return HitPage(shown[::-1] if backward else shown, more=len(hits) > limit)
