"""How many requests of each key and operation ended how, by day: counted in memory, written now and then.

A worker that is killed loses what it counted since its last write, some ten seconds; one that stops writes first.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from siteglass.platform.postgres import Postgres

WRITE_EVERY_S = 10.0
WRITE_TIMEOUT_MS = 5_000
# Counts, not requests: more than a worker has between two writes. While it cannot write, it adds no new counters beyond
# this number, and only increments existing ones.
MAX_REMEMBERED = 50_000

TOO_MANY_REQUESTS = 429
DAY_S = 86_400

# In the order of the primary key: workers that write at the same time wait for each other, in no circle.
_WRITE = """
INSERT INTO {schema}.request_days AS d (key_id, day, operation, outcome, requests)
SELECT n.key_id, date '1970-01-01' + n.day, n.operation, n.outcome, n.requests
FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::bigint[])
    AS n (key_id, day, operation, outcome, requests)
ORDER BY n.key_id, n.day, n.operation COLLATE "C", n.outcome COLLATE "C"
ON CONFLICT (key_id, day, operation, outcome) DO UPDATE SET requests = d.requests + excluded.requests
"""


def outcome(status: int) -> str:
    """How a request with this status ended."""
    if status < 400:
        return "ok"
    if status == TOO_MANY_REQUESTS:
        return "limited"
    return "refused" if status < 500 else "failed"


class RequestCounts:
    """Counts requests until they are written; at most MAX_REMEMBERED counts."""

    def __init__(self, postgres: Postgres, now_s: Callable[[], float] = time.time) -> None:
        self._postgres = postgres
        self._now_s = now_s
        # By key, day since 1970, operation and outcome.
        self._counted: dict[tuple[int, int, str, str], int] = {}

    def count(self, key_id: int, operation: str, status: int) -> None:
        """A request of this key was answered just now."""
        self._add((key_id, int(self._now_s()) // DAY_S, operation, outcome(status)), 1)

    def _add(self, what: tuple[int, int, str, str], requests: int) -> None:
        counted = self._counted
        so_far = counted.get(what)
        if so_far is not None:
            counted[what] = so_far + requests
        elif len(counted) < MAX_REMEMBERED:
            counted[what] = requests

    async def write(self) -> None:
        """Write all counts; what could not be written stays for the next time. Raises Unavailable.

        Nothing is counted twice: what fails while it is being committed may be written or not, and is given up.
        """
        if not self._counted:
            return
        written, self._counted = self._counted, {}
        columns = [list(column) for column in zip(*written, strict=True)]
        committing = False
        try:
            async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
                await connection.execute(self._postgres.sql(_WRITE), *columns, list(written.values()))
                committing = True
        except BaseException:  # also when the worker stops: it writes once more then
            if not committing:
                for what, requests in written.items():
                    self._add(what, requests)
            raise
