"""Look leads up by their domain: one `mget` for all names of an enrichment.

If some of them have no lead, one search follows for leads that have them as an alias.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from siteglass.errors import Unavailable
from siteglass.index.index import Index
from siteglass.index.pages import require_whole
from siteglass.platform.opensearch import EngineError
from siteglass.suppression.filter import SuppressionFilter

# Several leads may have the same alias: records of other sources are not checked for that.
MAX_ALIAS_HITS = 2_000


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Stored records by domain, and the names whose look-up failed."""

    records: dict[str, dict[str, Any]]
    failed: frozenset[str]
    aliases: dict[str, str] = field(default_factory=dict)
    """Names without a record, and the domain of the record that has them as an alias."""

    def stored(self, names: Sequence[str]) -> str | None:
        """The domain of the first record that these names lead to, None if there is none; "" if its look-up failed."""
        for name in names:
            if name in self.failed:
                return ""
            if name in self.records:
                return name
        return next((self.aliases[name] for name in names if name in self.aliases), None)

    def shown(self, hidden: SuppressionFilter) -> LookupResult:
        """What may be shown of it: a suppressed lead is as if it were not there, and so is a suppressed alias."""
        records = {
            domain: record for domain, found in self.records.items() if (record := hidden.shown(found)) is not None
        }
        aliases = {
            name: domain for name, domain in self.aliases.items() if domain in records and not hidden.hides(name)
        }
        return LookupResult(records, self.failed, aliases)


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
        raise _unavailable(error) from error
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


async def look_up_sites(index: Index, sites: Collection[Sequence[str]]) -> LookupResult:
    """The records of websites, each by the names that it may be stored under, the best first, or by an alias."""
    found = await look_up(index, sorted({name for names in sites for name in names}))
    missing = sorted({name for names in sites if found.stored(names) is None for name in names})
    if not missing:
        return found
    try:
        holders = await _find_holders(index, missing)
    except Unavailable:
        if not found.records:
            raise
        return replace(found, failed=found.failed | set(missing))
    aliases: dict[str, str] = {}
    for record in holders:
        for name in set(record["aliases"]).intersection(missing):
            aliases.setdefault(name, record["domain"])
    records = {record["domain"]: record for record in holders}
    return LookupResult(found.records | records, found.failed, aliases)


async def _find_holders(index: Index, names: list[str]) -> list[dict[str, Any]]:
    """The records that have one of these names as an alias, in the order of domains."""
    try:
        answer = await index.opensearch.search(
            f"/{index.names.read}/_search",
            {
                "query": {"bool": {"filter": [{"terms": {"aliases": names}}]}},
                "sort": ["domain"],
                "size": MAX_ALIAS_HITS,
                "track_total_hits": False,
            },
            timeout_ms=index.settings.search_timeout_ms,
            params={"allow_partial_search_results": "false", "request_cache": "false"},
        )
    except EngineError as error:
        raise _unavailable(error) from error
    require_whole(answer)
    return [hit["_source"] for hit in answer["hits"]["hits"]]


def _unavailable(error: EngineError) -> Exception:
    return Unavailable(f"look-up refused: {error}") if error.passing else error
