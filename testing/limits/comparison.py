"""Runs traces through the buckets of a worker or through Redis, and says how many answers differ from the meaning."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass

from siteglass.access.limits.local import LocalBuckets
from siteglass.access.limits.shared import SharedBuckets
from testing.limits.definition import Trace, traces


@dataclass
class Tally:
    """What was compared."""

    traces: int = 0
    requests: int = 0
    admitted: int = 0
    different: int = 0

    def count(self, allowed: bool, same: bool) -> None:
        self.requests += 1
        self.admitted += allowed
        self.different += not same


def compare_local(first_seed: int, count: int) -> Tally:
    """Pure: whole policies and shares of them."""
    tally = Tally()
    for trace in traces(first_seed, count):
        tally.traces += 1
        meanings, buckets = trace.meanings(), LocalBuckets()
        for now, key, cost in trace.arrivals:
            policies = (trace.account, trace.keys[key])
            verdict = buckets.take(("a", str(key)), policies, cost, trace.workers, now)
            expected = meanings.take(key, cost, now)
            tally.count(verdict.allowed, (verdict.allowed, verdict.account, verdict.key) == expected)
    return tally


async def _compare_shared(shared: SharedBuckets, trace: Trace, tally: Tally) -> None:
    tally.traces += 1
    meanings, name = trace.meanings(), uuid.uuid4().hex
    for now, key, cost in trace.arrivals:
        policies = (trace.account, trace.keys[key])
        verdict, aheads = await shared.take((f"a{name}", f"k{name}{key}"), policies, cost, now_us=now)
        allowed, account, own = meanings.take(key, cost, now)
        same = (verdict.allowed, verdict.account, verdict.key, aheads) == (
            allowed,
            account,
            own,
            (account.reset_us, own.reset_us),
        )
        tally.count(verdict.allowed, same)


async def compare_shared(url: str, prefix: str, first_seed: int, count: int) -> Tally:
    """Through Redis, with the trace's own time; the traces run side by side."""
    shared = SharedBuckets.open(url, prefix, "comparing", timeout_s=10)
    tally = Tally()
    waiting = traces(first_seed, count, workers=1)

    async def lane() -> None:
        for trace in waiting:
            await _compare_shared(shared, trace, tally)

    try:
        await asyncio.gather(*(lane() for _ in range(16)))
    finally:
        await shared.close()
    return tally
