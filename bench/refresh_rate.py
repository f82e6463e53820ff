"""What a refresh of 1 % of the domains takes, against extraction, merge and load of all: one page of about 10 kB each.

python -m bench.refresh_rate --domains 50000 --times 10 --keep

With --times, the store gets as many times the domains before the refresh, as copies of their facts. What all of them
take is then that of the domains, multiplied.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.common import FOLDER, SEED, bench_settings, tables, write_result
from siteglass.index import generations
from siteglass.index.index import Index, open_index
from siteglass.index.rebuild import RebuildPlan, rebuild
from siteglass.index.updates import update
from siteglass.index.verification import Tolerances
from siteglass.ingest import pipeline
from siteglass.ingest.facts import FACTS_SCHEMA
from siteglass.ingest.grouped import listed
from siteglass.ingest.pipeline import RunOrder, RunResult
from siteglass.ingest.store.facts_store import open_store
from siteglass.platform.backends import open_backends
from siteglass.settings import Settings
from testing.progress import say
from testing.warc_files import response, write_warc

PAGES_PER_ARCHIVE = 5_000
PAGE_BYTES = 10_000
TECHNOLOGIES = ("https://cdn.shopify.com/s/a.js", "https://www.google-analytics.com/analytics.js", "/wp-content/a.js")


def page(chance: random.Random, number: int, edition: int) -> bytes:
    """A home page with contacts, links, and some text; another edition has another title."""
    words = [f"word{chance.randrange(3_000)}" for _ in range(900)]
    paragraphs = "".join(f"<p>{' '.join(words[start : start + 60])}.</p>" for start in range(0, len(words), 60))
    links = "".join(f"<a href='/page-{chance.randrange(100)}'>{word}</a>" for word in words[:25])
    html = (
        f"<html lang=en><head><title>Company {number}, edition {edition}</title>"
        f"<meta name=description content='What company {number} makes'><meta name=viewport content=width>"
        f"<script src='{chance.choice(TECHNOLOGIES)}'></script></head><body><h1>Company {number}</h1>{links}"
        f"<p>Write to info@company-{number}.com or call +4930{number:08}.</p>{paragraphs}</body></html>"
    )
    return html.encode()[:PAGE_BYTES]


def write_archives(folder: Path, numbers: Sequence[int], edition: int) -> list[Path]:
    """Home pages of these companies, in files of some thousand."""
    folder.mkdir(parents=True)
    chance = random.Random(SEED + edition)
    date = f"2026-10-{edition:02}T12:00:00Z"

    def records(some: Sequence[int]) -> Iterator[bytes]:
        for number in some:
            yield response(f"https://company-{number}.com/", page(chance, number, edition), date=date)

    paths = []
    for start in range(0, len(numbers), PAGES_PER_ARCHIVE):
        paths.append(folder / f"{edition}-{start:07}.warc.gz")
        write_warc(paths[-1], records(numbers[start : start + PAGES_PER_ARCHIVE]))
    return paths


def _in_index(settings: Settings, action: Callable[[Index], Any]) -> Any:
    async def inside() -> Any:
        async with open_backends(settings) as backends:
            return await action(open_index(backends))

    return asyncio.run(inside())


def _load_all(settings: Settings, result: RunResult) -> None:
    plan = RebuildPlan(generations.Shape(), promote=True)
    _in_index(settings, lambda index: rebuild(index, [result.leads], plan))


def _load_some(settings: Settings, result: RunResult) -> None:
    files = sorted(result.leads.glob("*.parquet"))
    done = _in_index(settings, lambda index: update(index, files, result.gone(), Tolerances()))
    if not done.report.ok:
        raise RuntimeError(f"not all leads were loaded: {done.report}")


def _timed(order: RunOrder, load: Callable[[RunResult], None]) -> dict[str, float]:
    """Seconds of all, and of its steps."""
    loaded: list[float] = []

    def timed_load(result: RunResult) -> None:
        started = time.perf_counter()
        load(result)
        loaded.append(time.perf_counter() - started)

    started = time.perf_counter()
    result = pipeline.build(order, timed_load)
    seconds = time.perf_counter() - started
    if result is None:
        raise RuntimeError("there was nothing to do")
    return {"all": round(seconds, 1), **result.report.seconds, "load": round(loaded[0], 1)}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _copy(order: RunOrder, times: int) -> None:
    """Add the facts of all pages to the store as those of other domains, in its base."""
    tasks: dict[str, Path] = {}
    for path in sorted((order.work / "facts").glob("*.parquet")):
        table = pq.read_table(path)
        for number in range(1, times):
            name = f"{path.stem}-{number}"
            tasks[name] = order.work / "copies" / f"{name}.parquet"
            tasks[name].parent.mkdir(exist_ok=True)
            copied = table
            for column in ("domain", "url"):
                place = FACTS_SCHEMA.get_field_index(column)
                # Beside the original in the order of domains, so that those that are refreshed are everywhere.
                values = [text.replace(".com", f"-copy-{number}.com") for text in listed(table, column)]
                copied = copied.set_column(place, FACTS_SCHEMA.field(place), pa.array(values, pa.string()))
            pq.write_table(copied, tasks[name])
    with open_store(order.store_address) as store:
        store.append(tasks)
        store.compact()
        store.settle(store.manifest.pending)
        store.commit()
    shutil.rmtree(order.work / "copies")


def run(domains: int, times: int, share: float) -> dict[str, Any]:
    """All domains, then some of them at random, then a compaction."""
    work = FOLDER / "refresh"
    shutil.rmtree(work, ignore_errors=True)
    settings = replace(bench_settings("refresh"), lead_store=work / "leads")
    say(f"writing {domains:,} pages")
    every = write_archives(work / "first", range(domains), 1)
    some = random.Random(SEED).sample(range(domains), max(1, round(domains * times * share)))
    few = write_archives(work / "second", sorted(some), 2)
    order = RunOrder(every, work / "work", workers=os.cpu_count() or 1)

    async def cleared(index: Index) -> None:
        await index.opensearch.request("DELETE", f"/{index.names.generations}", timeout_ms=60_000)

    async def measured() -> dict[str, Any]:
        async with tables(settings):
            say("extract, merge and load all")
            full = await asyncio.to_thread(_timed, order, lambda result: _load_all(settings, result))
            if times > 1:
                say(f"{full}; copy all, {times} times in the end")
                await asyncio.to_thread(_copy, order, times)
            store = _bytes(work / "work" / "store")
            say(f"{full}; refresh {len(some):,}")
            part = await asyncio.to_thread(
                _timed, replace(order, archives=few), lambda result: _load_some(settings, result)
            )
            say(f"{part}; compaction")
            started = time.perf_counter()
            await asyncio.to_thread(pipeline.compact, order)
            compaction = time.perf_counter() - started
            await asyncio.to_thread(_in_index, settings, cleared)
        return {
            "domains": domains * times,
            "read_merged_and_loaded": domains,
            "refreshed": len(some),
            "full_s": full,
            "refresh_s": part,
            "refresh_percent": round(100 * part["all"] / (full["all"] * times), 2),
            "store_bytes_per_page": round(store / (domains * times)),
            "compaction_s": round(compaction, 1),
        }

    return asyncio.run(measured())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=1, help="how many times the domains are in the store")
    parser.add_argument("--share", type=float, default=0.01, help="of the domains that are refreshed")
    parser.add_argument("--keep", action="store_true", help="keep the figures in bench/results")
    given = parser.parse_args()
    command = f"python -m bench.refresh_rate --domains {given.domains} --times {given.times} --share {given.share}"
    write_result("refresh_rate", run(given.domains, given.times, given.share), command, keep=given.keep)


if __name__ == "__main__":
    main()
