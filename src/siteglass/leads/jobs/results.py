"""The results of a job as JSON lines or a table, written page by page while they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import orjson

from siteglass.leads.downloads.batches import unpack_domains
from siteglass.leads.downloads.columns import SITEGLASS
from siteglass.leads.downloads.files import paid_records
from siteglass.leads.downloads.jobs import Download, Downloads
from siteglass.leads.downloads.sheets import csv_cell, csv_lines
from siteglass.platform.backends import Backends

_LEFT_AT_ONCE = 1_000
_STATUS_COLUMNS = ("sent", "status")


async def result_pages(backends: Backends, downloads: Downloads, job: Download) -> AsyncIterator[list[dict[str, Any]]]:
    """What was paid for, and then what a stopped enrichment has left."""
    async for records in paid_records(backends, downloads, job):
        yield records
    if job.kind == "enrich" and not job.is_open and job.rows < job.wanted:
        left = unpack_domains(await downloads.source(job))[job.rows :]
        for start in range(0, len(left), _LEFT_AT_ONCE):
            yield [{"status": "not_bought", "domain": domain} for domain in left[start : start + _LEFT_AT_ONCE]]


async def ndjson_pieces(pages: AsyncIterator[list[dict[str, Any]]]) -> AsyncIterator[bytes]:
    """A line for each result."""
    async for records in pages:
        yield b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)


async def csv_pieces(job: Download, pages: AsyncIterator[list[dict[str, Any]]]) -> AsyncIterator[bytes]:
    """The columns of a file of leads; those of an enrichment after what was sent and its status."""
    own = _STATUS_COLUMNS if job.kind == "enrich" else ()
    # With the first page: if that cannot be read, nothing has been sent yet.
    headings = csv_lines([[*own, *SITEGLASS.headings]])
    async for records in pages:
        yield headings + csv_lines([csv_cell(cell) for cell in _row(job, record)] for record in records)
        headings = b""
    if headings:
        yield headings


def _row(job: Download, record: dict[str, Any]) -> Sequence[Any]:
    if job.kind == "search":
        return SITEGLASS.row(record)
    return [record["domain"], record["status"], *SITEGLASS.row(record.get("data", {}))]
