"""Verifies the ledger: every hash, the unbroken sequence, and that balances are the sums of their rows. It also
verifies that refunds give back no more than was taken, and that the right credits expired at the right time.

It finds rows that were changed without the service. Somebody who also rewrites all later rows and the balance leaves no
trace in the tables. Signed roots outside show that, too: see heads.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg

from siteglass.access.accounts import no_account
from siteglass.platform.postgres import Postgres

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

MAX_PROBLEMS = 100
LIST_TIMEOUT_MS = 5_000
ACCOUNT_TIMEOUT_MS = 600_000
ACCOUNTS_AT_ONCE = 1_000
ROWS_AT_ONCE = 1_000
PROGRESS_EVERY = 10_000

FIRST_PREVIOUS = bytes(32)

_ROWS = """
SELECT account_id, seq, at, kind::text, operation::text, api, lead, expires_at, refers_to, actor_kind::text, actor_id,
    request_id, domains, previous_hash, hash
FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq, at
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class LedgerProblem:
    """What is wrong, and where; without seq it is the balance row."""

    account_id: int
    seq: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Seal:
    """What a signed root says of an account: the hash of a row, and the sums up to it."""

    seq: int
    hash: bytes
    api: int
    lead: int
    root: int


@dataclass(slots=True)
class LedgerReport:
    """What was read, and the first problems found in it."""

    accounts: int = 0
    entries: int = 0
    problem_count: int = 0
    problems: list[LedgerProblem] = field(default_factory=list)
    on_progress: Callable[[int], None] = lambda _: None

    def read_one(self) -> None:
        """Count a row."""
        self.entries += 1
        if self.entries % PROGRESS_EVERY == 0:
            self.on_progress(self.entries)

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


# Which way credits go.
_SIGNS = {"charge": -1, "expire": -1, "grant": 1, "refund": 1}


class _Books:
    """One account as its rows make it, and what is wrong with them."""

    def __init__(self, account_id: int, found: LedgerReport, seals: Sequence[Seal]) -> None:
        self._account_id = account_id
        self._found = found
        self._seals = {seal.seq: seal for seal in seals}
        self._sealed = 0
        self._head = FIRST_PREVIOUS
        self._at: datetime | None = None
        self.api = self.lead = self.seq = 0
        # what expires, as (when, row): what is left of it
        self.expiring: dict[tuple[datetime, int], list[int]] = {}
        self._given_back: dict[int, list[int]] = {}

    @property
    def head(self) -> bytes:
        return self._head

    def _wrong(self, what: str) -> None:
        self._found.add(self._account_id, self.seq, what)

    def enter(self, row: asyncpg.Record) -> None:
        """The next row."""
        self._found.read_one()
        self.seq += 1
        if row["seq"] == self.seq - 1:
            # Partitions have no unique index on the number alone; the balance row gives each number once.
            self._found.add(self._account_id, row["seq"], "has the number of the row before it")
            self.seq = row["seq"]
        elif row["seq"] != self.seq:
            self._found.add(self._account_id, row["seq"], f"row {self.seq} is missing")
            self.seq = row["seq"]
        if row["previous_hash"] != self._head:
            self._wrong("does not follow the row before it")
        if row["hash"] != entry_hash(row):
            self._wrong("was changed: its hash does not match its values")
        self._head = row["hash"]
        if self._at is not None and row["at"] < self._at:
            self._wrong("is earlier than the row before it")
        self.api += row["api"]
        self.lead += row["lead"]
        if self.api < 0 or self.lead < 0:
            self._wrong("takes more credits than were left")
        if row["kind"] in _SIGNS and min(_SIGNS[row["kind"]] * row["api"], _SIGNS[row["kind"]] * row["lead"]) < 0:
            self._wrong(f"is not a valid {row['kind']}: its credits have the wrong sign")
        self._compare()
        stuck = self._at == row["at"]  # the clock was slower than the ledger: this time proves nothing
        self._at = row["at"]
        match row["kind"]:
            case "grant" if row["expires_at"] is not None:
                self.expiring[row["expires_at"], self.seq] = [row["api"], row["lead"]]
            case "expire":
                self._expire(row)
            case "refund":
                self._refund(row)
            case _ if self.expiring:
                self._burn(max(0, -row["api"]), max(0, -row["lead"]), None if stuck else row["at"])

    def _compare(self) -> None:
        """Compare the row with its seal. Only the first difference is reported, since every later row differs, too."""
        seal = self._seals.pop(self.seq, None)
        if seal is None:
            return
        if (self._head, self.api, self.lead) == (seal.hash, seal.api, seal.lead):
            self._sealed = seal.seq
            return
        self._wrong(
            f"is not as root {seal.root} sealed it: one of the rows {self._sealed + 1} to {seal.seq} is another"
        )
        self._seals.clear()

    def seals_were_met(self) -> None:
        """No row that was sealed is missing at the end."""
        if self._seals:
            seal = min(self._seals.values(), key=lambda seal: seal.seq)
            self._found.add(self._account_id, seal.seq, f"was sealed by root {seal.root} and is missing")

    def _burn(self, api: int, lead: int, at: datetime | None) -> None:
        """What is taken comes from what expires soonest; nothing may be taken from what had expired."""
        for place in sorted(self.expiring):
            if at is not None and place[0] <= at:
                self._wrong(f"was written before the credits of row {place[1]} had expired")
            left = self.expiring[place]
            taken = min(left[0], api), min(left[1], lead)
            left[0] -= taken[0]
            left[1] -= taken[1]
            api -= taken[0]
            lead -= taken[1]
            if left == [0, 0]:
                del self.expiring[place]

    def _expire(self, row: asyncpg.Record) -> None:
        place = next((place for place in self.expiring if place[1] == row["refers_to"]), None)
        if place is None or place[0] > row["at"]:
            self._wrong("expires credits that were not due to expire")
        elif self.expiring.pop(place) != [-row["api"], -row["lead"]]:
            self._wrong(f"does not expire what was left of row {place[1]}")

    def _refund(self, row: asyncpg.Record) -> None:
        given = self._given_back.setdefault(row["refers_to"], [0, 0])
        given[0] += row["api"]
        given[1] += row["lead"]

    async def refunds_are_covered(self, postgres: Postgres, connection: Connection) -> None:
        """What was given back for a charge is at most what it took."""
        charges = await connection.fetch(
            postgres.sql(
                "SELECT seq, -api AS api, -lead AS lead FROM {schema}.ledger"
                " WHERE account_id = $1 AND seq = ANY($2::bigint[]) AND kind = 'charge'"
            ),
            self._account_id,
            list(self._given_back),
        )
        took = {row["seq"]: (row["api"], row["lead"]) for row in charges}
        for seq, (api, lead) in self._given_back.items():
            if seq not in took or api > took[seq][0] or lead > took[seq][1]:
                self._found.add(self._account_id, seq, "more was given back than it took")


async def _verify_account(postgres: Postgres, account_id: int, found: LedgerReport, seals: Sequence[Seal]) -> None:
    """One account, with balance and rows as of the same moment: charges may continue meanwhile."""
    books = _Books(account_id, found, seals)
    async with (
        postgres.connection(ACCOUNT_TIMEOUT_MS) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        balance = await connection.fetchrow(
            postgres.sql("SELECT api, lead, seq, head FROM {schema}.balances WHERE account_id = $1"), account_id
        )
        async for row in connection.cursor(postgres.sql(_ROWS), account_id, prefetch=ROWS_AT_ONCE):
            books.enter(row)
        books.seals_were_met()
        await books.refunds_are_covered(postgres, connection)
        expiring = await connection.fetch(
            postgres.sql("SELECT expires_at, seq, api, lead FROM {schema}.expiring WHERE account_id = $1"), account_id
        )
    found.accounts += 1
    if balance is None:
        found.add(account_id, None, "has no balance row")
        return
    if balance["seq"] != books.seq:
        found.add(account_id, None, f"the balance is at row {balance['seq']}, the ledger ends at {books.seq}")
    if balance["head"] != books.head:
        found.add(account_id, None, "the balance does not contain the hash of the last row")
    if (balance["api"], balance["lead"]) != (books.api, books.lead):
        has = f"the balance is {balance['api']} API and {balance['lead']} lead"
        found.add(account_id, None, f"{has}, but the rows add up to {books.api} and {books.lead}")
    if {(row["expires_at"], row["seq"]): [row["api"], row["lead"]] for row in expiring} != books.expiring:
        found.add(account_id, None, "the remaining expiring credits do not match the rows")


async def count_rows(postgres: Postgres, account_id: int | None = None) -> int:
    """How many rows the balances say there are: enough to tell how far a verification is."""
    row = await postgres.fetchrow(
        "SELECT coalesce(sum(seq), 0)::bigint AS rows FROM {schema}.balances"
        " WHERE $1::bigint IS NULL OR account_id = $1",
        account_id,
        timeout_ms=LIST_TIMEOUT_MS,
    )
    return 0 if row is None else int(row["rows"])


async def verify(
    postgres: Postgres,
    account_id: int | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
    seals: Mapping[int, Sequence[Seal]] | None = None,
) -> LedgerReport:
    """Read the whole ledger, or that of one account, and report what is wrong; memory does not grow with it.

    `on_progress` hears now and then how many rows have been read. With `seals`, rows are compared with what was sealed.
    """
    found = LedgerReport(on_progress=on_progress)
    sealed = {account: list(of_it) for account, of_it in (seals or {}).items() if account_id in (None, account)}
    last = 0 if account_id is None else account_id - 1
    while True:
        rows = await postgres.fetch(
            "SELECT id FROM {schema}.accounts WHERE id > $1 ORDER BY id LIMIT $2",
            last,
            ACCOUNTS_AT_ONCE if account_id is None else 1,
            timeout_ms=LIST_TIMEOUT_MS,
        )
        if account_id is not None and (not rows or rows[0]["id"] != account_id):
            raise no_account(account_id)
        for row in rows:
            last = row["id"]
            await _verify_account(postgres, last, found, sealed.pop(last, ()))
        if account_id is not None or len(rows) < ACCOUNTS_AT_ONCE:
            break
    for account, of_it in sealed.items():
        found.add(account, of_it[-1].seq, f"was sealed by root {of_it[-1].root}, and there is no such account")
    return found
