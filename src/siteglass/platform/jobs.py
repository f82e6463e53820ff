"""What a worker does now and then, beside its requests: jobs, each with its own period."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from siteglass.errors import Unavailable
from siteglass.platform import metrics
from siteglass.platform.logs import places

log = logging.getLogger("siteglass.housekeeping")


@dataclass(frozen=True, slots=True)
class Job:
    """One job: run when the worker starts and `period_s` after each run has ended; perhaps also when it stops."""

    name: str
    period_s: float
    run: Callable[[], Awaitable[object]]
    at_close: bool = False
    shared: bool = False
    """Whether one worker runs it for all of them. The others run jobs on what is in their own memory."""


class Leases(Protocol):
    """Says which worker runs a shared job; see JobLeases."""

    async def take(self, name: str, period_s: float) -> float | None:
        """None if this worker is to run it now, or the seconds until it is due."""

    async def end(self, name: str, period_s: float, failure: str = "") -> None:
        """It was run; `failure` says why it failed, if it did."""


class JobRunner:
    """Runs jobs until it is closed. A job that fails is retried a period later, and does not delay the others."""

    def __init__(self, jobs: Sequence[Job], leases: Leases | None = None) -> None:
        self._jobs = tuple(jobs)
        self._leases = leases
        self._failing: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start all jobs."""
        for job in self._jobs:
            metrics.JOB_PERIOD.labels(job.name).set(job.period_s)
        self._tasks = [asyncio.create_task(self._keep(job)) for job in self._jobs]

    async def close(self) -> None:
        """Stop, whatever is being done; then run once more what is to be run when the worker stops."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        for job in self._jobs:
            if job.at_close:
                await self._run(job)

    async def _keep(self, job: Job) -> None:
        while True:
            wait_s = await self._run(job)
            await asyncio.sleep(wait_s)

    async def _run(self, job: Job) -> float:
        """Run it once, unless another worker does; the seconds until the next attempt.

        Logs the first failure, and the first success after it.
        """
        wait_s = job.period_s
        try:
            if job.shared and self._leases is not None:
                wait_s = await self._run_leased(job, self._leases)
            else:
                await _work(job)
        except Exception as error:
            metrics.JOB_RUNS.labels(job.name, "failed").inc()
            metrics.JOB_FAILING.labels(job.name).set(1)
            if job.name not in self._failing:
                self._failing.add(job.name)
                log.warning("job fails", extra={"job": job.name, "reason": _reason(error), "frames": places(error)})
            return job.period_s
        metrics.JOB_FAILING.labels(job.name).set(0)
        metrics.JOB_SUCCESS.labels(job.name).set_to_current_time()
        if job.name in self._failing:
            self._failing.remove(job.name)
            log.info("job works again", extra={"job": job.name})
        return wait_s

    async def _run_leased(self, job: Job, leases: Leases) -> float:
        wait_s = await leases.take(job.name, job.period_s)
        if wait_s is not None:
            # Not longer than a period, whatever became of the clock of the database.
            return min(wait_s, job.period_s)
        failure = ""
        try:
            await _work(job)
        except Exception as error:
            failure = _reason(error)
            raise
        finally:
            # Also if it failed, or if this worker stops: the next attempt is due a period later.
            await leases.end(job.name, job.period_s, failure)
        return job.period_s


def _reason(error: Exception) -> str:
    """Of a fault only its kind: its message may quote a value."""
    return error.reason if isinstance(error, Unavailable) else type(error).__name__


async def _work(job: Job) -> None:
    await job.run()
    metrics.JOB_RUNS.labels(job.name, "ok").inc()
