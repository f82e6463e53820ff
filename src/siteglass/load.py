"""Operation 5: lead records to documents to batches, written to every generation that takes writes."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from siteglass.backends import Backends, EngineError
from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.documents import bulk_lines
from siteglass.index.names import Names
from siteglass.lead_files import ndjson_to_parquet, read_parquet, replacing

BATCH_BYTES = 4 * 1024 * 1024
BATCHES_IN_FLIGHT = 3
BULK_TIMEOUT_MS = 120_000
FIRST_PAUSE_S, LAST_PAUSE_S, MAX_TRIES = 0.2, 10.0, 10
MAX_REASONS = 5


@dataclass(slots=True)
class Loaded:
    """What became of the leads; per generation written to."""

    read: int = 0
    written: int = 0
    older: int = 0
    """A newer crawl of the same domain was there."""
    failed: int = 0
    document_bytes: int = 0
    reasons: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Batch:
    """Bulk lines of some leads."""

    body: bytes
    leads: int


def to_store(source: Path, store: Path) -> Path:
    """The Parquet file of a source in the lead store, where documents point back to; NDJSON becomes Parquet first.

    Its name holds a hash of the source, so that no later file of the same name can replace it.
    """
    if source.resolve().parent == store.resolve():
        return source
    store.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    target = store / f"{source.stem}-{digest}.parquet"
    if not target.exists():
        if source.suffix == ".parquet":
            with replacing(target) as copy, source.open("rb") as original:
                shutil.copyfileobj(original, copy)
        else:
            ndjson_to_parquet(source, target)
    return target


def batches(path: Path, *, equal_wins: bool = True) -> Iterator[Batch]:
    """The leads of a Parquet file as bulk bodies of bounded size."""
    lines: list[bytes] = []
    size = 0
    for row_group, leads in read_parquet(path):
        source = f"{path.name}#{row_group}"
        for lead in leads:
            line = bulk_lines(lead, source, equal_wins=equal_wins)
            if lines and size + len(line) > BATCH_BYTES:
                yield Batch(b"".join(lines), len(lines))
                lines, size = [], 0
            lines.append(line)
            size += len(line)
    if lines:
        yield Batch(b"".join(lines), len(lines))


async def load(
    backends: Backends, names: Names, path: Path, on_progress: Callable[[Loaded], None], *, only: str | None = None
) -> Loaded:
    """Write all leads of a Parquet file; a few batches are under way while the next is made in a thread.

    They go to every generation that takes writes, or to `only` one that is being built: there, what others wrote since
    it was made is as new or newer, and stays.
    """
    loaded = Loaded()
    under_way: set[asyncio.Task[None]] = set()
    source = batches(path, equal_wins=only is None)
    try:
        while (batch := await asyncio.to_thread(next, source, None)) is not None:
            if len(under_way) >= BATCHES_IN_FLIGHT:
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                _raise_failures(done)
                on_progress(loaded)
            under_way.add(asyncio.create_task(_write(backends, names, batch, only, loaded)))
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


async def _write(backends: Backends, names: Names, batch: Batch, only: str | None, loaded: Loaded) -> None:
    written: list[str] = []
    # Asked again when all is written: one that was opened meanwhile would never get what its source does not have.
    while missing := [name for name in await _targets(backends, names, only) if name not in written]:
        for target in missing:
            results = await _bulk(backends, names.written_as(target), batch.body)
            if only is not None or not await _was_dropped(backends, names, target, results):
                _count(results, loaded)
        written += missing
    loaded.read += batch.leads
    loaded.document_bytes += len(batch.body)


async def _targets(backends: Backends, names: Names, only: str | None) -> list[str]:
    if only is not None:
        return [only]
    targets = await generations.writable(backends, names)
    if not targets:
        raise generations.GenerationError("No generation takes writes. Make one first: siteglass index create")
    return targets


async def _was_dropped(backends: Backends, names: Names, target: str, results: list[dict[str, Any]]) -> bool:
    """Whether the generation is gone since it was asked for: then it wants nothing any more."""
    refused = any(item["status"] == 404 for item in results)
    return refused and target not in await generations.writable(backends, names)


async def _bulk(backends: Backends, target: str, body: bytes) -> list[dict[str, Any]]:
    """One batch to one generation; backs off while the engine is full, writes again only what it refused."""
    results: list[dict[str, Any]] = []
    pause_s = FIRST_PAUSE_S
    for attempt in range(1, MAX_TRIES + 1):
        try:
            answer = await backends.opensearch.request(
                "POST",
                f"/{target}/_bulk",
                body,
                timeout_ms=BULK_TIMEOUT_MS,
                params={"require_alias": "true", "filter_path": "items.index.status,items.index._id,items.index.error"},
                ndjson=True,
            )
        except EngineError as error:
            if error.status != 429 or attempt == MAX_TRIES:
                raise
        else:
            items = [item["index"] for item in answer["items"]]
            refused = [number for number, item in enumerate(items) if item["status"] == 429]
            results.extend(item for item in items if item["status"] != 429)
            if not refused:
                return results
            lines = body.split(b"\n")
            body = b"".join(lines[2 * n] + b"\n" + lines[2 * n + 1] + b"\n" for n in refused)
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LAST_PAUSE_S)
    raise Unavailable(f"the engine refused a batch {MAX_TRIES} times")


def _count(items: list[dict[str, Any]], loaded: Loaded) -> None:
    for item in items:
        if item["status"] < 300:
            loaded.written += 1
        elif item["status"] == 409:
            loaded.older += 1
        else:
            loaded.failed += 1
            if len(loaded.reasons) < MAX_REASONS:
                loaded.reasons.append(f"{item['_id']}: {item['error'].get('type')}: {item['error'].get('reason')}")
