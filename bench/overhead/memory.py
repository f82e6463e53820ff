"""Memory of a worker over many requests: does it stay the same?

    python -m bench.overhead.memory --keep

Searches, searches with an Idempotency-Key and enrichments in turn, over eight connections. The memory is that which the
worker does not share with other processes, after each part.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path
from typing import Any

import psutil

from bench.common import write_result
from bench.overhead.client import LoadGenerator, Order, Plan
from bench.overhead.measure import KEYED, NEW, SEARCH, kind_of
from bench.overhead.regression import DOMAINS, draw_requests
from bench.overhead.wire import with_idempotency_key
from bench.overhead.world import build, serving
from testing.progress import say

PARTS = 20
CONNECTIONS = 8
ENRICH = kind_of(DOMAINS)
SHARES = {SEARCH: 0.4, SEARCH + KEYED: 0.4, ENRICH: 0.2}


def _own_mib(pid: int) -> float:
    """What would be free if the process and its children ended."""
    process = psutil.Process(pid)
    pages = sum(one.memory_full_info().uss for one in (process, *process.children(recursive=True)))
    return round(pages / 2**20, 1)


async def measure(leads: int, requests: int) -> dict[str, Any]:
    """The memory at the start and after each part."""
    async with build(leads) as world, serving(world.settings) as service:
        drawn = await draw_requests(world, service.address)
        units = {**drawn, SEARCH + KEYED: [[with_idempotency_key(one) for one in unit] for unit in drawn[SEARCH]]}
        plan = Plan({NEW: service.address}, {NEW: units})
        mib = [_own_mib(service.pid)]
        sent = 0
        with tempfile.TemporaryDirectory() as folder, LoadGenerator(plan, Path(folder) / "plan") as load:
            for part in range(PARTS):
                for kind, share in SHARES.items():
                    times = round(requests * share / PARTS / len(units[kind]))
                    load.drive(Order(NEW, kind, CONNECTIONS, 0, len(units[kind]), times))
                    sent += times * len(units[kind])
                mib.append(_own_mib(service.pid))
                say(f"part {part + 1} of {PARTS}, {sent} requests: {mib[-1]} MiB")
    # The first quarter fills caches that have a bound; after it, memory should stay.
    later = mib[PARTS // 4 :]
    return {"leads": leads, "requests": sent, "mib": mib, "growth_after_a_quarter_mib": round(later[-1] - later[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.memory", description=__doc__)
    parser.add_argument("--leads", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(measure(asked.leads, asked.requests))
    command = f"python -m bench.overhead.memory --leads {asked.leads} --requests {asked.requests} --keep"
    write_result("memory", figures, command, keep=asked.keep)


if __name__ == "__main__":
    main()
