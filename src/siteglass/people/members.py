"""The people of an account as its pages show them: some at a time, and one by their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from siteglass.platform.postgres import Postgres

MAX_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Member:
    """A person of an account."""

    person_id: int
    email: str
    name: str
    role: str
    since: datetime
    has_second_factor: bool
    seen_at: datetime | None
    daily_lead_cap: int | None
    """Lead credits that the person may spend per day in the browser; None: no cap."""


_COLUMNS = """
    p.id AS person_id, p.email, p.name, m.role::text AS role, m.since, p.totp IS NOT NULL AS has_second_factor,
    (SELECT max(s.seen_at) FROM {schema}.sessions s WHERE s.person_id = p.id AND s.account_id = m.account_id)
        AS seen_at,
    (SELECT k.daily_lead_cap FROM {schema}.keys k WHERE k.account_id = m.account_id AND k.person_id = p.id)
        AS daily_lead_cap
"""
# The people on the page are chosen first, so that only their last visits are looked up.
_PAGE = f"""
SELECT {_COLUMNS}, m.total
FROM (
    SELECT m.account_id, m.person_id, m.role, m.since, count(*) OVER () AS total
    FROM {{schema}}.members m JOIN {{schema}}.people p ON p.id = m.person_id
    WHERE m.account_id = $1 ORDER BY m.role DESC, lower(p.name), p.id OFFSET $2 LIMIT $3
) m JOIN {{schema}}.people p ON p.id = m.person_id
ORDER BY m.role DESC, lower(p.name), p.id
"""  # noqa: S608 - our own words
_FIND = f"""
SELECT {_COLUMNS}
FROM {{schema}}.members m JOIN {{schema}}.people p ON p.id = m.person_id WHERE m.account_id = $1 AND m.person_id = $2
"""  # noqa: S608 - our own words


@dataclass(frozen=True, slots=True)
class MemberPage:
    """Some people of an account, owners first, then by name; and how many there are in all."""

    members: Sequence[Member]
    number: int
    size: int
    total: int

    @property
    def has_next(self) -> bool:
        """Whether others follow."""
        return self.number * self.size < self.total and self.number < MAX_PAGE


async def members_page(postgres: Postgres, account_id: int, number: int, *, size: int) -> MemberPage | None:
    """A page, counted from 1; None: there are not so many."""
    if not 1 <= number <= MAX_PAGE:
        return None
    rows = await postgres.fetch(_PAGE, account_id, (number - 1) * size, size)
    if not rows:
        return None
    members = [Member(**{name: value for name, value in row.items() if name != "total"}) for row in rows]
    return MemberPage(members, number, size, rows[0]["total"])


async def find_member(postgres: Postgres, account_id: int, person_id: int) -> Member | None:
    """A person of an account; None: it has no such person."""
    row = await postgres.fetchrow(_FIND, account_id, person_id)
    return None if row is None else Member(**row)
