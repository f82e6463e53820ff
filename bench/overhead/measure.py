"""Rounds in which all sides do the same work in turn, and what each process spent on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.overhead.client import Driven, LoadGenerator, Order
from bench.overhead.processes import CpuMeter
from testing.progress import say

BARE, OLD, NEW = SIDES = ("bare", "old", "new")
SEARCH = "search"
KEYED = ", Idempotency-Key"
"""End of the name of a kind whose requests all have an Idempotency-Key."""
ACCOUNTS_KIND = "search, 16 accounts"
ENGINES = ("postgres", "redis", "opensearch")
CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of request over so many connections."""

    kind: str
    connections: int

    def __str__(self) -> str:
        return f"{self.kind}, {self.connections} connection(s)"


@dataclass(frozen=True, slots=True)
class Work:
    """So many units, and how often each side does them: the same work, long enough to measure on every side."""

    units: int
    times: dict[str, int]


@dataclass(frozen=True, slots=True)
class Sample:
    """One side's work in one round, per unit: a search or an enrichment."""

    kind: str
    connections: int
    round: int
    side: str
    units: int
    seconds: float
    per_second: float
    p50_ms: float
    p99_ms: float
    requests_each: float
    bytes_sent_each: float
    bytes_received_each: float
    cpu_ms_each: dict[str, float]
    """By process. `service` is that of the side; `client` is the load generator; `all` is the sum."""


def kind_of(domains: int) -> str:
    """What an enrichment of so many domains is called in the results."""
    return f"enrich {domains}"


@dataclass(frozen=True, slots=True)
class Bench:
    """What runs while measuring."""

    load: LoadGenerator
    meter: CpuMeter
    """Of the engines, the load generator, and the services by their sides."""
    units: dict[str, int]
    """How many different units there are of a kind."""

    def warm_up(self, cells: Iterable[Cell], sides: Iterable[str], at_least: int = 0) -> None:
        """All requests on all sides, and so many of each kind: code is compiled, caches and connection pools are
        filled. With an Idempotency-Key, requests mean the same to the engine, so once is enough."""
        most: dict[str, int] = {}
        for cell in cells:
            most[cell.kind] = max(cell.connections, most.get(cell.kind, 0))
        for kind, connections in most.items():
            times = 1 if kind.endswith(KEYED) else max(1, at_least // self.units[kind])
            for side in sides:
                self._drive(Cell(kind, connections), side, 0, self.units[kind], times)
            say(f"warmed up: {kind}")

    def work(self, cell: Cell, sides: Sequence[str], seconds: float) -> Work:
        """What keeps the slowest side busy for about so long; the others do it as often as takes them as long."""
        tried = max(100, 20 * cell.connections)
        each_s = {side: self._drive(cell, side, 0, tried).seconds / tried for side in sides}
        units = max(tried, round(seconds / max(each_s.values())))
        return Work(units, {side: max(1, round(seconds / (each_s[side] * units))) for side in sides})

    def sample(self, cell: Cell, side: str, number: int, work: Work) -> Sample:
        """One side, one round; another part of the requests each time."""
        times = work.times[side]
        self.meter.lap()
        driven = self._drive(cell, side, number * work.units, work.units, times)
        spent = self.meter.lap()
        # The service of another side is idle meanwhile; what it does by itself is not this side's.
        spent = {"service": spent.get(side, 0.0), **{name: spent[name] for name in (*ENGINES, CLIENT)}}
        return _sample(cell, number, side, work.units * times, driven, {**spent, "all": sum(spent.values())})

    def _drive(self, cell: Cell, side: str, first: int, units: int, times: int = 1) -> Driven:
        return self.load.drive(Order(side, cell.kind, cell.connections, first, units, times))


def _sample(cell: Cell, number: int, side: str, units: int, driven: Driven, cpu: dict[str, float]) -> Sample:
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
