"""Numbers of leads by their domains, and the query for the leads whose numbers are in a bitmap."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from siteglass.index import counting
from siteglass.index.compile import Query
from siteglass.index.hits import require_whole
from siteglass.index.index import Index

MAX_DOMAINS = 2_000
"""Domains that are looked up at a time; the engine returns at most 10,000 hits."""


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


def numbered_in(bitmap: bytes) -> Query:
    """The leads whose numbers are in a serialized Roaring bitmap."""
    return {"terms": {"lead_no": [base64.b64encode(bitmap).decode()], "value_type": "bitmap"}}
