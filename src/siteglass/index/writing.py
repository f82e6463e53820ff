"""Leads into generations: the list of opt-outs is asked, documents are made, batches written.

What loader and opt-out have in common, so that no lead has another way in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from siteglass.corpus.lead import Lead
from siteglass.corpus.trade_rules import with_trades
from siteglass.errors import Unavailable
from siteglass.index import generations, shard_health
from siteglass.index.documents import bulk_delete_line, bulk_lines
from siteglass.index.index import Index
from siteglass.index.names import written_as
from siteglass.platform.opensearch import EngineError
from siteglass.settings import Settings
from siteglass.suppression.entries import WHOLE, FoundHash, ListedValues, among
from siteglass.suppression.filter import hidden_countries
from siteglass.suppression.redaction import (
    changes,
    hashes,
    index_keys,
    lead_getter,
    lead_with,
    names,
    without_aliases,
    without_personal,
)
from siteglass.suppression.values import Hasher

BULK_TIMEOUT_MS = 240_000
# For all attempts together: an opt-out waits this long before it looks again, see `opt_out.SETTLE_AFTER`.
WRITE_DEADLINE_S = 300
FIRST_PAUSE_S, LAST_PAUSE_S = 0.2, 5.0
_BULK = {
    "require_alias": "true",
    "timeout": "20s",  # how long the engine waits for a shard that is not there
    "filter_path": "items.*.status,items.*._id,items.*.error",
}
MAX_REASONS = 5


@dataclass(slots=True)
class WriteReport:
    """What became of documents, in all generations together."""

    written: int = 0
    older: int = 0
    """A newer crawl of the same domain was there."""
    deleted: int = 0
    failed: int = 0
    reasons: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SuppressibleValues:
    """All that a lead may be listed under."""

    domain: str
    names: tuple[str, ...]
    hashes: frozenset[bytes]

    @property
    def all_names(self) -> tuple[str, ...]:
        """Its own, and those of its aliases."""
        return self.names


@dataclass(frozen=True, slots=True)
class PreparedLead(SuppressibleValues):
    """A lead on its way in, and its lines if nothing of it is listed."""

    lead: Lead
    source: str
    lines: bytes

    @property
    def all_names(self) -> tuple[str, ...]:
        """Its own, and those of its aliases."""
        return (*self.names, *(name for alias in self.lead.aliases for name in names(alias)))


class Preparer:
    """Makes leads ready to be written."""

    def __init__(self, settings: Settings, *, equal_wins: bool = True, oldest_ms: int | None = None) -> None:
        self.hasher = Hasher(settings)
        self._oldest_ms = oldest_ms or 0
        self._equal_wins = equal_wins
        self._countries = hidden_countries(settings)

    def prepare(self, lead: Lead, source: str) -> PreparedLead:
        """The lead as it may be shown if nothing of it is listed; one that is too old is deleted, wherever it is."""
        named = names(lead.domain)
        if self.is_too_old(lead):
            line = bulk_delete_line(lead.domain, lead.version)
            return PreparedLead(lead.domain, named, frozenset(), lead, source, line)
        lead = with_trades(lead)
        if lead.country in self._countries:
            lead = lead_with(lead, without_personal(lead_getter(lead)))
        found = hashes(lead_getter(lead), self.hasher)
        lines = bulk_lines(lead, source, index_keys(named, found), equal_wins=self._equal_wins)
        return PreparedLead(lead.domain, named, frozenset(found), lead, source, lines)

    def is_too_old(self, lead: Lead) -> bool:
        """Whether nothing was learned of it, by a crawl or an import, for longer than leads are kept."""
        return lead.version < self._oldest_ms

    def lines(self, batch: Sequence[PreparedLead], listed: ListedValues, *, equal_wins: bool = True) -> list[bytes]:
        """The lines of a batch, each lead without what is listed; a listed domain is deleted."""
        return [self._screened(one, listed, equal_wins) for one in batch] if listed else [one.lines for one in batch]

    def _screened(self, one: PreparedLead, listed: ListedValues, equal_wins: bool) -> bytes:
        if not listed.domains.isdisjoint(one.names):
            return bulk_delete_line(one.lead.domain, one.lead.version)
        if listed.hashes.isdisjoint(one.hashes) and listed.domains.isdisjoint(one.all_names):
            return one.lines
        lead = lead_with(one.lead, changes(lead_getter(one.lead), listed.hashes, self.hasher))
        lead = without_aliases(lead, listed.domains)
        keys = index_keys(one.names, hashes(lead_getter(lead), self.hasher))
        return bulk_lines(lead, one.source, keys, equal_wins=equal_wins)


async def listed_of(index: Index, batch: Sequence[SuppressibleValues]) -> ListedValues:
    """What of a batch is on the list now."""
    domains = {name for one in batch for name in one.all_names}
    return await among(index.postgres, domains, {hashed for one in batch for hashed in one.hashes})


def found_on(batch: Sequence[SuppressibleValues], listed: ListedValues) -> list[FoundHash]:
    """Which leads carry what is listed."""
    found: list[FoundHash] = []
    for one in batch:
        if not listed.domains.isdisjoint(one.names):
            found.append(FoundHash(one.domain, WHOLE))
        found += [FoundHash(one.domain, value) for value in listed.hashes & one.hashes]
    return found


async def write(
    index: Index, target: str, lines: Sequence[bytes], report: WriteReport, *, fills_it: bool = False
) -> None:
    """Write documents to one generation, all attempts within one deadline.

    One that was dropped since it was asked for wants nothing any more, nor does one that lost a shard before a rebuild
    finished it, unless this is the rebuild that fills it.
    """
    try:
        async with asyncio.timeout(WRITE_DEADLINE_S):
            await _send(index, target, lines, report, fills_it=fills_it)
    except TimeoutError:
        raise Unavailable(f"a batch was not written to {target} within {WRITE_DEADLINE_S} s") from None


async def _send(index: Index, target: str, lines: Sequence[bytes], report: WriteReport, *, fills_it: bool) -> None:
    """Backs off while the engine is full or a node of it is lost, writes again only what was not taken."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            answer = await index.opensearch.request(
                "POST",
                f"/{written_as(target)}/_bulk",
                b"".join(lines),
                timeout_ms=BULK_TIMEOUT_MS,
                params=_BULK,
                ndjson=True,
                repeatable=True,  # a document is written again only by a version as new
            )
        except Unavailable:
            pass
        except EngineError as error:
            if error.status != 429 and error.status < 500:
                raise
        else:
            items = [next(iter(item.items())) for item in answer["items"]]
            refused = any(item["status"] == 404 and "error" in item for _, item in items)
            if refused:
                if await generations.is_gone(index, target):
                    return
                raise generations.GenerationError(
                    f"{target} receives writes, but its alias {written_as(target)} is missing, so they would be lost. "
                    f"Rebuild it: siteglass index rebuild SOURCE --promote, or drop it: siteglass index drop {target}"
                )
            for action, item in items:
                _count(action, item, report)
            lines = [line for line, (_, item) in zip(lines, items, strict=True) if _comes_again(item["status"])]
            if not lines:
                return
        if not fills_it and await shard_health.leave_if_red(index, target):
            return
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LAST_PAUSE_S)


def _comes_again(status: int) -> bool:
    """Whether a document may be taken later: the engine is full, or the shard of it is not there now."""
    return status == 429 or status >= 500


def _count(action: str, item: dict[str, Any], report: WriteReport) -> None:
    match item["status"]:
        case status if _comes_again(status):
            pass
        case 404 if action == "delete":
            pass  # was not there
        case status if status < 300:
            report.deleted += action == "delete"
            report.written += action != "delete"
        case 409:
            report.older += 1
        case _:
            report.failed += 1
            if len(report.reasons) < MAX_REASONS:
                report.reasons.append(f"{item['_id']}: {item['error'].get('type')}: {item['error'].get('reason')}")
