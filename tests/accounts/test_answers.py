"""Answers kept for retries: stored with the charge, forgotten after a day, whatever else goes on."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from siteglass.accounts import credits
from siteglass.accounts.answers import Keep, compress, forget_answers
from siteglass.accounts.credits import Balances
from siteglass.postgres import Postgres
from tests.accounts.opening import TIMEOUT_MS, open_account, owner, pay

pytestmark = pytest.mark.anyio


def _keep(key: str) -> Keep:
    return Keep(
        key, b"print of " + key.encode(), '{"X-Total-Estimated":"true"}', compress(b"answer to " + key.encode())
    )


async def _age(postgres: Postgres, dsn: str, account_id: int, hours: int) -> None:
    """As if all answers of the account had been given so many hours ago."""
    connection = await asyncpg.connect(owner(dsn))
    schema = postgres.schema
    await connection.execute(
        f"UPDATE {schema}.idempotency SET at = at - make_interval(hours => $2) WHERE account_id = $1", account_id, hours
    )
    await connection.execute(
        f"UPDATE {schema}.answers a SET slot = {schema}.answer_slot(i.at) FROM {schema}.idempotency i"
        " WHERE a.account_id = $1 AND i.account_id = a.account_id AND i.seq = a.seq",
        account_id,
    )
    await connection.execute(
        f"UPDATE {schema}.idempotency SET slot = {schema}.answer_slot(at) WHERE account_id = $1", account_id
    )
    await connection.close()


async def _counts(postgres: Postgres, account_id: int) -> tuple[int, int]:
    row = await postgres.fetchrow(
        "SELECT (SELECT count(*) FROM {schema}.idempotency WHERE account_id = $1) AS keys,"
        " (SELECT count(*) FROM {schema}.answers WHERE account_id = $1) AS answers",
        account_id,
        timeout_ms=TIMEOUT_MS,
    )
    assert row is not None
    return row["keys"], row["answers"]


async def test_stored_with_the_charge(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    assert await credits.find_answer(postgres, caller, "one", timeout_ms=TIMEOUT_MS) is None
    await pay(postgres, caller, 0, 3, keep=_keep("one"))
    await pay(postgres, caller, 0, 1)
    found = await credits.find_answer(postgres, caller, "one", timeout_ms=TIMEOUT_MS)
    assert found is not None
    answer, receipt = found
    assert (answer.fingerprint, answer.body()) == (b"print of one", b"answer to one")
    assert answer.headers == '{"X-Total-Estimated":"true"}'
    assert (receipt.api, receipt.lead, receipt.balances) == (0, 3, Balances(0, 6, 3))
    other = await open_account(postgres)
    assert await credits.find_answer(postgres, other, "one", timeout_ms=TIMEOUT_MS) is None


@pytest.mark.parametrize("hours", [1, 23])
async def test_not_forgotten_within_a_day(postgres: Postgres, dsn: str, hours: int) -> None:
    caller = await open_account(postgres, lead=10)
    await pay(postgres, caller, 0, 1, keep=_keep("one"))
    await _age(postgres, dsn, caller.account_id, hours)
    await forget_answers(postgres)
    assert await credits.find_answer(postgres, caller, "one", timeout_ms=TIMEOUT_MS) is not None


@pytest.mark.parametrize("hours", [26, 28, 31])
async def test_forgotten_after_a_day(postgres: Postgres, dsn: str, hours: int) -> None:
    caller = await open_account(postgres, lead=10)
    for number in range(3):
        await pay(postgres, caller, 0, 1, keep=_keep(str(number)))
    await _age(postgres, dsn, caller.account_id, hours)
    await pay(postgres, caller, 0, 1, keep=_keep("new"))
    emptied, forgotten = await forget_answers(postgres)
    assert emptied >= 1
    assert forgotten >= 3
    assert await _counts(postgres, caller.account_id) == (1, 1)
    assert await credits.find_answer(postgres, caller, "new", timeout_ms=TIMEOUT_MS) is not None
    # the ledger is not touched
    assert (await credits.balance(postgres, caller.account_id)).seq == 5


async def test_several_workers_forget_while_charges_go_on(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, lead=1000)
    for number in range(20):
        await pay(postgres, caller, 0, 1, keep=_keep(str(number)))
    await _age(postgres, dsn, caller.account_id, 27)
    pools = [Postgres(dsn, postgres.schema, max_connections=2) for _ in range(4)]
    charging = [pay(pools[n % 4], caller, 0, 1, keep=_keep(f"new {n}")) for n in range(100)]
    done = await asyncio.gather(*charging, *(forget_answers(pool) for pool in pools * 2))
    assert len(done) == 108
    await asyncio.gather(*(pool.close() for pool in pools))
    assert await _counts(postgres, caller.account_id) == (100, 100)
