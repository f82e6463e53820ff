"""The size that CI runs: the CPU that the service adds to a request, against the committed figure.

    python -m bench.overhead.regression --keep

Machines differ, and so does their other work. So what counts is not milliseconds but units of work: the CPU time of a
request is divided by that of `yardstick`, measured before and after it. PostgreSQL's part is that of the backends which
serve the service, without what it does for others. Only eight connections are compared. Over one connection, all
processes sleep and wake at each step: that costs 20 % more or less, depending on what else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.common import RESULTS, SEED, stamped
from bench.overhead import yardstick
from bench.overhead.client import LoadGenerator, Plan
from bench.overhead.measure import CLIENT, NEW, SEARCH, Bench, Cell, Work, kind_of
from bench.overhead.mix import Mix
from bench.overhead.processes import BackendMeter, CpuMeter, engine_pids
from bench.overhead.recorder import ENRICH_PATH, Caller
from bench.overhead.wire import Address, Connection
from bench.overhead.world import World, build, serving
from testing.accounts import owner
from testing.progress import say

LEADS = 20_000
ROUNDS = 8
REQUESTS = 250
DOMAINS = 10
# Every round does all requests of a kind, so that no run is lucky with those it gets.
CELLS = (Cell(SEARCH, 8), Cell(kind_of(DOMAINS), 8))
WORK = Work(REQUESTS, {NEW: 1})
PROCESSES = ("Python", "PostgreSQL")
REFERENCE = RESULTS / "overhead_ci.json"
MOST_TIMES_THE_REFERENCE = 1.3


async def measure() -> dict[str, Any]:
    """Units of work per request for each cell and process, and the raw figures of the rounds."""
    rounds: list[dict[str, Any]] = []
    async with build(LEADS) as world, serving(world.settings) as service:
        requests = await draw_requests(world, service.address)
        dsn, schema = owner(world.settings.postgres_dsn), world.settings.postgres_schema
        plan = Plan({NEW: service.address}, {NEW: requests})
        with tempfile.TemporaryDirectory() as folder, LoadGenerator(plan, Path(folder) / "plan") as load:
            meter = CpuMeter({**engine_pids(world.settings), NEW: service.pid, CLIENT: load.pid})
            bench = Bench(load, meter, {kind: len(units) for kind, units in requests.items()})
            bench.warm_up(CELLS, (NEW,))
            backends = BackendMeter(world.settings, service.pid)
            async with yardstick.postgres_ms(dsn, schema) as postgres_ms:

                async def unit_ms() -> dict[str, float]:
                    return {"Python": yardstick.python_ms(), "PostgreSQL": await postgres_ms()}

                before = await unit_ms()
                for number, cell in itertools.product(range(ROUNDS), CELLS):
                    backends.lap()
                    sample = bench.sample(cell, NEW, 0, WORK)
                    charging_ms = round(backends.lap() * 1e3 / sample.units, 4)
                    spent = {"Python": sample.cpu_ms_each["service"], "PostgreSQL": charging_ms}
                    after = await unit_ms()
                    unit = {name: round((before[name] + after[name]) / 2, 4) for name in PROCESSES}
                    before = after
                    rounds.append({"cell": str(cell), "unit_ms": unit, "cpu_ms": spent})
                    say(f"round {number + 1} of {ROUNDS}, {cell}: {spent} ms; a unit: {unit} ms")
    return {"units": _units(rounds), "rounds": rounds}


async def draw_requests(world: World, address: Address) -> dict[str, list[list[bytes]]]:
    """The requests by kind, each a unit."""
    mix = Mix(world.sample, SEED)
    connection = await Connection.open(address)
    caller = Caller(connection, address, world.key)
    searches: list[list[bytes]] = []
    for search in mix.searches():
        place = await caller.before(search)
        if place is not None:
            searches.append([caller.request(*place)])
        if len(searches) == REQUESTS:
            break
    await connection.close()
    bodies = itertools.islice(mix.enrichments(DOMAINS), REQUESTS)
    return {SEARCH: searches, kind_of(DOMAINS): [[caller.request(ENRICH_PATH, body)] for body in bodies]}


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
