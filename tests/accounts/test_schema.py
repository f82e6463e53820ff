"""The tables: made once, made again without harm, and a ledger that nobody changes."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import asyncpg
import pytest
from alembic.script import ScriptDirectory

from siteglass.access import accounts
from siteglass.platform import schema
from siteglass.platform.migrations.upgrade import alembic_config
from siteglass.platform.postgres import Postgres
from siteglass.settings import SettingsError
from testing.accounts import drop_schema, make_schema, open_account, owner

pytestmark = pytest.mark.anyio

TIMEOUT_MS = 5_000


def test_head_is_the_newest_step() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == schema.HEAD


async def _tables(postgres: Postgres) -> list[asyncpg.Record]:
    return await postgres.fetch(
        "SELECT table_name, column_name, data_type, column_default FROM information_schema.columns"
        " WHERE table_schema = $1 ORDER BY 1, 2",
        postgres.schema,
    )


async def test_a_second_run_changes_nothing(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, lead=5)
    before = await _tables(postgres)
    await make_schema(dsn, postgres.schema)
    assert await _tables(postgres) == before
    assert (await accounts.list_accounts(postgres, caller.account_id - 1))[0].lead == 5
    assert await schema.is_current(postgres)


async def test_several_at_once_and_from_any_folder(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"test_{secrets.token_hex(6)}"
    postgres = Postgres(dsn, name)
    try:
        assert not await schema.is_current(postgres)
        await asyncio.gather(*(make_schema(dsn, name) for _ in range(3)))
        assert await schema.is_current(postgres)
        plans = {p.name: (p.rate_per_s, p.burst) for p in await accounts.list_plans(postgres)}
        assert plans == {"standard": (10, 20), "demo": (1000, 2000)}
    finally:
        await postgres.close()
        await drop_schema(dsn, name)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {schema}.ledger SET lead = 1",
        "DELETE FROM {schema}.ledger",
        "TRUNCATE {schema}.ledger",
        "UPDATE {schema}.ledger SET lead = 1 WHERE false",
    ],
)
async def test_the_ledger_is_never_changed(postgres: Postgres, dsn: str, statement: str) -> None:
    await open_account(postgres, lead=5)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await postgres.fetch(statement)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await postgres.fetch(statement.replace("ledger SET lead", "balances SET lead"))
    as_owner = Postgres(owner(dsn), postgres.schema)
    with pytest.raises(asyncpg.RaiseError, match="the ledger is never changed"):
        await as_owner.fetch(statement)
    await as_owner.close()


FORGED = "ROW(1, 1, now(), 'grant', 'none', 9, 9, NULL, NULL, 'operator', 'x', 'x', '', '', '')::{schema}.ledger"


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO {{schema}}.ledger SELECT ({FORGED}).*",
        "INSERT INTO {schema}.balances (account_id, lead) VALUES (1, 1)",
        f"SELECT {{schema}}.append_entry({FORGED}, b) FROM {{schema}}.balances b",
        "SELECT * FROM {schema}.balances FOR UPDATE",
        "ALTER TABLE {schema}.ledger DISABLE TRIGGER no_change",
        "DELETE FROM {schema}.keys",
        "DELETE FROM {schema}.audit",
        "UPDATE {schema}.audit SET actor_id = 'x'",
    ],
)
async def test_the_service_cannot_write_past_its_functions(postgres: Postgres, statement: str) -> None:
    await open_account(postgres, lead=5)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await postgres.fetch(statement)


async def test_both_addresses_name_one_database(dsn: str) -> None:
    with pytest.raises(SettingsError, match="SITEGLASS_POSTGRES_OWNER_DSN and SITEGLASS_POSTGRES_DSN"):
        await schema.migrate(owner(dsn), "never_made", dsn.replace("127.0.0.1", "localhost"))


async def test_a_role_that_may_not_create_tables_gets_the_drivers_own_error(dsn: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match=r"^permission denied for database"):
        await schema.migrate(dsn, "never_made", dsn)


@pytest.mark.parametrize("name", ["", "Public", "a-b", 'a"; DROP', "x" * 64])
async def test_a_schema_name_is_a_plain_name(dsn: str, name: str) -> None:
    with pytest.raises(ValueError, match="not a valid schema name"):
        await make_schema(dsn, name)
    with pytest.raises(ValueError, match="not a valid schema name"):
        Postgres(dsn, name)
