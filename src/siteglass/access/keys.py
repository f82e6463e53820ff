"""Keys: who calls, by the key that was sent; and making, listing, binding, revoking them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import asyncpg

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError, broken_rule, no_account
from siteglass.access.audit import Actor, actor_columns
from siteglass.access.key_form import digest, is_well_formed, make_key, secret_version
from siteglass.access.key_room import HAS_ROOM, TooManyKeys, fetchrow_alone
from siteglass.access.key_uses import KeyUses, NewDigest
from siteglass.access.networks import Network
from siteglass.errors import AccountSuspended, Unauthorized
from siteglass.platform.postgres import Postgres
from siteglass.settings import SettingsError, variable

SCOPES: Final = ("search", "enrich", "account")

CACHE_S = 1.0
CACHE_SIZE = 10_000
MIN_SECRET_CHARS = 32
MAX_KEYS_LISTED = 1_000

# Inactive keys are not found: unknown, expired and revoked keys take the same path and the same time.
_FIND = """
SELECT k.id, k.account_id, coalesce(k.family, k.id) AS family_id, k.digest, k.scopes, k.allowed_networks, k.test,
    a.plan, p.rate_per_s, p.burst, k.rate_per_s AS key_rate_per_s, k.burst AS key_burst,
    CASE WHEN a.state <> 'active' THEN a.state_reason END AS suspended
FROM {schema}.keys k JOIN {schema}.accounts a ON a.id = k.account_id JOIN {schema}.plans p ON p.name = a.plan
WHERE k.digest = ANY($1::bytea[]) AND a.state IN ('active', 'suspended')
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
"""


# The newest key of a chain of rotations that works.
_FIND_FAMILY = f"""
SELECT * FROM ({_FIND.replace("k.digest = ANY($1::bytea[])", "k.account_id = $1 AND coalesce(k.family, k.id) = $2")}) k
ORDER BY id DESC LIMIT 1
"""  # noqa: S608 - names of ours


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the account, the key, what it may do, how fast, and from where.

    `family_id` is the first key of a chain of rotations: what a key is held to, it is held to with those before it.
    """

    account_id: int
    key_id: int
    family_id: int
    scopes: frozenset[str]
    plan_name: str
    rate_per_s: float
    burst: int
    key_rate_per_s: float | None = None
    key_burst: int | None = None
    networks: tuple[Network, ...] | None = None
    test: bool = False
    """Whether it sees made-up leads and pays nothing."""
    person_id: int | None = None
    """The person in the browser, who has no key; None for callers of the API."""
    suspended: str | None = None
    """Why the account is suspended; None: it is not."""


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """Limits of a key in addition to its account's plan; None means no separate limit."""

    expires_at: datetime | None = None
    daily_api_cap: int | None = None
    daily_lead_cap: int | None = None
    rate_per_s: float | None = None
    burst: int | None = None
    networks: Sequence[Network] | None = None


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
    last_used_at: datetime | None
    allowed_networks: Sequence[Network] | None
    rate_per_s: float | None
    burst: int | None
    rotated_to: int | None


def key_secrets(given: Sequence[str]) -> tuple[bytes, ...]:
    """The secrets of the settings as bytes, newest first; raises SettingsError."""
    if not given:
        raise SettingsError(
            f"{variable('key_secrets')} is not set: set it to a secret of {MIN_SECRET_CHARS} characters."
        )
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
    """Finds callers; remembers what it found, also that it found nothing, for at most a second.

    Which keys worked is remembered longer, so that floods of unknown keys can be refused without harm to these.
    """

    def __init__(
        self,
        postgres: Postgres,
        secrets: Sequence[str],
        timeout_ms: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._postgres = postgres
        self._secrets = key_secrets(secrets)
        self._newest_version = secret_version(self._secrets[0])
        self._timeout_ms = timeout_ms
        self._monotonic = monotonic
        self.uses = KeyUses(postgres, monotonic)
        # Oldest first, as all live equally long.
        self._lookups: dict[bytes, _Lookup] = {}
        self._worked: dict[bytes, None] = {}

    async def find(self, presented: str, admit: Callable[[], Awaitable[None]] | None = None) -> Caller:
        """The caller that a key belongs to; raises Unauthorized, whatever is wrong with it.

        `admit` may refuse by raising: it is called before a key is looked up that never worked here.
        """
        if not is_well_formed(presented):
            raise Unauthorized
        digests = [digest(secret, presented) for secret in self._secrets]
        lookup = self._current(digests[0])
        if lookup is None and admit is not None and digests[0] not in self._worked:
            await admit()
            lookup = self._current(digests[0])  # of another request with this key
        if lookup is None:
            lookup = self._start(digests, self._monotonic())
        # shielded: others wait for the same look-up, and a caller that hangs up must not take it from them
        caller = await asyncio.shield(lookup.task)
        if caller is None:
            self._worked.pop(digests[0], None)
            raise Unauthorized
        self._worked.pop(digests[0], None)  # a new entry goes to the end
        self._worked[digests[0]] = None
        if len(self._worked) > CACHE_SIZE:
            del self._worked[next(iter(self._worked))]
        self.uses.used(caller.key_id)
        return caller

    def _current(self, key_digest: bytes) -> _Lookup | None:
        """The look-up of a key that is not too old."""
        lookup = self._lookups.get(key_digest)
        return lookup if lookup is not None and self._monotonic() - lookup.started < CACHE_S else None

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
        if row["digest"] != digests[0]:
            self.uses.rehashed(row["id"], NewDigest(row["digest"], digests[0], self._newest_version))
        return _caller(row)


def _caller(row: asyncpg.Record) -> Caller:
    networks = row["allowed_networks"]
    return Caller(
        account_id=row["account_id"],
        key_id=row["id"],
        family_id=row["family_id"],
        scopes=frozenset(row["scopes"]),
        plan_name=row["plan"],
        rate_per_s=row["rate_per_s"],
        burst=row["burst"],
        key_rate_per_s=row["key_rate_per_s"],
        key_burst=row["key_burst"],
        networks=None if networks is None else tuple(networks),
        test=row["test"],
        suspended=row["suspended"],
    )


async def family_caller(postgres: Postgres, account_id: int, family_id: int) -> Caller:
    """The newest key of these rotations, which pays for what an earlier one started. Raises Unauthorized if none works,
    and AccountSuspended."""
    row = await postgres.fetchrow(_FIND_FAMILY, account_id, family_id)
    if row is None:
        raise Unauthorized
    if row["suspended"] is not None:
        raise AccountSuspended(row["suspended"])
    return _caller(row)


# Every statement here that changes something notes it in the audit log itself: both are written, or neither.
# Closing an account waits for a key that is being made, and then revokes it.
_CREATE = """
WITH account AS (
    SELECT id FROM {schema}.accounts WHERE id = $1 AND state IN ('active', 'suspended') FOR SHARE
), made AS (
    INSERT INTO {schema}.keys (account_id, name, digest, secret_version, shown_start, shown_end, scopes,
        expires_at, daily_api_cap, daily_lead_cap, rate_per_s, burst, allowed_networks, test)
    SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $17 FROM account WHERE {has_room}
    RETURNING *
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, key_id, details)
    SELECT $14::text::{schema}.actor_kind, $15, 'key.create', account_id, id,
        jsonb_strip_nulls(jsonb_build_object('scopes', scopes, 'expires_at', expires_at,
            'daily_api_cap', daily_api_cap, 'daily_lead_cap', daily_lead_cap, 'rate_per_s', rate_per_s, 'burst', burst,
            'networks', allowed_networks, 'test', nullif(test, false)))
    FROM made
)
SELECT id FROM made
""".replace("{has_room}", HAS_ROOM.replace("{most}", "$16").replace("{account}", "$1"))


async def create_key(
    postgres: Postgres,
    secrets: Sequence[str],
    account_id: int,
    name: str,
    scopes: Iterable[str] = SCOPES,
    limits: KeyLimits | None = None,
    *,
    actor: Actor,
    most: int | None = None,
    test: bool = False,
) -> tuple[int, str]:
    """Create a key; returns its number and the key itself, which cannot be shown again.

    `most`: raises TooManyKeys if so many keys of the account work already.
    """
    key, stored = new_key(secrets, test=test)
    own = limits or KeyLimits()
    values = (own.expires_at, own.daily_api_cap, own.daily_lead_cap, own.rate_per_s, own.burst, own.networks)
    try:
        arguments = (account_id, name, *stored, sorted(set(scopes)), *values, *actor_columns(actor), most, test)
        if most is None:
            row = await postgres.fetchrow(_CREATE, *arguments, timeout_ms=ADMIN_TIMEOUT_MS)
        else:
            row = await fetchrow_alone(postgres, account_id, _CREATE, *arguments)
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    if row is None:
        raise await _why_no_key(postgres, account_id, most)
    return row["id"], key


async def _why_no_key(postgres: Postgres, account_id: int, most: int | None) -> AccountError:
    account = await postgres.fetchrow(
        "SELECT state IN ('active', 'suspended') AS has_keys FROM {schema}.accounts WHERE id = $1", account_id
    )
    if account is None:
        return no_account(account_id)
    if not account["has_keys"]:
        return AccountError(
            f"Account {account_id} is closed: its keys do not work, so no key was created. While its data is there, "
            f"`siteglass account resume {account_id}` opens it again."
        )
    return TooManyKeys(
        f"Account {account_id} already has {most} active keys, the maximum. Revoke one first: siteglass key revoke KEY"
    )


def new_key(secrets: Sequence[str], *, test: bool) -> tuple[str, tuple[bytes, str, str, str]]:
    """A new key, and what is stored of it: digest, version of the secret, and the two ends that are shown."""
    newest = key_secrets(secrets)[0]
    key = make_key(test=test)
    return key, (digest(newest, key), secret_version(newest), key[:12], key[-4:])


# All keys of an account, each a KeyRow: which one took another's place is known only by all of them.
KEY_ROWS = """
SELECT id, account_id, name, shown_start || '...' || shown_end AS shown, scopes, secret_version, created_at, expires_at,
    revoked_at, daily_api_cap, daily_lead_cap, last_used_at, allowed_networks, rate_per_s, burst,
    lead(id) OVER (PARTITION BY coalesce(family, id) ORDER BY id) AS rotated_to
FROM {schema}.keys WHERE account_id = $1 AND person_id IS NULL
"""


async def list_keys(postgres: Postgres, account_id: int) -> list[KeyRow]:
    """The keys of an account, newest first."""
    rows = await postgres.fetch(
        f"{KEY_ROWS} ORDER BY id DESC LIMIT $2", account_id, MAX_KEYS_LISTED, timeout_ms=ADMIN_TIMEOUT_MS
    )
    return [KeyRow(**row) for row in rows]


def no_key(key_id: int) -> AccountError:
    """There is no such key."""
    return AccountError(f"There is no key {key_id}. `siteglass key list ACCOUNT` lists the keys of an account.")


_ALLOW = """
WITH changed AS (
    UPDATE {schema}.keys SET allowed_networks = $2 WHERE id = $1 RETURNING id, account_id, allowed_networks
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, key_id, details)
    SELECT $3::text::{schema}.actor_kind, $4, 'key.allow', account_id, id,
        jsonb_build_object('networks', allowed_networks)
    FROM changed
)
SELECT id FROM changed
"""


async def allow_networks(postgres: Postgres, key_id: int, networks: Sequence[Network] | None, actor: Actor) -> None:
    """Let a key be used from these networks only, or from anywhere; seen by workers within a second."""
    row = await postgres.fetchrow(_ALLOW, key_id, networks, *actor_columns(actor), timeout_ms=ADMIN_TIMEOUT_MS)
    if row is None:
        raise no_key(key_id)


_REVOKE = """
WITH ended AS (
    UPDATE {schema}.keys SET revoked_at = clock_timestamp()
    WHERE id = $1 AND revoked_at IS NULL AND ($2::bigint IS NULL OR account_id = $2)
    RETURNING id, account_id
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, key_id)
    SELECT $3::text::{schema}.actor_kind, $4, 'key.revoke', account_id, id FROM ended
)
SELECT id FROM {schema}.keys WHERE id = $1 AND ($2::bigint IS NULL OR account_id = $2)
"""


async def revoke_key(postgres: Postgres, key_id: int, actor: Actor, *, of_account: int | None = None) -> None:
    """End a key for good; a worker that has just looked it up lets it pass for a second, but no charge does.

    Who revokes it again changes nothing, and is not noted. `of_account`: there is no other account's key.
    """
    row = await postgres.fetchrow(_REVOKE, key_id, of_account, *actor_columns(actor), timeout_ms=ADMIN_TIMEOUT_MS)
    if row is None:
        raise no_key(key_id)
