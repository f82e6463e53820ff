"""Files of leads into the lead store, with a number for each domain.

PostgreSQL allots numbers in blocks; the store, where they are written, is the truth about them. One process at a time
looks up, allots and writes, so that no domain gets two numbers. A process that is lost in between wastes its block.
"""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from siteglass.corpus.lead_files import count_leads
from siteglass.corpus.lead_store import (
    MAX_LEAD_NO,
    IncomingFile,
    KnownDomains,
    StoredFile,
    as_parquet,
    highest_number,
    incoming_file,
    look_up,
    note_domains,
    stored_file,
    write_stored,
)
from siteglass.index.generations import GenerationError
from siteglass.index.index import Index

BLOCK_SIZE = 1_000
"""Numbers are allotted in blocks of at least this size."""
MAX_LEADS_AT_ONCE = 2_000_000
"""Domains that are kept in memory while the store is searched for them, unless one file has more."""
LOCK_DEADLINE_S = 3_600
LOCK_PAUSE_S = 0.1


async def enter_store(index: Index, sources: Sequence[Path | IncomingFile]) -> list[StoredFile]:
    """The files of these sources in the lead store, each source once. What is there already is not written again."""
    store = index.settings.lead_store
    store.mkdir(parents=True, exist_ok=True)
    async with only_writer(store):
        files = [
            source if isinstance(source, IncomingFile) else await asyncio.to_thread(incoming_file, source, store)
            for source in sources
        ]
        files = list({file.target.resolve(): file for file in files}.values())
        entered = {file.target: stored_file(file.target) for file in files}
        pending = [file for file in files if entered[file.target] is None]
        for group in await asyncio.to_thread(_grouped, pending):
            entered.update({one.path: one for one in await _enter(index, store, group)})
    return [one for one in entered.values() if one is not None]


@asynccontextmanager
async def only_writer(store: Path) -> AsyncIterator[None]:
    """Keeps other processes from writing to the lead store; raises GenerationError if one does for too long."""
    with (store / ".lock").open("a") as lock:
        try:
            async with asyncio.timeout(LOCK_DEADLINE_S):
                while not _try_lock(lock.fileno()):  # noqa: ASYNC110 - another process has it
                    await asyncio.sleep(LOCK_PAUSE_S)
        except TimeoutError:
            raise GenerationError(
                f"Another process has been writing to {store} for {LOCK_DEADLINE_S} s. Wait until it ends, then run "
                "this again."
            ) from None
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _grouped(files: list[IncomingFile]) -> list[list[IncomingFile]]:
    """Files whose domains are looked up together: the store is read once for each group."""
    groups: list[list[IncomingFile]] = []
    leads = 0
    for file in files:
        count = count_leads(file.source)
        if not groups or leads + count > MAX_LEADS_AT_ONCE:
            groups.append([])
            leads = 0
        groups[-1].append(file)
        leads += count
    return groups


async def _enter(index: Index, store: Path, group: list[IncomingFile]) -> list[StoredFile]:
    known = KnownDomains()
    entered = []
    with ExitStack() as converted:
        ready = [(file, *await asyncio.to_thread(converted.enter_context, as_parquet(file))) for file in group]
        for file, parquet, _rejects in ready:
            await asyncio.to_thread(note_domains, parquet, known, numbered=file.is_stored)
        await asyncio.to_thread(look_up, store, known)
        numbers = known.numbers | await _allot(index, store, known.without_number())
        for file, parquet, rejects in ready:
            entered.append(await asyncio.to_thread(write_stored, file, parquet, rejects, known, numbers))
    return entered


async def _allot(index: Index, store: Path, domains: list[str]) -> dict[str, int]:
    """New numbers, above all that the store has: after a restore the database may be older than the store."""
    if not domains:
        return {}
    above = await asyncio.to_thread(highest_number, store)
    count = max(BLOCK_SIZE, len(domains))
    row = await index.postgres.call("allot_lead_numbers", block_size=count, above=above)
    first: int | None = row[0]
    if first is None:
        raise GenerationError(
            f"There are fewer than {count} numbers left for new leads: the highest possible number is {MAX_LEAD_NO}. "
            "No lead of these files was loaded."
        )
    return {domain: first + place for place, domain in enumerate(domains)}
