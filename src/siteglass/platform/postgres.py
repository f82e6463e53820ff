"""PostgreSQL: a small pool with one deadline per call. SQL is in the packages that use it, not here.

No session state, no LISTEN/NOTIFY: it runs behind pgbouncer in transaction mode.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

import asyncpg

from siteglass.errors import Unavailable
from siteglass.platform import metrics
from siteglass.platform.postgres_servers import Connector
from siteglass.settings import SettingsError, variable

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection: TypeAlias = PoolConnectionProxy[asyncpg.Record]
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]

# Of a statement, where the operator or a test opens the pool; the service passes its setting.
DEFAULT_TIMEOUT_MS = 5_000
RELEASE_TIMEOUT_S = 1.0
CLOSE_TIMEOUT_S = 2.0
MAX_POOL = 1_000
# One works while the other is on its way; more only queue at the server.
AT_ONCE_PER_ROW = 2

# Where PostgreSQL waits until a standby has a commit. If the wait is canceled, the commit succeeds all the same. Only a
# warning from this function shows it, whose text depends on the language of the server.
STANDBY_WAIT = "SyncRepWaitForLSN"
# A commit that writes to the log of changes and to no table. It waits for a standby as every other commit does, and
# with it for all commits before.
_EMPTY_COMMIT = "SELECT pg_logical_emit_message(true, 'siteglass', '')"

SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

# The server is not there, is going, is full, or is a copy that takes no writes.
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.OperatorInterventionError,
    asyncpg.exceptions.InsufficientResourcesError,
    asyncpg.exceptions.LockNotAvailableError,
    asyncpg.exceptions.DeadlockDetectedError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
_NOT_MIGRATED = (
    asyncpg.exceptions.InvalidSchemaNameError,
    asyncpg.exceptions.UndefinedTableError,
    asyncpg.exceptions.UndefinedColumnError,
    asyncpg.exceptions.UndefinedFunctionError,
)


# After these, another server may be the primary.
_MOVED = (
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.OperatorInterventionError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)


class Unreached(Unavailable):
    """No connection was available: nothing was sent."""


class Unconfirmed(Unavailable):
    """The commit is on this server only: a standby would not know of it."""


def checked_schema(name: str) -> str:
    """The name, which goes into statements as it is; raises SettingsError if it cannot."""
    if not SCHEMA_NAME.fullmatch(name):
        raise SettingsError(
            f"{variable('postgres_schema')}: {name!r} is not a valid schema name: use at most 63 lower-case letters, "
            "digits and _."
        )
    return name


class _Connection(asyncpg.Connection):
    def get_reset_query(self) -> str:
        # asyncpg would send RESET ALL and more at every release: a second round trip for state that we never make.
        return ""


class _Confirmation:
    """Whether all that a connection committed was confirmed."""

    __slots__ = ("is_missing",)

    def __init__(self) -> None:
        self.is_missing = False

    def note(self, _connection: object, message: asyncpg.PostgresLogMessage) -> None:
        """A warning of the server. It arrives before the result of the statement."""
        if message.server_source_function == STANDBY_WAIT:
            self.is_missing = True


class Postgres:
    """A pool to one database; connections are made when first used. `{schema}` in a statement is our schema."""

    def __init__(
        self,
        dsn: str,
        schema: str,
        *,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_connections: int = 8,
        statement_cache: int = 100,
    ) -> None:
        if not 1 <= max_connections <= MAX_POOL:
            raise SettingsError(
                f"{variable('postgres_pool')}: expected 1 to {MAX_POOL} connections, found {max_connections}."
            )
        self.schema = checked_schema(schema)
        self._connector = Connector(dsn)
        self._timeout_ms = timeout_ms
        self._max_connections = max_connections
        self._statement_cache = statement_cache
        self._pool: Pool | None = None
        self._epoch = 0
        self._opening = asyncio.Lock()
        self._turns: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()
        self._users = 0

    def sql(self, statement: str) -> str:
        """The statement with our schema's name in it."""
        return statement.replace("{schema}", self.schema)

    async def _opened(self) -> Pool:
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    connect=self._connector.connect,
                    min_size=0,
                    max_size=self._max_connections,
                    statement_cache_size=self._statement_cache,
                    connection_class=_Connection,
                    server_settings={"application_name": "siteglass"},
                )
            return self._pool

    def _turn(self, row: int | None) -> AbstractAsyncContextManager[None]:
        if row is None:
            return nullcontext()
        turn = self._turns.get(row)
        if turn is None:
            turn = self._turns[row] = asyncio.Semaphore(AT_ONCE_PER_ROW)
        return turn

    @asynccontextmanager
    async def connection(self, timeout_ms: int | None = None, turn: int | None = None) -> AsyncIterator[Connection]:
        """A connection for a block that must end by the deadline, by default that of the pool.

        Raises Unreached or Unavailable if the server is away, and Unconfirmed if no standby has what was committed.

        Of blocks with the same `turn` only two run at a time: those that lock the same row must not take the whole pool
        from the others.
        """
        kind: type[Unavailable] = Unreached
        epoch = self._epoch
        started, outcome = time.perf_counter(), "ok"
        self._users += 1
        try:
            async with asyncio.timeout((timeout_ms or self._timeout_ms) / 1000), self._turn(turn):
                pool = self._pool or await self._opened()
                connection = await pool.acquire()
                kind, epoch = Unavailable, self._epoch
                confirmation = _Confirmation()
                connection.add_log_listener(confirmation.note)
                try:
                    yield connection
                except asyncio.CancelledError:
                    # Given back as it is, it would first wait for the server to confirm: a frozen one never does.
                    connection.terminate()
                    raise
                finally:
                    with suppress(asyncpg.InterfaceError):  # the connection is gone, and its listeners with it
                        connection.remove_log_listener(confirmation.note)
                    await pool.release(connection, timeout=RELEASE_TIMEOUT_S)
                if confirmation.is_missing:
                    outcome = "unconfirmed"
                    await self._look_for_primary(epoch)
                    raise Unconfirmed("postgresql: no standby confirmed the commit")
        except _NOT_MIGRATED as error:
            outcome = "unavailable"
            raise Unavailable(
                f"tables or functions are missing or too old ({error}): run `siteglass migrate`"
            ) from error
        except _AWAY as error:
            outcome = kind.__name__.lower()
            if isinstance(error, _MOVED) and kind is Unavailable:
                await self._look_for_primary(epoch)
            raise kind(f"postgresql: {type(error).__name__}") from error
        except asyncpg.InterfaceError as error:
            if isinstance(error, ValueError):  # a wrong argument or setting: our fault, not the server's
                raise
            outcome = kind.__name__.lower()
            raise kind(f"postgresql: {type(error).__name__}") from error
        finally:
            self._users -= 1
            metrics.postgres_seconds(outcome).observe(time.perf_counter() - started)

    def usage(self) -> tuple[int, int]:
        """Connections in use, and calls that wait for one."""
        in_use = 0 if self._pool is None else self._pool.get_size() - self._pool.get_idle_size()
        return in_use, max(0, self._users - in_use)

    def report(self) -> None:
        """Set the metrics of the pool."""
        in_use, waiting = self.usage()
        metrics.POOL_MAX.set(self._max_connections)
        metrics.POOL_IN_USE.set(in_use)
        metrics.POOL_WAITING.set(waiting)

    @property
    def has_standbys(self) -> bool:
        """Whether another server may become the primary."""
        return self._connector.has_choice

    async def _look_for_primary(self, epoch: int) -> None:
        """Replace all connections when they are next used, if there are other servers.

        Once for all connections of an epoch: those that fail later must not throw away the new ones.
        """
        if self._pool is not None and self._connector.has_choice and epoch == self._epoch:
            self._epoch += 1
            self._connector.forget()
            await self._pool.expire_connections()

    async def confirm_commits(self, timeout_ms: int) -> None:
        """Return once a standby has all that was committed so far; raises Unavailable if none has it by then.

        Without synchronous standbys it only shows that the server takes writes.
        """
        async with self.connection(2 * timeout_ms) as connection:
            # This deadline cancels the wait on the server. Otherwise each attempt would leave a process that waits.
            await connection.execute(_EMPTY_COMMIT, timeout=timeout_ms / 1000)

    @asynccontextmanager
    async def transaction(self, timeout_ms: int | None = None) -> AsyncIterator[Connection]:
        """A connection for a block whose statements are written together or not at all, by the deadline.

        Past it nothing is rolled back, which a frozen server would never confirm: the connection is closed, and its
        transaction with it.
        """
        async with self.connection(timeout_ms) as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                yield connection
            except Exception:
                await transaction.rollback()
                raise
            await transaction.commit()

    async def wait_for_turn(self, connection: Connection, purpose: str, account_id: int) -> None:
        """Wait until no other transaction of this account has the turn for a purpose; have it until this one ends.

        The role of the service may lock no account. Named with the schema, as such locks are those of the whole
        database.
        """
        statement = "SELECT pg_advisory_xact_lock(hashtextextended('{schema} ' || $1::text, $2))"
        await connection.execute(self.sql(statement), purpose, account_id)

    async def fetch(self, statement: str, *arguments: Any, timeout_ms: int | None = None) -> list[asyncpg.Record]:
        """All rows of one statement, which is a separate transaction."""
        async with self.connection(timeout_ms) as connection:
            return await connection.fetch(self.sql(statement), *arguments)

    async def fetchrow(
        self, statement: str, *arguments: Any, timeout_ms: int | None = None, turn: int | None = None
    ) -> asyncpg.Record | None:
        """The first row of one statement, which is a separate transaction."""
        async with self.connection(timeout_ms, turn) as connection:
            return await connection.fetchrow(self.sql(statement), *arguments)

    async def call(
        self, function: str, *, timeout_ms: int | None = None, turn: int | None = None, **arguments: Any
    ) -> asyncpg.Record:
        """The row that one of our functions in the database returns; its arguments go by their names."""
        named = ", ".join([f"{name} => ${place}" for place, name in enumerate(arguments, 1)])
        statement = f"SELECT * FROM {{schema}}.{function}({named})"  # noqa: S608 - names of ours
        row = await self.fetchrow(statement, *arguments.values(), timeout_ms=timeout_ms, turn=turn)
        assert row is not None  # noqa: S101 - each of them returns exactly one row
        return row

    async def close(self) -> None:
        """Give the connections back."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            try:
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await pool.close()
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pool.terminate()
