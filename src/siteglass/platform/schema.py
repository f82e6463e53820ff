"""Brings tables and functions up to date, and reports whether they are. The steps are in `migrations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import asyncpg

from siteglass.errors import Unavailable
from siteglass.platform.functions import apply_functions, changed_functions, function_files, functions_hash
from siteglass.platform.postgres import Postgres, checked_schema
from siteglass.platform.postgres_servers import Connector, Servers
from siteglass.settings import SettingsError, variable

# The newest step that this code relies on; a test compares it with the folder. It is written here so that a worker,
# which only asks whether the tables are current, doesn't load alembic.
HEAD = "0020_key_jobs"

# Partitions of the kept answers: one for each hour, used in turn.
ANSWER_SLOTS = 32

# Partitions of the ledger that exist for the months after this one.
LEDGER_MONTHS_AHEAD = 3

# What the role of the service may do; the ledger, balances and what belongs to them change only through functions
# that the owner made. A table that is not listed here is closed to it.
RIGHTS = {
    "schema_versions": "SELECT",
    "plans": "SELECT, INSERT, UPDATE",
    "accounts": "SELECT, INSERT, UPDATE (name, plan, second_factor_required)",
    "keys": "SELECT, INSERT, UPDATE",
    "balances": "SELECT, INSERT (account_id)",
    "ledger": "SELECT",
    "ledger_default": "SELECT",
    "usage_days": "SELECT",
    "expiring": "SELECT",
    "paid": "SELECT",
    "bought": "SELECT",
    "bought_until": "SELECT",
    "received": "SELECT",
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
    "lists": "SELECT, INSERT, UPDATE, DELETE",
    "list_domains": "SELECT, INSERT, UPDATE, DELETE",
    "saved_searches": "SELECT, INSERT, UPDATE, DELETE",
    "previewed": "SELECT, INSERT, DELETE",
    "reports": "SELECT, INSERT, UPDATE (effects), DELETE",
    "downloads": "SELECT, INSERT, UPDATE, DELETE",
    "download_pages": "SELECT, INSERT",
    "uploads": "SELECT, INSERT, DELETE",
    "job_leases": "SELECT, INSERT, UPDATE",
    "in_doubt": "SELECT",
    "received_counts": "SELECT, INSERT, UPDATE, DELETE",
    "failed_sign_ins": "SELECT, INSERT, UPDATE, DELETE",
    "operators": "SELECT, INSERT, UPDATE, DELETE",
    "operator_tokens": "SELECT, INSERT, DELETE",
    "sign_in_providers": "SELECT, INSERT, UPDATE, DELETE",
    "provider_people": "SELECT, INSERT, UPDATE, DELETE",
    "audit_chain": "SELECT, INSERT",
    "roots": "SELECT, INSERT",
    "signed_heads": "SELECT, INSERT, UPDATE",
    "watches": "SELECT, INSERT, UPDATE, DELETE",
    "watch_recipients": "SELECT, INSERT, DELETE",
    "watch_runs": "SELECT, INSERT, UPDATE, DELETE",
}
FUNCTIONS = (
    *("charge_batch", "grant_credits", "refund", "adjust", "remember_paid", "paid_for"),
    *("expire_credits", "forget_answers", "forget_keys", "create_ledger_months"),
    *("allot_lead_numbers", "catch_up_paid", "catch_up_received", "unwanted_domains"),
    *("charge_people", "received_before", "set_account_state", "erase_account"),
    *("confirm_answer", "note_in_doubt", "settle_in_doubt", "settled_audit_id"),
)
# Workers of the release before call these until they are replaced; a release later nobody may.
EARLIER_FUNCTIONS = ("charge", "charge_unlisted")


def _service_role(owner_dsn: str, service_dsn: str) -> str:
    """The role in the service's address; raises SettingsError if both do not lead to the same database."""
    owner, service = Servers.read(owner_dsn), Servers.read(service_dsn)
    if owner.places != service.places:
        raise SettingsError(
            f"{variable('postgres_owner_dsn')} and {variable('postgres_dsn')} name different databases: set both to "
            "the same one."
        )
    return service.role


async def _give_rights(connection: asyncpg.Connection[asyncpg.Record], schema: str, role: str) -> None:
    """Exactly RIGHTS and functions, whatever the role had before; none to give if it owns the tables itself."""
    # PostgreSQL lets everybody call a new function.
    await connection.execute(f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC")
    row = await connection.fetchrow("SELECT current_user::text AS owner, quote_ident($1) AS quoted", role)
    if row is None or role == row["owner"]:
        return
    quoted = row["quoted"]
    steps = [
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {quoted}",
        f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM {quoted}",
        f"GRANT USAGE ON SCHEMA {schema} TO {quoted}",
        *(f"GRANT {rights} ON {schema}.{table} TO {quoted}" for table, rights in RIGHTS.items()),
        *(f"GRANT EXECUTE ON FUNCTION {schema}.{name} TO {quoted}" for name in (*FUNCTIONS, *EARLIER_FUNCTIONS)),
    ]
    await connection.execute(";\n".join(steps))


async def _record_version(connection: asyncpg.Connection[asyncpg.Record], schema: str) -> None:
    """Note what this build applied. After a return to an older build, what newer ones applied is no longer there."""
    await connection.execute(
        f"INSERT INTO {schema}.schema_versions (revision, functions_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING",  # noqa: S608 - our own schema name
        HEAD,
        functions_hash(),
    )
    await connection.execute(
        f"DELETE FROM {schema}.schema_versions WHERE number > ("  # noqa: S608 - our own schema name
        f"SELECT number FROM {schema}.schema_versions WHERE revision = $1 AND functions_hash = $2)",
        HEAD,
        functions_hash(),
    )


async def migrate(owner_dsn: str, schema: str, service_dsn: str) -> None:
    """Create or upgrade tables, indexes and functions of this schema; safe to repeat.

    Tables, functions and rights are one transaction, so that charges of the release before never meet new tables with
    old functions. Indexes on existing tables are built after it, outside of any. Workers of this release wait for them:
    the version is recorded last.
    The role of `service_dsn` gets the rights that the service needs, and no others.
    """
    from siteglass.platform.migrations.indexes import build_indexes
    from siteglass.platform.migrations.upgrade import CONNECT_TIMEOUT_S, transaction_start, upgrade_tables

    checked_schema(schema)
    role = _service_role(owner_dsn, service_dsn)
    try:
        async with upgrade_tables(owner_dsn, schema) as upgraded:
            await apply_functions(upgraded, schema)
            await upgraded.fetch(f"SELECT {schema}.create_ledger_months(clock_timestamp(), $1)", LEDGER_MONTHS_AHEAD)
            await _give_rights(upgraded, schema, role)
        connection = await Connector(owner_dsn).connect(timeout=CONNECT_TIMEOUT_S)
        try:
            await build_indexes(connection, schema)
            async with connection.transaction():
                await connection.execute(";\n".join(transaction_start(schema)))
                await _record_version(connection, schema)
        finally:
            await connection.close()
    except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
        raise Unavailable(f"postgresql: {type(error).__name__}") from error


@dataclass(frozen=True, slots=True)
class PendingUpgrade:
    """What `migrate` would do."""

    revision: str | None
    """What the schema is at; None: there are no tables."""
    steps: list[tuple[str, str]]
    """Names and purposes; empty with `known` False."""
    known: bool
    indexes: list[str]
    functions: list[str]
    """Files that differ from what is in the database, or are gone."""


async def pending(owner_dsn: str, schema: str) -> PendingUpgrade:
    """Look at the schema with the owner's role, and change nothing."""
    from siteglass.platform.migrations.indexes import missing_indexes
    from siteglass.platform.migrations.upgrade import BEFORE_BASELINE, CONNECT_TIMEOUT_S, pending_steps

    checked_schema(schema)
    try:
        connection = await Connector(owner_dsn).connect(timeout=CONNECT_TIMEOUT_S)
    except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
        raise Unavailable(f"postgresql: {type(error).__name__}") from error
    try:
        table = await connection.fetchval("SELECT to_regclass($1)::text", f"{schema}.alembic_version")
        if table is None:
            return PendingUpgrade(None, pending_steps(None), True, [], sorted(function_files()))
        revision = await connection.fetchval(f"SELECT version_num FROM {schema}.alembic_version")  # noqa: S608 - a checked name
        if revision == BEFORE_BASELINE[-1]:
            return PendingUpgrade(revision, pending_steps(None), True, [], sorted(function_files()))
        try:
            steps = pending_steps(revision)
        except KeyError:
            return PendingUpgrade(revision, [], False, [], [])
        indexes = [index.name for index in await missing_indexes(connection, schema)]
        return PendingUpgrade(revision, steps, True, indexes, await changed_functions(connection, schema))
    finally:
        await connection.close()


async def outdated(postgres: Postgres) -> Literal["tables", "functions"] | None:
    """What is older than this build, or cannot be read; None: nothing is.

    A schema has all that a build relies on if the build's version was applied to it once: newer ones only add, and a
    return to an older build removes them from the list. So workers of the release before stay ready after an upgrade.
    """
    try:
        row = await postgres.fetchrow(
            "SELECT bool_or(functions_hash = $2) AS functions FROM {schema}.schema_versions WHERE revision = $1",
            HEAD,
            functions_hash(),
        )
    except Unavailable:
        return "tables"
    if row is None or row["functions"] is None:
        return "tables"
    return None if row["functions"] else "functions"


async def is_current(postgres: Postgres) -> bool:
    """Whether tables and functions have all that this build relies on."""
    return await outdated(postgres) is None
