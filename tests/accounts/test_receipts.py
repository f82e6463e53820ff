"""Entries of some kinds: the right ones, and found without reading the charges between them."""

from __future__ import annotations

import re
from typing import Any

import asyncpg
import pytest

from siteglass.billing.receipts import KINDS, EntryFilter, entries
from siteglass.platform.postgres import Postgres
from testing.accounts import open_account
from tests.accounts.writing import write_long_ledger

pytestmark = pytest.mark.anyio

LENGTH = 20_000
RARE = ("grant", "refund", "expire", "adjust")
# How the index ledger_but_charges of a partition is called.
BUT_CHARGES = "_account_id_seq_idx"


class Explaining(Postgres):
    """Keeps the plan of a statement with what it read."""

    plan = ""

    async def fetch(self, statement: str, *arguments: Any, timeout_ms: int | None = None) -> list[asyncpg.Record]:
        explained = f"EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) {statement}"
        self.plan = "\n".join(row[0] for row in await super().fetch(explained, *arguments, timeout_ms=timeout_ms))
        return await super().fetch(statement, *arguments, timeout_ms=timeout_ms)


async def test_kinds_are_found_by_their_own_index(dsn: str, schema_name: str) -> None:
    postgres = Explaining(dsn, schema_name)
    caller = await open_account(postgres)
    account = caller.account_id
    await write_long_ledger(dsn, postgres, account, caller.key_id, LENGTH)

    async def found(**wanted: Any) -> list[tuple[int, str]]:
        rows = await entries(postgres, account, EntryFilter(3, **wanted))
        removed = [int(line.split(":")[1]) for line in postgres.plan.splitlines() if "Rows Removed by" in line]
        assert sum(removed) <= LENGTH // 100, postgres.plan
        assert not re.search(r"Seq Scan on ledger.* rows=[1-9]", postgres.plan)  # of an empty partition it may be
        return [(row.seq, row.kind) for row in rows]

    assert await found(kinds=["grant"]) == [(seq, "grant") for seq in (20_000, 19_600, 19_200, 18_800)]
    assert BUT_CHARGES in postgres.plan
    assert await found(kinds=RARE, before=10_000) == [
        (9_900, "adjust"), (9_800, "expire"), (9_700, "refund"), (9_600, "grant")
    ]  # fmt: skip
    assert BUT_CHARGES in postgres.plan
    assert await found(kinds=["refund"], key_id=caller.key_id) == []
    assert await found(kinds=[]) == []
    assert await found(kinds=["charge"]) == [(seq, "charge") for seq in range(19_999, 19_995, -1)]
    assert await found(kinds=["charge"], key_id=caller.key_id, before=901) == [
        (seq, "charge") for seq in (899, 898, 897, 896)
    ]
    mixed = [(701, "charge"), (700, "adjust"), (699, "charge"), (698, "charge")]
    assert await found(kinds=["adjust", "charge"], before=702) == mixed
    assert await found(kinds=KINDS, before=702) == await found(before=702)
    assert await found(kinds=["grant"], request_id="request 400") == [(400, "grant")]
    assert await found(kinds=["grant"], request_id="request 401") == []
    at = (await entries(postgres, account, EntryFilter(1, before=801)))[0].at
    assert await found(kinds=["grant"], until=at) == [(400, "grant")]
    assert await found(kinds=["grant"], since=at, before=1_000) == [(800, "grant")]
    await postgres.close()


async def test_every_kind_has_its_name(postgres: Postgres) -> None:
    rows = await postgres.fetch("SELECT unnest(enum_range(NULL::{schema}.entry_kind))::text AS kind")
    assert tuple(row["kind"] for row in rows) == KINDS
