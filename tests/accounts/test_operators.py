"""The last operator: roles taken at the same time, and accounts that are closed or removed with one in them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

import asyncpg
import pytest

from siteglass.access import lifecycle
from siteglass.access.accounts import AccountError, create_account
from siteglass.admin.operators import list_operators, set_operator
from siteglass.errors import Unavailable
from siteglass.people import people
from siteglass.people.problems import PeopleError
from siteglass.platform.postgres import Postgres
from testing.accounts import TIMEOUT_MS

pytestmark = [pytest.mark.anyio, pytest.mark.promise("console.operators")]


@pytest.fixture
async def accounts(postgres: Postgres) -> AsyncIterator[list[int]]:
    """Two accounts; afterwards nobody is operator."""
    yield [await create_account(postgres, secrets.token_hex(8), actor="tests") for _ in range(2)]
    await postgres.fetch("DELETE FROM {schema}.operators")


async def _operator(postgres: Postgres, account_id: int) -> tuple[int, str]:
    """Number and address of a new operator."""
    email = f"{secrets.token_hex(6)}@people.test"
    number = await people.create(postgres, email, "Olive", "a hash", account_id, "owner")
    await postgres.fetch("UPDATE {schema}.people SET totp = '\\x00' WHERE id = $1", number)
    await set_operator(postgres, email, "operator", actor="tests")
    return number, email


async def test_of_two_who_demote_each_other_the_second_is_refused(postgres: Postgres, accounts: list[int]) -> None:
    _, first = await _operator(postgres, accounts[0])
    number, _ = await _operator(postgres, accounts[0])
    async with postgres.transaction(TIMEOUT_MS) as connection:
        await connection.execute(
            postgres.sql("UPDATE {schema}.operators SET role = 'support' WHERE person_id = $1"), number
        )
        demoting = asyncio.create_task(set_operator(postgres, first, "support", actor="tests"))
        await asyncio.sleep(0.3)
        assert not demoting.done()
    with pytest.raises(PeopleError, match="Nobody would be operator"):
        await demoting
    assert {one.email: one.role for one in await list_operators(postgres)}[first] == "operator"


async def test_the_only_account_of_operators_is_not_closed(postgres: Postgres, accounts: list[int]) -> None:
    own, other = accounts
    number, email = await _operator(postgres, own)
    with pytest.raises(AccountError, match=r"the only open account of operators.*siteglass person invite"):
        await lifecycle.close(postgres, own, "gone", actor="tests")
    with pytest.raises(PeopleError, match=f"siteglass operator remove {number}"):
        await people.delete(postgres, email, "tests")
    await lifecycle.close(postgres, other, "gone", actor="tests")
    await lifecycle.resume(postgres, other, actor="tests")
    await _join(postgres, other, number)
    await lifecycle.close(postgres, own, "gone", actor="tests")
    with pytest.raises(AccountError, match="the only open account of operators"):
        await lifecycle.close(postgres, other, "gone", actor="tests")
    assert await lifecycle.erase_closed(postgres, 0) >= 1


async def _join(postgres: Postgres, account_id: int, person_id: int) -> None:
    await postgres.fetch(
        "INSERT INTO {schema}.members (account_id, person_id, role) VALUES ($1, $2, 'owner')", account_id, person_id
    )


async def test_data_waits_for_another_operator_and_their_end_is_noted(postgres: Postgres, accounts: list[int]) -> None:
    own, other = accounts
    number, _ = await _operator(postgres, own)
    await _join(postgres, other, number)
    await lifecycle.close(postgres, own, "gone", actor="tests")
    await postgres.fetch("DELETE FROM {schema}.members WHERE account_id = $1", other)
    with pytest.raises(Unavailable) as waiting:
        await lifecycle.erase_closed(postgres, 0)
    assert f"account {own} is not removed, because it has the last operator" in waiting.value.reason
    await _operator(postgres, other)
    assert await lifecycle.erase_closed(postgres, 0) == 1
    row: asyncpg.Record | None = await postgres.fetchrow(
        "SELECT actor_id, action FROM {schema}.audit WHERE details->>'person' = $1 ORDER BY id DESC LIMIT 1",
        str(number),
    )
    assert row is not None
    assert tuple(row) == ("closed accounts", "operator.remove")
