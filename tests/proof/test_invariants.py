"""The SQL of the proof on a small ledger: silent while it is whole, and the right name for each thing done to it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator

import asyncpg
import pytest

from siteglass.billing import credits
from siteglass.platform.postgres import Postgres
from siteglass.settings import load_settings
from testing.accounts import bill, drop_schema, make_schema, open_account, owner
from tests.proof.history import Operation
from tests.proof.invariants import INVARIANTS, broken, broken_in, load_seen

# What is done to the tables or to what the clients say they saw, and all the names it must come back with.
DONE = {
    "UPDATE {schema}.balances SET lead = lead + 1": {"balance is the sum of its rows"},
    "UPDATE {schema}.balances SET head = previous_hash FROM {schema}.ledger l WHERE l.seq = 2": {"hashes chain"},
    "UPDATE {schema}.ledger SET request_id = 'other' WHERE seq = 2": {
        "hashes chain", "what was answered is durable", "what was replayed is durable", "no row that nobody asked for",
    },
    "UPDATE {schema}.ledger SET at = at + interval '1 microsecond' WHERE seq = 3": {"hashes chain"},
    "UPDATE {schema}.ledger SET api = -1, lead = 1 WHERE seq = 4": {
        "hashes chain", "balance is the sum of its rows", "what was answered is durable",
        "no row that nobody asked for", "kinds have their signs",
    },
    "DELETE FROM {schema}.ledger WHERE seq = 3": {
        "hashes chain", "balance is the sum of its rows", "sequence is dense", "what was answered is durable",
        "refunds are within their charge",
    },
    "UPDATE {schema}.proof_seen SET request = 'b' WHERE request = 'a'; "
    "UPDATE {schema}.ledger SET request_id = 'b' WHERE seq = 2": {
        "hashes chain", "one row for one request", "one charge for one key",
    },
    "UPDATE {schema}.proof_seen SET key = 'k' WHERE request = 'b'": {"one charge for one key"},
    "DELETE FROM {schema}.proof_seen WHERE request = 'b'": {"no row that nobody asked for"},
    "UPDATE {schema}.proof_seen SET outcome = 'refused' WHERE request = 'b'": {"no row that nobody asked for"},
    "UPDATE {schema}.proof_seen SET api = 1, lead = 1 WHERE request = 'b'": {
        "what was answered is durable", "no row that nobody asked for",
    },
    "UPDATE {schema}.ledger SET lead = 3 WHERE seq = 4": {
        "hashes chain", "balance is the sum of its rows", "what was answered is durable",
        "no row that nobody asked for", "refunds are within their charge",
    },
    "UPDATE {schema}.ledger SET lead = -10 WHERE seq = 3": {
        "hashes chain", "balance is the sum of its rows", "what was answered is durable",
        "no row that nobody asked for", "balance is never below zero",
    },
}  # fmt: skip


async def _fill(dsn: str, schema: str) -> list[Operation]:
    """A grant, two charges, one of them with a key and asked for twice, and a refund."""
    postgres = Postgres(dsn, schema)
    caller = await open_account(postgres)
    account = caller.account_id
    await credits.grant(postgres, account, 5, 5, "tests", "grant")
    for request, lead in (("a", 1), ("b", 2)):
        await credits.Billing(postgres, 5000).charge(caller, request, bill(0, lead))
    await credits.refund(postgres, account, 3, 0, 2, "tests", "back", "test")
    await postgres.close()
    name = str(account)
    return [
        Operation(name, 0, "grant", outcome="granted", api=5, lead=5, seq=1, request="grant"),
        Operation(name, 0, "charge", outcome="charged", key="k", lead=1, seq=2, request="a"),
        Operation(name, 0, "charge", outcome="replayed", key="k", lead=1, request="a"),
        Operation(name, 0, "charge", outcome="charged", lead=2, seq=3, request="b"),
        Operation(name, 0, "refund", outcome="refunded", lead=2, seq=4, of=3, request="back"),
        Operation(name, 0, "charge", outcome="refused", lead=100, request="c"),
    ]


@pytest.fixture
def ledger() -> Iterator[tuple[str, str]]:
    dsn, schema = load_settings().postgres_dsn, f"test_{secrets.token_hex(6)}"

    async def make() -> None:
        await make_schema(dsn, schema)
        await load_seen(owner(dsn), schema, await _fill(dsn, schema))

    asyncio.run(make())
    yield owner(dsn), schema
    asyncio.run(drop_schema(dsn, schema))


def _found(dsn: str, schema: str) -> set[str]:
    return {found.name for found in asyncio.run(broken(dsn, schema))}


def test_a_whole_ledger_has_nothing_broken_and_each_harm_its_name(ledger: tuple[str, str]) -> None:
    dsn, schema = ledger
    assert _found(dsn, schema) == set()

    async def look(harm: str) -> set[str]:
        connection = await asyncpg.connect(dsn)
        try:
            async with connection.transaction():
                await connection.execute(f"ALTER TABLE {schema}.ledger DISABLE TRIGGER USER")
                await connection.execute(harm.replace("{schema}", schema))
                names = {found.name for found in await broken_in(connection, schema)}
                raise _Undo(names)
        except _Undo as undone:
            return undone.names
        finally:
            await connection.close()

    assert {harm: asyncio.run(look(harm)) for harm in DONE} == DONE
    assert set.union(*DONE.values()) == set(INVARIANTS)


class _Undo(Exception):
    def __init__(self, names: set[str]) -> None:
        self.names = names
