"""Brings the tables up to date, and tells whether they are. The steps stand in `migrations`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import asyncpg

from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres, checked_schema
from siteglass.settings import SettingsError, variable

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection

# The newest step this code relies on; a test holds it against the folder. Written here so that a worker that only
# asks "is it there?" need not load alembic.
HEAD = "0008"

# Kept answers of one hour are in one of this many tables, so that a whole table is emptied at once.
ANSWER_SLOTS = 32

# What the role of the service may do; the ledger, balances and what belongs to them change only through functions
# that the owner made. A table that stands nowhere here is closed to it.
RIGHTS = {
    "alembic_version": "SELECT",
    "plans": "SELECT, INSERT, UPDATE",
    "accounts": "SELECT, INSERT",
    "keys": "SELECT, INSERT, UPDATE",
    "balances": "SELECT, INSERT (account_id)",
    "ledger": "SELECT",
    "usage_days": "SELECT",
    "expiring": "SELECT",
    "paid": "SELECT",
    "bought": "SELECT",
    "bought_until": "SELECT",
    "idempotency": "SELECT",
    **{f"answers_{slot}": "SELECT" for slot in range(ANSWER_SLOTS)},
    "audit": "SELECT, INSERT (actor_kind, actor_id, action, account_id, key_id, entry_seq, details)",
    "suppressed": "SELECT, INSERT, UPDATE (tried_at, settled_at)",
    "suppressed_leads": "SELECT, INSERT",
    "suppression_secret": "SELECT, INSERT",
    "people": "SELECT, INSERT, UPDATE, DELETE",
    "members": "SELECT, INSERT, UPDATE, DELETE",
    "sessions": "SELECT, INSERT, UPDATE, DELETE",
    "recovery_codes": "SELECT, INSERT, UPDATE, DELETE",
    "links": "SELECT, INSERT, UPDATE, DELETE",
    "tries": "SELECT, INSERT, UPDATE, DELETE",
    "request_days": "SELECT, INSERT, UPDATE",
    "balance_alerts": "SELECT, INSERT, UPDATE",
}
FUNCTIONS = (
    *("charge", "grant_credits", "refund", "adjust", "remember_paid", "paid_for"),
    *("expire_credits", "forget_answers", "forget_keys"),
)

CONNECT_TIMEOUT_S = 5
LOCK_TIMEOUT_MS = 5_000
STATEMENT_TIMEOUT_MS = 60_000


def alembic_config() -> Config:
    """Where alembic finds the steps: beside this module, from whatever folder the command is run."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config


def _upgrade(connection: Connection, schema: str) -> None:
    from alembic import command

    # alembic tells every step at INFO, which is no news to the operator who asked for it
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = alembic_config()
    config.attributes.update(connection=connection, schema=schema)
    command.upgrade(config, "head")


def _service_role(owner_dsn: str, service_dsn: str) -> str:
    """The role in the service's address; raises SettingsError if both do not lead to the same database."""
    owner, service = urlsplit(owner_dsn), urlsplit(service_dsn)
    if (owner.hostname, owner.port, owner.path) != (service.hostname, service.port, service.path):
        raise SettingsError(
            f"{variable('postgres_owner_dsn')} and {variable('postgres_dsn')} name different databases: set both."
        )
    return unquote(service.username or "")


async def _give_rights(connection: AsyncConnection, schema: str, role: str) -> None:
    """Exactly RIGHTS, whatever the role had before; none to give if it owns the tables itself."""
    found = await connection.exec_driver_sql("SELECT current_user::text AS owner, quote_ident($1) AS quoted", (role,))
    row = found.mappings().one()
    if role == row["owner"]:
        return
    quoted = row["quoted"]
    steps = [
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {quoted}",
        f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM {quoted}",
        f"GRANT USAGE ON SCHEMA {schema} TO {quoted}",
        *(f"GRANT {rights} ON {schema}.{table} TO {quoted}" for table, rights in RIGHTS.items()),
        *(f"GRANT EXECUTE ON FUNCTION {schema}.{name} TO {quoted}" for name in FUNCTIONS),
    ]
    for step in steps:
        await connection.exec_driver_sql(step)


async def migrate(owner_dsn: str, schema: str, service_dsn: str) -> None:
    """Make or upgrade the tables of this schema, all in one transaction; nothing to do is no error.

    The role of `service_dsn` gets the rights that the service needs, and no others.
    """
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    checked_schema(schema)
    role = _service_role(owner_dsn, service_dsn)
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(owner_dsn, timeout=CONNECT_TIMEOUT_S),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            # A step that waits for a lock would hold up all who come after it: better to give up and be run again.
            for statement in (
                f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}",
                f"SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_MS}",
                f"SELECT pg_advisory_xact_lock(hashtext('siteglass migrate {schema}'))",
                f"CREATE SCHEMA IF NOT EXISTS {schema}",
            ):
                await connection.exec_driver_sql(statement)
            await connection.run_sync(_upgrade, schema)
            await _give_rights(connection, schema, role)
    except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
        raise Unavailable(f"postgresql: {type(error).__name__}") from error
    finally:
        await engine.dispose()


async def is_current(postgres: Postgres) -> bool:
    """Whether the tables have all that this code relies on. Newer is fine: steps only add."""
    try:
        row = await postgres.fetchrow("SELECT version_num FROM {schema}.alembic_version")
    except Unavailable:
        return False
    return row is not None and str(row["version_num"]) >= HEAD
