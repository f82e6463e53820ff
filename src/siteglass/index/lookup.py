"""Look leads up by their domain.

A few names take one `mget`, which for one domain is the fastest. If some of them have no lead, one search follows for
leads that have them as an alias. Many names take one search for both, which reads cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Generic, TypeVar

from siteglass.errors import Unavailable
from siteglass.index.hits import Hit, SearchAnswer, ShardsFailed, decode_answer, require_whole
from siteglass.index.index import Index
from siteglass.index.pages import CARD_AND_REST
from siteglass.platform.opensearch import EngineError
from siteglass.suppression.filter import SuppressionFilter

# Several leads may have the same alias: records of other sources are not checked for that.
MAX_ALIAS_HITS = 2_000


class TooManyHolders(Exception):
    """More leads have a name as an alias than a search returns."""


Record = dict[str, Any]
Found = TypeVar("Found")
Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class LookupResult(Generic[Found]):
    """What is stored, by domain, and the names whose look-up failed."""

    records: dict[str, Found]
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

    def shown(self, hidden: SuppressionFilter, records: dict[str, Shown]) -> LookupResult[Shown]:
        """The same with what may be shown: a lead that is not in `records` is as if it were not there, and so is a
        suppressed alias."""
        aliases = {
            name: domain for name, domain in self.aliases.items() if domain in records and not hidden.hides(name)
        }
        return LookupResult(records, self.failed, aliases)


async def look_up(index: Index, domains: Collection[str]) -> LookupResult[Record]:
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
    records: dict[str, Record] = {}
    failed: set[str] = set()
    for found in answer["docs"]:
        if "error" in found:
            failed.add(found["_id"])
        elif found["found"]:
            records[found["_id"]] = found["_source"]
    if len(failed) == len(domains):
        raise Unavailable("every look-up failed")
    return LookupResult(records, frozenset(failed))


async def look_up_sites(index: Index, sites: Collection[Sequence[str]]) -> LookupResult[Record]:
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
    aliases = _aliases(set(missing), ((record["domain"], record["aliases"]) for record in holders))
    records = {record["domain"]: record for record in holders}
    return LookupResult(found.records | records, found.failed, aliases)


async def look_up_cards(index: Index, sites: Collection[Sequence[str]]) -> LookupResult[Hit]:
    """The same for many websites at once, as cards: one search by domains and aliases.

    Raises NoCards; ShardsFailed if a shard does not respond; TooManyHolders if so many leads have the names as aliases
    that leads with the names themselves may be missing. `look_up_sites` has an answer to all three.
    """
    names = sorted({name for names in sites for name in names})
    size = len(names) + MAX_ALIAS_HITS
    by_name = {"bool": {"should": [{"terms": {"domain": names}}, {"terms": {"aliases": names}}]}}
    try:
        answer: SearchAnswer = await index.opensearch.search(
            f"/{index.names.read}/_search",
            {
                "query": {"bool": {"filter": [by_name]}},
                "size": size,
                "track_total_hits": False,
                **CARD_AND_REST,
            },
            timeout_ms=index.settings.search_timeout_ms,
            params={"allow_partial_search_results": "false", "request_cache": "false"},
            decode=decode_answer,
        )
    except EngineError as error:
        # A search that must be whole, and to which a shard does not respond, is refused.
        raise ShardsFailed(str(error)) if error.status in (500, 503) else _unavailable(error) from error
    answer.require_whole()
    hits = sorted((found.hit(rest=True) for found in answer.hits.hits), key=attrgetter("domain"))
    if len(hits) == size:
        raise TooManyHolders
    found = LookupResult({hit.domain: hit for hit in hits}, frozenset())
    missing = {name for names in sites if found.stored(names) is None for name in names}
    if not missing:
        return found
    return replace(found, aliases=_aliases(missing, ((hit.domain, hit.rest.aliases) for hit in hits if hit.rest)))


def _aliases(missing: Set[str], holders: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Each name that is missing, and the domain of the first record that has it as an alias."""
    aliases: dict[str, str] = {}
    for domain, names in holders:
        for name in names:
            if name in missing:
                aliases.setdefault(name, domain)
    return aliases


async def _find_holders(index: Index, names: list[str]) -> list[Record]:
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
