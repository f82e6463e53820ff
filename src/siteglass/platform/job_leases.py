"""Which worker runs a job of the whole service: the one that takes its lease, a row in PostgreSQL.

A row and not an advisory lock. A lock would need a connection for as long as the job runs, and would not tell the
other workers when the job ran last.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from siteglass.platform import metrics
from siteglass.platform.postgres import Postgres

# A job whose worker was killed is run by another one after this time, or a period later if that is longer. A job that
# takes longer may be run twice at once, which all of them allow.
LEASE_S = 60.0


# The lease of `siteglass refresh run`. Its process ends, so the service reports when it last finished.
REFRESH = "refresh"
REPORT_REFRESH_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class SharedJob:
    """A job that one worker runs for all, as the last of them left it."""

    name: str
    due_at: datetime
    failure: str
    """Why its last run failed; empty: it did not."""


class JobLeases:
    """The leases of the workers that share a database and an index prefix."""

    def __init__(self, postgres: Postgres, index_prefix: str) -> None:
        self._postgres = postgres
        self._index_prefix = index_prefix

    async def take(self, name: str, period_s: float) -> float | None:
        """Take the job; None: it is ours. Otherwise the seconds until it may be run next."""
        taken = await self._postgres.fetchrow(
            """
            INSERT INTO {schema}.job_leases AS l (name, due_at) VALUES ($1, clock_timestamp() + $2)
            ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at WHERE l.due_at <= clock_timestamp()
            RETURNING name
            """,
            self._key(name),
            timedelta(seconds=max(period_s, LEASE_S)),
        )
        if taken is not None:
            return None
        row = await self._postgres.fetchrow(
            "SELECT extract(epoch FROM due_at - clock_timestamp())::float8 AS wait_s FROM {schema}.job_leases"
            " WHERE name = $1",
            self._key(name),
        )
        return 0.0 if row is None else max(0.0, row["wait_s"])

    async def end(self, name: str, period_s: float, failure: str = "") -> None:
        """The job was run: the next run is due a period from now, by whichever worker."""
        await self._postgres.fetchrow(
            "UPDATE {schema}.job_leases SET due_at = clock_timestamp() + $2, failure = $3 WHERE name = $1",
            self._key(name),
            timedelta(seconds=period_s),
            failure,
        )

    async def jobs(self) -> list[SharedJob]:
        """All jobs that were ever run under this prefix, by name."""
        rows = await self._postgres.fetch(
            "SELECT substr(name, length($1) + 1) AS name, due_at, failure FROM {schema}.job_leases"
            " WHERE starts_with(name, $1) ORDER BY 1 LIMIT 100",
            self._key(""),
        )
        return [SharedJob(**row) for row in rows]

    async def note_start(self, name: str) -> None:
        """Begin to count from now how long ago a job finished, unless that is counted already."""
        await self._note(name, is_finish=False)

    async def note_finish(self, name: str) -> None:
        """The job finished without an error."""
        await self._note(name, is_finish=True)

    async def finished_at(self, name: str) -> datetime | None:
        """When the job last finished without an error, or was first started if it never did; None: neither."""
        row = await self._postgres.fetchrow(
            "SELECT due_at FROM {schema}.job_leases WHERE name = $1", self._finish_key(name)
        )
        return None if row is None else row["due_at"]

    async def _note(self, name: str, *, is_finish: bool) -> None:
        await self._postgres.fetchrow(
            "INSERT INTO {schema}.job_leases AS l (name, due_at) VALUES ($1, clock_timestamp())"
            " ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at WHERE $2",
            self._finish_key(name),
            is_finish,
        )

    def _finish_key(self, name: str) -> str:
        # Of no lease, so that `jobs` does not list it.
        return f"{self._index_prefix} finished: {name}"

    def _key(self, name: str) -> str:
        # Services that share the tables but not the leads: some jobs rewrite leads.
        return f"{self._index_prefix}: {name}"


async def report_refresh(leases: JobLeases) -> None:
    """Set the metric of refreshes; a job of every worker, since each has its own metrics."""
    at = await leases.finished_at(REFRESH)
    metrics.REFRESH_FINISHED.set(at.timestamp() if at else 0)
