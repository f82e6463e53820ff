"""The buckets of one worker: its share of the policy while Redis is unavailable, and the last levels that Redis
returned.

A bucket's time ahead means the same in a share as in the whole. A share is `workers` times slower, and its burst is
smaller by the same factor. So it is copied unchanged: from Redis when an outage begins, and back to it when the outage
ends.
"""

from __future__ import annotations

from collections import OrderedDict

from siteglass.access.limits.gcra import Policy, Verdict, level, terms, wait_us

# Some 20 MB at most. Only buckets that were used last long ago, and so are full, are forgotten for others.
MAX_BUCKETS = 65_536


class LocalBuckets:
    """Buckets by name, on this worker's own clock; the least recently used is forgotten first."""

    def __init__(self, max_buckets: int = MAX_BUCKETS) -> None:
        self._max_buckets = max_buckets
        # Next free moment; the number of outages when Redis last confirmed it, or -1: this worker moved it since.
        self._buckets: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._outages = 0

    def __len__(self) -> int:
        return len(self._buckets)

    def _put(self, name: str, free_at_us: int, confirmed: int) -> None:
        self._buckets[name] = (free_at_us, confirmed)
        self._buckets.move_to_end(name)
        if len(self._buckets) > self._max_buckets:
            self._buckets.popitem(last=False)

    def _ahead_us(self, name: str, policy: Policy, workers: int, now_us: int) -> int:
        free_at_us, _ = self._buckets.get(name, (now_us, -1))
        # Never more than a share can owe: a plan that shrank must not lock its account out.
        return min(max(free_at_us - now_us, 0), policy.capacity_us * workers)

    def outage_began(self) -> None:
        """From now on Redis may have forgotten what it said."""
        self._outages += 1

    def learn(self, name: str, ahead_us: int, now_us: int) -> None:
        """Redis said how far ahead this bucket is."""
        self._put(name, now_us + ahead_us, self._outages)

    def carried_us(self, name: str, now_us: int) -> int:
        """How far ahead Redis must at least put the bucket, if it may not know; else 0."""
        free_at_us, confirmed = self._buckets.get(name, (now_us, self._outages))
        return 0 if confirmed == self._outages else max(free_at_us - now_us, 0)

    def take(
        self, names: tuple[str, str], policies: tuple[Policy, Policy], cost: int, workers: int, now_us: int
    ) -> Verdict:
        """Take from this worker's share of both buckets, or from neither."""
        buckets = [terms(policy, cost, workers) for policy in policies]
        aheads = [self._ahead_us(*pair, workers, now_us) for pair in zip(names, policies, strict=True)]
        waits = [wait_us(*pair) for pair in zip(buckets, aheads, strict=True)]
        allowed = max(waits) <= 0
        if allowed:
            aheads = self.count(names, policies, cost, workers, now_us)
        account, key = map(level, policies, buckets, aheads, waits)
        return Verdict(allowed, account, key, local=True)

    def count(
        self, names: tuple[str, str], policies: tuple[Policy, Policy], cost: int, workers: int, now_us: int
    ) -> list[int]:
        """Take it whatever is left; how far ahead both buckets are then."""
        aheads = []
        for name, policy in zip(names, policies, strict=True):
            bucket = terms(policy, cost, workers)
            aheads.append(self._ahead_us(name, policy, workers, now_us) + bucket.cost * bucket.interval_us)
            self._put(name, now_us + aheads[-1], confirmed=-1)
        return aheads
