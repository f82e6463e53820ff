"""What the engine takes for a page and a look-up: by codec, before and after merging, with the heap that it has now.

    ENGINE_HEAP=512m make up && python -m bench.engine_settings --keep

The requests are first pages of the seeded mix as the service sends them, without the count, and look-ups of ten domains
by id. The result is stored by the heap, so that runs with several heaps can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from bench.common import SEED, bench_settings, demo_file, tables, write_result
from bench.overhead.mix import Mix
from bench.overhead.processes import CpuMeter, engine_pids
from bench.overhead.world import read_sample
from siteglass.corpus.lead import Lead
from siteglass.index import generations, pages
from siteglass.index.administration import admin
from siteglass.index.cards import needs_rest
from siteglass.index.index import Index, open_index
from siteglass.index.load import load
from siteglass.index.lookup import look_up
from siteglass.leads.requests import read_search
from siteglass.platform.backends import open_backends
from testing.progress import say

CODECS = ("default", "best_compression")
SEARCHES = 400
DOMAINS = 10
TIMEOUT_MS = 30_000

Send = Callable[[], Awaitable[object]]


def _pages(index: Index, sample: Sequence[Lead]) -> list[Send]:
    """First pages, with the records that the service would ask for."""
    found: list[Send] = []
    for search in itertools.islice((one for one in Mix(sample, SEED).searches() if one.page == 1), SEARCHES):
        wanted, _ = read_search(search.body, index.clock.now_ms())
        records = pages.CARD_AND_REST if needs_rest(wanted.select or ()) else pages.CARD
        body = pages.page_body(wanted.meaning.criteria, wanted.sort, wanted.limit, None, None, records=records)
        path = f"/{index.names.read}/_search"
        found.append(partial(index.opensearch.search, path, body, timeout_ms=TIMEOUT_MS, decode=len))
    return found


def _look_ups(index: Index, sample: Sequence[Lead]) -> list[Send]:
    draw = random.Random(SEED)
    drawn = [[lead.domain for lead in draw.sample(sample, DOMAINS)] for _ in range(SEARCHES)]
    return [partial(look_up, index, domains) for domains in drawn]


async def _cpu_ms(meter: CpuMeter, requests: Sequence[Send], rounds: int) -> float:
    """CPU of the engine for each request, one after the other: the median of the rounds."""
    for send in requests:  # fills caches
        await send()
    took = []
    for _ in range(rounds):
        meter.lap()
        for send in requests:
            await send()
        took.append(meter.lap()["opensearch"] / len(requests) * 1e3)
    return round(statistics.median(took), 3)


async def _measure(index: Index, name: str, meter: CpuMeter, requests: dict[str, list[Send]], rounds: int) -> Any:
    await generations.refresh(index, [name])
    stats = await admin(index, "GET", f"/{name}/_stats/segments,store", params={"filter_path": "_all.primaries"})
    primaries = stats["_all"]["primaries"]
    figures: dict[str, float] = {
        "segments": primaries["segments"]["count"],
        "megabytes": round(primaries["store"]["size_in_bytes"] / 1e6),
    }
    for kind, some in requests.items():
        figures[f"{kind}_cpu_ms"] = await _cpu_ms(meter, some, rounds)
    return figures


async def run(leads: int, rounds: int) -> tuple[str, dict[str, Any]]:
    """Load the leads with each codec, and measure before and after merging; returns the heap, too."""
    path = demo_file(leads)
    settings = bench_settings("engine")
    sample = read_sample(path)
    figures: dict[str, Any] = {"leads": leads, "rounds": rounds}
    async with open_backends(settings) as backends, tables(settings):
        index = open_index(backends)
        meter = CpuMeter(engine_pids(settings))
        for codec in CODECS:
            name = await generations.create(index, generations.Shape(codec=codec, refresh_interval="-1"))
            try:
                say(f"{codec}: loading {leads} leads")
                await load(index, path, lambda _: None)
                await generations.promote(index, name)
                requests = {"page": _pages(index, sample), f"look_up_{DOMAINS}": _look_ups(index, sample)}
                figures[f"{codec}, as loaded"] = await _measure(index, name, meter, requests, rounds)
                await admin(index, "POST", f"/{name}/_forcemerge", params={"max_num_segments": "1"})
                figures[f"{codec}, merged"] = await _measure(index, name, meter, requests, rounds)
                say(f"{codec}: {figures[f'{codec}, as loaded']}, merged: {figures[f'{codec}, merged']}")
            finally:
                await admin(index, "DELETE", f"/{name}")
        jvm = await admin(index, "GET", "/_nodes/jvm", params={"filter_path": "nodes.*.jvm.mem.heap_max_in_bytes"})
    heaps = {node["jvm"]["mem"]["heap_max_in_bytes"] >> 20 for node in jvm["nodes"].values()}
    return f"{max(heaps)}m", figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.engine_settings", description=__doc__)
    parser.add_argument("--leads", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    heap, figures = asyncio.run(run(asked.leads, asked.rounds))
    command = f"ENGINE_HEAP={heap} make up && python -m bench.engine_settings --keep"
    write_result(f"engine_settings_{heap}", figures, command, keep=asked.keep)


if __name__ == "__main__":
    main()
