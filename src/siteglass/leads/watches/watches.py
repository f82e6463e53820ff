"""The watches of accounts: statements on `watches` and `watch_recipients`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import asyncpg
import orjson

from siteglass.access.keys import Caller
from siteglass.errors import BadRequest, NotFound, Problem, repeated
from siteglass.leads.lists.selection import ListNames
from siteglass.leads.searches.searches import SavedSearch
from siteglass.leads.watches.schedule import Schedule
from siteglass.platform.postgres import Postgres

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

MAX_MATCHES = 50_000
"""Leads that a watched search may find, before its lists apply."""
MAX_RECIPIENTS = 20
MAX_CEILING = 20_000
"""Lead credits that a run may spend: a download has at most so many rows."""
WRITE_TIMEOUT_MS = 10_000

WATCH_COLUMNS = """
w.id, s.account_id, s.test, s.name, w.filters, w.lists, w.every, w.weekday, w.hour, w.time_zone, w.paused,
w.add_to_list, w.max_lead_credits, w.buyer_id, w.made_at, w.next_run_at, w.ran_at, ARRAY(
    SELECT p.email FROM {schema}.watch_recipients r JOIN {schema}.people p ON p.id = r.person_id
    JOIN {schema}.members m ON m.person_id = p.id AND m.account_id = s.account_id
    WHERE r.watch_id = w.id ORDER BY p.email
) AS mail_to
"""
_OF_CALLER = """
FROM {schema}.watches w JOIN {schema}.saved_searches s ON s.id = w.search_id
WHERE s.account_id = $1 AND s.test = $2 AND (s.shared OR s.owner_key_id = $3)
"""
_ADD_RECIPIENTS = """
WITH wanted AS (
    SELECT p.id, p.email FROM {schema}.people p JOIN {schema}.members m ON m.person_id = p.id
    WHERE m.account_id = $2 AND p.email = ANY($3::text[])
), added AS (
    INSERT INTO {schema}.watch_recipients (watch_id, person_id) SELECT $1, id FROM wanted ON CONFLICT DO NOTHING
)
SELECT email FROM wanted
"""
_REMOVE_RECIPIENTS = """
DELETE FROM {schema}.watch_recipients r USING {schema}.people p
WHERE r.watch_id = $1 AND p.id = r.person_id AND p.email = ANY($2::text[])
"""
_TIMES = frozenset(("every", "weekday", "hour", "time_zone", "paused"))
"""Columns that say when a watch runs."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a caller decides about a watch."""

    schedule: Schedule = Schedule()  # noqa: RUF009 - it is frozen
    mail_to: tuple[str, ...] = ()
    add_to_list: str = ""
    paused: bool = False
    max_lead_credits: int | None = None
    """The most that a run buys; None: nothing is bought."""
    buyer_id: int | None = None
    """The person who set that, and in whose name it is charged."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A watch, and when it runs."""

    id: int
    account_id: int
    test: bool
    name: str
    filters: dict[str, Any]
    """What is watched: conditions that mean the same at any time."""
    lists: ListNames
    terms: Terms
    made_at: datetime
    next_run_at: datetime
    ran_at: datetime | None


def search_new_leads(filters: Mapping[str, Any], exclude: tuple[str, ...], run_list: str) -> dict[str, Any]:
    """The body of a search for the new leads of a run that match still.

    The lists that the watch is limited to are left out: they applied to the run, and its list takes their place.
    """
    return {**filters, **ListNames(exclude, (run_list,)).sent}


def read_watch(row: asyncpg.Record) -> Watch:
    """A row of the columns above."""
    lists = orjson.loads(row["lists"])
    terms = Terms(
        Schedule(row["every"], row["weekday"], row["hour"], row["time_zone"]),
        tuple(row["mail_to"]),
        row["add_to_list"],
        row["paused"],
        row["max_lead_credits"],
        row["buyer_id"],
    )
    return Watch(
        row["id"],
        row["account_id"],
        row["test"],
        row["name"],
        orjson.loads(row["filters"]),
        ListNames(tuple(lists.get("exclude_lists", ())), tuple(lists.get("only_lists", ()))),
        terms,
        row["made_at"],
        row["next_run_at"],
        row["ran_at"],
    )


class Watches:
    """The watches of one dataset: of the live leads, or of the made-up ones that test keys search."""

    def __init__(self, postgres: Postgres, *, test: bool) -> None:
        self._postgres = postgres
        self._test = test

    async def seen(self, caller: Caller) -> list[Watch]:
        """All watches on searches that the caller sees, by name."""
        rows = await self._postgres.fetch(
            f"SELECT {WATCH_COLUMNS} {_OF_CALLER} ORDER BY s.name",
            *self._seen_by(caller),
        )
        return list(map(read_watch, rows))

    async def find(self, caller: Caller, name: str) -> Watch:
        """The watch on a search; raises NotFound."""
        row = await self._postgres.fetchrow(
            f"SELECT {WATCH_COLUMNS} {_OF_CALLER} AND s.name = $4",
            *self._seen_by(caller),
            name,
        )
        if row is None:
            raise NotFound(repeated(name), missing="watch")
        return read_watch(row)

    def _seen_by(self, caller: Caller) -> tuple[int, bool, int]:
        return caller.account_id, self._test, caller.family_id

    async def create(
        self, caller: Caller, saved: SavedSearch, filters: dict[str, Any], lists: ListNames, terms: Terms
    ) -> None:
        """Watch a saved search from now on; raises BadRequest if it is watched already or there are too many."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            # Two requests could both count one watch less than is allowed.
            await self._postgres.wait_for_turn(connection, "watches of an account", caller.account_id)
            row = await connection.fetchrow(
                self._postgres.sql(
                    "SELECT p.watches AS allowed, (SELECT count(*) FROM {schema}.watches w"
                    " JOIN {schema}.saved_searches s ON s.id = w.search_id WHERE s.account_id = a.id) AS there"
                    " FROM {schema}.accounts a JOIN {schema}.plans p ON p.name = a.plan WHERE a.id = $1"
                ),
                caller.account_id,
            )
            assert row is not None  # noqa: S101 - the caller has an account
            if row["there"] >= row["allowed"]:
                message = f"the plan of the account allows {row['allowed']} watches; delete one that is not needed"
                raise BadRequest([Problem("search", message)])
            watch_id = await connection.fetchval(
                self._postgres.sql(
                    "INSERT INTO {schema}.watches (search_id, filters, lists, every, weekday, hour, time_zone, paused,"
                    " add_to_list, max_lead_credits, buyer_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
                    " ON CONFLICT (search_id) DO NOTHING RETURNING id"
                ),
                saved.id,
                orjson.dumps(filters).decode(),
                orjson.dumps(lists.sent).decode(),
                *_columns(terms).values(),
            )
            if watch_id is None:
                message = f"{saved.name} is watched already; change the watch with POST /v1/watches/{saved.name}"
                raise BadRequest([Problem("search", message)])
            await self._add_recipients(connection, watch_id, caller.account_id, terms.mail_to)

    async def change(self, watch: Watch, terms: Terms, next_run_at: datetime) -> None:
        """Change what differs from the terms of the watch that was read; others may change the rest meanwhile.

        A new schedule or a pause discards a run under way, and moves the next one. All else leaves both alone.
        """
        before = _columns(watch.terms)
        changed = {name: value for name, value in _columns(terms).items() if value != before[name]}
        sets = [f"{name} = ${place}" for place, name in enumerate(changed, 2)]
        if changed.keys() & _TIMES:
            changed["next_run_at"] = next_run_at
            # The first run is due at once, whatever the schedule.
            sets.append(f"next_run_at = CASE WHEN seen IS NULL THEN next_run_at ELSE ${len(changed) + 1} END")
            sets += ["lease = lease + 1", "leased_until = '-infinity'"]
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            if changed:
                statement = f"UPDATE {{schema}}.watches SET {', '.join(sets)} WHERE id = $1"  # noqa: S608 - names of ours
                await connection.execute(self._postgres.sql(statement), watch.id, *changed.values())
            mailed, wanted = {*watch.terms.mail_to}, {*terms.mail_to}
            await connection.execute(self._postgres.sql(_REMOVE_RECIPIENTS), watch.id, list(mailed - wanted))
            await self._add_recipients(connection, watch.id, watch.account_id, list(wanted - mailed))

    async def _add_recipients(
        self, connection: Connection, watch_id: int, account_id: int, emails: Sequence[str]
    ) -> None:
        rows = await connection.fetch(self._postgres.sql(_ADD_RECIPIENTS), watch_id, account_id, list(emails))
        if strangers := {*emails} - {row[0] for row in rows}:
            message = f"{repeated(min(strangers))} is not the address of a person in this account; invite them first"
            raise BadRequest([Problem("mail_to", message)])

    async def subscription(self, watch_id: int, person_id: int) -> str | None:
        """The name of the watch if it mails this person."""
        row = await self._postgres.fetchrow(
            "SELECT s.name FROM {schema}.watch_recipients r JOIN {schema}.watches w ON w.id = r.watch_id"
            " JOIN {schema}.saved_searches s ON s.id = w.search_id WHERE r.watch_id = $1 AND r.person_id = $2",
            watch_id,
            person_id,
        )
        return None if row is None else row["name"]

    async def unsubscribe(self, watch_id: int, person_id: int) -> None:
        """Mail this person no more."""
        await self._postgres.fetch(
            "DELETE FROM {schema}.watch_recipients WHERE watch_id = $1 AND person_id = $2", watch_id, person_id
        )

    async def delete(self, watch: Watch) -> None:
        """Delete a watch with its runs."""
        await self._postgres.fetch("DELETE FROM {schema}.watches WHERE id = $1", watch.id, timeout_ms=WRITE_TIMEOUT_MS)


def _columns(terms: Terms) -> dict[str, Any]:
    when = terms.schedule
    return {
        "every": when.every,
        "weekday": when.weekday,
        "hour": when.hour,
        "time_zone": when.time_zone,
        "paused": terms.paused,
        "add_to_list": terms.add_to_list,
        "max_lead_credits": terms.max_lead_credits,
        "buyer_id": terms.buyer_id,
    }
