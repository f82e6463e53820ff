"""Files with a row for each company: CSV, XLSX, NDJSON and Parquet. Rows come in pieces, and everything is bounded."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import MAX_LINE_BYTES
from siteglass.corpus.tables import TableError, TableLimits, find_delimiter, is_workbook, open_text, workbook_rows

MAX_FILE_BYTES = 4 * 1024**3
MAX_WORKBOOK_BYTES = 100 * 1024**2
# The domains of all rows are in memory while the lead store is searched for them.
# A workbook is in memory while it is read, with some 50 bytes for a cell.
LIMITS = TableLimits(rows=2_000_000, columns=500, cell_chars=131_072, cells=20_000_000, unpacked_bytes=400 * 1024**2)
MAX_LINE_CHARS = 1_000_000
_BATCH_ROWS = 1_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """A row of a table."""

    place: int
    """Its line or row, counted from 1; a heading is counted."""
    cells: Sequence[Any]
    problem: str = ""
    """Why it has no cells: it could not be read."""


@dataclass(frozen=True, slots=True)
class Source:
    """An open file: its columns, and its rows, which can be read once."""

    columns: list[str]
    place: Literal["line", "row"]
    rows: Iterator[Row]
    total_bytes: int
    position: Callable[[], int]
    """How many bytes of the file have been read."""


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """A file by its name; raises TableError."""
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise TableError(f"{path}: files to import must be named {', '.join(_READERS)}.")
    size = path.stat().st_size
    maximum = MAX_WORKBOOK_BYTES if suffix == ".xlsx" else MAX_FILE_BYTES
    if not size:
        raise TableError(f"{path}: the file is empty.")
    if size > maximum:
        raise TableError(f"{path}: the file has {size:,} bytes; at most {maximum:,} can be imported. Split it.")
    with ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        try:
            columns, place, rows = _READERS[suffix](file, opened)
            if len(columns) > LIMITS.columns:
                raise TableError(f"There are more than {LIMITS.columns} columns. Remove those that are not needed.")
            yield Source(columns, place, _bounded_rows(rows), size, file.tell)
        except TableError as error:
            raise TableError(f"{path}: {error}") from error


_Table = tuple[list[str], Literal["line", "row"], Iterator[Row]]


def _bounded_rows(rows: Iterable[Row]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number == LIMITS.rows:
            raise TableError(f"There are more than {LIMITS.rows:,} rows. Split the file, and import its parts.")
        yield row


# --- CSV and XLSX -------------------------------------------------------------------------------


def _read_csv(file: BinaryIO, opened: ExitStack) -> _Table:
    start = file.read(2)
    file.seek(0)
    if is_workbook(start):
        raise TableError("This is a workbook. Give its name the ending .xlsx.")
    text = opened.enter_context(open_text(file))
    rows = _csv_rows(text, find_delimiter(text))
    return _headings(rows), "line", rows


def _read_workbook(file: BinaryIO, _opened: ExitStack) -> _Table:
    rows = (Row(number, cells) for number, cells in enumerate(workbook_rows(file, LIMITS), 1))
    filled = (row for row in rows if any(row.cells))
    return _headings(filled), "row", filled


def _headings(rows: Iterator[Row]) -> list[str]:
    first = next(rows, None)
    if first is None:
        raise TableError("the table has no rows.")
    if first.problem:
        raise TableError(f"the heading cannot be read: {first.problem}.")
    columns = [" ".join(str(cell).split()) for cell in first.cells]
    while columns and not columns[-1]:
        columns.pop()
    return columns


class _Lines:
    """The lines of a text, one at a time. Those of a row that turns out to be broken can be read again."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._again: deque[str] = deque()
        self.taken: list[str] = []

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._text.readline(MAX_LINE_CHARS + 1)
        if not line:
            raise StopIteration
        if len(line) > MAX_LINE_CHARS:
            raise TableError(f"a line has more than {MAX_LINE_CHARS:,} characters. Is this a CSV file?")
        self.taken.append(line)
        return line

    def put_back(self) -> None:
        """All lines but the first are read again."""
        self._again.extendleft(reversed(self.taken[1:]))


def _csv_rows(text: io.TextIOWrapper, delimiter: str) -> Iterator[Row]:
    """The rows of a CSV file. A quote that is never closed would take the rest of the file with it: only the line where
    it was opened is a broken row, and the lines after it are read as if it were not there."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    number = 1
    while True:
        lines.taken.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield Row(number, (lines.taken[0].strip(),), "a quote is not closed, or has text after it")
            lines.put_back()
            number += 1
            continue
        if any(cells):
            yield Row(number, cells)
        number += len(lines.taken)


# --- NDJSON and Parquet -------------------------------------------------------------------------


def _read_ndjson(file: BinaryIO, _opened: ExitStack) -> _Table:
    columns: dict[str, None] = {}
    for row in _json_rows(file):
        if not row.problem:
            columns.update(dict.fromkeys(row.cells[0]))
            if len(columns) > LIMITS.columns:
                break
    file.seek(0)
    names = list(columns)
    rows = (
        row if row.problem else Row(row.place, [row.cells[0].get(name) for name in names]) for row in _json_rows(file)
    )
    return names, "line", rows


def _json_rows(file: BinaryIO) -> Iterator[Row]:
    """Lines, each with one cell: its object."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise TableError(f"line {number} is longer than {MAX_LINE_BYTES:,} bytes.")
        line = line.removeprefix(_BYTE_ORDER_MARK).strip()
        if not line:
            continue
        try:
            content = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield Row(number, (line[:200].decode("utf-8", "replace"),), f"not JSON: {error}".partition(":  ")[0])
            continue
        if isinstance(content, dict):
            yield Row(number, (content,))
        else:
            yield Row(number, (line[:200].decode(),), "not a JSON object")


def _read_parquet(file: BinaryIO, opened: ExitStack) -> _Table:
    try:
        table = opened.enter_context(pq.ParquetFile(file))
    except pa.ArrowInvalid as error:
        raise TableError(f"not a Parquet file: {error}") from None
    return list(table.schema_arrow.names), "row", _parquet_rows(table)


def _parquet_rows(table: pq.ParquetFile) -> Iterator[Row]:
    number = 0
    try:
        for batch in table.iter_batches(_BATCH_ROWS, use_threads=False):
            columns = [_without_nanoseconds(column).to_pylist() for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number += 1
                yield Row(number, cells)
    except pa.ArrowException as error:
        raise TableError(f"row {number + 1} cannot be read: {error}") from None


def _without_nanoseconds(column: pa.Array[Any]) -> pa.Array[Any]:
    """Python's times have no nanoseconds."""
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("ms", column.type.tz), safe=False)


_READERS: dict[str, Callable[[BinaryIO, ExitStack], _Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".xlsx": _read_workbook,
    ".ndjson": _read_ndjson,
    ".jsonl": _read_ndjson,
    ".parquet": _read_parquet,
}
