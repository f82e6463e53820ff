"""Many pages of the store, merged in Spark, make the leads that the process itself makes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from siteglass.corpus.lead import Lead
from siteglass.ingest.run_leads import MAX_ROWS_IN_PROCESS, merge_run, said_by
from siteglass.ingest.store.facts_store import open_store
from testing.random_facts import random_facts, write_facts
from tests.ingest.store.histories import STAND_IN, leads_in, no_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("spark")]


@pytest.mark.nightly
def test_spark_and_the_process_make_the_same_leads(spark: SparkSession, tmp_path: Path) -> None:
    """Of all domains, and of those with new facts; one has more pages than are read."""

    @contextmanager
    def session() -> Iterator[SparkSession]:
        yield spark

    def merged(name: str, max_rows: int, *, is_whole: bool) -> tuple[list[Lead], list[Any], Any]:
        options: dict[str, Any] = {"rules": STAND_IN, "max_rows": max_rows, "is_whole": is_whole}
        done = merge_run(store, tmp_path / name, None, session if max_rows == 0 else no_spark, **options)
        evidence = [row for path in done.files for row in pq.read_table(path.with_suffix(".evidence")).to_pylist()]
        by_domain = sorted(leads_in(done.files), key=lambda lead: lead.domain)
        return by_domain, sorted(evidence, key=repr), (done.report, done.gone)

    write_facts(tmp_path / "facts", random_facts(random.Random(4), 120, crowd=200))
    with open_store(tmp_path / "store", min_domains=3, rows_at_once=70) as store:
        for path in sorted((tmp_path / "facts").iterdir()):
            store.append({path.stem: path})
            store.commit()
            here = merged("here", MAX_ROWS_IN_PROCESS, is_whole=False)
            assert merged("there", 0, is_whole=False) == here
            store.record_leads(said_by(sorted((tmp_path / "here" / "leads").glob("*.parquet"))))
            store.settle(store.manifest.pending)
            store.commit()
        assert store.shared()
        here = merged("here", MAX_ROWS_IN_PROCESS, is_whole=True)
        assert merged("there", 0, is_whole=True) == here
        assert here[2][0].unchanged == here[2][0].leads == len(here[0])
