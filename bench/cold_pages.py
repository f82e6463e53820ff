"""What a page costs if the index is not in memory: records from cards against records from `_source`.

    python -m bench.cold_pages --leads 2000000 --spare-gb 3 --keep

Two states. Cold: before each round, the index is closed and the page cache dropped. Tight: a process locks memory until
only so many gigabytes are left for the page cache and everything else, and pages are read on and on. Both need root and
an idle machine. How cold the disk is below the page cache is not known. How far Linux reads ahead of what is asked for
decides a lot, so it is among the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import mmap
import os
import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.common import SEED, bench_settings, demo_file, tables, write_result
from bench.overhead.processes import engine_pids
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import open_parquet, read_row_group
from siteglass.index import generations, pages
from siteglass.index.administration import admin
from siteglass.index.documents import sort_keys
from siteglass.index.index import Index, open_index
from siteglass.index.load import load
from siteglass.platform.backends import open_backends
from siteglass.query.cursor import Position
from siteglass.query.directives import parse
from testing.progress import say

LIMIT = 20
SIDES = {"_source": pages.SOURCE, "card": pages.CARD, "card and rest": pages.CARD_AND_REST}
# In the order of the index, the leads of a page are neighbours on the disk; in the order of domains they are anywhere.
SORTS = ("-score", "domain")
TEXT = "@has_email"
SAMPLE_GROUPS = 200
TIMEOUT_MS = 60_000
GIB = 1 << 30

Positions = Sequence[Position]


def _drop_page_cache() -> None:
    Path("/proc/sys/vm/drop_caches").write_text("1\n")


async def _make_cold(index: Index) -> None:
    """Nothing of the index is in memory. Linux drops no page that a process has mapped, so it is closed meanwhile."""
    (generation,) = await generations.status(index)
    await admin(index, "POST", f"/{generation.name}/_close")
    _drop_page_cache()
    await admin(index, "POST", f"/{generation.name}/_open")
    await admin(index, "GET", f"/_cluster/health/{generation.name}", params={"wait_for_status": "yellow"})


def _read_ahead_kb(path: Path) -> int:
    """How much Linux reads from the disk of this file around a page that is missing."""
    device = path.stat().st_dev
    return int(Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/queue/read_ahead_kb").read_text())


def _available_bytes() -> int:
    (line,) = (one for one in Path("/proc/meminfo").read_text().splitlines() if one.startswith("MemAvailable:"))
    return int(line.split()[1]) * 1024


def _read_bytes(pid: int) -> int:
    """What a process had read from the disk."""
    (line,) = (one for one in Path(f"/proc/{pid}/io").read_text().splitlines() if one.startswith("read_bytes:"))
    return int(line.split()[1])


@contextlib.contextmanager
def _locked_memory(spare_bytes: int) -> Iterator[None]:
    """All memory taken but so much."""
    _drop_page_cache()
    size = max(mmap.PAGESIZE, _available_bytes() - spare_bytes)
    libc = ctypes.CDLL(None, use_errno=True)
    with mmap.mmap(-1, size) as memory:
        place = ctypes.c_char.from_buffer(memory)
        if libc.mlock(ctypes.byref(place), ctypes.c_size_t(size)) != 0:
            raise OSError(ctypes.get_errno(), f"{size} bytes of memory cannot be locked; run it as root")
        say(f"{size / GIB:.1f} GiB are locked")
        try:
            yield
        finally:
            libc.munlock(ctypes.byref(place), ctypes.c_size_t(size))
            del place


def _positions(path: Path, sort: str, count: int) -> list[Position]:
    """Where pages begin: at leads from all over the file."""
    draw = random.Random(f"{SEED} {sort}")
    key = pages.ORDERS[sort].key
    with open_parquet(path) as file:
        groups = draw.sample(range(file.num_row_groups), min(SAMPLE_GROUPS, file.num_row_groups))
        leads: list[Lead] = [lead for group in groups for lead in read_row_group(file, group)]
    chosen = draw.choices(leads, k=count)
    return [Position(getattr(sort_keys(lead), key), lead.domain) for lead in chosen]


async def _read_pages(index: Index, pid: int, side: str, sort: str, positions: Positions) -> dict[str, float]:
    """Milliseconds and kilobytes read from the disk for a page."""
    criteria = parse(TEXT)
    took: list[float] = []
    before = _read_bytes(pid)
    for position in positions:
        body = pages.page_body(criteria, sort, LIMIT, position, None, records=SIDES[side])
        started = time.perf_counter()
        await index.opensearch.search(
            f"/{index.names.read}/_search", body, timeout_ms=TIMEOUT_MS, params={"request_cache": "false"}, decode=len
        )
        took.append((time.perf_counter() - started) * 1e3)
    read = _read_bytes(pid) - before
    took.sort()
    return {
        "p50_ms": round(statistics.median(took), 2),
        "p95_ms": round(took[len(took) * 95 // 100], 2),
        "mean_ms": round(statistics.fmean(took), 2),
        "kB_read": round(read / len(positions) / 1e3, 1),
    }


def _medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(one[name] for one in rounds), 2) for name in rounds[0]}


async def _in_turn(
    index: Index, pid: int, places: Mapping[str, Positions], rounds: int, count: int, *, cold: bool
) -> dict[str, dict[str, float]]:
    """Each side at the same places, in turn, so that none always finds what another has read; new places each round."""
    figures: dict[str, list[dict[str, float]]] = {}
    names = list(SIDES)
    for sort in SORTS:
        for number in range(rounds):
            first = number % len(names)
            for side in names[first:] + names[:first]:
                if cold:
                    await _make_cold(index)
                part = places[sort][number * count : (number + 1) * count]
                measured = await _read_pages(index, pid, side, sort, part)
                figures.setdefault(f"{sort}, {side}", []).append(measured)
                say(f"{'cold' if cold else 'not dropped'}, round {number + 1} of {rounds}, {sort}, {side}: {measured}")
    return {name: _medians(some) for name, some in figures.items()}


async def run(leads: int, spare_bytes: int, rounds: int, count: int) -> dict[str, Any]:
    """Load, measure in all states, and delete."""
    path = demo_file(leads)
    settings = bench_settings("cold")
    async with open_backends(settings) as backends, tables(settings):
        index = open_index(backends)
        name = await generations.create(index, generations.Shape(refresh_interval="-1"))
        try:
            say(f"loading {leads} leads")
            await load(index, path, lambda _: None)
            await generations.promote(index, name)
            (generation,) = await generations.status(index)
            pid = engine_pids(settings)["opensearch"]
            say(f"{generation.size_bytes / GIB:.2f} GiB on the disk")
            figures: dict[str, Any] = {"leads": leads, "bytes_per_lead": generation.size_bytes // leads}
            figures["read_ahead_kb"] = _read_ahead_kb(path)
            # Before memory is locked: a file of leads takes some itself.
            places = {sort: _positions(path, sort, count * rounds) for sort in SORTS}
            figures["warm"] = await _in_turn(index, pid, places, rounds, count, cold=False)
            figures["cold"] = await _in_turn(index, pid, places, rounds, count, cold=True)
            await _make_cold(index)
            with _locked_memory(spare_bytes):
                figures["spare_bytes"] = spare_bytes
                figures["tight"] = await _in_turn(index, pid, places, rounds, count, cold=False)
            return figures
        finally:
            await backends.opensearch.request("DELETE", f"/{name}", timeout_ms=TIMEOUT_MS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=2_000_000)
    parser.add_argument("--spare-gb", type=float, default=3.0, help="memory left when it is tight")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=200, help="of each side, order and round")
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(run(asked.leads, int(asked.spare_gb * GIB), asked.rounds, asked.pages))
    sizes = f"--leads {asked.leads} --spare-gb {asked.spare_gb:g} --rounds {asked.rounds} --pages {asked.pages}"
    command = f"python -m bench.cold_pages {sizes} --keep"
    write_result("cold_pages", figures, command, keep=asked.keep)


if __name__ == "__main__":
    main()
