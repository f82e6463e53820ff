"""Operation 6: suppress values: list them, note the leads that carry them, take them out of every generation.

From the second step on no answer shows them once a worker has read the list again; the third is for all that does not
go through a worker, and for the generations to come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import msgspec

from siteglass.backends import Backends, EngineError
from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.documents import bulk_delete_line
from siteglass.index.holders import Holder, holders
from siteglass.index.names import Names
from siteglass.lead import Lead
from siteglass.lead_files import LeadFileError, read_records
from siteglass.suppression import entries
from siteglass.suppression.entries import MAX_ADDED
from siteglass.suppression.redaction import changes, lead_getter
from siteglass.suppression.values import Hasher, Kind, Value, index_key, site_key
from siteglass.writing import Preparer, Written, found_on, listed_of, write

# A batch that was under way when a value was listed has ended by then, also if its writer was killed.
SETTLE_AFTER = timedelta(minutes=10)
SETTLE_EVERY_S = 60
MAX_HELD = 100


@dataclass(slots=True)
class Outcome(Written):
    """What suppressing came to, over all generations."""

    given: int = 0
    added: int = 0
    """Values that were not on the list before."""
    domains: set[str] = field(default_factory=set)
    """Leads that carried one of the values in some generation."""
    without_record: int = 0
    """Documents whose record could not be read: they were deleted."""


@dataclass(frozen=True, slots=True)
class HeldLead:
    """A lead that carries a value: where it stands in it, and where it comes from."""

    domain: str
    fields: tuple[str, ...]
    source: str
    crawled_at: datetime
    record: dict[str, Any]
    """All that is held of the site."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of a value, and since when nothing of it is shown."""

    suppressed_since: datetime | None
    leads: list[HeldLead]


async def suppress(
    backends: Backends,
    names: Names,
    values: Sequence[Value],
    *,
    reason: str,
    actor: str,
    on_progress: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Put values on the list and take them out of the index. Done again it does no harm and mends what was left."""
    preparer = Preparer(backends.settings)
    await entries.require_secret(backends.postgres, preparer.hasher)
    outcome = Outcome()
    for start in range(0, len(values), MAX_ADDED):
        part = values[start : start + MAX_ADDED]
        outcome.added += await entries.add(backends.postgres, preparer.hasher, part, reason=reason, actor=actor)
        await _take_out(backends, names, preparer, [(v.kind, preparer.hasher.of_value(v)) for v in part], outcome)
        outcome.given += len(part)
        on_progress(outcome)
    return outcome


async def settle(backends: Backends, names: Names) -> None:
    """Look once more for entries that a writer may have missed which asked the list just before they stood on it."""
    preparer = Preparer(backends.settings)
    while claimed := await entries.claim_unsettled(backends.postgres, SETTLE_AFTER, MAX_ADDED):
        outcome = Outcome()
        await _take_out(backends, names, preparer, claimed, outcome)
        if outcome.failed:
            raise Unavailable(f"{outcome.failed} leads with suppressed values could not be rewritten")
        await entries.settle(backends.postgres, claimed)


async def _take_out(
    backends: Backends, names: Names, preparer: Preparer, listed: Sequence[tuple[Kind, bytes]], outcome: Outcome
) -> None:
    """Rewrite all documents that carry one of these, in every generation that takes writes."""
    targets = await generations.writable(backends, names)
    if targets:
        await generations.refresh(backends, targets)
    domains = [value.decode() for kind, value in listed if kind is Kind.DOMAIN]
    keys = [index_key(value) for kind, value in listed if kind is not Kind.DOMAIN]
    for target in targets:
        try:
            async for found in holders(backends, target, domains, [*keys, *map(site_key, domains)]):
                await _rewrite(backends, preparer, target, found, outcome)
        except EngineError as error:
            if error.status != 404 or not await generations.is_gone(backends, target):
                raise
    if targets:
        await generations.refresh(backends, targets)


async def _rewrite(backends: Backends, preparer: Preparer, target: str, found: list[Holder], outcome: Outcome) -> None:
    """Write documents anew from their records, without what is listed; note first that they carry it."""
    records, missing = await asyncio.to_thread(_records, backends, found)
    batch = await asyncio.to_thread(lambda: [preparer.prepare(lead, place) for lead, place in records])
    listed = await listed_of(backends, batch)
    carried = found_on(batch, listed)
    await entries.remember(backends.postgres, carried)
    # A document without its record cannot be written anew; what is certain is that it must not be shown as it is.
    lines = preparer.lines(batch, listed) + [bulk_delete_line(one.domain, one.version) for one in missing]
    if lines:
        await write(backends, target, lines, outcome)
    outcome.domains.update([one.domain for one in carried] + [one.domain for one in missing])
    outcome.without_record += len(missing)


def _records(backends: Backends, found: list[Holder]) -> tuple[list[tuple[Lead, str]], list[Holder]]:
    """The records of documents with their places, and the documents whose record is gone."""
    store = backends.settings.lead_store
    if not store.is_dir():
        raise LeadFileError(f"{store}: the lead store is not here; leads are rewritten from its files")
    records: list[tuple[Lead, str]] = []
    missing: list[Holder] = []
    for place, group in groupby(sorted(found, key=lambda one: one.place), key=lambda one: one.place):
        wanted = {holder.domain: holder for holder in group}
        try:
            there = read_records(store, place, wanted)
        except (FileNotFoundError, LeadFileError):
            there = []
        # A file may hold several crawls of a site: the one that was written is the one of this version.
        by_domain = {lead.domain: lead for lead in there if lead.crawled_at_ms == wanted[lead.domain].version}
        records += [(lead, place) for lead in by_domain.values()]
        missing += [holder for domain, holder in wanted.items() if domain not in by_domain]
    return records, missing


async def held(backends: Backends, names: Names, value: Value) -> Held:
    """What the live generation holds of a value, from where and since when; at most MAX_HELD leads."""
    hasher = Hasher(backends.settings)
    entry = await entries.find(backends.postgres, hasher, value)
    live = await generations.live(backends, names)
    leads: list[HeldLead] = []
    if live is not None:
        domains = [value.text] if value.kind is Kind.DOMAIN else []
        keys = [] if value.kind is Kind.DOMAIN else [index_key(hasher.of_value(value))]
        async for found in holders(backends, live, domains, keys):
            records, _ = await asyncio.to_thread(_records, backends, found[: MAX_HELD - len(leads)])
            leads += [_held_lead(lead, place, value, hasher) for lead, place in records]
            if len(leads) >= MAX_HELD:
                break
    return Held(None if entry is None else entry.at, leads)


def _held_lead(lead: Lead, place: str, value: Value, hasher: Hasher) -> HeldLead:
    # What would be other without the value is what holds it.
    carrying = changes(lead_getter(lead), {hasher.of_value(value)}, hasher)
    fields = lead.__struct_fields__ if value.kind is Kind.DOMAIN else tuple(carrying)
    crawled_at = datetime.fromtimestamp(lead.crawled_at_ms / 1000, UTC)
    return HeldLead(lead.domain, fields, place.partition("#")[0], crawled_at, msgspec.to_builtins(lead))
