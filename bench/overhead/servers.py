"""Which server runs the service, in turn in one run: uvicorn with our bounds, with one worker and with two, uvicorn as
it comes, or granian.

    pip install granian && python -m bench.overhead.servers --keep

Only ours bounds what a stranger can make it hold (decision 0015); the others show what these bounds cost.
granian is not a dependency of the project. Install it only for this benchmark.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.common import write_result
from bench.overhead.client import LoadGenerator, Plan
from bench.overhead.measure import CLIENT, SEARCH, Bench, Cell, Sample, kind_of
from bench.overhead.processes import CpuMeter, engine_pids
from bench.overhead.regression import DOMAINS, draw_requests
from bench.overhead.world import SERVE, build, serving
from testing.progress import say

APP = "siteglass.app:from_environment"
COMMANDS = {
    "siteglass serve": SERVE,
    "siteglass serve, 2 workers": (*SERVE, "--workers", "2"),
    "uvicorn": ("uvicorn", "--factory", APP, "--http", "httptools", "--loop", "uvloop", "--no-access-log"),
    "granian": ("granian", "--factory", APP, "--interface", "asgi", "--loop", "uvloop", "--workers", "1"),
}
CELLS = (*(Cell(SEARCH, connections) for connections in (1, 8, 32)), Cell(kind_of(DOMAINS), 8))


async def measure(leads: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Medians by cell and server."""
    sides = tuple(COMMANDS)
    samples: list[Sample] = []
    async with contextlib.AsyncExitStack() as stack:
        world = await stack.enter_async_context(build(leads))
        services = {
            side: await stack.enter_async_context(serving(world.settings, command))
            for side, command in COMMANDS.items()
        }
        requests = await draw_requests(world, services[sides[0]].address)
        addresses = {side: service.address for side, service in services.items()}
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        load = stack.enter_context(LoadGenerator(Plan(addresses, dict.fromkeys(sides, requests)), folder / "plan"))
        pids = {side: service.pid for side, service in services.items()}
        meter = CpuMeter({**engine_pids(world.settings), **pids, CLIENT: load.pid})
        bench = Bench(load, meter, {kind: len(units) for kind, units in requests.items()})
        bench.warm_up(CELLS, sides)
        work = {cell: bench.work(cell, sides, seconds) for cell in CELLS}
        for number in range(rounds):
            for cell in CELLS:
                first = number % len(sides)
                for side in sides[first:] + sides[:first]:
                    samples.append(bench.sample(cell, side, number, work[cell]))
                    say(f"round {number + 1} of {rounds}, {cell}, {side}: {samples[-1].per_second}/s")
    return {"leads": leads, "rounds": rounds, "figures": _medians(samples)}


def _medians(samples: list[Sample]) -> dict[str, dict[str, dict[str, float]]]:
    grouped: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for one in samples:
        grouped[str(Cell(one.kind, one.connections))][one.side].append(one)
    return {
        cell: {
            side: {
                "per_second": statistics.median(one.per_second for one in some),
                "p50_ms": statistics.median(one.p50_ms for one in some),
                "p99_ms": statistics.median(one.p99_ms for one in some),
                "service_cpu_ms": statistics.median(one.cpu_ms_each["service"] for one in some),
            }
            for side, some in by_side.items()
        }
        for cell, by_side in grouped.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.servers", description=__doc__)
    parser.add_argument("--leads", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each figure of each server")
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(measure(asked.leads, asked.rounds, asked.seconds))
    size = f"--leads {asked.leads} --rounds {asked.rounds} --seconds {asked.seconds:g}"
    write_result("servers", figures, f"python -m bench.overhead.servers {size} --keep", keep=asked.keep)


if __name__ == "__main__":
    main()
