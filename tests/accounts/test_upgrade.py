"""A schema of the release before the baseline becomes what a fresh one is, with its data; older ones say what to do."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from click.testing import CliRunner

from siteglass.access.keys import Keys
from siteglass.billing import credits
from siteglass.billing.credits import Balances, Bill, Mark
from siteglass.billing.paid import has_paid
from siteglass.cli.main import cli
from siteglass.platform import schema
from siteglass.platform.functions import SchemaError
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, TIMEOUT_MS, drop_schema, make_schema, owner
from tests.accounts.catalogue import describe

pytestmark = pytest.mark.anyio

SCHEMA_0008 = Path(__file__).parent / "schema_0008.sql"
# Of the rows in its ledger.
MONTH_0008 = "2026_11"
KEY = "sg_live_gj1NN09BcKYLnZHR3FZEEvRC98ayIz3s0vgp"


@pytest.fixture
async def old(dsn: str) -> AsyncIterator[Postgres]:
    """A database that the release before made and used."""
    postgres = Postgres(dsn, f"test_{secrets.token_hex(6)}")
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(postgres.sql(SCHEMA_0008.read_text(encoding="utf-8")))
    await connection.close()
    yield postgres
    await postgres.close()
    await drop_schema(dsn, postgres.schema)


async def _rows(connection: asyncpg.Connection[asyncpg.Record], name: str) -> dict[str, list[str]]:
    """All rows of all tables as text, but those that `siteglass migrate` itself writes."""
    tables = await connection.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = $1::text::regnamespace AND relkind = 'r'", name
    )
    names = {row["relname"] for row in tables} - {"alembic_version", "schema_versions", "sql_functions"}
    return {
        table: [row[0] for row in await connection.fetch(f"SELECT t::text FROM {name}.{table} t ORDER BY 1")]
        for table in names
    }


async def test_it_becomes_what_a_fresh_schema_is(old: Postgres, dsn: str, schema_name: str) -> None:
    connection = await asyncpg.connect(owner(dsn))
    rows = await _rows(connection, old.schema)
    assert not await schema.is_current(old)

    await make_schema(dsn, old.schema)

    assert await schema.is_current(old)
    upgraded, fresh = await describe(connection, old.schema), await describe(connection, schema_name)
    for kind in fresh:  # one at a time: a difference is easier to read
        # The old rows have their partition, which a fresh schema of a later month does not have.
        of_old_rows = {name for name in upgraded[kind] if f"ledger_{MONTH_0008}" in name} - fresh[kind].keys()
        assert {name: text for name, text in upgraded[kind].items() if name not in of_old_rows} == fresh[kind]
    assert "'adjust']" in upgraded["types"]["entry_kind"]
    assert len(rows["ledger"]) == 9
    # Steps after the baseline add tables, columns, and a row where it has to be there from the start.
    # Rows that refer to one of the ledger have its time now.
    entry_at = {row.split(",")[1]: row.split(",")[2] for row in rows["ledger"] if row.startswith("(1,")}
    ledger = rows.pop("ledger")
    added = {
        **{table: [] for table in ("received_counts", "received", "operators", "operator_tokens")},
        **{table: [] for table in ("sign_in_providers", "provider_people")},
        **{table: [] for table in ("audit_chain", "roots", "signed_heads", "failed_sign_ins")},
        **{name: [] for name in upgraded["tables"] if name.startswith("ledger_")},
        f"ledger_{MONTH_0008}": ledger,
        "bought": [f"{row[:-1]},{entry_at[row[:-1].split(',')[2]]})" for row in rows["bought"]],
        "idempotency": [f"{row[:-1]},,{entry_at[row[:-1].split(',')[4]]})" for row in rows["idempotency"]],
        **{table: [] for table in ("lists", "list_domains", "saved_searches", "previewed", "reports")},
        **{table: [] for table in ("downloads", "download_pages", "uploads", "job_leases", "in_doubt")},
        **{table: [] for table in ("watches", "watch_recipients", "watch_runs")},
        "lead_numbers": ["(t,1)"],
        "plans": [row.removesuffix(")") + ",named,1000,100,f)" for row in rows["plans"]],
        "keys": [row.removesuffix(")") + ",)" for row in rows["keys"]],
        "accounts": [row.removesuffix(")") + ',active,,"",f)' for row in rows["accounts"]],
    }
    assert await _rows(connection, old.schema) == rows | added
    for name in (old.schema, schema_name):
        assert await connection.fetchval(f"SELECT version_num FROM {name}.alembic_version") == schema.HEAD
    await connection.close()


async def test_its_accounts_keep_working(old: Postgres, dsn: str) -> None:
    await make_schema(dsn, old.schema)
    caller = await Keys(old, SECRETS, TIMEOUT_MS).find(KEY)
    assert await credits.Billing(old).balance(caller.account_id) == Balances(12, 110, 8)
    receipt = await credits.Billing(old, TIMEOUT_MS).charge(
        caller, "request", Bill("search", 1, [("e.example", Mark.CHARGED)])
    )
    assert receipt is not None
    assert receipt.balances == Balances(11, 109, 9)
    assert await has_paid(old, caller.account_id, "a.example")
    assert not await has_paid(old, caller.account_id, "d.example"), "refunded"
    assert await credits.grant(old, caller.account_id, 1, 0, "tests", "new") == Balances(12, 109, 10)

    env = {"SITEGLASS_POSTGRES_SCHEMA": old.schema}
    verified = await asyncio.to_thread(CliRunner().invoke, cli, ["credits", "verify"], env=env)
    assert verified.exit_code == 0, verified.output
    assert "11" in verified.output


@pytest.mark.parametrize("kind", ["hold", "settle", "release"])
async def test_a_kind_that_nothing_wrote_stops_it(old: Postgres, dsn: str, kind: str) -> None:
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(
        f"INSERT INTO {old.schema}.ledger SELECT account_id, 100, at, '{kind}', operation, api, lead, expires_at,"
        f" refers_to, actor_kind, actor_id, request_id, domains, hash, hash FROM {old.schema}.ledger LIMIT 1"
    )
    before = await describe(connection, old.schema)
    with pytest.raises(asyncpg.RaiseError, match="rows of kind hold, settle or release"):
        await make_schema(dsn, old.schema)
    assert await describe(connection, old.schema) == before
    await connection.close()


@pytest.mark.parametrize(
    ("revision", "what"),
    [
        ("0001", "Upgrade with a checkout of the release before this one first"),
        ("0007", "Upgrade with a checkout of the release before this one first"),
        ("0009", "a newer release migrated it"),
        ("0002_more", "a newer release migrated it"),
    ],
)
async def test_any_other_revision_says_what_to_do(old: Postgres, dsn: str, revision: str, what: str) -> None:
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(f"UPDATE {old.schema}.alembic_version SET version_num = '{revision}'")
    before = await describe(connection, old.schema)
    with pytest.raises(SchemaError, match=f"is at revision {revision}.*{what}"):
        await make_schema(dsn, old.schema)
    assert await describe(connection, old.schema) == before
    await connection.close()
