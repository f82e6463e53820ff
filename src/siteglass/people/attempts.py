"""How often somebody may try: an exact count over a sliding window, in PostgreSQL, so that no restart forgives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from siteglass.people.problems import TooManyAttempts
from siteglass.platform.postgres import Postgres

WINDOW = timedelta(minutes=15)
MOST = 10
# Several people may share an address.
MOST_OF_ADDRESS = 100

# One statement, so that of many at once no more than allowed get through: they wait for the row.
# A slice keeps the oldest: a new time that would be one too many falls off, and is not the last.
_TAKE = """
INSERT INTO {schema}.tries AS t (bucket, times, last_at) VALUES ($1, ARRAY[now()], now())
ON CONFLICT (bucket) DO UPDATE SET last_at = now(), times = (
    ARRAY(SELECT at FROM unnest(t.times) at WHERE at > now() - $3::interval ORDER BY at) || now()
)[1:$2::integer]
RETURNING now() AS at, times[cardinality(times)] = now() AS allowed,
    extract(epoch FROM times[1] + $3::interval - now()) AS wait_s
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try that was counted."""

    bucket: bytes
    at: datetime


async def take(postgres: Postgres, bucket: bytes, *, most: int = MOST, window: timedelta = WINDOW) -> Attempt:
    """Count a try; raises TooManyAttempts if there have been as many within the window."""
    row = await postgres.fetchrow(_TAKE, bucket, most, window)
    assert row is not None  # noqa: S101 - RETURNING gives a row
    if not row["allowed"]:
        raise TooManyAttempts(max(1, math.ceil(row["wait_s"])))
    return Attempt(bucket, row["at"])


async def give_back(postgres: Postgres, taken: Attempt) -> None:
    """A try that succeeded counts no more; those that failed do."""
    await postgres.fetch(
        "UPDATE {schema}.tries SET times = array_remove(times, $2) WHERE bucket = $1",
        taken.bucket,
        taken.at,
    )


async def forgive(postgres: Postgres, bucket: bytes) -> None:
    """Resets the count for a person who has proven to own the mailbox."""
    await postgres.fetch("DELETE FROM {schema}.tries WHERE bucket = $1", bucket)
