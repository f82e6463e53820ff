"""Sends the charges of an account to the database in batches: one is under way, the next collects what comes meanwhile.

A batch is one call of `charge_batch`, which decides each charge in the order of arrival. Each charge has its own
deadline, and its caller may leave: neither stops or delays the others of its batch.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg

from siteglass.billing.answers import AnswerToStore
from siteglass.billing.in_doubt import InDoubt
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres, Unreached

# The bounds of a batch. All of its charges wait for one commit, and its account is locked for as long.
MAX_BATCH = 64
MAX_BATCH_BYTES = 1024 * 1024
# Charges of an account that may wait in a worker.
MAX_WAITING = 2_000
# Part of a charge's deadline that is reserved for the commit and the response. If the database starts the last charge
# of a batch before the deadlines of those before it, their results arrive here in time.
COMMIT_MS = 500
# Ledger rows that a charge adds to the list `paid`; the search before it has added the others.
LIST_LEDGER_ROWS = 100

_TIMED_OUT = f"postgresql: {TimeoutError.__name__}"
_CHARGE_BATCH = """
SELECT * FROM {schema}.charge_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
"""
_CHARGE_PEOPLE = """
SELECT * FROM {schema}.charge_people(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18
)
"""


def server_deadline(timeout_ms: int) -> datetime:
    """Until when the server may begin a charge whose caller waits so long."""
    return datetime.fromtimestamp(time.time() + max(timeout_ms - COMMIT_MS, timeout_ms // 2) / 1000, UTC)


@dataclass(slots=True, eq=False)
class Charge:
    """A charge on its way to the database."""

    key_id: int
    operation: str
    api: int
    lead: int
    request_id: str
    domains: str
    deadline: datetime
    """When the server refuses it as too late."""
    max_lead: int | None
    keep: AnswerToStore | None
    exclude_lists: Sequence[int] = ()
    only_lists: Sequence[int] = ()
    free_hours: int | None = None
    """For how long people get a lead again free of charge; None for a charge by a key."""
    without_address: str = ""
    """The leads among those to be paid for that have no address, one per line; only people's charges look at it."""
    is_sent: bool = False
    row: asyncio.Future[asyncpg.Record] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """What the database decided. Done early if nobody waits for it any more."""

    @property
    def size(self) -> int:
        """About how many bytes it writes."""
        return len(self.domains) + (0 if self.keep is None else len(self.keep.body) + len(self.keep.headers))


class ChargeBatches:
    """The charges of a worker that wait or are under way, by account."""

    def __init__(self, postgres: Postgres, in_doubt: InDoubt, timeout_ms: int) -> None:
        self._postgres = postgres
        self._in_doubt = in_doubt
        self._timeout_ms = timeout_ms
        self._statement, self._people = postgres.sql(_CHARGE_BATCH), postgres.sql(_CHARGE_PEOPLE)
        self._waiting: dict[int, deque[Charge]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def charge(self, account_id: int, charge: Charge) -> asyncpg.Record:
        """The row of `charge_batch` for it. Raises Unreached if it was not sent, Unavailable if nobody knows whether it
        was made, and errors of the database that it caused itself."""
        waiting = self._waiting.get(account_id)
        if waiting is None:
            waiting = self._waiting[account_id] = deque((charge,))
            sending = asyncio.create_task(self._send_all(account_id, waiting))
            self._running.add(sending)
            sending.add_done_callback(self._running.discard)
        elif len(waiting) >= MAX_WAITING:
            raise Unreached(f"more than {MAX_WAITING} charges of this account are waiting")
        else:
            waiting.append(charge)
        loop = asyncio.get_running_loop()
        give_up = loop.call_later(self._timeout_ms / 1000, self._fail, account_id, charge, _TIMED_OUT)
        try:
            return await charge.row
        except asyncio.CancelledError:
            if charge.is_sent:
                self._remember(account_id, charge)
            raise
        finally:
            give_up.cancel()

    @property
    def waiting(self) -> int:
        """How many charges wait for their batch."""
        return sum(map(len, self._waiting.values()))

    async def close(self) -> None:
        """Wait for the batches under way; each ends by its deadline."""
        await asyncio.gather(*self._running, return_exceptions=True)

    def _remember(self, account_id: int, charge: Charge) -> None:
        self._in_doubt.remember(account_id, charge.request_id, charge.keep.key if charge.keep else None)

    def _fail(self, account_id: int, charge: Charge, reason: str) -> None:
        """Nobody can say what became of it; if it was sent, it may have been made."""
        if charge.row.done():
            return
        if charge.is_sent:
            # Before the next batch is sent: where commits are not confirmed, there must be none.
            self._remember(account_id, charge)
        charge.row.set_exception((Unavailable if charge.is_sent else Unreached)(reason))

    async def _send_all(self, account_id: int, waiting: deque[Charge]) -> None:
        try:
            while waiting:
                await self._send_batch(account_id, waiting)
        finally:
            del self._waiting[account_id]

    async def _send_batch(self, account_id: int, waiting: deque[Charge]) -> None:
        batch: list[Charge] = []
        try:
            await self._in_doubt.require_confirmed()
            latest = server_deadline(self._timeout_ms)
            async with self._postgres.connection(self._timeout_ms) as connection:
                # Only now: while all connections are busy, more charges come, and callers may leave.
                batch = _take(waiting)
                if not batch:
                    return
                for charge in batch:
                    charge.is_sent = True
                arguments = _columns(batch, latest)
                if batch[0].free_hours is None:
                    rows = await connection.fetch(self._statement, account_id, *arguments)
                else:
                    leads = [charge.without_address for charge in batch]
                    rows = await connection.fetch(self._people, account_id, *arguments, leads, batch[0].free_hours)
        except Unavailable as error:
            for charge in batch or _take(waiting):
                self._fail(account_id, charge, error.reason)
        except asyncpg.PostgresError as error:
            if batch:
                await self._refuse(account_id, batch, error)
            else:
                _raise(_take(waiting), error)
        except Exception as error:  # our fault, maybe after the commit
            for charge in batch:
                if not charge.row.done():
                    self._remember(account_id, charge)
            _raise(batch or _take(waiting), error)
        else:
            for row in rows:
                charge = batch[row["place"] - 1]
                if not charge.row.done():
                    charge.row.set_result(row)

    async def _refuse(self, account_id: int, batch: Sequence[Charge], error: asyncpg.PostgresError) -> None:
        """The server reported an error. Return it to the charge that causes it, and send each of the others alone.

        An error of the statement undid all of it. One that ended the server's process (FATAL, PANIC) may have come
        after the commit, so that nobody knows.
        """
        if error.severity_en == "ERROR" and len(batch) == 1:
            _raise(batch, error)
        elif error.severity_en == "ERROR":
            for charge in batch:
                charge.is_sent = False
            for charge in batch:
                await self._send_batch(account_id, deque((charge,)))
        else:
            for charge in batch:
                self._fail(account_id, charge, f"postgresql: {type(error).__name__}")


def _raise(batch: Sequence[Charge], error: Exception) -> None:
    for charge in batch:
        if not charge.row.done():
            charge.row.set_exception(error)


def _take(waiting: deque[Charge]) -> list[Charge]:
    """The next batch, without charges that nobody waits for. Charges by people and by keys are separate batches."""
    batch: list[Charge] = []
    size = 0
    while waiting and len(batch) < MAX_BATCH:
        charge = waiting[0]
        if not charge.row.done():
            size += charge.size
            if batch and (size > MAX_BATCH_BYTES or charge.free_hours != batch[0].free_hours):
                break
            batch.append(charge)
        waiting.popleft()
    return batch


def _columns(batch: Sequence[Charge], latest: datetime) -> tuple[Any, ...]:
    """The arguments of `charge_batch`; no charge may begin later than leaves time for the commit of its batch."""
    keeps = [charge.keep for charge in batch]
    answers: tuple[Any, ...] = (None, None, None, None)
    if any(keeps):
        answers = (
            [keep and keep.key for keep in keeps],
            [keep and keep.fingerprint for keep in keeps],
            [keep and keep.headers for keep in keeps],
            [keep and keep.body for keep in keeps],
        )
    lists: tuple[Any, ...] = (None, None)
    if any(charge.exclude_lists or charge.only_lists for charge in batch):
        lists = (
            [_list_numbers(charge, charge.exclude_lists) for charge in batch],
            [_list_numbers(charge, charge.only_lists) for charge in batch],
        )
    return (
        [charge.key_id for charge in batch],
        [charge.operation for charge in batch],
        [charge.api for charge in batch],
        [charge.lead for charge in batch],
        [charge.request_id for charge in batch],
        [charge.domains for charge in batch],
        [min(charge.deadline, latest) for charge in batch],
        [charge.max_lead for charge in batch],
        *answers,
        *lists,
        LIST_LEDGER_ROWS,
    )


def _list_numbers(charge: Charge, numbers: Sequence[int]) -> str | None:
    """As text, since the arrays of an array must be of one length; None for a charge without lists."""
    if not (charge.exclude_lists or charge.only_lists):
        return None
    return "{" + ",".join(map(str, numbers)) + "}"
