"""Charges whose confirmation was lost: the caller got a 503, and the charge may have been written.

A worker remembers its own until it can find out what became of them, and notes those that were charged in the database.
They leave the list when a retry gets the stored response, or by an operator's command. Where there are standbys, the
worker charges nothing while commits are not confirmed: the list stays as short as the number of charges under way.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from siteglass.access.accounts import AccountError
from siteglass.errors import Unavailable
from siteglass.platform import metrics
from siteglass.platform.postgres import Postgres

log = logging.getLogger("siteglass.charges")

NOTE_EVERY_S = 2.0
REPORT_EVERY_S = 10.0
MAX_REMEMBERED = 10_000
# How long a charge waits while the worker looks if commits are confirmed again.
PATIENCE_S = 0.25
CONFIRM_TIMEOUT_MS = 500
RETRY_S = 0.1
LISTED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A charge that may have been written."""

    account_id: int
    request_id: str
    key: str | None
    known_at: float
    """When the server can no longer begin it, by our monotonic clock."""


@dataclass(frozen=True, slots=True)
class ChargeInDoubt:
    """A charge that was written, and whose caller got no response."""

    account_id: int
    seq: int
    request_id: str
    idempotency_key: str | None
    at: datetime
    api: int
    lead: int


class InDoubt:
    """The charges of this worker that are in doubt, and whether new ones would be."""

    def __init__(self, postgres: Postgres, charge_timeout_ms: int) -> None:
        self._postgres = postgres
        self._charge_timeout_s = charge_timeout_ms / 1000
        self._unknown: deque[_Unknown] = deque()
        self._confirming: asyncio.Task[None] | None = None

    def remember(self, account_id: int, request_id: str, key: str | None) -> None:
        """The confirmation of this charge was lost."""
        metrics.CHARGES_IN_DOUBT.inc()
        log.warning("charge in doubt", extra={"request_id": request_id, "account_id": account_id})
        if len(self._unknown) < MAX_REMEMBERED:
            known_at = time.monotonic() + self._charge_timeout_s
            self._unknown.append(_Unknown(account_id, request_id, key, known_at))
        if self._confirming is None and self._postgres.has_standbys:
            self._confirming = asyncio.create_task(self._until_confirmed())

    @property
    def unresolved(self) -> int:
        """How many charges of this worker may have been written or not."""
        return len(self._unknown)

    async def require_confirmed(self) -> None:
        """Raises Unavailable as long as the charges before could not be confirmed."""
        if self._confirming is not None:
            done, _ = await asyncio.wait({self._confirming}, timeout=PATIENCE_S)
            if not done:
                raise Unavailable("postgresql: commits are not confirmed")

    async def _until_confirmed(self) -> None:
        try:
            while True:
                try:
                    await self._postgres.confirm_commits(CONFIRM_TIMEOUT_MS)
                    return
                except Unavailable:
                    await asyncio.sleep(RETRY_S)
        finally:
            self._confirming = None

    async def note(self) -> None:
        """Find out what became of the remembered charges; a job of every worker."""
        for _ in range(len(self._unknown)):
            charge = self._unknown.popleft()
            try:
                if time.monotonic() < charge.known_at:
                    raise Unavailable("the charge may still be made")
                await self._postgres.call(
                    "note_in_doubt",
                    account_id=charge.account_id,
                    request_id=charge.request_id,
                    idempotency_key=charge.key,
                )
            except Unavailable:
                self._unknown.append(charge)

    async def close(self) -> None:
        """Stop waiting for confirmation, and note the last charges once their deadline has passed."""
        if self._confirming is not None:
            self._confirming.cancel()
            await asyncio.gather(self._confirming, return_exceptions=True)
        if self._unknown:
            await asyncio.sleep(max(0.0, self._unknown[-1].known_at - time.monotonic()))
            await self.note()


async def report_unsettled(postgres: Postgres) -> None:
    """Set the metrics of charges that nobody has settled, and whether PostgreSQL answers and archives; a job of every
    worker, since each has its own metrics."""
    try:
        row = await postgres.fetchrow(
            """
            SELECT (SELECT count(*) FROM (SELECT FROM {schema}.in_doubt LIMIT $1) d) AS unsettled,
                current_setting('archive_mode') <> 'off'
                    AND last_failed_time > coalesce(last_archived_time, '-infinity') AS archive_failing
            FROM pg_stat_archiver
            """,
            LISTED_AT_ONCE,
        )
    except Unavailable:
        metrics.POSTGRES_UP.set(0)
        return
    assert row is not None  # noqa: S101 - the view has one row
    metrics.POSTGRES_UP.set(1)
    metrics.ARCHIVE_FAILING.set(bool(row["archive_failing"]))
    metrics.CHARGES_UNSETTLED.set(row["unsettled"])


async def list_in_doubt(postgres: Postgres, account_id: int | None = None) -> list[ChargeInDoubt]:
    """The oldest charges that are in doubt, of all accounts or one."""
    rows = await postgres.fetch(
        """
        SELECT d.account_id, d.seq, d.request_id, d.idempotency_key, d.at, -l.api AS api, -l.lead AS lead
        FROM {schema}.in_doubt d CROSS JOIN LATERAL (
            -- one by one: the planner would rather read all partitions once
            SELECT c.api, c.lead FROM {schema}.ledger c
            WHERE c.account_id = d.account_id AND c.seq = d.seq AND c.at = d.at OFFSET 0
        ) l
        WHERE $1::bigint IS NULL OR d.account_id = $1 ORDER BY d.at, d.account_id, d.seq LIMIT $2
        """,
        account_id,
        LISTED_AT_ONCE,
    )
    return [ChargeInDoubt(**row) for row in rows]


async def settle(
    postgres: Postgres, account_id: int, request: str, decision: Literal["confirm", "give back"], actor: str
) -> int:
    """Confirm a charge or give it back, by its Idempotency-Key or request ID; returns its ledger row."""
    row = await postgres.call(
        "settle_in_doubt", account_id=account_id, request=request, give_back=decision == "give back", actor=actor
    )
    if row["outcome"] == "none":
        raise AccountError(
            f"Account {account_id} has no unconfirmed charge with the key or request ID {request!r}. "
            "`siteglass credits in-doubt` lists them."
        )
    seq: int = row["entry_seq"]
    return seq
