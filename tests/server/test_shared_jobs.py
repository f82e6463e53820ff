"""Two services on one database: one of them runs a shared job in each period, and each of them its own jobs."""

from __future__ import annotations

import itertools
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from testing.service import ServiceProcess, settings_for

PERIOD_S = 2.0
PERIODS = 4
SHARED = {
    "balance mails",
    "closed accounts",
    "expired credits",
    "hours of sign-ins",
    "long ledgers",
    "new leads of lists",
    "old answers",
    "old downloads",
    "old sessions",
    "old uploads",
    "old watch runs",
    "received counts",
    "sealed second factors",
    "unsettled suppressions",
}


def _runs(notes: Path) -> dict[tuple[str, bool], list[float]]:
    runs: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for line in notes.read_text().splitlines():
        name, shared, at = line.split("\t")
        runs[name, shared == "True"].append(float(at))
    return {job: sorted(times) for job, times in runs.items()}


@pytest.mark.private_engines
def test_a_shared_job_runs_once_a_period_whatever_the_number_of_workers(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    settings = settings_for(
        "shared-jobs",
        dashboard_secrets=("a secret of the dashboard that is long enough",),
        mail_url=f"file:{tmp_path}",
        mail_from="Siteglass <tests@example.com>",
    )
    command = [sys.executable, "-m", "tests.server.counted_jobs", str(notes), str(PERIOD_S)]
    services = [ServiceProcess(settings, command), ServiceProcess(settings, command)]
    try:
        for service in services:
            service.start()
        both = time.time()
        time.sleep(PERIOD_S * PERIODS)
        runs = _runs(notes)
    finally:
        for service in services:
            service.kill()
    assert {name for name, shared in runs if shared} == SHARED
    for (name, shared), times in runs.items():
        if shared:
            assert len(times) >= PERIODS - 1, name
            # The next run is due a period after the end of the last one.
            assert all(later - earlier >= PERIOD_S for earlier, later in itertools.pairwise(times)), name
        else:
            assert len([at for at in times if at > both]) > PERIODS, name


@pytest.mark.private_engines
def test_another_worker_takes_over_the_jobs_of_one_that_is_gone(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    command = [sys.executable, "-m", "tests.server.counted_jobs", str(notes), str(PERIOD_S)]
    first, second = (ServiceProcess(settings_for("taken-over"), command) for _ in range(2))
    try:
        first.start()
        second.start()
        first.kill()
        killed = time.time()
        deadline = time.monotonic() + 90  # one that was killed in the middle of a job has its lease for a minute
        while not all(times[-1] > killed for times in _runs(notes).values()):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        first.kill()
        second.kill()
