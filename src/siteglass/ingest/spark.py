"""Driver two: a session of Spark, and archives to page facts in it. Tasks write the same files as those of the pool."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from siteglass.ingest.tasks import FailedArchive, Plan, Summary, TaskSummary, bound_memory, run_task, sweep, task_id_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_VERSION = 17
JVMS = Path("/usr/lib/jvm")
MAX_FAILURES = 4
# In local mode the number of failures is part of the master's name, and the setting is not read.
LOCAL_MASTER = f"local[*,{MAX_FAILURES}]"
DRIVER_MEMORY = "2g"

# All that Java does is to start workers and move blocks: quick code now is worth more than the best code later.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"

_ANSWER = pa.schema([pa.field("answer", pa.binary())])
_QUIET = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""


class NoJava(Exception):
    """Spark cannot start without Java; the message says what to install."""


def java_home() -> Path:
    """The JVM of the version that Spark is tested with, else the oldest newer one."""
    found = sorted((version, home) for home in JVMS.glob("*") if (version := _version(home)) >= JAVA_VERSION)
    if not found:
        raise NoJava(
            f"Spark needs Java {JAVA_VERSION} or newer, and none was found in {JVMS}. Install a JRE of version "
            f"{JAVA_VERSION}, for example openjdk-{JAVA_VERSION}-jre-headless, or set the folder of an installed one."
        )
    return found[0][1]


def _version(home: Path) -> int:
    try:
        match = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) if match and (home / "bin/java").exists() else 0


@contextmanager
def spark_session(
    work: Path,
    *,
    master: str = LOCAL_MASTER,
    driver_memory: str = DRIVER_MEMORY,
    java: Path | None = None,
) -> Iterator[SparkSession]:
    """A session that keeps all it writes below `work`, speaks on loopback only, and says errors alone."""
    from pyspark.sql import SparkSession

    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    # Data for workers, including secrets, may stay there for a while: only we can read it, and nothing remains of a
    # killed run.
    shutil.rmtree(work / "tmp", ignore_errors=True)
    (work / "tmp").mkdir(mode=0o700)
    logging = work / "log4j2.properties"
    logging.write_text(_QUIET)
    options = {
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": (
            f"{JAVA_OPTIONS} -Dlog4j2.configurationFile={logging} "
            f"-Djava.io.tmpdir={work / 'tmp'} -Dderby.system.home={work / 'tmp'}"
        ),
        "spark.executor.extraJavaOptions": JAVA_OPTIONS,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(work / "tmp"),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.task.maxFailures": str(MAX_FAILURES),
        # What is moved are blocks, which are compressed already.
        "spark.shuffle.compress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    # Java, the Python of workers and where it finds modules are named by the environment only; it is put back.
    wanted = {
        "JAVA_HOME": str(java or java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        builder = SparkSession.builder.master(master).appName("siteglass ingest")
        for name, value in options.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    finally:
        for name, old in before.items():
            os.environ.pop(name) if old is None else os.environ.update({name: old})
    try:
        yield spark
    finally:
        # Tasks whose result nobody waits for any more fail while it stops: no news to an operator.
        spark.sparkContext.setLogLevel("OFF")
        spark.stop()
        shutil.rmtree(work / "tmp", ignore_errors=True)


def run_tasks(spark: SparkSession, archives: Sequence[Path], plan: Plan) -> Summary:
    """The facts of all archives, one to a task; those done before are not read again.

    A worker that dies is Spark's to replace. An archive that took MAX_FAILURES - 1 workers with it is parked by the
    next one, so that it does not end the run.
    """
    if not archives:
        return Summary(tasks=[], parked=[])
    plan.folder.mkdir(parents=True, exist_ok=True)
    for tries in plan.folder.glob("*.tries"):
        tries.unlink()  # of a run that was ended: its workers did not die of an archive
    paths = [str(path.resolve()) for path in archives]
    # A range has exactly one number in each of so many partitions.
    numbers = spark.range(0, len(paths), 1, len(paths))
    rows = numbers.mapInArrow(_task_runner(paths, plan), "answer binary").collect()
    sweep(plan.folder)
    answers = [msgspec.msgpack.decode(bytes(row["answer"]), type=_Answer) for row in rows]
    return Summary(
        tasks=[answer.summary for answer in answers if answer.summary],
        parked=[answer.parked for answer in answers if answer.parked],
    )


class _Answer(msgspec.Struct, frozen=True):
    summary: TaskSummary | None = None
    parked: FailedArchive | None = None


def _task_runner(paths: list[str], plan: Plan) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bound_memory(plan.max_worker_bytes)
        for batch in batches:
            for number in batch.column(0):
                answer = _tried(Path(paths[int(number.as_py() or 0)]), plan)
                yield pa.record_batch([pa.array([msgspec.msgpack.encode(answer)], pa.binary())], schema=_ANSWER)

    return run


def _tried(archive: Path, plan: Plan) -> _Answer:
    """A task's attempts are counted next to its file: a worker that dies cannot report it, and Spark ends the run after
    some."""
    count: Path | None = None
    try:
        count = plan.folder / f"{task_id_of(archive)}.tries"
        tries = len(count.read_bytes()) if count.exists() else 0
        if tries >= MAX_FAILURES - 1:
            count.unlink()
            return _Answer(parked=FailedArchive(archive=archive.name, reason=f"{tries} workers crashed on it"))
        with count.open("ab") as file:
            file.write(b".")
        summary = run_task(archive, plan)
        count.unlink()
    except Exception as error:
        if count:
            count.unlink(missing_ok=True)
        return _Answer(parked=FailedArchive(archive=archive.name, reason=f"{type(error).__name__}: {error}"))
    return _Answer(summary=summary)
