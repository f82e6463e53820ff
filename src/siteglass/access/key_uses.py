"""Records the use of a key: when it was last used, and its digest under the newest secret.

Requests only remember it, in memory; `write` puts it into the database now and then. What a worker that is killed has
not written is lost, and comes again with the next use.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from siteglass.platform.postgres import Postgres

WRITE_EVERY_S = 30.0
WRITE_TIMEOUT_MS = 5_000
# More keys than a worker can serve between two writes; beyond it, those that were used longest ago are forgotten.
MAX_REMEMBERED = 50_000

# Rows are locked in the order of their numbers: workers that write at the same time wait for each other, in no circle.
# Ages are counted back from the database's clock, so that a worker whose clock is wrong does no harm.
_WRITE_USES = """
WITH used AS (
    SELECT k.id, now() - make_interval(secs => u.age_s) AS at
    FROM {schema}.keys k JOIN unnest($1::bigint[], $2::double precision[]) AS u (id, age_s) ON u.id = k.id
    ORDER BY k.id FOR NO KEY UPDATE OF k
)
UPDATE {schema}.keys k SET last_used_at = greatest(k.last_used_at, used.at) FROM used WHERE k.id = used.id
"""
_WRITE_DIGESTS = """
WITH found AS (
    SELECT k.id, f.older, f.newest, f.version
    FROM {schema}.keys k
        JOIN unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::text[]) AS f (id, older, newest, version) ON f.id = k.id
    ORDER BY k.id FOR UPDATE OF k
)
UPDATE {schema}.keys k SET digest = found.newest, secret_version = found.version
FROM found WHERE k.id = found.id AND k.digest = found.older
"""


@dataclass(frozen=True, slots=True)
class NewDigest:
    """The digest of a key that was found by an older secret, and the digest that replaces it."""

    older: bytes
    newest: bytes
    version: str


class KeyUses:
    """Remembers uses, at most MAX_REMEMBERED, until they are written."""

    def __init__(self, postgres: Postgres, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._postgres = postgres
        self._monotonic = monotonic
        # Used longest ago first.
        self._used: dict[int, float] = {}
        self._rehashed: dict[int, NewDigest] = {}

    def used(self, key_id: int) -> None:
        """The key was used just now."""
        self._used.pop(key_id, None)  # a new entry goes to the end
        self._used[key_id] = self._monotonic()
        if len(self._used) > MAX_REMEMBERED:
            del self._used[next(iter(self._used))]

    def rehashed(self, key_id: int, digests: NewDigest) -> None:
        """The key was found by an older secret."""
        if len(self._rehashed) < MAX_REMEMBERED:
            self._rehashed[key_id] = digests

    async def write(self) -> None:
        """Write all that is remembered; what could not be written stays for the next time. Raises Unavailable."""
        if self._used:
            await self._write_uses()
        if self._rehashed:
            await self._write_digests()

    async def _write_uses(self) -> None:
        written, self._used = self._used, {}
        now = self._monotonic()
        ages = [now - at for at in written.values()]
        try:
            await self._postgres.fetch(_WRITE_USES, list(written), ages, timeout_ms=WRITE_TIMEOUT_MS)
        except BaseException:  # also when the worker stops: it writes once more then
            kept = [(key_id, at) for key_id, at in written.items() if key_id not in self._used]
            self._used = dict([*kept, *self._used.items()][-MAX_REMEMBERED:])
            raise

    async def _write_digests(self) -> None:
        written, self._rehashed = self._rehashed, {}
        columns = [(d.older, d.newest, d.version) for d in written.values()]
        older, newest, versions = zip(*columns, strict=True)
        try:
            await self._postgres.fetch(
                _WRITE_DIGESTS, list(written), older, newest, versions, timeout_ms=WRITE_TIMEOUT_MS
            )
        except BaseException:
            self._rehashed = {**written, **self._rehashed}
            raise
