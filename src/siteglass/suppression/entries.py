"""The list in PostgreSQL: add, look up and list entries. Entries are never removed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg
import orjson

from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres
from siteglass.settings import SettingsError, variable
from siteglass.suppression.redaction import addresses, names
from siteglass.suppression.values import Hasher, Kind, Value

WRITE_TIMEOUT_MS = 30_000
ASK_TIMEOUT_MS = 10_000
READ_TIMEOUT_MS = 60_000
MAX_ADDED = 10_000
MAX_LISTED = 1_000
MAX_REASON_CHARS = 500
# Longer than a date: what may be a phone number.
_NUMBER = re.compile(r"(?:[0-9][\s()./-]{0,2}){9}")
# In the place of a hash: nothing of the lead may be shown.
WHOLE = b""


class SuppressionError(Exception):
    """A step that cannot be taken; the message says what to do."""


@dataclass(frozen=True, slots=True)
class ListedValues:
    """What of some leads is listed."""

    domains: frozenset[str]
    hashes: frozenset[bytes]

    def __bool__(self) -> bool:
        return bool(self.domains or self.hashes)

    def values(self) -> set[bytes]:
        """All of it, as the list holds it."""
        return {*map(str.encode, self.domains), *self.hashes}


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the list, as an operator sees it."""

    kind: Kind
    value: bytes
    at: datetime
    actor: str
    reason: str

    @property
    def shown(self) -> str:
        """The domain, or the start of the hash: an address cannot be shown, nobody knows it."""
        return self.value.decode() if self.kind is Kind.DOMAIN else self.value.hex()[:16] + "…"


@dataclass(frozen=True, slots=True)
class FoundHash:
    """The hash of a listed value on a lead, or WHOLE."""

    domain: str
    value: bytes


async def require_secret(postgres: Postgres, hasher: Hasher) -> None:
    """Raise SettingsError if the list was begun with another secret; the first one is kept in mind."""
    statement = """
        WITH made AS (
            INSERT INTO {schema}.suppression_secret (proof) VALUES ($1) ON CONFLICT DO NOTHING RETURNING proof
        )
        SELECT proof FROM made UNION ALL SELECT proof FROM {schema}.suppression_secret LIMIT 1
    """
    # Two at once: the one that lost sees neither row in its own snapshot, so it asks again.
    for _ in range(3):
        row = await postgres.fetchrow(statement, hasher.proof(), timeout_ms=ASK_TIMEOUT_MS)
        if row is not None:
            if row["proof"] != hasher.proof():
                raise SettingsError(
                    f"{variable('suppression_secret')} differs from the secret that the opt-out list was created "
                    "with, so nobody on it would be recognised. Restore the original secret."
                )
            return
    raise Unavailable("postgresql: the check value of the suppression secret cannot be read")


@dataclass(frozen=True, slots=True)
class ListHealth:
    """The state of the list."""

    right_secret: bool
    listed: int
    overdue: int
    """Entries that should have been looked for once more and were not."""


async def condition(postgres: Postgres, hasher: Hasher, overdue_after: timedelta, *, timeout_ms: int) -> ListHealth:
    """What an operator should know; nothing is changed."""
    row = await postgres.fetchrow(
        """
        SELECT NOT EXISTS (SELECT FROM {schema}.suppression_secret WHERE proof <> $1) AS right_secret,
            (SELECT count(*) FROM {schema}.suppressed) AS listed,
            (SELECT count(*) FROM {schema}.suppressed
             WHERE settled_at IS NULL AND at < clock_timestamp() - $2::interval) AS overdue
        """,
        hasher.proof(),
        overdue_after,
    )
    assert row is not None  # noqa: S101 - no table is asked for rows
    return ListHealth(**row)


_ADD = """
WITH noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, details)
    VALUES ('operator', $1, 'suppression.add', $2) RETURNING id
), made AS (
    INSERT INTO {schema}.suppressed (kind, value, audit_id)
    SELECT given.kind::{schema}.suppressed_kind, given.value, noted.id
    FROM unnest($3::text[], $4::bytea[]) AS given(kind, value), noted
    ON CONFLICT DO NOTHING RETURNING kind, value
)
SELECT count(*) AS added FROM made
"""
_REMEMBER = """
INSERT INTO {schema}.suppressed_leads (domain, value)
SELECT given.domain, given.value FROM unnest($1::text[], $2::bytea[]) AS given(domain, value)
ON CONFLICT DO NOTHING RETURNING 1
"""


async def add(postgres: Postgres, pairs: Collection[tuple[Kind, bytes]], *, reason: str, actor: str) -> int:
    """Put values on the list, at most MAX_ADDED, with one row of the audit log; returns how many were new.

    They are as the list holds them: the name of a domain, or the hash of an address or phone.
    """
    if not 1 <= len(reason) <= MAX_REASON_CHARS or addresses({"description": reason}.get) or _NUMBER.search(reason):
        raise SuppressionError(
            f"A reason must have 1 to {MAX_REASON_CHARS} characters and no email address or phone number. Give a "
            "ticket number."
        )
    if len(pairs) > MAX_ADDED:
        raise ValueError(f"expected at most {MAX_ADDED} values at once, found {len(pairs)}")
    rows = sorted(set(pairs))
    counts = {kind.value: sum(kind == given for given, _ in rows) for kind in Kind}
    details = orjson.dumps({"reason": reason, **counts}).decode()
    row = await postgres.fetchrow(
        _ADD,
        actor,
        details,
        [kind.value for kind, _ in rows],
        [value for _, value in rows],
        timeout_ms=WRITE_TIMEOUT_MS,
    )
    assert row is not None  # noqa: S101 - a count is one row
    # Domains are known by name: answers hide them before anything was looked for.
    await remember(postgres, [FoundHash(value.decode(), WHOLE) for kind, value in rows if kind is Kind.DOMAIN])
    return int(row["added"])


async def remember(postgres: Postgres, found: Iterable[FoundHash]) -> None:
    """Note which leads carry listed values, for the workers."""
    rows = sorted({(one.domain, one.value) for one in found})
    for start in range(0, len(rows), MAX_ADDED):
        columns = zip(*rows[start : start + MAX_ADDED], strict=True)
        await postgres.fetch(_REMEMBER, *map(list, columns), timeout_ms=WRITE_TIMEOUT_MS)


_AMONG = """
SELECT kind::text, value FROM {schema}.suppressed WHERE kind = 'domain' AND value = ANY($1::bytea[])
UNION ALL SELECT kind::text, value FROM {schema}.suppressed WHERE kind = 'email' AND value = ANY($2::bytea[])
UNION ALL SELECT kind::text, value FROM {schema}.suppressed WHERE kind = 'phone' AND value = ANY($2::bytea[])
"""


async def among(postgres: Postgres, domains: Collection[str], hashed: Collection[bytes]) -> ListedValues:
    """Which of these are on the list now."""
    named = [domain.encode() for domain in domains]
    return _listed(await postgres.fetch(_AMONG, named, list(hashed), timeout_ms=ASK_TIMEOUT_MS))


def _listed(rows: Sequence[asyncpg.Record]) -> ListedValues:
    domains = frozenset(row["value"].decode() for row in rows if row["kind"] == Kind.DOMAIN)
    return ListedValues(domains, frozenset(row["value"] for row in rows if row["kind"] != Kind.DOMAIN))


async def all_listed(postgres: Postgres) -> ListedValues:
    """The whole list, for those who work apart from the database."""
    statement = "SELECT kind::text, value FROM {schema}.suppressed"
    rows = await postgres.fetch(statement, timeout_ms=READ_TIMEOUT_MS)
    return _listed(rows)


_LIST = """
SELECT s.kind::text, s.value, s.at, a.actor_id AS actor, a.details ->> 'reason' AS reason
FROM {schema}.suppressed s JOIN {schema}.audit a ON a.id = s.audit_id
WHERE {condition}
ORDER BY s.at DESC, s.kind, s.value LIMIT $1
"""


async def newest(postgres: Postgres, limit: int, before: datetime | None = None) -> list[Entry]:
    """The newest entries, the newest first; those before a time."""
    statement = _LIST.replace("{condition}", "$2::timestamptz IS NULL OR s.at < $2")
    rows = await postgres.fetch(statement, min(limit, MAX_LISTED), before, timeout_ms=ASK_TIMEOUT_MS)
    return [_entry(row) for row in rows]


async def find(postgres: Postgres, hasher: Hasher, value: Value) -> Entry | None:
    """The entry of a value, by whatever it may be listed under; of a name below a listed site, the site's."""
    listed = {name.encode() for name in names(value.text)} if value.kind is Kind.DOMAIN else hasher.all_of(value)
    statement = _LIST.replace("{condition}", "s.kind = $2::text::{schema}.suppressed_kind AND s.value = ANY($3)")
    rows = await postgres.fetch(statement, 1, value.kind.value, list(listed), timeout_ms=ASK_TIMEOUT_MS)
    return _entry(rows[0]) if rows else None


def _entry(row: asyncpg.Record) -> Entry:
    return Entry(**{**row, "kind": Kind(row["kind"])})


async def leads_with(postgres: Postgres, hashed: Collection[bytes], limit: int) -> list[str]:
    """Leads that were found to carry a listed address or phone."""
    statement = (
        "SELECT DISTINCT domain FROM {schema}.suppressed_leads WHERE value = ANY($1::bytea[]) ORDER BY domain LIMIT $2"
    )
    rows = await postgres.fetch(statement, list(hashed), limit, timeout_ms=ASK_TIMEOUT_MS)
    return [row["domain"] for row in rows]


async def hashes_on(postgres: Postgres, domains: Collection[str]) -> frozenset[bytes]:
    """What leads of these domains were found to carry."""
    statement = "SELECT DISTINCT value FROM {schema}.suppressed_leads WHERE domain = ANY($1::text[])"
    rows = await postgres.fetch(statement, list(domains), timeout_ms=ASK_TIMEOUT_MS)
    return frozenset(row["value"] for row in rows) - {WHOLE}


_CLAIM = """
UPDATE {schema}.suppressed SET tried_at = clock_timestamp()
WHERE (kind, value) IN (
    SELECT kind, value FROM {schema}.suppressed
    WHERE settled_at IS NULL AND at < clock_timestamp() - $1::interval
        AND (tried_at IS NULL OR tried_at < clock_timestamp() - $1::interval)
    ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED
)
RETURNING kind::text, value
"""
_SETTLE = """
UPDATE {schema}.suppressed s SET settled_at = clock_timestamp()
FROM unnest($1::text[], $2::bytea[]) AS given(kind, value)
WHERE s.kind = given.kind::{schema}.suppressed_kind AND s.value = given.value RETURNING 1
"""


async def claim_unsettled(postgres: Postgres, age: timedelta, limit: int) -> list[tuple[Kind, bytes]]:
    """Entries of this age that are to be looked for once more; nobody else gets them meanwhile."""
    rows = await postgres.fetch(_CLAIM, age, limit, timeout_ms=WRITE_TIMEOUT_MS)
    return [(Kind(row["kind"]), row["value"]) for row in rows]


async def settle(postgres: Postgres, entries: Sequence[tuple[Kind, bytes]]) -> None:
    """They were looked for when no writer could any more have missed them."""
    kinds, values = [kind.value for kind, _ in entries], [value for _, value in entries]
    await postgres.fetch(_SETTLE, kinds, values, timeout_ms=WRITE_TIMEOUT_MS)
