"""What an account used and paid: reads of the rows that charges and grants write. Each is one statement of one snapshot
with a deadline, and bounded: no answer and no scan grows with the length of a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

import asyncpg

from siteglass.billing.credits import ChargedOperation, Mark, read_domains
from siteglass.platform.logs import ID_CHARS, request_time
from siteglass.platform.postgres import Postgres

MAX_USAGE_ROWS = 10_000
MAX_REQUEST_ENTRIES = 100
# Between the clocks of a worker and of PostgreSQL; with less than two seconds nothing is charged.
MAX_CLOCK_DIFFERENCE = timedelta(days=1)


class UsageRow(NamedTuple):
    """What one key did of one operation on one day (UTC); the columns of the statement below."""

    day: date
    operation: ChargedOperation
    key_id: int
    key_name: str
    requests: int
    api: int
    lead: int


_USAGE = """
SELECT u.day, u.operation::text, k.id AS key_id, k.name AS key_name, u.requests, u.api, u.lead
FROM {schema}.keys k JOIN {schema}.usage_days u ON u.key_id = k.id
WHERE k.account_id = $1 AND u.day BETWEEN $2 AND $3 {of_key}
ORDER BY u.day, u.operation::text COLLATE "C", k.id LIMIT $4
"""


async def usage(
    postgres: Postgres, account_id: int, first: date, last: date, key_id: int | None
) -> list[UsageRow] | None:
    """What was charged from the first day to the last, by day, operation and key; None if it is too much to tell."""
    of_key, values = ("", ()) if key_id is None else ("AND k.id = $5", (key_id,))
    statement = _USAGE.replace("{of_key}", of_key)
    rows = await postgres.fetch(statement, account_id, first, last, MAX_USAGE_ROWS + 1, *values)
    return None if len(rows) > MAX_USAGE_ROWS else [UsageRow._make(row) for row in rows]


# --- ledger -------------------------------------------------------------------------------------


KINDS = ("grant", "charge", "refund", "expire", "adjust")


class Entry(NamedTuple):
    """A ledger row as its account may see it: the kind of writer, and the key if it was one.

    The columns of a statement below. A tuple, because a page has a thousand: as many dataclasses take 9 ms to make.
    """

    seq: int
    at: datetime
    kind: str
    operation: str
    api: int
    lead: int
    request_id: str
    by: str
    key_id: int | None
    key_name: str | None
    expires_at: datetime | None
    refers_to: int | None
    hash: bytes

    @property
    def where(self) -> str:
        """Where the leads of a charge were bought: API, one of its jobs by number, Explore, Download or Upload."""
        if self.kind != "charge" or self.by not in ("key", "person"):
            return ""
        # Jobs name themselves after the ID of their request. Older entries of downloads do not.
        job = self.request_id[ID_CHARS:].removeprefix("-")
        if self.by == "key":
            return job.replace("-", " ").capitalize() or "API"
        return job.capitalize() or ("Upload" if self.operation == "enrich" else "Explore")


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries: all that is given must hold."""

    limit: int
    since: datetime | None = None
    """Not earlier than this."""
    until: datetime | None = None
    """Earlier than this."""
    key_id: int | None = None
    request_id: str | None = None
    before: int | None = None
    """Only numbers below this one."""
    after: int | None = None
    """Only numbers above this one; then the entries nearest to it are meant, not the newest."""
    kinds: Sequence[str] | None = None
    """Of KINDS; None: entries of all kinds."""


# Times never decrease within an account and its numbers have no gaps, so a binary search finds the first entry at or
# after a time. It takes about twenty look-ups by primary key in a million entries, and charges need not maintain an
# index on times. All are in the partition of the time's month. If the account has no entry in it, it is the next one.
_FIRST_SINCE = """(
    WITH RECURSIVE of_month AS (
        SELECT min(m.seq) AS first, max(m.seq) AS last FROM {schema}.ledger m WHERE m.account_id = $1 AND {in_month}
    ), part(low, high) AS (
        SELECT o.first, o.last + 1 FROM of_month o WHERE o.first IS NOT NULL
        UNION ALL
        SELECT CASE WHEN half.earlier THEN half.seq + 1 ELSE half.low END,
            CASE WHEN half.earlier THEN half.high ELSE half.seq END
        FROM (
            SELECT low, high, (low + high) / 2 AS seq, (
                SELECT m.at < {time} FROM {schema}.ledger m
                WHERE m.account_id = $1 AND m.seq = (low + high) / 2 AND {in_month}
            ) AS earlier
            FROM part WHERE low < high OFFSET 0
        ) half
    )
    SELECT coalesce(
        (SELECT low FROM part WHERE low = high),
        (SELECT min(m.seq) FROM {schema}.ledger m WHERE m.account_id = $1 AND m.at >= {time}),
        (SELECT b.seq + 1 FROM {schema}.balances b WHERE b.account_id = $1)
    )
)""".replace(
    "{in_month}",
    "m.at >= date_trunc('month', {time}, 'UTC')"
    " AND m.at < (date_trunc('month', {time} AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'",
)

# No entry is newer than the balance says: so months to come are not read.
_NEWEST = "coalesce((SELECT b.at FROM {schema}.balances b WHERE b.account_id = $1), 'infinity')"
_REQUEST_ROWS = """(
    SELECT * FROM {schema}.ledger WHERE account_id = $1 AND request_id = {request}
        AND at BETWEEN coalesce({earliest}::timestamptz, '-infinity') AND {newest} OFFSET 0
) of_request""".replace("{newest}", _NEWEST)

# The number of a key is cast for rows of keys only: others name people.
_SHOWN = """
SELECT l.seq, l.at, l.kind::text, l.operation::text, l.api, l.lead, l.request_id, l.actor_kind::text AS by,
    k.id AS key_id, k.name AS key_name, l.expires_at, l.refers_to, l.hash {more}
FROM ({rows}) l LEFT JOIN {schema}.keys k
    ON k.account_id = $1 AND k.id = CASE WHEN l.actor_kind = 'key' THEN l.actor_id::bigint END
ORDER BY l.seq {order}
"""


async def entries(postgres: Postgres, account_id: int, wanted: EntryFilter) -> list[Entry]:
    """The newest entries that match, newest first; one more than the limit shows that there are more.

    With `after` it is the first that tells of more: the list goes on at that end.

    Numbers are given under the lock of the balance: below one that can be seen, none appears later.
    """
    values: list[object] = [account_id, wanted.limit + 1]

    def given(value: object) -> str:
        values.append(value)
        return f"${len(values)}"

    source, conditions = "{schema}.ledger", ["account_id = $1"]
    if wanted.request_id is not None:
        # Few rows, read first: left to choose, the planner walks a key's entries to look for the request among them.
        request, earliest = given(wanted.request_id), given(_earliest(wanted.request_id))
        source = _REQUEST_ROWS.replace("{request}", request).replace("{earliest}", earliest)
    if wanted.before is not None:
        conditions.append(f"seq < {given(wanted.before)}")
    if wanted.after is not None:
        conditions.append(f"seq > {given(wanted.after)}")
    if wanted.since is not None:
        conditions.append(f"seq >= {_FIRST_SINCE.replace('{time}', given(wanted.since) + '::timestamptz')}")
    if wanted.until is not None:
        conditions.append(f"seq < {_FIRST_SINCE.replace('{time}', given(wanted.until) + '::timestamptz')}")
    if wanted.key_id is not None:
        conditions.append(f"actor_kind = 'key' AND actor_id = {given(str(wanted.key_id))}")
    if wanted.kinds is not None:
        conditions.append(f"kind = ANY({given(list(wanted.kinds))}::text[]::{{schema}}.entry_kind[])")
        if "charge" not in wanted.kinds:
            conditions.append("kind <> 'charge'")  # in the words of the index ledger_but_charges
    order = "DESC" if wanted.after is None else "ASC"
    rows = f"SELECT * FROM {source} WHERE {' AND '.join(conditions)} ORDER BY seq {order} LIMIT $2"  # noqa: S608 - our own words
    statement = _SHOWN.replace("{more}", "").replace("{rows}", rows).replace("{order}", "DESC")
    return [Entry._make(row) for row in await postgres.fetch(statement, *values)]


# Entries of a request, and those that correct them.
_OF_REQUEST = """
WITH own AS MATERIALIZED (
    SELECT * FROM {schema}.ledger o
    WHERE o.account_id = $1 AND o.request_id = $2
        AND o.at BETWEEN coalesce($4::timestamptz, '-infinity') AND {newest}
    ORDER BY o.seq LIMIT $3
)
SELECT * FROM own
UNION SELECT r.* FROM own JOIN {schema}.ledger r
    ON r.account_id = $1 AND r.refers_to = own.seq AND r.at BETWEEN own.at AND {newest}
ORDER BY seq LIMIT $3
""".replace("{newest}", _NEWEST)


async def of_request(
    postgres: Postgres, account_id: int, request_id: str
) -> list[tuple[Entry, list[tuple[str, Mark]]]]:
    """The entries of a request and those that refer to them, oldest first, each with its domains."""
    statement = _SHOWN.replace("{more}", ", l.domains").replace("{rows}", _OF_REQUEST).replace("{order}", "ASC")
    rows = await postgres.fetch(statement, account_id, request_id, MAX_REQUEST_ENTRIES, _earliest(request_id))
    return [_with_domains(row) for row in rows]


def _earliest(request_id: str) -> datetime | None:
    """Before which no entry of a request can be, by the time in its ID; None for texts that operators chose."""
    time = request_time(request_id)
    return None if time is None else time - MAX_CLOCK_DIFFERENCE


def _with_domains(row: asyncpg.Record) -> tuple[Entry, list[tuple[str, Mark]]]:
    *shown, domains = row
    return Entry._make(shown), read_domains(domains)
