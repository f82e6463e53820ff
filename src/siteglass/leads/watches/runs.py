"""The runs of watches: statements on `watch_runs`, and on the list of each run.

A worker takes a watch by its lease. What a run found is written in one transaction with the matches that now count as
seen. A run whose worker was killed leaves nothing, and the next one finds the same again. A run with new leads is open
until they are delivered: it is the queue of what is to be mailed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pyroaring import BitMap

from siteglass.errors import NotFound
from siteglass.leads.lists.bitmaps import pack
from siteglass.leads.lists.lists import RUN_PREFIX
from siteglass.leads.watches.watches import WATCH_COLUMNS, WRITE_TIMEOUT_MS, Watch, read_watch
from siteglass.platform.postgres import Postgres

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

Outcome: TypeAlias = Literal["baseline", "compared", "too_many", "unreadable"]

LEASE = timedelta(minutes=2)
"""Longer than a run takes."""
DELIVERY_LEASE = timedelta(minutes=5)
"""Longer than as many mails take as a watch may have recipients, each with its own deadline."""
KEPT_FOR = timedelta(days=30)
BOUGHT: Final = 0
"""Among the people who have the mail, whose numbers start at 1: the purchase was started, and is not started again."""
FORGET_EVERY_S = 600.0
FORGET_AT_ONCE = 20
MAX_LISTED: Final = 100

# Watches whose last run failed come after all others.
_CLAIM = f"""
UPDATE {{schema}}.watches w SET lease = w.lease + 1, leased_until = clock_timestamp() + $1
FROM {{schema}}.saved_searches s
WHERE s.id = w.search_id AND w.id = (
    SELECT d.id FROM {{schema}}.watches d JOIN {{schema}}.saved_searches t ON t.id = d.search_id
    JOIN {{schema}}.accounts a ON a.id = t.account_id
    WHERE NOT d.paused AND d.next_run_at <= clock_timestamp() AND d.leased_until <= clock_timestamp()
        AND a.state = 'active'
    ORDER BY d.leased_until, d.next_run_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED
)
RETURNING {WATCH_COLUMNS}, w.seen, w.highest_no, w.build, w.compared_at, w.lease, clock_timestamp() AS taken_at
"""  # noqa: S608 - constants of ours
_MOVE = """
UPDATE {schema}.watches SET seen = coalesce($3, seen), ran_at = clock_timestamp(), highest_no = $4, build = $5,
    next_run_at = $6, compared_at = CASE WHEN $3 IS NULL THEN compared_at ELSE $7 END, leased_until = '-infinity'
WHERE id = $1 AND lease = $2 RETURNING id
"""
_RECORD = """
INSERT INTO {schema}.watch_runs (watch_id, outcome, matches, new_leads, reread, delivered_at)
VALUES ($1, $2, $3, $4, $5, CASE WHEN $4 = 0 THEN clock_timestamp() END) RETURNING id
"""
_LIST = """
INSERT INTO {schema}.lists (account_id, test, name, bitmap, domains, run_id)
VALUES ($1, $2, $3, $4, $5, $6) RETURNING id
"""
_LIST_DOMAINS = """
INSERT INTO {schema}.list_domains (list_id, domain, lead_no, tried_at)
SELECT $1, domain, lead_no, clock_timestamp() FROM unnest($2::text[], $3::int[]) n (domain, lead_no)
"""
_RUN_NAMES = ("run_id", "run_at", "outcome", "matches", "new_leads", "reread", "mailed")
_RUN = "r.id AS run_id, r.ran_at AS run_at, r.outcome, r.matches, r.new_leads, r.reread, r.mailed"
# New runs come before those that failed.
_CLAIM_OPEN = f"""
UPDATE {{schema}}.watch_runs r SET leased_until = clock_timestamp() + $1
FROM {{schema}}.watches w JOIN {{schema}}.saved_searches s ON s.id = w.search_id
    JOIN {{schema}}.accounts a ON a.id = s.account_id
WHERE w.id = r.watch_id AND r.id = (
    SELECT o.id FROM {{schema}}.watch_runs o JOIN {{schema}}.watches d ON d.id = o.watch_id
    JOIN {{schema}}.saved_searches t ON t.id = d.search_id JOIN {{schema}}.accounts b ON b.id = t.account_id
    WHERE o.delivered_at IS NULL AND o.leased_until <= clock_timestamp() AND b.state = 'active'
    ORDER BY o.leased_until, o.id LIMIT 1 FOR UPDATE OF o SKIP LOCKED
)
RETURNING {WATCH_COLUMNS}, {_RUN}, r.leased_until, a.name AS account_name, ARRAY(
    SELECT ROW(p.id, p.email) FROM {{schema}}.watch_recipients v JOIN {{schema}}.people p ON p.id = v.person_id
    JOIN {{schema}}.members m ON m.person_id = p.id AND m.account_id = s.account_id
    WHERE v.watch_id = w.id AND p.id <> ALL(r.mailed) ORDER BY p.id
) AS recipients
"""  # noqa: S608 - constants of ours
_OF_LEASE = "WHERE id = $1 AND leased_until = $2 RETURNING id"


class RunLost(Exception):
    """The watch or the run was changed or deleted meanwhile, or another worker has taken it."""


@dataclass(frozen=True, slots=True)
class DueWatch:
    """A watch that a worker has taken, and what its last run left."""

    watch: Watch
    seen: bytes | None
    """All matches so far; None before the first run."""
    highest_no: int
    build: str
    compared_at: datetime | None
    """When the run began that left these; runs that could not compare leave them as they are."""
    lease: int
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """What a run found."""

    outcome: Outcome
    highest_no: int
    build: str
    matches: int = 0
    seen: BitMap | None = None
    new: Sequence[tuple[int, str]] = ()
    """Numbers and domains of new leads."""
    reread: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a watch."""

    id: int
    ran_at: datetime
    outcome: Outcome
    matches: int
    new_leads: int
    reread: int
    mailed: Sequence[int]

    @property
    def list_name(self) -> str:
        """The list of its new leads, which searches can name."""
        return f"{RUN_PREFIX}{self.id}"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run with new leads that a worker has taken to deliver them."""

    watch: Watch
    run: Run
    leased_until: datetime
    """Distinguishes the lease from a later one."""
    account_name: str
    recipients: Sequence[tuple[int, str]]
    """People who were not mailed yet: their numbers and addresses."""


class Runs:
    """The runs of all watches."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def of_watch(self, watch: Watch) -> list[Run]:
        """The newest runs of a watch, the last one first."""
        rows = await self._postgres.fetch(
            f"SELECT {_RUN} FROM {{schema}}.watch_runs r WHERE r.watch_id = $1 ORDER BY r.id DESC LIMIT $2",  # noqa: S608 - names of ours
            watch.id,
            MAX_LISTED,
        )
        return [Run(*row) for row in rows]

    async def find(self, watch: Watch, run_id: int) -> Run:
        """A run of a watch; raises NotFound."""
        row = await self._postgres.fetchrow(
            f"SELECT {_RUN} FROM {{schema}}.watch_runs r WHERE r.watch_id = $1 AND r.id = $2",  # noqa: S608 - names of ours
            watch.id,
            run_id,
        )
        if row is None:
            raise NotFound(str(run_id), missing="run")
        return Run(*row)

    async def forget_old(self) -> None:
        """Delete runs that were kept long enough, with their lists: few at a time, each of which may be long."""
        while await self._postgres.fetch(
            "DELETE FROM {schema}.watch_runs WHERE id IN ("
            " SELECT id FROM {schema}.watch_runs WHERE ran_at < clock_timestamp() - $1::interval LIMIT $2"
            ") RETURNING id",
            KEPT_FOR,
            FORGET_AT_ONCE,
            timeout_ms=WRITE_TIMEOUT_MS,
        ):
            pass

    # --- for the worker that has the lease ------------------------------------------------------

    async def claim(self) -> DueWatch | None:
        """Take the watch that is due for longest, for the time of a lease; one that failed, after the others."""
        row = await self._postgres.fetchrow(_CLAIM, LEASE, timeout_ms=WRITE_TIMEOUT_MS)
        if row is None:
            return None
        left = (row[name] for name in ("seen", "highest_no", "build", "compared_at", "lease", "taken_at"))
        return DueWatch(read_watch(row), *left)

    async def record(self, due: DueWatch, found: Found, next_run_at: datetime) -> None:
        """Write what a run found, and that it is seen; raises RunLost."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            seen = None if found.seen is None else pack(found.seen)
            moved = await connection.fetchrow(
                self._postgres.sql(_MOVE),
                *(due.watch.id, due.lease, seen, found.highest_no, found.build, next_run_at, due.taken_at),
            )
            if moved is None:
                raise RunLost
            run_id = await connection.fetchval(
                self._postgres.sql(_RECORD),
                *(due.watch.id, found.outcome, found.matches, len(found.new), found.reread),
            )
            if found.new:
                await self._list_new(connection, due.watch, run_id, found.new)

    # --- for the worker that delivers the new leads ---------------------------------------------

    async def claim_open(self) -> OpenRun | None:
        """Take a run whose new leads are not delivered yet, for the time of a lease."""
        row = await self._postgres.fetchrow(_CLAIM_OPEN, DELIVERY_LEASE, timeout_ms=WRITE_TIMEOUT_MS)
        if row is None:
            return None
        run = Run(*(row[name] for name in _RUN_NAMES))
        recipients = [(person_id, email) for person_id, email in row["recipients"]]
        return OpenRun(read_watch(row), run, row["leased_until"], row["account_name"], recipients)

    async def note_mailed(self, open_run: OpenRun, person_id: int) -> None:
        """Note that a person has the mail; raises RunLost."""
        await self._set(open_run, "mailed = array_append(mailed, $3)", person_id)

    async def postpone(self, open_run: OpenRun, until: datetime) -> None:
        """Deliver the rest later; raises RunLost."""
        await self._set(open_run, "leased_until = $3", until)

    async def close(self, open_run: OpenRun) -> None:
        """Note that all is delivered; raises RunLost."""
        await self._set(open_run, "delivered_at = clock_timestamp()")

    async def _set(self, open_run: OpenRun, what: str, *values: object) -> None:
        statement = f"UPDATE {{schema}}.watch_runs SET {what} {_OF_LEASE}"  # noqa: S608 - words of ours
        row = await self._postgres.fetchrow(
            statement, open_run.run.id, open_run.leased_until, *values, timeout_ms=WRITE_TIMEOUT_MS
        )
        if row is None:
            raise RunLost

    async def _list_new(
        self, connection: Connection, watch: Watch, run_id: int, new: Sequence[tuple[int, str]]
    ) -> None:
        numbers, domains = zip(*new, strict=True)
        list_id = await connection.fetchval(
            self._postgres.sql(_LIST),
            *(watch.account_id, watch.test, f"{RUN_PREFIX}{run_id}", pack(BitMap(numbers)), len(new), run_id),
        )
        await connection.execute(self._postgres.sql(_LIST_DOMAINS), list_id, list(domains), list(numbers))
