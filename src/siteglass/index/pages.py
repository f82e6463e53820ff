"""Pages of a search, forward and backward, each in one engine request whose cost does not grow with its depth.

Every order starts with a fine-grained key; a later page adds a range on that key to `search_after`, because on its own
`search_after` walks over all matches before the page. A backward page reverses the order and looks only as far back as
a page is wide, then further if that was too little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from siteglass import metrics
from siteglass.backends import Backends, EngineError
from siteglass.errors import Unavailable
from siteglass.index.compile import Query, compile_criteria
from siteglass.index.documents import BUCKETS
from siteglass.index.names import Names
from siteglass.query.criteria import Criteria
from siteglass.query.cursor import Position

SAMPLE_BUCKETS = 16
BACKWARD_WIDENINGS = (8, 64)


@dataclass(frozen=True, slots=True)
class Order:
    """A total order of leads: the leading key, then the domain, both in the same direction."""

    key: str
    descending: bool = False

    def sort(self, *, backward: bool) -> list[dict[str, str]]:
        direction = "desc" if self.descending != backward else "asc"
        fields = (self.key,) if self.key == "domain" else (self.key, "domain")
        return [{field: direction} for field in fields]


ORDERS = {
    "-score": Order("rank"),
    "score": Order("rank", descending=True),
    "-spending": Order("spending_rank"),
    "-crawled_at": Order("crawled_rank"),
    "domain": Order("domain"),
}

# Keys are positive and below this; a window that reaches past either end is no window.
_KEY_LIMIT = 2**63


@dataclass(frozen=True, slots=True)
class Hit:
    """A lead of a page: its stored record and its place in the order."""

    record: dict[str, Any]
    key: int | str
    domain: str


@dataclass(frozen=True, slots=True)
class Page:
    """Leads in the order of the search, and whether more lie behind them in the direction of travel."""

    hits: list[Hit]
    more: bool

    def width(self, limit: int) -> int:
        """How much of the leading key a page of `limit` leads takes here."""
        if len(self.hits) < 2 or isinstance(self.hits[0].key, str) or isinstance(self.hits[-1].key, str):
            return 0
        return abs(self.hits[-1].key - self.hits[0].key) * limit // (len(self.hits) - 1)


@dataclass(frozen=True, slots=True)
class Total:
    """How many leads match."""

    count: int
    estimated: bool = False


def page_body(made: Criteria, sort: str, limit: int, position: Position | None, window: int | None) -> dict[str, Any]:
    """The engine's request for a page; `window` bounds how far a backward page looks."""
    order = ORDERS[sort]
    backward = position is not None and position.backward
    body: dict[str, Any] = {
        "size": limit + 1,
        "track_total_hits": False,
        "sort": order.sort(backward=backward),
        "query": compile_criteria(made, () if position is None else [_near_side(order, position, window)]),
    }
    if position is not None:
        body["search_after"] = [position.domain] if order.key == "domain" else [position.key, position.domain]
    return body


def _near_side(order: Order, position: Position, window: int | None) -> Query:
    """The range that lets the engine start at the page instead of walking there."""
    ascending = order.descending == position.backward
    anchor = position.domain if order.key == "domain" else position.key
    bounds: dict[str, int | str] = {"gte" if ascending else "lte": anchor}
    if window is not None and isinstance(anchor, int):
        bounds["lte" if ascending else "gte"] = anchor + window if ascending else anchor - window
    return {"range": {order.key: bounds}}


def count_body(made: Criteria, extra: tuple[Query, ...] = ()) -> dict[str, Any]:
    """The engine's request for a total."""
    return {"size": 0, "track_total_hits": True, "query": compile_criteria(made, extra)}


def _windows(sort: str, position: Position | None) -> Iterator[int | None]:
    """How far to look, one try after the other."""
    if position is not None and position.backward and isinstance(position.key, int) and position.width > 0:
        for factor in BACKWARD_WIDENINGS:
            window = factor * position.width
            reaches_end = position.key + window >= _KEY_LIMIT if ORDERS[sort].descending else window >= position.key
            if reaches_end:
                break
            yield window
    yield None


async def later_page(
    backends: Backends, names: Names, made: Criteria, sort: str, limit: int, position: Position
) -> Page:
    """The page at a position; one round trip, more only to look further back."""
    answer: Any = None
    for attempt, window in enumerate(_windows(sort, position)):
        if attempt:
            metrics.BACKWARD_WIDENED.inc()
        timeout_ms = backends.settings.search_timeout_ms
        body = {**page_body(made, sort, limit, position, window), "timeout": f"{timeout_ms}ms"}
        try:
            answer = await backends.opensearch.request(
                "POST",
                f"/{names.read}/_search",
                body,
                timeout_ms=timeout_ms,
                params={"allow_partial_search_results": "false", "request_cache": "false"},
            )
        except EngineError as error:
            raise Unavailable(f"search refused: {error}") from error
        _require_whole(answer)
        if len(answer["hits"]["hits"]) > limit:
            break
    return _page(answer, limit, backward=position.backward)


async def first_page(backends: Backends, names: Names, made: Criteria, sort: str, limit: int) -> tuple[Page, Total]:
    """The first page and the total, in one round trip unless counting takes too long."""
    settings = backends.settings
    head = {"index": names.read, "allow_partial_search_results": False, "request_cache": False}
    # A late count is no failure, so it may come back in part; it is then sampled instead.
    count_head = {"index": names.read, "allow_partial_search_results": True, "request_cache": True}
    lines = (
        head,
        {**page_body(made, sort, limit, None, None), "timeout": f"{settings.search_timeout_ms}ms"},
        count_head,
        {**count_body(made), "timeout": f"{settings.total_exact_ms}ms"},
    )
    answers = await _msearch(backends, lines)
    _require_whole(answers[0])
    total = _exact_total(answers[1]) or await _sampled_total(backends, names, made)
    return _page(answers[0], limit, backward=False), total


async def _msearch(backends: Backends, lines: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    body = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
    try:
        answer = await backends.opensearch.request(
            "POST", "/_msearch", body, timeout_ms=backends.settings.search_timeout_ms, ndjson=True
        )
    except EngineError as error:
        raise Unavailable(f"search refused: {error}") from error
    responses: list[dict[str, Any]] = answer["responses"]
    return responses


def _exact_total(answer: dict[str, Any]) -> Total | None:
    """The total, or None if counting ran out of its time."""
    if "error" not in answer and answer["timed_out"]:
        return None
    _require_whole(answer)
    return Total(answer["hits"]["total"]["value"])


async def _sampled_total(backends: Backends, names: Names, made: Criteria) -> Total:
    """An estimate from every 64th lead: the buckets are bits of the domain's hash."""
    metrics.TOTALS_SAMPLED.inc()
    sample: Query = {"range": {"bucket": {"lt": SAMPLE_BUCKETS}}}
    body = {**count_body(made, (sample,)), "timeout": f"{backends.settings.search_timeout_ms}ms"}
    head = {"index": names.read, "allow_partial_search_results": False, "request_cache": True}
    (answer,) = await _msearch(backends, (head, body))
    _require_whole(answer)
    return Total(answer["hits"]["total"]["value"] * BUCKETS // SAMPLE_BUCKETS, estimated=True)


def _require_whole(answer: dict[str, Any]) -> None:
    """A result in part is a failure: it would be charged and shown as if it were all."""
    if "error" in answer:
        raise Unavailable(f"search failed: {answer['error'].get('type')}: {answer['error'].get('reason')}")
    if answer["timed_out"] or answer["_shards"]["failed"]:
        raise Unavailable("search was not complete in time")


def _page(answer: dict[str, Any], limit: int, *, backward: bool) -> Page:
    found = answer["hits"]["hits"]
    hits = [Hit(hit["_source"], hit["sort"][0], hit["_source"]["domain"]) for hit in found[:limit]]
    return Page(hits[::-1] if backward else hits, more=len(found) > limit)
