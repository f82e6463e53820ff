"""Whether sites can be reached at all. Otherwise, when our network or resolver fails, thousands of sites would be
recorded as failing."""

from __future__ import annotations

import asyncio
import logging

import yarl

from siteglass.crawl.choice import registrable_of
from siteglass.crawl.fetcher import Fetcher

# So many visits in a row that got no answer from anybody make it doubtful.
MAX_SILENT = 100
# How long nothing is fetched until the next attempt: twice as long after each one.
PAUSE_S, MAX_PAUSE_S = 30.0, 600.0
# So many visits are the attempt if none of the sites that answered earlier can be reached: these may be gone, too.
ATTEMPTED = 10
REMEMBERED = 5
CHECK_EVERY_S = 0.5
log = logging.getLogger(__name__)


class Uplink:
    """One per fetcher. Run `keep_checking` beside the visits."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._silent = 0
        self._pause_s = PAUSE_S
        self._answered: dict[str, yarl.URL] = {}  # one per registrable domain, so that they do not fail together

    @property
    def is_lost(self) -> bool:
        """Whether to begin no visits, and to blame no site for its silence."""
        return self._silent >= MAX_SILENT

    def note_answer(self, url: str) -> None:
        """A site answered."""
        self._silent, self._pause_s = 0, PAUSE_S
        self._answered.setdefault(registrable_of(url), yarl.URL(url).origin())
        if len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]

    def note_silent_visit(self) -> None:
        """A visit ended in which nobody answered."""
        self._silent += 1

    async def keep_checking(self) -> None:
        """While sites are silent, find out again and again whether it is them or us, until cancelled."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            if not self.is_lost:
                continue
            log.warning("No site answered in %d visits. The crawl waits for %.0f s", self._silent, self._pause_s)
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(2 * self._pause_s, MAX_PAUSE_S)
            if any([await self._fetcher.reaches(origin) for origin in tuple(self._answered.values())]):
                self._silent = 0
            else:
                self._silent = min(self._silent, MAX_SILENT - ATTEMPTED)
