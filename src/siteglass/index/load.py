"""Operation 5: lead records in batches to every generation that takes writes, suppressed ones left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from siteglass.corpus.lead_files import read_parquet, record_place
from siteglass.index import generations
from siteglass.index.expiry import oldest_fact_ms
from siteglass.index.index import Index
from siteglass.index.writing import PreparedLead, Preparer, WriteReport, found_on, listed_of, write
from siteglass.suppression.entries import ListedValues, remember, require_secret

BATCH_BYTES = 4 * 1024 * 1024
BATCHES_IN_FLIGHT = 3


@dataclass(slots=True)
class LoadReport(WriteReport):
    """What became of the leads; per generation written to."""

    read: int = 0
    suppressed: int = 0
    """Leads of suppressed domains, left out; counted once, however many generations there are."""
    too_old: int = 0
    """Leads of which nothing was learned for longer than they are kept, left out."""
    document_bytes: int = 0

    def add(self, part: LoadReport) -> None:
        """Count what became of other leads, too."""
        for one in fields(LoadReport):
            setattr(self, one.name, getattr(self, one.name) + getattr(part, one.name))


def batches(path: Path, preparer: Preparer) -> Iterator[list[PreparedLead]]:
    """The leads of a Parquet file, as many at once as make a bulk body of bounded size."""
    batch: list[PreparedLead] = []
    size = 0
    for row_group, leads in read_parquet(path):
        source = record_place(path, row_group)
        for lead in leads:
            one = preparer.prepare(lead, source)
            if batch and size + len(one.lines) > BATCH_BYTES:
                yield batch
                batch, size = [], 0
            batch.append(one)
            size += len(one.lines)
    if batch:
        yield batch


async def load(
    index: Index, path: Path, on_progress: Callable[[LoadReport], None], *, only: str | None = None
) -> LoadReport:
    """Write all leads of a Parquet file of the lead store, see `entry`.

    A few batches are under way while the next is made in a thread. They go to every generation that takes writes, or to
    `only` one that is being built: there, what others wrote since it was made is as new or newer, and stays.
    """
    loaded = LoadReport()
    under_way: set[asyncio.Task[None]] = set()
    oldest_ms = oldest_fact_ms(index.settings, index.clock.now_ms())
    preparer = Preparer(index.settings, equal_wins=only is None, oldest_ms=oldest_ms)
    await require_secret(index.postgres, preparer.hasher)
    source = batches(path, preparer)
    try:
        while (batch := await asyncio.to_thread(next, source, None)) is not None:
            if len(under_way) >= BATCHES_IN_FLIGHT:
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                _raise_failures(done)
                on_progress(loaded)
            under_way.add(asyncio.create_task(_write(index, preparer, batch, only, loaded)))
        if under_way:
            done, under_way = await asyncio.wait(under_way)
            _raise_failures(done)
    finally:
        for task in under_way:
            task.cancel()
    on_progress(loaded)
    return loaded


def _raise_failures(done: set[asyncio.Task[None]]) -> None:
    for task in done:
        task.result()


async def _write(
    index: Index, preparer: Preparer, batch: list[PreparedLead], only: str | None, loaded: LoadReport
) -> None:
    """A batch into all generations that are to have it, without what is on the list of opt-outs.

    Both are asked again after each write. Who was put on the list meanwhile may have been looked for before this
    batch could be found, and a generation opened meanwhile would never get what its source does not have.
    """
    written: list[str] = []
    lines: list[bytes] = []
    screened: ListedValues | None = None
    while True:
        listed = await listed_of(index, batch)
        if listed != screened:
            # What was listed meanwhile takes the place of what this batch has just written, at the same version.
            equal_wins = only is None or screened is not None
            lines = await asyncio.to_thread(preparer.lines, batch, listed, equal_wins=equal_wins)
            if screened is not None:
                await remember(index.postgres, found_on(batch, listed))  # answers hide it until all is written again
            screened, written = listed, []
        missing = [name for name in await _targets(index, only) if name not in written]
        if not missing:
            break
        await write(index, missing[0], lines, loaded, fills_it=only is not None)
        written.append(missing[0])
    loaded.read += len(batch)
    loaded.suppressed += sum(not screened.domains.isdisjoint(one.names) for one in batch)
    loaded.too_old += sum(preparer.is_too_old(one.lead) for one in batch)
    loaded.document_bytes += sum(map(len, lines))


async def _targets(index: Index, only: str | None) -> list[str]:
    return [only] if only is not None else await generations.require_writable(index)
