"""PostgreSQL unavailable, killed or frozen: every call ends by its deadline, what failed is not charged, and it heals.

If the server stops after a charge's commit and before its answer, the charge is in doubt. It is in the ledger though
its caller got an error. The processes of the server are stopped one after the other, so each worker may have one such
charge per account, and never more.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import psutil
import pytest

from siteglass.access.keys import Caller, Keys
from siteglass.billing import credits, ledger
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres
from siteglass.platform.schema import is_current
from testing.accounts import SECRETS, bill, make_schema, open_account, open_key
from testing.outcomes import by_night
from testing.private_engines import PrivateEngines

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("private-engines")]

CHARGE_MS = 1_000
LOOKUP_MS = 500
SLACK_S = 0.5  # for a busy machine
ACCOUNTS = 4
WORKERS = 4


async def test_nobody_listens() -> None:
    postgres = Postgres("postgresql://siteglass@127.0.0.1:1/siteglass", "siteglass")
    assert not await is_current(postgres)
    with pytest.raises(Unavailable) as caught:
        await postgres.fetch("SELECT 1", timeout_ms=LOOKUP_MS)
    assert caught.value.reason.startswith("postgresql: ")
    with pytest.raises(Unavailable):
        await make_schema("postgresql://siteglass@127.0.0.1:1/siteglass", "siteglass")
    await postgres.close()


async def test_tables_that_are_not_there_say_what_to_run(dsn: str) -> None:
    postgres = Postgres(dsn, "never_migrated")
    with pytest.raises(Unavailable) as caught:
        await credits.Billing(postgres).balance(1)
    assert "siteglass migrate" in caught.value.reason
    await postgres.close()


@dataclass
class Load:
    """Charges without pause from several workers, until `on` is false."""

    pools: list[Postgres]
    callers: list[Caller]
    charged: Counter[int] = field(default_factory=Counter)
    failed: int = 0
    longest_s: float = 0.0
    on: bool = True

    async def _run(self, pool: Postgres, caller: Caller) -> None:
        while self.on:
            started = time.monotonic()
            try:
                await credits.Billing(pool, CHARGE_MS).charge(caller, "request", bill(0, 1))
                self.charged[caller.account_id] += 1
            except Unavailable:
                self.failed += 1
                await asyncio.sleep(0.02)
            self.longest_s = max(self.longest_s, time.monotonic() - started)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Charges inside the block; at its end all of them are through, whatever went wrong."""
        runs = asyncio.gather(*(self._run(pool, caller) for pool in self.pools for caller in self.callers))
        try:
            yield
        finally:
            self.on = False
            await runs


def _family(pid: int) -> list[psutil.Process]:
    postmaster = psutil.Process(pid)
    return [postmaster, *postmaster.children(recursive=True)]


@pytest.fixture
def engine_pid(private_engines: PrivateEngines) -> Iterator[int]:
    pid = private_engines.get("postgres").pid()
    assert pid is not None
    family = _family(pid)
    yield pid
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGCONT)
    private_engines.start("postgres")


async def _wait_until_charging(load: Load, within_s: float) -> None:
    before, end = load.charged.total(), time.monotonic() + within_s
    while load.charged.total() == before:
        assert time.monotonic() < end, "it did not heal"
        await asyncio.sleep(0.02)


@pytest.mark.alone
@pytest.mark.parametrize("how", ["kill", *by_night("freeze", "stop")])
async def test_charges_while_it_goes(private_engines: PrivateEngines, engine_pid: int, how: str) -> None:
    engine = private_engines.get("postgres")
    dsn = f"postgresql://siteglass@127.0.0.1:{engine.port}/siteglass"
    await make_schema(dsn, "away")
    async with contextlib.AsyncExitStack() as closing:
        pools = [Postgres(dsn, "away") for _ in range(WORKERS)]
        for pool in pools:
            closing.push_async_callback(pool.close)
        callers = [await open_account(pools[0], lead=10**6) for _ in range(ACCOUNTS)]
        _, key = await open_key(pools[0], callers[0].account_id)
        load = Load(pools, callers)
        async with load.running():
            await _wait_until_charging(load, 5)
            await asyncio.sleep(0.3)

            family = _family(engine_pid)
            if how == "stop":
                await asyncio.to_thread(engine.stop)
            else:
                for process in family:
                    process.send_signal(signal.SIGSTOP if how == "freeze" else signal.SIGKILL)
            gone_at = time.monotonic()
            with pytest.raises(Unavailable):
                await Keys(pools[0], SECRETS, LOOKUP_MS).find(key)
            assert time.monotonic() - gone_at < LOOKUP_MS / 1000 + SLACK_S
            await asyncio.sleep(2 * CHARGE_MS / 1000)
            before = load.charged.total()
            await asyncio.sleep(0.2)
            assert load.charged.total() == before
            assert load.failed >= WORKERS

            if how == "freeze":
                for process in family:
                    process.send_signal(signal.SIGCONT)
            else:
                await asyncio.to_thread(private_engines.start, "postgres")
            await _wait_until_charging(load, 5)
        assert load.longest_s < CHARGE_MS / 1000 + SLACK_S
        await asyncio.sleep(0.3)

        assert (await ledger.verify(pools[0])).problems == []
        for caller in callers:
            left = await credits.Billing(pools[0]).balance(caller.account_id)
            assert 0 <= 10**6 - left.lead - load.charged[caller.account_id] <= WORKERS
