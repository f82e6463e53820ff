"""The frontier in PostgreSQL: domains are taken with a lease, steps acknowledged in batches. Any number of fetchers on
any number of machines share it.

A lease is `next_at` moved ahead. It outlasts the longest delay between two requests. So whoever takes over the domain
of a killed fetcher comes after every delay that only that fetcher knew.
"""

from __future__ import annotations

import secrets
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Self

import asyncpg

from siteglass.crawl.results import Found, Kind, RobotsText, Step
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, variable

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

TIMEOUT_MS = 30_000
CONNECTIONS = 4
ADDED_AT_ONCE = 10_000
ROBOTS_LIFE = timedelta(days=1)
MAX_ROBOTS_BYTES = 512_000
_STEPS = Path(__file__).parent / "tables"

_ADD = """
INSERT INTO {schema}.domains AS known (domain, next_at, delay_ms) SELECT unnest($1::text[]), now(), 0
ON CONFLICT (domain) DO UPDATE SET next_at = now()
WHERE known.holder IS NULL AND known.next_at > now() AND (known.visited_at IS NULL OR known.visited_at < $2)
"""
# Each of the 16 partitions gives its first rows by its index; the rows of other fetchers are skipped, not waited for.
TAKE = """
WITH due AS (
    SELECT domain FROM {schema}.domains WHERE next_at <= now() ORDER BY next_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.domains AS d SET next_at = now() + $3, holder = $1, visit_at = COALESCE(visit_at, now())
FROM due WHERE d.domain = due.domain
RETURNING d.domain, d.delay_ms, d.failures, CASE WHEN d.sent_on = CURRENT_DATE THEN d.sent ELSE 0 END AS sent
"""
TAKEN_ADDRESSES = """
SELECT a.domain, a.url, a.kind, a.hops, a.wanted, a.status
FROM {schema}.domains AS d JOIN {schema}.addresses AS a ON a.domain = d.domain
WHERE d.domain = ANY($1::text[]) AND (a.wanted OR a.fetched_at >= d.visit_at)
"""
_RENEW = """
UPDATE {schema}.domains SET next_at = now() + $3 WHERE domain = ANY($1::text[]) AND holder = $2 RETURNING domain
"""
# The lock keeps the lease until the commit: whoever lost it has not acknowledged anything.
_HELD = "SELECT domain FROM {schema}.domains WHERE domain = ANY($1::text[]) AND holder = $2 ORDER BY domain FOR UPDATE"
_PUT = """
INSERT INTO {schema}.addresses AS known (domain, url, kind, hops, wanted)
SELECT domain, url, kind, hops, true
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::smallint[]) AS given(domain, url, kind, hops)
ON CONFLICT (domain, url) DO UPDATE SET kind = EXCLUDED.kind, hops = EXCLUDED.hops, wanted = true
WHERE known.fetched_at IS NULL
    OR known.fetched_at < (SELECT visit_at FROM {schema}.domains AS d WHERE d.domain = known.domain)
"""
# The first address of a visit is known without a row.
_DONE = """
INSERT INTO {schema}.addresses (domain, url, kind, hops, wanted, status, fetched_at)
SELECT domain, url, 0, 0, false, status, clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::smallint[]) AS given(domain, url, status)
ON CONFLICT (domain, url) DO UPDATE SET wanted = false, status = EXCLUDED.status, fetched_at = EXCLUDED.fetched_at
"""
_ROBOTS = """
INSERT INTO {schema}.robots (origin, status, fetched_at, content, next_url, hops)
SELECT origin, status, clock_timestamp(), content, next_url, hops
FROM unnest($1::text[], $2::smallint[], $3::bytea[], $4::text[], $5::smallint[])
    AS given(origin, status, content, next_url, hops)
ON CONFLICT (origin) DO UPDATE
SET status = EXCLUDED.status, fetched_at = EXCLUDED.fetched_at, content = EXCLUDED.content,
    next_url = EXCLUDED.next_url, hops = EXCLUDED.hops
"""
_COUNT = """
UPDATE {schema}.domains AS d SET delay_ms = given.delay_ms, sent_on = CURRENT_DATE,
    sent = given.sent + CASE WHEN sent_on = CURRENT_DATE THEN d.sent ELSE 0 END
FROM unnest($1::text[], $2::integer[], $3::smallint[]) AS given(domain, delay_ms, sent) WHERE d.domain = given.domain
"""
_FINISH = """
UPDATE {schema}.domains AS d SET next_at = now() + given.again_in, holder = NULL, visit_at = NULL, visited_at = now(),
    failures = CASE WHEN given.is_failure THEN LEAST(d.failures + 1, 1000) ELSE 0 END
FROM unnest($1::text[], $2::interval[], $3::boolean[]) AS given(domain, again_in, is_failure)
WHERE d.domain = given.domain
"""
# Addresses that a site no longer leads to are forgotten.
_FORGET_OLD = """
DELETE FROM {schema}.addresses AS a USING {schema}.domains AS d
WHERE d.domain = ANY($1::text[]) AND a.domain = d.domain AND (a.fetched_at IS NULL OR a.fetched_at < d.visit_at)
"""


@dataclass(frozen=True, slots=True)
class TakenDomain:
    """A domain with a lease."""

    domain: str
    delay_ms: int
    failures: int
    sent_today: int
    wanted: tuple[Found, ...]
    """Addresses that are left of a visit that began earlier."""
    seen: frozenset[str]
    """Addresses that were fetched in this visit."""
    has_home: bool
    """One of them was a home page."""


class Frontier:
    """One per fetcher."""

    def __init__(self, postgres: Postgres, lease: timedelta) -> None:
        self._postgres = postgres
        self._lease = lease
        self._holder = secrets.randbits(62)

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Connect, and create or upgrade the tables."""
        postgres = Postgres(
            settings.crawl_dsn, settings.crawl_schema, timeout_ms=TIMEOUT_MS, max_connections=CONNECTIONS
        )
        try:
            await _migrate(postgres)
        except (asyncpg.InvalidCatalogNameError, asyncpg.InvalidAuthorizationSpecificationError) as error:
            await postgres.close()
            raise SettingsError(
                f"{variable('crawl_dsn')}: the frontier cannot be opened ({error}). Create the role and its database: "
                "docs/guides/crawl.md."
            ) from None
        return cls(postgres, timedelta(seconds=settings.crawl_lease_s))

    async def close(self) -> None:
        """Give the connections back."""
        await self._postgres.close()

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Connection]:
        """A transaction that waits for the disk of this server and for no standby: the frontier can be built again."""
        async with self._postgres.transaction() as connection:
            await connection.execute("SET LOCAL synchronous_commit = local")
            yield connection

    async def add(self, domains: Iterable[str], visited_before: datetime) -> None:
        """Have registrable domains fetched now, unless they were visited since."""
        every = sorted(set(domains))
        for start in range(0, len(every), ADDED_AT_ONCE):
            async with self._writing() as connection:
                await connection.execute(self._postgres.sql(_ADD), every[start : start + ADDED_AT_ONCE], visited_before)

    async def take(self, count: int) -> list[TakenDomain]:
        """Lease domains that are due."""
        async with self._writing() as connection:
            rows = await connection.fetch(self._postgres.sql(TAKE), self._holder, count, self._lease)
            names = [row["domain"] for row in rows]
            known = await connection.fetch(self._postgres.sql(TAKEN_ADDRESSES), names) if names else []
        wanted: dict[str, list[Found]] = {name: [] for name in names}
        seen: dict[str, set[str]] = {name: set() for name in names}
        with_home: set[str] = set()
        for row in known:
            if row["wanted"]:
                wanted[row["domain"]].append(Found(row["url"], Kind(row["kind"]), row["hops"]))
            else:
                seen[row["domain"]].add(row["url"])
                if row["kind"] == Kind.HOME and 200 <= (row["status"] or 0) < 300:
                    with_home.add(row["domain"])
        return [
            TakenDomain(
                row["domain"],
                row["delay_ms"],
                row["failures"],
                row["sent"],
                tuple(sorted(wanted[row["domain"]], key=lambda found: found.kind)),
                frozenset(seen[row["domain"]]),
                row["domain"] in with_home,
            )
            for row in rows
        ]

    async def renew(self, domains: Collection[str]) -> set[str]:
        """Hold leases for longer; returns those that are still ours."""
        async with self._writing() as connection:
            rows = await connection.fetch(self._postgres.sql(_RENEW), list(domains), self._holder, self._lease)
        return {row["domain"] for row in rows}

    async def acknowledge(self, steps: Sequence[Step]) -> None:
        """Record steps together. Those of domains whose lease was lost are left out: another fetcher has them."""
        async with self._writing() as connection:
            held = await connection.fetch(
                self._postgres.sql(_HELD), sorted({step.domain for step in steps}), self._holder
            )
            ours = {row["domain"] for row in held}
            for statement, columns in _changes([step for step in steps if step.domain in ours]):
                await connection.execute(self._postgres.sql(statement), *columns)

    async def robots(self, origin: str) -> RobotsText | None:
        """What robots.txt of an origin said less than a day ago."""
        row = await self._postgres.fetchrow(
            "SELECT status, content, next_url, hops FROM {schema}.robots"
            " WHERE origin = $1 AND fetched_at > now() - $2::interval",
            origin,
            ROBOTS_LIFE,
        )
        if row is None:
            return None
        content = zlib.decompressobj().decompress(row["content"], MAX_ROBOTS_BYTES)
        return RobotsText(origin=origin, **{**row, "content": content})

    async def left(self) -> tuple[int, int]:
        """How many domains are due, and how many are leased by fetchers that run or were killed."""
        row = await self._postgres.fetchrow(
            "SELECT (SELECT count(*) FROM {schema}.domains WHERE next_at <= now()) AS due,"
            " (SELECT count(*) FROM {schema}.domains WHERE holder IS NOT NULL AND next_at > now()) AS leased"
        )
        assert row is not None  # noqa: S101 - counts are one row
        return row["due"], row["leased"]


def _changes(steps: Sequence[Step]) -> Iterable[tuple[str, Sequence[object]]]:
    """Statements and their columns, in an order that ends visits last."""
    robots = {step.robots.origin: step.robots for step in steps if step.robots is not None}
    if robots:
        texts = robots.values()
        yield (
            _ROBOTS,
            (
                *([r.origin for r in texts], [r.status for r in texts], [zlib.compress(r.content) for r in texts]),
                *([r.next_url for r in texts], [r.hops for r in texts]),
            ),
        )
    done = {(step.domain, step.done[0]): step.done[1] for step in steps if step.done is not None}
    if done:
        yield _DONE, ([domain for domain, _ in done], [url for _, url in done], list(done.values()))
    found = {(step.domain, one.url): one for step in steps for one in step.found}
    if found:
        values = found.values()
        yield (
            _PUT,
            (
                *([domain for domain, _ in found], [url for _, url in found]),
                *([int(one.kind) for one in values], [one.hops for one in values]),
            ),
        )
    last = {step.domain: step for step in steps}
    if last:
        sent: Counter[str] = Counter()
        for step in steps:
            sent[step.domain] += step.sent
        yield _COUNT, (list(last), [step.delay_ms for step in last.values()], [sent[name] for name in last])
    ends = {step.domain: step.finished for step in steps if step.finished is not None}
    if ends:
        yield _FORGET_OLD, (list(ends),)
        ended = ends.values()
        yield _FINISH, (list(ends), [end.again_in for end in ended], [end.is_failure for end in ended])


async def _migrate(postgres: Postgres) -> None:
    """Apply the steps in `tables` that the schema lacks. Like all migrations they only add."""
    async with postgres.transaction() as connection:
        await connection.execute(f"SELECT pg_advisory_xact_lock(hashtext('siteglass crawl {postgres.schema}'))")
        if await connection.fetchval("SELECT to_regnamespace($1) IS NULL", postgres.schema):
            await connection.execute(postgres.sql("CREATE SCHEMA {schema}"))
        await connection.execute(
            postgres.sql("CREATE TABLE IF NOT EXISTS {schema}.crawl_steps (name text PRIMARY KEY, at timestamptz)")
        )
        rows = await connection.fetch(postgres.sql("SELECT name FROM {schema}.crawl_steps"))
        applied = {row["name"] for row in rows}
        for step in sorted(_STEPS.glob("*.sql")):
            if step.stem not in applied:
                await connection.execute(postgres.sql(step.read_text(encoding="utf-8")))
                await connection.execute(
                    postgres.sql("INSERT INTO {schema}.crawl_steps VALUES ($1, $2)"), step.stem, datetime.now(UTC)
                )
