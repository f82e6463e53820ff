"""Upgrades the tables with Alembic, which runs its steps through SQLAlchemy: no other package imports the two.

Workers never import this module: loading both libraries would delay their start.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from siteglass.platform.functions import SchemaError
from siteglass.platform.migrations import run_script
from siteglass.platform.postgres_servers import Connector

# The revisions before the baseline. A schema at the last of them can be upgraded; the older ones cannot.
BEFORE_BASELINE = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")

CONNECT_TIMEOUT_S = 5
LOCK_TIMEOUT_MS = 5_000
STATEMENT_TIMEOUT_MS = 60_000


@asynccontextmanager
async def upgrade_tables(owner_dsn: str, schema: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Apply all steps that the schema lacks, and give the connection for what else belongs in the same transaction.

    Raises asyncpg's errors, like every other use of PostgreSQL.
    """
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: Connector(owner_dsn).connect(timeout=CONNECT_TIMEOUT_S),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            for statement in (*transaction_start(schema), f"CREATE SCHEMA IF NOT EXISTS {schema}"):
                await connection.exec_driver_sql(statement)
            await connection.run_sync(_upgrade, schema)
            # The same connection, inside the transaction that SQLAlchemy began with the first statement.
            driver_connection = (await connection.get_raw_connection()).driver_connection
            yield cast("asyncpg.Connection[asyncpg.Record]", driver_connection)
    except DBAPIError as error:
        raise error.driver_exception from error
    finally:
        await engine.dispose()


def transaction_start(schema: str) -> tuple[str, ...]:
    """What every transaction of a migration begins with: deadlines, and a turn among several commands.

    A step that waits for a lock would block every later request: better to give up and be run again.
    """
    return (
        f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}",
        f"SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_MS}",
        f"SELECT pg_advisory_xact_lock(hashtext('siteglass migrate {schema}'))",
    )


def pending_steps(revision: str | None) -> list[tuple[str, str]]:
    """The steps after a revision, each with what it is for; raises KeyError if this build does not know it."""
    steps = {step.revision: step for step in ScriptDirectory.from_config(alembic_config()).walk_revisions()}
    newest_first = [(name, str(step.doc)) for name, step in steps.items()]
    names = [name for name, _ in newest_first]
    if revision is not None and revision not in names:
        raise KeyError(revision)
    newer = newest_first if revision is None else newest_first[: names.index(revision)]
    return newer[::-1]


def alembic_config() -> Config:
    """Where Alembic finds the steps: beside this module, from whatever folder the command is run."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config


def _upgrade(connection: Connection, schema: str) -> None:
    revision = _revision(connection, schema)
    if revision == BEFORE_BASELINE[-1]:
        run_script(connection, "from_0008.sql", schema)
    elif revision is not None:
        _require_known(revision, schema)
    # Alembic logs every step at INFO, which the operator who asked for it need not read.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = alembic_config()
    config.attributes.update(connection=connection, schema=schema)
    command.upgrade(config, "head")


def _revision(connection: Connection, schema: str) -> str | None:
    """The revision that the schema is at; None: it has no tables yet."""
    if connection.exec_driver_sql(f"SELECT to_regclass('{schema}.alembic_version')").scalar() is None:
        return None
    revision: str | None = connection.exec_driver_sql(
        f"SELECT version_num FROM {schema}.alembic_version"  # noqa: S608 - a checked name
    ).scalar()
    return revision


def _require_known(revision: str, schema: str) -> None:
    """Raises SchemaError unless this build has the step that the schema is at."""
    steps = ScriptDirectory.from_config(alembic_config()).walk_revisions()
    if revision in {step.revision for step in steps}:
        return
    if revision in BEFORE_BASELINE:
        raise SchemaError(
            f"Schema {schema} is at revision {revision}, and this release upgrades from {BEFORE_BASELINE[-1]} on. "
            "Upgrade with a checkout of the release before this one first (`siteglass migrate` there), then run it "
            "here again."
        )
    raise SchemaError(
        f"Schema {schema} is at revision {revision}, which this build does not know: a newer release migrated it. "
        "Run that release, or a newer one."
    )
