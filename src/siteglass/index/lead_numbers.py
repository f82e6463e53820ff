"""Numbers of leads by their domains, and the query for the leads whose numbers are in a bitmap."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from siteglass.errors import Unavailable
from siteglass.index.compile import Query
from siteglass.index.index import Index
from siteglass.platform.backends import EngineError

MAX_DOMAINS = 2_000
"""Domains that are looked up at a time; the engine returns at most 10,000 hits."""


async def find_numbers(index: Index, domains: Sequence[str]) -> dict[str, int]:
    """The numbers of those domains that a lead is stored under."""
    numbers: dict[str, int] = {}
    for start in range(0, len(domains), MAX_DOMAINS):
        numbers |= await _find_numbers(index, domains[start : start + MAX_DOMAINS])
    return numbers


async def _find_numbers(index: Index, domains: Sequence[str]) -> dict[str, int]:
    timeout_ms = index.settings.search_timeout_ms
    body = {
        "size": len(domains),
        "track_total_hits": False,
        "_source": False,
        "docvalue_fields": ["lead_no"],
        "sort": ["_doc"],
        "timeout": f"{timeout_ms}ms",
        "query": {"bool": {"filter": [{"terms": {"domain": list(domains)}}]}},
    }
    try:
        answer = await index.opensearch.request(
            "POST",
            f"/{index.names.read}/_search",
            body,
            timeout_ms=timeout_ms,
            params={"allow_partial_search_results": "false", "request_cache": "false"},
        )
    except EngineError as error:
        raise (Unavailable(f"look-up of numbers refused: {error}") if error.passing else error) from error
    if answer["timed_out"]:
        raise Unavailable("the look-up of numbers did not finish in time")
    return {hit["_id"]: hit["fields"]["lead_no"][0] for hit in answer["hits"]["hits"] if "fields" in hit}


def numbered_in(bitmap: bytes) -> Query:
    """The leads whose numbers are in a serialized Roaring bitmap."""
    return {"terms": {"lead_no": [base64.b64encode(bitmap).decode()], "value_type": "bitmap"}}
