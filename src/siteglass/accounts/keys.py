"""Keys: who calls, by the key that was sent; and making, listing, revoking them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import asyncpg

from siteglass.accounts.accounts import AccountError, broken_rule
from siteglass.accounts.key_form import digest, is_well_formed, make_key, secret_version
from siteglass.errors import Unauthorized
from siteglass.postgres import Postgres
from siteglass.settings import SettingsError, variable

SCOPES: Final = ("search", "enrich", "account")

CACHE_S = 1.0
CACHE_SIZE = 10_000
ADMIN_TIMEOUT_MS = 5_000
MIN_SECRET_CHARS = 32
MAX_KEYS_LISTED = 1_000

# What does not stand is not found: an unknown, an expired and a revoked key take the same way, and the same time.
_FIND = """
SELECT k.id, k.account_id, k.scopes, a.plan, p.rate_per_s, p.burst, k.rate_per_s AS key_rate_per_s, k.burst AS key_burst
FROM {schema}.keys k JOIN {schema}.accounts a ON a.id = k.account_id JOIN {schema}.plans p ON p.name = a.plan
WHERE k.digest = ANY($1::bytea[])
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the account, the key, what it may do and how fast."""

    account_id: int
    key_id: int
    scopes: frozenset[str]
    plan_name: str
    rate_per_s: float
    burst: int
    key_rate_per_s: float | None = None
    key_burst: int | None = None


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """What a key may be held to, beyond its account's plan; None is no limit of its own."""

    expires_at: datetime | None = None
    daily_api_cap: int | None = None
    daily_lead_cap: int | None = None
    rate_per_s: float | None = None
    burst: int | None = None


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as an operator sees it."""

    id: int
    account_id: int
    name: str
    shown: str
    scopes: Sequence[str]
    secret_version: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    daily_api_cap: int | None
    daily_lead_cap: int | None


def key_secrets(given: Sequence[str]) -> tuple[bytes, ...]:
    """The secrets of the settings as bytes, newest first; raises SettingsError."""
    if not given:
        raise SettingsError(f"{variable('key_secrets')} is not set: set a secret of {MIN_SECRET_CHARS} characters.")
    if len(given) > 2 or any(len(secret) < MIN_SECRET_CHARS for secret in given):
        raise SettingsError(
            f"{variable('key_secrets')} must be one or two secrets of at least {MIN_SECRET_CHARS} characters each, "
            "comma-separated, newest first."
        )
    return tuple(secret.encode() for secret in given)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """One look-up, running or done. Its age counts from its start: what it saw may be as old as that."""

    started: float
    task: asyncio.Task[Caller | None]


class Keys:
    """Finds callers; remembers what it found, also that it found nothing, for at most a second."""

    def __init__(
        self,
        postgres: Postgres,
        secrets: Sequence[str],
        timeout_ms: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._postgres = postgres
        self._secrets = key_secrets(secrets)
        self._timeout_ms = timeout_ms
        self._monotonic = monotonic
        # Oldest first, as all live equally long.
        self._lookups: dict[bytes, _Lookup] = {}

    async def find(self, presented: str) -> Caller:
        """The caller behind a key; raises Unauthorized, whatever is wrong with it."""
        if not is_well_formed(presented):
            raise Unauthorized
        digests = [digest(secret, presented) for secret in self._secrets]
        now = self._monotonic()
        lookup = self._lookups.get(digests[0])
        if lookup is None or now - lookup.started >= CACHE_S:
            lookup = self._start(digests, now)
        # shielded: others wait for the same look-up, and a caller that hangs up must not take it from them
        caller = await asyncio.shield(lookup.task)
        if caller is None:
            raise Unauthorized
        return caller

    def _start(self, digests: list[bytes], now: float) -> _Lookup:
        self._forget(now)
        task = asyncio.create_task(self._look_up(digests))
        lookup = _Lookup(now, task)
        self._lookups.pop(digests[0], None)  # a new entry goes to the end
        self._lookups[digests[0]] = lookup

        def done(task: asyncio.Task[Caller | None]) -> None:
            # A failed look-up is forgotten at once; asking for its error keeps asyncio from reporting it as unseen.
            if (task.cancelled() or task.exception()) and self._lookups.get(digests[0]) is lookup:
                del self._lookups[digests[0]]

        task.add_done_callback(done)
        return lookup

    def _forget(self, now: float) -> None:
        """Drop what is too old, and the oldest beyond the size of the cache."""
        while self._lookups:
            oldest = next(iter(self._lookups))
            if now - self._lookups[oldest].started < CACHE_S and len(self._lookups) < CACHE_SIZE:
                break
            del self._lookups[oldest]

    async def _look_up(self, digests: list[bytes]) -> Caller | None:
        row = await self._postgres.fetchrow(_FIND, digests, timeout_ms=self._timeout_ms)
        if row is None:
            return None
        return Caller(
            account_id=row["account_id"],
            key_id=row["id"],
            scopes=frozenset(row["scopes"]),
            plan_name=row["plan"],
            rate_per_s=row["rate_per_s"],
            burst=row["burst"],
            key_rate_per_s=row["key_rate_per_s"],
            key_burst=row["key_burst"],
        )


_CREATE = """
INSERT INTO {schema}.keys (account_id, name, digest, secret_version, shown_start, shown_end, scopes,
    expires_at, daily_api_cap, daily_lead_cap, rate_per_s, burst)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id
"""


async def create_key(
    postgres: Postgres,
    secrets: Sequence[str],
    account_id: int,
    name: str,
    scopes: Iterable[str] = SCOPES,
    limits: KeyLimits | None = None,
) -> tuple[int, str]:
    """Make a key; returns its number and the key itself, which cannot be had again."""
    newest = key_secrets(secrets)[0]
    key = make_key()
    own = limits or KeyLimits()
    values = (own.expires_at, own.daily_api_cap, own.daily_lead_cap, own.rate_per_s, own.burst)
    try:
        row = await postgres.fetchrow(
            _CREATE, account_id, name, digest(newest, key), secret_version(newest), key[:12], key[-4:],
            sorted(set(scopes)), *values, timeout_ms=ADMIN_TIMEOUT_MS,
        )  # fmt: skip
    except asyncpg.ForeignKeyViolationError:
        raise AccountError(f"There is no account {account_id}. `siteglass account list` shows them.") from None
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    assert row is not None  # noqa: S101 - RETURNING gives a row or an error
    return row["id"], key


async def list_keys(postgres: Postgres, account_id: int) -> list[KeyRow]:
    """The keys of an account, newest first."""
    rows = await postgres.fetch(
        "SELECT id, account_id, name, shown_start || '...' || shown_end AS shown, scopes, secret_version, created_at,"
        " expires_at, revoked_at, daily_api_cap, daily_lead_cap"
        " FROM {schema}.keys WHERE account_id = $1 ORDER BY id DESC LIMIT $2",
        account_id,
        MAX_KEYS_LISTED,
        timeout_ms=ADMIN_TIMEOUT_MS,
    )
    return [KeyRow(**row) for row in rows]


async def revoke_key(postgres: Postgres, key_id: int) -> None:
    """End a key for good; a worker that has just looked it up lets it pass for a second, but no charge does."""
    row = await postgres.fetchrow(
        "UPDATE {schema}.keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = $1 RETURNING id",
        key_id,
        timeout_ms=ADMIN_TIMEOUT_MS,
    )
    if row is None:
        raise AccountError(f"There is no key {key_id}. `siteglass key list ACCOUNT` shows those of an account.")
