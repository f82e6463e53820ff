"""The keys of an account as its people look at them: page by page, one by its number, and the names of several.

A key of another account is as if there were none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from siteglass.access.keys import KEY_ROWS, KeyRow
from siteglass.platform.postgres import Postgres

_FIND = f"SELECT * FROM ({KEY_ROWS}) k WHERE id = $2"  # noqa: S608 - our own words
_PAGE = f"""
SELECT * FROM (
    SELECT k.*, count(*) OVER () AS total FROM ({KEY_ROWS}) k
    WHERE (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)) = $3
) counted
WHERE id < coalesce($4::bigint, 9223372036854775807) ORDER BY id DESC LIMIT $5
"""  # noqa: S608 - our own words


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Some keys, the newest first; of how many, and whether older ones follow."""

    keys: Sequence[KeyRow]
    total: int = 0
    has_older: bool = False


async def keys_page(
    postgres: Postgres, account_id: int, now: datetime, *, working: bool, before_id: int | None, limit: int,
) -> KeyPage:  # fmt: skip
    """Keys that work at a time, or those that do not any more."""
    rows = await postgres.fetch(_PAGE, account_id, now, working, before_id, limit + 1)
    keys = [KeyRow(**{name: value for name, value in row.items() if name != "total"}) for row in rows[:limit]]
    return KeyPage(keys, rows[0]["total"] if rows else 0, len(rows) > limit)


async def find_key(postgres: Postgres, account_id: int, key_id: int) -> KeyRow | None:
    """A key of an account; None: it has no such key."""
    row = await postgres.fetchrow(_FIND, account_id, key_id)
    return None if row is None else KeyRow(**row)


async def key_names(postgres: Postgres, account_id: int, key_ids: Iterable[int]) -> dict[int, str]:
    """Names of keys, for what was done to them."""
    rows = await postgres.fetch(
        "SELECT id, name FROM {schema}.keys WHERE account_id = $1 AND id = ANY($2::bigint[])",
        account_id,
        list(key_ids),
    )
    return {row["id"]: row["name"] for row in rows}
