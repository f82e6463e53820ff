"""Spark drives the same tasks: the same bytes as the pool, and no worker that dies ends a run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from siteglass.ingest import pool
from siteglass.ingest import spark as driver
from siteglass.ingest.tasks import FailedArchive, Plan, task_id_of
from testing.warc_files import packed, response, write_warc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("spark")]

EXTRACT = "tests.ingest.stand_in:facts_of"


def _damaged_archive(path: Path, records: int, seed: int) -> None:
    """One in a hundred records is malformed; the last member is damaged, each in another way."""
    chance = random.Random(seed)
    pages = [response(f"http://s{number}-{seed}.example/", b"page %d" % number) for number in range(records)]
    for number in range(50, records, 100):
        pages[number] = pages[number][: chance.randrange(len(pages[number]))]
    members = [packed(page) for page in pages]
    last = bytearray(members[-1])
    last[chance.randrange(len(last))] ^= 0xFF
    path.write_bytes(b"".join([*members[:-1], bytes(last)]))


@pytest.mark.nightly
def test_pool_and_spark_write_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    archives = [tmp_path / f"number-{number}.warc.gz" for number in range(3)]
    for number, path in enumerate(archives):
        _damaged_archive(path, 300, number)
    by_pool = Plan(folder=tmp_path / "by pool", extract=EXTRACT)
    by_spark = Plan(folder=tmp_path / "by spark", extract=EXTRACT)

    summary = driver.run_tasks(spark, archives, by_spark)

    assert summary == pool.run_tasks(archives, by_pool, 2)
    assert summary.parked == []
    assert 3 * 296 <= summary.pages <= 3 * 297
    assert {one.archive for one in summary.damage} == {path.name for path in archives}
    assert summary.unread_bytes == sum(one.unread_bytes for one in summary.damage)
    names = sorted(path.name for path in by_pool.folder.iterdir())
    assert sorted(path.name for path in by_spark.folder.iterdir()) == names
    for name in names:
        assert (by_spark.folder / name).read_bytes() == (by_pool.folder / name).read_bytes()
    assert all(task.was_done for task in driver.run_tasks(spark, archives, by_spark).tasks)


@pytest.mark.nightly
def test_killed_workers_and_slow_pages_do_not_end_the_run(spark: SparkSession, tmp_path: Path) -> None:
    """One archive kills its worker once, one always, one has a page without end, one cannot be opened."""
    bodies = (b"one", f"ONCE {tmp_path / 'died'}".encode(), b"KILL", b"SLOW")
    archives = [tmp_path / f"number-{number}.warc.gz" for number in range(len(bodies))]
    for path, body in zip(archives, bodies, strict=True):
        write_warc(path, [response("http://a.example/", body)])
    plan = Plan(folder=tmp_path / "facts", extract=EXTRACT, page_timeout_s=0.5)

    summary = driver.run_tasks(spark, [*archives, tmp_path / "missing.warc.gz"], plan)

    assert [task.archive for task in summary.tasks] == ["number-0.warc.gz", "number-1.warc.gz", "number-3.warc.gz"]
    assert summary.quarantined == {"extract: took too long": 1}
    died, unread = summary.parked
    assert died == FailedArchive(archive="number-2.warc.gz", reason="3 workers crashed on it")
    assert unread.reason.startswith("FileNotFoundError")
    assert {path.suffix for path in plan.folder.iterdir()} == {".parquet", ".ndjson"}


def test_java_is_found_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "JVMS", tmp_path)
    with pytest.raises(driver.NoJava, match="Install a JRE of version 17"):
        driver.java_home()
    for name, version in (("new", "25.0.1"), ("fit", "17.0.9"), ("old", "11.0.2")):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin/java").touch()
        (tmp_path / name / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    assert driver.java_home() == tmp_path / "fit"


def test_a_run_that_was_ended_is_not_held_against_an_archive(spark: SparkSession, tmp_path: Path) -> None:
    archive, plan = tmp_path / "a.warc.gz", Plan(folder=tmp_path / "facts", extract=EXTRACT)
    write_warc(archive, [response("https://one.example/")])
    plan.folder.mkdir()
    (plan.folder / f"{task_id_of(archive)}.tries").write_bytes(b"...")
    summary = driver.run_tasks(spark, [archive], plan)
    assert (summary.pages, summary.parked) == (1, [])
    assert not list(plan.folder.glob("*.tries"))
