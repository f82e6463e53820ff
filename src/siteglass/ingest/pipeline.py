"""A run from archives to files of leads and evidence: extract, add to the facts store, merge, report, load.

WORK/facts/TASK.parquet            facts of the pages of one archive; kept, so that no archive is read twice
WORK/store                         the facts store, unless it is elsewhere, see `store.facts_store`
WORK/runs/RUN/leads/*.parquet      leads of the domains that have new facts, beside each file its evidence
WORK/runs/RUN/gone.parquet         those of these domains that have no lead any more
WORK/runs/RUN/report.json          written last: a run that has it is complete
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import pyarrow.parquet as pq

from siteglass.corpus.domain_files import excluded_domains
from siteglass.corpus.lead_files import replacing
from siteglass.ingest import pool, spark
from siteglass.ingest.merge import MergeFailed
from siteglass.ingest.purge import PurgeReport, purge
from siteglass.ingest.report import Report, damage_lines, report_of
from siteglass.ingest.run_leads import GONE, merge_run, run_id, said_by
from siteglass.ingest.store.facts_store import NO_SETTINGS, FactsStore, open_store
from siteglass.ingest.store.manifest import StoreError
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.ingest.tasks import Plan, Summary, sweep
from siteglass.platform.progress import progress, working
from siteglass.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_PARKED_PERCENT = 0.1
# Of more, the merge will need Spark: it is better to know before they are read.
MAX_BYTES_WITHOUT_SPARK = 100 * 2**20
REPORT = "report.json"


class RunFailed(Exception):
    """A run that cannot continue; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a run is to do."""

    archives: Sequence[Path]
    work: Path
    driver: Literal["pool", "spark"] = "pool"
    workers: int = 2
    suppressed: SuppressionSnapshot | None = None
    driver_memory: str = spark.DRIVER_MEMORY
    store: str = ""
    """Folder or address of the facts store; "": inside of `work`."""
    replaces: bool = False
    """The store has only these archives, once their leads are loaded."""
    is_whole: bool = False
    """Merge all domains of the store, and not just those that have new facts."""
    settings: Settings = NO_SETTINGS
    """Where S3 is, if the store is there, and which source is believed first."""
    records: Sequence[Path] = ()
    """Files of records of other sources, see `write_records`."""

    @property
    def store_address(self) -> str:
        """Where the facts store is."""
        return self.store or str(self.work / "store")


@dataclass(frozen=True, slots=True)
class RunResult:
    """A complete run."""

    folder: Path
    report: Report
    is_whole: bool
    """Its leads are those of all domains of the store."""

    @property
    def leads(self) -> Path:
        """The folder of its files of leads."""
        return self.folder / "leads"

    def gone(self) -> dict[str, int]:
        """Domains that have no lead, or none any more, with the time of the newest fact of each."""
        rows = pq.read_table(self.folder / GONE).to_pylist()
        return {row["domain"]: row["version"] for row in rows}


Load = Callable[[RunResult], None]


def build(order: RunOrder, load: Load | None = None) -> RunResult | None:
    """Run to the end, or resume an interrupted run. Finished steps are not repeated. None: there is nothing to do.

    `load` gets the leads into the index. Until it returns, the domains of the run count as not loaded, so that the next
    run merges them again. Without it, they still do afterwards.
    """
    steps = _Steps(order)
    with alone(order.work), _one_line_errors(), open_store(order.store_address, order.settings) as store:
        if order.driver == "spark" or sum(path.stat().st_size for path in order.archives) > MAX_BYTES_WITHOUT_SPARK:
            spark.java_home()
        summary = steps.extract()
        if order.archives and not summary.pages:
            raise RunFailed(_no_lead(summary, {}))
        if order.replaces:
            store.clear()
        tasks = {task.task_id: order.work / "facts" / f"{task.task_id}.parquet" for task in summary.tasks}
        tasks |= {path.stem: path for path in order.records}
        with steps.timed("store"), working("Adding facts to the store"):
            added = store.append(tasks)
        if added and not order.replaces:
            store.commit()
        result = steps.merge(store, summary)
        if result is None:
            return None
        if load is not None:
            load(result)
            store.settle(store.manifest.pending)
        if load is not None or order.replaces:
            store.commit()
        return result


def add_records(order: RunOrder) -> None:
    """Add records of other sources to the store. The next run makes leads of them."""
    with alone(order.work), _one_line_errors(), open_store(order.store_address, order.settings) as store:
        store.append({path.stem: path for path in order.records})
        store.commit()


def compact(order: RunOrder) -> int:
    """Put the deltas of the store into its base; how many there were."""
    with alone(order.work), _one_line_errors(), open_store(order.store_address, order.settings) as store:
        deltas = len(store.manifest.deltas)
        with working("Writing the base"):
            store.compact()
        store.commit()
    return deltas


def purge_files(order: RunOrder) -> PurgeReport:
    """Remove what is on the list of opt-outs, see `purge`."""
    if order.suppressed is None:
        raise RunFailed("There is no list of opt-outs to purge by.")
    with (
        alone(order.work),
        _one_line_errors(),
        open_store(order.store_address, order.settings) as store,
        working("Removing opted-out values"),
    ):
        return purge(store, order.work, order.suppressed)


@dataclass(slots=True)
class _Steps:
    """The steps of a run, and how long each took."""

    order: RunOrder
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.seconds[step] = time.monotonic() - started

    def extract(self) -> Summary:
        sweep(self.order.work / "facts")
        with self.timed("extract"):
            summary = _extracted(self.order)
        _check_parked(summary)
        return summary

    def merge(self, store: FactsStore, summary: Summary) -> RunResult | None:
        """The leads of the domains that have new facts, or of all; None if there are none of these."""
        order = self.order
        is_whole = order.is_whole or order.replaces
        if store.is_empty:
            raise RunFailed("The store has no pages. Add some first: siteglass ingest run ARCHIVES")
        if not is_whole and not store.manifest.pending:
            return None
        is_first = not store.manifest.leads
        precedence, excluded = order.settings.source_precedence, excluded_domains(order.settings)
        name = run_id(store, order.suppressed, is_whole=is_whole, precedence=precedence, excluded=excluded)
        folder = order.work / "runs" / name
        if (folder / REPORT).exists():
            result = RunResult(folder, msgspec.json.decode((folder / REPORT).read_bytes(), type=Report), is_whole)
            if order.replaces:
                store.record_leads(said_by(sorted(result.leads.glob("*.parquet"))))
            return result
        with self.timed("merge"), working("Merging pages into leads"):
            merged = merge_run(
                store,
                folder,
                order.suppressed,
                lambda: _session(order),
                is_whole=is_whole,
                precedence=precedence,
                excluded=excluded,
            )
        if not merged.files and (is_whole or is_first):
            raise RunFailed(_no_lead(summary, merged.report.dropped))
        store.record_leads(said_by(merged.files))
        if not order.replaces:
            store.commit()
        report = report_of(folder.name, summary, merged, self.seconds, store.unknown_visits)
        with replacing(folder / REPORT) as sink:
            sink.write(msgspec.json.format(msgspec.json.encode(report), indent=2))
        return RunResult(folder, report, is_whole)


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """Two runs in one folder would take each other's files away. Raises RunFailed if there is another one."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFailed(
                f"Another run is using {work}. Wait until it ends, or choose another folder: --work"
            ) from None
        yield


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Problems that an operator can fix are reported in one line."""
    try:
        yield
    except (spark.NoJava, MergeFailed, StoreError) as error:
        raise RunFailed(str(error)) from error


@contextmanager
def _session(order: RunOrder) -> Iterator[SparkSession]:
    with spark.spark_session(
        order.work / "spark", master=f"local[{order.workers},{spark.MAX_FAILURES}]", driver_memory=order.driver_memory
    ) as session:
        yield session


def _extracted(order: RunOrder) -> Summary:
    plan = Plan(folder=order.work / "facts", suppressed=order.suppressed)
    archives = list(dict.fromkeys(path.resolve() for path in order.archives))
    if not archives:
        return Summary(tasks=[], parked=[])
    if order.driver == "spark":
        with working("Reading archives in Spark"), _session(order) as session:
            return _each_once(spark.run_tasks(session, archives, plan))
    with progress("Reading archives", pool.bytes_of(archives), unit="bytes") as advance_to:
        return _each_once(pool.run_tasks(archives, plan, order.workers, advance_to))


def _each_once(summary: Summary) -> Summary:
    """Copies of an archive in several folders are one task."""
    tasks = {task.task_id: task for task in summary.tasks}
    return Summary(tasks=list(tasks.values()), parked=summary.parked)


def _check_parked(summary: Summary) -> None:
    """A few archives may be missing from a large crawl; of a small one, none."""
    every = len(summary.tasks) + len(summary.parked)
    if 100 * len(summary.parked) > MOST_PARKED_PERCENT * every:
        first = summary.parked[0]
        raise RunFailed(
            f"{len(summary.parked)} of {every} archives could not be read; the first, {first.archive}: {first.reason}. "
            "Repair or omit them, then run again: the other archives are not read again."
        )


def _no_lead(summary: Summary, rejected: dict[str, int]) -> str:
    dropped = ", ".join(f"{reason} {count}" for reason, count in rejected.items()) or "none was read"
    damage = "".join(f"\n{line}" for line in damage_lines(summary.unread_bytes, summary.damage))
    return f"{summary.pages} pages gave no lead. Rejected domains, by reason: {dropped}.{damage}"
