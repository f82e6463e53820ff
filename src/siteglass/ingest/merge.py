"""Page facts to leads and evidence, in Spark: one lead for each registrable domain. The statements: `merge_sql`.

facts/*.parquet --SQL--> one row a domain --finishing--> leads/*.parquet, evidence/*.parquet
"""

from __future__ import annotations

import math
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from siteglass.ingest import merge_sql
from siteglass.ingest.content import hashes_of_file
from siteglass.ingest.finishing import Finished, Finishing
from siteglass.ingest.rules import rules_of
from siteglass.ingest.suppressed import Suppressed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = "siteglass.ingest.lead_rules:RULES"
# A part is held in the memory of its worker: with the longest texts that there can be, some 200 MB.
LEADS_PER_PART = 10_000
MIN_PARTS = 8
# So many names fit into the memory of every worker; of more, rows are moved to where the names are.
MAX_BROADCAST_CROWDS = 1_000_000
BATCH_ROWS = 1_000

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
    """Merge the files of facts in a folder into `out`/leads/*.parquet and `out`/evidence/*.parquet.

    Each file is sorted by domain, and a domain is in one of them: which, its name and the number of `parts` say. `out`
    takes its place when all is written. `previous` is such an `out` of the run before, this one or another.
    """
    if not any(facts.glob("*.parquet")):
        raise MergeFailed(f"{facts}: no .parquet file is in this folder. Make some from archives first.")
    if previous is not None and not any((previous / "leads").glob("*.parquet")):
        raise MergeFailed(f"{previous}: no .parquet file is in its folder leads. Leave it out for a first run.")
    aside = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.tmp")
    for folder in ("leads", "evidence"):
        (aside / folder).mkdir(parents=True)
    try:
        merged = _Merging(spark, facts, aside, rules).run(previous, suppressed, parts)
        shutil.rmtree(aside / "signals")
        if out.exists():
            gone = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.old")
            out.rename(gone)
            aside.rename(out)
            shutil.rmtree(gone)
        else:
            aside.rename(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return merged


class _Merging:
    """The steps of a merge. Views of the session have names of their own, so that several can be under way."""

    def __init__(self, spark: SparkSession, facts: Path, aside: Path, rules: str) -> None:
        self._spark = spark
        self._aside = aside
        self._rules = rules
        self._own = uuid.uuid4().hex[:8]
        self._names: dict[str, str] = {"priority": self._register_priority()}
        self._view("facts", spark.read.parquet(str(facts.resolve())))

    def run(self, previous: Path | None, suppressed: Suppressed | None, parts: int | None) -> Merged:
        """All of it; see `merge`."""
        # A text of 20,000 characters a row: fewer rows at once than by default.
        wanted = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS)}
        if parts is not None:
            wanted["spark.sql.shuffle.partitions"] = str(parts)
        before = {name: str(self._spark.conf.get(name)) for name in wanted}
        self._configure(wanted)
        try:
            dropped, leads = self._signals()
            parts = parts or max(MIN_PARTS, math.ceil(leads / LEADS_PER_PART))
            rows = self._merged(parts)
            if previous is not None:
                rows = rows.join(self._previous(previous).repartition(parts, "domain"), "domain", "left")
            finishing = Finishing(self._aside.resolve(), self._rules, suppressed)
            done = self._finish(rows.sortWithinPartitions("domain"), finishing)
        finally:
            self._configure(before)
            for name in self._names.values():
                self._spark.catalog.dropTempView(name)
        if suppressed is not None:
            dropped["suppressed"] = sum(one.suppressed for one in done)
        return Merged(
            leads=sum(one.leads for one in done),
            evidence=sum(one.evidence for one in done),
            unchanged=sum(one.unchanged for one in done),
            dropped=dict(sorted(dropped.items())),
        )

    def _configure(self, options: dict[str, str]) -> None:
        for name, value in options.items():
            self._spark.conf.set(name, value)

    def _register_priority(self) -> str:
        from pyspark.sql.functions import udf

        rules = self._rules
        name = f"priority_{self._own}"
        self._spark.udf.register(name, udf(lambda path: rules_of(rules).priority(path), "int", useArrow=True))
        return name

    def _view(self, name: str, rows: DataFrame) -> None:
        self._names[name] = f"{name}_{self._own}"
        rows.createOrReplaceTempView(self._names[name])

    def _sql(self, statement: str) -> DataFrame:
        return self._spark.sql(statement.format(**self._names))

    def _signals(self) -> tuple[dict[str, int], int]:
        """Which domains are leads; those that are not by reason, and the number of the others."""
        folder = str(self._aside.resolve() / "signals")
        self._sql(merge_sql.SIGNALS).write.parquet(folder)
        signals = self._spark.read.parquet(folder)
        self._view("signals", signals)
        counts = {row["dropped"]: row["count"] for row in signals.groupBy("dropped").count().collect()}
        leads = counts.pop("", 0)
        return counts, leads

    def _merged(self, parts: int) -> DataFrame:
        """One row a domain that is a lead, where its name belongs."""
        chosen = self._chosen().repartition(parts, "domain")
        self._view("chosen", chosen)
        signals = self._sql("SELECT domain, has_robots, robots_audits, has_sitemap FROM {signals} WHERE dropped = ''")
        return self._sql(merge_sql.MERGED).join(signals.repartition(parts, "domain"), "domain")

    def _chosen(self) -> DataFrame:
        """The pages that are read, at most MAX_PAGES of a domain."""
        crowds = self._sql(merge_sql.CROWDS)
        count = crowds.count()
        if not count:
            return self._speaking("")
        self._view("crowds", crowds.hint("broadcast") if count <= MAX_BROADCAST_CROWDS else crowds)
        self._view("many", self._speaking(merge_sql.MANY))
        return self._speaking(merge_sql.FEW).unionAll(self._sql(merge_sql.CROWDED))

    def _speaking(self, which: str) -> DataFrame:
        return self._sql(merge_sql.SPEAKING.replace("{which}", which))

    def _previous(self, previous: Path) -> DataFrame:
        paths = sorted(str(path.resolve()) for path in (previous / "leads").glob("*.parquet"))

        def hashed(batches: Batches) -> Batches:
            for batch in batches:
                for number in batch.column(0):
                    yield from hashes_of_file(Path(paths[int(number.as_py() or 0)]))

        schema = "domain string, previous_hash binary, previous_updated_at_ms long"
        return self._spark.range(0, len(paths), 1, len(paths)).mapInArrow(hashed, schema)

    def _finish(self, rows: DataFrame, finishing: Finishing) -> list[Finished]:
        answers = rows.mapInArrow(_finisher(finishing), "answer binary").collect()
        return [msgspec.msgpack.decode(bytes(row["answer"]), type=Finished) for row in answers]


def _finisher(finishing: Finishing) -> Callable[[Batches], Batches]:
    def finish(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None  # noqa: S101 - this runs in a task
        answer = msgspec.msgpack.encode(finishing.part(context.partitionId(), batches))
        yield pa.record_batch([pa.array([answer], pa.binary())], names=["answer"])

    return finish
