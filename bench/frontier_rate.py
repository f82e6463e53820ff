"""Take and acknowledge of the crawler's frontier with many domains: rate, latency, CPU of PostgreSQL, bytes, plans.

    python -m bench.frontier_rate --domains 10000000 --seconds 30 --keep

A schema of its own in the crawler's database, which is dropped afterwards. Each worker takes 20 domains, acknowledges a
page with four links of each, and ends their visits.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import asyncpg
import orjson

from bench.common import bench_settings, write_result
from bench.overhead.processes import CpuMeter, engine_pids
from siteglass.crawl.frontier import FULL_AFTER, TAKE, TAKEN_ADDRESSES, Frontier, TakenDomain
from siteglass.crawl.results import Finish, Found, Kind, Step
from siteglass.settings import Settings
from testing.progress import say

AT_ONCE = 20
WORKERS = 4
LINKS = 4
INSERTED_AT_ONCE = 500_000
INSERT_TIMEOUT_S = 600
_FILL = """
INSERT INTO {schema}.domains (domain, next_at, delay_ms)
SELECT format('site-%s.example', n), now() - (n % 1000) * interval '1 second', 2000
FROM generate_series($1::integer, $2::integer - 1) AS n
"""
_SIZE = "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree($1::regclass) WHERE isleaf"


async def run(domains: int, seconds: float) -> dict[str, Any]:
    settings = bench_settings("frontier")
    settings = replace(settings, crawl_schema=settings.postgres_schema)
    async with _filled(settings, domains) as connection:
        figures: dict[str, Any] = {
            "domains": domains,
            "bytes_per_domain": round(await connection.fetchval(_SIZE, f"{settings.crawl_schema}.domains") / domains),
            "sequential_scans": await _sequential_scans(connection, settings),
        }
        figures |= await _measure(settings, seconds)
    return figures


@asynccontextmanager
async def _filled(settings: Settings, domains: int) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A connection to a frontier with so many domains, all of them due."""
    connection = await asyncpg.connect(settings.crawl_dsn, timeout=10)
    try:
        await (await Frontier.open(settings)).close()
        for start in range(0, domains, INSERTED_AT_ONCE):
            end = min(domains, start + INSERTED_AT_ONCE)
            await connection.execute(
                _FILL.replace("{schema}", settings.crawl_schema), start, end, timeout=INSERT_TIMEOUT_S
            )
            say(f"{end:,} domains")
        await connection.execute(f"VACUUM ANALYZE {settings.crawl_schema}.domains", timeout=INSERT_TIMEOUT_S)
        yield connection
    finally:
        await connection.execute(f"DROP SCHEMA IF EXISTS {settings.crawl_schema} CASCADE", timeout=INSERT_TIMEOUT_S)
        await connection.close()


async def _sequential_scans(connection: asyncpg.Connection[Any], settings: Settings) -> list[str]:
    """Tables that the hot statements read as a whole: there should be none."""
    found = []
    questions = ((TAKE, [1, AT_ONCE, timedelta(1)]), (TAKEN_ADDRESSES, [["site-1.example"], 1, FULL_AFTER]))
    for statement, arguments in questions:
        text = f"EXPLAIN (FORMAT JSON) {statement.replace('{schema}', settings.crawl_schema)}"
        nodes = [orjson.loads(await connection.fetchval(text, *arguments))[0]["Plan"]]
        while nodes:
            node = nodes.pop()
            nodes += node.get("Plans", ())
            # Partitions of addresses are empty before the first visit, and of those one page is read.
            if node["Node Type"] == "Seq Scan" and node["Relation Name"].startswith("domains"):
                found.append(node["Relation Name"])
    return found


async def _measure(settings: Settings, seconds: float) -> dict[str, Any]:
    postgres = {"postgres": engine_pids(settings)["postgres"]}
    frontiers = [await Frontier.open(settings) for _ in range(WORKERS)]
    times: dict[str, list[float]] = {"take": [], "acknowledge": []}
    meter, end = CpuMeter(postgres), time.monotonic() + seconds
    counts = await asyncio.gather(*(_work(frontier, end, times) for frontier in frontiers))
    cpu_s, count = meter.lap()["postgres"], sum(counts)
    for frontier in frontiers:
        await frontier.close()
    return {
        "workers": WORKERS,
        "batch": AT_ONCE,
        "domains_per_second": round(count / seconds),
        "postgres_cpu_ms_per_domain": round(1000 * cpu_s / max(1, count), 3),
        **{f"{name}_ms": _spread(found) for name, found in times.items()},
    }


async def _work(frontier: Frontier, end: float, times: dict[str, list[float]]) -> int:
    count = 0
    while time.monotonic() < end:
        started = time.perf_counter()
        taken = await frontier.take(AT_ONCE)
        times["take"].append(time.perf_counter() - started)
        if not taken:
            break
        started = time.perf_counter()
        await frontier.acknowledge([_step(one) for one in taken])
        times["acknowledge"].append(time.perf_counter() - started)
        count += len(taken)
    return count


def _step(taken: TakenDomain) -> Step:
    home = f"https://{taken.domain}/"
    links = tuple(Found(f"{home}page-{number}", Kind.KEY_PAGE) for number in range(LINKS))
    finish = Finish(timedelta(days=30), is_failure=False)
    return Step(domain=taken.domain, delay_ms=2_000, sent=1, done=(home, 200), found=links, finished=finish)


def _spread(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    place = min(len(ordered) - 1, int(0.99 * len(ordered)))
    return {"median": round(1000 * statistics.median(ordered), 2), "p99": round(1000 * ordered[place], 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(run(asked.domains, asked.seconds))
    write_result("frontier_rate", figures, "python -m bench.frontier_rate", keep=asked.keep)


if __name__ == "__main__":
    main()
