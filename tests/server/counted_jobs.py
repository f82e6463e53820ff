"""The service with short periods, whose jobs note each run in a file. Only test_shared_jobs.py starts this.

python -m tests.server.counted_jobs FILE PERIOD_S        # otherwise as `siteglass serve`
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from siteglass import app
from siteglass.cli import main as cli
from siteglass.platform.jobs import Job, JobRunner


def count_jobs(notes: Path, period_s: float) -> None:
    async def run(job: Job) -> None:
        with notes.open("a", encoding="utf-8") as file:  # one short write: lines of two processes stay whole
            file.write(f"{job.name}\t{job.shared}\t{time.time()}\n")
        await job.run()

    class CountingRunner(JobRunner):
        def __init__(self, jobs: list[Job], *arguments: Any) -> None:
            super().__init__([replace(job, period_s=period_s, run=partial(run, job)) for job in jobs], *arguments)

    app.JobRunner = CountingRunner  # type: ignore[assignment, attr-defined]  # for this process only


if __name__ == "__main__":
    count_jobs(Path(sys.argv[1]), float(sys.argv[2]))
    sys.argv[1:] = ["serve"]
    cli.main()
