"""What a worker holds of the list, by the domain of leads: one look-up per lead of an answer.

The index is rewritten when a value is suppressed; this covers the time until that is done, and a writer that missed it.
So only entries newer than the oldest finished generation are kept in memory: a generation is built without listed
values.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from siteglass.errors import Unavailable
from siteglass.platform.metrics import SUPPRESSION_READ
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, variable
from siteglass.suppression.entries import WHOLE, require_secret
from siteglass.suppression.journal import Journal
from siteglass.suppression.redaction import changes, names, without_personal
from siteglass.suppression.values import Hasher

REFRESH_EVERY_S = 20
# An answer given by an older copy could break the promise of 60 s.
MOST_AGE_S = 45
READ_TIMEOUT_MS = 60_000
# Other requests continue between two parts: each takes a few milliseconds.
ROWS_AT_ONCE = 1_000
HASH_BYTES = 32

# The European Economic Area: the European Union, Iceland, Liechtenstein and Norway.
EEA = frozenset(
    (
        *("AUT", "BEL", "BGR", "CYP", "CZE", "DEU", "DNK", "ESP", "EST", "FIN", "FRA", "GRC", "HRV", "HUN", "IRL"),
        *("ISL", "ITA", "LIE", "LTU", "LUX", "LVA", "MLT", "NLD", "NOR", "POL", "PRT", "ROU", "SVK", "SVN", "SWE"),
    )
)

Record = dict[str, Any]
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

_ENDED = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
_ALL = "SELECT domain, value FROM {schema}.suppressed_leads WHERE at >= $1"
_NEW = _ALL + " AND written_by >= $2::text::xid8"


def hidden_countries(settings: Settings) -> frozenset[str]:
    """Countries of sites whose personal addresses are not shown; raises SettingsError."""
    countries: set[str] = set()
    for code in settings.personal_addresses_hidden:
        if code == "EEA":
            countries |= EEA
        elif len(code) == 3 and code.isalpha() and code.isupper():
            countries.add(code)
        else:
            raise SettingsError(
                f"{variable('personal_addresses_hidden')}: expected alpha-3 codes such as DEU, or EEA, found {code!r}."
            )
    return frozenset(countries)


class SuppressionFilter:
    """One per worker. `refresh` it when the worker starts and every REFRESH_EVERY_S."""

    def __init__(
        self,
        postgres: Postgres,
        hasher: Hasher,
        countries: frozenset[str],
        since: Callable[[], Awaitable[datetime | None]],
        journal: Journal | None = None,
    ) -> None:
        self._postgres = postgres
        self._hasher = hasher
        self._countries = countries
        self._since = since
        self._journal = journal
        self._by_domain: dict[str, bytes] = {}
        self._from = _LONG_AGO
        self._ended: str | None = None
        self._refreshed_at = float("-inf")
        self._refreshing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._by_domain)

    async def refresh(self) -> None:
        """Read what is new; all of it if the oldest generation is another one, to let go of what it does not need."""
        async with self._refreshing:
            await self._refresh()

    async def require_fresh(self) -> None:
        """Read the list now if it was not read for too long; raises Unavailable if that cannot be done in time."""
        if self._is_old():
            async with self._refreshing:
                if self._is_old():  # and nobody read it while we waited
                    await self._refresh()
            if self._is_old():
                raise Unavailable("the list of opt-outs could not be read in time")

    def _is_old(self) -> bool:
        return time.monotonic() - self._refreshed_at > MOST_AGE_S

    async def _refresh(self) -> None:
        started = time.monotonic()
        if self._ended is None:
            await self._require_secret()
            await self._require_journaled()
        since = await self._oldest()
        if since == self._from and self._ended is not None:
            # In place: it only ever hides more.
            self._ended = await self._read(self._by_domain, _NEW, since, self._ended)
        else:
            held: dict[str, bytes] = {}
            self._ended = await self._read(held, _ALL, since)
            self._by_domain, self._from = held, since
        self._refreshed_at = started
        SUPPRESSION_READ.set(time.time() - (time.monotonic() - started))

    async def _require_secret(self) -> None:
        """With another secret a worker would recognise nobody: it answers nothing."""
        try:
            await require_secret(self._postgres, self._hasher)
        except SettingsError as error:
            raise Unavailable(str(error)) from None

    async def _require_journaled(self) -> None:
        """After a restore the list lacks the newest opt-outs: nothing is answered until they are replayed."""
        if self._journal is not None:
            await self._journal.require_replayed(self._postgres)

    async def _oldest(self) -> datetime:
        try:
            return await self._since() or _LONG_AGO
        except Exception:
            # Any error of an unavailable or broken engine: without it there are no responses, and catching too much
            # does no harm.
            return self._from

    async def _read(self, held: dict[str, bytes], statement: str, *bounds: object) -> str:
        """Add the rows of a statement; returns before which transaction all had ended when it was asked."""
        async with self._postgres.connection(READ_TIMEOUT_MS) as connection, connection.transaction(readonly=True):
            ended = str(await connection.fetchval(_ENDED))
            rows = await connection.cursor(self._postgres.sql(statement), *bounds)
            while part := await rows.fetch(ROWS_AT_ONCE):
                for domain, value in part:
                    before = held.get(domain)
                    if before is None or value == WHOLE:
                        held[domain] = value
                    elif before != WHOLE and value not in _hashes(before):
                        held[domain] = before + value
        return ended

    def hides(self, domain: str) -> bool:
        """Whether nothing that this name leads to may be shown."""
        return any(self._by_domain.get(name) == WHOLE for name in names(domain))

    def may_change(self, domain: str, country: str) -> bool:
        """Whether `shown` may leave something out of a record; of most it does not."""
        return domain in self._by_domain or country in self._countries

    def shown(self, record: Record) -> Record | None:
        """The record without what must not be shown; None: not at all. Most come back as they are."""
        held = self._by_domain.get(record["domain"])
        if held is None and record["country"] not in self._countries:
            return record
        if held == WHOLE:
            return None
        if held is not None:
            record = {**record, **changes(record.get, _hashes(held), self._hasher)}
        if record["country"] in self._countries:
            record = {**record, **without_personal(record.get)}
        return record


def _hashes(held: bytes) -> frozenset[bytes]:
    return frozenset(held[start : start + HASH_BYTES] for start in range(0, len(held), HASH_BYTES))
