"""What the tests of accounts begin with: an account that has credits and a key."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import asyncpg

from siteglass.accounts import accounts, credits
from siteglass.accounts.credits import Balances, Mark, Operation
from siteglass.accounts.keys import Caller, KeyLimits, Keys, create_key
from siteglass.accounts.schema import migrate
from siteglass.postgres import Postgres

SECRETS = ("a secret of the tests, long enough",)
TIMEOUT_MS = 10_000
CHARGED = [("example.com", Mark.CHARGED), ("example.org", Mark.NO_ADDRESS)]


async def open_account(postgres: Postgres, api: int = 0, lead: int = 0, limits: KeyLimits | None = None) -> Caller:
    """The caller of a new account's only key."""
    account_id = await accounts.create_account(postgres, secrets.token_hex(8), actor="tests")
    if api + lead:
        await credits.grant(postgres, account_id, api, lead, "tests", "grant")
    return (await open_key(postgres, account_id, limits))[0]


async def open_key(postgres: Postgres, account_id: int, limits: KeyLimits | None = None) -> tuple[Caller, str]:
    """A new key of an account, and its caller."""
    _, key = await create_key(postgres, SECRETS, account_id, "tests", limits=limits, actor="tests")
    return await Keys(postgres, SECRETS, TIMEOUT_MS).find(key), key


async def pay(
    postgres: Postgres,
    caller: Caller,
    api: int,
    lead: int,
    operation: Operation = "search",
    domains: Sequence[tuple[str, Mark]] = CHARGED,
) -> Balances:
    """A charge with nothing special about it."""
    request_id = secrets.token_hex(8)
    return await credits.charge(postgres, caller, operation, api, lead, request_id, domains, timeout_ms=TIMEOUT_MS)


def owner(dsn: str) -> str:
    """The same database, with the role that owns the tables."""
    return dsn.replace("siteglass@", "siteglass_owner@")


async def make_schema(dsn: str, name: str) -> None:
    """All tables, for the role of the service."""
    await migrate(owner(dsn), name, dsn)


async def drop_schema(dsn: str, name: str) -> None:
    connection = await asyncpg.connect(owner(dsn), timeout=10)
    await connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
    await connection.close()


class CountingPostgres(Postgres):
    """Counts the statements that are sent."""

    def __init__(self, dsn: str, schema: str) -> None:
        super().__init__(dsn, schema)
        self.sent = 0

    async def fetch(self, statement: str, *arguments: Any, **options: Any) -> list[asyncpg.Record]:
        self.sent += 1
        return await super().fetch(statement, *arguments, **options)

    async def fetchrow(self, statement: str, *arguments: Any, **options: Any) -> asyncpg.Record | None:
        self.sent += 1
        return await super().fetchrow(statement, *arguments, **options)
