"""The file of a job, made when somebody downloads it from the pages that were paid for.

Opt-outs win: what was suppressed since the page was bought is left out, each time. So a stored page may have a value
that must not be shown, while the job is kept. No file gets it.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from siteglass.leads import replay
from siteglass.leads.downloads.batches import LEADS
from siteglass.leads.downloads.columns import COLUMN_SETS, Cell, ColumnSet, Record
from siteglass.leads.downloads.enriching import EnrichedTable, unpack_source
from siteglass.leads.downloads.jobs import Download, Downloads, FileFormat
from siteglass.leads.downloads.sheets import XLSX_TYPE, csv_cell, csv_lines, read_and_delete, write_xlsx
from siteglass.platform.backends import Backends

CSV_TYPE = "text/csv; charset=utf-8"
MAX_NAME_CHARS = 60
# Making one takes a core for a few seconds.
_WORKBOOKS_AT_ONCE = 1


class DownloadFiles:
    """Makes files of jobs."""

    def __init__(self, backends: Backends, downloads: Downloads) -> None:
        self._backends = backends
        self._downloads = downloads
        self._turn = asyncio.Semaphore(_WORKBOOKS_AT_ONCE)

    async def open(self, download: Download, format_: FileFormat, columns: str) -> tuple[str, AsyncIterator[bytes]]:
        """The media type and the pieces of a file, in this format and with these columns."""
        if download.kind == "enrich":
            table = await self._enriched(download, columns)
            if format_ == "csv":
                return CSV_TYPE, table.csv_pieces()
            return XLSX_TYPE, await self._xlsx(table.headings, table.pages())
        chosen = COLUMN_SETS[columns]
        return await self._open(chosen, self._rows(download, chosen), format_)

    async def open_records(
        self, records: Sequence[Record], format_: FileFormat, columns: str
    ) -> tuple[str, AsyncIterator[bytes]]:
        """The same for leads that are in memory."""
        chosen = COLUMN_SETS[columns]

        async def rows() -> AsyncIterator[Sequence[Sequence[Cell]]]:
            yield list(map(chosen.row, records))

        return await self._open(chosen, rows(), format_)

    async def _open(
        self, chosen: ColumnSet, pages: AsyncIterable[Sequence[Sequence[Cell]]], format_: FileFormat
    ) -> tuple[str, AsyncIterator[bytes]]:
        if format_ == "csv":
            return CSV_TYPE, _csv(chosen, pages)
        return XLSX_TYPE, await self._xlsx(chosen.headings, pages)

    async def _xlsx(
        self, headings: Sequence[str], pages: AsyncIterable[Sequence[Sequence[Cell]]]
    ) -> AsyncIterator[bytes]:
        async with self._turn:
            folder = TemporaryDirectory(prefix="siteglass-")
            path = Path(folder.name) / "leads.xlsx"
            try:
                await write_xlsx(headings, pages, path)
            except BaseException:
                folder.cleanup()
                raise
        return read_and_delete(folder, path)

    async def _rows(self, download: Download, chosen: ColumnSet) -> AsyncIterator[Sequence[Sequence[Cell]]]:
        async for records in paid_records(self._backends, self._downloads, download):
            yield [chosen.row(record) for record in records]

    async def _enriched(self, download: Download, columns: str) -> EnrichedTable:
        data: dict[str, Record] = {}
        async for items in paid_records(self._backends, self._downloads, download):
            data |= {item["domain"]: item["data"] for item in items if item["status"] == "success"}
        return EnrichedTable(*unpack_source(await self._downloads.source(download)), data, columns)


async def paid_records(
    backends: Backends, downloads: Downloads, download: Download
) -> AsyncIterator[list[dict[str, Any]]]:
    """The results of each page that was paid for, without what was suppressed since."""
    async for content in downloads.pages(download):
        body = zlib.decompress(content)
        page = orjson.loads(body)
        # The items of an enrichment name their domains themselves; a key's may have been found by an alias.
        domains = page.get(LEADS) or [record["domain"] for record in page["results"]]
        redacted = await replay.without_suppressed(backends, body, domains)
        yield page["results"] if redacted is None else orjson.loads(redacted)["results"]


async def _csv(chosen: ColumnSet, pages: AsyncIterable[Sequence[Sequence[Cell]]]) -> AsyncIterator[bytes]:
    yield csv_lines([chosen.headings], start=chosen.byte_order_mark)
    async for rows in pages:
        yield csv_lines([csv_cell(value) for value in row] for row in rows)


def file_name(download: Download, format_: FileFormat, columns: str) -> str:
    """A name that says what is in it: siteglass-dentists-in-austin-12.csv."""
    words = re.sub(r"[^a-z0-9]+", "-", download.title.lower()).strip("-")[:MAX_NAME_CHARS].strip("-")
    kind = "" if columns == "siteglass" else f"-{columns}"
    return f"siteglass-{words or 'leads'}-{download.id}{kind}.{format_}"
