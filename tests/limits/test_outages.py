"""Redis stopped, killed, frozen, slow: never an error, never open, never closed, and back within a second."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from siteglass.access.limits import Policy, RateLimiter, open_limits
from siteglass.settings import Settings
from testing.limits.redis_faults import FAULTS, OwnRedis, open_worker, outage, until
from testing.outcomes import by_night
from testing.ports import free_port

pytestmark = pytest.mark.alone

# So slow that time plays no part: what is admitted is what the bursts allow.
HOURLY = Policy(1 / 3_600, 9)


@pytest.mark.parametrize("fault", [next(iter(FAULTS)), *by_night(*list(FAULTS)[1:])])
def test_an_outage_under_load(fault: str) -> None:
    assert asyncio.run(outage(fault, Policy(60, 20))).broken() == []


async def admitted(worker: RateLimiter, tries: int = 20) -> int:
    verdicts = [await worker.take("acme", "key-1", HOURLY, HOURLY) for _ in range(tries)]
    return sum(verdict.allowed for verdict in verdicts)


def with_workers(number: int, body: Callable[[OwnRedis, list[RateLimiter]], Awaitable[None]]) -> None:
    async def run(redis: OwnRedis) -> None:
        # Patient, so that a busy machine is not taken for an outage: here counts matter, not time.
        workers = [open_worker(redis.port, f"worker-{each}", timeout_s=0.5) for each in range(number)]
        try:
            for worker in workers:
                worker.start()
            await until(lambda: all(worker.workers == number for worker in workers), 2)
            await body(redis, workers)
        finally:
            for worker in workers:
                await worker.close()

    with OwnRedis() as redis:
        asyncio.run(run(redis))


def test_an_outage_gives_a_single_worker_no_unit_more_even_if_redis_forgot_everything() -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        [worker] = workers
        counts = [await admitted(worker, 4)]
        redis.end(signal.SIGKILL)
        counts.append(await admitted(worker, 3))
        assert not worker.on_redis
        redis.start()
        await until(lambda: worker.on_redis, 1)
        counts.append(await admitted(worker))
        redis.end(signal.SIGKILL)
        counts.append(await admitted(worker))
        redis.start()
        await until(lambda: worker.on_redis, 1)
        counts.append(await admitted(worker))
        assert counts == [4, 3, 2, 0, 0]

    with_workers(1, body)


@pytest.mark.promise("rate.without_redis")
def test_what_redis_allows_while_an_outage_begins_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(_redis: OwnRedis, workers: list[RateLimiter]) -> None:
        [worker] = workers
        take = worker._shared.take

        async def answer_late(*arguments: Any) -> Any:
            answer = await take(*arguments)
            worker._leave_redis("slow")
            return answer

        counts = [await admitted(worker, 4)]
        monkeypatch.setattr(worker._shared, "take", answer_late)
        counts.append(await admitted(worker))
        assert counts == [4, 5]

    with_workers(1, body)


def test_three_workers_share_the_policy_and_bring_it_back() -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        first, second, third = workers
        assert await admitted(first, 4) == 4
        redis.end(signal.SIGTERM)
        # The first knows of the four; the others have heard nothing, and have a third of the burst each.
        assert [await admitted(worker) for worker in (first, second, third)] == [1, 3, 3]
        redis.start()
        await until(lambda: all(worker.on_redis for worker in workers), 1)
        assert [await admitted(worker) for worker in (second, third, first)] == [0, 0, 0]

    with_workers(3, body)


def test_a_redis_that_forgot_the_workers_does_not_make_each_feel_alone() -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        redis.end(signal.SIGKILL)
        await until(lambda: not any(worker.on_redis for worker in workers), 2)
        redis.start()
        await until(lambda: any(worker.on_redis for worker in workers), 1)
        assert [worker.workers for worker in workers] == [3, 3, 3]

    with_workers(3, body)


def test_a_worker_that_is_gone_no_longer_counts() -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        await workers[0].close()
        await until(lambda: workers[1].workers == 1, 7)

    with_workers(2, body)


@pytest.mark.parametrize(
    "command", [("CONFIG", "SET", "maxmemory", "1"), ("REPLICAOF", "127.0.0.1", "1"), ("SET", "outage:workers", "x")]
)
def test_a_redis_that_answers_with_errors_is_as_good_as_none(command: tuple[str, ...]) -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        async with Redis(port=redis.port) as client:
            await client.execute_command(*command)  # type: ignore[no-untyped-call]  # redis-py has no types for it
        await until(lambda: not workers[0].on_redis, 2)
        assert await admitted(workers[0]) == 9

    with_workers(1, body)


def test_a_redis_that_lost_the_script_is_given_it_again() -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        async with Redis(port=redis.port) as client:
            await client.script_flush()
            assert await admitted(workers[0]) == 9
            assert await client.get("outage:limit:account:acme") is not None
        assert workers[0].on_redis

    with_workers(1, body)


def test_without_any_redis_from_the_start_the_settings_say_how_many_workers_share() -> None:
    async def run() -> None:
        settings = replace(Settings(), redis_url=f"redis://127.0.0.1:{free_port()}/0", workers=3)
        worker, claims = open_limits(settings)
        assert await admitted(worker) == 3
        assert (worker.on_redis, worker.workers) == (False, 3)
        await worker.close()
        await claims.close()

    asyncio.run(run())


def test_cancelled_requests_leave_no_connection_behind_and_are_no_failure() -> None:
    async def body(redis: OwnRedis, workers: list[RateLimiter]) -> None:
        policy = Policy(1_000, 2_000)
        for _ in range(20):
            takes = [asyncio.create_task(workers[0].take("acme", "key-1", policy, policy)) for _ in range(50)]
            await asyncio.sleep(0.001)
            for one in takes:
                one.cancel()
            await asyncio.gather(*takes, return_exceptions=True)
        assert (await workers[0].take("acme", "key-1", policy, policy)).allowed
        assert workers[0].on_redis

    with_workers(1, body)
