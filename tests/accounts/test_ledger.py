"""The hash chain: the same in SQL and Python, and any change made without the service is found."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siteglass.access.accounts import AccountError
from siteglass.billing import ledger, received
from siteglass.platform.postgres import Postgres
from testing.accounts import open_account, owner, pay

text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40)
whole = st.integers(-(2**63), 2**63 - 1)
times = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))

entries = st.fixed_dictionaries(
    {
        "account_id": whole,
        "seq": whole,
        "at": times,
        "kind": st.sampled_from(["grant", "charge", "refund", "expire", "adjust"]),
        "operation": st.sampled_from(["search", "page", "enrich", "evidence", "export", "none"]),
        "api": whole,
        "lead": whole,
        "expires_at": st.none() | times,
        "refers_to": st.none() | whole,
        "actor_kind": st.sampled_from(["key", "person", "export", "operator"]),
        "actor_id": text,
        "request_id": text,
        "domains": st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=200),
        "previous_hash": st.binary(min_size=32, max_size=32),
        "hash": st.just(bytes(32)),
    }
)

COLUMNS = tuple(
    name.split("::")[0].strip() for name in ledger._ROWS.split("FROM")[0].removeprefix("\nSELECT").split(",")
)

HASH = """
SELECT {schema}.entry_hash(ROW($1::bigint, $2::bigint, $3::timestamptz, $4::text::{schema}.entry_kind,
    $5::text::{schema}.entry_operation, $6::bigint, $7::bigint, $8::timestamptz, $9::bigint,
    $10::text::{schema}.actor_kind, $11::text, $12::text, $13::text, $14::bytea, $15::bytea)::{schema}.ledger) AS hash
"""


def test_sql_and_python_hash_alike(dsn: str, schema_name: str) -> None:
    with asyncio.Runner() as runner:
        postgres = Postgres(owner(dsn), schema_name, max_connections=1)

        @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(entries)
        def alike(entry: dict[str, Any]) -> None:
            row = runner.run(postgres.fetchrow(HASH, *(entry[name] for name in COLUMNS)))
            assert row is not None
            assert row["hash"] == ledger.entry_hash(entry)

        alike()
        runner.run(postgres.close())


@pytest.mark.anyio
async def test_a_clean_ledger_is_clean_while_charges_go_on(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=1000)
    charging = asyncio.gather(*(pay(postgres, caller, 0, 1) for _ in range(300)))
    while not charging.done():
        found = await ledger.verify(postgres, caller.account_id)
        assert found.problems == []
    await charging
    assert (await ledger.verify(postgres, caller.account_id)).entries == 301
    assert (await ledger.verify(postgres)).accounts > 0
    with pytest.raises(AccountError, match="no account"):
        await ledger.verify(postgres, 10**9)


ROW_TAMPERINGS = {
    "account_id": "account_id = -account_id",
    "seq": "seq = seq + 100",
    "at": "at = at + interval '1 microsecond'",
    "kind": "kind = 'adjust'",
    "operation": "operation = 'page'",
    "api": "api = api - 1",
    "lead": "lead = lead + 1",
    "expires_at": "expires_at = now()",
    "refers_to": "refers_to = 1",
    "actor_kind": "actor_kind = 'operator'",
    "actor_id": "actor_id = '0' || actor_id",
    "request_id": "request_id = 'other'",
    "domains": "domains = replace(domains, 'n ', 'c ')",
    "previous_hash": "previous_hash = set_byte(previous_hash, 31, get_byte(previous_hash, 31) # 1)",
    "hash": "hash = set_byte(hash, 0, get_byte(hash, 0) # 1)",
}


async def _behind_our_back(dsn: str, schema: str, statement: str, *arguments: Any) -> None:
    connection = await asyncpg.connect(owner(dsn))
    async with connection.transaction():
        await connection.execute(f"ALTER TABLE {schema}.ledger DISABLE TRIGGER no_change")
        status = await connection.execute(statement.replace("{schema}", schema), *arguments)
        await connection.execute(f"ALTER TABLE {schema}.ledger ENABLE TRIGGER no_change")
    await connection.close()
    assert status.endswith(" 1")


@pytest.mark.anyio
@pytest.mark.parametrize("column", ROW_TAMPERINGS)
@pytest.mark.parametrize("seq", [2, 3, 5])
async def test_a_changed_column_is_found(postgres: Postgres, dsn: str, column: str, seq: int) -> None:
    caller = await open_account(postgres, lead=10)
    for _ in range(4):
        await pay(postgres, caller, 0, 1)
    await _behind_our_back(
        dsn,
        postgres.schema,
        f"UPDATE {{schema}}.ledger SET {ROW_TAMPERINGS[column]} WHERE account_id = $1 AND seq = $2",
        caller.account_id,
        seq,
    )
    found = await ledger.verify(postgres, caller.account_id)
    assert found.problem_count > 0
    assert {problem.account_id for problem in found.problems} == {caller.account_id}


def test_all_columns_are_tampered_with() -> None:
    assert tuple(ROW_TAMPERINGS) == COLUMNS


@pytest.mark.anyio
@pytest.mark.parametrize("column", ["domains", "previous_hash"])
async def test_a_row_whose_hash_was_rewritten_too_breaks_the_chain(postgres: Postgres, dsn: str, column: str) -> None:
    """Each row then matches its own hash, and the sums are right: only what links the rows shows it."""
    caller = await open_account(postgres, lead=10)
    for _ in range(4):
        await pay(postgres, caller, 0, 1)
    for change in (ROW_TAMPERINGS[column], "hash = {schema}.entry_hash(l)"):
        await _behind_our_back(
            dsn, postgres.schema, f"UPDATE {{schema}}.ledger l SET {change} WHERE account_id = $1 AND seq = 3",
            caller.account_id,
        )  # fmt: skip
    broken = [3, 4] if column == "previous_hash" else [4]
    assert (await ledger.verify(postgres, caller.account_id)).problems == [
        ledger.LedgerProblem(caller.account_id, seq, "does not follow the row before it") for seq in broken
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM {schema}.ledger WHERE account_id = $1 AND seq = 2", "row 2 is missing"),
        ("DELETE FROM {schema}.ledger WHERE account_id = $1 AND seq = 4", "the ledger ends at 3"),
        ("UPDATE {schema}.balances SET lead = lead + 1 WHERE account_id = $1", "the rows add up to"),
        ("UPDATE {schema}.balances SET api = api + 1 WHERE account_id = $1", "the rows add up to"),
        ("UPDATE {schema}.balances SET seq = seq + 1 WHERE account_id = $1", "the balance is at row 5"),
        ("UPDATE {schema}.balances SET head = sha256(head) WHERE account_id = $1", "does not contain the hash"),
        ("DELETE FROM {schema}.balances WHERE account_id = $1", "has no balance row"),
    ],
)
async def test_other_tampering_is_found(postgres: Postgres, dsn: str, statement: str, what: str) -> None:
    caller = await open_account(postgres, lead=10)
    for _ in range(3):
        await pay(postgres, caller, 0, 1)
    await _behind_our_back(dsn, postgres.schema, statement, caller.account_id)
    found = await ledger.verify(postgres, caller.account_id)
    assert any(what in problem.what for problem in found.problems), found.problems


# Rows whose hashes and sums are right, as only somebody with the owner's rights could write them.
FORGERIES = {
    "more was given back than it took": "'refund', 'search', 0, 2, NULL, 2",
    "expires credits that were not due to expire": "'expire', 'none', 0, -1, NULL, 1",
    "is earlier than the row before it": "'adjust', 'none', 0, 1, NULL, NULL",
}


@pytest.mark.anyio
@pytest.mark.parametrize("what", FORGERIES)
async def test_a_forged_row_is_found(postgres: Postgres, dsn: str, what: str) -> None:
    caller = await open_account(postgres, lead=10)
    await pay(postgres, caller, 0, 1)
    at = "b.at - interval '1 day'" if "earlier" in what else "clock_timestamp()"
    values = f"NULL, NULL, {at}, {FORGERIES[what]}, 'operator', 'x', 'x', '', NULL, NULL"
    connection = await asyncpg.connect(owner(dsn))
    await connection.execute(
        f"SELECT {postgres.schema}.append_entry(ROW({values})::{postgres.schema}.ledger, b)"
        f" FROM {postgres.schema}.balances b WHERE b.account_id = $1",
        caller.account_id,
    )
    await connection.close()
    found = await ledger.verify(postgres, caller.account_id)
    assert [problem.what for problem in found.problems] == [what]


@pytest.mark.anyio
async def test_problems_are_counted_but_not_all_kept(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MAX_PROBLEMS", 2)
    found = ledger.LedgerReport()
    for seq in range(5):
        found.add(1, seq, "x")
    assert (found.problem_count, len(found.problems)) == (5, 2)


def test_times_are_exact_to_the_microsecond() -> None:
    far = datetime(2199, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert ledger._microseconds(far) == str((far - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))


@pytest.mark.anyio
async def test_long_ledgers_are_read_before_anybody_asks(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received, "LEDGER_ROWS_AT_ONCE", 1)
    monkeypatch.setattr(received, "PARTS_AT_ONCE", 4)
    long, short = await open_account(postgres, 10, 10), await open_account(postgres, 10, 10)
    for number in range(1, 5):
        await pay(postgres, long, 1, number % 3)
    await pay(postgres, short, 1, 2)
    await received.read_long_ledgers(postgres)
    lists = await postgres.fetch(
        "SELECT account_id, ledger_seq, domains FROM {schema}.lists WHERE name = 'received' AND account_id = ANY($1)",
        [long.account_id, short.account_id],
    )
    assert [tuple(row) for row in lists] == [(long.account_id, 5, 3)]
