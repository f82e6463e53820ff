"""The last operator keeps the role, also if two lose it at the same time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

import pytest

from siteglass.access.accounts import create_account
from siteglass.admin.operators import list_operators, set_operator
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
