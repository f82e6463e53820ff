"""Defects put in on purpose: a verifier that has never found anything proves nothing.

Each goes into its own tables or its own service. Then a small run must fail the checks that are named here, and the
same run without the defect must pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

import asyncpg

from testing.accounts import make_schema, owner
from tests.proof import http_level, ledger_level
from tests.proof.arena import Arena
from tests.proof.faults import Counts
from tests.proof.ledger_level import ChargePath
from tests.proof.verdict import Judged, judged

NO_FAULTS = Counts(0, 0, only_kills=True)
LEDGER = ledger_level.Size(800, NO_FAULTS, unkeyed=0.3, accounts_at_once=2)
HTTP = http_level.Size(150, NO_FAULTS, services=2)

Size = TypeVar("Size", ledger_level.Size, http_level.Size)

LATE_LOCK = (
    "SELECT b.seq, b.head INTO balance.seq, balance.head FROM {schema}.balances b"
    " WHERE b.account_id = balance.account_id FOR NO KEY UPDATE;"
)


@dataclass(frozen=True)
class Piece:
    """A piece of a function in the database, and what replaces it."""

    function: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Defect:
    """What is wrong, and which checks must say so."""

    name: str
    caught_by: frozenset[str]
    level: Literal["ledger", "http"] = "ledger"
    paths: tuple[ChargePath, ...] = ("batch", "single")
    """The ways of charging that have it, each with its own run; over HTTP one run has accounts of both."""
    pieces: tuple[Piece, ...] = ()
    statements: tuple[str, ...] = ()
    role_setting: str = ""
    faults: Counts = NO_FAULTS
    charges: int | None = None

    @property
    def runs(self) -> tuple[ChargePath | Literal["http"], ...]:
        """One for each way of charging, or one over HTTP."""
        return self.paths if self.level == "ledger" else ("http",)

    def sized(self, usual: Size) -> Size:
        """The usual small run, with what this defect needs to show itself."""
        return replace(usual, faults=self.faults, charges=self.charges or usual.charges)


DEFECTS = (
    # The row is read without its lock, and locked only to be written with what was read.
    Defect(
        "read-then-write balance",
        frozenset({"linearizable", "balance is the sum of its rows"}),
        pieces=(
            Piece("open_balance", "FOR NO KEY UPDATE", ""),
            Piece(
                "append_entry",
                "entry := {schema}.next_entry(entry, balance);",
                f"{LATE_LOCK} entry := {{schema}}.next_entry(entry, balance);",
            ),
            Piece(
                "charge_batch",
                "entry.kind := 'charge';",
                f"{LATE_LOCK} entry.kind := 'charge';",
            ),
        ),
    ),
    Defect(
        "missing unique key",
        frozenset({"linearizable", "one charge for one key"}),
        pieces=(
            Piece("charge", "kept_at > now_at - interval '24 hours'", "false"),
            Piece("charge_batch", "idempotency_keys[i] = ANY(stored_keys)", "false"),
        ),
        statements=(
            "ALTER TABLE {schema}.idempotency DROP CONSTRAINT idempotency_pkey",
            "CREATE INDEX ON {schema}.idempotency (account_id, key)",
        ),
    ),
    Defect(
        "answer before charge",
        frozenset({"what was answered is durable"}),
        level="http",
        faults=Counts(0, 3, only_kills=True),
        charges=400,
    ),
    Defect(
        "synchronous_commit=off",
        frozenset({"what was answered is durable"}),
        role_setting="synchronous_commit = off",
        faults=Counts(3, 0, only_kills=True),
        charges=1_200,
    ),
    Defect(
        "double refund",
        frozenset({"linearizable", "refunds are within their charge"}),
        pieces=(
            Piece(
                "refund",
                "entry.api NOT BETWEEN 0 AND left_api OR entry.lead NOT BETWEEN 0 AND left_lead OR",
                "",
            ),
        ),
    ),
    Defect(
        "gap in the sequence",
        frozenset({"linearizable", "sequence is dense"}),
        pieces=(
            Piece(
                "next_entry",
                "entry.seq := balance.seq + 1;",
                "entry.seq := balance.seq + CASE WHEN balance.seq % 100 = 99 THEN 2 ELSE 1 END;",
            ),
        ),
    ),
    Defect(
        "wrong credit kind",
        frozenset({"linearizable", "no row that nobody asked for"}),
        # An enrichment that found nothing: its API credit is taken from the leads.
        pieces=(
            Piece(
                "charge",
                "entry.api := -api_credits;",
                "entry.api := CASE WHEN lead = 0 THEN 0 ELSE -api_credits END;",
            ),
            Piece(
                "charge", "entry.lead := -lead;", "entry.lead := CASE WHEN lead = 0 THEN -api_credits ELSE -lead END;"
            ),
            Piece(
                "charge_batch",
                "entry.api := -api_credits[i];",
                "entry.api := CASE WHEN lead = 0 THEN 0 ELSE -api_credits[i] END;",
            ),
            Piece(
                "charge_batch",
                "entry.lead := -lead;",
                "entry.lead := CASE WHEN lead = 0 THEN -api_credits[i] ELSE -lead END;",
            ),
        ),
    ),
    # Each request of a batch is charged to what the account had before the batch.
    Defect(
        "batch without a running balance",
        frozenset({"linearizable", "balance is the sum of its rows"}),
        paths=("batch",),
        pieces=(
            Piece(
                "charge_batch",
                "balance.lead := balance.lead + entry.lead;",
                "balance.lead := entry.lead + (SELECT b.lead FROM {schema}.balances b"
                " WHERE b.account_id = charge_batch.account_id);",
            ),
        ),
    ),
    Defect("replay without fingerprint", frozenset({"linearizable"}), level="http"),
)


async def _replace(connection: asyncpg.Connection[asyncpg.Record], schema: str, piece: Piece) -> None:
    source = await connection.fetchval(
        "SELECT pg_get_functiondef(p.oid) FROM pg_proc p WHERE p.pronamespace = $1::regnamespace AND p.proname = $2",
        schema,
        piece.function,
    )
    right, wrong = (text.replace("{schema}", schema) for text in (piece.right, piece.wrong))
    assert right in source, f"{piece.function} no longer has {piece.right!r}: this defect must be written anew"
    await connection.execute(source.replace(right, wrong))


@contextlib.asynccontextmanager
async def _put_in(defect: Defect | None, arena: Arena, schema: str) -> AsyncIterator[None]:
    """Tables with the defect in them; what is the server's is taken back afterwards."""
    await make_schema(arena.direct_dsn, schema)
    if defect is None:
        yield
        return
    connection = await asyncpg.connect(owner(arena.direct_dsn))
    for piece in defect.pieces:
        await _replace(connection, schema, piece)
    for statement in defect.statements:
        await connection.execute(statement.replace("{schema}", schema))
    await connection.close()
    if not defect.role_setting:
        yield
        return
    await _as_superuser(arena, f"ALTER ROLE siteglass SET {defect.role_setting}")
    try:
        yield
    finally:
        await _as_superuser(arena, "ALTER ROLE siteglass RESET ALL")


async def _as_superuser(arena: Arena, statement: str) -> None:
    connection = await asyncpg.connect(arena.superuser_dsn)
    await connection.execute(statement)
    await connection.close()


def run(arena: Arena, folder: Path, seed: int, defect: Defect | None, level: ChargePath | Literal["http"]) -> Judged:
    """A small run over HTTP, or of the ledger with one way of charging, with a defect or without; what the verifiers
    say."""
    name = "none" if defect is None else "".join(letter if letter.isalnum() else "_" for letter in defect.name)
    schema = f"defect_{level}_{name}"
    where = folder / schema

    async def inside() -> Judged:
        async with _put_in(defect, arena, schema):
            if level != "http":
                size = replace(LEDGER if defect is None else defect.sized(LEDGER), paths=(level,))
                seen = await asyncio.to_thread(ledger_level.run, arena, schema, where, seed, size)
            else:
                size_http = HTTP if defect is None else replace(defect.sized(HTTP), command=_command(defect))
                seen = await asyncio.to_thread(http_level.run, arena, schema, where, seed, size_http)
        return await judged(arena.direct_dsn, schema, where, seen)

    return asyncio.run(inside())


def _command(defect: Defect) -> list[str]:
    return [sys.executable, "-m", "tests.proof.broken_service", defect.name]
