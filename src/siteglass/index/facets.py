"""The leads of a search counted by the values of fields: exactly, or from a sample if that would take too long.

A facet ignores the search's conditions on its own field, so facets whose field is restricted are counted in a separate
search. Counting costs as much as the matches times the facets. Above a budget, only some of the buckets are counted,
which are bits of the domain's hash. The engine's own sampler would take the first leads of the index, which is sorted
by score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from siteglass.errors import Unavailable
from siteglass.index import counting
from siteglass.index.compile import Exclusion, Extra, Query, compile_criteria
from siteglass.index.documents import (
    BUCKETS,
    CRAWLED_HASH_BITS,
    CRAWLED_LIMIT,
    RANK_HASH_BITS,
    SPENDING_HASH_BITS,
    SPENDING_LIMIT,
)
from siteglass.index.generation_cache import GenerationCache
from siteglass.index.hits import require_whole
from siteglass.index.index import Index
from siteglass.platform import metrics
from siteglass.query.criteria import Criteria
from siteglass.query.facets import NO, YES, bands, months, state_key, without_selection
from siteglass.query.field import Kind
from siteglass.query.fields import ASKED, FACETS

MAX_SIZE = 50
"""Values that a caller may ask for of each facet."""
MAX_FEW = 20
"""Values of so many leads describe each of them."""
HAS_EMAIL = "has_email"
_DOMAIN_ONLY = {"stored_fields": "_none_", "docvalue_fields": ["domain"]}
# More than are asked for, since values that cannot be searched for are left out.
_SPARE_VALUES = 20
# Each shard lists so many values, so that the sums over shards are hardly ever incomplete.
_SHARD_VALUES = 1_000
_MAX_COUNTRIES = 250
_MAX_BASE_VALUES = 10_000
_BASE_TIMEOUT_MS = 30_000
_FLAGS = "flags"
_OLDER = "older"
# How many standard deviations an estimate may be off. With 4, all of some hundred counts of a response are within
# their errors in more than 95 of 100 responses.
_DEVIATIONS = 4.0


@dataclass(frozen=True, slots=True)
class KeyCount:
    """How many leads have a value."""

    key: str
    count: int
    error: int
    """By how much the count may be off."""
    seen: int
    """How many leads were counted: fewer than `count` in a sample."""


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """The counts of one facet, most frequent values first; bands in their order, months from the newest."""

    field: str
    keys: list[KeyCount]
    more: bool
    """Whether leads have other values, too."""
    estimated: bool
    total: int
    """The leads that were counted: those of the search without its own conditions on the field."""


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """What is counted around a search."""

    total: counting.Total
    with_email: counting.Total
    already_paid: counting.Total | None
    """Those of them that the account paid for before; None if that is not known."""
    fields: list[FieldCounts]


@dataclass(frozen=True, slots=True)
class BaseCounts:
    """The same counts over all leads, by field and key."""

    total: int
    by_field: dict[str, dict[str, int]]


class BaseCounter(GenerationCache[BaseCounts]):
    """The counts over all leads that this worker compares searches with."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, _count_base)


@dataclass(frozen=True, slots=True)
class _Group:
    """Facets that are counted over the same leads."""

    criteria: Criteria
    fields: list[str]

    @property
    def passes(self) -> int:
        """How often the engine goes through the matches: once for each facet, once for all flags."""
        flags = sum(_is_flag(field) for field in self.fields)
        return len(self.fields) - flags + min(flags, 1)


def has_address(criteria: Criteria) -> Query:
    """Finds the leads of a search that cost a credit: those with an address that the search shows."""
    shown = "no_generic_emails" if criteria.hides_generic_emails() else HAS_EMAIL
    return {"term": {"facts": ASKED[shown].ask.index}}


async def count_facets(
    index: Index,
    criteria: Criteria,
    fields: Sequence[str],
    size: int,
    extra: tuple[Extra, ...] = (),
    paid: Query | None = None,
) -> FacetCounts:
    """Count the leads of a search by fields: one request for the totals, one for the values.

    `paid` finds the leads that the account paid for before.
    """
    groups = _groups(criteria, fields)
    queries = [compile_criteria(group.criteria, extra) for group in groups]
    priced = (*extra, has_address(criteria))
    totals, already_paid = await asyncio.gather(
        _exact_totals(index, [compile_criteria(criteria, priced), *queries]),
        _count_paid(index, criteria, priced, paid),
    )
    with_email, *matches = totals
    budget = index.settings.facet_budget // len(groups)
    buckets = [buckets_for(count, group.passes, budget) for count, group in zip(matches, groups, strict=True)]
    if any(counted < BUCKETS for counted in buckets):
        metrics.FACETS_SAMPLED.inc()
    answers = await _aggregate(index, groups, buckets, size, extra)
    main = _total(matches[0], answers[0], buckets[0])
    counted: dict[str, FieldCounts] = {}
    for group, answer, some, count in zip(groups, answers, buckets, matches, strict=True):
        total = _total(count, answer, some).count
        counted |= {field: _read(field, answer, some, total) for field in group.fields}
    price = await counting.sampled_total(index, criteria, priced) if with_email is None else counting.Total(with_email)
    return FacetCounts(main, price, already_paid, [counted[field] for field in fields])


async def find_few(
    index: Index, criteria: Criteria, fields: Sequence[str], extra: tuple[Extra, ...], known: Query | None
) -> list[str]:
    """The domains of leads with an address that values of these fields describe one by one, because they are few.

    `known` finds the leads that are not counted. That a lead has an address is part of the price, not a description.
    """
    costly: tuple[Extra, ...] = (*extra, {"term": {"facts": ASKED[HAS_EMAIL].ask.index}})
    if known is not None:
        costly = (*costly, Exclusion(known))
    groups = [group for group in _groups(criteria, fields) if {*group.fields} - {HAS_EMAIL}]
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": False}
    lines: list[dict[str, Any]] = []
    for group in groups:
        body = {"size": MAX_FEW + 1, "query": compile_criteria(group.criteria, costly), "track_total_hits": False}
        lines += [head, {**body, **_DOMAIN_ONLY, "timeout": f"{index.settings.search_timeout_ms}ms"}]
    domains: dict[str, None] = {}
    for answer in await counting.msearch(index, lines) if lines else ():
        require_whole(answer)
        hits = answer["hits"]["hits"]
        if len(hits) <= MAX_FEW:
            domains |= dict.fromkeys(hit["fields"]["domain"][0] for hit in hits)
    return list(domains)


async def _exact_totals(index: Index, queries: Sequence[Query]) -> list[int | None]:
    """How many leads each query finds; None where counting takes too long."""
    timeout_ms = index.settings.total_exact_ms
    try:
        return await counting.count_many(index, queries, timeout_ms) if timeout_ms > 0 else [None] * len(queries)
    except Unavailable:
        return [None] * len(queries)


async def _count_paid(
    index: Index, criteria: Criteria, priced: tuple[Extra, ...], paid: Query | None
) -> counting.Total | None:
    # In a request beside the others: a long bitmap would slow all of them down.
    return None if paid is None else await counting.count(index, criteria, (*priced, paid))


def _groups(criteria: Criteria, fields: Sequence[str]) -> list[_Group]:
    """The search itself first, then one group for each facet whose field it restricts."""
    groups = {criteria: _Group(criteria, [])}
    for field in fields:
        others = without_selection(criteria, field)
        groups.setdefault(others, _Group(others, [])).fields.append(field)
    return list(groups.values())


def buckets_for(matches: int | None, passes: int, budget: int) -> int:
    """How many buckets to count; all if the budget allows it. Matches that could not be counted in time are many."""
    if matches is None:
        return counting.SAMPLE_BUCKETS
    cost = matches * passes
    return BUCKETS if cost <= budget else max(1, BUCKETS * budget // cost)


def _total(exact: int | None, answer: dict[str, Any], buckets: int) -> counting.Total:
    if exact is not None:
        return counting.Total(exact)
    return counting.Total(*counting.estimate(answer["hits"]["total"]["value"], buckets))


async def _aggregate(
    index: Index, groups: Sequence[_Group], buckets: Sequence[int], size: int, extra: tuple[Extra, ...]
) -> list[dict[str, Any]]:
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": True}
    now_ms = index.clock.now_ms()
    lines: list[dict[str, Any]] = []
    for group, counted in zip(groups, buckets, strict=True):
        sample: list[Query] = [] if counted == BUCKETS else [{"range": {"bucket": {"lt": counted}}}]
        body = _body(
            compile_criteria(group.criteria, (*extra, *sample)), group.fields, size + _SPARE_VALUES, size, now_ms
        )
        lines += [head, {**body, "timeout": f"{index.settings.search_timeout_ms}ms"}]
    answers = await counting.msearch(index, lines)
    for answer in answers:
        require_whole(answer)
        answer.setdefault("aggregations", {})
    return answers


async def _count_base(index: Index, generation: str) -> BaseCounts:
    body = _body({"match_all": {}}, FACETS, _MAX_BASE_VALUES, MAX_SIZE, index.clock.now_ms())
    answer = await index.opensearch.search(
        f"/{generation}/_search",
        body,
        timeout_ms=_BASE_TIMEOUT_MS,
        params={"allow_partial_search_results": "false"},
    )
    total = answer["hits"]["total"]["value"]
    return BaseCounts(total, {field: dict(_counted(field, answer["aggregations"], total)) for field in FACETS})


# --- what the engine counts ---------------------------------------------------------------------


def _body(query: Query, fields: Iterable[str], terms: int, month_count: int, now_ms: int) -> dict[str, Any]:
    fields = list(fields)
    aggregations = {field: _aggregation(field, terms, month_count, now_ms) for field in fields if not _is_flag(field)}
    if flags := [ASKED[field].ask.index for field in fields if _is_flag(field)]:
        aggregations[_FLAGS] = {"terms": {"field": "facts", "include": flags, "size": len(flags)}}
    body = {"size": 0, "track_total_hits": True, "query": query}
    return {**body, "aggs": aggregations} if aggregations else body


def _is_flag(field: str) -> bool:
    return ASKED[field].ask.kind is Kind.FLAG


def _aggregation(field: str, terms: int, month_count: int, now_ms: int) -> dict[str, Any]:
    ask = ASKED[field].ask
    match ask.kind:
        case Kind.NUMBER:
            return _bands(field)
        case Kind.TIME:
            return _months(month_count, now_ms)
        case _ if field == "state":
            # A code alone may be a state of several countries.
            states = {"states": _terms("state", terms)}
            return {**_terms("country", _MAX_COUNTRIES), "aggs": states}
        case _:
            return _terms(ask.index, terms)


def _terms(index_field: str, size: int) -> dict[str, Any]:
    return {"terms": {"field": index_field, "size": size, "shard_size": max(size, _SHARD_VALUES)}}


# The sort keys hold the number, subtracted from a limit, above the bits of a hash. The engine compares them as floating
# point numbers of 53 bits, and the keys have 62. One in two million keys next to a bound falls on its other side.
_SORT_KEYS = {
    "score": ("rank", 100, RANK_HASH_BITS),
    "spending": ("spending_rank", SPENDING_LIMIT, SPENDING_HASH_BITS),
}


def _bands(field: str) -> dict[str, Any]:
    key, limit, bits = _SORT_KEYS[field]
    ranges: list[dict[str, Any]] = []
    for band in bands(field):
        bounds = {"key": band.text, "to": (limit - band.low + 1) << bits}
        if band.next_low is not None:
            bounds["from"] = (limit - band.next_low + 1) << bits
        ranges.append(bounds)
    return {"range": {"field": key, "ranges": ranges}}


def _months(count: int, now_ms: int) -> dict[str, Any]:
    def bound(ms: int) -> int:
        return (CRAWLED_LIMIT - ms + 1) << CRAWLED_HASH_BITS

    ranges: list[dict[str, Any]] = [
        {"key": month.text, "from": bound(month.end_ms), "to": bound(month.start_ms)} for month in months(now_ms, count)
    ]
    # Leads that were never fetched come after all others.
    older = {"key": _OLDER, "from": ranges[-1]["to"], "to": CRAWLED_LIMIT << CRAWLED_HASH_BITS}
    return {"range": {"field": "crawled_rank", "ranges": [*ranges, older]}}


# --- what the engine answers --------------------------------------------------------------------


def _read(field: str, answer: dict[str, Any], buckets: int, total: int) -> FieldCounts:
    seen = answer["hits"]["total"]["value"]
    counts = _counted(field, answer["aggregations"], seen)
    others, unsure = _left_out(answer["aggregations"].get(field, {}))
    keys = []
    for key, leads in counts:
        if leads and key != _OLDER:
            count, error = counting.estimate(leads, buckets, _DEVIATIONS)
            keys.append(KeyCount(key, min(count, total), error + unsure, leads))
    more = others > 0 or any(key == _OLDER and leads for key, leads in counts)
    return FieldCounts(field, keys, more, buckets < BUCKETS or unsure > 0, total)


def _counted(field: str, aggregations: dict[str, Any], total: int) -> list[tuple[str, int]]:
    """Keys with the leads that have them, in the order in which they are shown."""
    if _is_flag(field):
        flags = aggregations[_FLAGS]["buckets"]
        yes = sum(bucket["doc_count"] for bucket in flags if bucket["key"] == ASKED[field].ask.index)
        return [(YES, yes), (NO, total - yes)]
    buckets = aggregations[field]["buckets"]
    if field == "state":
        states = [
            (state_key(country["key"], state["key"]), state["doc_count"])
            for country in buckets
            for state in country["states"]["buckets"]
        ]
        return sorted(states, key=lambda state: (-state[1], state[0]))
    counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
    if ASKED[field].ask.kind is Kind.NUMBER:  # the engine has them in the order of their sort keys
        return [(band.text, counts[band.text]) for band in bands(field)]
    return list(counts.items())


def _left_out(aggregation: dict[str, Any]) -> tuple[int, int]:
    """How many leads have values that are not listed, and by how much a count may be off, since each shard lists only
    its most frequent values."""
    below = [bucket["states"] for bucket in aggregation.get("buckets", ()) if "states" in bucket]
    others = sum(part.get("sum_other_doc_count", 0) for part in (aggregation, *below))
    unsure = sum(part.get("doc_count_error_upper_bound", 0) for part in (aggregation, *below))
    return others, unsure
