"""What an account did, day by day, as charts show it: requests by how they ended, and credits by operation and key.

Each read is one statement of one snapshot with a deadline, and its answer has every day of a range of bounded length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from siteglass.platform.postgres import Postgres

MAX_DAYS = 366
TOP_KEYS = 5
OTHER_KEYS = "other keys"


class RequestDay(NamedTuple):
    """Requests of one day (UTC), by how they ended."""

    day: date
    ok: int
    refused: int
    limited: int
    failed: int


# By day alone: to sort by outcome as well, which is text, takes longer than all the rest.
_REQUESTS = """
SELECT r.day, {columns}
FROM {schema}.keys k JOIN {schema}.request_days r ON r.key_id = k.id
WHERE k.account_id = $1 AND r.day BETWEEN $2 AND $3
GROUP BY r.day
""".replace(
    "{columns}",
    ", ".join(
        f"coalesce(sum(r.requests) FILTER (WHERE r.outcome = '{outcome}'), 0)::bigint AS {outcome}"
        for outcome in RequestDay._fields[1:]
    ),
)


async def opened_on(postgres: Postgres, account_id: int) -> date:
    """The day (UTC) on which an account was opened: nothing happened before it."""
    row = await postgres.fetchrow(
        "SELECT (created_at AT TIME ZONE 'UTC')::date AS day FROM {schema}.accounts WHERE id = $1", account_id
    )
    if row is None:
        raise LookupError(f"there is no account {account_id}")
    day: date = row["day"]
    return day


def days_between(first: date, last: date) -> list[date]:
    """All days, both included."""
    count = (last - first).days + 1
    if not 1 <= count <= MAX_DAYS:
        raise ValueError(f"expected 1 to {MAX_DAYS} days, found {count}")
    return [first + timedelta(days=number) for number in range(count)]


async def requests_by_day(postgres: Postgres, account_id: int, first: date, last: date) -> list[RequestDay]:
    """Requests of all keys and operations, charged or not; one row for every day."""
    days = days_between(first, last)
    rows = await postgres.fetch(_REQUESTS, account_id, first, last)
    found = {row["day"]: RequestDay._make(row) for row in rows}
    return [found.get(day) or RequestDay(day, 0, 0, 0, 0) for day in days]


class CreditsPart(NamedTuple):
    """What one key, or all but the TOP_KEYS together (`key_id` is None), used for one operation, by day."""

    operation: str
    key_id: int | None
    key_name: str | None
    places: Sequence[int]
    """Days as their distance from the first; the lists that follow go with them."""
    requests: Sequence[int]
    api: Sequence[int]
    lead: Sequence[int]


# The database adds the rows up and packs them. Reading them one by one, as `receipts.usage` does, takes three times as
# long for 20 keys. For an account with many keys it would be too much.
_CREDITS = """
WITH used AS MATERIALIZED (
    SELECT u.key_id, u.operation, u.day - $2::date AS place, u.requests, u.api, u.lead
    FROM {schema}.keys k JOIN {schema}.usage_days u ON u.key_id = k.id
    WHERE k.account_id = $1 AND u.day BETWEEN $2 AND $3
), top AS (
    SELECT key_id, sum(api + lead) AS credits FROM used GROUP BY key_id ORDER BY credits DESC, key_id LIMIT $4
), added AS (
    SELECT u.operation, top.key_id, u.place, sum(u.requests)::bigint AS requests, sum(u.api)::bigint AS api,
        sum(u.lead)::bigint AS lead
    FROM used u LEFT JOIN top ON top.key_id = u.key_id GROUP BY u.operation, top.key_id, u.place
)
SELECT a.operation::text, a.key_id, k.name AS key_name, array_agg(a.place) AS places,
    array_agg(a.requests) AS requests, array_agg(a.api) AS api, array_agg(a.lead) AS lead
FROM added a LEFT JOIN {schema}.keys k ON k.id = a.key_id
GROUP BY a.operation, a.key_id, k.name
"""


async def credits_by_day(postgres: Postgres, account_id: int, first: date, last: date) -> CreditsByDay:
    """What was charged from the first day to the last, of the TOP_KEYS keys with most credits one by one."""
    days = days_between(first, last)
    rows = await postgres.fetch(_CREDITS, account_id, first, last, TOP_KEYS)
    return CreditsByDay(days, [CreditsPart._make(row) for row in rows])


@dataclass(frozen=True, slots=True)
class Series:
    """Charged requests and credits of one operation, one key, or all: a number for every day of the range."""

    label: str
    requests: Sequence[int]
    api: Sequence[int]
    lead: Sequence[int]
    key_id: int | None = None

    @property
    def credits(self) -> int:
        """Credits of both kinds over all days."""
        return sum(self.api) + sum(self.lead)


@dataclass(frozen=True, slots=True)
class CreditsByDay:
    """A range of days and what was charged in it; turned into series for charts."""

    days: Sequence[date]
    parts: Sequence[CreditsPart]

    def total(self) -> Series:
        """Everything together."""
        return self._added("all", self.parts)

    def by_operation(self) -> list[Series]:
        """One for each operation that was charged, in the order of their names."""
        names = sorted({part.operation for part in self.parts})
        return [self._added(name, [part for part in self.parts if part.operation == name]) for name in names]

    def by_key(self) -> list[Series]:
        """The keys that used most credits, that with most first, and then all others if there are any.

        Keys are told apart by their numbers: two may have the same name, and one may be called like the others.
        """
        names = {part.key_id: part.key_name for part in self.parts}
        found = [
            self._added(name or OTHER_KEYS, [part for part in self.parts if part.key_id == key_id], key_id)
            for key_id, name in names.items()
        ]
        return sorted(found, key=lambda series: (series.key_id is None, -series.credits, series.key_id))

    def _added(self, label: str, parts: Sequence[CreditsPart], key_id: int | None = None) -> Series:
        requests, api, lead = ([0] * len(self.days) for _ in range(3))
        for part in parts:
            for place, *used in zip(part.places, part.requests, part.api, part.lead, strict=True):
                requests[place] += used[0]
                api[place] += used[1]
                lead[place] += used[2]
        return Series(label, requests, api, lead, key_id)
