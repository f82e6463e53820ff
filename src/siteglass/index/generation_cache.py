"""What a worker counts once in the live generation, and uses until another one is live or the counts are an hour old.

Requests never wait for new counts. Only the first ones wait, and not for long; while nothing is known, they go without.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.index import Index
from siteglass.platform.opensearch import EngineError

MAX_AGE_S = 3_600
LOOK_EVERY_S = 60
"""How often a worker looks which generation is live."""
RETRY_AFTER_S = 30
FIRST_WAIT_S = 1.0
"""How long the first requests wait for counts."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Taken(Generic[T]):
    generation: str
    at: float
    counts: T


class GenerationCache(Generic[T]):
    """Counts of the live generation, taken by one function."""

    def __init__(self, index: Index, take: Callable[[Index, str], Awaitable[T]]) -> None:
        self._index = index
        self._take = take
        self._taken: _Taken[T] | None = None
        self._look_at = 0.0
        self._wait_until = 0.0
        self._counting: asyncio.Task[None] | None = None

    async def current(self) -> T | None:
        """The counts that are known; None: not yet."""
        now = time.monotonic()
        if now >= self._look_at and (self._counting is None or self._counting.done()):
            self._wait_until = now + FIRST_WAIT_S
            self._counting = asyncio.create_task(self._look())
        if self._taken is None and self._counting is not None and now < self._wait_until:
            await asyncio.wait({self._counting}, timeout=self._wait_until - now)
        return None if self._taken is None else self._taken.counts

    async def _look(self) -> None:
        """Count again if another generation is live, or the counts are old."""
        self._look_at = time.monotonic() + RETRY_AFTER_S
        try:
            name = await generations.live(self._index)
            if name is None:
                return
            known = self._taken
            if known is None or known.generation != name or time.monotonic() - known.at > MAX_AGE_S:
                self._taken = _Taken(name, time.monotonic(), await self._take(self._index, name))
        except (EngineError, Unavailable):
            return  # what was known before is good enough
        self._look_at = time.monotonic() + LOOK_EVERY_S
