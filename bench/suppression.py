"""What the list of opt-outs costs an answer: CPU per page of 100 leads with a million suppressed values, and memory.

python -m bench.suppression --values 1000000
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import statistics
import time
from collections.abc import Sequence
from typing import Any

import orjson

from bench.common import SEED, bench_settings, tables, write_result
from siteglass.index.documents import document
from siteglass.platform.backends import Backends, open_backends
from siteglass.suppression.filter import Record, SuppressionFilter
from siteglass.suppression.values import Hasher, read_value
from siteglass_demo.leads import generate
from testing.progress import say

PAGE = 100
ROUNDS = 9
PAGES = 300
AIM_MS = 0.1
FILL_TIMEOUT_MS = 600_000

# As `suppress` leaves it, but for the audit rows of each: every value is on a different lead.
_FILL = """
WITH noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action)
    VALUES ('operator', 'bench', 'suppression.add') RETURNING id
), listed AS (
    INSERT INTO {schema}.suppressed (kind, value, audit_id)
    SELECT 'email', sha256(n::text::bytea), noted.id FROM generate_series(1, $1::int) n, noted RETURNING 1
)
INSERT INTO {schema}.suppressed_leads (domain, value)
SELECT 'made-up-site-' || n || '.example', sha256(n::text::bytea) FROM generate_series(1, $1::int) n
"""


def _records() -> list[Record]:
    """Leads of a page as the engine gives them."""
    return [orjson.loads(orjson.dumps(document(lead, "f#0"))) for lead in generate(PAGE, seed=SEED)]


def _cpu_ms(hidden: SuppressionFilter, records: Sequence[Record]) -> float:
    """CPU of one page, the median of rounds."""
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(PAGES):
            for record in records:
                hidden.shown(record)
        rounds.append((time.process_time() - started) / PAGES * 1e3)
    return statistics.median(rounds)


async def _opened(backends: Backends, countries: frozenset[str] = frozenset()) -> SuppressionFilter:
    async def since() -> None:
        return None

    hidden = SuppressionFilter(backends.postgres, Hasher(backends.settings), countries, since)
    await hidden.refresh()
    return hidden


async def run(values: int) -> dict[str, Any]:
    """The figures of a list of so many values."""
    settings = bench_settings("suppression")
    records = _records()
    hasher = Hasher(settings)
    async with open_backends(settings) as backends, tables(settings):
        say(f"listing {values} values")
        await backends.postgres.fetch(_FILL, values, timeout_ms=FILL_TIMEOUT_MS)
        # One lead of the page carries a listed address: what most pages do not have.
        carrying = next(record for record in records if record["emails"])
        await backends.postgres.fetch(
            "INSERT INTO {schema}.suppressed_leads (domain, value) VALUES ($1, $2)",
            carrying["domain"],
            hasher.of_value(read_value(carrying["emails"][0])),
            timeout_ms=10_000,
        )
        gc.collect()
        before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        hidden = await _opened(backends)
        read_s = time.perf_counter() - started
        grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024
        started = time.process_time()
        await hidden.refresh()
        again_ms = (time.process_time() - started) * 1e3
        others = [record for record in records if record is not carrying]
        policy = await _opened(backends, frozenset({"DEU", "FRA"}))
        return {
            "values": len(hidden) - 1,
            "cpu_ms_per_page": {
                "none of 100 leads listed": round(_cpu_ms(hidden, [*others, others[0]]), 4),
                "one of 100 leads listed": round(_cpu_ms(hidden, records), 4),
                "personal addresses of two countries hidden": round(_cpu_ms(policy, records), 4),
                "aim": AIM_MS,
            },
            "read_s": round(read_s, 2),
            "memory_mib": round(grown_mib),
            "refresh_cpu_ms": round(again_ms, 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    write_result("suppression", asyncio.run(run(asked.values)), "make long-suppression", keep=asked.keep)


if __name__ == "__main__":
    main()
