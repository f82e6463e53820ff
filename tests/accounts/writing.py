"""What tests of accounts write as the owner of the tables: days that are over, and ledgers too long to be charged."""

from __future__ import annotations

from typing import Any

import asyncpg

from siteglass.platform.postgres import Postgres
from testing.accounts import owner

USED = "INSERT INTO {schema}.usage_days VALUES ($1, $2, $3, $4, $5, $6)"
"""Key, day, operation, requests, API and lead credits."""

# Charges of one key with entries of other kinds among them, one in a hundred, a minute apart, up to now.
_LONG = """
INSERT INTO {schema}.ledger
SELECT $1::bigint, n, now() - ($3::bigint - n) * interval '1 minute',
    (CASE WHEN n % 100 = 0 THEN (ARRAY['grant', 'refund', 'expire', 'adjust'])[1 + (n / 100) % 4] ELSE 'charge' END)
        ::{schema}.entry_kind,
    (CASE WHEN n % 100 = 0 THEN 'none' ELSE 'search' END)::{schema}.entry_operation, 0, -1, NULL, NULL,
    (CASE WHEN n % 100 = 0 THEN 'operator' ELSE 'key' END)::{schema}.actor_kind,
    CASE WHEN n % 100 = 0 THEN 'tests' ELSE $2::bigint::text END, 'request ' || n, '', '\\x', '\\x'
FROM generate_series(1, $3::bigint) n
"""


async def as_owner(dsn: str, postgres: Postgres, statement: str, *values: Any) -> None:
    """Write what the service's role cannot."""
    connection = await asyncpg.connect(owner(dsn), timeout=10)
    try:
        await connection.execute(postgres.sql(statement), *values)
    finally:
        await connection.close()


async def write_long_ledger(dsn: str, postgres: Postgres, account_id: int, key_id: int, entries: int) -> None:
    """Entries 1 to `entries`; every hundredth has another kind than charge. The hashes are not real."""
    await as_owner(dsn, postgres, _LONG, account_id, key_id, entries)
    await as_owner(dsn, postgres, "UPDATE {schema}.balances SET seq = $2 WHERE account_id = $1", account_id, entries)
    await as_owner(dsn, postgres, "ANALYZE {schema}.ledger")
