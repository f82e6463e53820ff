"""A run from archives to files of leads and evidence: extract, merge, report. `siteglass.index.rebuild` loads them.

WORK/facts/TASK.parquet            facts of the pages of one archive; kept, so that no archive is read twice
WORK/runs/RUN/leads/*.parquet      the leads, beside each file its evidence
WORK/runs/RUN/report.json          written last: a run that has it is complete
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from siteglass.corpus.lead_files import replacing
from siteglass.ingest import pool, spark
from siteglass.ingest.aliases import aliases_of_files
from siteglass.ingest.merge import MergeFailed, MergeReport, merge
from siteglass.ingest.report import Report, damage_lines, report_of
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.ingest.tasks import Plan, Summary, sweep
from siteglass.platform.progress import progress, working

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Raise it with every change of how pages become a lead: it is part of a run's name, so that they are merged again.
MERGE_VERSION = "2026.11.5"
MOST_PARKED_PERCENT = 0.1
REPORT = "report.json"
TASKS = "tasks.txt"


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


@dataclass(frozen=True, slots=True)
class RunResult:
    """A complete run."""

    folder: Path
    report: Report

    @property
    def leads(self) -> Path:
        """The folder of its files of leads."""
        return self.folder / "leads"


def build(order: RunOrder) -> RunResult:
    """Run to the end, or resume an interrupted run. Finished steps are not repeated."""
    order.work.mkdir(parents=True, exist_ok=True)
    seconds: dict[str, float] = {}
    with _alone(order.work), _told():
        spark.java_home()  # what the merge will need is missed before hours of extraction
        sweep(order.work / "facts")
        with _timed(seconds, "extract"):
            summary = _extracted(order)
        _check_parked(summary)
        previous = _previous(order.work, summary)
        folder = order.work / "runs" / _run_id(summary, previous, order.suppressed)
        if (folder / REPORT).exists():
            return RunResult(folder, _read_report(folder))
        with _timed(seconds, "merge"), working("Merging pages into leads"):
            merged = _merged(order, summary, folder, previous)
        files = sorted((folder / "leads").glob("*.parquet"))
        if not files:
            dropped = ", ".join(f"{reason} {count}" for reason, count in merged.dropped.items()) or "none was read"
            damage = "".join(f"\n{line}" for line in damage_lines(summary.unread_bytes, summary.damage))
            raise RunFailed(f"{summary.pages} pages gave no lead. Rejected domains, by reason: {dropped}.{damage}")
        report = report_of(folder.name, summary, merged, files, seconds)
        with replacing(folder / REPORT) as sink:
            sink.write(msgspec.json.format(msgspec.json.encode(report), indent=2))
        return RunResult(folder, report)


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Two runs in one folder would take each other's files away."""
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFailed(
                f"Another run is using {work}. Wait until it ends, or choose another folder: --work"
            ) from None
        yield


@contextmanager
def _told() -> Iterator[None]:
    """Problems that an operator can fix are reported in one line."""
    try:
        yield
    except (spark.NoJava, MergeFailed) as error:
        raise RunFailed(str(error)) from error


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    seconds[step] = time.monotonic() - started


@contextmanager
def _session(order: RunOrder) -> Iterator[SparkSession]:
    with spark.spark_session(
        order.work / "spark", master=f"local[{order.workers},{spark.MAX_FAILURES}]", driver_memory=order.driver_memory
    ) as session:
        yield session


def _extracted(order: RunOrder) -> Summary:
    plan = Plan(folder=order.work / "facts", suppressed=order.suppressed)
    archives = list(dict.fromkeys(path.resolve() for path in order.archives))
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


def _read_report(run: Path) -> Report:
    return msgspec.json.decode((run / REPORT).read_bytes(), type=Report)


def _tasks_of(run: Path) -> str:
    return (run / TASKS).read_text()


def _previous(work: Path, summary: Summary) -> Path | None:
    """Leads of the newest complete run of other archives: the same again is compared with what it was compared with."""
    ours = _task_names(summary)
    complete = [report.parent for report in (work / "runs").glob(f"*/{REPORT}")]
    others = [run for run in complete if _tasks_of(run) != ours and any((run / "leads").glob("*.parquet"))]
    newest = max(others, key=lambda run: (run / REPORT).stat().st_mtime_ns, default=None)
    return newest and newest / "leads"


def _task_names(summary: Summary) -> str:
    return "".join(f"{name}\n" for name in sorted(task.task_id for task in summary.tasks))


def _run_id(summary: Summary, previous: Path | None, suppressed: SuppressionSnapshot | None) -> str:
    """What the leads of a run depend on, in one name."""
    listed = sorted(suppressed.domains) + sorted(one.hex() for one in suppressed.hashes) if suppressed else []
    parts = [MERGE_VERSION, _task_names(summary), previous.parent.name if previous else "", *listed]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _merged(order: RunOrder, summary: Summary, folder: Path, previous: Path | None) -> MergeReport:
    """The leads of this run's archives alone, each file with its evidence."""
    facts = folder / "facts"
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was interrupted
    facts.mkdir(parents=True)
    (folder / TASKS).write_text(_task_names(summary))
    for task in summary.tasks:
        (facts / f"{task.task_id}.parquet").hardlink_to(order.work / "facts" / f"{task.task_id}.parquet")
    aliases = aliases_of_files(facts.glob("*.parquet"))
    with _session(order) as session:
        merged = merge(
            session, facts, folder / "leads", previous=previous, suppressed=order.suppressed, aliases=aliases
        )
    shutil.rmtree(facts)
    return merged
