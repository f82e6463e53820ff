"""Files of domains that people upload: CSV in any usual form, or XLSX. Everything is bounded.

The file is read in a thread. Reading stops at the maximum number of rows.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
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
from siteglass.leads.downloads.jobs import MAX_ROWS, WRITE_TIMEOUT_MS
from siteglass.platform.postgres import Postgres

MAX_FILE_BYTES = 3 * 1024 * 1024
LIMITS = TableLimits(rows=MAX_ROWS, columns=100, cell_chars=5_000, unpacked_bytes=60 * 1024 * 1024)
MAX_UPLOADS = 10
KEPT_FOR = timedelta(hours=24)
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
