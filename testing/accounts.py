"""What the tests of accounts begin with: an account that has credits and a key."""

from __future__ import annotations

import secrets
from typing import Any

import asyncpg

from siteglass.access import accounts
from siteglass.access.keys import Caller, KeyLimits, Keys, create_key
from siteglass.billing import credits
from siteglass.billing.answers import AnswerToStore
from siteglass.billing.credits import Balances, Bill, ChargedOperation, Mark
from siteglass.platform.postgres import Postgres
from siteglass.platform.schema import migrate

SECRETS = ("a secret of the tests, long enough",)
TIMEOUT_MS = 10_000


async def open_account(
    postgres: Postgres, api: int = 0, lead: int = 0, limits: KeyLimits | None = None, plan: str = "standard"
) -> Caller:
    """The caller of a new account's only key."""
    account_id = await accounts.create_account(postgres, secrets.token_hex(8), plan, actor="tests")
    if api + lead:
        await credits.grant(postgres, account_id, api, lead, "tests", secrets.token_hex(8))
    return (await open_key(postgres, account_id, limits))[0]


async def open_key(postgres: Postgres, account_id: int, limits: KeyLimits | None = None) -> tuple[Caller, str]:
    """A new key of an account, and its caller."""
    _, key = await create_key(postgres, SECRETS, account_id, "tests", limits=limits, actor="tests")
    return await Keys(postgres, SECRETS, TIMEOUT_MS).find(key), key


def bill(api: int, lead: int, operation: ChargedOperation = "search") -> Bill:
    """A bill for so many leads, and one that is free."""
    leads = [(f"lead-{number}.example", Mark.CHARGED) for number in range(lead)]
    return Bill(operation, api, [*leads, ("example.org", Mark.NO_ADDRESS)])


async def pay(
    postgres: Postgres,
    caller: Caller,
    api: int,
    lead: int,
    operation: ChargedOperation = "search",
    keep: AnswerToStore | None = None,
) -> Balances:
    """A charge with nothing special about it."""
    request_id = secrets.token_hex(8)
    asked = bill(api, lead, operation)
    receipt = await credits.Billing(postgres, TIMEOUT_MS).charge(caller, request_id, asked, keep)
    assert receipt is not None
    assert (receipt.api, receipt.lead) == (api, lead)
    return receipt.balances


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
