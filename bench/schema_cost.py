"""What a change of the schema costs: index size per lead and load rate, against a checkout of the commit before it.

git worktree add ../before COMMIT
python -m bench.schema_cost ../before --leads 50000 --rounds 3 --keep
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.common import bench_settings, tables, write_result
from siteglass.index import generations
from siteglass.index.administration import admin
from siteglass.index.index import Index, open_index
from siteglass.index.load import load
from siteglass.platform.backends import open_backends
from testing.progress import say

HERE = Path(__file__).parents[1]


async def _entered(index: Index, path: Path) -> tuple[Path, float]:
    """The file in a lead store and the seconds that took, where this checkout has that step."""
    try:
        from siteglass.index.entry import enter_store
    except ImportError:
        return path, 0.0
    started = time.perf_counter()
    (stored,) = await enter_store(index, [path])
    return stored.path, time.perf_counter() - started


async def _once(path: Path, leads: int) -> dict[str, float]:
    """Load the leads into a new generation, and merge it into one segment, so that sizes can be compared."""
    with tempfile.TemporaryDirectory() as store:
        settings = replace(bench_settings("schema"), lead_store=Path(store))
        async with open_backends(settings) as backends, tables(settings):
            index = open_index(backends)
            stored, entry_s = await _entered(index, path)
            name = await generations.create(index, generations.Shape(refresh_interval="-1"))
            started, cpu_before = time.perf_counter(), time.process_time()
            await load(index, stored, lambda _: None)
            load_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_before
            await admin(index, "POST", f"/{name}/_forcemerge", params={"max_num_segments": "1"})
            await generations.refresh(index, [name])
            (generation,) = await generations.status(index)
            await admin(index, "DELETE", f"/{name}")
    return {
        "bytes_per_lead": generation.size_bytes / generation.documents,
        "leads_per_s": leads / load_s,
        "loader_cpu_us_per_lead": cpu_s / leads * 1e6,
        "entry_us_per_lead": entry_s / leads * 1e6,
    }


def _last_line(checkout: Path, where: Path, *words: str) -> str:
    """Run Python with the modules of a checkout."""
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}:{checkout}"}
    command = [sys.executable, *words]
    done = subprocess.run(command, env=environment, cwd=where, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[-1]


def _demo_file(before: Path, leads: int) -> Path:
    """Demo leads of the checkout before, which could not read the fields that came later."""
    code = f"from bench.common import demo_file; print(demo_file({leads}).resolve())"
    return Path(_last_line(before, before, "-c", code))


def _run(checkout: Path, path: Path, leads: int) -> dict[str, float]:
    figures: dict[str, float] = json.loads(
        _last_line(checkout, HERE, __file__, "--once", str(path), "--leads", str(leads))
    )
    return figures


def _compare(before: Path, path: Path, leads: int, rounds: int) -> dict[str, Any]:
    sides: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for number in range(1, rounds + 1):
        for side, checkout in (("before", before), ("after", HERE)):
            sides[side].append(_run(checkout, path, leads))
            say(f"round {number}, {side}: {sides[side][-1]}")
    ratios = [
        after["leads_per_s"] / before["leads_per_s"]
        for before, after in zip(sides["before"], sides["after"], strict=True)
    ]
    sizes = {side: round(statistics.median(one["bytes_per_lead"] for one in some)) for side, some in sides.items()}
    return {
        "leads": leads,
        "bytes_per_lead": {**sizes, "more": sizes["after"] - sizes["before"]},
        "leads_per_s": {side: [round(one["leads_per_s"]) for one in some] for side, some in sides.items()},
        "load_rate_ratio": {"rounds": [round(ratio, 3) for ratio in ratios], "median": statistics.median(ratios)},
        "loader_cpu_us_per_lead": {
            side: round(min(one["loader_cpu_us_per_lead"] for one in some)) for side, some in sides.items()
        },
        "entry_us_per_lead": [round(one["entry_us_per_lead"], 1) for one in sides["after"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", nargs="?", type=Path, help="a checkout of the commit before the change")
    parser.add_argument("--leads", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    parser.add_argument("--once", type=Path, help="load this file once, and print the figures")
    asked = parser.parse_args()
    if asked.once:
        print(json.dumps(asyncio.run(_once(asked.once, asked.leads))))
        return
    if asked.before is None:
        parser.error("name a checkout of the commit before the change")
    before = asked.before.resolve()
    figures = _compare(before, _demo_file(before, asked.leads), asked.leads, asked.rounds)
    command = f"python -m bench.schema_cost BEFORE --leads {asked.leads} --rounds {asked.rounds} --keep"
    write_result("schema_cost", figures, command, keep=asked.keep)


if __name__ == "__main__":
    main()
