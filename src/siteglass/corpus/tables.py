"""Tables that people have: CSV as any spreadsheet writes it, and XLSX. Everything is bounded.

A workbook is a ZIP archive: its unpacked size is checked, and its cells and strings are counted, before it is parsed.
What the counts let through can still take much memory. A stranger's file is therefore read in a separate process
(`siteglass.leads.downloads.reading`).
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from python_calamine import CalamineWorkbook

MAX_PARTS = 500
# Rows that are looked at to find out about a table.
SAMPLE_ROWS = 200
_SAMPLE_CHARS = 1_000_000
_PIECE_BYTES = 1_000_000
_DELIMITERS = ",;\t|"
# Elements of a workbook that cost time and memory even if they are empty: cells, shared strings, and runs of rich text.
_CELL_OR_STRING = re.compile(rb"<(?:\w+:)?(c|si|r)[\s/>]")
# A cell has one string, of a few runs. Strings that no cell shows are left over, or there to harm.
_STRINGS_PER_CELL = 10
_SPARE_STRINGS = 10_000
_EXACT_TO = 10**15


class TableError(ValueError):
    """The file cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class TableLimits:
    """How large a table may be."""

    rows: int
    columns: int
    cell_chars: int
    cells: int
    """Of all sheets of a workbook, empty ones too."""
    unpacked_bytes: int
    """Of all parts of a workbook."""


def is_workbook(start: bytes) -> bool:
    """Whether a file that starts like this is an XLSX workbook."""
    return start.startswith(b"PK")


def open_text(file: BinaryIO) -> io.TextIOWrapper:
    """The text of a file as spreadsheets write it: UTF-8, UTF-16 with its mark, or windows-1252; raises TableError."""
    encoding = _find_encoding(file)
    file.seek(0)
    return io.TextIOWrapper(file, encoding, "replace", newline="")


def _find_encoding(file: BinaryIO) -> str:
    """UTF-16 or UTF-8, if the whole file can be read in it, otherwise windows-1252."""
    is_wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = "utf-16" if is_wide else "utf-8-sig"
    decoder = codecs.getincrementaldecoder(encoding)()
    file.seek(0)
    try:
        while piece := file.read(_PIECE_BYTES):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        file.seek(0)
        while piece := file.read(_PIECE_BYTES):
            if b"\0" in piece:
                raise TableError(
                    "This is neither CSV nor XLSX. Save the table as one of them, and use that file."
                ) from None
        return "cp1252"
    return encoding


def find_delimiter(text: io.TextIOWrapper) -> str:
    """The delimiter that gives the first lines the same number of cells, more than one. If none does, because a line is
    broken: the one that gives the heading the most cells.

    Afterwards the text is at its start.
    """
    sample = text.read(_SAMPLE_CHARS)
    text.seek(0)
    lines = [line for line in sample.splitlines()[:SAMPLE_ROWS] if line]

    def columns(delimiter: str) -> tuple[int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        return counts[0] if len(set(counts)) == 1 else 1, counts[0]

    try:
        return max(_DELIMITERS, key=columns) if lines else ","
    except csv.Error:
        return ","


def workbook_rows(file: BinaryIO, limits: TableLimits) -> Iterator[list[str]]:
    """The rows of the first sheet, blank ones too; one more than allowed if there are more. Raises TableError."""
    try:
        _check_size(file, limits)
        file.seek(0)
        with CalamineWorkbook.from_filelike(file) as book:
            sheet = book.get_sheet_by_index(0)
            # Rows begin at the first column that has a value.
            before = [""] * sheet.start[1] if sheet.start else []
            for row in islice(sheet.iter_rows(), limits.rows + 2):
                yield before + [_cell_text(value) for value in row]
    except TableError:
        raise
    except Exception as error:  # a broken part can make either library raise anything
        raise TableError("The workbook cannot be read. Save it as XLSX or CSV again.") from error


def _check_size(file: BinaryIO, limits: TableLimits) -> None:
    """Raise TableError if the parts of a workbook are too large, or have too many cells or strings."""
    too_large = TableError("The workbook is too large. Save the sheet as CSV, and use that file.")
    counts: Counter[bytes] = Counter()
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
        # Python reads no more of a part than its stated size.
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > limits.unpacked_bytes:
            raise too_large
        for part in parts:
            with archive.open(part) as content:
                # An element that is cut by the end of a piece is not counted, which does not matter.
                while piece := content.read(_PIECE_BYTES):
                    counts.update(_CELL_OR_STRING.findall(piece))
                    if max(counts.values(), default=0) > limits.cells:
                        raise too_large
    if counts[b"si"] + counts[b"r"] > counts[b"c"] * _STRINGS_PER_CELL + _SPARE_STRINGS:
        raise too_large


def _cell_text(value: object) -> str:
    """A value as a person would write it: a workbook has only floating-point numbers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_TO:
        return str(int(value))
    return str(value)


def bounded(row: Sequence[str], limits: TableLimits) -> list[str]:
    """The cells of a row without blank ones at its end; raises TableError if there are too many or one is too long."""
    cells = list(row)
    while cells and not cells[-1]:
        cells.pop()
    if len(cells) > limits.columns:
        raise TableError(f"A row has more than {limits.columns} cells. Remove columns that are not needed.")
    if any(len(cell) > limits.cell_chars for cell in cells):
        raise TableError(f"A cell has more than {limits.cell_chars:,} characters. Remove columns with long texts.")
    return cells
