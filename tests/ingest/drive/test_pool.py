"""The pool: all archives are read, whatever happens to workers."""

from __future__ import annotations

from pathlib import Path

from siteglass.ingest.pool import MAX_TRIES, REPORT_INTERVAL_S, bytes_of, run_tasks
from siteglass.ingest.tasks import FailedArchive, Plan
from testing.warc_files import response, write_warc

EXTRACT = "tests.ingest.stand_in:facts_of"


def _archives(folder: Path, bodies: list[bytes]) -> list[Path]:
    paths = [folder / f"number-{number}.warc.gz" for number in range(len(bodies))]
    for number, (path, body) in enumerate(zip(paths, bodies, strict=True)):
        write_warc(path, [response(f"http://s{number}.example/", body)])
    return paths


def test_all_archives_are_read_and_progress_is_told(tmp_path: Path) -> None:
    archives = _archives(tmp_path, [b"one", b"FAIL", b"three", b"four"])
    plan = Plan(folder=tmp_path / "facts", extract=EXTRACT)
    told: list[int] = []
    summary = run_tasks(archives, plan, 2, told.append, tasks_per_worker=2)
    assert [task.archive for task in summary.tasks] == [path.name for path in archives]
    assert (summary.pages, summary.quarantined, summary.parked) == (3, {"extract: KeyError": 1}, [])
    assert told == sorted(told)
    assert told[-1] == bytes_of(archives) == sum(path.stat().st_size for path in archives)
    assert all(task.was_done for task in run_tasks(archives, plan, 1).tasks)


def test_progress_inside_an_archive_is_told(tmp_path: Path) -> None:
    path = tmp_path / "some.warc.gz"
    bodies = (b"one", b"SLOW", b"three", b"SLOW", b"five")
    offsets = write_warc(path, [response(f"http://s{number}.example/", body) for number, body in enumerate(bodies)])
    plan = Plan(folder=tmp_path / "facts", extract=EXTRACT, page_timeout_s=1.2 * REPORT_INTERVAL_S)
    told: list[int] = []
    run_tasks([path], plan, 1, told.append)
    # A page that takes long delays only what is told of it: the next record is told at once.
    assert set(told) & set(offsets)
    assert told == sorted(told)
    assert told[-1] == path.stat().st_size


def test_a_killed_worker_costs_only_its_task_a_try(tmp_path: Path) -> None:
    """One archive kills its worker once, one always, one cannot be opened; the others never notice."""
    mark = f"ONCE {tmp_path / 'died'}".encode()
    archives = _archives(tmp_path, [b"one", mark, b"KILL", b"four"])
    missing = tmp_path / "missing.warc.gz"
    plan = Plan(folder=tmp_path / "facts", extract=EXTRACT)
    summary = run_tasks([*archives, missing], plan, 2)
    assert [task.archive for task in summary.tasks] == ["number-0.warc.gz", "number-1.warc.gz", "number-3.warc.gz"]
    died, unread = summary.parked
    assert died == FailedArchive(archive="number-2.warc.gz", reason="the worker died with -9")
    assert unread.archive == "missing.warc.gz"
    assert unread.reason.startswith("FileNotFoundError")
    assert [path for path in plan.folder.iterdir() if path.suffix != ".parquet"] == []
    assert MAX_TRIES == 4


def test_a_task_without_end_is_ended(tmp_path: Path) -> None:
    archives = _archives(tmp_path, [b"SLOW"])
    plan = Plan(folder=tmp_path / "facts", extract=EXTRACT, page_timeout_s=60)
    summary = run_tasks(archives, plan, 1, task_timeout_s=0.3)
    assert summary.parked == [FailedArchive(archive="number-0.warc.gz", reason="the task took too long")]
