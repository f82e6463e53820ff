"""Where workers of a service listen, noted in Redis so that commands of the operator know it.

Only the process of `siteglass serve --port 9000` knows that port: its settings still name another one. If Redis lost
the notes, the workers write them again within seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from siteglass.settings import Settings
from siteglass.web.address import public_url, url

NOTE_EVERY_S = 10.0
# A worker that runs has noted its address within this time.
RUNNING_S = 3 * NOTE_EVERY_S
# An invitation can be made while the service is restarted.
KEPT_S = 7 * 24 * 3_600
TIMEOUT_S = 0.5
MAX_CONNECTIONS = 32


class ServedAddresses:
    """The notes of the workers that share a Redis prefix, over separate connections."""

    def __init__(self, settings: Settings) -> None:
        self._client: Redis = _connect(settings.redis_url)
        self._name = f"{settings.redis_prefix}:served"
        self._url = url(settings)

    async def note(self) -> None:
        """Note that this worker listens at the address of its settings."""
        now = time.time()
        async with self._client.pipeline(transaction=True) as steps:
            steps.zadd(self._name, {self._url: now})
            steps.zremrangebyscore(self._name, "-inf", now - KEPT_S)
            steps.expire(self._name, KEPT_S)
            await steps.execute()

    async def noted(self, within_s: float) -> list[str]:
        """The addresses noted within this time, the newest first."""
        found = await self._client.zrevrangebyscore(self._name, "+inf", time.time() - within_s)
        return [address.decode() for address in found if isinstance(address, bytes)]

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.aclose()


def _connect(url: str) -> Redis:
    """Connections are made when first used. No retries: the caller has something better to do."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=TIMEOUT_S,
        socket_timeout=TIMEOUT_S,
        socket_connect_timeout=TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
        # No greeting: with RESP3 and a driver name, a new connection costs three round trips more.
        protocol=2,
        driver_info=None,
    )
    return Redis.from_pool(pool)


async def noted_addresses(settings: Settings, within_s: float = KEPT_S) -> list[str] | None:
    """Where workers with these settings listen, the newest note first; None if Redis does not answer."""
    try:
        served = ServedAddresses(settings)
    except ValueError:  # the address of Redis cannot be read
        return None
    try:
        return await served.noted(within_s)
    except (RedisError, OSError):
        return None
    finally:
        await served.close()


def has_port(addresses: Iterable[str], port: int) -> bool:
    """Whether one of them has this port. Hosts are not compared: `serve --host 0.0.0.0` also answers at 127.0.0.1."""
    return any(urlsplit(address).port == port for address in addresses)


async def reachable_url(settings: Settings) -> str:
    """Where people reach the service: the address that is set, or else the one at which it listens."""
    if settings.public_url:
        return public_url(settings)
    addresses = await noted_addresses(settings)
    return url(settings) if not addresses or has_port(addresses, settings.port) else addresses[0]
