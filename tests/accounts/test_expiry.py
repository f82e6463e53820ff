"""Credits that expire: taken first, gone when their time is over, and every step is a row of the ledger."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from siteglass.access.accounts import AccountError
from siteglass.billing import credits, ledger
from siteglass.billing.credits import Balances
from siteglass.billing.expiry import expire_credits
from siteglass.errors import InsufficientCredits
from siteglass.platform.postgres import Postgres
from testing.accounts import open_account, owner, pay

pytestmark = pytest.mark.anyio


async def _give(postgres: Postgres, account_id: int, api: int, lead: int, ends: datetime, reference: str) -> Balances:
    return await credits.grant(postgres, account_id, api, lead, "tests", reference, ends)


async def _rows(postgres: Postgres, account_id: int) -> list[tuple[str, int, int, int | None]]:
    rows = await postgres.fetch(
        "SELECT kind::text, api, lead, refers_to FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq",
        account_id,
    )
    return [tuple(row) for row in rows]


async def test_what_is_left_expires_with_a_row_of_its_own(postgres: Postgres) -> None:
    caller = await open_account(postgres, api=10, lead=10)
    ends = datetime.now(UTC) + timedelta(seconds=1)
    assert await _give(postgres, caller.account_id, 2, 5, ends, "short") == Balances(12, 15, 2)
    assert await pay(postgres, caller, 1, 3) == Balances(11, 12, 3)
    assert (await ledger.verify(postgres, caller.account_id)).problems == []
    await asyncio.sleep(max(0, (ends - datetime.now(UTC)).total_seconds()) + 0.05)
    # nobody has written the row yet, and the balance is right already
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(10, 10, 3)
    with pytest.raises(InsufficientCredits, match="has 10 API and 10 lead"):
        await pay(postgres, caller, 0, 11)
    assert await pay(postgres, caller, 0, 10) == Balances(10, 0, 5)
    assert await _rows(postgres, caller.account_id) == [
        ("grant", 10, 10, None),
        ("grant", 2, 5, None),
        ("charge", -1, -3, None),
        ("expire", -1, -2, 2),
        ("charge", 0, -10, None),
    ]
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def test_the_soonest_is_taken_first_and_what_never_expires_last(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    now = datetime.now(UTC)
    for hours, reference in ((3, "later"), (1, "sooner"), (2, "between"), (1, "sooner too")):
        await _give(postgres, caller.account_id, 0, 10, now + timedelta(hours=hours), reference)

    async def left() -> list[tuple[int, int]]:
        rows = await postgres.fetch(
            "SELECT seq, lead FROM {schema}.expiring WHERE account_id = $1 ORDER BY seq",
            caller.account_id,
        )
        return [tuple(row) for row in rows]

    await pay(postgres, caller, 0, 4)
    assert await left() == [(2, 10), (3, 6), (4, 10), (5, 10)]
    await pay(postgres, caller, 0, 20)
    assert await left() == [(2, 10), (4, 6)]
    await credits.adjust(postgres, caller.account_id, 0, -10, "tests", "r", "a test")
    assert await left() == [(2, 6)]
    await pay(postgres, caller, 0, 16)
    assert await left() == []
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 0, 9)
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def test_accounts_that_nobody_charges_expire_too(postgres: Postgres) -> None:
    callers = [await open_account(postgres, lead=1) for _ in range(5)]
    ends = datetime.now(UTC) + timedelta(milliseconds=300)
    for caller in callers:
        await _give(postgres, caller.account_id, 1, 1, ends, "short")
    await asyncio.sleep(0.4)
    assert await expire_credits(postgres) >= 5
    assert await expire_credits(postgres) == 0
    for caller in callers:
        assert (await _rows(postgres, caller.account_id))[-1] == ("expire", -1, -1, 2)
        assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def test_a_time_that_is_over_gives_nothing(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=1)
    with pytest.raises(AccountError, match="in the past"):
        await _give(postgres, caller.account_id, 1, 1, datetime.now(UTC) - timedelta(seconds=1), "past")
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 1, 1)


async def test_a_refund_does_not_expire(postgres: Postgres) -> None:
    caller = await open_account(postgres)
    ends = datetime.now(UTC) + timedelta(milliseconds=500)
    await _give(postgres, caller.account_id, 0, 5, ends, "short")
    await pay(postgres, caller, 0, 5)
    await credits.refund(postgres, caller.account_id, 2, None, 3, "tests", "r1", "wrong data")
    await asyncio.sleep(0.6)
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 3, 3)
    with pytest.raises(AccountError, match="0 API and 2 lead credits of row"):
        await credits.refund(postgres, caller.account_id, 2, None, 3, "tests", "r2", "wrong data")
    await credits.refund(postgres, caller.account_id, 2, None, None, "tests", "r3", "wrong data")
    with pytest.raises(AccountError, match="0 API and 0 lead credits of row"):
        await credits.refund(postgres, caller.account_id, 2, None, None, "tests", "r4", "wrong data")
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


TAMPERINGS = {
    "UPDATE {schema}.expiring SET lead = lead + 1 WHERE account_id = $1": "the remaining expiring credits",
    "DELETE FROM {schema}.expiring WHERE account_id = $1": "the remaining expiring credits",
    "INSERT INTO {schema}.expiring VALUES ($1, now() + interval '1 day', 3, 1, 1)": "the remaining expiring credits",
}


@pytest.mark.parametrize("statement", TAMPERINGS)
async def test_tampering_with_what_expires_is_found(postgres: Postgres, dsn: str, statement: str) -> None:
    caller = await open_account(postgres, lead=1)
    await _give(postgres, caller.account_id, 1, 1, datetime.now(UTC) + timedelta(hours=1), "long")
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(statement.replace("{schema}", postgres.schema), caller.account_id)
    await connection.close()
    found = await ledger.verify(postgres, caller.account_id)
    assert [TAMPERINGS[statement] in problem.what for problem in found.problems] == [True]
