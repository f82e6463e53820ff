"""Download jobs: statements on `downloads` and `download_pages`.

A worker takes a job by its lease. A worker that was killed, or is too slow, loses it: `lease` counts up when another
takes the job, and what the earlier one would still write is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from siteglass.leads.lists.lists import RUN_PREFIX
from siteglass.platform.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import asyncpg

State: TypeAlias = Literal["queued", "running", "done", "stopped", "ended"]
FileFormat: TypeAlias = Literal["csv", "xlsx"]
Source: TypeAlias = Literal["search", "enrich"]

MAX_KEPT = 20
"""Jobs that an account has, with those that are finished; purchases of watches are not counted."""
MAX_KEPT_OF_WATCHES = 100
MAX_BYTES = 64 * 1024 * 1024
"""Compressed pages of one job, unless it is a long one of a key."""
MAX_BYTES_A_ROW = 3 * 1024
KEPT_FOR = timedelta(days=7)
LEASE = timedelta(seconds=30)
"""Longer than a page takes: a request for it ends after `request_timeout_ms`, and so does the claim of its key."""
WRITE_TIMEOUT_MS = 10_000
FORGET_EVERY_S = 600.0

# Without `source`: what people upload is large, and few statements need it.
_COLUMNS = (
    "id, coalesce(account_id, key_account) AS account_id, person_id, kind, title, request, key_family,"
    " fingerprint, format, columns, wanted, max_credits, left_out, state, reason, stop_wanted, pages, next_page, rows,"
    " lead_credits, api_credits, bytes, made_at, moved_at, ended_at, lease"
)


class TooManyDownloads(Exception):
    """The account has as many jobs as it may keep."""


class LeaseLost(Exception):
    """Another worker has taken the job."""


class FileGone(Exception):
    """The job was deleted while its file was read."""


@dataclass(frozen=True, slots=True)
class NewDownload:
    """A job as the form or the request asked for it."""

    account_id: int
    person_id: int | None
    """Who started it; None: a key did."""
    form_key: str
    kind: Source
    title: str
    request: str
    format: FileFormat
    columns: str
    wanted: int
    max_credits: int
    left_out: int = 0
    source: bytes | None = None
    key_family: int | None = None
    """The first key of the rotations of the key that started it."""
    fingerprint: bytes | None = None
    """Of the request."""


@dataclass(frozen=True, slots=True)
class Download:
    """A job and how far it is."""

    id: int
    account_id: int
    person_id: int | None
    kind: Source
    title: str
    request: str
    key_family: int | None
    """The first key of the rotations of the key that started it; None: a person did."""
    fingerprint: bytes | None
    format: FileFormat
    columns: str
    wanted: int
    max_credits: int
    left_out: int
    state: State
    reason: str
    stop_wanted: bool
    pages: int
    next_page: str
    rows: int
    lead_credits: int
    api_credits: int
    bytes: int
    made_at: datetime
    moved_at: datetime
    ended_at: datetime | None
    lease: int

    @property
    def is_open(self) -> bool:
        """Whether it is waiting or being worked on."""
        return self.state in ("queued", "running")

    @property
    def max_bytes(self) -> int:
        """How large its compressed pages may be."""
        return max(MAX_BYTES, MAX_BYTES_A_ROW * self.wanted)

    @property
    def kept_until(self) -> datetime | None:
        """When its file is deleted; None while it is open."""
        return None if self.ended_at is None else self.ended_at + KEPT_FOR


@dataclass(frozen=True, slots=True)
class BoughtPage:
    """A page of a job that is paid for."""

    content: bytes
    rows: int
    lead_credits: int
    api_credits: int
    next_page: str
    """Where the next page starts; empty after the last one."""
    leads: Sequence[str] | None = None
    """Of an enrichment by a key: what later pages must not charge again."""


def _download(row: asyncpg.Record) -> Download:
    return Download(*row)


_CREATE = f"""
INSERT INTO {{schema}}.downloads ({{owner}}, person_id, form_key, kind, title, request, format, columns, wanted,
    max_credits, left_out, source, key_family, fingerprint, leased_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    CASE WHEN $13::bigint IS NULL THEN '-infinity' ELSE 'infinity' END::timestamptz)
RETURNING {_COLUMNS}
"""  # noqa: S608 - names of ours
# Pressed again, the form of a job changes at most how its file is written, which no lead depends on.
_SAME_FORM = f"""
UPDATE {{schema}}.downloads SET format = CASE wanted WHEN $3 THEN $4 ELSE format END,
    columns = CASE wanted WHEN $3 THEN $5 ELSE columns END
WHERE {{owner}} = $1 AND form_key = $2 RETURNING {_COLUMNS}
"""  # noqa: S608 - names of ours


def _lease_for(time: str) -> str:
    """Sets the end of a lease. That of a key's job is in a separate column, so that the release before lets it be."""
    end = f"clock_timestamp() + {time}::interval"
    return f"leased_until = CASE WHEN account_id IS NULL THEN 'infinity' ELSE {end} END, free_at = {end}"


# The oldest job of each account, so that its people have one at a time, and so do its keys. Of these the one that waits
# the longest for its next page.
_CLAIM = f"""
UPDATE {{schema}}.downloads d SET state = 'running', lease = d.lease + 1, {_lease_for("$1")}
WHERE d.id = (
    SELECT j.id FROM {{schema}}.downloads j
    WHERE j.state IN ('queued', 'running') AND NOT EXISTS (
        SELECT FROM {{schema}}.downloads earlier
        WHERE coalesce(earlier.account_id, -earlier.key_account) = coalesce(j.account_id, -j.key_account)
            AND earlier.state IN ('queued', 'running') AND earlier.id < j.id
    ) AND CASE WHEN j.account_id IS NULL THEN coalesce(j.free_at, '-infinity') ELSE j.leased_until END
        < clock_timestamp()
    ORDER BY j.moved_at, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED
)
RETURNING {_COLUMNS}
"""  # noqa: S608 - names of ours
_STORE_PAGE = """
INSERT INTO {schema}.download_pages (download_id, page, content, leads) VALUES ($1, $2, $3, $4)
"""
_MOVE = f"""
UPDATE {{schema}}.downloads SET pages = pages + 1, next_page = $3, rows = rows + $4, lead_credits = lead_credits + $5,
    api_credits = api_credits + $6, bytes = bytes + $7, moved_at = clock_timestamp(),
    {_lease_for("$8")}
WHERE id = $1 AND lease = $2 AND state = 'running' RETURNING {_COLUMNS}
"""  # noqa: S608 - names of ours


class Downloads:
    """The jobs of all accounts: those that people started, or those of API keys. A worker takes both."""

    def __init__(self, postgres: Postgres, *, of_keys: bool = False) -> None:
        self._postgres = postgres
        self._owner = "key_account" if of_keys else "account_id"

    def _sql(self, statement: str) -> str:
        return self._postgres.sql(statement.replace("{owner}", self._owner))

    async def create(self, new: NewDownload) -> Download:
        """A new job, or the one that the same form started before; raises TooManyDownloads."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            # Two requests could both count one job less than is allowed.
            await self._postgres.wait_for_turn(connection, "downloads of an account", new.account_id)
            row = await connection.fetchrow(
                self._sql(_SAME_FORM),
                *(new.account_id, new.form_key, new.wanted, new.format, new.columns),
            )
            if row is not None:
                return _download(row)
            # Each kind has separate room: runs of watches must not keep people from downloading, nor the reverse.
            is_of_watch = new.form_key.startswith(RUN_PREFIX)
            count = await connection.fetchval(
                self._sql(
                    "SELECT count(*) FROM {schema}.downloads WHERE {owner} = $1 AND starts_with(form_key, $2) = $3"
                ),
                *(new.account_id, RUN_PREFIX, is_of_watch),
            )
            if count >= (MAX_KEPT_OF_WATCHES if is_of_watch else MAX_KEPT):
                raise TooManyDownloads
            row = await connection.fetchrow(
                self._sql(_CREATE),
                *(new.account_id, new.person_id, new.form_key, new.kind, new.title, new.request),
                *(new.format, new.columns, new.wanted, new.max_credits, new.left_out, new.source),
                *(new.key_family, new.fingerprint),
            )
            assert row is not None  # noqa: S101 - INSERT returns its row
            return _download(row)

    async def of_account(self, account_id: int) -> list[Download]:
        """All jobs of an account, the newest first."""
        rows = await self._postgres.fetch(
            self._sql(f"SELECT {_COLUMNS} FROM {{schema}}.downloads WHERE {{owner}} = $1 ORDER BY id DESC"),  # noqa: S608 - names of ours
            account_id,
        )
        return list(map(_download, rows))

    async def find(self, account_id: int, download_id: int) -> Download | None:
        """A job of an account."""
        row = await self._postgres.fetchrow(
            self._sql(f"SELECT {_COLUMNS} FROM {{schema}}.downloads WHERE {{owner}} = $1 AND id = $2"),  # noqa: S608 - names of ours
            account_id,
            download_id,
        )
        return None if row is None else _download(row)

    async def of_form(self, account_id: int, form_key: str) -> Download | None:
        """The job that a form started."""
        row = await self._postgres.fetchrow(
            self._sql(f"SELECT {_COLUMNS} FROM {{schema}}.downloads WHERE {{owner}} = $1 AND form_key = $2"),  # noqa: S608 - names of ours
            account_id,
            form_key,
        )
        return None if row is None else _download(row)

    async def source(self, download: Download) -> bytes:
        """What an enrichment was given, packed."""
        row = await self._postgres.fetchrow(
            "SELECT source FROM {schema}.downloads WHERE id = $1", download.id, timeout_ms=WRITE_TIMEOUT_MS
        )
        if row is None or row["source"] is None:
            raise FileGone
        source: bytes = row["source"]
        return source

    async def pages(self, download: Download) -> AsyncIterator[bytes]:
        """The compressed pages of a job in their order."""
        for page in range(download.pages):
            row = await self._postgres.fetchrow(
                "SELECT content FROM {schema}.download_pages WHERE download_id = $1 AND page = $2",
                download.id,
                page,
                timeout_ms=WRITE_TIMEOUT_MS,
            )
            if row is None:
                raise FileGone
            yield row["content"]

    async def leads(self, download: Download, first: int, end: int) -> list[str]:
        """The leads of some pages of a job."""
        rows = await self._postgres.fetch(
            "SELECT leads FROM {schema}.download_pages"
            " WHERE download_id = $1 AND page >= $2 AND page < $3 AND leads <> ''",
            *(download.id, first, end),
            timeout_ms=WRITE_TIMEOUT_MS,
        )
        return [lead for row in rows for lead in row["leads"].split("\n")]

    async def stop(self, account_id: int, download_id: int, reason: str = "") -> None:
        """Stop a job: at once if nobody works on it yet, else after the page that is being bought."""
        await self._postgres.fetch(
            self._sql(
                """
                UPDATE {schema}.downloads SET stop_wanted = true,
                    state = CASE WHEN state = 'queued' THEN 'stopped' ELSE state END,
                    reason = CASE WHEN state = 'queued' THEN $3 ELSE reason END,
                    ended_at = CASE WHEN state = 'queued' THEN clock_timestamp() END
                WHERE {owner} = $1 AND id = $2 AND state IN ('queued', 'running')
                """
            ),
            account_id,
            download_id,
            reason,
            timeout_ms=WRITE_TIMEOUT_MS,
        )

    async def delete(self, account_id: int, download_id: int) -> None:
        """Delete a job that has ended, with its file."""
        await self._postgres.fetch(
            self._sql("DELETE FROM {schema}.downloads WHERE {owner} = $1 AND id = $2 AND ended_at IS NOT NULL"),
            account_id,
            download_id,
            timeout_ms=WRITE_TIMEOUT_MS,
        )

    async def forget_old(self) -> None:
        """Delete files that were kept long enough, and their jobs."""
        await self._postgres.fetch(
            "DELETE FROM {schema}.downloads WHERE ended_at < clock_timestamp() - $1::interval",
            KEPT_FOR,
            timeout_ms=WRITE_TIMEOUT_MS,
        )

    # --- for the worker that has the lease ------------------------------------------------------

    async def claim(self) -> Download | None:
        """Take the next job that nobody works on, for the time of a lease."""
        row = await self._postgres.fetchrow(_CLAIM, LEASE, timeout_ms=WRITE_TIMEOUT_MS)
        return None if row is None else _download(row)

    async def store(self, download: Download, page: BoughtPage) -> Download:
        """Keep a page, and the job for another lease; raises LeaseLost."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            row = await connection.fetchrow(
                self._postgres.sql(_MOVE),
                *(download.id, download.lease, page.next_page, page.rows, page.lead_credits, page.api_credits),
                *(len(page.content), LEASE),
            )
            if row is None:
                raise LeaseLost
            leads = None if page.leads is None else "\n".join(page.leads)
            await connection.execute(self._postgres.sql(_STORE_PAGE), download.id, download.pages, page.content, leads)
            return _download(row)

    async def end(self, download: Download, state: State, reason: str = "") -> None:
        """End a job, unless another worker has it."""
        await self._postgres.fetch(
            "UPDATE {schema}.downloads SET state = $3, reason = $4, ended_at = clock_timestamp()"
            " WHERE id = $1 AND lease = $2 AND state = 'running'",
            download.id,
            download.lease,
            state,
            reason,
            timeout_ms=WRITE_TIMEOUT_MS,
        )

    async def postpone(self, download: Download, wait: timedelta) -> None:
        """Give a job back for some time: whoever takes it then continues with the same page."""
        await self._postgres.fetch(
            f"UPDATE {{schema}}.downloads SET {_lease_for('$3')} WHERE id = $1 AND lease = $2",  # noqa: S608 - names of ours
            download.id,
            download.lease,
            wait,
            timeout_ms=WRITE_TIMEOUT_MS,
        )
