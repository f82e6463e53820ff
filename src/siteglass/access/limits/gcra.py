"""The arithmetic of the limit, pure and in whole microseconds: what a policy allows, and what is said about it.

GCRA keeps one number per bucket: how far its next free moment is ahead of now (`ahead_us`). Every unit taken moves it
one interval further; a bucket that is `burst` intervals ahead is empty. A cost counts as at most the burst. So a
request that costs more waits for a full bucket and takes all of it, instead of being refused forever.

An example: 10 units per second with a burst of 20. The interval is 100 ms, and a full bucket is 0 ms ahead. After 12
units it is 1,200 ms ahead, with 8 units left. After 20 units it is 2,000 ms ahead: empty. The next request has to wait
2,000 ms + (1 - 20) * 100 ms = 100 ms, until one unit is restored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

SECOND_US = 1_000_000
# Redis computes in doubles, exact below 2**53: the time of day in microseconds and this still fit.
MAX_CAPACITY_US = 10**15


@dataclass(frozen=True, slots=True)
class Policy:
    """So many units a second, and so many at once after a pause."""

    rate_per_s: float
    burst: int
    # Rounded up, so that rounding never admits more than the rate.
    interval_us: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.rate_per_s <= SECOND_US or self.burst < 1:
            raise ValueError(f"a policy needs a rate above 0 and a burst of at least 1, found {self}")
        object.__setattr__(self, "interval_us", int(-(-SECOND_US // self.rate_per_s)))
        if self.capacity_us > MAX_CAPACITY_US:
            raise ValueError(f"a bucket that takes more than 30 years to refill: {self}")

    @property
    def capacity_us(self) -> int:
        """How long an empty bucket takes to be full again."""
        return self.interval_us * self.burst


class Terms(NamedTuple):
    """What one request means for one bucket: it needs min(cost, burst) units to be there, and takes `cost`."""

    interval_us: int
    burst: int
    cost: int


def terms(policy: Policy, cost: int, workers: int = 1) -> Terms:
    """The terms of a policy, or of one worker's share of it.

    A share has its burst divided too, rounded up. A cost above the share's burst is still taken in full, as a debt:
    the share then lies further ahead than its burst, and the rate holds.
    """
    return Terms(policy.interval_us * workers, -(-policy.burst // workers), min(cost, policy.burst))


def wait_us(bucket: Terms, ahead_us: int) -> int:
    """How long until the bucket allows the request; 0 or less: now."""
    return ahead_us + (min(bucket.cost, bucket.burst) - bucket.burst) * bucket.interval_us


@dataclass(frozen=True, slots=True)
class Level:
    """A bucket after a decision: units left, and microseconds until it allows, has one unit more, is full."""

    policy: Policy
    remaining: int
    wait_us: int
    next_us: int
    reset_us: int


def level(policy: Policy, bucket: Terms, ahead_us: int, wait: int) -> Level:
    """The level of a bucket that is this far ahead after the decision; `wait` is from before it."""
    free_us = bucket.interval_us * bucket.burst - ahead_us
    remaining = max(free_us // bucket.interval_us, 0)
    next_us = (remaining + 1) * bucket.interval_us - free_us if ahead_us else 0
    return Level(policy, remaining, max(wait, 0), next_us, ahead_us)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the request is allowed, and the levels of account and key after it. If it was refused, nothing was taken
    from either."""

    allowed: bool
    account: Level
    key: Level
    # Decided by this worker alone, because Redis is unavailable.
    local: bool

    @property
    def binding(self) -> Level:
        """The level that refuses, or would refuse first."""
        return min(self.account, self.key, key=lambda at: (-at.wait_us, at.remaining))

    @property
    def policy(self) -> Policy:
        """The policy that refuses, or would refuse first."""
        return self.binding.policy

    @property
    def remaining(self) -> int:
        """Units left for this key."""
        return min(self.account.remaining, self.key.remaining)

    @property
    def retry_after_s(self) -> float:
        """Seconds until the same request would be allowed if nothing else came; 0 if it was."""
        return max(self.account.wait_us, self.key.wait_us) / SECOND_US

    @property
    def reset_s(self) -> float:
        """Seconds until both are full again."""
        return max(self.account.reset_us, self.key.reset_us) / SECOND_US
