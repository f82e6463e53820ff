"""A process that only works off download jobs, to be killed: `python -m testing.dashboard.download_worker`."""

from __future__ import annotations

import asyncio

from siteglass.access.keys import Keys
from siteglass.access.limits import open_limits
from siteglass.access.request_counts import RequestCounts
from siteglass.index import generations
from siteglass.index.facets import BaseCounter
from siteglass.index.index import open_index
from siteglass.index.value_counts import ValueCounter
from siteglass.leads.charging import AccountCharger
from siteglass.leads.downloads.jobs import Downloads
from siteglass.leads.downloads.working import DownloadWorker
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.lists import Lists
from siteglass.leads.lists.selection import ListFilter
from siteglass.platform.backends import open_backends
from siteglass.platform.tracing import Tracing
from siteglass.query.cursor import CursorSealer
from siteglass.settings import load_settings
from siteglass.suppression.filter import SuppressionFilter
from siteglass.suppression.values import Hasher
from siteglass.web.guard import Guard


async def work() -> None:
    """Take jobs until the process is killed."""
    settings = load_settings()
    async with open_backends(settings) as backends:
        index = open_index(backends)
        limiter, claims = open_limits(settings)
        keys = Keys(backends.postgres, settings.key_secrets, settings.postgres_timeout_ms)
        hidden = SuppressionFilter(
            backends.postgres, Hasher(settings), frozenset(), lambda: generations.oldest_made_at(index)
        )
        lists, charger = Lists(index, test=False), AccountCharger(backends, claims)
        leads = LeadEndpoints(
            index,
            CursorSealer(settings.cursor_secrets, settings.cursor_life_s),
            hidden,
            Guard(keys, RequestCounts(backends.postgres), limiter, Tracing()),
            charger,
            ValueCounter(index),
            BaseCounter(index),
            ListFilter(lists),
        )
        limiter.start()
        worker = DownloadWorker(Downloads(backends.postgres), leads, charger, lists)
        while True:
            await worker.work()
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(work())
