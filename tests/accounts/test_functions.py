"""The functions of the database are what their files say, and `siteglass migrate` applies what changed."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from siteglass.platform import schema
from siteglass.platform.functions import file_hash, function_files
from siteglass.platform.postgres import Postgres
from testing.accounts import drop_schema, make_schema, owner
from tests.accounts.catalogue import describe
from tests.accounts.releases import PACKAGE, Release, copy_release

pytestmark = pytest.mark.anyio


@pytest.fixture
async def as_owner(dsn: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(owner(dsn))
    yield connection
    await connection.close()


@pytest.fixture
async def own(dsn: str) -> AsyncIterator[Postgres]:
    """A fresh schema for a test that changes its functions."""
    postgres = Postgres(dsn, f"test_{secrets.token_hex(6)}")
    await make_schema(dsn, postgres.schema)
    yield postgres
    await postgres.close()
    await drop_schema(dsn, postgres.schema)


async def _source(connection: asyncpg.Connection[asyncpg.Record], schema_name: str, name: str) -> str | None:
    source: str | None = await connection.fetchval(
        "SELECT prosrc FROM pg_proc WHERE pronamespace = $1::text::regnamespace AND proname = $2", schema_name, name
    )
    return source


async def test_the_database_has_exactly_the_files(
    as_owner: asyncpg.Connection[asyncpg.Record], schema_name: str
) -> None:
    files = function_files()
    before = await describe(as_owner, schema_name)
    assert sorted(name.partition(".")[2].partition("(")[0] for name in before["functions"]) == sorted(files)
    hashes = await as_owner.fetch(f"SELECT name, hash FROM {schema_name}.sql_functions")
    assert {row["name"]: row["hash"] for row in hashes} == {name: file_hash(text) for name, text in files.items()}
    # Applied once more, a file changes nothing: neither source nor owner, search path or rights were different.
    async with as_owner.transaction():
        for text in files.values():
            await as_owner.execute(text.replace("{schema}", schema_name))
        assert await describe(as_owner, schema_name) == before


async def test_the_service_may_call_what_it_calls_and_nothing_else(
    as_owner: asyncpg.Connection[asyncpg.Record], schema_name: str, dsn: str
) -> None:
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    called = {
        name
        for text in texts
        for pattern in (
            r'(?:\.call|(?<!self\.)_write)\(\s*(?:postgres,\s*)?"([a-z_]+)"',
            r"FROM \{schema\}\.([a-z_]+)\(",
        )
        for name in re.findall(pattern, text)
    }
    assert called == set(schema.FUNCTIONS)
    allowed = {*schema.FUNCTIONS, *schema.EARLIER_FUNCTIONS}
    rows = await as_owner.fetch(
        "SELECT proname, prosecdef, 'search_path=pg_catalog, pg_temp' = ANY(coalesce(proconfig, '{}')) AS path,"
        " has_function_privilege('siteglass', oid, 'EXECUTE') AS ours,"
        " (SELECT array_agg(a.grantee ORDER BY a.grantee) FROM aclexplode(proacl) a) AS grantees,"
        " ARRAY[proowner, 'siteglass'::regrole::oid] AS owner_and_service"
        " FROM pg_proc WHERE pronamespace = $1::text::regnamespace",
        schema_name,
    )
    for row in rows:
        public = row["proname"] in allowed
        assert (row["ours"], row["prosecdef"], row["path"]) == (public, public, public), row["proname"]
        expected = row["owner_and_service"] if public else row["owner_and_service"][:1]
        assert row["grantees"] == sorted(expected), row["proname"]


@pytest.mark.parametrize(
    ("function", "query"),
    [
        ("answer_slot", "SELECT {schema}.answer_slot(b.at) FROM {schema}.balances b"),
        ("entry_hash", "SELECT {schema}.entry_hash(l) FROM {schema}.ledger l"),
    ],
)
async def test_what_every_charge_calls_is_inlined(
    own: Postgres, as_owner: asyncpg.Connection[asyncpg.Record], function: str, query: str
) -> None:
    """A function that is not would be parsed and planned in every charge."""
    plan = await as_owner.fetch(own.sql(f"EXPLAIN (VERBOSE) {query}"))
    assert function not in "\n".join(row[0] for row in plan)


async def test_an_edited_file_is_applied_and_others_are_left_alone(
    own: Postgres, as_owner: asyncpg.Connection[asyncpg.Record], tmp_path: Path
) -> None:
    # Not what its file says, but the file is unchanged: a run that applied every file would put it right.
    old_slot = "CREATE OR REPLACE FUNCTION {schema}.answer_slot(answered_at timestamptz) RETURNS smallint"
    await as_owner.execute(own.sql(f"{old_slot} LANGUAGE sql AS 'SELECT 1::smallint'"))
    newer = copy_release(tmp_path, own.schema)
    newer.edit("operate", "'2000'", "'3000'")
    before = await describe(as_owner, own.schema)

    newer.migrate()

    after = await describe(as_owner, own.schema)
    assert "'3000'" in (await _source(as_owner, own.schema, "operate") or "")
    assert await _source(as_owner, own.schema, "answer_slot") == "SELECT 1::smallint"
    changed = f"{own.schema}.operate(bigint)".replace(own.schema, "{schema}")
    assert before["functions"].pop(changed) == after["functions"].pop(changed).replace("'3000'", "'2000'")
    assert after == before


async def test_a_build_is_current_until_an_older_one_is_applied_again(own: Postgres, dsn: str, tmp_path: Path) -> None:
    newer = copy_release(tmp_path, own.schema)
    newer.edit("operate", "'2000'", "'3000'")
    assert "the functions in schema" in newer.run("doctor").stdout

    newer.migrate()
    assert "has everything that this build needs" in newer.run("doctor").stdout
    assert await schema.is_current(own), "workers of the release before stay ready"

    await make_schema(dsn, own.schema)  # back to this release
    assert "the functions in schema" in newer.run("doctor").stdout
    assert await schema.is_current(own)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(max_keys integer,", "(max_keys integer, older_than interval,"),
        ("(max_keys integer,", "(how_many integer,"),
        ("OUT forgotten integer", "OUT forgotten bigint"),
        ("OUT forgotten integer", "OUT forgotten integer, OUT kept integer"),
    ],
)
async def test_a_signature_never_changes(
    own: Postgres, as_owner: asyncpg.Connection[asyncpg.Record], tmp_path: Path, old: str, new: str
) -> None:
    newer = copy_release(tmp_path, own.schema)
    newer.edit("forget_keys", old, new)
    newer.edit("operate", "'2000'", "'3000'")
    before = await describe(as_owner, own.schema)
    refused = newer.run("migrate")
    assert refused.returncode == 2
    assert "sql/forget_keys.sql changes the signature of forget_keys" in refused.stderr
    assert "write a function with a new name" in refused.stderr
    assert await describe(as_owner, own.schema) == before


async def test_a_file_creates_the_function_of_its_name(own: Postgres, tmp_path: Path) -> None:
    newer = copy_release(tmp_path, own.schema)
    newer.edit("forget_keys", "{schema}.forget_keys(", "{schema}.forget_all_keys(")
    refused = newer.run("migrate")
    assert refused.returncode == 2
    assert "forget_keys.sql: each file must create exactly one function" in refused.stderr


async def test_a_function_gets_a_new_name_and_the_old_one_goes(
    own: Postgres, as_owner: asyncpg.Connection[asyncpg.Record], tmp_path: Path
) -> None:
    newer: Release = copy_release(tmp_path, own.schema)
    text = newer.file("done_before").read_text(encoding="utf-8")
    newer.file("was_done").write_text(text.replace("done_before", "was_done"), encoding="utf-8")
    newer.migrate()
    assert await _source(as_owner, own.schema, "done_before")
    newer.file("done_before").unlink()
    newer.migrate()
    assert await _source(as_owner, own.schema, "done_before") is None
    assert await _source(as_owner, own.schema, "was_done")
    assert not await as_owner.fetchval(f"SELECT count(*) FROM {own.schema}.sql_functions WHERE name = 'done_before'")
    # A new function is closed to everybody, whatever PostgreSQL's default is.
    assert not await as_owner.fetchval(
        f"SELECT has_function_privilege('siteglass', '{own.schema}.was_done(bigint, text)', 'EXECUTE')"
    )
