"""All documents of a generation that match, a page at a time, in the order of their domains."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from siteglass.index.compile import Query
from siteglass.index.index import Index

PAGE = 1_000


async def scanned(
    index: Index, generation: str, filters: Sequence[Query], *, timeout_ms: int
) -> AsyncIterator[list[dict[str, Any]]]:
    """Pages of hits with their versions and records; a part of a page is a failure."""
    # Without a filter, OpenSearch 3.6 sorts by a range over names, and refuses that as an expensive query.
    all_leads = {"exists": {"field": "domain"}}
    body: dict[str, Any] = {
        "size": PAGE,
        "query": {"bool": {"filter": list(filters) or [all_leads]}},
        "sort": [{"domain": "asc"}],
        "version": True,
        "track_total_hits": False,
    }
    params = {"allow_partial_search_results": "false", "request_cache": "false"}
    while True:
        path = f"/{generation}/_search"
        answer = await index.opensearch.search(path, body, timeout_ms=timeout_ms, params=params)
        hits: list[dict[str, Any]] = answer["hits"]["hits"]
        if hits:
            yield hits
        if len(hits) < PAGE:
            return
        body["search_after"] = hits[-1]["sort"]
