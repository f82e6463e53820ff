"""What benchmarks share: demo leads on disk, settings under their own prefix, and the form of a result."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from siteglass.settings import Settings, load_settings
from siteglass_demo.leads import write_demo
from testing.accounts import drop_schema, make_schema
from testing.progress import say

FOLDER = Path("var/bench")
RESULTS = Path(__file__).parent / "results"
SEED = 1
SECRET = "a secret of the benchmarks that is long enough"


def bench_settings(name: str) -> Settings:
    """Settings of the environment's engines under a prefix of the benchmark's own."""
    return replace(
        load_settings(),
        index_prefix=f"bench-{name}-{os.getpid()}",
        postgres_schema=f"bench_{name}_{os.getpid()}",
        suppression_secret=SECRET,
        search_timeout_ms=60_000,
    )


@asynccontextmanager
async def tables(settings: Settings) -> AsyncIterator[None]:
    """The tables of these settings, gone afterwards: the loader asks the list of opt-outs."""
    await make_schema(settings.postgres_dsn, settings.postgres_schema)
    try:
        yield
    finally:
        await drop_schema(settings.postgres_dsn, settings.postgres_schema)


def demo_file(leads: int) -> Path:
    """A Parquet file of demo leads, made once."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"demo-{leads}-{SEED}.parquet"
    if not path.exists():
        say(f"generating {leads} leads")
        write_demo(path, leads, SEED)
    return path


def spread(values: list[float]) -> dict[str, float]:
    """Median and quartiles."""
    ordered = sorted(values)
    return {
        "p25": round(ordered[len(ordered) // 4], 3),
        "median": round(statistics.median(ordered), 3),
        "p75": round(ordered[len(ordered) * 3 // 4], 3),
    }


def stamped(figures: dict[str, Any], command: str) -> dict[str, Any]:
    """The figures with what made them: command, date, seed and the machine with its load."""
    return {
        "command": command,
        "date": time.strftime("%Y-%m-%d"),
        "seed": SEED,
        "machine": {"cores": os.cpu_count(), "kind": platform.machine(), "load_average": os.getloadavg()},
        **figures,
    }


def write_result(name: str, figures: dict[str, Any], command: str, *, keep: bool) -> None:
    """Print the figures; keep them if asked to."""
    text = json.dumps(stamped(figures, command), indent=2)
    print(text)
    if keep:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(text + "\n")
