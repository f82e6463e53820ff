"""What extraction takes: of real pages against bare reading and parsing, and Spark against the process pool.

python -m bench.extract_rate --pages 8000 --keep
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser

from bench.common import SEED, write_result
from siteglass.ingest import pool, spark
from siteglass.ingest.archives import read_archive
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract import ExtractFailed, facts_of
from siteglass.ingest.extract.page import decoded
from siteglass.ingest.tasks import Plan, Summary
from siteglass_demo.sites import sites, write_warc
from testing.warc_files import response
from testing.warc_files import write_warc as write_records
from vocabulary.sources import npm_package

# 258 real pages; downloaded here, since their texts belong to their owners.
PACKAGE, RELEASE = "htmlparser-benchmark", "1.1.3"
ROUNDS = 5
FILES = 8


def real_pages(cache: Path) -> list[bytes]:
    """The pages, in the order of their names."""
    return [path.read_bytes() for path in sorted((npm_package(cache, PACKAGE, RELEASE) / "files").glob("*.html"))]


def write_real(path: Path, pages: list[bytes]) -> None:
    """Real pages as the home pages of as many sites."""
    write_records(path, (response(f"https://site-{number}.example.com/", body) for number, body in enumerate(pages)))


def bare(path: Path) -> Iterator[int]:
    """Reading and parsing, and nothing else: what no extraction can be faster than."""
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            body = record.reader.read()
            tree = LexborHTMLParser(decoded(body, record.http_content_type or ""))
            yield len(tree.tags("a"))


def whole(path: Path) -> Iterator[Any]:
    """Reading, parsing and all facts; what is for the quarantine is passed over."""
    for capture in read_archive(path):
        if isinstance(capture, Capture):
            with contextlib.suppress(ExtractFailed):
                yield facts_of(capture)


def per_page_ms(work: Callable[[Path], Iterator[Any]], path: Path) -> float:
    """Time of the processor."""
    started = time.process_time()
    count = sum(1 for _ in work(path))
    return (time.process_time() - started) * 1e3 / count


def page_times(path: Path, pages: list[bytes]) -> dict[str, float]:
    """Milliseconds of one core a page, the fastest of some rounds that take turns."""
    per_page_ms(whole, path)  # rules and tables are made once
    rounds = [(per_page_ms(bare, path), per_page_ms(whole, path)) for _ in range(ROUNDS)]
    each: list[float] = []
    for capture in read_archive(path):
        if isinstance(capture, Capture):
            started = time.process_time()
            facts_of(capture)
            each.append((time.process_time() - started) * 1e3)
    bare_ms, whole_ms = min(one for one, _ in rounds), min(one for _, one in rounds)
    return {
        "pages": len(pages),
        "mean_bytes": round(sum(map(len, pages)) / len(pages)),
        "bare_ms": round(bare_ms, 2),
        "whole_ms": round(whole_ms, 2),
        "whole_to_bare": round(whole_ms / bare_ms, 2),
        "p99_ms": round(sorted(each)[len(each) * 99 // 100], 1),
    }


def _rows(folder: Path) -> str:
    """A fingerprint of all rows, whichever file they are in."""
    lines = sorted(
        repr(sorted(row.items())).encode()
        for path in folder.glob("*.parquet")
        for row in pq.read_table(path).to_pylist()
    )
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def drivers(archives: list[Path], folder: Path, workers: int) -> dict[str, Any]:
    """Both drivers over the same archives, start-up and all."""
    took: dict[str, float] = {}
    summaries: dict[str, Summary] = {}
    started = time.perf_counter()
    summaries["pool"] = pool.run_tasks(archives, Plan(folder=folder / "pool"), workers)
    took["pool"] = time.perf_counter() - started
    with spark.spark_session(folder / "work", master=f"local[{workers},{spark.MAX_FAILURES}]") as session:
        session.range(1).count()  # the start of Spark does not count: it is the same for any size
        started = time.perf_counter()
        summaries["spark"] = spark.run_tasks(session, archives, Plan(folder=folder / "spark"))
        took["spark"] = time.perf_counter() - started
    pages = summaries["pool"].pages
    rates = {name: round(pages / seconds) for name, seconds in took.items()}
    return {
        "pages": pages,
        "archives": len(archives),
        "workers": workers,
        "pages_a_second": rates,
        "spark_to_pool": round(took["pool"] / took["spark"], 2),
        "same_rows": _rows(folder / "pool") == _rows(folder / "spark"),
    }


def run(pages: int, count: int, workers: int) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        real = real_pages(folder)
        write_real(folder / "real.warc.gz", real)
        archives: list[Path] = []
        for number in range(FILES):
            archives.append(folder / f"many-{number}.warc.gz")
            write_real(archives[-1], (real * (pages // len(real) + 1))[: pages // FILES])
        made = folder / "made.warc.gz"
        write_warc(made, sites(count, SEED), seed=SEED)
        return {
            "real_pages": page_times(folder / "real.warc.gz", real),
            "made_sites_whole_ms": round(min(per_page_ms(whole, made) for _ in range(ROUNDS)), 2),
            "drivers": drivers(archives, folder, workers),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=8_000)
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write bench/results/extract_rate.json")
    options = parser.parse_args()
    figures = run(options.pages, options.sites, options.workers)
    command = (
        f"python -m bench.extract_rate --pages {options.pages} --sites {options.sites} --workers {options.workers}"
    )
    write_result("extract_rate", figures, command, keep=options.keep)


if __name__ == "__main__":
    main()
