"""What decides when sites are visited next: which leads of a run changed, and how old leads are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pyarrow.parquet as pq

from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.administration import admin
from siteglass.index.documents import CRAWLED_HASH_BITS, CRAWLED_LIMIT
from siteglass.index.index import Index
from siteglass.ingest.grouped import listed
from siteglass.ingest.pipeline import RunResult
from siteglass.platform.backends import open_postgres
from siteglass.platform.job_leases import LEASE_S, REFRESH, JobLeases
from siteglass.settings import Settings

PERCENTS = (50, 90, 99, 100)
_MS_PER_DAY = 86_400_000


class AlreadyRunning(Exception):
    """Another process refreshes leads; the message says until when its lease lasts."""


def changes_of(result: RunResult) -> dict[str, datetime | None]:
    """The domains of a run, with when the lead of each last changed; None: it has no lead."""
    changed: dict[str, datetime | None] = {} if result.is_whole else dict.fromkeys(result.gone())
    for path in sorted(result.leads.glob("*.parquet")):
        rows = pq.read_table(path, columns=["domain", "updated_at_ms"])
        for domain, at_ms in zip(listed(rows, "domain"), listed(rows, "updated_at_ms"), strict=True):
            changed[domain] = datetime.fromtimestamp(at_ms / 1000, UTC)
    return changed


async def ages(index: Index) -> dict[int, float]:
    """Percent -> days: so many of the live leads were crawled less long ago. Empty without leads."""
    live = await generations.live(index)
    if live is None:
        return {}
    # Ranks fall with the time, so that percentiles of ranks are those of ages.
    aggregated = {"ranks": {"percentiles": {"field": "crawled_rank", "percents": PERCENTS}}}
    fetched = {"range": {"crawled_at": {"gte": 0}}}  # others have the rank of 1970
    answer = await admin(index, "POST", f"/{live}/_search", {"size": 0, "query": fetched, "aggs": aggregated})
    ranks = answer["aggregations"]["ranks"]["values"].values()
    now_ms = index.clock.now_ms()
    return {
        percent: (now_ms - CRAWLED_LIMIT + (int(rank) >> CRAWLED_HASH_BITS)) / _MS_PER_DAY
        for percent, rank in zip(PERCENTS, ranks, strict=True)
        if rank is not None
    }


@asynccontextmanager
async def alone(settings: Settings) -> AsyncIterator[None]:
    """Holds the lease of all refreshes, so that one runs at a time; raises AlreadyRunning. That of a process that was
    killed ends by itself."""
    postgres = open_postgres(settings, max_connections=1)
    leases = JobLeases(postgres, settings.index_prefix)
    try:
        wait_s = await leases.take(REFRESH, LEASE_S)
        if wait_s is not None:
            raise AlreadyRunning(
                f"Another `siteglass refresh run` is at work, or was killed less than {LEASE_S:.0f} s ago. Try again "
                f"in {wait_s:.0f} s."
            )
        await leases.note_start(REFRESH)
        keeping = asyncio.create_task(_keep(leases))
        try:
            yield
            await leases.note_finish(REFRESH)
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            await leases.end(REFRESH, 0)
    finally:
        await postgres.close()


async def _keep(leases: JobLeases) -> None:
    while True:
        await asyncio.sleep(LEASE_S / 4)
        with suppress(Unavailable):
            await leases.end(REFRESH, LEASE_S)  # due for others that long from now
