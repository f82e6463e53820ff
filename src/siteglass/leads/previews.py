"""Previews: which leads an account may see in the browser before it pays for them.

An account sees a limited number of different leads per day, so that nobody can list the base through previews. A lead
that it has seen today is not counted again: people refine a search, go back and reload.
"""

from __future__ import annotations

from collections.abc import Sequence

from siteglass.platform.postgres import Postgres

_FORGET = """
DELETE FROM {schema}.previewed WHERE account_id = $1 AND day < (clock_timestamp() AT TIME ZONE 'UTC')::date
"""
_ADMIT = """
WITH today AS (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day),
seen AS (SELECT p.domain FROM {schema}.previewed p, today WHERE p.account_id = $1 AND p.day = today.day),
added AS (
    INSERT INTO {schema}.previewed (account_id, day, domain)
    SELECT $1, today.day, fresh.domain FROM today, (
        SELECT n.domain FROM unnest($2::text[]) WITH ORDINALITY AS n(domain, place)
        WHERE n.domain NOT IN (SELECT domain FROM seen)
        ORDER BY n.place LIMIT greatest(0, $3 - (SELECT count(*) FROM seen))
    ) fresh
    RETURNING domain
)
SELECT domain FROM added UNION ALL SELECT domain FROM seen WHERE domain = ANY($2::text[])
"""


async def admit(postgres: Postgres, account_id: int, domains: Sequence[str], per_day: int) -> frozenset[str]:
    """The leads among these that may be shown now. They are counted, and that is committed, when this returns."""
    async with postgres.transaction() as connection:
        # Two requests could both count the same free places.
        await postgres.wait_for_turn(connection, "previews of an account", account_id)
        await connection.execute(postgres.sql(_FORGET), account_id)
        rows = await connection.fetch(postgres.sql(_ADMIT), account_id, list(dict.fromkeys(domains)), per_day)
    return frozenset(row["domain"] for row in rows)
