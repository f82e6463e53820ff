"""Look leads up by their domain: one `mget` for all names of an enrichment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from siteglass.errors import Unavailable
from siteglass.index.index import Index
from siteglass.platform.opensearch import EngineError


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Stored records by domain, and the names whose look-up failed."""

    records: dict[str, dict[str, Any]]
    failed: frozenset[str]


async def look_up(index: Index, domains: Collection[str]) -> LookupResult:
    """The records stored under these domains; a name without one is in neither part of the answer."""
    if not domains:
        return LookupResult({}, frozenset())
    try:
        answer = await index.opensearch.search(
            f"/{index.names.read}/_mget",
            {"ids": list(domains)},
            timeout_ms=index.settings.search_timeout_ms,
            params={"realtime": "false"},
            cancels=False,
        )
    except EngineError as error:
        raise (Unavailable(f"look-up refused: {error}") if error.passing else error) from error
    records: dict[str, dict[str, Any]] = {}
    failed: set[str] = set()
    for found in answer["docs"]:
        if "error" in found:
            failed.add(found["_id"])
        elif found["found"]:
            records[found["_id"]] = found["_source"]
    if len(failed) == len(domains):
        raise Unavailable("every look-up failed")
    return LookupResult(records, frozenset(failed))
