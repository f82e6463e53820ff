"""The ledger level: processes that charge accounts straight in the database, through the service's own functions."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from siteglass.access import accounts
from siteglass.access.accounts import Plan
from siteglass.access.keys import create_key
from siteglass.billing import credits
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, make_schema
from tests.proof.arena import Arena
from tests.proof.faults import Counts, schedule
from tests.proof.history import Log, Operation, Progress, read_logs, read_notes
from tests.proof.ledger_worker import Job

# The verifier takes up to 5,000 operations of one account; beside its charges an account has reads, grants and retries.
CHARGES_PER_ACCOUNT = 3_000
ACCOUNTS_AT_ONCE = 4
RICH = 10**6
POOR = 60
ChargePath: TypeAlias = Literal["batch", "single"]
# How an account is charged: all requests of a batch at once, or each by itself, as any cap on its plan makes it.
PLANS: dict[ChargePath, Plan] = {
    "batch": Plan("proof-batch", 10, 20),
    "single": Plan("proof-single", 10, 20, daily_api_cap=10**12, daily_lead_cap=10**12),
}


@dataclass(frozen=True)
class Size:
    """How much, and how many faults."""

    charges: int
    faults: Counts
    workers: int = 2
    clients: int = 8
    unkeyed: float = 0.06
    accounts_at_once: int = ACCOUNTS_AT_ONCE
    paths: tuple[ChargePath, ...] = ("batch", "single")


@dataclass(frozen=True)
class Seen:
    """All that the clients of one level did, and the errors that no fault explains."""

    operations: list[Operation]
    errors: list[str]


class Child:
    """A module run with a job; what it prints goes beside its log."""

    def __init__(self, module: str, job: Path) -> None:
        self._module = module
        self._job = job
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._job.with_suffix(".out").open("ab") as output:
            words = [sys.executable, "-m", self._module, str(self._job)]
            self._process = subprocess.Popen(words, stdout=output, stderr=output, env=child_environment())

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pid(self) -> int | None:
        if self._process is None or self._process.poll() == 0:
            return None
        if self._process.returncode is not None:
            end = self._job.with_suffix(".out").read_text()[-2_000:]
            raise RuntimeError(f"{self._module} failed:\n{end}")
        return self._process.pid


def child_environment() -> dict[str, str]:
    """Child processes find the same modules as we do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


async def open_accounts(
    dsn: str, schema: str, log: Log, count: int, paths: Sequence[ChargePath], *, poor: bool
) -> list[tuple[int, int]]:
    """Accounts and their keys' numbers; with `poor` every other one is soon out of credits."""
    postgres = Postgres(dsn, schema)
    try:
        for path in paths:
            await accounts.set_plan(postgres, PLANS[path], actor="proof")
        opened = []
        for number in range(count):
            plan = PLANS[paths[number // 2 % len(paths)]].name
            account = await accounts.create_account(postgres, f"proof {schema} {number}", plan, actor="proof")
            amount = POOR if poor and number % 2 else RICH
            grant = Operation(str(account), 0, "grant", api=amount, lead=amount, request=f"opening {account}")
            call = log.call(grant)
            left = await credits.grant(postgres, account, amount, amount, "proof", grant.request)
            log.answer(call, "granted", balance_api=left.api, balance_lead=left.lead, seq=left.seq)
            key, _ = await create_key(postgres, SECRETS, account, "proof", actor="proof")
            opened.append((account, key))
        return opened
    finally:
        await postgres.close()


async def prepare(arena: Arena, schema: str, folder: Path, seed: int, size: Size) -> list[Child]:
    """The tables and accounts, and a worker for each part of the charges."""
    await make_schema(arena.direct_dsn, schema)
    waves_count = max(1, -(-size.charges // (CHARGES_PER_ACCOUNT * size.accounts_at_once)))
    with Log(folder / "opening.log") as log:
        count = waves_count * size.accounts_at_once
        opened = await open_accounts(arena.direct_dsn, schema, log, count, size.paths, poor=True)
    waves = [opened[start : start + size.accounts_at_once] for start in range(0, len(opened), size.accounts_at_once)]
    workers = []
    for number in range(size.workers):
        path = folder / f"worker-{number}.json"
        each = -(-size.charges // (size.workers * size.clients))
        log_path = str(folder / f"worker-{number}.log")
        job = Job(arena.dsn, schema, seed, number + 1, size.clients, each, size.unkeyed, waves, log_path)
        path.write_bytes(orjson.dumps(asdict(job)))
        workers.append(Child("tests.proof.ledger_worker", path))
    return workers


def run(arena: Arena, schema: str, folder: Path, seed: int, size: Size) -> Seen:
    """Charges under faults; what was seen."""
    folder.mkdir(parents=True, exist_ok=True)
    workers = asyncio.run(prepare(arena, schema, folder, seed, size))
    faults = schedule(seed, f"ledger {schema}", size.charges, size.faults, size.workers)
    try:
        for worker in workers:
            worker.start()
        arena.run("ledger", workers, workers, faults, Progress(folder), size.charges)
    finally:
        for worker in workers:
            worker.kill()
    logs = list(folder.glob("*.log"))
    return Seen(read_logs(logs), read_notes(logs, "error"))
