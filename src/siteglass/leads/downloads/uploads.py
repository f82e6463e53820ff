"""Files of domains that people upload: CSV in any usual form, or XLSX. Everything is bounded.

The file is read in a thread. A workbook is a ZIP archive: its unpacked size is checked before anything of it is parsed.
Reading stops at the maximum number of rows.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

import openpyxl
import orjson

from siteglass.corpus.domains import NotAHost, is_of_the_internet, normalise
from siteglass.leads.downloads.jobs import MAX_ROWS, WRITE_TIMEOUT_MS
from siteglass.platform.postgres import Postgres

MAX_FILE_BYTES = 3 * 1024 * 1024
MAX_UNPACKED_BYTES = 60 * 1024 * 1024
MAX_PARTS = 500
MAX_COLUMNS = 100
MAX_CELL_CHARS = 5_000
MAX_UPLOADS = 10
KEPT_FOR = timedelta(hours=24)
# Rows that are looked at to find the delimiter and the column of domains.
SAMPLE_ROWS = 200
_DELIMITERS = ",;\t|"
_NAMED = re.compile(r"domain|website|web site|webseite|homepage|url|site|web", re.IGNORECASE)
# The domain of an address at these says nothing about a company.
_MAIL_PROVIDERS = frozenset(
    (
        *(
            "gmail.com",
            "googlemail.com",
            "yahoo.com",
            "hotmail.com",
            "outlook.com",
            "live.com",
            "icloud.com",
            "aol.com",
        ),
        *("gmx.de", "gmx.net", "web.de", "t-online.de", "me.com", "msn.com", "proton.me", "protonmail.com"),
    )
)


class UploadError(ValueError):
    """The file cannot be used; the message says why and what to do."""


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
    text = text.strip().strip("<>")
    is_mail = "@" in text and "/" not in text
    try:
        host = normalise(text.rpartition("<")[2] if is_mail else text)
    except NotAHost:
        return ""
    if not is_of_the_internet(host) or (is_mail and host in _MAIL_PROVIDERS):
        return ""
    return host


def read_table(content: bytes) -> UploadedTable:
    """The table of a file; raises UploadError."""
    if not content:
        raise UploadError("The file is empty. Choose a CSV or XLSX file with a column of domains.")
    if content.startswith(b"PK"):
        rows, delimiter = _read_workbook(content), ""
    else:
        rows, delimiter = _read_csv(content)
    rows = [row for row in rows if any(row)]
    column, has_headings = _find_column(rows)
    headings = rows.pop(0) if has_headings else None
    if not rows:
        raise UploadError("The file has a heading and no rows. Choose a file with domains.")
    if len(rows) > MAX_ROWS:
        raise UploadError(f"The file has more than {MAX_ROWS:,} rows. Split it, and upload one part after the other.")
    return UploadedTable(headings, rows, column, delimiter)


def _read_csv(content: bytes) -> tuple[list[list[str]], str]:
    text = _decode(content)
    delimiter = _find_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [_bounded(row) for row in islice(reader, MAX_ROWS + 2)], delimiter
    except csv.Error as error:
        raise UploadError(f"The file cannot be read as CSV ({error}). Save it as CSV again.") from None


def _decode(content: bytes) -> str:
    """The text of a file as spreadsheets write it: UTF-8, UTF-16 with its mark, or windows-1252."""
    for encoding in ("utf-8-sig", "utf-16") if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    if b"\0" in content:
        raise UploadError("This is neither CSV nor XLSX. Save the table as one of them, and upload that file.")
    return content.decode("cp1252", "replace")


def _find_delimiter(text: str) -> str:
    """The delimiter that gives the first lines the same number of cells, more than one; a comma if none does."""
    lines = [line for line in text.splitlines()[:SAMPLE_ROWS] if line]

    def columns(delimiter: str) -> tuple[bool, int]:
        counts = {len(row) for row in csv.reader(lines, delimiter=delimiter)}
        return len(counts) == 1, max(counts, default=0)

    try:
        return max(_DELIMITERS, key=columns) if lines else ","
    except csv.Error:
        return ","


def _read_workbook(content: bytes) -> list[list[str]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
        # Python reads no more of a part than its stated size.
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
            raise UploadError(
                "The workbook is too large. Save the sheet with the domains as CSV, and upload that file."
            )
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        try:
            return list(_sheet_rows(book.worksheets[0]))
        finally:
            book.close()
    except UploadError:
        raise
    except Exception as error:  # openpyxl raises whatever a broken part of the file makes it raise
        raise UploadError("The workbook cannot be read. Save it as XLSX or CSV again.") from error


def _sheet_rows(sheet: Any) -> Iterator[list[str]]:
    # Without what the file says about its size, which may be wrong.
    sheet.reset_dimensions()
    for row in islice(sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS + 1), MAX_ROWS + 2):
        yield _bounded(["" if value is None else str(value) for value in row])


def _bounded(row: Sequence[str]) -> list[str]:
    cells = list(row)
    while cells and not cells[-1]:
        cells.pop()
    if len(cells) > MAX_COLUMNS:
        raise UploadError(f"A row has more than {MAX_COLUMNS} cells. Remove columns that are not needed.")
    if any(len(cell) > MAX_CELL_CHARS for cell in cells):
        raise UploadError(f"A cell has more than {MAX_CELL_CHARS:,} characters. Remove columns with long texts.")
    return cells


def _find_column(rows: Sequence[Sequence[str]]) -> tuple[int, bool]:
    """The column with the most domains, by its name where two have as many; and whether the first row is a heading."""
    if not rows:
        raise UploadError("The file has no rows. Choose a CSV or XLSX file with a column of domains.")
    heading, sample = rows[0], rows[1 : SAMPLE_ROWS + 1] or rows
    width = max(map(len, rows[: SAMPLE_ROWS + 1]))

    def weight(column: int) -> tuple[int, bool]:
        hosts = sum(bool(host_of(row[column])) for row in sample if column < len(row))
        name = heading[column] if column < len(heading) else ""
        return hosts * 2 - (hosts if _is_mail(sample, column) else 0), bool(_NAMED.search(name))

    column = max(range(width), key=weight)
    if not weight(column)[0]:
        raise UploadError("No column has domains, such as example.com. Add one, and upload the file again.")
    first = heading[column] if column < len(heading) else ""
    return column, not host_of(first)


def _is_mail(sample: Sequence[Sequence[str]], column: int) -> bool:
    return any("@" in row[column] for row in sample if column < len(row))


class Uploads:
    """The uploads of all accounts: statements on `uploads`."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def add(self, account_id: int, name: str, table: UploadedTable) -> int:
        """Keep a table; returns its number. Of an account's uploads, the oldest beyond the maximum are deleted."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            await self._postgres.wait_for_turn(connection, "uploads of an account", account_id)
            await connection.execute(
                self._postgres.sql(
                    "DELETE FROM {schema}.uploads WHERE account_id = $1 AND id NOT IN (SELECT id FROM {schema}.uploads"
                    " WHERE account_id = $1 ORDER BY id DESC LIMIT $2)"
                ),
                account_id,
                MAX_UPLOADS - 1,
            )
            number: int = await connection.fetchval(
                self._postgres.sql(
                    "INSERT INTO {schema}.uploads (account_id, name, content) VALUES ($1, $2, $3) RETURNING id"
                ),
                account_id,
                name,
                table.pack(),
            )
            return number

    async def find(self, account_id: int, upload_id: int) -> tuple[str, UploadedTable] | None:
        """The name and the table of an upload."""
        row = await self._postgres.fetchrow(
            "SELECT name, content FROM {schema}.uploads WHERE account_id = $1 AND id = $2"
            " AND made_at > clock_timestamp() - $3::interval",
            account_id,
            upload_id,
            KEPT_FOR,
            timeout_ms=WRITE_TIMEOUT_MS,
        )
        return None if row is None else (row["name"], unpack(row["content"]))

    async def forget_old(self) -> None:
        """Delete uploads after a day, whatever was done with them."""
        await self._postgres.fetch(
            "DELETE FROM {schema}.uploads WHERE made_at < clock_timestamp() - $1::interval",
            KEPT_FOR,
            timeout_ms=WRITE_TIMEOUT_MS,
        )
