"""How many charges one account takes in a second, and how long one takes below that.

    python -m bench.charge_rate [--seconds 10] [--paced-seconds 60] [--processes 2] [--callers 8] [--rate 1000]

First it charges as fast as it can, with all callers busy, in three ways. One is plain, with 20 leads; one stores an
answer of 30 kB. One charges 100 leads on a plan that charges a lead once, half of them paid before. Then it sends plain
charges at --rate, by the clock, whether or not earlier ones have come back. Their time counts from when they were due.
Last it inserts a row, nothing else, at a fifth of the rate: what a durable commit takes on this machine.

CPU is that of the whole PostgreSQL server, and of the processes that charge. It uses its own schema and drops it
afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import multiprocessing
import os
import random
import secrets
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeAlias

import uvloop

from bench.overhead.processes import CpuMeter, engine_pids
from siteglass.access import accounts, keys
from siteglass.access.keys import Caller
from siteglass.billing import credits, ledger
from siteglass.billing.answers import AnswerToStore
from siteglass.billing.credits import Bill, Mark
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres
from siteglass.settings import load_settings
from testing.accounts import drop_schema, make_schema, owner

SECRET = "bench" * 8
DOMAINS = [(f"some-business-{number}.example.com", Mark.CHARGED) for number in range(20)]
TIMEOUT_MS = 5_000
# What compression cannot make smaller: the size is that of the stored bytes.
STORED = secrets.token_bytes(30_000)
REBILLED_LEADS = 100
KNOWN_LEADS = 20_000


Kind: TypeAlias = Literal["plain", "stored", "rebilled"]

# As a worker of the service has by default.
POOL = 8
_COMMIT = "INSERT INTO {schema}.commits VALUES (1)"


def _bill(kind: Kind) -> Bill:
    if kind != "rebilled":
        return Bill("search", 0, DOMAINS)
    # Names drawn from as many as make about half of a page paid before once the run is under way.
    drawn = random.sample(range(KNOWN_LEADS), REBILLED_LEADS // 2)
    new = [secrets.token_hex(8) for _ in range(REBILLED_LEADS // 2)]
    return Bill("search", 0, [(f"{name}.example.com", Mark.CHARGED) for name in (*drawn, *new)])


@dataclass(frozen=True)
class Job:
    """What one process does."""

    schema: str
    caller: Caller | None
    """None: only a commit."""
    callers: int
    seconds: float
    rate: float | None = None
    kind: Kind = "plain"


@dataclass
class Part:
    """What one process measured."""

    took_ms: list[float]
    python_s: float
    postgres_s: float
    """Of the whole server, in the time of this process."""


async def _one(postgres: Postgres, billing: credits.Billing, job: Job, due: float, took_ms: list[float]) -> None:
    request_id = secrets.token_hex(16)
    keep = AnswerToStore(request_id, bytes(32), "{}", STORED) if job.kind == "stored" else None
    try:
        if job.caller is None:
            await postgres.fetch(_COMMIT)
        else:
            await billing.charge(job.caller, request_id, _bill(job.kind), keep)
    except Unavailable:
        took_ms.append(math.inf)
    else:
        took_ms.append((time.perf_counter() - due) * 1e3)


async def _work(job: Job) -> Part:
    settings = load_settings()
    postgres = Postgres(settings.postgres_dsn, job.schema, max_connections=POOL)
    billing = credits.Billing(postgres, TIMEOUT_MS)
    took_ms: list[float] = []
    # A connection's first charges compile the function and plan its statements, some 50 ms: before the clock runs.
    for _ in range(20):
        await asyncio.gather(*(_one(postgres, billing, job, time.perf_counter(), []) for _ in range(job.callers)))
    meter = CpuMeter({"postgres": engine_pids(settings)["postgres"]})
    python_s = time.process_time()
    end = time.perf_counter() + job.seconds

    async def without_pause() -> None:
        while (now := time.perf_counter()) < end:
            await _one(postgres, billing, job, now, took_ms)

    if job.rate is None:
        await asyncio.gather(*(without_pause() for _ in range(job.callers)))
    else:
        async with asyncio.TaskGroup() as group:
            due = time.perf_counter()
            while due < end:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                group.create_task(_one(postgres, billing, job, due, took_ms))
                due += 1 / job.rate
    part = Part(took_ms, time.process_time() - python_s, meter.lap()["postgres"])
    await postgres.close()
    return part


def work(job: Job) -> Part:
    """One process of the load."""
    return uvloop.run(_work(job))


def run(job: Job, processes: int) -> Part:
    """All processes together."""
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(work, [job] * processes))
    took_ms = [took for part in parts for took in part.took_ms]
    return Part(took_ms, sum(part.python_s for part in parts), statistics.mean(part.postgres_s for part in parts))


def report(title: str, part: Part, seconds: float) -> None:
    """One line."""
    took_ms = part.took_ms
    failed = took_ms.count(math.inf)
    cuts = statistics.quantiles([took for took in took_ms if took < math.inf], n=1000)
    rate = (len(took_ms) - failed) / seconds
    print(f"{title}: {rate:,.0f} charges/s, {failed} failed; ", end="")
    print(f"p50 {cuts[499]:.1f} ms, p99 {cuts[989]:.1f} ms, p99.9 {cuts[998]:.1f} ms; ", end="")
    cpu_ms = [cpu_s * 1e3 / len(took_ms) for cpu_s in (part.python_s, part.postgres_s)]
    print(f"CPU of each: Python {cpu_ms[0]:.2f} ms, PostgreSQL {cpu_ms[1]:.2f} ms")


async def prepare(dsn: str, name: str) -> dict[Kind, Caller]:
    """A schema with two rich accounts: one pays each time, the other once for each lead."""
    await make_schema(dsn, name)
    postgres = Postgres(dsn, name)
    await accounts.set_plan(postgres, accounts.Plan("once", 10, 20, rebill_after_hours=24), actor="bench")
    callers = []
    for plan in ("standard", "once"):
        account = await accounts.create_account(postgres, plan, plan, actor="bench")
        await credits.grant(postgres, account, 10**9, 10**9, "bench", "grant")
        _, key = await keys.create_key(postgres, (SECRET,), account, "bench", actor="bench")
        callers.append(await keys.Keys(postgres, (SECRET,), TIMEOUT_MS).find(key))
    await postgres.close()
    as_owner = Postgres(owner(dsn), name)
    await as_owner.fetch("CREATE TABLE {schema}.commits (n bigint)")
    await as_owner.fetch("GRANT INSERT ON {schema}.commits TO siteglass")
    await as_owner.close()
    return {"plain": callers[0], "stored": callers[0], "rebilled": callers[1]}


async def finish(dsn: str, name: str) -> None:
    """Verify what was written, and drop it."""
    postgres = Postgres(dsn, name)
    started = time.perf_counter()
    found = await ledger.verify(postgres)
    rate = found.entries / (time.perf_counter() - started)
    print(f"verified {found.entries:,} entries ({rate:,.0f}/s): {found.problem_count} problems")
    await postgres.close()
    await drop_schema(dsn, name)


def main() -> None:
    """All measurements, several times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--paced-seconds", type=float, default=60.0, help="at --rate")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--callers", type=int, default=8, help="charges at a time of each process")
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    dsn, name = load_settings().postgres_dsn, f"bench_{secrets.token_hex(4)}"
    callers = asyncio.run(prepare(dsn, name))
    for _ in range(options.rounds):
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for kind, caller in callers.items():
            full = Job(name, caller, options.callers, options.seconds, kind=kind)
            report(f"as fast as it goes, {kind}", run(full, options.processes), options.seconds)
        rate = options.rate / options.processes
        paced = Job(name, callers["plain"], options.callers, options.paced_seconds, rate)
        report(f"at {options.rate:,.0f}/s", run(paced, options.processes), options.paced_seconds)
        bare = Job(name, None, options.callers, options.seconds, rate / 5)
        report(f"only a commit, at {options.rate / 5:,.0f}/s", run(bare, options.processes), options.seconds)
    asyncio.run(finish(dsn, name))


if __name__ == "__main__":
    main()
