"""The partitions of the ledger: one for each month (UTC), created ahead of time.

Rows of a month without a partition go to the default partition: nothing is lost or refused. The next run of the job
moves them, which locks the ledger for as long; so both a missing month and such rows are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from siteglass.platform.backends import Clock
from siteglass.platform.metrics import LEDGER_MONTHS_MISSING, LEDGER_STRAY_ROWS
from siteglass.platform.postgres import Postgres
from siteglass.platform.schema import LEDGER_MONTHS_AHEAD

CREATE_EVERY_S = 3_600
CREATE_TIMEOUT_MS = 60_000
MAX_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class LedgerMonths:
    """What is wrong with the partitions, if anything."""

    missing: Sequence[str]
    """Months without a partition, such as 2026-11."""
    stray_rows: int
    """Rows in the default partition; no more than MAX_COUNTED are counted."""


def _months(now: datetime) -> list[str]:
    """This month and those ahead."""
    first = now.year * 12 + now.month - 1
    return [f"{number // 12:04}-{number % 12 + 1:02}" for number in range(first, first + LEDGER_MONTHS_AHEAD + 1)]


async def ledger_months(postgres: Postgres, now: datetime, timeout_ms: int | None = None) -> LedgerMonths:
    """What is missing at this time, and what is in the wrong place."""
    months = _months(now)
    row = await postgres.fetchrow(
        """
        SELECT ARRAY(
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = '{schema}.ledger'::regclass
        ) AS partitions, (SELECT count(*) FROM (SELECT FROM {schema}.ledger_default LIMIT $1) r) AS stray_rows
        """,
        MAX_COUNTED,
        timeout_ms=timeout_ms,
    )
    assert row is not None  # noqa: S101 - a SELECT without FROM
    present = set(row["partitions"])
    missing = [month for month in months if f"ledger_{month.replace('-', '_')}" not in present]
    return LedgerMonths(missing, row["stray_rows"])


async def create_ledger_months(postgres: Postgres, clock: Clock) -> LedgerMonths:
    """Create the partitions of this month and those ahead, move rows to theirs, and report what is left to do; a job of
    every worker, since each has its own metrics."""
    now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    state = await ledger_months(postgres, now)
    if state.missing or state.stray_rows:
        await postgres.call(
            "create_ledger_months", now_at=now, months=LEDGER_MONTHS_AHEAD, timeout_ms=CREATE_TIMEOUT_MS
        )
        state = await ledger_months(postgres, now)
    LEDGER_MONTHS_MISSING.set(len(state.missing))
    LEDGER_STRAY_ROWS.set(state.stray_rows)
    return state
