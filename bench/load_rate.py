"""How fast leads go in: the loader against bare `_bulk` with the same bodies, alternating in one run.

python -m bench.load_rate --leads 500000 --keep
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import bench_settings, demo_file, tables, write_result
from siteglass.corpus.lead_files import count_leads
from siteglass.index import generations
from siteglass.index.index import Index, open_index
from siteglass.index.load import BATCHES_IN_FLIGHT, batches, load
from siteglass.index.writing import Preparer
from siteglass.platform.backends import Backends, open_backends
from testing.progress import say

ROUND_LEADS = 100_000


async def _bare(backends: Backends, name: str, ready: list[bytes]) -> None:
    """Bodies made beforehand, sent with as many under way as the loader has."""
    bodies = iter(ready)

    async def sender() -> None:
        for body in bodies:
            answer = await backends.opensearch.request("POST", f"/{name}/_bulk", body, timeout_ms=120_000, ndjson=True)
            if answer["errors"]:
                raise RuntimeError("the engine refused documents")

    await asyncio.gather(*(sender() for _ in range(BATCHES_IN_FLIGHT)))


@dataclass(frozen=True, slots=True)
class Timed:
    """A load: documents a second, and what each cost this process."""

    rate: float
    cpu_us: float
    name: str


async def _timed(live_index: Index, leads: int, work: Callable[[str], Coroutine[Any, Any, object]]) -> Timed:
    name = await generations.create(live_index, generations.Shape(refresh_interval="30s"))
    started, cpu = time.perf_counter(), time.process_time()
    await work(name)
    return Timed(leads / (time.perf_counter() - started), (time.process_time() - cpu) / leads * 1e6, name)


async def run(leads: int, rounds: int) -> dict[str, Any]:
    """Rounds of bare and loader over the same leads, then the whole once."""
    settings = bench_settings("load")
    part, whole = demo_file(min(leads, ROUND_LEADS)), demo_file(leads)
    count = count_leads(part)
    started = time.process_time()
    ready = [b"".join(one.lines for one in batch) for batch in batches(part, Preparer(settings))]
    making_us = (time.process_time() - started) / count * 1e6
    figures: dict[str, Any] = {"bare": [], "loader": [], "ratio": []}
    cpu: dict[str, list[float]] = {"bare": [], "loader": []}
    async with open_backends(settings) as backends, tables(settings):
        live_index = open_index(backends)

        async def drop(name: str) -> None:
            await backends.opensearch.request("DELETE", f"/{name}", timeout_ms=60_000)

        async def loader(path: Path) -> Callable[[str], Coroutine[Any, Any, object]]:
            return lambda _name: load(live_index, path, lambda _: None)

        for number in itertools.count(1):
            bare = await _timed(live_index, count, lambda name: _bare(backends, name, ready))
            await drop(bare.name)
            ours = await _timed(live_index, count, await loader(part))
            await drop(ours.name)
            ratio = ours.rate / bare.rate
            for side, timed in (("bare", bare), ("loader", ours)):
                figures[side].append(round(timed.rate))
                cpu[side].append(timed.cpu_us)
            figures["ratio"].append(round(ratio, 3))
            say(f"round {number}: bare {bare.rate:.0f}/s, loader {ours.rate:.0f}/s, ratio {ratio:.3f}")
            if number == rounds:
                break
        all_of_it = await _timed(live_index, leads, await loader(whole))
        await generations.refresh(live_index, [all_of_it.name])
        (generation,) = await generations.status(live_index)
        figures |= {
            "leads": leads,
            "documents_per_second": round(all_of_it.rate),
            "python_cpu_us_per_document": {
                "making the bodies": round(making_us, 1),
                **{side: round(min(values), 1) for side, values in cpu.items()},
            },
            "bytes_sent_per_document": round(sum(map(len, ready)) / count),
            "bytes_on_disk_per_document": round(generation.size_bytes / generation.documents),
            "documents": generation.documents,
        }
        await drop(all_of_it.name)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    write_result("load_rate", asyncio.run(run(asked.leads, asked.rounds)), "make long-load", keep=asked.keep)


if __name__ == "__main__":
    main()
