"""Indexes on tables that have rows already, built while charges pass: outside the transaction of the steps.

A step that adds an index to an existing table names it here. `CREATE INDEX` would lock the table until it is built;
`CREATE INDEX CONCURRENTLY` takes longer, locks nothing, and cannot run in a transaction. A build that was interrupted
leaves an index that is not valid: the next run drops it and builds it again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import asyncpg

POLL_S = 0.2
# Two commands that create the same index at once: one of them violates this index of PostgreSQL itself.
_NAME_TAKEN = "pg_class_relname_nsp_index"

_STATE = """
SELECT i.indisvalid AS valid,
    EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid) AS building
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = $1::text::regnamespace AND c.relname = $2
"""


@dataclass(frozen=True, slots=True)
class Index:
    """An index by its table, and what is indexed."""

    name: str
    table: str
    what: str
    unique: bool = False

    def statement(self, schema: str, how: str) -> str:
        """Creates it; `how` is CONCURRENTLY or nothing."""
        kind = "UNIQUE INDEX" if self.unique else "INDEX"
        return f"CREATE {kind} {how} {self.name} ON {schema}.{self.table} {self.what}"


INDEXES = (
    Index("keys_by_person", "keys", "(account_id, person_id) WHERE person_id IS NOT NULL", unique=True),
    Index("previewed_by_lead", "previewed", "(account_id, domain, day)"),
    Index("received_by_time", "received", "(account_id, at)"),
    Index("lists_by_run", "lists", "(run_id) WHERE run_id IS NOT NULL"),
    Index("downloads_by_key", "downloads", "(key_account, form_key) WHERE key_account IS NOT NULL", unique=True),
)


async def missing_indexes(connection: asyncpg.Connection[asyncpg.Record], schema: str) -> list[Index]:
    """The indexes that are not there, or not usable."""
    found = []
    for index in INDEXES:
        row = await connection.fetchrow(_STATE, schema, index.name)
        if row is None or not row["valid"]:
            found.append(index)
    return found


async def build_indexes(connection: asyncpg.Connection[asyncpg.Record], schema: str) -> None:
    """Build what is missing, and wait for what another command builds. Not inside a transaction."""
    for index in INDEXES:
        while (row := await connection.fetchrow(_STATE, schema, index.name)) is None or not row["valid"]:
            if row is not None and row["building"]:
                await asyncio.sleep(POLL_S)
                continue
            if row is not None:
                await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema}.{index.name}")
            await _create(connection, schema, index)


async def _create(connection: asyncpg.Connection[asyncpg.Record], schema: str, index: Index) -> None:
    has_rows = await connection.fetchval(f"SELECT EXISTS (SELECT FROM {schema}.{index.table})")  # noqa: S608 - names of ours
    try:
        # Without rows it takes no time, and need not wait until every open transaction has ended.
        await connection.execute(index.statement(schema, "CONCURRENTLY" if has_rows else ""))
    except asyncpg.DuplicateTableError:
        await asyncio.sleep(POLL_S)
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != _NAME_TAKEN:
            raise
        await asyncio.sleep(POLL_S)
