"""The maximum number of working keys: it binds people, however many make one at once, but not operators."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from siteglass.access.accounts import AccountError
from siteglass.access.key_room import TooManyKeys
from siteglass.access.keys import create_key, list_keys
from siteglass.access.rotation import rotate_key
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, open_account, owner

pytestmark = pytest.mark.anyio


@pytest.mark.race
async def test_of_many_at_once_no_more_are_made_than_may_be(postgres: Postgres, dsn: str) -> None:
    account = (await open_account(postgres)).account_id
    first, _ = await create_key(postgres, SECRETS, account, "first", actor="tests")

    async def make() -> bool:
        try:
            await create_key(postgres, SECRETS, account, "more", actor="tests", most=5)
        except TooManyKeys:
            return False
        return True

    async def rotate() -> bool:
        try:
            await rotate_key(postgres, SECRETS, first, timedelta(days=1), "tests", of_account=account, most=5)
        except TooManyKeys:
            return False
        return True

    # A call that makes a key waits for the account's row to count and write: so all count before one is through.
    holder = await asyncpg.connect(owner(dsn), timeout=10)
    async with holder.transaction():
        await holder.execute(postgres.sql("SELECT FROM {schema}.accounts WHERE id = $1 FOR UPDATE"), account)
        making = asyncio.gather(*(make() for _ in range(6)), rotate(), *(make() for _ in range(6)))
        await asyncio.sleep(0.5)
    made = await making
    await holder.close()
    assert sum(made) == 3
    assert len(await list_keys(postgres, account)) == 5
    # the limit does not bind operators
    await create_key(postgres, SECRETS, account, "sixth", actor="tests")


async def test_a_rotation_without_overlap_adds_none(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    key, _ = await create_key(postgres, SECRETS, account, "second", actor="tests")
    with pytest.raises(TooManyKeys):
        await rotate_key(postgres, SECRETS, key, timedelta(hours=1), "tests", of_account=account, most=2)
    new, _ = await rotate_key(postgres, SECRETS, key, timedelta(), "tests", of_account=account, most=2)
    with pytest.raises(AccountError, match=f"Key {key} has expired"):
        await rotate_key(postgres, SECRETS, key, timedelta(hours=1), "tests", of_account=account, most=2)
    await rotate_key(postgres, SECRETS, new, timedelta(hours=1), "tests", of_account=account, most=3)
