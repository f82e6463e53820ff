"""Buckets in Redis and in a worker: both or neither, costs, races, heartbeat, and what must not lock anyone out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from redis import Redis

from siteglass.access.limits import Policy, RateLimiter, Verdict
from siteglass.access.limits.local import LocalBuckets
from siteglass.access.limits.shared import SharedBuckets
from siteglass.settings import Settings

NOW = 1_790_000_000_000_000
SECOND = 1_000_000
T = TypeVar("T")

Run = Callable[[Callable[[SharedBuckets], Awaitable[T]]], T]


@pytest.fixture
def shared(redis_url: str, prefix: str) -> Run[T]:
    """Runs a test with buckets in Redis."""

    def run(body: Callable[[SharedBuckets], Awaitable[T]]) -> T:
        async def with_buckets() -> T:
            buckets = SharedBuckets.open(redis_url, prefix, "worker-1", 5)
            try:
                return await body(buckets)
            finally:
                await buckets.close()

        return asyncio.run(with_buckets())

    return run


async def take(
    buckets: SharedBuckets,
    account: Policy,
    key: Policy,
    cost: int = 1,
    now_us: int = NOW,
    name: str = "k",
    carried: int = 0,
) -> Verdict:
    answer = await buckets.take(("account:a", f"key:{name}"), (account, key), cost, (carried, 0), now_us)
    return answer.verdict


def test_a_key_that_is_over_its_own_limit_takes_nothing_from_its_account(shared: Run[None]) -> None:
    async def body(buckets: SharedBuckets) -> None:
        account, small = Policy(10, 20), Policy(1, 2)
        assert [(await take(buckets, account, small)).allowed for _ in range(5)] == [True, True, False, False, False]
        other = await take(buckets, account, account, name="other")
        assert (other.allowed, other.account.remaining, other.key.remaining) == (True, 17, 19)

    shared(body)


def test_an_account_that_is_over_its_limit_takes_nothing_from_the_key(shared: Run[None]) -> None:
    async def body(buckets: SharedBuckets) -> None:
        account, key = Policy(1, 3), Policy(10, 20)
        for name in ("k", "other", "third"):
            assert (await take(buckets, account, key, name=name)).allowed
        refused = await take(buckets, account, key)
        assert (refused.allowed, refused.key.remaining, refused.retry_after_s) == (False, 19, 1.0)
        assert refused.policy == account

    shared(body)


def test_a_cost_is_taken_whole_or_not_at_all(shared: Run[None]) -> None:
    async def body(buckets: SharedBuckets) -> None:
        policy = Policy(10, 20)
        assert (await take(buckets, policy, policy, cost=15)).remaining == 5
        refused = await take(buckets, policy, policy, cost=8)
        assert (refused.allowed, refused.remaining, refused.retry_after_s) == (False, 5, 0.3)
        assert (await take(buckets, policy, policy, cost=5)).remaining == 0
        early, due = NOW + 299_999, NOW + 300_000
        assert not (await take(buckets, policy, policy, cost=3, now_us=early)).allowed
        assert (await take(buckets, policy, policy, cost=3, now_us=due)).allowed

    shared(body)


def test_a_cost_above_the_burst_waits_for_a_full_bucket_and_takes_all_of_it(shared: Run[None]) -> None:
    async def body(buckets: SharedBuckets) -> None:
        policy = Policy(10, 20)
        assert (await take(buckets, policy, policy, cost=1)).allowed
        refused = await take(buckets, policy, policy, cost=50)
        assert (refused.allowed, refused.retry_after_s) == (False, 0.1)
        admitted = await take(buckets, policy, policy, cost=50, now_us=NOW + SECOND // 10)
        assert (admitted.allowed, admitted.remaining, admitted.reset_s) == (True, 0, 2.0)

    shared(body)


def test_a_clock_that_is_set_back_or_a_smaller_plan_locks_nobody_out(shared: Run[None]) -> None:
    async def body(buckets: SharedBuckets) -> None:
        policy = Policy(10, 20)
        await take(buckets, policy, policy, now_us=NOW + 3_600 * SECOND)
        assert (await take(buckets, policy, policy)).retry_after_s == 0.1
        yearly = Policy(1 / 3_600, 1_000)
        await take(buckets, yearly, yearly, cost=900, name="big")
        assert (await take(buckets, policy, policy, name="big")).retry_after_s == 0.1

    shared(body)


def test_what_a_worker_carries_over_is_a_floor_and_kept_even_when_refused(shared: Run[None]) -> None:
    async def body(buckets: SharedBuckets) -> None:
        policy = Policy(10, 20)
        assert (await take(buckets, policy, policy, carried=2 * SECOND)).retry_after_s == 0.1
        assert (await take(buckets, policy, policy)).retry_after_s == 0.1
        later = NOW + SECOND
        assert (await take(buckets, policy, policy, now_us=later, carried=SECOND)).account.remaining == 9

    shared(body)


def test_keys_start_with_the_prefix_and_expire(shared: Run[None], redis_url: str, prefix: str) -> None:
    async def body(buckets: SharedBuckets) -> None:
        await buckets.beat()
        await take(buckets, Policy(10, 20), Policy(1, 5), cost=3)

    shared(body)
    with Redis.from_url(redis_url, decode_responses=True) as client:
        left_ms = {key.removeprefix(prefix): client.pttl(key) for key in client.scan_iter(f"{prefix}:*")}
    assert set(left_ms) == {":workers", ":limit:account:a", ":limit:key:k"}
    assert 0 < left_ms[":workers"] <= 5_000
    assert 58_000 < left_ms[":limit:account:a"] <= 60_300
    assert 61_000 < left_ms[":limit:key:k"] <= 63_000


def test_a_heartbeat_counts_the_workers_of_the_last_seconds(redis_url: str, prefix: str) -> None:
    async def body() -> list[int]:
        one, two = (SharedBuckets.open(redis_url, prefix, name, 5) for name in ("one", "two"))
        counts = [await one.beat(NOW), await two.beat(NOW + SECOND), await one.beat(NOW + 5 * SECOND)]
        counts += [await two.beat(NOW + 6 * SECOND), await one.beat(NOW + 12 * SECOND)]
        await one.close()
        await two.close()
        return counts

    assert asyncio.run(body()) == [1, 2, 2, 2, 1]


def test_racing_requests_never_get_more_than_the_policy(redis_url: str, prefix: str) -> None:
    async def body() -> int:
        hourly = Policy(1 / 3_600, 200)
        workers = [SharedBuckets.open(redis_url, prefix, str(number), 5) for number in range(3)]

        async def client(number: int) -> int:
            taken = 0
            for turn in range(20):
                names = ("account:acme", f"key:{number % 5}")
                answer = await workers[number % 3].take(names, (hourly, hourly), cost := turn % 2 + 1)
                taken += cost if answer.verdict.allowed else 0
            return taken

        taken = await asyncio.gather(*(client(number) for number in range(50)))
        for worker in workers:
            await worker.close()
        return sum(taken)

    assert asyncio.run(body()) == 200


def test_a_cost_below_one_is_refused(redis_url: str, prefix: str) -> None:
    async def body() -> None:
        worker = RateLimiter(SharedBuckets.open(redis_url, prefix, "one", 5), timeout_s=5)
        with pytest.raises(ValueError, match="at least 1"):
            await worker.take("acme", "key", Policy(1, 1), Policy(1, 1), cost=0)
        await worker.close()

    asyncio.run(body())


def test_a_share_takes_a_cost_above_its_burst_in_full() -> None:
    buckets = LocalBuckets()
    policy = Policy(10, 20)
    admitted = sum(
        buckets.take(("a", "k"), (policy, policy), 4, 8, NOW + turn * SECOND // 100).allowed for turn in range(60_00)
    )
    # 60 s at 10 / 8 units a second, and at most 4 units more.
    assert 60 * 10 / 8 / 4 - 1 <= admitted <= 60 * 10 / 8 / 4 + 1


def test_the_table_of_a_worker_is_bounded_and_forgets_the_oldest() -> None:
    buckets = LocalBuckets(max_buckets=100)
    policy = Policy(1 / 3_600, 1)
    for number in range(1_000):
        assert buckets.take((f"a{number}", f"k{number}"), (policy, policy), 1, 1, NOW).allowed
    assert len(buckets) == 100
    assert not buckets.take(("a999", "k999"), (policy, policy), 1, 1, NOW).allowed
    for number in range(300):
        buckets.learn(f"b{number}", SECOND, NOW)
    assert len(buckets) == 100


def test_the_settings_name_redis() -> None:
    settings = Settings()
    assert (settings.redis_url, settings.redis_prefix, settings.redis_timeout_ms) == (
        "redis://127.0.0.1:16379/0",
        "siteglass",
        50,
    )
