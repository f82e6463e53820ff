"""The lead store: the folder of Parquet files that are the truth about leads. How a file of leads gets into it.

Each record gets its number and the time its website was first seen, and its values are checked. The row groups of a
Parquet file stay as they are, because documents and evidence name records by them. A file in the store carries a mark
that says by which vocabulary it was checked; without that mark it is rewritten in place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from siteglass.corpus.evidence_files import evidence_of
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import (
    LEAD_SCHEMA,
    ROW_GROUP_SIZE,
    LeadFileError,
    batch_of,
    column_values,
    open_parquet,
    read_lines,
    read_row_group,
    replacing,
    unknown_column,
)
from siteglass.corpus.rejects import Rejects, rejects_of
from siteglass.corpus.value_checks import check_values, checks_version

MAX_LEAD_NO = 2**31 - 1

_MARK = "siteglass.store"
_LINE = pa.field("line", pa.int64(), nullable=False)
_FACTS = ("domain", "crawled_at_ms", "first_seen_ms", "lead_no")


class _Mark(msgspec.Struct, frozen=True):
    """What a stored file says of itself."""

    checks: str
    rejected: int


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in the store, and how many of its source's values and lines were rejected."""

    path: Path
    rejected: int

    @property
    def rejects(self) -> Path:
        """The file that lists them, where there are any."""
        return rejects_of(self.path)


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file of leads that is not in the store yet, or is there without the present mark."""

    source: Path
    target: Path

    @property
    def is_stored(self) -> bool:
        """Whether it is in the store: then its numbers count."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class KnownDomains:
    """What the store, and the files on their way in, know of domains."""

    first_seen_ms: dict[str, int] = field(default_factory=dict)
    """Every domain that is looked up has one: its earliest crawl, or an earlier time that a record gives."""
    numbers: dict[str, int] = field(default_factory=dict)

    def without_number(self) -> list[str]:
        """The domains that need a number, in the order of their records."""
        return [domain for domain in self.first_seen_ms if domain not in self.numbers]


def incoming_file(source: Path, store: Path) -> IncomingFile:
    """Where a file of leads belongs in the store.

    The name has a hash of the source, so that no later file of the same name can replace it.
    """
    if source.suffix == ".parquet":
        open_parquet(source).close()  # other files must not get into the store
    if source.resolve().parent == store.resolve():
        return IncomingFile(source, source)
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    return IncomingFile(source, store / f"{source.stem}-{digest}.parquet")


def stored_file(path: Path) -> StoredFile | None:
    """A file that is in the store with the present mark; None: it has to get in, or to be checked again."""
    try:
        metadata = pq.read_metadata(path).metadata or {}
    except FileNotFoundError:
        return None
    if _MARK.encode() not in metadata:
        return None
    mark = msgspec.json.decode(metadata[_MARK.encode()], type=_Mark)
    return StoredFile(path, mark.rejected) if mark.checks == checks_version() else None


@contextmanager
def as_parquet(incoming: IncomingFile) -> Iterator[tuple[Path, Rejects]]:
    """The file as Parquet, and a list of rejects, with the lines that are not leads on it.

    Others are converted to a file with one column more, the line of each lead, that is deleted afterwards.
    """
    if incoming.source.suffix == ".parquet":
        yield incoming.source, Rejects("row")
        return
    rejects = Rejects("line")
    leads = _accepted_lines(incoming.source, rejects)
    aside = incoming.target.with_name(f".{incoming.target.name}.{os.getpid()}.lines")
    count = 0
    try:
        with pq.ParquetWriter(aside, LEAD_SCHEMA.append(_LINE), compression="lz4") as writer:
            while group := list(islice(leads, ROW_GROUP_SIZE)):
                lines = pa.array([line for line, _ in group], pa.int64())
                table = pa.Table.from_batches([batch_of([lead for _, lead in group])]).append_column(_LINE, lines)
                writer.write_table(table, row_group_size=ROW_GROUP_SIZE)
                count += len(group)
        if rejects.count and not count:
            raise LeadFileError(
                f"{incoming.source}: none of its {rejects.count} {rejects.place}s is a lead. {rejects.first_reason()}"
            )
        yield aside, rejects
    finally:
        aside.unlink(missing_ok=True)


def _accepted_lines(source: Path, rejects: Rejects) -> Iterator[tuple[int, Lead]]:
    for line, lead in read_lines(source):
        if isinstance(lead, str):
            rejects.add(line, "", "", "", lead, None)
        else:
            yield line, lead


def note_domains(path: Path, known: KnownDomains, *, numbered: bool) -> None:
    """Add the domains of a file on its way in; its numbers count if it is `numbered`, as files of the store are."""
    for domain, seen_ms, number in _domains(path):
        known.first_seen_ms[domain] = min(seen_ms, known.first_seen_ms.get(domain, seen_ms))
        if numbered and number is not None:
            known.numbers.setdefault(domain, number)


def look_up(store: Path, known: KnownDomains) -> None:
    """Add what the store knows of these domains. Reads four columns of all its files."""
    for path in stored_paths(store):
        for domain, seen_ms, number in _domains(path):
            if (noted_ms := known.first_seen_ms.get(domain)) is None:
                continue
            if seen_ms < noted_ms:
                known.first_seen_ms[domain] = seen_ms
            if number is not None:
                # The same in every file. Where files of two stores were mixed, the smaller one stays.
                known.numbers[domain] = min(number, known.numbers.get(domain, number))


def highest_number(store: Path) -> int:
    """The highest number of a lead in the store, by the statistics that each file has of its columns; 0: there is none.

    Taken before numbers are allotted: a database that is older than the store would allot them again.
    """
    return max((_highest_in(path) for path in stored_paths(store)), default=0)


def newest_leads(store: Path, domains: Collection[str]) -> Iterable[tuple[Path, Lead]]:
    """Of each of these domains that has one, the newest lead, and its file. Reads the domains of all files."""
    newest: dict[str, tuple[Path, Lead]] = {}
    wanted = pa.array(sorted(domains), pa.string())
    for path in stored_paths(store):
        with open_parquet(path) as file:
            for number in range(file.num_row_groups):
                names = file.read_row_group(number, columns=["domain"]).column("domain")
                if not pc.any(pc.is_in(names, value_set=wanted)).as_py():
                    continue
                for lead in read_row_group(file, number, domains):
                    if lead.domain not in newest or newest[lead.domain][1].version <= lead.version:
                        newest[lead.domain] = path, lead
    return newest.values()


def stored_paths(store: Path) -> list[Path]:
    """The files of the store."""
    return sorted(store.glob("*.parquet"))


def _highest_in(path: Path) -> int:
    with pq.ParquetFile(path) as file:
        if "lead_no" not in file.schema_arrow.names:
            return 0
        position = file.schema.names.index("lead_no")
        highest = 0
        for number in range(file.num_row_groups):
            statistics = file.metadata.row_group(number).column(position).statistics
            if statistics is not None and statistics.has_min_max:
                highest = max(highest, int(statistics.max or 0))
        return highest


def _domains(path: Path) -> Iterator[tuple[str, int, int | None]]:
    """Domain, time first seen and number of each record."""
    with pq.ParquetFile(path) as file:
        names = [name for name in _FACTS if name in file.schema_arrow.names]
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, columns=names, use_threads=False)
            columns: dict[str, Iterable[Any]] = {name: column_values(table, name) for name in names}
            nothing = [None] * table.num_rows
            seen, numbers = columns.get("first_seen_ms", nothing), columns.get("lead_no", nothing)
            for domain, crawled_ms, seen_ms, lead_no in zip(
                columns["domain"], columns["crawled_at_ms"], seen, numbers, strict=True
            ):
                known = [at_ms for at_ms in (crawled_ms, seen_ms) if at_ms]  # a crawl at 0 never was
                yield domain, min(known, default=0), lead_no


def write_stored(
    incoming: IncomingFile, parquet: Path, rejects: Rejects, known: KnownDomains, numbers: Mapping[str, int]
) -> StoredFile:
    """Put a file in the store: its evidence first, its list of rejects last.

    `parquet` and `rejects` are of `as_parquet`, `numbers` those of every domain that it has.
    """
    target = incoming.target
    given = evidence_of(incoming.source)
    if not incoming.is_stored and given.exists():
        with replacing(evidence_of(target)) as copy, given.open("rb") as original:
            shutil.copyfileobj(original, copy)
    with pq.ParquetFile(parquet) as file, replacing(target) as sink:
        # Rows first: the mark in the footer has the number of rejects.
        writer = pq.ParquetWriter(sink, LEAD_SCHEMA, compression="zstd")
        with writer:
            for group in _entered(file, incoming.is_stored, rejects, known, numbers):
                writer.write_table(group, row_group_size=max(1, group.num_rows))
            mark = _Mark(checks_version(), rejects.count)
            writer.add_key_value_metadata({_MARK: msgspec.json.encode(mark).decode()})
        if incoming.is_stored:
            # Of equal crawls a rebuild takes that of the newest file, and this one is not newer than it was.
            sink.flush()
            was = target.stat()
            os.utime(sink.fileno(), ns=(was.st_atime_ns, was.st_mtime_ns))
    rejects.write(rejects_of(target))
    return StoredFile(target, rejects.count)


def _entered(
    file: pq.ParquetFile, is_stored: bool, rejects: Rejects, known: KnownDomains, numbers: Mapping[str, int]
) -> Iterator[pa.Table]:
    rows = 0
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, use_threads=False)
        places = _places(table, rows)
        rows += table.num_rows
        domains: list[str] = column_values(table, "domain")
        kept: Sequence[int | None] = [None] * len(domains)
        if is_stored and "lead_no" in table.schema.names:
            kept = column_values(table, "lead_no")
        checked = check_values(table, places, rejects)
        given = {
            "lead_no": [own or numbers[domain] for own, domain in zip(kept, domains, strict=True)],
            "first_seen_ms": [known.first_seen_ms[domain] for domain in domains],
        }
        columns = [
            pa.array(given[name], kind.type)
            if (name := kind.name) in given
            else checked.column(name).cast(kind.type)
            if name in checked.schema.names
            else unknown_column(kind, table.num_rows)
            for kind in LEAD_SCHEMA
        ]
        yield pa.table(columns, schema=LEAD_SCHEMA)


def _places(table: pa.Table, rows_before: int) -> Sequence[int]:
    """Where each lead is in its source: its line, or its row, counted from 1."""
    if _LINE.name in table.schema.names:
        return column_values(table, _LINE.name)
    return range(rows_before + 1, rows_before + table.num_rows + 1)
