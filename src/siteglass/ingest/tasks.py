"""A task: one archive to one file of page facts. Its name says what went in, its bytes depend on nothing else.

A task is done if its file exists. A second file next to it lists what could not be used.
"""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from types import FrameType
from typing import BinaryIO

import msgspec
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import replacing
from siteglass.ingest.archives import Item, OnRead, QuarantinedRecord, UnresolvedRevisit, read_archive
from siteglass.ingest.capture import Capture
from siteglass.ingest.facts import EXTRACTOR_VERSION, FACTS_SCHEMA, PageFacts, from_table, to_batch
from siteglass.ingest.sources import SourceRecord, row_of
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.platform.disk import sync_to_disk

FACTS_OF = "siteglass.ingest.extract:facts_of"
PAGE_TIMEOUT_S = 2.0
ROW_GROUP_SIZE = 2_000
MAX_ROW_GROUP_CHARS = 32_000_000
MAX_REASON_CHARS = 100
MAX_DAMAGE = 20
MAX_WORKER_BYTES = 2 * 1024**3
# Where the file of facts says how many revisits have no page.
_REVISITS = b"siteglass.revisits"

Extract = Callable[[Capture], PageFacts]
Timed = AbstractContextManager[None]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How archives become facts; goes to worker processes as it is."""

    folder: Path
    """Where the files of facts are written."""
    extract: str = FACTS_OF
    """`module:function` from a capture to its facts; workers import it."""
    suppressed: SuppressionSnapshot | None = None
    page_timeout_s: float = PAGE_TIMEOUT_S
    max_worker_bytes: int = MAX_WORKER_BYTES


class TaskSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an archive."""

    archive: str
    task_id: str
    pages: int
    """Captures whose facts were written."""
    quarantined: dict[str, int]
    """Records that could not be used, and damage, by reason."""
    was_done: bool
    """Its file was there already."""
    unread_bytes: int = 0
    """Bytes that were not read because of damage."""
    damage: tuple[QuarantinedRecord, ...] = ()
    """Where, at most MAX_DAMAGE places; the file of quarantine names all."""
    revisits: int = 0
    """Visits that found a page as it was before, and whose page is not in the archive."""

    @property
    def records(self) -> int:
        """Records that were to be used."""
        return self.pages + sum(self.quarantined.values())


class FailedArchive(msgspec.Struct, frozen=True, kw_only=True):
    """An archive that was given up, and why."""

    archive: str
    reason: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of all archives, in the order they were given."""

    tasks: list[TaskSummary]
    parked: list[FailedArchive]

    @property
    def pages(self) -> int:
        """Captures whose facts were written, by this run or before."""
        return sum(task.pages for task in self.tasks)

    @property
    def quarantined(self) -> dict[str, int]:
        """Records that could not be used, and damage, by reason."""
        return dict(sum((Counter(task.quarantined) for task in self.tasks), Counter[str]()))

    @property
    def unread_bytes(self) -> int:
        """Bytes that were not read because of damage."""
        return sum(task.unread_bytes for task in self.tasks)

    @property
    def damage(self) -> list[QuarantinedRecord]:
        """The first MAX_DAMAGE places of damage."""
        return list(islice(chain.from_iterable(task.damage for task in self.tasks), MAX_DAMAGE))

    @property
    def revisits(self) -> int:
        """Visits that found a page as it was before, and whose page is not in their archive."""
        return sum(task.revisits for task in self.tasks)


class _PageTookTooLong(BaseException):
    """Not an Exception: what extraction catches must not catch this."""


def task_id_of(archive: Path, etag: str = "") -> str:
    """The name of a task: of the file's name, its content (or what stands for that) and the extractor's version."""
    if not etag:
        with archive.open("rb") as file:
            etag = f"{archive.stat().st_size}-{hashlib.file_digest(file, 'sha256').hexdigest()}"
    return hashlib.sha256(f"{archive.name}|{etag}|{EXTRACTOR_VERSION}".encode()).hexdigest()[:32]


def run_task(archive: Path, plan: Plan, etag: str = "", on_read: OnRead = lambda _bytes: None) -> TaskSummary:
    """Write the facts of an archive, unless they are there; raises OSError if it cannot be opened or written.

    `on_read` is called often, with the number of bytes of the archive that are read.
    """
    task_id = task_id_of(archive, etag)
    target = plan.folder / f"{task_id}.parquet"
    aside = plan.folder / f"{task_id}.quarantine.ndjson"
    was_done = target.exists()
    if not was_done:
        plan.folder.mkdir(parents=True, exist_ok=True)
        unused = UnusedRecords()
        with replacing(target) as sink:
            write_facts(sink, _rows(read_archive(archive, on_read=on_read), plan, unused), unused)
            # Before the facts take their place: these say that the task is done.
            if unused.quarantined:
                with replacing(aside) as lines:
                    lines.write(b"".join(msgspec.json.encode(one) + b"\n" for one in unused.quarantined))
            else:
                aside.unlink(missing_ok=True)
    reasons: Counter[str] = Counter()
    unread_bytes, damage = 0, list[QuarantinedRecord]()
    for one in _read_quarantine(aside):
        reasons[one.reason] += 1
        unread_bytes += one.unread_bytes
        if one.unread_bytes and len(damage) < MAX_DAMAGE:
            damage.append(one)
    return TaskSummary(
        archive=archive.name,
        task_id=task_id,
        pages=pq.read_metadata(target).num_rows,
        quarantined=dict(sorted(reasons.items())),
        was_done=was_done,
        unread_bytes=unread_bytes,
        damage=tuple(damage),
        revisits=revisits_in(target),
    )


def revisits_in(path: Path) -> int:
    """How many revisits without their page the archive had, of which these are the facts."""
    return int((pq.read_metadata(path).metadata or {}).get(_REVISITS, 0))


def _read_quarantine(path: Path) -> Iterator[QuarantinedRecord]:
    if path.exists():
        with path.open("rb") as lines:
            for line in lines:
                yield msgspec.json.decode(line, type=QuarantinedRecord)


@dataclass(slots=True)
class UnusedRecords:
    """Records of an archive that gave no facts."""

    quarantined: list[QuarantinedRecord] = field(default_factory=list)
    revisits: int = 0


def _rows(items: Iterator[Item], plan: Plan, unused: UnusedRecords) -> Iterator[PageFacts]:
    extract = warm(plan.extract)
    with _timer() as timed:
        for item in items:
            if isinstance(item, UnresolvedRevisit):
                unused.revisits += 1
                continue
            if isinstance(item, QuarantinedRecord):
                unused.quarantined.append(item)
                continue
            try:
                with timed(plan.page_timeout_s):
                    facts = extract(item)
                    kept = plan.suppressed.page(facts) if plan.suppressed else facts
            except _PageTookTooLong:
                unused.quarantined.append(_failed(item, "extract: took too long"))
            except Exception as error:
                unused.quarantined.append(_failed(item, _reason(error)))
            else:
                if kept is not None:
                    yield kept


def _failed(capture: Capture, reason: str) -> QuarantinedRecord:
    return QuarantinedRecord(archive=capture.archive, offset=capture.offset, url=capture.url, reason=reason)


def _reason(error: Exception) -> str:
    """Our errors give the reason in a few words. For others only the kind is reported, because their message may quote
    the page."""
    if type(error).__module__.startswith("siteglass."):
        return f"extract: {error}"[:MAX_REASON_CHARS]
    return f"extract: {type(error).__name__}"


def write_facts(sink: BinaryIO, rows: Iterator[PageFacts], unused: UnusedRecords) -> None:
    """Write the facts of a task. All options are fixed, and nothing of the moment is in it: the same rows make the same
    bytes. `unused` is complete when the rows are."""
    with pq.ParquetWriter(sink, FACTS_SCHEMA, compression="zstd", compression_level=3, version="2.6") as writer:
        group: list[PageFacts] = []
        chars = 0
        for row in rows:
            group.append(row)
            chars += len(row.text)
            if len(group) == ROW_GROUP_SIZE or chars > MAX_ROW_GROUP_CHARS:
                writer.write_batch(to_batch(group))
                group, chars = [], 0
        if group:
            writer.write_batch(to_batch(group))
        writer.add_key_value_metadata({_REVISITS.decode(): str(unused.revisits)})


def read_facts(path: Path) -> Iterator[PageFacts]:
    """The rows of a file of facts."""
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            yield from from_table(file.read_row_group(number, use_threads=False))


def write_records(folder: Path, records: Iterable[SourceRecord], suppressed: SuppressionSnapshot | None) -> Path:
    """A file of facts with the records of other sources than pages, without what is on the list of opt-outs.

    Its name, which is that of a task, says what is in it: the same records get into the store once.
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f".records.{os.getpid()}.tmp"
    rows = (row if suppressed is None else suppressed.page(row) for row in map(row_of, records))
    with aside.open("w+b") as sink:
        write_facts(sink, (row for row in rows if row is not None), UnusedRecords())
        sink.flush()
        os.fsync(sink.fileno())
        sink.seek(0)
        digest = hashlib.file_digest(sink, "sha256").hexdigest()[:32]
    target = folder / f"{digest}.parquet"
    os.replace(aside, target)
    sync_to_disk(folder)
    return target


@cache
def warm(name: str) -> Extract:
    """The extractor, called once: it loads its tables then, which the first page of a process must not pay for."""
    extract = imported(name)
    with suppress(Exception):
        extract(Capture(url="https://example.com/", captured_at_ms=0, status=200))
    return extract


def imported(name: str) -> Extract:
    """The function that `module:function` names."""
    module, _, function = name.partition(":")
    found: Extract = getattr(import_module(module), function)
    return found


@contextmanager
def _timer() -> Iterator[Callable[[float], Timed]]:
    """Bounds blocks by a signal, which only the main thread of a process gets.

    Tasks run in it, in a worker of the pool as in one of Spark. In another thread there is no bound; and code outside
    of Python is interrupted when it comes back. Time of the processor counts, not of the clock: a busy machine must not
    change what is found.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda _seconds: nullcontext()
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise _PageTookTooLong

    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        yield _timed
    finally:
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def sweep(folder: Path, pid: int | str | None = "*") -> None:
    """Remove what processes that died, or one of them, had half written."""
    for path in folder.glob(f".*.{pid}.tmp"):
        path.unlink(missing_ok=True)


def bound_memory(max_bytes: int) -> None:
    """Limit the memory of this process: it gets a MemoryError if it allocates more.

    Bounds data and not addresses, since an archive is mapped whole into the address space.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
