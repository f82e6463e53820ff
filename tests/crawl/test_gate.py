"""The gate: no two requests sooner than the delay, whatever the load, and none after Redis lost its data."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from siteglass.access.limits.connection import RedisConnection
from siteglass.crawl.gate import TIMEOUT_S, Gate, NotYet, address_key
from siteglass.settings import Settings
from testing.ports import free_port
from testing.private_engines import PrivateEngines
from testing.service import settings_for

DOMAIN_MS, ADDRESS_MS = 200, 60


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> Settings:
    return settings_for(f"gate-{request.node.name}-{time.time_ns()}")


@asynccontextmanager
async def gates(settings: Settings, count: int = 1, url: str = "") -> AsyncIterator[list[Gate]]:
    """As of so many fetchers, whose first requests need not wait for Redis any more."""
    connections = [RedisConnection(url or settings.redis_url, TIMEOUT_S) for _ in range(count)]
    made = [Gate(connection, settings.redis_prefix, DOMAIN_MS, ADDRESS_MS) for connection in connections]
    try:
        if not url:
            await made[0].wait("first.org", "192.0.2.255", DOMAIN_MS)
        yield made
    finally:
        for connection in connections:
            await connection.close()


@pytest.mark.promise("setting.crawl_domain_delay_ms", "setting.crawl_address_delay_ms")
def test_no_short_gap_when_two_fetchers_are_too_busy_to_send_in_time(settings: Settings) -> None:
    """Each event loop is blocked for longer than a permission lasts, again and again."""
    sends: list[tuple[str, str, float]] = []

    async def visit(gate: Gate, domain: str, address: str) -> None:
        for _ in range(3):
            await gate.wait(domain, address, DOMAIN_MS)
            sends.append((domain, address, time.monotonic()))

    async def block() -> None:
        while True:
            time.sleep(0.06)  # noqa: ASYNC251 - it is the point
            await asyncio.sleep(0.02)

    async def both() -> None:
        async with gates(settings, 2) as made:
            blocking = asyncio.create_task(block())
            sites = [(f"site{number}.org", f"192.0.2.{number % 3}") for number in range(9)]
            await asyncio.gather(*(visit(made[number % 2], *site) for number, site in enumerate(sites)))
            await asyncio.gather(visit(made[0], *sites[0]), visit(made[1], *sites[0]))
            blocking.cancel()

    asyncio.run(both())
    assert len(sends) == 33
    for key, delay_ms in ((0, DOMAIN_MS), (1, ADDRESS_MS)):
        times = defaultdict(list)
        for send in sends:
            times[send[key]].append(send[2])
        gaps = [b - a for of_one in times.values() for a, b in itertools.pairwise(sorted(of_one))]
        assert min(gaps) >= delay_ms / 1000


def test_after_redis_lost_its_data_nothing_is_sent_for_the_longest_delay(settings: Settings) -> None:
    async def lose() -> float:
        async with gates(settings) as (gate,):
            await gate.wait("slow.org", "192.0.2.1", 900)
            redis = RedisConnection(settings.redis_url, TIMEOUT_S)
            keys = await redis.call("KEYS", f"{settings.redis_prefix}:crawl:*")
            assert len(keys) == 5
            await redis.call("DEL", *(key.decode() for key in keys))
            await redis.close()
            lost_at = time.monotonic()
            await gate.wait("other.org", "192.0.2.2", DOMAIN_MS)
            return time.monotonic() - lost_at

    assert asyncio.run(lose()) >= 0.9


@pytest.mark.private_engines
def test_a_redis_that_forgot_the_last_requests_is_not_trusted(
    settings: Settings, private_engines: PrivateEngines
) -> None:
    """As after a restart from an older snapshot, or on a standby: `birth` is there, and the last keys are not."""
    url = f"redis://127.0.0.1:{private_engines.get('redis').port}/0"

    async def restore() -> float:
        async with gates(settings, url=url) as (gate,):
            await gate.wait("first.org", "192.0.2.1", 900)
            redis = RedisConnection(url, TIMEOUT_S)
            keys = await redis.call("KEYS", f"{settings.redis_prefix}:crawl:*:*")
            await redis.call("DEL", *(key.decode() for key in keys))
            await redis.call("SCRIPT", "FLUSH")
            await redis.close()
            lost_at = time.monotonic()
            await gate.wait("first.org", "192.0.2.1", 900)
            return time.monotonic() - lost_at

    assert asyncio.run(restore()) >= 0.9


def test_a_request_from_another_site_keeps_the_delay_of_the_domain(settings: Settings) -> None:
    """A robots.txt that moved to a slow site is asked for after the delay of that site."""

    async def visit() -> int:
        async with gates(settings, 2) as (slow, other):
            redis = RedisConnection(settings.redis_url, TIMEOUT_S)
            await redis.call("SET", f"{settings.redis_prefix}:crawl:birth", 0)  # it has remembered for long
            await redis.close()
            await slow.wait("slow.org", "192.0.2.1", 20_000)
            with pytest.raises(NotYet) as refused:
                await other.wait("slow.org", "192.0.2.2", DOMAIN_MS)
            return refused.value.wait_ms

    assert 18_000 < asyncio.run(visit()) <= 20_051


def test_without_redis_nothing_is_sent_and_long_waits_keep_no_connection(settings: Settings) -> None:
    async def waits() -> list[int]:
        found = []
        async with gates(settings, url=f"redis://127.0.0.1:{free_port()}/0") as (gate,):
            with pytest.raises(NotYet) as refused:
                await gate.wait("a.org", "192.0.2.1", DOMAIN_MS)
            found.append(refused.value.wait_ms)
        async with gates(settings) as (gate,):
            await gate.wait("a.org", "192.0.2.1", DOMAIN_MS)
            with pytest.raises(NotYet) as refused:
                await gate.wait("a.org", "192.0.2.2", 30_000)
            found.append(refused.value.wait_ms)
        return found

    without, long = asyncio.run(waits())
    assert without == 1_000
    assert 28_000 < long <= 30_051


def test_a_network_of_ipv6_is_one_machine() -> None:
    assert address_key("2001:db8:1:2:3::4") == address_key("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert address_key("192.0.2.7") == "192.0.2.7"
