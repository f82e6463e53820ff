"""What a policy accepts, how it is rounded, and how a verdict is reported: fields and headers."""

from __future__ import annotations

import pytest

from siteglass.access.limits import Level, Policy, Verdict, limit_headers
from siteglass.access.limits.local import LocalBuckets

STANDARD = Policy(10, 20)


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (10, 0), (1_000_001, 1), (1e-9, 10)])
def test_impossible_policies_are_refused(rate: float, burst: int) -> None:
    with pytest.raises(ValueError, match=r"policy|30 years"):
        Policy(rate, burst)


@pytest.mark.parametrize(
    ("rate", "interval_us"), [(10, 100_000), (1_000, 1_000), (3, 333_334), (0.5, 2_000_000), (0.1, 10_000_000)]
)
def test_intervals_are_rounded_up_so_that_no_more_than_the_rate_is_admitted(rate: float, interval_us: int) -> None:
    assert Policy(rate, 1).interval_us == interval_us


def verdict(allowed: bool, account: Level, key: Level) -> Verdict:
    return Verdict(allowed, account, key, local=False)


def test_headers_of_an_admitted_request() -> None:
    account = Level(STANDARD, remaining=12, wait_us=0, next_us=40_000, reset_us=740_000)
    key = Level(Policy(2, 5), remaining=5, wait_us=0, next_us=0, reset_us=0)
    assert limit_headers(verdict(True, account, key)) == {
        "RateLimit-Policy": '"account";q=20;w=2, "key";q=5;w=3',
        "RateLimit": '"account";r=12;t=1, "key";r=5;t=0',
    }


@pytest.mark.parametrize(("wait_us", "retry_after"), [(1, "1"), (1_000_000, "1"), (1_000_001, "2"), (59_100_000, "60")])
def test_retry_after_is_in_whole_seconds_never_early_and_at_least_one(wait_us: int, retry_after: str) -> None:
    account = Level(STANDARD, remaining=3, wait_us=0, next_us=1, reset_us=1)
    key = Level(STANDARD, remaining=0, wait_us=wait_us, next_us=wait_us, reset_us=wait_us)
    assert limit_headers(verdict(False, account, key))["Retry-After"] == retry_after


def test_a_verdict_speaks_for_the_stricter_of_both() -> None:
    account = Level(STANDARD, remaining=3, wait_us=0, next_us=100, reset_us=5_000_000)
    key = Level(Policy(1, 4), remaining=1, wait_us=500_000, next_us=500_000, reset_us=2_500_000)
    refused = verdict(False, account, key)
    assert (refused.policy, refused.remaining) == (Policy(1, 4), 1)
    assert (refused.retry_after_s, refused.reset_s) == (0.5, 5.0)
    empty = Level(STANDARD, remaining=0, wait_us=0, next_us=100, reset_us=2_000_000)
    assert verdict(True, empty, key).binding is key


def test_a_client_that_waits_as_told_is_never_refused_again() -> None:
    buckets = LocalBuckets()
    now_us = 10**15
    policies = (Policy(7, 3), Policy(0.7, 2))
    for turn in range(2_000):
        answer = buckets.take(("a", "k"), policies, turn % 3 + 1, 1, now_us)
        if not answer.allowed:
            now_us += int(limit_headers(answer)["Retry-After"]) * 1_000_000
            assert buckets.take(("a", "k"), policies, turn % 3 + 1, 1, now_us).allowed
