"""Made-up sites to leads: their pages through extraction, fold and merge, as in `siteglass ingest run`, without Spark.

Of some sites there are two crawls, so that their leads have a history.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from siteglass.ingest import pool
from siteglass.ingest.single_part import merge_in_process
from siteglass.ingest.store.folding import current
from siteglass.ingest.store.sorting import folded_files
from siteglass.ingest.tasks import Plan
from siteglass_demo.sites.companies import SEED
from siteglass_demo.sites.history import home_page_before
from siteglass_demo.sites.label import Site
from siteglass_demo.sites.writing import write_captures, write_sites

ARCHIVES = 8


class BuildFailed(Exception):
    """Pages could not be read; the message says which and why."""


def build(sites: Iterable[Site], target: Path, *, workers: int, on_progress: Callable[[int], None]) -> int:
    """Write the leads of the sites to a Parquet file, with their evidence beside it; returns how many there are.

    `on_progress` is called with the percentage of the pages that are read.
    """
    with tempfile.TemporaryDirectory() as name:
        facts, merged = Path(name) / "facts", Path(name) / "leads"
        archives = [Path(name) / f"companies-{number}.warc.gz" for number in range(ARCHIVES)]
        drawn = write_sites(archives, sites, SEED)
        archives.append(Path(name) / "companies-before.warc.gz")
        write_captures(archives[-1], filter(None, map(home_page_before, drawn)), SEED)
        all_bytes = pool.bytes_of(archives)
        summary = pool.run_tasks(
            archives, Plan(folder=facts), workers, lambda read_bytes: on_progress(100 * read_bytes // all_bytes)
        )
        if summary.parked or summary.quarantined:
            raise BuildFailed(
                f"Pages of the demo could not be read: archives {summary.parked}, records {summary.quarantined}. "
                "Extraction must read all of them: fix it, or the page that it cannot read."
            )
        merged.mkdir()
        report = merge_in_process(map(current, folded_files(sorted(facts.glob("*.parquet")))), merged)
        for written in merged.iterdir():
            shutil.copyfile(written, target.with_suffix(written.suffix))
    return report.leads
