"""Operation 6: suppress values: list them, note the leads that carry them, take them out of every generation.

After the second step no response shows them once a worker has read the list again. The third step covers everything
that does not go through a worker, and future generations.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import LeadFileError, read_records
from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.documents import bulk_delete_line
from siteglass.index.holders import Holder, holders
from siteglass.index.index import Index
from siteglass.index.writing import (
    WRITE_DEADLINE_S,
    PreparedLead,
    Preparer,
    SuppressibleValues,
    WriteReport,
    found_on,
    listed_of,
    write,
)
from siteglass.platform.opensearch import EngineError
from siteglass.suppression import entries
from siteglass.suppression.entries import MAX_ADDED, ListedValues
from siteglass.suppression.journal import Journal, missing, open_journal
from siteglass.suppression.redaction import changes, hashes, lead_getter, lead_with
from siteglass.suppression.redaction import names as listed_names
from siteglass.suppression.values import Hasher, Kind, Value, index_key, site_key

# A batch that was under way when a value was listed has ended by then, also if its writer was killed.
SETTLE_AFTER = timedelta(seconds=2 * WRITE_DEADLINE_S)
SETTLE_EVERY_S = 60
MAX_HELD = 100
REPLAY_REASON = "replayed from the journal after a restore"
# How long a command waits for an engine that has just lost a node, and the pause between attempts.
PATIENCE_S, TRY_EVERY_S = 50.0, 1.0


@dataclass(slots=True)
class Outcome(WriteReport):
    """What suppressing came to, over all generations."""

    given: int = 0
    added: int = 0
    """Values that were not on the list before."""
    domains: set[str] = field(default_factory=set)
    """Leads that carried one of the values in some generation."""
    without_record: int = 0
    """Documents whose record could not be read: they were deleted."""


@dataclass(frozen=True, slots=True)
class SeenOn:
    """A page that showed a value, and when it was seen there for the first and the last time."""

    value: str
    page: str
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class HeldLead:
    """A lead that contains a value: the fields that contain it, and its source."""

    domain: str
    fields: tuple[str, ...]
    source: str
    crawled_at: datetime
    record: dict[str, Any]
    """Everything that is stored about the site."""
    seen: tuple[SeenOn, ...] = ()
    """The pages that showed the value, or for a domain its contacts, as customers see them."""


@dataclass(frozen=True, slots=True)
class HeldData:
    """What is stored about a value, and since when it is suppressed."""

    suppressed_since: datetime | None
    leads: list[HeldLead]
    sites: list[str]
    """Where it was found when it was suppressed: not shown, but still in the source files."""

    @property
    def domains(self) -> list[str]:
        """The websites whose records contain it, or did."""
        return [*self.sites, *(lead.domain for lead in self.leads)]


async def suppress(
    index: Index,
    values: Sequence[Value],
    *,
    reason: str,
    actor: str,
    patience_s: float = 0.0,
    on_progress: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Add values to the list and remove them from the index. Repeating it is safe and finishes what was left.

    An engine that does not answer is asked again for `patience_s`. Refused while the list lacks entries of the journal,
    as after a restore: new ones would push those out of the part that a starting worker compares.
    """
    preparer = Preparer(index.settings)
    journal = open_journal(index.settings, preparer.hasher)
    if journal is not None:
        await journal.require_replayed(index.postgres)
    listed = list(map(preparer.hasher.pair, values))
    return await _suppress(index, preparer, listed, journal, reason, actor, patience_s, on_progress)


async def replay(
    index: Index, paths: Sequence[Path], *, actor: str, on_progress: Callable[[Outcome], None] = lambda _: None
) -> tuple[int, Outcome]:
    """Suppress again what journals have and the list lacks; how many entries they have, and what it came to."""
    preparer = Preparer(index.settings)
    await entries.require_secret(index.postgres, preparer.hasher)
    every = [entry for path in paths for entry in Journal(path, preparer.hasher).read(path)]
    listed = [entry.pair for entry in await missing(index.postgres, every)]
    done = await _suppress(index, preparer, listed, None, REPLAY_REASON, actor, PATIENCE_S, on_progress)
    return len(every), done


async def _suppress(
    index: Index,
    preparer: Preparer,
    listed: Sequence[tuple[Kind, bytes]],
    journal: Journal | None,
    reason: str,
    actor: str,
    patience_s: float,
    on_progress: Callable[[Outcome], None],
) -> Outcome:
    await entries.require_secret(index.postgres, preparer.hasher)
    outcome = Outcome()
    for start in range(0, len(listed), MAX_ADDED):
        part = listed[start : start + MAX_ADDED]
        outcome.added += await entries.add(index.postgres, part, reason=reason, actor=actor)
        if journal is not None:
            await journal.append(part)
        await _take_out_patiently(index, preparer, part, outcome, patience_s)
        outcome.given += len(part)
        on_progress(outcome)
    return outcome


async def settle(index: Index) -> None:
    """Look again for entries that a writer may have missed because it read the list just before they were added."""
    preparer = Preparer(index.settings)
    await entries.require_secret(index.postgres, preparer.hasher)
    while claimed := await entries.claim_unsettled(index.postgres, SETTLE_AFTER, MAX_ADDED):
        outcome = Outcome()
        await _take_out(index, preparer, claimed, outcome)
        if outcome.failed:
            raise Unavailable(f"{outcome.failed} leads with suppressed values could not be rewritten")
        await entries.settle(index.postgres, claimed)


async def _take_out_patiently(
    index: Index, preparer: Preparer, listed: Sequence[tuple[Kind, bytes]], outcome: Outcome, patience_s: float
) -> None:
    """`_take_out`, again and again while the engine is unavailable. What was done before is found done."""
    ends = time.monotonic() + patience_s
    while True:
        try:
            return await _take_out(index, preparer, listed, outcome)
        except (EngineError, Unavailable) as error:
            passing = not isinstance(error, EngineError) or error.passing
            if not passing or time.monotonic() + TRY_EVERY_S > ends:
                raise
        await asyncio.sleep(TRY_EVERY_S)


async def _take_out(index: Index, preparer: Preparer, listed: Sequence[tuple[Kind, bytes]], outcome: Outcome) -> None:
    """Rewrite all documents that carry one of these, in every generation that takes writes."""
    targets = await generations.writable(index)
    if not targets:
        return
    await generations.refresh(index, targets)
    domains = [value.decode() for kind, value in listed if kind is Kind.DOMAIN]
    keys = [index_key(value) for kind, value in listed if kind is not Kind.DOMAIN]
    broken: generations.GenerationError | None = None
    for target in targets:
        try:
            async for found in holders(index, target, domains, [*keys, *map(site_key, domains)]):
                await _rewrite(index, preparer, target, found, outcome)
        except EngineError as error:
            if error.status != 404 or not await generations.is_gone(index, target):
                raise
        except generations.GenerationError as error:
            broken = error  # reported when the others are done
    await generations.refresh(index, targets)
    if broken is not None:
        raise broken


async def _rewrite(index: Index, preparer: Preparer, target: str, found: list[Holder], outcome: Outcome) -> None:
    """Rewrite documents from their records, without listed values; first record that they contain them.

    The list is asked again when it is done: of two opt-outs of one lead, the slower one must not bring back the other.
    """
    outcome.domains.update(await _noted(index, preparer.hasher, found))
    records, missing = await asyncio.to_thread(_records, index, found)
    # A document without its record cannot be rewritten; in any case it must not be shown as it is.
    if gone := [bulk_delete_line(one.domain, one.version) for one in missing]:
        await write(index, target, gone, outcome)
        outcome.without_record += len(missing)
        outcome.domains.update(one.domain for one in missing)
    batch = await asyncio.to_thread(lambda: [preparer.prepare(lead, place) for lead, place in records])
    screened: ListedValues | None = None
    while batch and (listed := await listed_of(index, batch)) != screened:
        carried = found_on(batch, listed)
        await entries.remember(index.postgres, carried)
        outcome.domains.update(one.domain for one in carried)
        await write(index, target, await asyncio.to_thread(preparer.lines, batch, listed), outcome)
        screened = listed


async def _noted(index: Index, hasher: Hasher, found: list[Holder]) -> set[str]:
    """Note what documents show of what is listed, before anything is read that may not be there; their domains."""
    shown = [
        SuppressibleValues(one.domain, listed_names(one.domain), frozenset(hashes(one.record.get, hasher)))
        for one in found
    ]
    carried = found_on(shown, await listed_of(index, shown))
    await entries.remember(index.postgres, carried)
    return {one.domain for one in carried}


def _records(index: Index, found: list[Holder]) -> tuple[list[tuple[Lead, str]], list[Holder]]:
    """The records of documents with their places, and the documents whose record is gone."""
    store = index.settings.lead_store
    if not store.is_dir():
        raise LeadFileError(f"{store}: the lead store is not here; leads are rewritten from its files")
    records: list[tuple[Lead, str]] = []
    missing: list[Holder] = []
    for place, group in groupby(sorted(found, key=lambda one: one.place), key=lambda one: one.place):
        wanted = {holder.domain: holder for holder in group}
        try:
            there = read_records(store, place, wanted)
        except (OSError, pa.ArrowException, LeadFileError):
            there = []  # not there, or damaged
        # A file may hold several crawls of a site: the one that was written is the one of this version.
        by_domain = {lead.domain: lead for lead in there if lead.version == wanted[lead.domain].version}
        records += [(lead, place) for lead in by_domain.values()]
        missing += [holder for domain, holder in wanted.items() if domain not in by_domain]
    return records, missing


async def held(index: Index, value: Value) -> HeldData:
    """What is stored about a value, from where and since when; at most MAX_HELD leads. Opt-outs of others stay
    hidden."""
    preparer = Preparer(index.settings)
    hasher = preparer.hasher
    await entries.require_secret(index.postgres, hasher)
    entry = await entries.find(index.postgres, hasher, value)
    of_domain = value.kind is Kind.DOMAIN
    listed = {value.text.encode()} if of_domain else hasher.all_of(value)
    sites = [] if of_domain else await entries.leads_with(index.postgres, listed, MAX_HELD)
    live = await generations.live(index)
    leads: list[HeldLead] = []
    if live is not None:
        keys = [site_key(value.text)] if of_domain else list(map(index_key, listed))
        async for found in holders(index, live, [value.text] if of_domain else [], keys):
            records, _ = await asyncio.to_thread(_records, index, found[: MAX_HELD - len(leads)])
            batch = [preparer.prepare(lead, place) for lead, place in records]
            others = (await listed_of(index, batch)).hashes - listed
            leads += [_held_lead(one, others, value, listed, hasher) for one in batch]
            if len(leads) >= MAX_HELD:
                break
    return HeldData(None if entry is None else entry.at, leads, sites)


def _held_lead(one: PreparedLead, others: Set[bytes], value: Value, listed: Set[bytes], hasher: Hasher) -> HeldLead:
    lead = lead_with(one.lead, changes(lead_getter(one.lead), others, hasher) if others else {})
    record = msgspec.to_builtins(lead)
    # What would be other without the value is what holds it.
    fields = (
        tuple(name for name, content in record.items() if content)
        if value.kind is Kind.DOMAIN
        else tuple(changes(lead_getter(lead), listed, hasher))
    )
    source, seen = one.source.partition("#")[0], tuple(_seen(lead, value, listed, hasher))
    return HeldLead(lead.domain, fields, source, _moment(lead.crawled_at_ms or lead.version), record, seen)


def _seen(lead: Lead, value: Value, listed: Set[bytes], hasher: Hasher) -> Iterator[SeenOn]:
    """Where the value was seen, or for a domain every address and number."""
    of_domain = value.kind is Kind.DOMAIN
    details = [
        *(one for one in lead.emails_detail if of_domain or not listed.isdisjoint(hasher.of_address(one["value"]))),
        *(one for one in lead.phones_detail if of_domain),
    ]
    for one in details:
        page, first_ms, last_ms = one["page"], one.get("first_seen_ms"), one.get("last_seen_ms")
        if page and first_ms and last_ms:
            yield SeenOn(one["value"], page, _moment(first_ms), _moment(last_ms))


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
