"""How long a sentence takes, how long the first one takes, and what understanding costs in memory; one line of JSON.

    python -m bench.nl.speed [--runs 7] [--starts 5]

Figures are those of the median run, never of the best. The first call and the memory are those of fresh processes, the
median of several.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from testing.sentences.score import SETS, read_set, service

DEV = SETS / "dev.jsonl"
SENTENCE = "Shopify stores in Texas without email marketing that spend over $5k on ads"

# psutil is imported before the first reading: it is the ruler, not what is measured.
_FRESH = """
import json, sys, time
from datetime import date
import psutil
rss = lambda: psutil.Process().memory_info().rss / 2**20
before, started = rss(), time.perf_counter()
from siteglass.query.natural import interpret
imported = time.perf_counter()
interpret(sys.argv[1], date(2026, 11, 15)).directives
called = time.perf_counter()
print(json.dumps([(imported - started) * 1e3, (called - imported) * 1e3, rss() - before]))
"""


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of an ordered sequence does not exceed."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def sentences(queries: Sequence[str], runs: int) -> dict[str, Any]:
    """Times of the run whose whole time is the median of the runs."""
    for query in queries:  # the first run fills caches, and is not counted
        service(query)
    gc.collect()
    gc.freeze()  # as a worker does once its tables are read
    made: list[list[float]] = []
    for _ in range(runs):
        took = []
        for query in queries:
            started = time.perf_counter()
            service(query)
            took.append((time.perf_counter() - started) * 1e3)
        made.append(sorted(took))
    median = sorted(made, key=sum)[runs // 2]
    return {
        "sentences": len(queries),
        "runs": runs,
        "p50_ms": round(percentile(median, 0.5), 3),
        "p99_ms": round(percentile(median, 0.99), 3),
        "most_ms": round(median[-1], 3),
    }


def starts(count: int) -> dict[str, Any]:
    """Import, first call and memory of fresh processes, each the median."""
    rows = [
        json.loads(subprocess.run([sys.executable, "-c", _FRESH, SENTENCE], capture_output=True, check=True).stdout)
        for _ in range(count)
    ]
    imported, called, memory = (statistics.median(column) for column in zip(*rows, strict=True))
    return {
        "starts": count,
        "import_ms": round(imported, 1),
        "first_call_ms": round(called, 1),
        "start_ms": round(imported + called, 1),
        "extra_rss_mib": round(memory, 1),
    }


def measure(runs: int, fresh: int) -> dict[str, Any]:
    """All figures."""
    queries = [sentence.query for sentence in read_set(DEV)]
    return sentences(queries, runs) | starts(fresh)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--starts", type=int, default=5)
    asked = parser.parse_args()
    print(json.dumps(measure(asked.runs, asked.starts)))


if __name__ == "__main__":
    main()
