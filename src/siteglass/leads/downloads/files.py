"""The file of a job, made when somebody downloads it from the pages that were paid for.

Opt-outs win: what was suppressed since the page was bought is left out, each time. So a stored page may have a value
that must not be shown, for at most the days that a job is kept, and no file gets it.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from siteglass.leads import replay
from siteglass.leads.downloads.columns import COLUMN_SETS, Cell, ColumnSet, Record
from siteglass.leads.downloads.jobs import Download, Downloads, FileFormat
from siteglass.leads.downloads.sheets import XLSX_TYPE, csv_lines, read_and_delete, write_xlsx
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
        chosen = COLUMN_SETS[columns]
        if format_ == "csv":
            return CSV_TYPE, self._csv(download, chosen)
        return XLSX_TYPE, await self._xlsx(download, chosen)

    async def _csv(self, download: Download, chosen: ColumnSet) -> AsyncIterator[bytes]:
        yield csv_lines([chosen.headings], start=chosen.byte_order_mark)
        async for rows in self._rows(download, chosen):
            yield csv_lines(rows)

    async def _xlsx(self, download: Download, chosen: ColumnSet) -> AsyncIterator[bytes]:
        async with self._turn:
            folder = TemporaryDirectory(prefix="siteglass-")
            path = Path(folder.name) / "leads.xlsx"
            try:
                await write_xlsx(chosen.headings, self._rows(download, chosen), path)
            except BaseException:
                folder.cleanup()
                raise
        return read_and_delete(folder, path)

    async def _rows(self, download: Download, chosen: ColumnSet) -> AsyncIterator[Sequence[Sequence[Cell]]]:
        async for records in self._records(download):
            yield [chosen.row(record) for record in records]

    async def _records(self, download: Download) -> AsyncIterator[list[Record]]:
        async for content in self._downloads.pages(download):
            body = zlib.decompress(content)
            domains = [record["domain"] for record in orjson.loads(body)["results"]]
            redacted = await replay.without_suppressed(self._backends, body, domains)
            yield orjson.loads(body if redacted is None else redacted)["results"]


def file_name(download: Download, format_: FileFormat, columns: str) -> str:
    """A name that says what is in it: siteglass-dentists-in-austin-12.csv."""
    words = re.sub(r"[^a-z0-9]+", "-", download.title.lower()).strip("-")[:MAX_NAME_CHARS].strip("-")
    kind = "" if columns == "siteglass" else f"-{columns}"
    return f"siteglass-{words or 'leads'}-{download.id}{kind}.{format_}"
