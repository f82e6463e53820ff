"""What PostgreSQL says of itself, and whether anybody can call: asked by the doctor and /readyz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from siteglass.access.key_form import secret_version
from siteglass.access.keys import key_secrets
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres

# What a charge has taken must survive a crash: none of these may be off.
DURABLE = ("fsync", "full_page_writes", "synchronous_commit")


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """The server: its version, its clock, and the durability settings that are off, with where each was set."""

    version: str
    now: datetime
    not_durable: dict[str, str]


@dataclass(frozen=True, slots=True)
class CallerCounts:
    """How many accounts there are, and how many of their keys are active; `newest_account` is None without one."""

    accounts: int
    newest_account: int | None
    keys: int
    keys_of_older_secret: int
    keys_of_other_secrets: int
    keys_with_credits: int


async def server(postgres: Postgres, timeout_ms: int) -> PostgresServer:
    """Ask the server; raises Unavailable."""
    row = await postgres.fetchrow(
        "SELECT current_setting('server_version') AS version, clock_timestamp() AS now,"
        " ARRAY(SELECT name FROM pg_settings WHERE name = ANY($1) AND setting = 'off' ORDER BY name) AS off,"
        " ARRAY(SELECT source FROM pg_settings WHERE name = ANY($1) AND setting = 'off' ORDER BY name) AS sources",
        DURABLE,
    )
    assert row is not None  # noqa: S101 - a SELECT without FROM has one row
    return PostgresServer(row["version"].split()[0], row["now"], dict(zip(row["off"], row["sources"], strict=True)))


async def readiness(postgres: Postgres) -> str | None:
    """Why nothing can be charged, or None."""
    try:
        row = await postgres.fetchrow(
            "SELECT pg_is_in_recovery() AS copy, current_setting('transaction_read_only') AS ro"
        )
    except Unavailable as error:
        return error.reason
    assert row is not None  # noqa: S101 - a SELECT without FROM has one row
    if row["copy"]:
        return "postgresql: this server is a standby"
    return "postgresql: read-only" if row["ro"] == "on" else None


async def callers(postgres: Postgres, secrets: Sequence[str], timeout_ms: int) -> CallerCounts:
    """Count accounts, and the keys that these secrets can find."""
    row = await postgres.fetchrow(
        """
        WITH standing AS (
            SELECT k.secret_version = ANY($1::text[]) AS ours, k.secret_version <> ($1::text[])[1] AS older,
                b.api > 0 AND b.lead > 0 AS pays
            FROM {schema}.keys k JOIN {schema}.balances b ON b.account_id = k.account_id
            WHERE k.person_id IS NULL AND k.revoked_at IS NULL
                AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
        )
        SELECT (SELECT count(*) FROM {schema}.accounts) AS accounts,
            (SELECT max(id) FROM {schema}.accounts) AS newest_account,
            count(*) FILTER (WHERE ours) AS keys,
            count(*) FILTER (WHERE ours AND older) AS keys_of_older_secret,
            count(*) FILTER (WHERE NOT ours) AS keys_of_other_secrets,
            count(*) FILTER (WHERE ours AND pays) AS keys_with_credits
        FROM standing
        """,
        [secret_version(secret) for secret in key_secrets(secrets)],
    )
    assert row is not None  # noqa: S101 - an aggregate has one row
    return CallerCounts(**row)
