"""What a worker does now and then, beside its requests: jobs, each with its own period."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from siteglass.errors import Unavailable
from siteglass.platform.logs import places

log = logging.getLogger("siteglass.housekeeping")


@dataclass(frozen=True, slots=True)
class Job:
    """One job: run when the worker starts and `period_s` after each run has ended; perhaps also when it stops."""

    name: str
    period_s: float
    run: Callable[[], Awaitable[object]]
    at_close: bool = False


class JobRunner:
    """Runs jobs until it is closed. A job that fails is retried a period later, and does not delay the others."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = tuple(jobs)
        self._failing: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start all jobs."""
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
            await self._run(job)
            await asyncio.sleep(job.period_s)

    async def _run(self, job: Job) -> None:
        """Run it once; logs the first failure, and the first success after it."""
        try:
            await job.run()
        except Exception as error:
            if job.name not in self._failing:
                self._failing.add(job.name)
                # Of a fault only kind and place: its message may quote a value.
                reason = error.reason if isinstance(error, Unavailable) else type(error).__name__
                log.warning("job fails", extra={"job": job.name, "reason": reason, "frames": places(error)})
            return
        if job.name in self._failing:
            self._failing.remove(job.name)
            log.info("job works again", extra={"job": job.name})
