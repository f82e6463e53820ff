"""Answers kept for retries: stored with the charge, forgotten after a day, whatever else happens."""

from __future__ import annotations

import asyncio
import zlib
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from siteglass.access.keys import KeyLimits
from siteglass.billing import credits, ledger
from siteglass.billing.answers import AnswerToStore, compress, forget_answers
from siteglass.billing.credits import Balances
from siteglass.platform.postgres import Postgres
from testing.accounts import bill, open_account, owner, pay

pytestmark = pytest.mark.anyio


def _keep(key: str) -> AnswerToStore:
    return AnswerToStore(
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
        f"UPDATE {schema}.answers a SET at = i.at, slot = {schema}.answer_slot(i.at) FROM {schema}.idempotency i"
        " WHERE a.account_id = $1 AND i.account_id = a.account_id AND i.seq = a.seq",
        account_id,
    )
    await connection.execute(
        f"UPDATE {schema}.idempotency SET slot = {schema}.answer_slot(at) WHERE account_id = $1", account_id
    )
    await connection.close()


async def _counts(postgres: Postgres, dsn: str, account_id: int) -> tuple[int, int]:
    as_owner = Postgres(owner(dsn), postgres.schema)
    row = await as_owner.fetchrow(
        "SELECT (SELECT count(*) FROM {schema}.idempotency WHERE account_id = $1) AS keys,"
        " (SELECT count(*) FROM {schema}.answers WHERE account_id = $1) AS answers",
        account_id,
    )
    await as_owner.close()
    assert row is not None
    return row["keys"], row["answers"]


async def test_stored_with_the_charge(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    assert await credits.Billing(postgres).find_answer(caller, "one") is None
    await pay(postgres, caller, 0, 3, keep=_keep("one"))
    await pay(postgres, caller, 0, 1)
    found = await credits.Billing(postgres).find_answer(caller, "one")
    assert found is not None
    answer, receipt = found
    assert answer.compressed is not None
    assert (answer.fingerprint, zlib.decompress(answer.compressed)) == (b"print of one", b"answer to one")
    assert answer.headers == '{"X-Total-Estimated":"true"}'
    assert (receipt.api, receipt.lead, receipt.balances) == (0, 3, Balances(0, 6, 3))
    other = await open_account(postgres)
    assert await credits.Billing(postgres).find_answer(other, "one") is None


@pytest.mark.parametrize("limits", [KeyLimits(), KeyLimits(daily_lead_cap=9)], ids=["in a batch", "one by one"])
async def test_one_charge_for_each_idempotency_key(postgres: Postgres, limits: KeyLimits) -> None:
    """Two workers may both find no answer, so the charge itself decides. A cap makes it one of its own, not a batch."""
    caller = await open_account(postgres, lead=10, limits=limits)
    billing = credits.Billing(postgres)
    assert await billing.charge(caller, "first", bill(0, 3), _keep("one")) is not None
    assert await billing.charge(caller, "again", bill(0, 3), _keep("one")) is None
    assert await billing.balance(caller.account_id) == Balances(0, 7, 2)


@pytest.mark.parametrize("hours", [1, 23])
async def test_not_forgotten_within_a_day(postgres: Postgres, dsn: str, hours: int) -> None:
    caller = await open_account(postgres, lead=10)
    await pay(postgres, caller, 0, 1, keep=_keep("one"))
    await _age(postgres, dsn, caller.account_id, hours)
    await forget_answers(postgres)
    assert await credits.Billing(postgres).find_answer(caller, "one") is not None


@pytest.mark.parametrize("hours", [26, 31, 40, 100])
async def test_forgotten_after_a_day(postgres: Postgres, dsn: str, hours: int) -> None:
    caller = await open_account(postgres, lead=10)
    for number in range(3):
        await pay(postgres, caller, 0, 1, keep=_keep(str(number)))
    await _age(postgres, dsn, caller.account_id, hours)
    await pay(postgres, caller, 0, 1, keep=_keep("new"))
    emptied, forgotten = await forget_answers(postgres)
    assert emptied >= 1
    assert forgotten >= 3
    assert await _counts(postgres, dsn, caller.account_id) == (1, 1)
    assert await credits.Billing(postgres).find_answer(caller, "new") is not None
    # the ledger is not touched
    assert (await credits.Billing(postgres).balance(caller.account_id)).seq == 5


async def test_a_clock_that_was_set_back_empties_nothing_fresh(postgres: Postgres, dsn: str) -> None:
    """The ledger's times stay ahead; answers, days and expiry go by the clock."""
    caller = await open_account(postgres, lead=10, limits=KeyLimits(daily_lead_cap=6))
    connection = await asyncpg.connect(owner(dsn))
    ahead = f"UPDATE {postgres.schema}.balances SET at = now() + make_interval(days => 40) WHERE account_id = $1"
    await connection.execute(ahead, caller.account_id)
    ends = datetime.now(UTC) + timedelta(days=30)
    await credits.grant(postgres, caller.account_id, 0, 5, "tests", "expiring", ends)
    await pay(postgres, caller, 0, 3, keep=_keep("one"))
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 12, 3)
    await forget_answers(postgres)
    assert await credits.Billing(postgres).find_answer(caller, "one") is not None
    day = await connection.fetchval(f"SELECT day FROM {postgres.schema}.usage_days WHERE key_id = $1", caller.key_id)
    assert abs(day - datetime.now(UTC).date()) <= timedelta(days=1)
    await connection.close()
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def test_a_slot_in_use_is_left_for_the_next_time(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, lead=10)
    await pay(postgres, caller, 0, 1, keep=_keep("one"))
    await _age(postgres, dsn, caller.account_id, 30)
    reader = await asyncpg.connect(owner(dsn))
    async with reader.transaction():
        await reader.fetch(f"SELECT * FROM {postgres.schema}.answers LIMIT 1")
        await forget_answers(postgres)
        assert await _counts(postgres, dsn, caller.account_id) == (0, 1)
        await pay(postgres, caller, 0, 1, keep=_keep("two"))
        assert await credits.Billing(postgres).find_answer(caller, "two") is not None
    await reader.close()
    assert (await forget_answers(postgres))[0] >= 1
    assert await _counts(postgres, dsn, caller.account_id) == (1, 1)


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
    assert await _counts(postgres, dsn, caller.account_id) == (100, 100)
