"""Runs visits to all domains that are due, many at once, until none is left."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from siteglass import __version__
from siteglass.access.limits.connection import RedisConnection
from siteglass.crawl.archive import Archive, ArchiveFailed, on_disk
from siteglass.crawl.counts import Counts
from siteglass.crawl.fetcher import Fetcher
from siteglass.crawl.frontier import NO_STORE, Frontier
from siteglass.crawl.gate import TIMEOUT_S, Gate
from siteglass.crawl.refusals import Refusals
from siteglass.crawl.robots import TOKEN
from siteglass.crawl.uplink import Uplink
from siteglass.crawl.visit import Crew, Visit
from siteglass.errors import Unavailable
from siteglass.platform import metrics
from siteglass.platform.backends import open_postgres
from siteglass.settings import Settings, SettingsError, variable

IDLE_S = 0.2
# The part of our page that says what the crawler does, and how to keep it out.
CRAWLER_PAGE = "/opt-out#crawler"
# A file that exists until the crawl ends.
STARTED = "started"
TAKEN_AT_ONCE = 50
# How long a frontier may be unavailable. Then the crawler ends, and the next one continues.
MAX_AWAY_S = 300
log = logging.getLogger(__name__)

OnProgress = Callable[[Counts], None]


def user_agent(settings: Settings) -> str:
    """The name that sites see, with a way to reach the operator; raises SettingsError if there is none."""
    contact = settings.crawl_contact or (
        f"{settings.public_url.rstrip('/')}{CRAWLER_PAGE}" if settings.public_url else ""
    )
    if not contact or not contact.isascii() or not contact.isprintable():
        raise SettingsError(
            f"{variable('crawl_contact')}: expected a URL or email address by which owners of sites can reach you. "
            f"Set it, or {variable('public_url')}."
        )
    return f"{TOKEN}/{__version__} (+{contact})"


async def crawl(
    settings: Settings,
    folder: Path,
    domains: frozenset[str],
    on_progress: OnProgress,
    store: int = NO_STORE,
    per_day: int | None = None,
) -> Counts:
    """Add domains to the frontier, and visit everything that is due, up to `per_day` domains a day. The archives are in
    `folder`, and go to the facts store of that identity."""
    agent = user_agent(settings)
    frontier = await Frontier.open(settings, store)
    postgres = open_postgres(settings)
    redis = RedisConnection(settings.redis_url, TIMEOUT_S)
    fetcher = Fetcher(settings, agent, 2 * settings.crawl_domains_at_once)
    archive = Archive(folder, frontier, agent, settings.crawl_domain_delay_ms / 2000)
    try:
        await frontier.add(domains, _start_of(folder / STARTED))
        gate = Gate(redis, settings.redis_prefix, settings.crawl_domain_delay_ms, settings.crawl_address_delay_ms)
        refusals, uplink = Refusals(settings, postgres), Uplink(fetcher)
        crew = Crew(settings, frontier, gate, fetcher, archive, refusals, uplink, Counts())
        left = math.inf if per_day is None else per_day - (await frontier.status()).visited_today
        await _Crawler(crew, on_progress, left).run()
        (folder / STARTED).unlink(missing_ok=True)
        return crew.counts
    except ExceptionGroup as group:
        raise group.exceptions[0] from group  # of the task group: what ended the crawl
    finally:
        await fetcher.close()
        await redis.close()
        await postgres.close()
        await frontier.close()
        archive.close()


def _start_of(path: Path) -> datetime:
    """When the crawl began that this one continues, or now. What was visited since is not fetched again."""
    with suppress(FileNotFoundError, ValueError):  # a kill or a full disk may leave it empty
        return datetime.fromisoformat(path.read_text())
    now = datetime.now(UTC)
    with on_disk(path.parent):
        path.write_text(now.isoformat())
    return now


class _Crawler:
    """Takes domains, holds their leases, and runs their visits."""

    def __init__(self, crew: Crew, on_progress: OnProgress, left: float) -> None:
        self._crew = crew
        self._left = left
        self._on_progress = on_progress
        self._visits: dict[str, asyncio.Task[None]] = {}
        self._reached_at = time.monotonic()

    async def run(self) -> None:
        """Until nothing is due, and nobody has a lease that could run out; or until no more domains may be visited."""
        async with asyncio.TaskGroup() as beside:
            forever = (self._crew.archive.keep_syncing(), self._keep_leases(), self._crew.uplink.keep_checking())
            others = [beside.create_task(one) for one in forever]
            try:
                while await self._work():
                    self._crew.counts.note_pause(is_paused=self._crew.uplink.is_lost)
                    self._on_progress(self._crew.counts)
                    await asyncio.sleep(IDLE_S)
            finally:
                for task in (*self._visits.values(), *others):
                    task.cancel()
                await asyncio.gather(*self._visits.values(), return_exceptions=True)
                metrics.CRAWL_VISITS.set(0)
                self._crew.counts.note_pause(is_paused=False)

    async def _work(self) -> bool:
        """Begin visits; whether there is anything left to do. A frontier that does not respond is waited for."""
        try:
            is_left = await self._take() or bool(self._visits)
            is_left = is_left or (self._left > 0 and any(await self._crew.frontier.left()))
        except Unavailable:
            if time.monotonic() - self._reached_at > MAX_AWAY_S:
                raise
            return True
        self._reached_at = time.monotonic()
        return is_left

    async def _take(self) -> bool:
        """Begin visits to domains that are due; whether there were any."""
        for domain in [name for name, visit in self._visits.items() if visit.done()]:
            self._visits.pop(domain).result()  # raises what must end the crawl
        free = self._crew.settings.crawl_domains_at_once - len(self._visits)
        if free <= 0 or self._left <= 0 or self._crew.uplink.is_lost:
            return free <= 0
        taken = await self._crew.frontier.take(int(min(free, TAKEN_AT_ONCE, self._left)))
        self._left -= len(taken)
        for one in taken:
            # If this process was suspended for longer than a lease, it takes a domain that it visits already.
            if earlier := self._visits.pop(one.domain, None):
                earlier.cancel()
                await asyncio.gather(earlier, return_exceptions=True)
            self._visits[one.domain] = asyncio.create_task(_run(Visit(self._crew, one)))
        metrics.CRAWL_VISITS.set(len(self._visits))
        return bool(taken)

    async def _keep_leases(self) -> None:
        """Renew leases. A domain whose lease was lost belongs to another fetcher: its visit here ends."""
        while True:
            await asyncio.sleep(self._crew.settings.crawl_lease_s / 4)
            held = list(self._visits)
            try:
                ours = await self._crew.frontier.renew(held)
            except Unavailable:
                continue  # the lease is four times as long
            for domain in held:
                if domain not in ours and domain in self._visits:
                    self._visits[domain].cancel()


async def _run(visit: Visit) -> None:
    """A visit that loses its engine or its lease leaves the domain as it is: it is taken again after the lease."""
    try:
        await visit.run()
    except (Unavailable, asyncio.CancelledError):
        return
    except (ArchiveFailed, OSError):
        raise  # OSErrors of the network are kinds of NotFetched: these are of the operator's list
    except Exception:
        # A defect that one page brings to light must not end the visits to all others.
        log.exception("The visit to %s failed. Please report this", visit.domain)
        await visit.give_up()
