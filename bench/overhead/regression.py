"""The size that CI runs: the CPU that the service adds to a request, against the committed figure.

    python -m bench.overhead.regression --keep

Machines differ, and so does their other work. So what counts is not milliseconds but units of work. A unit is the CPU
time of passing the same searches through `relay` in the same round. The CPU time of a request is divided by it.
PostgreSQL's part is that of the backends which serve the service, without what it does for others. Only eight
connections are compared. Over one connection, all processes sleep and wake at each step: that costs 20 % more or less,
depending on what else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.common import RESULTS, stamped
from bench.overhead.measure import RELAY, SEARCH, SERVICE, Cell, Side, Size, Work, bench, kind_of
from bench.overhead.processes import BackendMeter
from bench.overhead.world import build
from testing.progress import say

LEADS = 20_000
ROUNDS = 8
SIZE = Size(searches=250, enrichments=(10,), enrichments_each=250)
# Every round does all requests of a kind, so that no run is lucky with those it gets.
CELLS = (Cell(SEARCH, 8), Cell(kind_of(10), 8))
RELAYED = Cell(SEARCH, 8)
PROCESSES = ("Python", "PostgreSQL")
REFERENCE = RESULTS / "overhead_ci.json"
MOST_TIMES_THE_REFERENCE = 1.3


async def measure() -> dict[str, Any]:
    """Units of work per request for each cell and process, and the raw figures of the rounds."""
    rounds: list[dict[str, Any]] = []
    async with build(LEADS) as world, bench(world, SIZE) as running:
        running.warm_up([*CELLS])
        backends = {
            side: BackendMeter(world.settings, pid)
            for side, pid in ((SERVICE, running.service_pid), (RELAY, running.relay_pid))
        }

        def cpu_ms(cell: Cell, side: Side) -> dict[str, float]:
            backends[side].lap()
            sample = running.sample(cell, side, 0, Work(len(running.recorded[cell.kind]), {side: 1}))
            charging_ms = round(backends[side].lap() * 1e3 / sample.units, 4)
            return {"Python": sample.cpu_ms_each[side], "PostgreSQL": charging_ms}

        cpu_ms(RELAYED, RELAY)  # to warm it up
        for number in range(ROUNDS):
            unit = cpu_ms(RELAYED, RELAY)
            for cell in CELLS:
                spent = cpu_ms(cell, SERVICE)
                rounds.append({"cell": str(cell), "unit_ms": unit, "cpu_ms": spent})
                say(f"round {number + 1} of {ROUNDS}, {cell}: {spent} ms; relay: {unit} ms")
    return {"units": _units(rounds), "rounds": rounds}


def _units(rounds: list[dict[str, Any]]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for one in rounds:
        for name in PROCESSES:
            found[f"{one['cell']}: {name}"].append(one["cpu_ms"][name] / one["unit_ms"][name])
    return {name: round(statistics.median(values), 3) for name, values in found.items()}


def times_the_reference(units: dict[str, float]) -> dict[str, float]:
    """Each figure against the committed one."""
    committed: dict[str, float] = json.loads(REFERENCE.read_text())["units"]
    return {name: round(units[name] / figure, 3) for name, figure in committed.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.regression")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--keep", type=Path, nargs="?", const=REFERENCE, metavar="FILE", help="write the result; as the reference"
    )
    asked = parser.parse_args()
    runs = [asyncio.run(measure()) for _ in range(asked.runs)]
    units = {name: round(statistics.median(run["units"][name] for run in runs), 3) for name in runs[0]["units"]}
    text = json.dumps(stamped({"units": units, "runs": runs}, "make reference-overhead"), indent=1)
    print(json.dumps([units, *(run["units"] for run in runs)], indent=1))
    if asked.keep:
        asked.keep.write_text(text + "\n")


if __name__ == "__main__":
    main()
