"""How fast page facts become leads: rows a second of the merge in Spark, with and without one domain that has many.

python -m bench.merge_rate --rows 2000000 --keep
"""

from __future__ import annotations

import argparse
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from bench.common import FOLDER, write_result
from siteglass.ingest.facts import FACTS_SCHEMA, ContactSighting, to_batch
from siteglass.ingest.merge import merge
from siteglass.ingest.spark import spark_session
from testing.progress import say
from testing.random_facts import bench_facts

ROWS_PER_DOMAIN = 4
ROWS_PER_FILE = 50_000
TEMPLATES = 2_000


def write_rows(folder: Path, rows: int, crowd: int) -> None:
    """Files of facts: templates with other names, addresses and bodies; `crowd` of the rows are of one domain."""
    folder.mkdir(parents=True)
    templates = pa.Table.from_batches([to_batch(bench_facts(random.Random(1), TEMPLATES))], FACTS_SCHEMA)
    for number, start in enumerate(range(0, rows, ROWS_PER_FILE)):
        count = min(ROWS_PER_FILE, rows - start)
        pq.write_table(_rows(templates, start, count, crowd, rows), folder / f"{number:05}.parquet", compression="zstd")


def _rows(templates: pa.Table, start: int, count: int, crowd: int, rows: int) -> pa.Table:
    """Rows of a file: pages of a domain are far apart, as those of a crawl are."""
    table = templates.take(pa.array([(start + row) % TEMPLATES for row in range(count)]))
    places = range(start, start + count)
    # Multiplied by a prime: each number once, in another order.
    numbers = [place * 7_368_787 % rows for place in places]
    domains = ["crowd.example" if number < crowd else f"site-{number // ROWS_PER_DOMAIN}.example" for number in numbers]
    paths = [_path(number, crowd) for number in numbers]
    changed: dict[str, list[Any]] = {
        "domain": domains,
        "path": paths,
        "url": [f"https://{domain}{path}" for domain, path in zip(domains, paths, strict=True)],
        "is_home": [path == "/" for path in paths],
        "digest": [f"{number:016x}" for number in numbers],
        "offset": list(places),
        "emails": [[msgspec.structs.asdict(ContactSighting(f"info@{domain}", "mailto"))] for domain in domains],
    }
    for name, values in changed.items():
        place = FACTS_SCHEMA.get_field_index(name)
        table = table.set_column(place, FACTS_SCHEMA.field(place), pa.array(values, FACTS_SCHEMA.field(place).type))
    return table


def _path(number: int, crowd: int) -> str:
    if number < crowd:
        return f"/page/{number}" if number else "/"
    return ("/", "/contact", "/about", "/blog/post")[number % ROWS_PER_DOMAIN]


def run(rows: int, crowd: int, cores: int, memory: str) -> dict[str, Any]:
    """The plain case, then the one with a crowd, in one session: the start of Spark does not count."""
    work = FOLDER / "merge"
    shutil.rmtree(work, ignore_errors=True)
    figures: dict[str, Any] = {"rows": rows, "cores": cores}
    for name, many in (("even", 0), ("crowd", crowd)):
        say(f"writing {rows:,} rows, {many:,} of one domain")
        write_rows(work / name, rows, many)
    figures["bytes_per_row"] = round(sum(path.stat().st_size for path in (work / "even").iterdir()) / rows)
    started = time.perf_counter()
    with spark_session(work / "spark", master=f"local[{cores},4]", driver_memory=memory) as spark:
        figures["session_s"] = round(time.perf_counter() - started, 1)
        for name, seconds, found in _merges(spark, work):
            figures[name] = {
                "seconds": round(seconds, 1),
                "rows_per_second": round(rows / seconds),
                "leads": found.leads,
                "evidence": found.evidence,
            }
            say(f"{name}: {figures[name]}")
    shutil.rmtree(work)
    return figures


def _merges(spark: Any, work: Path) -> Iterator[tuple[str, float, Any]]:
    for name in ("even", "crowd"):
        started = time.perf_counter()
        found = merge(spark, work / name, work / f"{name} merged")
        yield name, time.perf_counter() - started, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--crowd", type=int, default=200_000, help="rows of one domain in the second case")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="2g", help="of Spark")
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = run(asked.rows, min(asked.crowd, asked.rows // 10), asked.cores, asked.memory)
    write_result("merge_rate", figures, "python -m bench.merge_rate", keep=asked.keep)


if __name__ == "__main__":
    main()
