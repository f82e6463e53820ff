"""Files of domains that people upload: CSV in any usual form, or XLSX. Everything is bounded.

This module is also the program of the process that reads a file: `siteglass.leads.downloads.reading` starts it. It
imports only what reading takes, because the process starts for every file.
"""

from __future__ import annotations

import csv
import io
import re
import resource
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import orjson

from siteglass.corpus.domains import NotAHost, website_host
from siteglass.corpus.tables import (
    SAMPLE_ROWS,
    TableError,
    TableLimits,
    bounded,
    find_delimiter,
    is_workbook,
    open_text,
    workbook_rows,
)

MAX_FILE_BYTES = 3 * 1024 * 1024
MAX_ROWS = 20_000
"""Also of the file that a download makes."""
LIMITS = TableLimits(
    rows=MAX_ROWS, columns=100, cell_chars=5_000, cells=MAX_ROWS * 100, unpacked_bytes=60 * 1024 * 1024
)
MAX_TEXT_CHARS = 20_000_000
"""Of all cells. In a workbook, many cells can show one long string."""
# Of the process that reads a file. Data and not addresses: libraries are mapped into the address space.
_PROCESS_LIMITS = {
    resource.RLIMIT_CPU: 5,
    resource.RLIMIT_DATA: 256 * 1024 * 1024,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CORE: 0,
}
REFUSED = 3
"""The exit code if the file cannot be used; standard output says why."""
_UNREADABLE = "The file cannot be read. Save the table as CSV, and upload that file."
_NAMED = re.compile(r"domain|website|web site|webseite|homepage|url|site|web", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UploadedTable:
    """The rows of a file, and which of its columns has the domains."""

    headings: list[str] | None
    """None: the first row has a domain already, so it is not a heading."""
    rows: list[list[str]]
    column: int
    delimiter: str
    """Empty for a workbook."""

    @property
    def domains(self) -> list[str]:
        """The host of each row; empty where there is none."""
        return [host_of(row[self.column]) if self.column < len(row) else "" for row in self.rows]

    def pack(self) -> bytes:
        """The table as it is stored."""
        return zlib.compress(orjson.dumps(self), 1)


def unpack(content: bytes) -> UploadedTable:
    """A stored table."""
    return UploadedTable(**orjson.loads(zlib.decompress(content)))


def host_of(text: str) -> str:
    """The host that a cell names, as a website or by an email address; empty if it names none of the internet."""
    try:
        return website_host(text)
    except NotAHost:
        return ""


def read_table(content: bytes) -> UploadedTable:
    """The table of a file; raises TableError."""
    if not content:
        raise TableError("The file is empty. Choose a CSV or XLSX file with a column of domains.")
    if is_workbook(content):
        rows, delimiter = [bounded(row, LIMITS) for row in workbook_rows(io.BytesIO(content), LIMITS)], ""
    else:
        rows, delimiter = _read_csv(content)
    if sum(len(cell) for row in rows for cell in row) > MAX_TEXT_CHARS:
        raise TableError(f"The file has more than {MAX_TEXT_CHARS:,} characters. Remove columns with long texts.")
    rows = [row for row in rows if any(row)]
    column, has_headings = _find_column(rows)
    headings = rows.pop(0) if has_headings else None
    if not rows:
        raise TableError("The file has a heading and no rows. Choose a file with domains.")
    if len(rows) > MAX_ROWS:
        raise TableError(f"The file has more than {MAX_ROWS:,} rows. Split it, and upload one part after the other.")
    return UploadedTable(headings, rows, column, delimiter)


def _read_csv(content: bytes) -> tuple[list[list[str]], str]:
    with open_text(io.BytesIO(content)) as text:
        delimiter = find_delimiter(text)
        reader = csv.reader(text, delimiter=delimiter)
        try:
            return [bounded(row, LIMITS) for row in islice(reader, LIMITS.rows + 2)], delimiter
        except csv.Error as error:
            raise TableError(f"The file cannot be read as CSV ({error}). Save it as CSV again.") from None


def _find_column(rows: Sequence[Sequence[str]]) -> tuple[int, bool]:
    """The column with the most domains, by its name where two have as many; and whether the first row is a heading."""
    if not rows:
        raise TableError("The file has no rows. Choose a CSV or XLSX file with a column of domains.")
    heading, sample = rows[0], rows[1 : SAMPLE_ROWS + 1] or rows
    width = max(map(len, rows[: SAMPLE_ROWS + 1]))

    def weight(column: int) -> tuple[int, bool]:
        hosts = sum(bool(host_of(row[column])) for row in sample if column < len(row))
        name = heading[column] if column < len(heading) else ""
        return hosts * 2 - (hosts if _is_mail(sample, column) else 0), bool(_NAMED.search(name))

    column = max(range(width), key=weight)
    if not weight(column)[0]:
        raise TableError("No column has domains, such as example.com. Add one, and upload the file again.")
    first = heading[column] if column < len(heading) else ""
    return column, not host_of(first)


def _is_mail(sample: Sequence[Sequence[str]], column: int) -> bool:
    return any("@" in row[column] for row in sample if column < len(row))


def main() -> int:
    """Read the file of standard input, and write the packed table, or why it cannot be used; returns the exit code."""
    for limit, wanted in _PROCESS_LIMITS.items():
        _, hard = resource.getrlimit(limit)
        maximum = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(limit, (maximum, maximum))
    try:
        answer, code = read_table(sys.stdin.buffer.read(MAX_FILE_BYTES + 1)).pack(), 0
    except TableError as error:
        answer, code = str(error).encode(), REFUSED
    except BaseException:  # too little memory, or a panic in the library's Rust, which is not an Exception
        answer, code = _UNREADABLE.encode(), REFUSED
    sys.stdout.buffer.write(answer)
    return code


if __name__ == "__main__":
    sys.exit(main())
