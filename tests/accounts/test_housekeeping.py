"""Jobs run by their own periods, fail without harm to each other, and are reported once."""

from __future__ import annotations

import asyncio
import logging

import pytest

from siteglass.errors import Unavailable
from siteglass.platform.jobs import Job, JobRunner

pytestmark = pytest.mark.anyio


class Work:
    """Counts its runs; fails while it has an error to raise."""

    def __init__(self, error: Exception | None = None) -> None:
        self.runs = 0
        self.error = error
        self.ran = asyncio.Condition()

    async def __call__(self) -> None:
        async with self.ran:
            self.runs += 1
            self.ran.notify_all()
        if self.error:
            raise self.error


async def _until(work: Work, runs: int) -> None:
    async with asyncio.timeout(5), work.ran:
        await work.ran.wait_for(lambda: work.runs >= runs)


async def test_each_job_runs_at_the_start_and_by_its_period() -> None:
    often, seldom = Work(), Work()
    kept = JobRunner([Job("often", 0.001, often), Job("seldom", 3_600, seldom)])
    kept.start()
    await _until(often, 5)
    await kept.close()
    runs = often.runs
    assert seldom.runs == 1
    await asyncio.sleep(0.01)
    assert often.runs == runs


async def test_a_failure_is_told_once_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "siteglass.housekeeping")
    away, broken, fine = Work(Unavailable("postgresql: away")), Work(KeyError("jane@example.com")), Work()
    jobs = [Job(name, 0.001, work) for name, work in (("away", away), ("broken", broken), ("fine", fine))]
    kept = JobRunner(jobs)
    kept.start()
    for work in (away, broken, fine):
        await _until(work, 5)
    assert [vars(record)["reason"] for record in caplog.records] == ["postgresql: away", "KeyError"]
    away.error = None
    await _until(away, away.runs + 2)
    assert [(record.getMessage(), vars(record)["job"]) for record in caplog.records] == [
        ("job fails", "away"),
        ("job fails", "broken"),
        ("job works again", "away"),
    ]
    away.error = Unavailable("again")
    await _until(away, away.runs + 2)
    assert [vars(record).get("reason") for record in caplog.records[3:]] == ["again"]
    assert "jane" not in str([vars(record) for record in caplog.records])
    await kept.close()


async def test_at_the_end_only_what_asks_for_it_is_run() -> None:
    last, other, failing = Work(), Work(), Work(OSError())
    jobs = [Job("failing", 3_600, failing, at_close=True), Job("last", 3_600, last, at_close=True)]
    kept = JobRunner([*jobs, Job("other", 3_600, other)])
    kept.start()
    await _until(other, 1)
    await kept.close()
    assert (failing.runs, last.runs, other.runs) == (2, 2, 1)


async def test_a_job_that_hangs_is_ended() -> None:
    hangs = asyncio.Event()
    began = Work()

    async def hang() -> None:
        await began()
        await hangs.wait()

    kept = JobRunner([Job("hangs", 1, hang)])
    kept.start()
    await _until(began, 1)
    async with asyncio.timeout(1):
        await kept.close()
