"""A separate Redis that can be stopped, killed, frozen and slowed, and several workers under load while that happens.

Only the process started here is ever touched; the Redis that all tests share is left alone.
"""

from __future__ import annotations

import asyncio
import bisect
import itertools
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from redis.asyncio import Redis

from siteglass.access.limits import Policy, RateLimiter
from siteglass.access.limits.shared import SharedBuckets
from testing.ports import free_port

TIMEOUT_S = 0.05


class OwnRedis:
    """A redis-server process on a free loopback port, with nothing kept on disk."""

    def __init__(self) -> None:
        self.port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="siteglass-redis-"))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self._process = subprocess.Popen(words, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=0.1).close()
                return
            except OSError:
                time.sleep(0.005)
        raise TimeoutError("redis-server did not start")

    def send(self, what: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(what)

    def end(self, what: signal.Signals) -> None:
        """Stop (SIGTERM) or kill (SIGKILL) it, and see it gone."""
        assert self._process is not None
        self._process.send_signal(what)
        self._process.wait(10)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)
        shutil.rmtree(self._folder)


class Proxy:
    """Between the workers and Redis; can delay every byte that comes back."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self.delay_s = 0.0
        self.port = 0
        self._pumps: set[asyncio.Task[None]] = set()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, late: bool) -> None:
        try:
            while data := await reader.read(65_536):
                if late and self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(data)
        except OSError:
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._behind)
        for pump in (self._pump(reader, back, late=False), self._pump(there, writer, late=True)):
            task = asyncio.create_task(pump)
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for pump in list(self._pumps):
                pump.cancel()
            await asyncio.gather(*self._pumps, return_exceptions=True)


@dataclass
class Sample:
    """One request: when it began, how long it took, whether it was admitted."""

    began_s: float
    took_s: float
    allowed: bool


@dataclass
class Load:
    """Requests of one account at a fixed pace over all workers, one after the other, however long each takes."""

    limiters: list[RateLimiter]
    policy: Policy
    pace_per_s: int
    samples: list[Sample] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    # When the pace was kept late, and how late: then this process had no time, and Redis is not to blame.
    lateness: list[tuple[float, float]] = field(default_factory=list)

    async def _one(self, limiter: RateLimiter) -> None:
        began = time.monotonic()
        try:
            verdict = await limiter.take("acme", "key-1", self.policy, self.policy)
        except Exception as error:
            self.errors.append(error)
            return
        self.samples.append(Sample(began, time.monotonic() - began, verdict.allowed))

    async def _run(self) -> None:
        workers = itertools.cycle(self.limiters)
        due = time.monotonic()
        async with asyncio.TaskGroup() as group:
            while True:
                now = time.monotonic()
                self.lateness.append((now, now - due))
                group.create_task(self._one(next(workers)))
                due = max(due + 1 / self.pace_per_s, now)
                await asyncio.sleep(due - now)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        task = asyncio.create_task(self._run())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def between(self, start_s: float, end_s: float) -> list[Sample]:
        return [sample for sample in self.samples if start_s <= sample.began_s < end_s]

    def waits_ms(self, start_s: float, end_s: float) -> list[float]:
        """How long requests took, less what this process was late meanwhile."""
        waits = []
        for sample in self.between(start_s, end_s):
            first = bisect.bisect_right(self.lateness, (sample.began_s, float("inf")))
            last = bisect.bisect_right(self.lateness, (sample.began_s + sample.took_s, float("inf")))
            late = max((late for _, late in self.lateness[first : last + 1]), default=0)
            waits.append(max(sample.took_s - late, 0) * 1e3)
        return waits


@dataclass
class Outage:
    """What a fault did. Waits are in milliseconds, and net of what the measuring process itself was late."""

    fault: str
    workers: int
    seconds: float
    requests: int
    errors: int
    before_p99_ms: float
    first_max_ms: float
    then_p99_ms: float
    then_max_ms: float
    after_p99_ms: float
    admitted: int
    admitted_most: float
    admitted_least: float
    back_ms: float

    def broken(self) -> list[str]:
        """The promises that did not hold."""
        promises = {
            "no error": self.errors == 0,
            "at most 60 ms in the first 200 ms": self.first_max_ms <= 60,
            "p99 at most 5 ms after it": self.then_p99_ms <= 5,
            "not open": self.admitted <= self.admitted_most,
            "not closed": self.admitted >= self.admitted_least,
            "back within a second": self.back_ms <= 1_000,
        }
        return [f"{name}: {asdict(self)}" for name, held in promises.items() if not held]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


Act = Callable[[OwnRedis, Proxy], Awaitable[None]]


async def _nothing(redis: OwnRedis, proxy: Proxy) -> None:
    """Some faults heal by themselves when their time is over."""


def _signal(what: signal.Signals) -> Act:
    async def act(redis: OwnRedis, proxy: Proxy) -> None:
        redis.send(what)

    return act


def _end(what: signal.Signals) -> Act:
    async def act(redis: OwnRedis, proxy: Proxy) -> None:
        await asyncio.to_thread(redis.end, what)

    return act


async def _start(redis: OwnRedis, proxy: Proxy) -> None:
    await asyncio.to_thread(redis.start)


def _delay(seconds: float) -> Act:
    async def act(redis: OwnRedis, proxy: Proxy) -> None:
        proxy.delay_s = seconds

    return act


def _command(*words: str | int) -> Act:
    async def act(redis: OwnRedis, proxy: Proxy) -> None:
        async with Redis(port=redis.port) as client:
            await client.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py has no types for it

    return act


OUTAGE_S = 1.5
# Fault, what begins it, what ends it. A slow Redis: all answers late, beyond the time limit or below it.
FAULTS: dict[str, tuple[Act, Act]] = {
    "stopped": (_end(signal.SIGTERM), _start),
    "killed": (_end(signal.SIGKILL), _start),
    "frozen": (_signal(signal.SIGSTOP), _signal(signal.SIGCONT)),
    "paused": (_command("CLIENT", "PAUSE", int(OUTAGE_S * 1000), "ALL"), _nothing),
    "slow_2000_ms": (_delay(2.0), _delay(0)),
    "slow_20_ms": (_delay(0.02), _delay(0)),
}


def open_worker(port: int, name: str, timeout_s: float = TIMEOUT_S) -> RateLimiter:
    shared = SharedBuckets.open(f"redis://127.0.0.1:{port}/0", "outage", name, timeout_s)
    return RateLimiter(shared, timeout_s=timeout_s)


async def until(holds: Callable[[], bool], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  # seen from outside, as an operator would: nobody sets an event
            await asyncio.sleep(0.005)


async def outage(fault: str, policy: Policy, workers: int = 3, pace_per_s: int = 300) -> Outage:
    """Load, fault, load, healing, load: the figures from the fault to one second after Redis is back in use."""
    begin, end = FAULTS[fault]
    with OwnRedis() as redis:
        async with Proxy(redis.port).running() as proxy:
            # The proxy takes part of this process's time, and hides how a real port refuses: only where it is needed.
            port = proxy.port if fault.startswith("slow") else redis.port
            limiters = [open_worker(port, f"worker-{number}") for number in range(workers)]
            for limiter in limiters:
                limiter.start()
            try:
                async with Load(limiters, policy, pace_per_s).running() as load:
                    await asyncio.sleep(0.6)
                    await until(lambda: all(each.on_redis and each.workers == workers for each in limiters), 5)
                    started = time.monotonic()
                    await begin(redis, proxy)
                    await asyncio.sleep(OUTAGE_S - (time.monotonic() - started))
                    assert not any(limiter.on_redis for limiter in limiters)
                    await end(redis, proxy)
                    healed = time.monotonic()
                    await until(lambda: all(limiter.on_redis for limiter in limiters), 5)
                    back = time.monotonic()
                    await asyncio.sleep(0.5)
                    finished = time.monotonic()
            finally:
                for limiter in limiters:
                    await limiter.close()
    during = load.between(started, finished)
    then_ms = load.waits_ms(started + 0.2, back)
    seconds = finished - started
    return Outage(
        fault=fault,
        workers=workers,
        seconds=round(seconds, 3),
        requests=len(during),
        errors=len(load.errors),
        before_p99_ms=round(percentile(load.waits_ms(started - 0.5, started), 0.99), 2),
        first_max_ms=round(max(load.waits_ms(started, started + 0.2)), 2),
        then_p99_ms=round(percentile(then_ms, 0.99), 2),
        then_max_ms=round(max(then_ms), 2),
        after_p99_ms=round(percentile(load.waits_ms(back, finished), 0.99), 2),
        admitted=sum(sample.allowed for sample in during),
        admitted_most=1.1 * policy.rate_per_s * seconds + policy.burst * workers,
        admitted_least=0.8 * policy.rate_per_s * (seconds - 0.2),
        back_ms=round((back - healed) * 1e3, 1),
    )
