"""Files of the facts store: Parquet in the order of `domain`, in a folder, on S3 or at an address that pyarrow knows.

Files are written under names that no manifest has yet, so that an interrupted write is never read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import replacing
from siteglass.ingest.grouped import column, pc
from siteglass.platform.disk import sync_to_disk
from siteglass.settings import Settings

ROW_GROUP_SIZE = 1_000
FILE_ROWS = 200_000
_BETWEEN = "\x00"
"""Sorts before every character of a name or an address."""
_LAST = "\U0010ffff"


class KeyRange(NamedTuple):
    """Rows whose key, see `keys_of`, is `start` or more and less than `end`; None: no bound."""

    start: str
    end: str | None

    def among(self, domains: Sequence[str]) -> Sequence[str]:
        """Those of some domains, which are in order, that may have rows in it."""
        first = bisect_left(domains, self.start.partition(_BETWEEN)[0])
        if self.end is None:
            return domains[first:]
        return domains[first : bisect_right(domains, self.end.partition(_BETWEEN)[0])]


class RowGroup(NamedTuple):
    """A row group and the keys that it may have."""

    number: int
    rows: int
    first: str
    last: str

    @property
    def domains(self) -> tuple[str, str]:
        """The first and the last domain that it may have."""
        return self.first.partition(_BETWEEN)[0], self.last.partition(_BETWEEN)[0]


class StoreFiles:
    """The files of a store by their names, which may have folders."""

    def __init__(self, address: str, settings: Settings) -> None:
        self.is_local = "://" not in address
        self._system, self._root = file_system(address, settings)

    @property
    def missing_bucket(self) -> str:
        """The bucket of S3 that the store needs and that is not there; folders are made when they are needed."""
        bucket = self._root.partition("/")[0]
        is_s3 = isinstance(self._system, pyarrow.fs.S3FileSystem)
        is_missing = is_s3 and self._system.get_file_info(bucket).type == pyarrow.fs.FileType.NotFound
        return bucket if is_missing else ""

    def path(self, name: str) -> str:
        """Where a file is."""
        return f"{self._root}/{name}"

    def read_bytes(self, name: str) -> bytes | None:
        """The content of a file, None if there is none."""
        try:
            with self._system.open_input_stream(self.path(name)) as source:
                return bytes(source.read())
        except FileNotFoundError:
            return None

    def replace_bytes(self, name: str, content: bytes) -> None:
        """Replace a file at once: readers see all of it, or what was there before."""
        if self.is_local:
            with replacing(Path(self.path(name))) as sink:
                sink.write(content)
        else:
            # An object appears when its stream is closed.
            with self._system.open_output_stream(self.path(name)) as sink:
                sink.write(content)

    def sweep(self, kept: set[str]) -> None:
        """Delete all files in folders of the store but those."""
        selector = pyarrow.fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        for found in self._system.get_file_info(selector):
            name = found.path.removeprefix(self._root).lstrip("/")
            if found.type == pyarrow.fs.FileType.File and "/" in name and name not in kept:
                self._system.delete_file(found.path)

    def open(self, name: str) -> SortedFile:
        """A file to read from."""
        return SortedFile(pq.ParquetFile(self._system.open_input_file(self.path(name))))

    @contextmanager
    def writer(self, folder: str, stem: str, schema: pa.Schema) -> Iterator[SortedWriter]:
        """Writes rows, which come in order, to files `folder/stem-NUMBER.parquet`."""
        self._system.create_dir(self.path(folder), recursive=True)
        writer = SortedWriter(self, f"{folder}/{stem}", schema)
        try:
            yield writer
        finally:
            writer.close()
        if self.is_local:
            for name in [*writer.names, folder]:
                sync_to_disk(self.path(name))  # the manifest will name it, so it must be there before

    def write(self, folder: str, stem: str, rows: pa.Table) -> list[str]:
        """Write rows, which are in order; the names of the files, none for no rows."""
        with self.writer(folder, stem, rows.schema) as writer:
            writer.write(rows)
        return writer.names

    def open_output(self, name: str) -> Any:
        """A stream that makes a new file."""
        return self._system.open_output_stream(self.path(name))


def file_system(address: str, settings: Settings, *, anonymous: bool = False) -> tuple[Any, str]:
    """Where an address leads: a file system of pyarrow, and the path there. `anonymous`: S3 is asked without a key."""
    scheme, _, rest = address.rpartition("://")
    if not scheme:
        return pyarrow.fs.LocalFileSystem(), str(Path(address).resolve())
    if scheme == "s3":
        return _s3(settings, anonymous), rest.strip("/")
    system, path = pyarrow.fs.FileSystem.from_uri(address)
    return system, path


def _s3(settings: Settings, anonymous: bool) -> pyarrow.fs.S3FileSystem:
    endpoint = urlsplit(settings.s3_endpoint)
    return pyarrow.fs.S3FileSystem(
        access_key=None if anonymous else settings.s3_access_key or None,
        secret_key=None if anonymous else settings.s3_secret_key or None,
        anonymous=anonymous,
        region=settings.s3_region or None,
        endpoint_override=endpoint.netloc or None,
        scheme="http" if endpoint.scheme == "http" else "https",
    )


class SortedWriter:
    """Row groups of equal size, however many rows come at once."""

    def __init__(self, files: StoreFiles, stem: str, schema: pa.Schema) -> None:
        self.names: list[str] = []
        self._files, self._stem, self._schema = files, stem, schema
        self._writer: pq.ParquetWriter | None = None
        self._sink: Any = None
        self._rows = 0

    def write(self, rows: pa.Table) -> None:
        """Add rows that come after those before."""
        if not rows.num_rows:
            return
        if self._writer is None:
            self.names.append(f"{self._stem}-{len(self.names):05}.parquet")
            self._sink, self._rows = self._files.open_output(self.names[-1]), 0
            self._writer = pq.ParquetWriter(
                self._sink,
                self._schema,
                compression="zstd",
                compression_level=3,
                # Nothing else is looked up by them, and they are most of a footer.
                write_statistics=[name for name in ("domain", "url") if name in self._schema.names],
            )
        self._writer.write_table(rows, row_group_size=ROW_GROUP_SIZE)
        self._rows += rows.num_rows
        if self._rows >= FILE_ROWS:
            self.close()

    def close(self) -> None:
        """End the file that is being written."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()
            self._writer = None


class SortedFile:
    """A file whose rows are in the order of their keys."""

    def __init__(self, file: pq.ParquetFile) -> None:
        self._file = file

    def __enter__(self) -> SortedFile:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close(force=True)

    @cached_property
    def groups(self) -> list[RowGroup]:
        """Its row groups, by their statistics."""
        metadata = self._file.metadata
        names = self._file.schema.names
        places = [names.index(name) for name in ("domain", "url") if name in names]
        found = []
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            bounds = [_bounds(group.column(place).statistics) for place in places] or [("", _LAST)]
            first, last = bounds[0]
            urls = bounds[1] if len(bounds) > 1 and first == last else ("", _LAST)
            found.append(RowGroup(number, group.num_rows, first + _BETWEEN + urls[0], last + _BETWEEN + urls[1]))
        return found

    def read(self, within: KeyRange | None = None, domains: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Its rows of a range and of some domains, which are in order. Row groups without any are not read."""
        wanted = None if domains is None else pa.array(domains, pa.string())
        first = 0 if within is None else bisect_left(self.groups, within.start, key=lambda group: group.last)
        for group in self.groups[first:]:
            if within is not None and within.end is not None and group.first >= within.end:
                break
            if domains is not None and not has_any(domains, *group.domains):
                continue
            if wanted is not None:
                names: Any = self._file.read_row_group(group.number, columns=["domain"], use_threads=False)
                chosen = pc.is_in(names.column("domain"), value_set=wanted)
                if not pc.any(chosen).as_py():
                    continue
            table = self._file.read_row_group(group.number, use_threads=False)
            if wanted is not None:
                table = table.filter(chosen)
            if within is not None:
                table = _inside(table, group, within)
            if table.num_rows:
                yield table


def keys_of(rows: pa.Table) -> Any:
    """The keys of rows: domain, then address, as one text in the same order."""
    urls = column(rows, "url") if "url" in rows.schema.names else ""
    return pc.binary_join_element_wise(column(rows, "domain"), urls, _BETWEEN)


def _inside(rows: pa.Table, group: RowGroup, within: KeyRange) -> pa.Table:
    if group.first >= within.start and (within.end is None or group.last < within.end):
        return rows
    keys = keys_of(rows)
    is_inside = pc.greater_equal(keys, within.start)
    if within.end is not None:
        is_inside = pc.and_(is_inside, pc.less(keys, within.end))
    return rows.filter(is_inside)


def _bounds(statistics: Any) -> tuple[str, str]:
    """The smallest and the largest value of a column; a very long one has no statistics."""
    if statistics is None or not statistics.has_min_max:
        return "", _LAST
    return str(statistics.min), str(statistics.max)


def has_any(domains: Sequence[str], first: str, last: str) -> bool:
    """Whether there are domains from one to another among those, which are in order."""
    place = bisect_left(domains, first)
    return place < len(domains) and domains[place] <= last
