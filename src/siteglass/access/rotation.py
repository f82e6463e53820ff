"""Rotation: a new key replaces another, and for a while both are valid."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError
from siteglass.access.audit import Actor, actor_columns
from siteglass.access.key_room import HAS_ROOM, TooManyKeys, fetchrow_alone
from siteglass.access.keys import new_key, no_key
from siteglass.platform.postgres import Postgres

MAX_OVERLAP = timedelta(days=7)

# The whole family is locked, in the order of numbers, as all do who lock several keys. Of two who rotate the same key
# at once the second waits here, and then finds it changed since its statement began: it changes nothing.
# The newest of a family was never rotated: its expiry is the one that was given, not the end of an overlap.
_ROTATE = """
WITH family AS (
    SELECT k.* FROM {schema}.keys k JOIN {schema}.keys asked
        ON k.account_id = asked.account_id AND coalesce(k.family, k.id) = coalesce(asked.family, asked.id)
    WHERE asked.id = $1 AND ($7::bigint IS NULL OR asked.account_id = $7) ORDER BY k.id FOR NO KEY UPDATE OF k
), standing AS (
    SELECT * FROM family WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
), old AS (
    SELECT * FROM standing
    WHERE id = $1 AND id = (SELECT max(id) FROM standing)
        AND expires_at IS NOT DISTINCT FROM (SELECT expires_at FROM {schema}.keys WHERE id = $1)
        AND ($6 = interval '0' OR {has_room})
), made AS (
    INSERT INTO {schema}.keys (account_id, name, digest, secret_version, shown_start, shown_end, scopes,
        expires_at, daily_api_cap, daily_lead_cap, rate_per_s, burst, allowed_networks, test, family)
    SELECT account_id, name, $2, $3, $4, $5, scopes, (SELECT expires_at FROM family ORDER BY id DESC LIMIT 1),
        daily_api_cap, daily_lead_cap, rate_per_s, burst, allowed_networks, test, coalesce(family, id)
    FROM old RETURNING id
), ended AS (
    UPDATE {schema}.keys k SET expires_at = least(k.expires_at, clock_timestamp() + $6::interval)
    FROM old WHERE k.id = old.id RETURNING k.id, k.account_id, k.expires_at
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, key_id, details)
    SELECT $8::text::{schema}.actor_kind, $9, 'key.rotate', ended.account_id, ended.id,
        jsonb_build_object('new_key', made.id, 'expires_at', ended.expires_at)
    FROM ended, made
)
SELECT id FROM made
""".replace("{has_room}", HAS_ROOM.replace("{most}", "$10").replace("{account}", "standing.account_id"))

_WHY_NOT = """
SELECT k.revoked_at IS NOT NULL AS revoked, k.expires_at <= clock_timestamp() AS expired, k.account_id,
    NOT {has_room} AS full, (
    SELECT max(n.id) FROM {schema}.keys n
    WHERE n.account_id = k.account_id AND coalesce(n.family, n.id) = coalesce(k.family, k.id) AND n.revoked_at IS NULL
) AS newest
FROM {schema}.keys k WHERE k.id = $1 AND ($2::bigint IS NULL OR k.account_id = $2)
""".replace("{has_room}", HAS_ROOM.replace("{most}", "$3").replace("{account}", "$2"))


async def rotate_key(
    postgres: Postgres,
    secrets: Sequence[str],
    key_id: int,
    overlap: timedelta,
    actor: Actor,
    *,
    of_account: int | None = None,
    most: int | None = None,
) -> tuple[int, str]:
    """Make a key that takes the place of another, which ends after the overlap; returns number and key of the new one.

    The new one has all that the old one has, and shares its caps and its rate: together they may do no more.
    `of_account`: there is no other account's key. `most`, with it: raises TooManyKeys if so many of its keys work
    already and the overlap would add one; without overlap the new key only takes the place of the old one.
    """
    if not timedelta() <= overlap <= MAX_OVERLAP:
        raise AccountError(f"The overlap must be 0 to {MAX_OVERLAP.days * 24} hours.")
    found = await postgres.fetchrow("SELECT test FROM {schema}.keys WHERE id = $1", key_id, timeout_ms=ADMIN_TIMEOUT_MS)
    key, stored = new_key(secrets, test=found is not None and found["test"])
    arguments = (key_id, *stored, overlap, of_account, *actor_columns(actor), most)
    if of_account is None or most is None:
        row = await postgres.fetchrow(_ROTATE, *arguments, timeout_ms=ADMIN_TIMEOUT_MS)
    else:
        row = await fetchrow_alone(postgres, of_account, _ROTATE, *arguments)
    if row is None:
        raise await _why_not(postgres, key_id, of_account, most if overlap else None)
    return row["id"], key


async def _why_not(postgres: Postgres, key_id: int, of_account: int | None, most: int | None) -> AccountError:
    """Why a key cannot be rotated, and what can be done."""
    row = await postgres.fetchrow(_WHY_NOT, key_id, of_account, most, timeout_ms=ADMIN_TIMEOUT_MS)
    if row is None:
        return no_key(key_id)
    if row["revoked"] or row["expired"]:
        ended = "was revoked" if row["revoked"] else "has expired"
        return AccountError(f"Key {key_id} {ended}. Create a new key: siteglass key create {row['account_id']}")
    if row["full"] and row["newest"] == key_id:
        return TooManyKeys(
            f"Account {of_account} already has {most} active keys, the maximum. Rotate without overlap, or revoke one "
            "first."
        )
    return AccountError(
        f"Key {key_id} was already rotated. Rotate its newest replacement: siteglass key rotate {row['newest']}"
    )
