"""The servers that a DSN lists, and the one among them that takes writes.

asyncpg connects to several hosts one after the other, with one deadline for all: a frozen one would use it up. It takes
the first primary that answers. After a failover, that can be the old one, which still believes in itself. So all are
asked at once, and the primary with the highest timeline is taken: each promotion adds one to it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import asyncpg

from siteglass.settings import SettingsError

WRITABLE = ("read-write", "primary")
# How long a primary that answered waits for one with a higher timeline.
GRACE_S = 0.1

# Its first eight digits are the timeline.
_WAL_FILE = "SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END"


class NoPrimary(ConnectionError):
    """Servers answered, but none that takes writes, or only one that was replaced by another."""


@dataclass(frozen=True, slots=True)
class Servers:
    """A DSN taken apart: one DSN for each host. Raises SettingsError if it asks for a server that takes no writes."""

    dsns: tuple[str, ...]
    role: str
    places: tuple[str, ...]
    """Hosts, ports and database, to compare two DSNs."""

    @classmethod
    def read(cls, dsn: str) -> Servers:
        parts = urlsplit(dsn)
        user, at, hosts = parts.netloc.rpartition("@")
        options = parse_qsl(parts.query, keep_blank_values=True)
        wanted = dict(options).get("target_session_attrs", WRITABLE[0])
        if wanted not in WRITABLE:
            raise SettingsError(f"target_session_attrs of a DSN must be {' or '.join(WRITABLE)}, found {wanted!r}.")
        query = urlencode([(name, value) for name, value in options if name != "target_session_attrs"])
        each = hosts.split(",")
        dsns = [urlunsplit((parts.scheme, user + at + host, parts.path, query, "")) for host in each]
        # One host stays as it is: asyncpg also knows forms without any, such as a socket.
        role = unquote(user.partition(":")[0])
        return cls(tuple(dsns) if len(dsns) > 1 else (dsn,), role, (*sorted(each), parts.path))


@dataclass(frozen=True, slots=True)
class _Answer:
    """A server that answered; `timeline` is None for a standby."""

    dsn: str
    connection: asyncpg.Connection[asyncpg.Record]
    timeline: int | None


class Connector:
    """Connects to the primary of some servers, and remembers which one it was and the highest timeline that it saw."""

    def __init__(self, dsn: str) -> None:
        self._servers = Servers.read(dsn)
        self._timeline = 0
        self._known: str | None = None

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one server."""
        return len(self._servers.dsns) > 1

    async def connect(self, *_: Any, **options: Any) -> asyncpg.Connection[asyncpg.Record]:
        """A connection to the primary; the options are those of asyncpg. Pools call it, too."""
        if not self.has_choice:
            return await asyncpg.connect(self._servers.dsns[0], **options)
        # As long as nothing fails, one server is asked: connections that are thrown away cost as much as others.
        dsns = self._servers.dsns if self._known is None else (self._known,)
        attempts = [asyncio.create_task(_ask(dsn, options)) for dsn in dsns]
        chosen = None
        try:
            chosen = await self._choose(attempts)
        except BaseException:
            self.forget()
            raise
        finally:
            for attempt in attempts:
                attempt.cancel()
            for result in await asyncio.gather(*attempts, return_exceptions=True):
                if isinstance(result, _Answer) and result.connection is not chosen:
                    result.connection.terminate()
        return chosen

    def forget(self) -> None:
        """Ask all servers next time: another one may be the primary."""
        self._known = None

    async def _choose(self, attempts: list[asyncio.Task[_Answer]]) -> asyncpg.Connection[asyncpg.Record]:
        waiting, primary = set(attempts), None
        while waiting:
            done, waiting = await asyncio.wait(
                waiting, timeout=None if primary is None else GRACE_S, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            for answer in [attempt.result() for attempt in done if attempt.exception() is None]:
                if answer.timeline is not None and answer.timeline >= self._timeline:
                    self._timeline, self._known, primary = answer.timeline, answer.dsn, answer.connection
        if primary is not None:
            return primary
        errors = [error for attempt in attempts if (error := attempt.exception())]
        # A wrong password or database before a server that does not respond: the settings can fix the former.
        errors.sort(key=lambda error: isinstance(error, OSError | asyncpg.CannotConnectNowError))
        if len(errors) == len(attempts) or (errors and not isinstance(errors[0], OSError)):
            raise errors[0]
        raise NoPrimary


async def _ask(dsn: str, options: dict[str, Any]) -> _Answer:
    connection = await asyncpg.connect(dsn, **options)
    try:
        wal_file: str | None = await connection.fetchval(_WAL_FILE)
    except BaseException:
        connection.terminate()
        raise
    return _Answer(dsn, connection, None if wal_file is None else int(wal_file[:8], 16))
