"""The most keys that may work at a time: counted while nobody else makes one for the same account."""

from __future__ import annotations

from typing import Any

import asyncpg

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError
from siteglass.platform.postgres import Postgres

# The parameter {most} is None where there is no most.
HAS_ROOM = """({most}::integer IS NULL OR {most} > (
    SELECT count(*) FROM {schema}.keys k
    WHERE k.account_id = {account} AND k.person_id IS NULL AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
))"""


class TooManyKeys(AccountError):
    """The account has as many keys that work as it may have."""


async def fetchrow_alone(postgres: Postgres, account_id: int, statement: str, *arguments: Any) -> asyncpg.Record | None:
    """The first row of a statement that no other of this account runs beside.

    A statement sees what there was when it began: so the turn is taken before it, in the same transaction.
    """
    async with postgres.transaction(ADMIN_TIMEOUT_MS) as connection:
        await postgres.wait_for_turn(connection, "keys of an account", account_id)
        return await connection.fetchrow(postgres.sql(statement), *arguments)
