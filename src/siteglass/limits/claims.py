"""One request at a time per Idempotency-Key: a claim in Redis that ends with the request, or by itself.

It only saves work and tells a twin to wait. If Redis is away one runs in each worker, and the charge decides between
them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator

from redis.asyncio import Redis

from siteglass.limits.limiter import RateLimiter

# Only who made the claim may end it: another may hold it by now.
RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


class Claims:
    """Claims of one worker; asks Redis only while the rate limit finds it fast."""

    def __init__(self, client: Redis, prefix: str, limiter: RateLimiter, *, timeout_s: float, life_ms: int) -> None:
        self._client = client
        self._prefix = prefix
        self._limiter = limiter
        self._timeout_s = timeout_s
        self._life_ms = life_ms
        # Of this worker itself: many twins at once make it too busy to hear Redis in time, and then all would run.
        self._here: set[str] = set()

    @contextlib.asynccontextmanager
    async def held(self, account_id: int, key: str, holder: str) -> AsyncIterator[bool]:
        """Whether the block may run: False if another holder's block does."""
        digest = hashlib.sha256(key.encode()).hexdigest()
        name = f"{self._prefix}:claim:{account_id}:{digest}"
        if name in self._here:
            yield False
            return
        self._here.add(name)
        try:
            taken = await self._take(name, holder)
            try:
                yield taken
            finally:
                if taken:
                    await self._release(name, holder)
        finally:
            self._here.discard(name)

    async def _take(self, name: str, holder: str) -> bool:
        if not self._limiter.on_redis:
            return True
        try:
            async with asyncio.timeout(self._timeout_s):
                return bool(await self._client.set(name, holder, nx=True, px=self._life_ms))
        except Exception:  # whatever it is: the charge decides
            return True

    async def _release(self, name: str, holder: str) -> None:
        if self._limiter.on_redis:
            # what is not released ends by itself
            with contextlib.suppress(Exception):
                async with asyncio.timeout(self._timeout_s):
                    await self._client.eval(RELEASE, 1, name, holder)
