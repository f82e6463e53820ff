"""This checkout against an older one, and both against bare OpenSearch with the older one's requests, in one run.

    python -m bench.overhead.against --old FOLDER --keep

FOLDER is a checkout of commit 0559360 in which `make setup` was run. Both services load the same leads and answer the
same requests; before anything is timed, they must return the same leads.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.common import stamped
from bench.overhead import checkouts, report
from bench.overhead.client import LoadGenerator, Plan
from bench.overhead.measure import (
    ACCOUNTS_KIND,
    BARE,
    KEYED,
    NEW,
    OLD,
    SEARCH,
    SIDES,
    Bench,
    Cell,
    Sample,
    kind_of,
)
from bench.overhead.mix import Search
from bench.overhead.processes import CpuMeter, engine_pids
from bench.overhead.recorder import Caller, Proxy, Recorded, Recorder
from bench.overhead.wire import Address, Connection, with_idempotency_key
from siteglass.platform.opensearch import OpenSearch
from siteglass.settings import load_settings
from testing.patience import be_patient
from testing.progress import say

ACCOUNTS = 16
REFRESH_TIMEOUT_MS = 60_000
ENRICHMENTS = (1, 10, 100)
# After so many requests of a kind, Java has compiled what they run. Before, an enrichment of 100 takes twice the CPU.
WARM_UP_REQUESTS = 10_000
# Some of the searches drawn have no such page, or mean something else to the new service.
DRAWN_FOR_ONE = 3
CELLS = (
    *(Cell(SEARCH, connections) for connections in (1, 8, 32)),
    *(Cell(SEARCH + KEYED, connections) for connections in (1, 8, 32)),
    Cell(ACCOUNTS_KIND, 8),
    *(Cell(kind_of(domains), connections) for domains in ENRICHMENTS for connections in (1, 8)),
    *(Cell(kind_of(domains) + KEYED, 1) for domains in ENRICHMENTS),
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    leads: int
    searches: int
    rounds: int
    seconds: float
    """How long a side works for one figure."""
    enrichments_each: int
    cells: tuple[Cell, ...] = CELLS


Units = dict[str, dict[str, list[list[bytes]]]]


def _read(file: str) -> Any:
    return json.loads(Path(file).read_text())


async def _record(
    old: checkouts.Side, new: checkouts.Side, drawn: dict[str, Any], size: Size
) -> tuple[dict[str, list[Recorded]], Counter[str]]:
    """All requests by kind, and the searches that were dropped by reason."""
    engine = Address.of_url(load_settings().opensearch_urls[0])
    proxy = Proxy(engine)
    async with proxy.listening() as before_engine, old.copy(before_engine) as copy:
        connections = [await Connection.open(address) for address in (engine, copy, new.address)]
        recorder = Recorder(
            proxy,
            connections[0],
            Caller(connections[1], old.address, old.keys[0]),
            Caller(connections[2], new.address, new.keys[0]),
        )
        searches = await recorder.searches((Search(**one) for one in drawn["searches"]), size.searches)
        recorded = {SEARCH: searches, ACCOUNTS_KIND: await recorder.of_accounts(searches, old.keys, new.keys)}
        for domains in ENRICHMENTS:
            recorded[kind_of(domains)] = await recorder.enrichments(drawn["enrichments"][str(domains)])
            say(f"recorded and compared {size.enrichments_each} enrichments of {domains}")
        for connection in connections:
            await connection.close()
    return recorded, recorder.dropped


def _units(recorded: dict[str, list[Recorded]]) -> Units:
    """The requests of each side and kind. The engine alone gets the same ones, whatever the kind of search."""
    units: Units = {side: {} for side in SIDES}
    for kind, all_ in recorded.items():
        sent: dict[str, Callable[[bytes], bytes]] = {kind: bytes}
        if kind != ACCOUNTS_KIND:
            sent[kind + KEYED] = with_idempotency_key
        for name, change in sent.items():
            units[BARE][name] = [list(one.bare) for one in all_]
            units[OLD][name] = [[change(one.old)] for one in all_]
            units[NEW][name] = [[change(one.new)] for one in all_]
    return units


async def _show_merged() -> None:
    """The old side merges its index after the last refresh, so its searches would still see the segments as loaded."""
    opensearch = OpenSearch(load_settings().opensearch_urls)
    try:
        await opensearch.request("POST", "/bench-overhead-*/_refresh", timeout_ms=REFRESH_TIMEOUT_MS)
    finally:
        await opensearch.close()


async def run(old_checkout: checkouts.Checkout, size: Size) -> dict[str, Any]:
    """Load, record, compare, measure and take everything down."""
    settings = load_settings()
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        drawing = checkouts.Order(
            size.leads,
            ACCOUNTS,
            drawn=str(folder / "drawn.json"),
            searches=size.searches * DRAWN_FOR_ONE,
            enrichments=ENRICHMENTS,
            enrichments_each=size.enrichments_each,
        )
        say("the old side")
        old = await stack.enter_async_context(checkouts.serving(old_checkout, drawing))
        say("the new side")
        order = checkouts.Order(size.leads, ACCOUNTS, file=old.file)
        new = await stack.enter_async_context(checkouts.serving(checkouts.THIS, order))
        await _show_merged()
        recorded, dropped = await _record(old, new, _read(drawing.drawn), size)
        engine = Address.of_url(settings.opensearch_urls[0])
        plan = Plan({BARE: engine, OLD: old.address, NEW: new.address}, _units(recorded))
        load = stack.enter_context(LoadGenerator(plan, folder / "plan"))
        meter = CpuMeter({**engine_pids(settings), OLD: old.pid, NEW: new.pid, "client": load.pid})
        bench = Bench(load, meter, {kind: len(units) for kind, units in plan.units[BARE].items()})
        return {
            "size": asdict(size),
            "accounts": ACCOUNTS,
            "commits": {OLD: _commit(old_checkout.folder), NEW: _commit(checkouts.THIS.folder)},
            "recorded": {kind: _described(all_) for kind, all_ in recorded.items()},
            "dropped": dict(dropped),
            "samples": [asdict(sample) for sample in _rounds(bench, size)],
        }


def _rounds(bench: Bench, size: Size) -> list[Sample]:
    bench.warm_up(size.cells, SIDES, WARM_UP_REQUESTS)
    work = {cell: bench.work(cell, SIDES, size.seconds) for cell in size.cells}
    samples: list[Sample] = []
    for number in range(size.rounds):
        for cell in size.cells:
            # The sides take turns at going first, so that none always finds what another has warmed.
            sides = SIDES[number % len(SIDES) :] + SIDES[: number % len(SIDES)]
            by_side = {side: bench.sample(cell, side, number, work[cell]) for side in sides}
            samples.extend(by_side[side] for side in SIDES)
            say(f"round {number + 1} of {size.rounds}, {cell}: {_line(by_side)}")
    return samples


def _line(by_side: dict[str, Sample]) -> str:
    return "; ".join(
        f"{side} {one.per_second:.0f}/s, p50 {one.p50_ms:.2f}, CPU {one.cpu_ms_each['all']:.2f}"
        f" (Python {one.cpu_ms_each['service']:.2f}, PostgreSQL {one.cpu_ms_each['postgres']:.2f}) ms"
        for side, one in by_side.items()
    )


def _described(recorded: list[Recorded]) -> dict[str, Any]:
    return {
        "distinct": len(recorded),
        "same_leads": len(recorded),
        "same_records": sum(one.same_records for one in recorded),
        "without_leads": sum(not one.leads for one in recorded),
        "leads_each": round(sum(one.leads for one in recorded) / len(recorded), 2),
        "engine_requests_each": round(sum(len(one.bare) for one in recorded) / len(recorded), 3),
    }


def _commit(folder: Path) -> str:
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _keep(result: dict[str, Any], folder: Path) -> None:
    """Raw figures and their tables, under the paths they have in the checkout."""
    path = folder / "bench/results/against.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    path.with_suffix(".md").write_text(report.page(result))
    say(f"wrote {path}, and its tables beside it")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.against", description=__doc__)
    parser.add_argument("--old", type=Path, required=True, metavar="FOLDER", help="the older checkout")
    parser.add_argument("--leads", type=int, default=500_000)
    parser.add_argument("--searches", type=int, default=5_000)
    parser.add_argument("--enrichments", type=int, default=500, help="of each size")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure of each side")
    parser.add_argument(
        "--keep",
        type=Path,
        nargs="?",
        const=checkouts.HERE,
        metavar="FOLDER",
        help="write the results; to the checkout",
    )
    options = parser.parse_args()
    be_patient()  # both services inherit it: a deadline that passes when the machine is busy would end the run
    size = Size(options.leads, options.searches, options.rounds, options.seconds, options.enrichments)
    figures = asyncio.run(run(checkouts.other(options.old), size))
    figures = {"summary": report.summary(figures["samples"]), **figures}
    sizes = f"--leads {size.leads} --searches {size.searches} --enrichments {size.enrichments_each}"
    times = f"--rounds {size.rounds} --seconds {size.seconds:g}"
    result = stamped(figures, f"python -m bench.overhead.against --old FOLDER {sizes} {times} --keep")
    print(report.page(result))
    if options.keep:
        _keep(result, options.keep)


if __name__ == "__main__":
    main()
