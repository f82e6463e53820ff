"""What the engine takes for a page and a look-up: as loaded, merged, merged with another codec; with its heap of now.

    ENGINE_HEAP=512m make up && python -m bench.engine_settings --keep

The requests are first pages of the seeded mix as the service sends them, without the count, and look-ups of ten domains
by id. The indexes take turns, since Java compiles more and more of what it runs. The result is stored by the heap, so
that runs with several heaps can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import random
import statistics
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
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
from siteglass.index.segments import merge_segments
from siteglass.leads.requests import read_search
from siteglass.platform.backends import open_backends
from testing.progress import say

# What is compared: the codec, and whether segments are merged as a rebuild does it.
KINDS = {
    "as_loaded": ("default", False),
    "merged": ("default", True),
    "merged_best_compression": ("best_compression", True),
}
REQUESTS = 400
DOMAINS = 10
WARM_UP_ROUNDS = 5
TIMEOUT_MS = 30_000

Body = dict[str, Any]


def _bodies(index: Index, sample: Sequence[Lead]) -> dict[str, list[Body]]:
    """What is sent, by the end of the path: pages with the records that the service asks for, and look-ups."""
    first_pages: list[Body] = []
    for search in itertools.islice((one for one in Mix(sample, SEED).searches() if one.page == 1), REQUESTS):
        wanted, _ = read_search(search.body, index.clock.now_ms())
        records = pages.CARD_AND_REST if needs_rest(wanted.select or ()) else pages.CARD
        first_pages.append(
            pages.page_body(wanted.meaning.criteria, wanted.sort, wanted.limit, None, None, records=records)
        )
    draw = random.Random(SEED)
    look_ups = [{"ids": [lead.domain for lead in draw.sample(sample, DOMAINS)]} for _ in range(REQUESTS)]
    return {"_search": first_pages, "_mget": look_ups}


@contextlib.asynccontextmanager
async def _generations(index: Index, path: Path) -> AsyncIterator[dict[str, str]]:
    """A generation of the same leads for each kind."""
    names: dict[str, str] = {}
    try:
        for kind, (codec, merged) in KINDS.items():
            shape = generations.Shape(codec=codec, refresh_interval="-1")
            names[kind] = await generations.create(index, shape)
            say(f"loading: {kind}")
            await load(index, path, lambda _: None, only=names[kind])
            if merged:
                await merge_segments(index, names[kind])
        await generations.refresh(index, list(names.values()))
        yield names
    finally:
        for name in names.values():
            await admin(index, "DELETE", f"/{name}")


async def _cpu_ms(index: Index, meter: CpuMeter, path: str, bodies: Sequence[Body]) -> float:
    """CPU of the engine for each request, one after the other."""
    meter.lap()
    for body in bodies:
        await index.opensearch.search(path, body, timeout_ms=TIMEOUT_MS, cancels=False, decode=len)
    return meter.lap()["opensearch"] / len(bodies) * 1e3


async def _measure(
    index: Index, meter: CpuMeter, names: dict[str, str], bodies: dict[str, list[Body]], rounds: int
) -> dict[str, dict[str, float]]:
    """For each kind, the median of the rounds, and what it takes on the disk."""
    took: dict[tuple[str, str], list[float]] = {}
    for number in range(WARM_UP_ROUNDS + rounds):
        for (kind, name), path in itertools.product(names.items(), bodies):
            cpu_ms = await _cpu_ms(index, meter, f"/{name}/{path}", bodies[path])
            if number >= WARM_UP_ROUNDS:
                took.setdefault((kind, path), []).append(cpu_ms)
    figures: dict[str, dict[str, float]] = {}
    for kind, name in names.items():
        stats = await admin(index, "GET", f"/{name}/_stats/segments,store", params={"filter_path": "_all.primaries"})
        primaries = stats["_all"]["primaries"]
        figures[kind] = {
            "segments": primaries["segments"]["count"],
            "megabytes": round(primaries["store"]["size_in_bytes"] / 1e6),
            "page_cpu_ms": round(statistics.median(took[kind, "_search"]), 3),
            f"look_up_{DOMAINS}_cpu_ms": round(statistics.median(took[kind, "_mget"]), 3),
        }
        say(f"{kind}: {figures[kind]}")
    return figures


async def run(leads: int, rounds: int) -> tuple[str, dict[str, Any]]:
    """Load the leads in each way, and measure; returns the heap, too."""
    path = demo_file(leads)
    settings = bench_settings("engine")
    async with open_backends(settings) as backends, tables(settings):
        index = open_index(backends)
        meter = CpuMeter(engine_pids(settings))
        jvm = await admin(index, "GET", "/_nodes/jvm", params={"filter_path": "nodes.*.jvm.mem.heap_max_in_bytes"})
        heap = max(node["jvm"]["mem"]["heap_max_in_bytes"] for node in jvm["nodes"].values())
        bodies = _bodies(index, read_sample(path))
        async with _generations(index, path) as names:
            measured = await _measure(index, meter, names, bodies, rounds)
    return f"{heap >> 20}m", {"leads": leads, "rounds": rounds, **measured}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.engine_settings", description=__doc__)
    parser.add_argument("--leads", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    heap, figures = asyncio.run(run(asked.leads, asked.rounds))
    sizes = f"--leads {asked.leads} --rounds {asked.rounds}"
    command = f"ENGINE_HEAP={heap} make up && python -m bench.engine_settings {sizes} --keep"
    write_result(f"engine_settings_{heap}", figures, command, keep=asked.keep)


if __name__ == "__main__":
    main()
