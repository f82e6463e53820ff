"""What a policy means, straight from its definition, and random arrivals to try it with.

A request conforms if this is true for every request admitted before it: The sum of what was taken since then and what
it needs now is at most the burst plus what came back in the meantime. No bucket, no moving time: quadratic, exact, in
whole numbers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from siteglass.access.limits import Level, Policy


@dataclass
class Meaning:
    """All that was admitted under one policy, or one worker's share of it."""

    policy: Policy
    workers: int = 1
    taken: list[tuple[int, int]] = field(default_factory=list)

    @property
    def interval_us(self) -> int:
        return self.policy.interval_us * self.workers

    @property
    def burst(self) -> int:
        return (self.policy.burst + self.workers - 1) // self.workers

    def owed_us(self, now_us: int) -> int:
        """The most, over all moments of the past, of what was taken since and has not come back, as time."""
        most = total = 0
        for then_us, cost in reversed(self.taken):
            total += cost
            most = max(most, total * self.interval_us - (now_us - then_us))
        return most

    def wait_us(self, cost: int, now_us: int) -> int:
        need = min(cost, self.burst)
        return max(self.owed_us(now_us) + need * self.interval_us - self.burst * self.interval_us, 0)

    def take(self, cost: int, now_us: int) -> None:
        self.taken.append((now_us, min(cost, self.policy.burst)))

    def level(self, wait_us: int, now_us: int) -> Level:
        owed = self.owed_us(now_us)
        remaining = max(self.burst - -(-owed // self.interval_us), 0)
        next_us = owed - (self.burst - remaining - 1) * self.interval_us if owed else 0
        return Level(self.policy, remaining, wait_us, next_us, owed)


@dataclass
class Meanings:
    """An account and its keys: a request is admitted by both or taken from neither."""

    account: Meaning
    keys: list[Meaning]

    def take(self, key: int, cost: int, now_us: int) -> tuple[bool, Level, Level]:
        both = (self.account, self.keys[key])
        waits = [one.wait_us(cost, now_us) for one in both]
        if allowed := not any(waits):
            for one in both:
                one.take(cost, now_us)
        account, own = (one.level(wait, now_us) for one, wait in zip(both, waits, strict=True))
        return allowed, account, own


@dataclass(frozen=True)
class Trace:
    """Requests of one account: time, key, cost."""

    account: Policy
    keys: tuple[Policy, ...]
    workers: int
    arrivals: tuple[tuple[int, int, int], ...]

    def meanings(self) -> Meanings:
        return Meanings(Meaning(self.account, self.workers), [Meaning(key, self.workers) for key in self.keys])


RATES = (10, 1_000, 3, 7, 0.5, 1 / 3, 250_000, 999_983, 1_000_000, 33.3)


def _policy(random: random.Random) -> Policy:
    rate = random.choice(RATES) if random.random() < 0.7 else random.uniform(0.01, 2_000)
    return Policy(rate, random.choice((1, 1, 2, 3, 5, 20)))


def trace(seed: int, workers: int | None = None) -> Trace:
    """A random trace; gaps are zero, tiny, around whole intervals (where off-by-ones live), or long."""
    draw = random.Random(seed)
    account = _policy(draw)
    keys = tuple(_policy(draw) if draw.random() < 0.6 else account for _ in range(draw.randint(1, 2)))
    shares = draw.choice((1, 1, 2, 3, 8)) if workers is None else workers
    now = 1_790_000_000_000_000 + draw.randrange(10**12)
    arrivals = []
    for _ in range(draw.randint(4, 20)):
        pace = draw.choice((account, *keys)).interval_us
        kind = draw.random()
        if kind > 0.85:
            now += draw.randrange(pace * 25 + 1)
        elif kind > 0.5:
            now += max(pace * draw.randint(0, 3) + draw.randint(-1, 1), 0)
        elif kind > 0.3:
            now += draw.randrange(pace + 1)
        cost = 1 if draw.random() < 0.7 else draw.randint(1, account.burst + 2)
        arrivals.append((now, draw.randrange(len(keys)), cost))
    return Trace(account, keys, shares, tuple(arrivals))


def traces(first_seed: int, count: int, workers: int | None = None) -> Iterator[Trace]:
    return (trace(seed, workers) for seed in range(first_seed, first_seed + count))
