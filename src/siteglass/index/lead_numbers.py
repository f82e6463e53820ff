"""Numbers of leads by their domains, and the query for the leads whose numbers are in a bitmap."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Sequence
from typing import Any

from siteglass.index import counting
from siteglass.index.compile import Query
from siteglass.index.hits import require_whole
from siteglass.index.index import Index

MAX_DOMAINS = 2_000
"""Domains that are looked up at a time; the engine returns at most 10,000 hits."""
PAGE = 10_000


async def find_numbers(index: Index, domains: Sequence[str]) -> dict[str, int]:
    """The numbers of those domains that a lead is stored under."""
    numbers: dict[str, int] = {}
    for start in range(0, len(domains), MAX_DOMAINS):
        numbers |= await _find_numbers(index, domains[start : start + MAX_DOMAINS])
    return numbers


async def _find_numbers(index: Index, domains: Sequence[str]) -> dict[str, int]:
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": False}
    body = {
        "size": len(domains),
        "track_total_hits": False,
        "_source": False,
        "docvalue_fields": ["lead_no"],
        "sort": ["_doc"],
        "timeout": f"{index.settings.search_timeout_ms}ms",
        "query": {"bool": {"filter": [{"terms": {"domain": list(domains)}}]}},
    }
    (answer,) = await counting.msearch(index, [head, body])
    require_whole(answer)
    return {hit["_id"]: hit["fields"]["lead_no"][0] for hit in answer["hits"]["hits"] if "fields" in hit}


async def match_numbers(index: Index, query: Query, most: int) -> list[int]:
    """The numbers of all leads that match, in their order; one more than `most` if there are more."""
    numbers: list[int] = []
    async for hits in _by_number(index, query, most + 1, {"stored_fields": "_none_"}):
        numbers += [hit["sort"][0] for hit in hits]
    return numbers


async def match_domains(index: Index, query: Query, most: int) -> dict[int, str]:
    """The domains of the leads that match, by their numbers; at most so many."""
    domains: dict[int, str] = {}
    async for hits in _by_number(index, query, most, {"_source": False}):
        domains |= {hit["sort"][0]: hit["_id"] for hit in hits}
    return domains


async def highest_number(index: Index) -> int:
    """The highest number of a lead; 0 if there are no leads."""
    hits = await _page(index, {"exists": {"field": "lead_no"}}, "desc", 1, {"stored_fields": "_none_"})
    return hits[0]["sort"][0] if hits else 0


async def _by_number(
    index: Index, query: Query, most: int, shown: dict[str, Any]
) -> AsyncIterator[list[dict[str, Any]]]:
    """Pages of hits. Numbers never change, so a lead that is written meanwhile is neither skipped nor repeated."""
    after, left = 0, most
    while left > 0:
        ahead: Query = {"range": {"lead_no": {"gt": after}}}
        hits = await _page(index, {"bool": {"filter": [query, ahead]}}, "asc", min(left, PAGE), shown)
        if hits:
            yield hits
        if len(hits) < min(left, PAGE):
            return
        after, left = hits[-1]["sort"][0], left - len(hits)


async def _page(index: Index, query: Query, order: str, size: int, shown: dict[str, Any]) -> list[dict[str, Any]]:
    head = {"index": index.names.read, "allow_partial_search_results": False, "request_cache": False}
    body = {
        **shown,
        "size": size,
        "track_total_hits": False,
        "sort": [{"lead_no": order}],
        "timeout": f"{index.settings.search_timeout_ms}ms",
        "query": query,
    }
    (answer,) = await counting.msearch(index, [head, body])
    require_whole(answer)
    hits: list[dict[str, Any]] = answer["hits"]["hits"]
    return hits


def numbered_in(bitmap: bytes) -> Query:
    """The leads whose numbers are in a serialized Roaring bitmap."""
    return {"terms": {"lead_no": [base64.b64encode(bitmap).decode()], "value_type": "bitmap"}}
