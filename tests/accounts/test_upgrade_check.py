"""`siteglass upgrade check`: what a release would change, before anything is changed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator

import asyncpg
import pytest
from click.testing import CliRunner, Result

from siteglass.cli.main import cli
from siteglass.platform import schema
from testing.accounts import drop_schema, make_schema, owner


@pytest.fixture
def name(dsn: str) -> Iterator[str]:
    made = f"test_{secrets.token_hex(6)}"
    yield made
    asyncio.run(drop_schema(dsn, made))


def _check(name: str, **variables: str) -> Result:
    environment = {"SITEGLASS_POSTGRES_SCHEMA": name, "SITEGLASS_INDEX_PREFIX": name.replace("_", "-"), **variables}
    return CliRunner().invoke(cli, ["upgrade", "check"], env=environment, catch_exceptions=False)


async def _set_revision(dsn: str, name: str, revision: str) -> None:
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(f"UPDATE {name}.alembic_version SET version_num = $1", revision)
    await connection.close()


def test_it_lists_what_would_change_and_changes_nothing(dsn: str, name: str) -> None:
    fresh = _check(name, SITEGLASS_OLD_NAME="1")
    assert (fresh.exit_code, fresh.output.splitlines()[0].endswith(f"Schema {name} is at nothing yet.")) == (0, True)
    received = "Tables     0012_received: What an account received, so that people get it again free of charge."
    seen = (
        "Tables     0013_seen_leads: What an account sees of leads before it pays, and for how long a lead that it saw"
        " is not counted again."
    )
    states = "Tables     0014_account_states: Accounts that are suspended or closed, and what was done about reports."
    factor = "Tables     0015_required_second_factor: Accounts whose people need a second factor."
    operators = (
        "Tables     0016_operators: People who run the service in the console, failed jobs, and signed heads of ledger"
        " and audit log."
    )
    watches = "Tables     0017_watches: Watches: saved searches that run again, their runs, and the new leads of each."
    limits = (
        "Tables     0018_limits: Failed sign-ins by hour, mails that wait for one recipient, and received leads by"
        " time."
    )
    company = (
        "Tables     0019_company: Accounts within a company: plans whose pages don't mention credits, and sign-in"
        " with the company's account."
    )
    newest = f"Tables     {schema.HEAD}: Jobs of API keys: enrichments and searches that are worked off in batches."
    assert received in fresh.output
    assert states in fresh.output
    assert factor in fresh.output
    assert operators in fresh.output
    assert watches in fresh.output
    assert limits in fresh.output
    assert company in fresh.output
    assert newest in fresh.output
    assert "Setting    SITEGLASS_OLD_NAME is not known to this release and has no effect." in fresh.output
    assert "2. siteglass migrate" in fresh.output
    asyncio.run(make_schema(dsn, name))
    current = _check(name)
    assert "Tables     are up to date." in current.output
    assert "migrate" not in current.output
    assert current.output.splitlines()[-1].endswith("restart the services one after the other")
    asyncio.run(_set_revision(dsn, name, "0008_job_leases"))
    older = _check(name).output
    assert [line for line in older.splitlines() if line.startswith("Tables")] == [
        "Tables     0009_in_doubt: Charges whose confirmation was lost.",
        "Tables     0010_ledger_months: The ledger in partitions by month.",
        "Tables     0011_received_counts: How many customers received what is stored about somebody.",
        received,
        seen,
        states,
        factor,
        operators,
        watches,
        limits,
        company,
        newest,
    ]


def test_a_schema_of_a_newer_release_is_refused(dsn: str, name: str) -> None:
    asyncio.run(make_schema(dsn, name))
    asyncio.run(_set_revision(dsn, name, "0099_later"))
    refused = _check(name)
    assert (refused.exit_code, "a newer one made it" in refused.output) == (1, True)
