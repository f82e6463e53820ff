"""What Redis says of itself: asked by the doctor, never by a request."""

from __future__ import annotations

import time
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


@dataclass(frozen=True, slots=True)
class RedisServer:
    """Its version, and how long one answer took."""

    version: str
    answer_ms: float


async def server(url: str, timeout_s: float) -> RedisServer:
    """Ping Redis; raises its client's errors, and ValueError for an invalid URL."""
    async with Redis.from_url(
        url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, retry=Retry(NoBackoff(), 0)
    ) as client:
        told = await client.info()
        started = time.perf_counter()
        await client.ping()
        answer_ms = (time.perf_counter() - started) * 1000
    return RedisServer(told["redis_version"], answer_ms)
