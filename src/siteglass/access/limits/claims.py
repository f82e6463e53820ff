"""One request at a time per Idempotency-Key: a claim in Redis that ends with the request, or by itself.

It only saves work and makes a duplicate request wait. If Redis is unavailable, each worker may run one, and the charge
decides between them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator

from siteglass.access.limits.connection import RedisConnection

# Only who made the claim may end it: another may hold it by now.
RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


# More patient than the rate limit: a duplicate that runs in vain costs more than a short wait. After a failure nobody
# waits for a while.
TIMEOUT_S = 0.5
REST_S = 1.0


class Claims:
    """The claims of one worker, over a separate connection."""

    def __init__(self, redis: RedisConnection, prefix: str, *, life_ms: int) -> None:
        self._redis = redis
        self._prefix = prefix
        self._life_ms = life_ms
        self._resting_until = 0.0
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

    async def close(self) -> None:
        """End the connection."""
        await self._redis.close()

    async def _take(self, name: str, holder: str) -> bool:
        if time.monotonic() < self._resting_until:
            return True
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return bool(await self._redis.call("SET", name, holder, "NX", "PX", self._life_ms))
        except Exception:  # whatever it is: the charge decides
            self._resting_until = time.monotonic() + REST_S
            return True

    async def _release(self, name: str, holder: str) -> None:
        if time.monotonic() >= self._resting_until:
            # what is not released ends by itself
            with contextlib.suppress(Exception):
                async with asyncio.timeout(TIMEOUT_S):
                    await self._redis.call("EVAL", RELEASE, 1, name, holder)
