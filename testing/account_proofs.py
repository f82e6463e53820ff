"""Proofs that run at two sizes: small in the tests, full by `bench/prove_accounts.py`."""

from __future__ import annotations

import asyncio
import random
import statistics
import string
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from siteglass.access.key_form import make_key
from siteglass.access.keys import KeyLimits, Keys, create_key, revoke_key
from siteglass.billing import credits, ledger
from siteglass.errors import InsufficientCredits, Unauthorized
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, TIMEOUT_MS, CountingPostgres, open_account, pay

RACERS = 64
PRIZE = 10


async def race(postgres: Postgres, dsn: str, rounds: int) -> None:
    """64 clients for the last 10 credits: 10 get one, the others nothing; balance and ledger agree."""
    caller = await open_account(postgres)
    # a pool each, so that it is the database that decides between them, not the turns of one pool
    racers = [Postgres(dsn, postgres.schema, max_connections=1) for _ in range(RACERS)]

    async def run(racer: Postgres) -> bool:
        try:
            left = await pay(racer, caller, 0, 1)
        except InsufficientCredits:
            return False
        assert left.lead >= 0
        return True

    try:
        for number in range(1, rounds + 1):
            await credits.grant(postgres, caller.account_id, 0, PRIZE, "race", f"prize {number}")
            won = await asyncio.gather(*map(run, racers))
            left = await credits.Billing(postgres).balance(caller.account_id)
            assert (sum(won), left.lead, left.seq) == (PRIZE, 0, number * (PRIZE + 1))
    finally:
        await asyncio.gather(*(racer.close() for racer in racers))
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def typos(dsn: str, schema: str, keys: int) -> int:
    """Every key with one character changed is refused, and nobody is asked; returns how many there were."""
    postgres = CountingPostgres(dsn, schema)
    finder = Keys(postgres, SECRETS, TIMEOUT_MS)
    characters = string.ascii_letters + string.digits + "-_ "
    tried = 0
    for _ in range(keys):
        key = make_key()
        for place, right in enumerate(key):
            for wrong in characters:
                if wrong != right:
                    tried += 1
                    with pytest.raises(Unauthorized):
                        await finder.find(key[:place] + wrong + key[place + 1 :])
    assert postgres.sent == 0
    return tried


async def refusal_times_us(postgres: Postgres, samples: int, percentile: int = 50) -> dict[str, float]:
    """Time to refuse an unknown, a revoked and an expired key, each looked up again, in random order."""
    caller = await open_account(postgres)
    past = KeyLimits(expires_at=datetime.now(UTC) - timedelta(days=1))
    kinds: dict[str, list[str]] = {"unknown": [make_key() for _ in range(20)], "revoked": [], "expired": []}
    for _ in range(20):
        number, key = await create_key(postgres, SECRETS, caller.account_id, "revoked", actor="tests")
        await revoke_key(postgres, number, "tests")
        kinds["revoked"].append(key)
        kinds["expired"].append(
            (await create_key(postgres, SECRETS, caller.account_id, "expired", limits=past, actor="tests"))[1]
        )
    finder = Keys(postgres, SECRETS, TIMEOUT_MS, monotonic=_leaping())
    took: dict[str, list[int]] = {kind: [] for kind in kinds}
    for number in range(samples):
        for kind in random.sample(list(kinds), 3):
            key = kinds[kind][number % 20]
            started = time.perf_counter_ns()
            try:
                await finder.find(key)
            except Unauthorized:
                took[kind].append(time.perf_counter_ns() - started)
    assert {kind: len(times) for kind, times in took.items()} == dict.fromkeys(kinds, samples)
    return {kind: statistics.quantiles(times, n=100)[percentile - 1] / 1e3 for kind, times in took.items()}


def _leaping() -> Callable[[], float]:
    """A clock on which every look-up of before is too old."""
    ticks = count(0, 10)
    return lambda: float(next(ticks))
