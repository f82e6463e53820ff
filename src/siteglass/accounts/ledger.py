"""Proves the ledger: every hash, the unbroken sequence, and that balances are the sums of their rows.

It finds what was changed behind the service's back, row by row. Who rewrites all later rows and the balance as well
leaves no trace here; against that, keep heads (`account, seq, hash`) somewhere else.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from siteglass.accounts.accounts import AccountError
from siteglass.postgres import Postgres

MAX_PROBLEMS = 100
LIST_TIMEOUT_MS = 5_000
ACCOUNT_TIMEOUT_MS = 600_000
ACCOUNTS_AT_ONCE = 1_000
ROWS_AT_ONCE = 1_000

FIRST_PREVIOUS = bytes(32)

_ROWS = """
SELECT account_id, seq, at, kind::text, operation::text, api, lead, expires_at, refers_to, actor_kind::text, actor_id,
    request_id, domains, previous_hash, hash
FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class LedgerProblem:
    """What is wrong, and where; without seq it is the balance row."""

    account_id: int
    seq: int | None
    what: str


@dataclass(slots=True)
class Verified:
    """What was read, and the first problems found in it."""

    accounts: int = 0
    entries: int = 0
    problem_count: int = 0
    problems: list[LedgerProblem] = field(default_factory=list)

    def add(self, account_id: int, seq: int | None, what: str) -> None:
        """Count a problem; only the first are kept."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(LedgerProblem(account_id, seq, what))


def _microseconds(time: datetime | None) -> str:
    return "" if time is None else str((time - _EPOCH) // _MICROSECOND)


def entry_hash(entry: asyncpg.Record | dict[str, Any]) -> bytes:
    """The hash of a ledger row: the same bytes as the function entry_hash in the database."""
    parts = (
        "siteglass ledger 1",
        str(entry["account_id"]),
        str(entry["seq"]),
        _microseconds(entry["at"]),
        entry["kind"],
        entry["operation"],
        str(entry["api"]),
        str(entry["lead"]),
        _microseconds(entry["expires_at"]),
        "" if entry["refers_to"] is None else str(entry["refers_to"]),
        entry["actor_kind"],
        entry["actor_id"],
        entry["request_id"],
        entry["domains"],
    )
    return hashlib.sha256(entry["previous_hash"] + "\n".join(parts).encode()).digest()


async def _verify_account(postgres: Postgres, account_id: int, found: Verified) -> None:
    """One account, balance and rows as of the same moment: charges may go on meanwhile."""
    api = lead = seq = 0
    head = FIRST_PREVIOUS
    async with (
        postgres.connection(ACCOUNT_TIMEOUT_MS) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        balance = await connection.fetchrow(
            postgres.sql("SELECT api, lead, seq, head FROM {schema}.balances WHERE account_id = $1"), account_id
        )
        rows = connection.cursor(
            postgres.sql(_ROWS),
            account_id,
            prefetch=ROWS_AT_ONCE,
        )
        async for row in rows:
            found.entries += 1
            seq += 1
            if row["seq"] != seq:
                found.add(account_id, row["seq"], f"row {seq} is missing")
                seq = row["seq"]
            if row["previous_hash"] != head:
                found.add(account_id, seq, "does not follow the row before it")
            if row["hash"] != entry_hash(row):
                found.add(account_id, seq, "was changed: its hash is not that of its values")
            head = row["hash"]
            api += row["api"]
            lead += row["lead"]
    found.accounts += 1
    if balance is None:
        found.add(account_id, None, "has no balance row")
        return
    if balance["seq"] != seq:
        found.add(account_id, None, f"the balance is at row {balance['seq']}, the ledger ends at {seq}")
    if balance["head"] != head:
        found.add(account_id, None, "the balance does not name the hash of the last row")
    if (balance["api"], balance["lead"]) != (api, lead):
        found.add(
            account_id,
            None,
            f"the balance is {balance['api']} API and {balance['lead']} lead, the rows give {api} and {lead}",
        )


async def verify(postgres: Postgres, account_id: int | None = None) -> Verified:
    """Read the whole ledger, or that of one account, and report what is wrong; memory does not grow with it."""
    found = Verified()
    last = 0 if account_id is None else account_id - 1
    while True:
        rows = await postgres.fetch(
            "SELECT id FROM {schema}.accounts WHERE id > $1 ORDER BY id LIMIT $2",
            last,
            ACCOUNTS_AT_ONCE if account_id is None else 1,
            timeout_ms=LIST_TIMEOUT_MS,
        )
        if account_id is not None and (not rows or rows[0]["id"] != account_id):
            raise AccountError(f"There is no account {account_id}. `siteglass account list` shows them.")
        for row in rows:
            last = row["id"]
            await _verify_account(postgres, last, found)
        if account_id is not None or len(rows) < ACCOUNTS_AT_ONCE:
            return found
