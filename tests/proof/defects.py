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
from tests.proof.verdict import Judged, judged

NO_FAULTS = Counts(0, 0, only_kills=True)
LEDGER = ledger_level.Size(800, NO_FAULTS, unkeyed=0.3, accounts_at_once=2)
HTTP = http_level.Size(150, NO_FAULTS, services=2)

Size = TypeVar("Size", ledger_level.Size, http_level.Size)


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
    pieces: tuple[Piece, ...] = ()
    statements: tuple[str, ...] = ()
    role_setting: str = ""
    faults: Counts = NO_FAULTS
    charges: int | None = None

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
                "balance.seq := balance.seq + 1;",
                "SELECT b.seq + 1, b.head INTO balance.seq, balance.head FROM {schema}.balances b"
                " WHERE b.account_id = balance.account_id FOR NO KEY UPDATE;",
            ),
        ),
    ),
    Defect(
        "missing unique key",
        frozenset({"linearizable", "one charge for one key"}),
        pieces=(Piece("charge", "kept_at > now_at - interval '24 hours'", "false"),),
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
                "append_entry",
                "balance.seq := balance.seq + 1;",
                "balance.seq := balance.seq + CASE WHEN balance.seq % 100 = 99 THEN 2 ELSE 1 END;",
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
    assert piece.right in source, f"{piece.function} no longer has {piece.right!r}: this defect must be written anew"
    await connection.execute(source.replace(piece.right, piece.wrong.replace("{schema}", schema)))


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


def run(arena: Arena, folder: Path, seed: int, defect: Defect | None, level: Literal["ledger", "http"]) -> Judged:
    """A small run, with a defect or without; what the verifiers say."""
    name = "none" if defect is None else "".join(letter if letter.isalnum() else "_" for letter in defect.name)
    schema = f"defect_{level}_{name}"
    where = folder / schema

    async def inside() -> Judged:
        async with _put_in(defect, arena, schema):
            if level == "ledger":
                size = LEDGER if defect is None else defect.sized(LEDGER)
                seen = await asyncio.to_thread(ledger_level.run, arena, schema, where, seed, size)
            else:
                size_http = HTTP if defect is None else replace(defect.sized(HTTP), command=_command(defect))
                seen = await asyncio.to_thread(http_level.run, arena, schema, where, seed, size_http)
        return await judged(arena.direct_dsn, schema, where, seen)

    return asyncio.run(inside())


def _command(defect: Defect) -> list[str]:
    return [sys.executable, "-m", "tests.proof.broken_service", defect.name]
