"""Rows as CSV or XLSX. No cell is a formula, whatever a website calls itself.

In CSV, a text that a spreadsheet would compute gets an apostrophe in front, also one of an uploaded table. A number
keeps its sign, such as -5 or that of a phone. Digits, blanks and brackets compute nothing, and a CRM needs the number
as it is. In XLSX every text is stored as a text.
"""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import xlsxwriter

from siteglass.billing.ledger_csv import cell as safe_text
from siteglass.leads.downloads.columns import Cell

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_XLSX_CHARS = 32_767
"""Excel refuses a file with a longer cell."""
MAX_COLUMN_WIDTH = 40
READ_BYTES = 256 * 1024
_BYTE_ORDER_MARK = "\ufeff"
_NUMBERS = re.compile(r"\+\d[\d ()]*(?:; \+?[\d ()]+)*|[+-]?\d+(?:[.,]\d+)*%?")
# Excel stores no others of these.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def csv_cell(value: Cell) -> Cell:
    """A value that no spreadsheet computes."""
    if not isinstance(value, str) or _NUMBERS.fullmatch(value):
        return value
    return safe_text(value)


def csv_lines(rows: Iterable[Sequence[Cell]], delimiter: str = ",", *, start: bool = False) -> bytes:
    """Rows as lines (RFC 4180); what is not safe in them is made so by `csv_cell`. `start`: a byte order mark first."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return ((_BYTE_ORDER_MARK if start else "") + text.getvalue()).encode("utf-8", "replace")


async def write_xlsx(headings: Sequence[str], pages: AsyncIterable[Sequence[Sequence[Cell]]], path: Path) -> None:
    """Write rows to a workbook with one sheet, in constant memory."""
    book = await asyncio.to_thread(_Workbook, headings, path)
    async for rows in pages:
        await asyncio.to_thread(book.add, rows)
    await asyncio.to_thread(book.close)


class _Workbook:
    def __init__(self, headings: Sequence[str], path: Path) -> None:
        self._book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(path.parent)})
        self._sheet = self._book.add_worksheet("Leads")
        bold = self._book.add_format({"bold": True})
        self._sheet.freeze_panes(1, 0)
        for place, heading in enumerate(headings):
            self._sheet.set_column(place, place, min(MAX_COLUMN_WIDTH, max(12, len(heading) + 2)))
            self._sheet.write_string(0, place, _xlsx_text(heading), bold)
        self._next = 1

    def add(self, rows: Sequence[Sequence[Cell]]) -> None:
        for number, row in enumerate(rows, self._next):
            for place, value in enumerate(row):
                if isinstance(value, int):
                    self._sheet.write_number(number, place, value)
                elif value:
                    self._sheet.write_string(number, place, _xlsx_text(value))
        self._next += len(rows)

    def close(self) -> None:
        self._book.close()


def _xlsx_text(text: str) -> str:
    return _CONTROL.sub("", text)[:MAX_XLSX_CHARS]


async def read_and_delete(folder: TemporaryDirectory[str], path: Path) -> AsyncIterator[bytes]:
    """The bytes of a file in a folder that is deleted afterwards, also if nobody reads to the end."""
    try:
        with await asyncio.to_thread(path.open, "rb") as file:
            while piece := await asyncio.to_thread(file.read, READ_BYTES):
                yield piece
    finally:
        folder.cleanup()
