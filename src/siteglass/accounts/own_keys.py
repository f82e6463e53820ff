"""The keys of an account as its people look at them: one by its number, and the names of several.

A key of another account is as if there were none.
"""

from __future__ import annotations

from collections.abc import Iterable

from siteglass.accounts.keys import KeyRow
from siteglass.postgres import Postgres

_FIND = """
SELECT k.id, k.account_id, k.name, k.shown_start || '...' || k.shown_end AS shown, k.scopes, k.secret_version,
    k.created_at, k.expires_at, k.revoked_at, k.daily_api_cap, k.daily_lead_cap, k.last_used_at, k.allowed_networks,
    k.rate_per_s, k.burst, (
        SELECT min(n.id) FROM {schema}.keys n
        WHERE n.account_id = k.account_id AND coalesce(n.family, n.id) = coalesce(k.family, k.id) AND n.id > k.id
    ) AS rotated_to
FROM {schema}.keys k WHERE k.account_id = $1 AND k.id = $2
"""


async def find_key(postgres: Postgres, account_id: int, key_id: int, *, timeout_ms: int) -> KeyRow | None:
    """A key of an account; None: it has no such key."""
    row = await postgres.fetchrow(_FIND, account_id, key_id, timeout_ms=timeout_ms)
    return None if row is None else KeyRow(**row)


async def key_names(postgres: Postgres, account_id: int, key_ids: Iterable[int], *, timeout_ms: int) -> dict[int, str]:
    """Names of keys, for what was done to them."""
    rows = await postgres.fetch(
        "SELECT id, name FROM {schema}.keys WHERE account_id = $1 AND id = ANY($2::bigint[])",
        account_id,
        list(key_ids),
        timeout_ms=timeout_ms,
    )
    return {row["id"]: row["name"] for row in rows}
