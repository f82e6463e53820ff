"""Leases of jobs: one taker at a time, the next one when the job is due, and another one after a crash."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from siteglass.platform.job_leases import LEASE_S, JobLeases
from siteglass.platform.jobs import Job, JobRunner
from siteglass.platform.postgres import Postgres

pytestmark = pytest.mark.anyio


@pytest.fixture
def leases(postgres: Postgres) -> JobLeases:
    return JobLeases(postgres, secrets.token_hex(4))


async def test_of_many_one_takes_it(leases: JobLeases) -> None:
    waits = await asyncio.gather(*(leases.take("job", 3_600) for _ in range(20)))
    assert waits.count(None) == 1
    assert all(3_500 < wait <= 3_600 for wait in waits if wait is not None)


async def test_it_is_due_a_period_after_its_end(leases: JobLeases) -> None:
    assert await leases.take("job", 0.05) is None
    wait_s = await leases.take("job", 0.05)
    assert wait_s is not None
    assert LEASE_S - 10 < wait_s <= LEASE_S  # while it runs, or after a crash
    await leases.end("job", 0.05)
    assert (await leases.take("job", 0.05) or 0.05) <= 0.05
    await asyncio.sleep(0.1)
    assert await leases.take("job", 0.05) is None


async def test_jobs_and_prefixes_are_apart(leases: JobLeases, postgres: Postgres) -> None:
    assert await leases.take("job", 60) is None
    assert await leases.take("other", 60) is None
    assert await JobLeases(postgres, secrets.token_hex(4)).take("job", 60) is None


async def test_a_job_that_fails_is_retried_a_period_later(leases: JobLeases) -> None:
    runs = 0
    again = asyncio.Event()

    async def fail() -> None:
        nonlocal runs
        runs += 1
        if runs == 2:
            again.set()
        raise OSError

    runners = [JobRunner([Job("fails", 0.1, fail, shared=True)], leases) for _ in range(2)]
    for runner in runners:
        runner.start()
    async with asyncio.timeout(10):
        await again.wait()
    for runner in runners:
        await runner.close()
