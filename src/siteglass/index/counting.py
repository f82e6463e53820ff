"""How many leads match: exactly, or an estimate if that would take too long. And several searches in one request.

Deadlines fit into each other. The engine ends a count after its time, and we wait a little longer for it to say so.
After that, there is still time for a sample and for the rest of the request.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from siteglass.errors import Unavailable
from siteglass.index.compile import Exclusion, Extra, Query, any_of, compile_criteria
from siteglass.index.documents import BUCKETS
from siteglass.index.hits import SearchAnswer, SearchAnswers, decode_answer, decode_answers, failure
from siteglass.index.index import Index
from siteglass.platform import metrics
from siteglass.platform.opensearch import Decode, EngineError
from siteglass.query.criteria import Criteria

SAMPLE_BUCKETS = 16
# A sample has this part of the timeout of a search, and we wait for a count's answer this much longer than it may take.
SAMPLE_PART, WAIT_PART = 5, 10
# How many standard deviations an estimate may be off, so that more than 95 of 100 are within their error.
DEVIATIONS = 2.5
# Longer bodies, such as those with bitmaps, are sent one by one: to split an `_msearch`, the engine looks at each byte.
MAX_MSEARCH_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Total:
    """How many leads match."""

    count: int
    error: int | None = 0
    """By how much the count may be off: 0 if it is exact, None if nobody knows."""

    @property
    def estimated(self) -> bool:
        """Whether it is not exact."""
        return self.error != 0


def estimate(seen: int, buckets: int, deviations: float = DEVIATIONS) -> tuple[int, int]:
    """A count from a sample, and by how much it may be off."""
    if buckets == BUCKETS:
        return seen, 0
    share = buckets / BUCKETS
    # The half width of the score interval, which also holds for few leads or none.
    width = deviations * math.sqrt(seen * (1 - share) + deviations**2 / 4) + deviations**2 / 2
    return round(seen / share), math.ceil(width / share)


async def count(index: Index, criteria: Criteria, extra: tuple[Extra, ...] = ()) -> Total:
    """How many leads match; an estimate if counting takes too long or fails. Raises if that fails, too."""
    exact = None
    if index.settings.total_exact_ms > 0:
        with suppress(Unavailable):
            exact = await _count_exactly(index, criteria, extra)
    return exact or await sampled_total(index, criteria, extra)


async def count_if_possible(index: Index, criteria: Criteria, extra: tuple[Extra, ...] = ()) -> Total | None:
    """How many leads match, for a response that can do without it; None if neither count nor sample succeeds."""
    try:
        return await count(index, criteria, extra)
    except (Unavailable, EngineError):
        return None


async def _count_exactly(index: Index, criteria: Criteria, extra: tuple[Extra, ...]) -> Total | None:
    """How many leads match, None if counting takes too long.

    To count matches that are not on a long list, the engine would look up each of them. It counts all matches from its
    index, and those on the list starting from the list, so the difference is much faster.
    """
    kept: tuple[Query, ...] = tuple(one for one in extra if not isinstance(one, Exclusion))
    left_out = [one.query for one in extra if isinstance(one, Exclusion)]
    wanted = [kept, (*kept, any_of(left_out))] if left_out else [kept]
    queries = [compile_criteria(criteria, some) for some in wanted]
    counts = await count_many(index, queries, index.settings.total_exact_ms)
    known = [one for one in counts if one is not None]
    if len(known) < len(counts):
        return None
    return Total(max(0, known[0] - sum(known[1:])))  # leads may change between the two


async def sampled_total(index: Index, criteria: Criteria, extra: tuple[Extra, ...] = ()) -> Total:
    """An estimate from every 64th lead: the buckets are bits of the domain's hash."""
    metrics.TOTALS_SAMPLED.inc()
    sample: Query = {"range": {"bucket": {"lt": SAMPLE_BUCKETS}}}
    timeout_ms = index.settings.search_timeout_ms // SAMPLE_PART
    (seen,) = await count_many(index, [compile_criteria(criteria, (*extra, sample))], timeout_ms)
    if seen is None:
        raise Unavailable("a sample of the leads was not counted in time")
    return Total(*estimate(seen, SAMPLE_BUCKETS))


async def count_many(index: Index, queries: Sequence[Query], timeout_ms: int) -> list[int | None]:
    """How many leads each query matches, in one request; None where counting takes too long."""
    timeout_ms = min(timeout_ms, index.settings.search_timeout_ms)
    lines = [line for query in queries for line in _count_lines(index, query, timeout_ms)]
    return list(map(_counted, await _search_all(index, lines, timeout_ms)))


async def search_and_count(
    index: Index, body: dict[str, Any], query: Query, timeout_ms: int
) -> tuple[SearchAnswer, int | None]:
    """A search for leads, and how many match, in one request; as `count_many` for both."""
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": False}
    lines = [head, {**body, "timeout": f"{timeout_ms}ms"}, *_count_lines(index, query, timeout_ms)]
    found, counted = await _search_all(index, lines, timeout_ms)
    return found, _counted(counted)


async def _search_all(index: Index, lines: list[dict[str, Any]], timeout_ms: int) -> list[SearchAnswer]:
    answer = await _send_all(index, lines, decode_answer, decode_answers, timeout_ms + timeout_ms // WAIT_PART)
    return answer.responses if isinstance(answer, SearchAnswers) else answer


def _count_lines(index: Index, query: Query, timeout_ms: int) -> list[dict[str, Any]]:
    # A late count is not a failure, so it may be partial.
    head = {"index": index.names.read, "allow_partial_search_results": True, "request_cache": True}
    return [head, count_body(query, timeout_ms)]


def count_body(query: Query, timeout_ms: int) -> dict[str, Any]:
    """The engine's request for a count, which it ends after its time."""
    return {"size": 0, "track_total_hits": True, "query": query, "timeout": f"{timeout_ms}ms"}


def _counted(answer: SearchAnswer) -> int | None:
    """The count, or None if counting ran out of its time."""
    if answer.error is None and answer.timed_out:
        return None
    answer.require_whole()
    return answer.total


async def msearch(index: Index, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several searches for anything: a head and a body for each."""
    answer = await _send_all(index, lines, orjson.loads, orjson.loads)
    responses: list[dict[str, Any]] = answer["responses"] if isinstance(answer, dict) else answer
    return responses


async def _send_all(
    index: Index, lines: list[dict[str, Any]], one: Decode, all_: Decode, count_ms: int | None = None
) -> Any:
    """Several searches: the response to all of them, or a list if each was sent by itself, being long or alone.

    Counts have their own timeout.
    """
    heads, bodies = lines[::2], [orjson.dumps(line) for line in lines[1::2]]
    if len(bodies) == 1:
        return [await _send(index, one, count_ms, heads[0], bodies[0])]
    if sum(map(len, bodies)) > MAX_MSEARCH_BYTES:
        return await asyncio.gather(*map(partial(_send, index, one, count_ms), heads, bodies))
    try:
        return await index.opensearch.msearch(
            list(zip(heads, bodies, strict=True)),
            timeout_ms=count_ms or index.settings.search_timeout_ms,
            optional=count_ms is not None,
            decode=all_,
        )
    except EngineError as error:
        raise failure(error) from error


async def _send(index: Index, decode: Decode, count_ms: int | None, head: dict[str, Any], body: bytes) -> Any:
    """One search of several, sent by itself."""
    switches = {name: str(value).lower() for name, value in head.items() if name != "index"}
    try:
        return await index.opensearch.search(
            f"/{head['index']}/_search",
            body,
            timeout_ms=count_ms or index.settings.search_timeout_ms,
            params=switches,
            optional=count_ms is not None,
            decode=decode,
        )
    except EngineError as error:
        raise failure(error) from error
