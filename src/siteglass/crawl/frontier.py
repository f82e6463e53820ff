"""The frontier in PostgreSQL: domains are taken with a lease, steps acknowledged in batches. Any number of fetchers on
any number of machines share it.

A lease is `next_at` moved ahead. It outlasts the longest delay between two requests. So whoever takes over the domain
of a killed fetcher comes after every delay that only that fetcher knew.
"""

from __future__ import annotations

import secrets
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

import asyncpg

from siteglass.crawl.results import Found, Kind, KnownPage, RobotsText, Step
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, variable

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

TIMEOUT_MS = 30_000
CONNECTIONS = 4
ADDED_AT_ONCE = 10_000
ROBOTS_LIFE = timedelta(days=1)
MAX_ROBOTS_BYTES = 512_000
# After this, a page is fetched as a whole again: should it be missing in the facts store, it is missing no longer.
FULL_AFTER = timedelta(days=90)
# The days between two visits: those to begin with, which a change of the lead halves, and their bounds.
FIRST_PAUSE, MIN_PAUSE, MAX_PAUSE = 30, 7, 180
NO_STORE = 0
NOT_MODIFIED = 304
_STEPS = Path(__file__).parent / "tables"
_Change: TypeAlias = tuple[str, Sequence[object]]

_ADD = """
INSERT INTO {schema}.domains AS known (domain, next_at, delay_ms, source) SELECT unnest($1::text[]), now(), 0, $3
ON CONFLICT (domain) DO UPDATE SET next_at = now()
WHERE known.holder IS NULL AND known.next_at > now() AND (known.visited_at IS NULL OR known.visited_at < $2)
    AND (known.rest_until IS NULL OR known.rest_until <= now())
"""
# An insert that meets a row takes a number all the same, and there are few.
_SOURCE = """
WITH known AS (SELECT source FROM {schema}.sources WHERE name = $1 AND licence = $2), made AS (
    INSERT INTO {schema}.sources AS given (name, licence) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM known)
    ON CONFLICT (name, licence) DO UPDATE SET name = given.name RETURNING source
)
SELECT source FROM known UNION ALL SELECT source FROM made
"""
# Its origins: those of its pages, and those that a visit begins with.
_FORGET_ROBOTS = """
DELETE FROM {schema}.robots WHERE origin IN (
    SELECT substring(url FROM '^https?://[^/?#]+') FROM {schema}.addresses WHERE domain = $1
    UNION ALL SELECT scheme || '://' || prefix || $1 FROM unnest(ARRAY['http', 'https']) AS scheme,
        unnest(ARRAY['', 'www.']) AS prefix
)
"""
_STATUS = """
SELECT count(*) AS domains, count(*) FILTER (WHERE visited_at IS NOT NULL) AS visited,
    count(*) FILTER (WHERE failures > 0) AS failing, count(*) FILTER (WHERE next_at <= now()) AS due,
    count(*) FILTER (WHERE next_at <= now() AND visited_at IS NULL) AS new,
    count(*) FILTER (WHERE holder IS NOT NULL AND next_at > now()) AS leased,
    count(*) FILTER (WHERE visited_at >= CURRENT_DATE) AS visited_today,
    min(next_at) FILTER (WHERE holder IS NULL AND next_at > now()) AS next_at,
    COALESCE(sum(sent) FILTER (WHERE sent_on = CURRENT_DATE), 0)::bigint AS sent_today
FROM {schema}.domains
"""
# Each of the 16 partitions gives its first rows by its index; the rows of other fetchers are skipped, not waited for.
TAKE = """
WITH due AS (
    SELECT domain FROM {schema}.domains WHERE next_at <= now() ORDER BY next_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.domains AS d SET next_at = now() + $3, holder = $1, visit_at = COALESCE(visit_at, now())
FROM due WHERE d.domain = due.domain
RETURNING d.domain, d.delay_ms, d.failures, CASE WHEN d.sent_on = CURRENT_DATE THEN d.sent ELSE 0 END AS sent,
    CASE WHEN d.rest_until > now() THEN d.rest_until - now() END AS rest
"""
# Pages that are in another facts store, or that went into this one long ago, are fetched as a whole.
TAKEN_ADDRESSES = """
SELECT a.domain, a.url, a.kind, a.hops, a.wanted, a.status, a.etag, a.modified, a.digest, a.full_at,
    a.fetched_at >= d.visit_at AS is_seen, a.store = $2 AND a.full_at > now() - $3::interval AS is_known
FROM {schema}.domains AS d JOIN {schema}.addresses AS a ON a.domain = d.domain
WHERE d.domain = ANY($1::text[])
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
INSERT INTO {schema}.addresses
    (domain, url, kind, hops, wanted, status, fetched_at, etag, modified, digest, full_at, store)
SELECT domain, url, 0, 0, false, status, clock_timestamp(), etag, modified, digest, full_at, NULLIF($8::bigint, 0)
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
    AS given(domain, url, status, etag, modified, digest, full_at)
ON CONFLICT (domain, url) DO UPDATE SET wanted = false, status = EXCLUDED.status, fetched_at = EXCLUDED.fetched_at,
    etag = EXCLUDED.etag, modified = EXCLUDED.modified, digest = EXCLUDED.digest, full_at = EXCLUDED.full_at,
    store = EXCLUDED.store
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
    sent = given.sent + CASE WHEN sent_on = CURRENT_DATE THEN d.sent ELSE 0 END,
    rest_until = COALESCE(now() + given.rest, d.rest_until)
FROM unnest($1::text[], $2::integer[], $3::smallint[], $4::interval[]) AS given(domain, delay_ms, sent, rest)
WHERE d.domain = given.domain
"""
_FINISH = """
UPDATE {schema}.domains AS d SET next_at = now() + given.again_in, holder = NULL, visit_at = NULL,
    visited_at = CASE WHEN given.is_failure IS NULL THEN d.visited_at ELSE now() END,
    failures = CASE WHEN given.is_failure THEN LEAST(d.failures + 1, 1000)
        WHEN given.is_failure IS NULL THEN d.failures ELSE 0 END,
    visits = LEAST(d.visits + (given.is_failure IS NOT NULL)::int, 32767),
    changes = LEAST(d.changes + given.is_changed::int, 32767)
FROM unnest($1::text[], $2::interval[], $3::boolean[], $4::boolean[]) AS given(domain, again_in, is_failure, is_changed)
WHERE d.domain = given.domain
"""
# Addresses that a site no longer leads to are forgotten.
_FORGET_OLD = """
DELETE FROM {schema}.addresses AS a USING {schema}.domains AS d
WHERE d.domain = ANY($1::text[]) AND a.domain = d.domain AND (a.fetched_at IS NULL OR a.fetched_at < d.visit_at)
"""
# What changed since the middle between the last two visits was found by the last one: clocks of machines may differ.
# A domain that was added again meanwhile stays due.
_PLAN = """
UPDATE {schema}.domains AS d SET planned_at = visited_at, pause_days = plan.days,
    next_at = visited_at + plan.days * interval '1 day'
FROM (
    SELECT domain, LEAST($4, GREATEST($3, CASE WHEN planned_at IS NULL THEN $2
        WHEN changed_at > planned_at + (visited_at - planned_at) / 2 THEN pause_days / 2
        ELSE (pause_days * 3 + 1) / 2 END))::smallint AS days
    FROM {schema}.domains JOIN unnest($1::text[], $5::timestamptz[]) AS given(domain, changed_at) USING (domain)
) AS plan
WHERE d.domain = plan.domain AND holder IS NULL AND visited_at IS DISTINCT FROM planned_at AND failures = 0
    AND next_at > now()
"""
_FORGET_PAGES = "UPDATE {schema}.addresses SET digest = NULL WHERE domain = ANY($1::text[])"


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
    earlier: tuple[Found, ...] = ()
    """Key pages and the sitemap that the last visit fetched and this one did not yet."""
    known: Mapping[str, KnownPage] = field(default_factory=dict)
    """Pages that the facts store has, by their addresses."""
    rest: timedelta | None = None
    """For how much longer the site wants to be left alone."""


@dataclass(frozen=True, slots=True)
class FrontierStatus:
    """How many domains there are, and of which."""

    domains: int
    visited: int
    failing: int
    """Their last visit found no home page."""
    due: int
    new: int
    """Of those that are due: never visited."""
    leased: int
    """Under way, or of a fetcher that was killed."""
    visited_today: int
    next_at: datetime | None
    """When the next domain is due that is not yet."""
    sent_today: int


class Frontier:
    """One per fetcher."""

    def __init__(self, postgres: Postgres, lease: timedelta, store: int = NO_STORE) -> None:
        self._postgres = postgres
        self._store = store
        self._lease = lease
        self._holder = secrets.randbits(62)

    @classmethod
    async def open(cls, settings: Settings, store: int = NO_STORE) -> Self:
        """Connect, and create or upgrade the tables. `store` is the identity of the facts store that gets the pages."""
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
        return cls(postgres, timedelta(seconds=settings.crawl_lease_s), store)

    async def close(self) -> None:
        """Give the connections back."""
        await self._postgres.close()

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Connection]:
        """A transaction that waits for the disk of this server and for no standby: the frontier can be built again."""
        async with self._postgres.transaction() as connection:
            await connection.execute("SET LOCAL synchronous_commit = local")
            yield connection

    async def add(self, domains: Iterable[str], visited_before: datetime, source: tuple[str, str] | None = None) -> int:
        """Have registrable domains fetched now, unless they were visited since, or want to be left alone for longer;
        returns how many those are. `source` is the name and the licence of the list that they are from; of a domain,
        the first one is kept."""
        every, number, added = sorted(set(domains)), None, 0
        if source is not None:
            async with self._writing() as connection:
                number = await connection.fetchval(self._postgres.sql(_SOURCE), *source)
        for start in range(0, len(every), ADDED_AT_ONCE):
            some = every[start : start + ADDED_AT_ONCE]
            async with self._writing() as connection:
                status = await connection.execute(self._postgres.sql(_ADD), some, visited_before, number)
            added += int(status.rpartition(" ")[2])
        return added

    async def plan(self, changed_at: Mapping[str, datetime | None]) -> None:
        """Decide when domains are visited next, by when the lead of each last changed; None: it has no lead.

        The pause is halved if the last visit found a change, and is half as long again if not.
        """
        every = list(changed_at)
        for start in range(0, len(every), ADDED_AT_ONCE):
            some = every[start : start + ADDED_AT_ONCE]
            times = [changed_at[domain] for domain in some]
            async with self._writing() as connection:
                await connection.execute(self._postgres.sql(_PLAN), some, FIRST_PAUSE, MIN_PAUSE, MAX_PAUSE, times)

    async def forget(self, domain: str) -> bool:
        """Delete all that is known of a domain; whether there was anything. A visit under way ends with its lease."""
        async with self._writing() as connection:
            await connection.execute(self._postgres.sql(_FORGET_ROBOTS), domain)
            await connection.execute(self._postgres.sql("DELETE FROM {schema}.addresses WHERE domain = $1"), domain)
            status = await connection.execute(
                self._postgres.sql("DELETE FROM {schema}.domains WHERE domain = $1"), domain
            )
        return bool(int(status.rpartition(" ")[2]))

    async def status(self) -> FrontierStatus:
        """What is in it. Reads all domains."""
        row = await self._postgres.fetchrow(_STATUS)
        assert row is not None  # noqa: S101 - counts are one row
        return FrontierStatus(**row)

    async def take(self, count: int) -> list[TakenDomain]:
        """Lease domains that are due."""
        async with self._writing() as connection:
            rows = await connection.fetch(self._postgres.sql(TAKE), self._holder, count, self._lease)
            names = [row["domain"] for row in rows]
            columns = (names, self._store, FULL_AFTER)
            known = await connection.fetch(self._postgres.sql(TAKEN_ADDRESSES), *columns) if names else []
        addresses: dict[str, list[asyncpg.Record]] = {name: [] for name in names}
        for row in known:
            addresses[row["domain"]].append(row)
        return [_taken(row, addresses[row["domain"]]) for row in rows]

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
            for statement, columns in _changes([step for step in steps if step.domain in ours], self._store):
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


def _taken(row: asyncpg.Record, addresses: Sequence[asyncpg.Record]) -> TakenDomain:
    wanted, earlier, seen, has_home = list[Found](), list[Found](), set[str](), False
    known: dict[str, KnownPage] = {}
    for one in addresses:
        found = Found(one["url"], Kind(one["kind"]), one["hops"])
        if one["wanted"]:
            wanted.append(found)
        elif one["is_seen"]:
            seen.add(found.url)
            has_home = has_home or (found.kind == Kind.HOME and _is_page(one["status"]))
        elif found.kind != Kind.HOME and not found.hops:
            earlier.append(found)
        if one["is_known"] and one["digest"]:
            known[found.url] = KnownPage(one["digest"], one["full_at"], one["etag"] or "", one["modified"] or "")
    return TakenDomain(
        row["domain"],
        row["delay_ms"],
        row["failures"],
        row["sent"],
        tuple(sorted(wanted, key=lambda found: found.kind)),
        frozenset(seen),
        has_home,
        tuple(sorted(earlier, key=lambda found: (found.kind, found.url))),
        known,
        row["rest"],
    )


def _is_page(status: int | None) -> bool:
    return 200 <= (status or 0) < 300 or status == NOT_MODIFIED


def _changes(steps: Sequence[Step], store: int) -> Iterator[_Change]:
    """Statements and their columns, in an order that ends visits last."""
    yield from _robots_change(steps)
    yield from _done_change(steps, store)
    yield from _put_change(steps)
    yield from _count_change(steps)
    yield from _finish_changes(steps)


def _robots_change(steps: Sequence[Step]) -> Iterator[_Change]:
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


def _done_change(steps: Sequence[Step], store: int) -> Iterator[_Change]:
    done = {(step.domain, step.done[0]): (step.done[1], step.page) for step in steps if step.done is not None}
    if done:
        pages = [page for _, page in done.values()]
        yield (
            _DONE,
            (
                *([domain for domain, _ in done], [url for _, url in done], [status for status, _ in done.values()]),
                *([page and page.etag for page in pages], [page and page.modified for page in pages]),
                *([page and page.digest for page in pages], [page and page.full_at for page in pages], store),
            ),
        )


def _put_change(steps: Sequence[Step]) -> Iterator[_Change]:
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


def _count_change(steps: Sequence[Step]) -> Iterator[_Change]:
    last = {step.domain: step for step in steps}
    sent: Counter[str] = Counter()
    for step in steps:
        sent[step.domain] += step.sent
    if last:
        ends = last.values()
        yield (
            _COUNT,
            (
                *(list(last), [step.delay_ms for step in ends], [sent[name] for name in last]),
                [step.rest for step in ends],
            ),
        )


def _finish_changes(steps: Sequence[Step]) -> Iterator[_Change]:
    ends = {step.domain: step.finished for step in steps if step.finished is not None}
    if ends:
        yield _FORGET_OLD, (list(ends),)
        yield _FORGET_PAGES, ([domain for domain, end in ends.items() if end.is_partial],)
        ended = ends.values()
        yield (
            _FINISH,
            (
                *(list(ends), [end.again_in for end in ended]),
                *([end.is_failure for end in ended], [end.is_changed for end in ended]),
            ),
        )


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
