"""Pages of a search, forward and backward, each in one engine request whose cost does not grow with its depth.

Every order starts with a fine-grained number, the key. A later page adds a range on the key to `search_after`, which
alone walks over all matches before the page. In the order in which the index is sorted, the engine stops early. In the
opposite direction, every match would look better than the last. So the range is also bounded on the far side: by some
page widths, then by more of them if that was too little.

An example: a page of `-score` starts at rank 1,000, and its leads span 50 ranks (its width). The next page runs along
the index: the range is `rank >= 1000` and the engine stops after the page. The page before runs against it: the first
window is 8 widths, `600 <= rank <= 1000`. If fewer leads than needed are in there, the next window would be 64 widths.
That is more than all ranks below 1,000, so the last attempt is `rank <= 1000` without a lower bound.

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
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from siteglass.index.compile import Exclusion, Extra, Query, any_of, compile_criteria
from siteglass.index.documents import BUCKETS, RANK_HASH_BITS
from siteglass.index.hits import Hit, NoCards, SearchAnswer, SearchAnswers, decode_answer, decode_answers, failure
from siteglass.index.index import Index
from siteglass.platform import metrics
from siteglass.platform.opensearch import Decode, EngineError
from siteglass.query.criteria import Criteria, Range
from siteglass.query.cursor import Position
from siteglass.query.fields import OLD_SCORE_SORT

SAMPLE_BUCKETS = 16
# How many page widths a window spans, one try after the other; then there is no window.
WIDENINGS = (8, 64)
ONE_SCORE = 1 << RANK_HASH_BITS
# The first page against the index order knows no width yet: parts and multiples of the leads of one score.
FIRST_WINDOWS = (ONE_SCORE >> 10, ONE_SCORE >> 4, ONE_SCORE << 2)
# Leads without a score have this rank and higher ones, below the last.
UNKNOWN_RANK, LAST_RANK = 101 * ONE_SCORE, 102 * ONE_SCORE
# After every domain.
_LAST_DOMAIN = "\uffff"

# From where the engine takes records, as part of a request: leads that an older build wrote have no cards.
Records = Mapping[str, Any]
CARD: Records = {"stored_fields": "_none_", "docvalue_fields": ["card"]}
CARD_AND_REST: Records = {"stored_fields": "_none_", "docvalue_fields": ["card", "rest"]}
SOURCE: Records = {"_source": True}

# Longer bodies, such as those with bitmaps, are sent one by one: to split an `_msearch`, the engine looks at each byte.
MAX_MSEARCH_BYTES = 16_384


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
        return sum(steps) * limit // len(steps) if steps else 0


@dataclass(frozen=True, slots=True)
class Total:
    """How many leads match."""

    count: int
    estimated: bool = False


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


def count_body(criteria: Criteria, extra: tuple[Extra, ...] = ()) -> dict[str, Any]:
    """The engine's request for a total."""
    return {"size": 0, "track_total_hits": True, "query": compile_criteria(criteria, extra)}


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
    rest: bool = True,
) -> HitPage:
    """The page at a position; one round trip, more only to look further. `rest`: with all fields, not cards alone."""
    records = CARD_AND_REST if rest else CARD
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
    index: Index, criteria: Criteria, sort: str, limit: int, extra: tuple[Extra, ...] = (), *, rest: bool = True
) -> tuple[HitPage, Total]:
    """The first page and the total, in one round trip unless it must look further or counting takes too long.

    `rest`: with all fields, not cards alone.
    """
    start = _start(ORDERS[sort], criteria)
    windows = (*FIRST_WINDOWS, None) if start else (None,)
    records = CARD_AND_REST if rest else CARD
    if extra:
        page, total = await asyncio.gather(
            _look(index, criteria, sort, limit, start, windows, extra, records), count(index, criteria, extra)
        )
    else:
        page, total = await _look_and_count(index, criteria, sort, limit, start, windows, records)
    return await _cross_seam(index, criteria, sort, limit, start, page, extra, records), total


async def _look_and_count(
    index: Index,
    criteria: Criteria,
    sort: str,
    limit: int,
    start: Position | None,
    windows: Sequence[int | None],
    records: Records,
) -> tuple[HitPage, Total]:
    """The first page of a stretch and the total, in one round trip if the first window has the page."""
    settings = index.settings
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": False}
    lines = [
        head,
        {
            **page_body(criteria, sort, limit, start, windows[0], records=records),
            "timeout": f"{settings.search_timeout_ms}ms",
        },
    ]
    if settings.total_exact_ms > 0:
        # A late count is not a failure, so it may be partial; it is then estimated from a sample.
        lines.append({"index": index.names.read, "allow_partial_search_results": True, "request_cache": True})
        lines.append({**count_body(criteria), "timeout": f"{settings.total_exact_ms}ms"})
    found, *counted = await _search_all(index, lines)
    found.require_whole()
    total = (_exact_total(counted[0]) if counted else None) or await sampled_total(index, criteria)
    try:
        page = _page(found, ORDERS[sort], limit, start, rest=records is not CARD)
    except NoCards:
        return await _look(index, criteria, sort, limit, start, windows, (), SOURCE), total
    except Tied:
        return await _look(index, criteria, sort, limit, start, windows, (), records, by_domain=True), total
    if start and not page.more:
        metrics.PAGES_WIDENED.inc()
        page = await _look(index, criteria, sort, limit, start, windows[1:], (), records)
    return page, total


async def count(index: Index, criteria: Criteria, extra: tuple[Extra, ...] = ()) -> Total:
    """How many leads match; an estimate if counting takes too long."""
    exact = await _exact_count(index, criteria, extra) if index.settings.total_exact_ms > 0 else None
    return exact or await sampled_total(index, criteria, extra)


async def _exact_count(index: Index, criteria: Criteria, extra: tuple[Extra, ...]) -> Total | None:
    """How many leads match, None if counting takes too long.

    To count matches that are not on a long list, the engine would look up each of them. It counts all matches from its
    index, and those on the list starting from the list, so the difference is much faster.
    """
    kept: tuple[Query, ...] = tuple(one for one in extra if not isinstance(one, Exclusion))
    left_out = [one.query for one in extra if isinstance(one, Exclusion)]
    wanted = [kept, (*kept, any_of(left_out))] if left_out else [kept]
    timeout_ms = index.settings.total_exact_ms
    head = {"index": index.names.read, "allow_partial_search_results": True, "request_cache": True}
    bodies = [{**count_body(criteria, some), "timeout": f"{timeout_ms}ms"} for some in wanted]
    totals = [
        _exact_total(answer) for answer in await _search_all(index, [line for body in bodies for line in (head, body)])
    ]
    counts = [total.count for total in totals if total is not None]
    if len(counts) < len(totals):
        return None
    return Total(max(0, counts[0] - sum(counts[1:])))  # leads may change between the two


async def count_many(index: Index, searches: Sequence[Query], timeout_ms: int) -> list[int | None]:
    """How many leads each query matches, in one request; None where counting takes too long."""
    head = {"index": index.names.read, "allow_partial_search_results": True, "request_cache": True}
    lines: list[dict[str, Any]] = []
    for query in searches:
        lines += [head, {"size": 0, "track_total_hits": True, "query": query, "timeout": f"{timeout_ms}ms"}]
    totals = map(_exact_total, await _search_all(index, lines))
    return [None if total is None else total.count for total in totals]


async def _search_all(index: Index, lines: list[dict[str, Any]]) -> list[SearchAnswer]:
    """Several searches for leads or their number: a head and a body for each."""
    answer = await _send_all(index, lines, decode_answer, decode_answers)
    return answer.responses if isinstance(answer, SearchAnswers) else answer


async def msearch(index: Index, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several searches for anything: a head and a body for each."""
    answer = await _send_all(index, lines, orjson.loads, orjson.loads)
    responses: list[dict[str, Any]] = answer["responses"] if isinstance(answer, dict) else answer
    return responses


async def _send_all(index: Index, lines: list[dict[str, Any]], one: Decode, all_: Decode) -> Any:
    """Several searches: the response to all of them, or a list if they are long and each was sent by itself."""
    heads, bodies = lines[::2], [orjson.dumps(line) for line in lines[1::2]]
    if sum(map(len, bodies)) > MAX_MSEARCH_BYTES:
        return await asyncio.gather(*map(partial(_send, index, one), heads, bodies))
    searches = list(zip(heads, bodies, strict=True))
    try:
        return await index.opensearch.msearch(searches, timeout_ms=index.settings.search_timeout_ms, decode=all_)
    except EngineError as error:
        raise failure(error) from error


async def _send(index: Index, decode: Decode, head: dict[str, Any], body: bytes) -> Any:
    """One search of several, sent by itself."""
    switches = {name: str(value).lower() for name, value in head.items() if name != "index"}
    try:
        return await index.opensearch.search(
            f"/{head['index']}/_search",
            body,
            timeout_ms=index.settings.search_timeout_ms,
            params=switches,
            decode=decode,
        )
    except EngineError as error:
        raise failure(error) from error


def _exact_total(answer: SearchAnswer) -> Total | None:
    """The total, or None if counting ran out of its time."""
    if answer.error is None and answer.timed_out:
        return None
    answer.require_whole()
    return Total(answer.total)


async def sampled_total(index: Index, criteria: Criteria, extra: tuple[Extra, ...] = ()) -> Total:
    """An estimate from every 64th lead: the buckets are bits of the domain's hash."""
    metrics.TOTALS_SAMPLED.inc()
    sample: Query = {"range": {"bucket": {"lt": SAMPLE_BUCKETS}}}
    body = {**count_body(criteria, (*extra, sample)), "timeout": f"{index.settings.search_timeout_ms}ms"}
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": True}
    (answer,) = await _search_all(index, [head, body])
    answer.require_whole()
    return Total(answer.total * BUCKETS // SAMPLE_BUCKETS, estimated=True)


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
