"""Rounds in which both sides do the same work in turn, and what each process spent on it."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bench.common import SEED
from bench.overhead.client import Driven, LoadGenerator, Order, Plan
from bench.overhead.mix import Mix
from bench.overhead.processes import CpuMeter, engine_pids
from bench.overhead.recorder import Proxy, Recorded, Recorder
from bench.overhead.relay import relaying
from bench.overhead.wire import Address, Connection
from bench.overhead.world import World, serving
from testing.accounts import owner
from testing.progress import say

Side = Literal["bare", "service", "relay"]
BARE: Side = "bare"
SERVICE: Side = "service"
RELAY: Side = "relay"
SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    searches: int = 5_000
    enrichments: tuple[int, ...] = (1, 10, 100)
    """Domains of an enrichment."""
    enrichments_each: int = 500
    connections: tuple[int, ...] = (1, 8, 32)
    rounds: int = 5
    seconds: float = 5.0
    """How long the service works for one figure; the engine alone does the same work, once or several times over."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of request over so many connections."""

    kind: str
    connections: int

    def __str__(self) -> str:
        return f"{self.kind}, {self.connections} connection(s)"


@dataclass(frozen=True, slots=True)
class Work:
    """So many units, and how often each side does them: the same work, long enough to measure on both."""

    units: int
    times: dict[Side, int]


@dataclass(frozen=True, slots=True)
class Sample:
    """One side's work in one round, per unit: a search or an enrichment."""

    kind: str
    connections: int
    round: int
    side: Side
    units: int
    seconds: float
    per_second: float
    p50_ms: float
    p99_ms: float
    requests_each: float
    bytes_sent_each: float
    bytes_received_each: float
    cpu_ms_each: dict[str, float]
    """By process; `client` is the load generator."""


def _sample(cell: Cell, number: int, side: Side, units: int, driven: Driven, cpu: dict[str, float]) -> Sample:
    return Sample(
        cell.kind,
        cell.connections,
        number,
        side,
        units,
        round(driven.seconds, 3),
        round(units / driven.seconds, 1),
        driven.p50_ms,
        driven.p99_ms,
        round(driven.requests / units, 3),
        round(driven.bytes_sent / units),
        round(driven.bytes_received / units),
        {name: round(seconds * 1e3 / units, 4) for name, seconds in cpu.items()},
    )


def kind_of(domains: int) -> str:
    """What an enrichment of so many domains is called in the results."""
    return f"enrich {domains}"


async def record(world: World, size: Size, measured: Address) -> dict[str, list[Recorded]]:
    """All requests with the engine's part of each, by kind."""
    mix = Mix(world.sample, SEED)
    proxy = Proxy(world.engine)
    async with proxy.listening() as before_engine:
        settings = replace(world.settings, opensearch_urls=(f"http://{before_engine.host}:{before_engine.port}",))
        async with serving(settings) as copy:
            service, engine = await Connection.open(copy.address), await Connection.open(world.engine)
            recorder = Recorder(proxy, service, engine, world.key, measured)
            recorded = {SEARCH: await recorder.searches(mix.searches(), size.searches)}
            for domains in size.enrichments:
                bodies = mix.enrichments(domains)
                recorded[kind_of(domains)] = await recorder.enrichments(bodies, size.enrichments_each)
                say(f"recorded and compared {size.enrichments_each} enrichments of {domains}")
            service.close()
            engine.close()
    return recorded


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything that runs while measuring."""

    load: LoadGenerator
    meter: CpuMeter
    service_pid: int
    relay_pid: int
    recorded: dict[str, list[Recorded]]

    def cells(self, size: Size) -> list[Cell]:
        """Every kind of request at every number of connections."""
        return [Cell(*pair) for pair in itertools.product(self.recorded, size.connections)]

    def warm_up(self, cells: list[Cell]) -> None:
        """All requests once on both sides: code is compiled, caches and connection pools are filled."""
        for kind in self.recorded:
            most = max(cell.connections for cell in cells if cell.kind == kind)
            for side in (BARE, SERVICE):
                self._drive(Cell(kind, most), side, 0, len(self.recorded[kind]))
            say(f"warmed up: {kind}")

    def work(self, cell: Cell, seconds: float) -> Work:
        """What keeps the service busy for about so long, and the engine alone for about as long."""
        tried = max(100, 20 * cell.connections)
        units = max(tried, round(tried / self._drive(cell, SERVICE, 0, tried).seconds * seconds))
        times = max(1, round(seconds / (self._drive(cell, BARE, 0, tried).seconds / tried * units)))
        return Work(units, {SERVICE: 1, BARE: times})

    def sample(self, cell: Cell, side: Side, number: int, work: Work) -> Sample:
        """One side, one round; another part of the requests each time."""
        times = work.times[side]
        self.meter.lap()
        driven = self._drive(cell, side, number * work.units, work.units, times)
        return _sample(cell, number, side, work.units * times, driven, self.meter.lap())

    def _drive(self, cell: Cell, side: Side, first: int, units: int, times: int = 1) -> Driven:
        return self.load.drive(Order(side, cell.kind, cell.connections, first, units, times))


@contextlib.asynccontextmanager
async def bench(world: World, size: Size) -> AsyncIterator[Bench]:
    """The service under test, the relay, the load generator and the meter."""
    async with serving(world.settings) as service:
        recorded = await record(world, size, service.address)
        bare = {kind: [list(one.bare) for one in all_] for kind, all_ in recorded.items()}
        ours = {kind: [[one.service] for one in all_] for kind, all_ in recorded.items()}
        with contextlib.ExitStack() as stack:
            relay, relay_pid = stack.enter_context(
                relaying(world.engine, owner(world.settings.postgres_dsn), world.settings.postgres_schema)
            )
            plan = Plan(
                {BARE: world.engine, SERVICE: service.address, RELAY: relay}, {BARE: bare, SERVICE: ours, RELAY: bare}
            )
            file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "plan"
            load = stack.enter_context(LoadGenerator(plan, file))
            pids = {"service": service.pid, "relay": relay_pid, "client": load.pid}
            yield Bench(load, CpuMeter({**engine_pids(world.settings), **pids}), service.pid, relay_pid, recorded)


async def run(world: World, size: Size) -> dict[str, Any]:
    """All rounds; the raw figures."""
    async with bench(world, size) as running:
        cells = running.cells(size)
        running.warm_up(cells)
        work = {cell: running.work(cell, size.seconds) for cell in cells}
        samples: list[Sample] = []
        for number in range(size.rounds):
            for cell in cells:
                # The sides take turns at going first, so that neither always finds what the other has warmed.
                sides = (BARE, SERVICE) if number % 2 == 0 else (SERVICE, BARE)
                both = {side: running.sample(cell, side, number, work[cell]) for side in sides}
                samples.extend((both[BARE], both[SERVICE]))
                say(f"round {number + 1} of {size.rounds}, {cell}: {_line(both[BARE], both[SERVICE])}")
        return {
            "size": asdict(size),
            "recorded": {kind: _described(found) for kind, found in running.recorded.items()},
            "samples": [asdict(sample) for sample in samples],
        }


def _described(recorded: list[Recorded]) -> dict[str, Any]:
    return {
        "distinct": len(recorded),
        "same_leads": len(recorded),
        "without_leads": sum(not one.leads for one in recorded),
        "leads_each": round(sum(one.leads for one in recorded) / len(recorded), 2),
        "engine_requests_each": round(sum(len(one.bare) for one in recorded) / len(recorded), 3),
    }


def _line(bare: Sample, service: Sample) -> str:
    cpu = service.cpu_ms_each
    ratio = service.per_second / bare.per_second
    return (
        f"{bare.per_second:.0f}/s bare, {service.per_second:.0f}/s service ({ratio:.3f});"
        f" p50 {bare.p50_ms:.2f} and {service.p50_ms:.2f} ms;"
        f" CPU: Python {cpu['service']:.2f}, PostgreSQL {cpu['postgres']:.2f} ms"
    )
