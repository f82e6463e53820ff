"""Previews: which leads an account may see before it pays for them.

An account sees a limited number of leads per day, so that nobody can list the base free of charge. A lead that it saw
is not counted again for 30 days: people refine a search, go back and reload. Rows of the browser count, and so do facet
values that describe few leads. Callers leave out what costs nothing and what the account has received.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from siteglass.access.accounts import ANY_NUMBER
from siteglass.platform.postgres import Postgres

DAYS_KNOWN = 30

_TODAY = "(clock_timestamp() AT TIME ZONE 'UTC')::date"
_KNOWN = f"""
SELECT p.preview_leads_per_day AS per_day, ARRAY(
    SELECT DISTINCT d.domain FROM {{schema}}.previewed d
    WHERE d.account_id = $1 AND d.domain = ANY($2::text[]) AND d.day > {_TODAY} - {DAYS_KNOWN}
) AS known
FROM {{schema}}.accounts a JOIN {{schema}}.plans p ON p.name = a.plan WHERE a.id = $1
"""  # noqa: S608 - constants of ours
_FORGET = f"""
DELETE FROM {{schema}}.previewed WHERE account_id = $1 AND day <= {_TODAY} - {DAYS_KNOWN}
"""  # noqa: S608 - constants of ours
# Another request may have counted some of them while this one waited, so what is known is read again.
_ADMIT = f"""
WITH today AS (SELECT {_TODAY} AS day),
fresh AS (
    SELECT n.domain, n.place FROM today, unnest($2::text[]) WITH ORDINALITY AS n(domain, place)
    WHERE NOT EXISTS (
        SELECT FROM {{schema}}.previewed d
        WHERE d.account_id = $1 AND d.domain = n.domain AND d.day > today.day - {DAYS_KNOWN}
    )
),
free AS (
    SELECT greatest(0, $3 - (
        SELECT count(*) FROM {{schema}}.previewed d, today WHERE d.account_id = $1 AND d.day = today.day
    )) AS places
),
added AS (
    INSERT INTO {{schema}}.previewed (account_id, day, domain)
    SELECT $1, today.day, fresh.domain FROM today, fresh ORDER BY fresh.place
    LIMIT (SELECT CASE WHEN $4 AND free.places < (SELECT count(*) FROM fresh) THEN 0 ELSE free.places END FROM free)
    RETURNING domain
)
SELECT n.domain FROM unnest($2::text[]) AS n(domain)
WHERE n.domain NOT IN (SELECT domain FROM fresh) OR n.domain IN (SELECT domain FROM added)
"""  # noqa: S608 - constants of ours


@dataclass(frozen=True, slots=True)
class Admitted:
    """Leads that may be shown, and how many new ones the account sees per day."""

    domains: frozenset[str]
    per_day: int


async def admit(postgres: Postgres, account_id: int, domains: Sequence[str], *, all_or_none: bool = False) -> Admitted:
    """The leads among these that may be shown now; those that come first are counted first.

    They are counted, and that is committed, when this returns. `all_or_none`: either all of them, or none that is new.
    """
    wanted = list(dict.fromkeys(domains))
    if not wanted:
        return Admitted(frozenset(), 0)
    row = await postgres.fetchrow(_KNOWN, account_id, wanted)
    if row is None:
        return Admitted(frozenset(), 0)
    per_day: int = row["per_day"]
    if per_day == ANY_NUMBER or len(row["known"]) == len(wanted):
        return Admitted(frozenset(wanted), per_day)
    async with postgres.transaction() as connection:
        # Two requests could both count the same free places.
        await postgres.wait_for_turn(connection, "previews of an account", account_id)
        await connection.execute(postgres.sql(_FORGET), account_id)
        rows = await connection.fetch(postgres.sql(_ADMIT), account_id, wanted, per_day, all_or_none)
    return Admitted(frozenset(row["domain"] for row in rows), per_day)
