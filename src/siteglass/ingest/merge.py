"""Page facts to leads and evidence, in Spark: one lead for each registrable domain.

facts/*.parquet --blocks--> captures, moved by Spark to their part --together, finishing--> *.parquet, *.evidence
"""

from __future__ import annotations

import math
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.aliases import NO_ALIASES, Aliases
from siteglass.ingest.blocks import dealt, unpacked
from siteglass.ingest.captures import CaptureCollector, believable, checked, lightened
from siteglass.ingest.content import PREVIOUS_SCHEMA, hashes_of_file
from siteglass.ingest.grouped import listed
from siteglass.ingest.part_writer import Finishing, PartReport
from siteglass.ingest.rules import rules_of
from siteglass.ingest.sources import PRECEDENCE
from siteglass.ingest.store.shared_values import SharedValues
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = "siteglass.ingest.lead_rules:RULES"
# What a worker holds at once, of the files that it deals out and of the part that it merges. It needs some seven times
# the bytes of a part: texts in Arrow, twice while they are put together, and the leads.
ROWS_AT_ONCE = 20_000
PART_BYTES = 128 * 2**20
MIN_PARTS = 2
MIN_BLOCK_ROWS = 20
# Blocks have up to some megabytes each.
BLOCKS_PER_BATCH = 16
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_COLUMNS: dict[str, pa.DataType] = {"part": pa.int32(), "is_fact": pa.bool_(), "block": pa.binary()}
_BLOCK: pa.Schema = pa.schema(_COLUMNS)

Batches = Iterator[pa.RecordBatch]


class MergeFailed(Exception):
    """The merge cannot begin; the message says what to do."""


class MergeReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge made."""

    leads: int
    evidence: int
    unchanged: int
    """Leads that say the same as those of the run before, and keep the time of their last change."""
    dropped: dict[str, int]
    """Domains that are not leads, by reason: parked, alias, noindex, no_page, name, excluded, suppressed."""


def merge(
    spark: SparkSession,
    facts: Path,
    out: Path,
    *,
    previous: Path | None = None,
    suppressed: SuppressionSnapshot | None = None,
    shared: SharedValues = frozenset(),
    aliases: Aliases = NO_ALIASES,
    rules: str = RULES,
    parts: int | None = None,
    precedence: Sequence[str] = PRECEDENCE,
    excluded: frozenset[str] = frozenset(),
) -> MergeReport:
    """Merge the files of facts in a folder into files of leads in `out`, each with its evidence beside it.

    Each file is in the order of domains, and a domain is in one of them: which, its name and the number of `parts` say.
    `out` takes its place when all is written. `previous` is such an `out` of the run before, this one or another, or a
    folder of what its leads said, see `content`. Values that are `shared` by many domains are not shown.
    """
    if not any(facts.glob("*.parquet")):
        raise MergeFailed(f"{facts}: there is no .parquet file in this folder. Extract archives first.")
    if previous is not None and not any(previous.glob("*.parquet")):
        raise MergeFailed(f"{previous}: there is no .parquet file in this folder. Omit it for a first run.")
    with _replacing(out) as aside:
        finishing = Finishing(aside.resolve(), rules, suppressed, shared, aliases, precedence, excluded)
        return _merged(spark, facts, previous, finishing, parts)


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


def _merged(
    spark: SparkSession, facts: Path, previous: Path | None, finishing: Finishing, parts: int | None
) -> MergeReport:
    files = sorted(path.resolve() for path in facts.glob("*.parquet"))
    before = sorted(path.resolve() for path in previous.glob("*.parquet")) if previous else []
    size = _Size.of(files)
    parts = parts or size.parts
    groups = list(_grouped(files, size))
    count = len(groups) + len(before)
    usual = str(spark.conf.get(_BATCH))
    spark.conf.set(_BATCH, str(BLOCKS_PER_BATCH))
    try:
        # A range has exactly one number in each of so many partitions.
        tasks = spark.range(0, count, 1, count)
        dealer = _dealer(groups, before, parts, finishing.rules)
        blocks = tasks.mapInArrow(dealer, "part int, is_fact boolean, block binary")
        moved = blocks.repartitionById(parts, "part")
        answers = moved.mapInArrow(_finisher(finishing), "answer binary").collect()
    finally:
        spark.conf.set(_BATCH, usual)
    return summed([msgspec.msgpack.decode(bytes(row["answer"]), type=PartReport) for row in answers])


def summed(parts: Sequence[PartReport]) -> MergeReport:
    """What all parts made."""
    dropped: Counter[str] = Counter()
    for part in parts:
        dropped.update(part.dropped)
    return MergeReport(
        leads=sum(part.leads for part in parts),
        evidence=sum(part.evidence for part in parts),
        unchanged=sum(part.unchanged for part in parts),
        dropped=dict(sorted(dropped.items())),
    )


class _Size(NamedTuple):
    """How much there is, and in how many parts it is merged."""

    rows: int
    bytes: int
    per_file: dict[Path, int]

    @classmethod
    def of(cls, files: list[Path]) -> _Size:
        read = {path: pq.read_metadata(path) for path in files}
        groups = [data.row_group(number) for data in read.values() for number in range(data.num_row_groups)]
        per_file = {path: data.num_rows for path, data in read.items()}
        return cls(sum(per_file.values()), sum(group.total_byte_size for group in groups), per_file)

    @property
    def at_once(self) -> int:
        """Rows that a worker holds: of very many, so many that there are still some of each file for each part."""
        return max(ROWS_AT_ONCE, math.isqrt(MIN_BLOCK_ROWS * self.rows))

    @property
    def parts(self) -> int:
        return max(MIN_PARTS, math.ceil(self.rows / self.at_once), math.ceil(self.bytes / PART_BYTES))


def _grouped(files: list[Path], size: _Size) -> Iterator[tuple[Path, ...]]:
    """Files that are dealt out together."""
    group: list[Path] = []
    rows = 0
    for path in files:
        if group and rows + size.per_file[path] > size.at_once:
            yield tuple(group)
            group, rows = [], 0
        group.append(path)
        rows += size.per_file[path]
    yield tuple(group)


def _dealer(groups: list[tuple[Path, ...]], before: list[Path], parts: int, rules: str) -> Callable[[Batches], Batches]:
    """Reads what a number names, a group of files of facts or, after those, leads of the run before, and deals their
    rows out to parts."""

    def captures(paths: tuple[Path, ...]) -> pa.Table:
        gathering = CaptureCollector(rules_of(rules).priority)
        for path in paths:
            with pq.ParquetFile(path) as file:
                gathering.add(believable(checked(file.read(use_threads=False), path.name)))
        return lightened(gathering.captures(), rules_of(rules).priority)

    def deal(batches: Batches) -> Batches:
        for batch in batches:
            for number in listed(batch, "id"):
                is_fact = number < len(groups)
                table = captures(groups[number]) if is_fact else hashes_of_file(before[number - len(groups)])
                for part, block in dealt(table, parts):
                    yield pa.record_batch([[part], [is_fact], [block]], schema=_BLOCK)

    return deal


def _finisher(finishing: Finishing) -> Callable[[Batches], Batches]:
    """Makes the files of a part of its blocks; of none, nothing."""

    def finish(batches: Batches) -> Batches:
        gathering, previous = CaptureCollector(rules_of(finishing.rules).priority), [PREVIOUS_SCHEMA.empty_table()]
        parts = set()
        for batch in batches:
            parts.update(listed(batch, "part"))
            for is_fact, block in zip(listed(batch, "is_fact"), batch.column("block"), strict=True):
                add = gathering.add if is_fact else previous.append
                add(unpacked(block.as_buffer()))
        if not parts:
            return
        (part,) = parts  # else Spark had put two together, and files would hold what their name does not say
        captures = gathering.captures()
        del gathering  # twice the memory
        done = finishing.part(part, captures, pa.concat_tables(previous))
        yield pa.record_batch([pa.array([msgspec.msgpack.encode(done)], pa.binary())], names=["answer"])

    return finish
