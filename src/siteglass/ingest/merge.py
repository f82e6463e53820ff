"""Page facts to leads and evidence, in Spark: one lead for each registrable domain.

facts/*.parquet --blocks--> captures, moved by Spark to their part --together, finishing--> *.parquet, *.evidence
"""

from __future__ import annotations

import math
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.blocks import dealt, unpacked
from siteglass.ingest.captures import Gathering, believable, lightened
from siteglass.ingest.content import PREVIOUS_SCHEMA, hashes_of_file
from siteglass.ingest.facts import FACTS_SCHEMA
from siteglass.ingest.finishing import Finished, Finishing
from siteglass.ingest.rules import rules_of
from siteglass.ingest.suppressed import Suppressed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = "siteglass.ingest.lead_rules:RULES"
# A part is held in the memory of its worker: some 80 MB, 400 MB with the longest texts that there can be.
ROWS_PER_PART = 20_000
MIN_PARTS = 2
# Blocks have up to some megabytes each.
BLOCKS_PER_BATCH = 16
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_COLUMNS: dict[str, pa.DataType] = {"part": pa.int32(), "is_fact": pa.bool_(), "block": pa.binary()}
_BLOCK: pa.Schema = pa.schema(_COLUMNS)

Batches = Iterator[pa.RecordBatch]


class MergeFailed(Exception):
    """The merge cannot begin; the message says what to do."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge made."""

    leads: int
    evidence: int
    unchanged: int
    """Leads that say the same as those of the run before, and keep the time of their last change."""
    dropped: dict[str, int]
    """Domains that are no lead, by reason: parked, alias, noindex, no_page, name, suppressed."""


def merge(
    spark: SparkSession,
    facts: Path,
    out: Path,
    *,
    previous: Path | None = None,
    suppressed: Suppressed | None = None,
    rules: str = RULES,
    parts: int | None = None,
) -> Merged:
    """Merge the files of facts in a folder into files of leads in `out`, each with its evidence beside it.

    Each file is in the order of domains, and a domain is in one of them: which, its name and the number of `parts` say.
    `out` takes its place when all is written. `previous` is such an `out` of the run before, this one or another.
    """
    if not any(facts.glob("*.parquet")):
        raise MergeFailed(f"{facts}: no .parquet file is in this folder. Make some from archives first.")
    if previous is not None and not any(previous.glob("*.parquet")):
        raise MergeFailed(f"{previous}: no .parquet file is in this folder. Leave it out for a first run.")
    with _replacing(out) as aside:
        return _merged(spark, facts, previous, Finishing(aside.resolve(), rules, suppressed), parts)


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """A folder that takes the place of `out` when the block ends well, else leaves no trace."""
    aside = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.tmp")
    aside.mkdir(parents=True)
    try:
        yield aside
        if out.exists():
            gone = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.old")
            out.rename(gone)
            aside.rename(out)
            shutil.rmtree(gone)
        else:
            aside.rename(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _merged(spark: SparkSession, facts: Path, previous: Path | None, finishing: Finishing, parts: int | None) -> Merged:
    files = sorted(path.resolve() for path in facts.glob("*.parquet"))
    before = sorted(path.resolve() for path in previous.glob("*.parquet")) if previous else []
    rows = sum(pq.read_metadata(path).num_rows for path in files)
    parts = parts or max(MIN_PARTS, math.ceil(rows / ROWS_PER_PART))
    usual = str(spark.conf.get(_BATCH))
    spark.conf.set(_BATCH, str(BLOCKS_PER_BATCH))
    try:
        # A range has exactly one number in each of so many partitions.
        tasks = spark.range(0, len(files) + len(before), 1, len(files) + len(before))
        dealer = _dealer(files, before, parts, finishing.rules)
        blocks = tasks.mapInArrow(dealer, "part int, is_fact boolean, block binary")
        moved = blocks.repartitionById(parts, "part")
        answers = moved.mapInArrow(_finisher(finishing), "answer binary").collect()
    finally:
        spark.conf.set(_BATCH, usual)
    done = [msgspec.msgpack.decode(bytes(row["answer"]), type=Finished) for row in answers]
    dropped: Counter[str] = Counter()
    for one in done:
        dropped.update(one.dropped)
    return Merged(
        leads=sum(one.leads for one in done),
        evidence=sum(one.evidence for one in done),
        unchanged=sum(one.unchanged for one in done),
        dropped=dict(sorted(dropped.items())),
    )


def _dealer(files: list[Path], before: list[Path], parts: int, rules: str) -> Callable[[Batches], Batches]:
    """Reads the file of a number, one of facts or of leads of the run before, and deals its rows out to parts."""

    def tables(number: int) -> Iterator[pa.Table]:
        if number >= len(files):
            yield from (pa.Table.from_batches([batch]) for batch in hashes_of_file(before[number - len(files)]))
            return
        with pq.ParquetFile(files[number]) as file:
            captures = file.read(use_threads=False).select(FACTS_SCHEMA.names)
        yield lightened(believable(captures), rules_of(rules).priority)

    def deal(batches: Batches) -> Batches:
        for batch in batches:
            numbers: list[int] = _list(batch, "id")
            for number in numbers:
                for table in tables(number):
                    for part, block in dealt(table, parts):
                        yield pa.record_batch([[part], [number < len(files)], [block]], schema=_BLOCK)

    return deal


def _finisher(finishing: Finishing) -> Callable[[Batches], Batches]:
    """Makes the files of a part of its blocks."""

    def finish(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None  # noqa: S101 - this runs in a task
        gathering, previous = Gathering(rules_of(finishing.rules).priority), [PREVIOUS_SCHEMA.empty_table()]
        for batch in batches:
            for is_fact, block in zip(_list(batch, "is_fact"), batch.column("block"), strict=True):
                add = gathering.add if is_fact else previous.append
                add(unpacked(block.as_buffer()))
        done = finishing.part(context.partitionId(), gathering.captures(), pa.concat_tables(previous))
        yield pa.record_batch([pa.array([msgspec.msgpack.encode(done)], pa.binary())], names=["answer"])

    return finish


def _list(batch: pa.RecordBatch, name: str) -> list[Any]:
    return batch.column(name).to_pylist()
