"""What fetching costs: pages per second of CPU, and memory, of one crawler on made-up sites over HTTP and TLS.

    python -m bench.crawl_rate --sites 500 --keep

It serves the sites of `siteglass demo web` from another process, and runs `siteglass crawl run --no-leads` with a
frontier of its own, which is dropped afterwards. CPU and memory are those of the crawler alone, with its start, robots,
parsing and archives. The engines must be up.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg

from bench.common import FOLDER, bench_settings, tables, write_result
from siteglass.settings import Settings, environment_of
from testing.progress import say

SITEGLASS = str(Path(sys.executable).parent / "siteglass")
START_S = 300
DOMAIN_DELAY_MS, ADDRESS_DELAY_MS = 1_000, 250


async def run(sites: int) -> dict[str, Any]:
    folder = FOLDER / "crawl"
    shutil.rmtree(folder, ignore_errors=True)
    settings = bench_settings("crawl")
    settings = replace(
        settings,
        crawl_schema=settings.postgres_schema,
        crawl_domain_delay_ms=DOMAIN_DELAY_MS,
        crawl_address_delay_ms=ADDRESS_DELAY_MS,
    )
    async with tables(settings):
        try:
            with _web(folder / "web", sites) as environment:
                return await asyncio.to_thread(_crawl, settings, folder, environment)
        finally:
            await _drop(settings)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _web(folder: Path, sites: int) -> Iterator[dict[str, str]]:
    """The made-up web, and what leads a crawler there."""
    command = [SITEGLASS, "demo", "web", "--count", str(sites), "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            give_up = time.monotonic() + START_S
            while not (folder / "environment").exists():
                if process.poll() is not None or time.monotonic() > give_up:
                    raise RuntimeError("the made-up web did not start")
                time.sleep(0.2)
            say(f"{sites} sites are served")
            yield dict(line.split("=", 1) for line in (folder / "environment").read_text().splitlines())
        finally:
            process.terminate()


def _crawl(settings: Settings, folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    command = [SITEGLASS, "crawl", "run", str(folder / "web" / "domains.txt"), "--no-leads", "--work", str(folder)]
    started = time.monotonic()
    process = subprocess.Popen(
        command, env={**os.environ, **environment_of(settings), **environment}, stderr=subprocess.PIPE, text=True
    )
    _, usage = _ended(process)
    told = process.stderr.read() if process.stderr else ""
    found = re.search(r"(\d+) domains visited.*?(\d+) requests, (\d+) pages", told)
    if found is None:
        raise RuntimeError(told)
    domains, requests, pages = map(int, found.groups())
    cpu_s, memory_mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return {
        "domains": domains,
        "requests": requests,
        "pages": pages,
        "seconds": round(time.monotonic() - started, 1),
        "cpu_seconds": round(cpu_s, 1),
        "requests_per_cpu_second": round(requests / cpu_s),
        "largest_memory_mb": round(memory_mb),
        "domains_at_once": min(domains, settings.crawl_domains_at_once),
    }


def _ended(process: subprocess.Popen[str]) -> tuple[int, resource.struct_rusage]:
    """Wait for its end; how it ended, and what it and nobody else used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


async def _drop(settings: Settings) -> None:
    connection = await asyncpg.connect(settings.crawl_dsn, timeout=10)
    await connection.execute(f"DROP SCHEMA IF EXISTS {settings.crawl_schema} CASCADE")
    await connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=500)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(run(asked.sites))
    write_result("crawl_rate", figures, "python -m bench.crawl_rate", keep=asked.keep)


if __name__ == "__main__":
    main()
