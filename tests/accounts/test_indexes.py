"""Indexes of tables that have rows are built while the service writes, and built again after an interruption."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

import asyncpg
import pytest

from siteglass.leads.lists.lists import FREE_NUMBERS
from siteglass.platform import schema
from siteglass.platform.postgres import Postgres
from testing.accounts import drop_schema, make_schema, open_account, owner

pytestmark = pytest.mark.anyio

VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"
BUILDING = "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = to_regclass($1)"


@pytest.fixture
async def own(dsn: str) -> AsyncIterator[Postgres]:
    """A schema with an account and a key, as of a release that had no such index."""
    postgres = Postgres(dsn, f"test_{secrets.token_hex(6)}")
    await make_schema(dsn, postgres.schema)
    await open_account(postgres)
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(f"DROP INDEX {postgres.schema}.keys_by_person")
    await connection.close()
    yield postgres
    await postgres.close()
    await drop_schema(dsn, postgres.schema)


async def _add_key(connection: asyncpg.Connection[asyncpg.Record], name: str, person: int) -> None:
    """A row like the account's key, of a person."""
    columns = await connection.fetch(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'keys'"
        " AND is_identity = 'NO' AND column_name NOT IN ('digest', 'person_id')",
        name,
    )
    same = ", ".join(column["column_name"] for column in columns)
    await connection.execute(
        f"INSERT INTO {name}.keys ({same}, digest, person_id) SELECT {same}, $1, $2 FROM {name}.keys LIMIT 1",
        secrets.token_bytes(32),
        person,
    )


async def test_keys_are_written_while_their_index_is_built(own: Postgres, dsn: str) -> None:
    index, table = f"{own.schema}.keys_by_person", f"{own.schema}.keys"
    slow, other = [await asyncpg.connect(owner(dsn)) for _ in range(2)]
    try:
        transaction = slow.transaction()
        await transaction.start()
        await _add_key(slow, own.schema, 1)
        migrating = asyncio.create_task(make_schema(dsn, own.schema))
        for _ in range(3_000):
            if await other.fetchval(BUILDING, table):
                break
            await asyncio.sleep(0.02)
        # The build waits for the open transaction. An index that is built otherwise would let nobody write meanwhile.
        await other.execute("SET lock_timeout = '2s'")
        await _add_key(other, own.schema, 2)
        assert not migrating.done()
        assert not await other.fetchval(VALID, index)
        await transaction.commit()
        await migrating
        assert await other.fetchval(VALID, index)
        assert await schema.is_current(own)
    finally:
        await slow.close()
        await other.close()


async def test_an_index_that_was_left_half_built_is_built_again(own: Postgres, dsn: str) -> None:
    index = f"{own.schema}.keys_by_person"
    connection = await asyncpg.connect(owner(dsn))
    try:
        for _ in range(2):
            await _add_key(connection, own.schema, 7)
        with pytest.raises(asyncpg.UniqueViolationError):
            await make_schema(dsn, own.schema)
        assert await connection.fetchval(VALID, index) is False
        found = await schema.pending(owner(dsn), own.schema)
        assert (found.steps, found.indexes, found.functions) == ([], ["keys_by_person"], [])
        await connection.execute(
            f"DELETE FROM {own.schema}.keys WHERE id = (SELECT max(id) FROM {own.schema}.keys WHERE person_id = 7)"
        )
        await asyncio.gather(*(make_schema(dsn, own.schema) for _ in range(2)))
        assert await connection.fetchval(VALID, index) is True
        assert (await schema.pending(owner(dsn), own.schema)).indexes == []
    finally:
        await connection.close()


async def test_what_an_account_gets_free_is_found_by_time(own: Postgres, dsn: str) -> None:
    """Facets ask for it: reading all that an account ever received would take longer each month."""
    await make_schema(dsn, own.schema)
    connection = await asyncpg.connect(owner(dsn))
    try:
        await connection.execute(
            f"INSERT INTO {own.schema}.received SELECT 1, n || '.example', n, now() - n * interval '1 hour', true"
            " FROM generate_series(1, 20000) n"
        )
        await connection.execute(
            f"INSERT INTO {own.schema}.lists (id, account_id, test, name) OVERRIDING SYSTEM VALUE"
            " VALUES (1, 1, false, 'received')"
        )
        await connection.execute(
            f"INSERT INTO {own.schema}.list_domains (list_id, domain)"
            f" SELECT 1, domain FROM {own.schema}.received WHERE account_id = 1"
        )
        await connection.execute(f"ANALYZE {own.schema}.received, {own.schema}.list_domains")
        plan = await connection.fetch(f"EXPLAIN {own.sql(FREE_NUMBERS)}", 1, 30, 1)
        assert "received_by_time" in "".join(row[0] for row in plan)
    finally:
        await connection.close()
