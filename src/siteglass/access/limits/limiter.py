"""The limit as the edge uses it: in Redis while it answers fast, else in this worker. Never open, never closed.

The first failure switches all requests to the local buckets. From then on only a background task, the watch, checks
Redis, five times a second. It switches all requests back when Redis answers fast again.
"""

from __future__ import annotations

import asyncio
import logging
import time

from siteglass.access.limits.gcra import Policy, Verdict
from siteglass.access.limits.local import LocalBuckets
from siteglass.access.limits.shared import WORKER_SEEN_US, SharedBuckets
from siteglass.platform.metrics import LIMITS_LOCAL

log = logging.getLogger("siteglass.access.limits")

WATCH_S = 0.2
# Slower responses than this are not worth waiting for. After three of them, over at least a tenth of a second, the
# limiter stops using Redis. Four fast responses make up for a slow one.
SLOW_US = 5_000
SLOW_WEIGHT = 4
SLOW_LIMIT = 3 * SLOW_WEIGHT
SLOW_LEAST_US = 100_000


def clock_us() -> int:
    """This worker's clock."""
    return time.monotonic_ns() // 1_000


def idle_us() -> int:
    """A clock that stops while this thread computes: a response that is late for that reason is not the fault of
    Redis."""
    return (time.monotonic_ns() - time.thread_time_ns()) // 1_000


class RateLimiter:
    """One per worker. `start` it when the worker starts: other workers count it by its heartbeat."""

    def __init__(self, shared: SharedBuckets, *, timeout_s: float, workers: int = 1) -> None:
        self._shared = shared
        self._local = LocalBuckets()
        self._timeout_s = timeout_s
        self._watch: asyncio.Task[None] | None = None
        self._on_redis = True
        self._closing = False
        self._since_us = clock_us()
        # Until Redis says otherwise: those that the settings start on this machine.
        self._workers = workers
        self._slowness = 0
        self._slow_since_us = 0

    @property
    def on_redis(self) -> bool:
        """Whether requests are decided in Redis."""
        return self._on_redis

    @property
    def workers(self) -> int:
        """How many workers share the policy without Redis."""
        return self._workers

    def start(self) -> None:
        """Start the watch; the first request does it too."""
        if self._watch is None:
            self._watch = asyncio.create_task(self._keep_watch())

    async def close(self) -> None:
        """Stop the watch and end the connection."""
        # The watch catches whatever happens to it: the flag ends it, should a cancellation be among that.
        self._closing = True
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        await self._shared.close()

    async def take(self, account: str, key: str, account_policy: Policy, key_policy: Policy, cost: int = 1) -> Verdict:
        """Take `cost` units from account and key, or nothing from either; never raises, whatever Redis does.

        `key` is the key's public id, never its secret.
        """
        if cost < 1:
            raise ValueError(f"a cost must be at least 1, found {cost}")
        self.start()
        names = (f"account:{account}", f"key:{key}")
        policies = (account_policy, key_policy)
        if self._on_redis:
            try:
                return await self._take_shared(names, policies, cost)
            except Exception as error:  # whatever it is: the limit must neither fall nor fail the request
                self._leave_redis(type(error).__name__)
        return self._local.take(names, policies, cost, self._workers, clock_us())

    async def _take_shared(self, names: tuple[str, str], policies: tuple[Policy, Policy], cost: int) -> Verdict:
        now = clock_us()
        carried = (self._local.carried_us(names[0], now), self._local.carried_us(names[1], now))
        started = idle_us()
        # One deadline for all of it: waiting for a connection, making one, sending, reading.
        async with asyncio.timeout(self._timeout_s):
            answer = await self._shared.take(names, policies, cost, carried)
        if self._on_redis:
            now = clock_us()
            for name, ahead in zip(names, answer.aheads_us, strict=True):
                self._local.learn(name, ahead, now)
            self._note_speed(idle_us() - started)
        elif answer.verdict.allowed:
            # An outage began meanwhile, so the local buckets know more than this answer. They lack what it took.
            self._local.count(names, policies, cost, self._workers, clock_us())
        return answer.verdict

    def _note_speed(self, took_us: int) -> None:
        if took_us <= SLOW_US:
            self._slowness = max(self._slowness - 1, 0)
            return
        now = clock_us()
        if not self._slowness:
            self._slow_since_us = now
        self._slowness = min(self._slowness + SLOW_WEIGHT, SLOW_LIMIT)
        if self._slowness == SLOW_LIMIT and now - self._slow_since_us >= SLOW_LEAST_US:
            self._leave_redis("slow")

    def _leave_redis(self, reason: str) -> None:
        if self._on_redis:
            self._on_redis = False
            LIMITS_LOCAL.set(1)
            self._local.outage_began()
            log.warning("limiting without redis", extra={"reason": reason, "workers": self._workers})

    def _return_to_redis(self) -> None:
        self._on_redis = True
        LIMITS_LOCAL.set(0)
        self._slowness = 0
        self._since_us = clock_us()
        log.warning("limiting with redis again", extra={"workers": self._workers})

    def _note_workers(self, seen: int) -> None:
        # A Redis that came back empty hears of the workers one by one: fewer are believed only after a while.
        if seen >= self._workers or clock_us() - self._since_us > WORKER_SEEN_US:
            self._workers = max(seen, 1)

    async def _keep_watch(self) -> None:
        while not self._closing:
            started = idle_us()
            try:
                async with asyncio.timeout(self._timeout_s):
                    seen = await self._shared.beat()
                took = idle_us() - started
                self._note_workers(seen)
                if self._on_redis:
                    self._note_speed(took)
                elif took <= SLOW_US:
                    self._return_to_redis()
            except Exception as error:  # the watch outlives every kind of failure
                self._leave_redis(type(error).__name__)
            await asyncio.sleep(WATCH_S)
