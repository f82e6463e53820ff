"""The ledger's partitions: each row is in that of its month, look-ups read one, and none is missing for long."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from prometheus_client import REGISTRY

from siteglass.access.keys import Caller
from siteglass.billing import credits, ledger
from siteglass.billing.answers import AnswerToStore, compress
from siteglass.billing.credits import Balances, Billing, Receipt
from siteglass.billing.in_doubt import list_in_doubt
from siteglass.billing.ledger_months import LedgerMonths, create_ledger_months, ledger_months
from siteglass.billing.paid import paid_times
from siteglass.billing.receipts import EntryFilter, entries, of_request
from siteglass.cli.engine_checks import check_ledger
from siteglass.cli.findings import Patient
from siteglass.platform.backends import Clock, open_backends
from siteglass.platform.logs import new_request_id
from siteglass.platform.postgres import Postgres
from siteglass.settings import load_settings
from testing.accounts import TIMEOUT_MS, bill, drop_schema, make_schema, open_account, owner

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)


def _month(ahead: int) -> datetime:
    """The start of a month, so many after this one."""
    now = datetime.now(UTC)
    number = now.year * 12 + now.month - 1 + ahead
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def _partition(ahead: int) -> str:
    return f"ledger_{_month(ahead):%Y_%m}"


class SetClock(Clock):
    """A clock that shows a given time."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def now_ms(self) -> int:
        return int(self.now.timestamp() * 1000)


class Explaining(Postgres):
    """Keeps the plan of the last statement that reads the ledger, with what it read."""

    plan = ""

    async def fetch(self, statement: str, *arguments: Any, timeout_ms: int | None = None) -> list[asyncpg.Record]:
        await self._explain(statement, arguments)
        return await super().fetch(statement, *arguments, timeout_ms=timeout_ms)

    async def fetchrow(self, statement: str, *arguments: Any, **options: Any) -> asyncpg.Record | None:
        await self._explain(statement, arguments)
        return await super().fetchrow(statement, *arguments, **options)

    async def _explain(self, statement: str, arguments: tuple[Any, ...]) -> None:
        if not re.search(r"(FROM|JOIN) \{schema\}\.ledger\b", statement):
            return
        rows = await super().fetch(f"EXPLAIN (ANALYZE, COSTS off, TIMING off) {statement}", *arguments)
        self.plan = "\n".join(row[0] for row in rows)

    @property
    def read(self) -> set[str]:
        """The partitions that it read."""
        lines = [line for line in self.plan.splitlines() if "never executed" not in line]
        return set(re.findall(r" on (ledger_\w+)", "\n".join(lines)))


@pytest.fixture
async def own(dsn: str) -> AsyncIterator[Explaining]:
    """A fresh schema for a test that changes its partitions."""
    postgres = Explaining(dsn, f"test_{secrets.token_hex(6)}")
    await make_schema(dsn, postgres.schema)
    yield postgres
    await postgres.close()
    await drop_schema(dsn, postgres.schema)


@pytest.fixture
async def as_owner(dsn: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(owner(dsn))
    yield connection
    await connection.close()


async def _move_clock(
    as_owner: asyncpg.Connection[asyncpg.Record], postgres: Postgres, caller: Caller, at: datetime
) -> None:
    """The account's next rows are not earlier than this, as its times never go back."""
    await as_owner.execute(
        postgres.sql("UPDATE {schema}.balances SET at = $2 WHERE account_id = $1"), caller.account_id, at
    )


def _keep(key: str) -> AnswerToStore:
    return AnswerToStore(key, b"print", "{}", compress(b"answer"))


async def _places(postgres: Postgres, caller: Caller) -> list[tuple[int, str]]:
    rows = await postgres.fetch(
        "SELECT l.seq, c.relname::text FROM {schema}.ledger l JOIN pg_class c ON c.oid = l.tableoid"
        " WHERE l.account_id = $1 ORDER BY l.seq",
        caller.account_id,
    )
    return [(row["seq"], row["relname"]) for row in rows]


def _metrics() -> tuple[float | None, float | None]:
    names = ("siteglass_ledger_months_missing", "siteglass_ledger_stray_rows")
    missing, stray = (REGISTRY.get_sample_value(name) for name in names)
    return missing, stray


async def _charge(billing: Billing, caller: Caller, request_id: str) -> Receipt:
    receipt = await billing.charge(caller, request_id, bill(1, 2), _keep(request_id))
    assert receipt is not None
    return receipt


async def test_rows_over_two_months_ends(own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record]) -> None:
    caller = await open_account(own, 100, 100)
    billing = Billing(own, TIMEOUT_MS)
    requests = []
    for ahead in (1, 2):
        for at in (_month(ahead) - SECOND / 1_000_000, _month(ahead)):
            await _move_clock(as_owner, own, caller, at)
            requests.append(new_request_id())
            await _charge(billing, caller, requests[-1])
    assert await _places(own, caller) == [
        (1, _partition(0)), (2, _partition(0)), (3, _partition(1)), (4, _partition(1)), (5, _partition(2))
    ]  # fmt: skip
    assert (await ledger.verify(own, caller.account_id)).problems == []
    for seq, request in enumerate(requests, 2):
        found = await billing.find_answer(caller, request)
        assert found is not None
        assert found[0].request_id == request
        assert [entry.seq for entry, _ in await of_request(own, caller.account_id, request)] == [seq]
        assert [row.seq for row in await entries(own, caller.account_id, EntryFilter(5, request_id=request))] == [seq]
    shown = await entries(own, caller.account_id, EntryFilter(10))
    assert [row.seq for row in shown] == [5, 4, 3, 2, 1]
    for since, until, seqs in (
        (None, _month(1), [2, 1]),
        (_month(1), _month(2), [4, 3]),
        (_month(2), None, [5]),
        (_month(3), None, []),
        (_month(1) - SECOND, _month(1) + SECOND, [3, 2]),
        (_month(-30), _month(-29), []),
    ):
        wanted = EntryFilter(10, since=since, until=until)
        assert [row.seq for row in await entries(own, caller.account_id, wanted)] == seqs
    # a charge of the month before last is given back, in the newest month
    assert await credits.refund(own, caller.account_id, 2, None, None, "tests", "back", "test") == Balances(97, 94, 6)
    assert [entry.seq for entry, _ in await of_request(own, caller.account_id, requests[0])] == [2, 6]
    assert (await ledger.verify(own, caller.account_id)).problems == []


async def test_look_ups_read_one_partition(own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record]) -> None:
    caller = await open_account(own, 100, 100)
    account, billing = caller.account_id, Billing(own, TIMEOUT_MS)
    request = new_request_id()
    await _charge(billing, caller, request)
    await as_owner.execute(
        own.sql(
            "INSERT INTO {schema}.in_doubt (account_id, seq, request_id, at)"
            " SELECT account_id, seq, request_id, at FROM {schema}.ledger WHERE account_id = $1 AND seq = 2"
        ),
        account,
    )
    here = {_partition(0)}
    assert await billing.find_answer(caller, request)
    assert own.read == here
    assert len(await list_in_doubt(own, account)) == 1
    assert own.read == here
    # For a range of times PostgreSQL also looks into the default partition, which is empty.
    here.add("ledger_default")
    assert len(await of_request(own, account, request)) == 1
    assert own.read <= here
    assert len(await entries(own, account, EntryFilter(5, request_id=request))) == 1
    assert own.read <= here
    assert (await paid_times(own, account, ["lead-0.example"])).keys() == {"lead-0.example"}
    assert _partition(1) in own.read, "a refund may be in any later month"


@pytest.mark.parametrize(
    "call",
    [
        "{schema}.refund($1, 2, NULL, NULL, 'tests', 'back', 'test')",
        "{schema}.note_in_doubt($1, 'request', NULL)",
        "{schema}.entry_time($1, 2)",
    ],
)
async def test_functions_look_into_one_partition(
    own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record], call: str
) -> None:
    caller = await open_account(own, 100, 100)
    await Billing(own, TIMEOUT_MS).charge(caller, "request", bill(1, 2))
    await as_owner.execute("SET enable_seqscan = off")
    async with as_owner.transaction():
        await as_owner.fetch(own.sql(f"SELECT * FROM {call}"), caller.account_id)
        rows = await as_owner.fetch(
            "SELECT relname::text, idx_scan FROM pg_stat_xact_user_tables"
            " WHERE schemaname = $1 AND relname LIKE 'ledger_%' AND idx_scan + seq_scan > 0",
            own.schema,
        )
    scans = {row["relname"]: row["idx_scan"] for row in rows}
    others = {name: count for name, count in scans.items() if name != _partition(0)}
    assert scans.keys() - others.keys() == {_partition(0)}
    if "refund" in call:  # whether the operator's reference was used before is looked up in all: it has no time
        assert set(others.values()) == {1}
    elif "note_in_doubt" in call:  # the days before, for which a fresh schema has no partition
        assert others.keys() <= {"ledger_default"}
    else:
        assert others == {}


async def test_the_job_creates_months_ahead_and_moves_stray_rows(
    own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    now = datetime.now(UTC)
    assert await ledger_months(own, now) == LedgerMonths([], 0)
    # Nobody ran the job for half a year: rows are charged all the same.
    later = _month(6) - SECOND
    caller = await open_account(own, 100, 100)
    billing = Billing(own, TIMEOUT_MS)
    for at in (_month(5) - SECOND, _month(5), later):
        await _move_clock(as_owner, own, caller, at)
        await _charge(billing, caller, f"{at}")
    assert [place for _, place in await _places(own, caller)] == [_partition(0)] + ["ledger_default"] * 3
    missing = [f"{_month(ahead):%Y-%m}" for ahead in (5, 6, 7, 8)]
    assert await ledger_months(own, later) == LedgerMonths(missing, 3)

    assert await create_ledger_months(own, SetClock(later)) == LedgerMonths([], 0)
    assert _metrics() == (0, 0)
    assert await _places(own, caller) == [
        (1, _partition(0)), (2, _partition(4)), (3, _partition(5)), (4, _partition(5))
    ]  # fmt: skip
    assert (await ledger.verify(own, caller.account_id)).problems == []
    assert await billing.find_answer(caller, f"{later}")
    await _charge(billing, caller, "after it")
    for table in ("ledger", _partition(0), _partition(4), _partition(8), "ledger_default"):
        for change in ("UPDATE {} SET lead = 1", "DELETE FROM {}", "TRUNCATE {}"):
            with pytest.raises(asyncpg.RaiseError, match="is never changed"):
                await as_owner.execute(change.format(f"{own.schema}.{table}"))


async def test_the_doctor_reports_what_is_not_in_its_place(
    own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    async with open_backends(replace(load_settings(), postgres_schema=own.schema)) as backends:
        patient = Patient(backends)
        assert (await check_ledger(patient)).state == "ok"
        await as_owner.execute(f"DROP TABLE {own.schema}.{_partition(2)}")
        finding = await check_ledger(patient)
        assert (finding.state, f"no partition for {_month(2):%Y-%m}" in finding.found) == ("warning", True)
        await create_ledger_months(own, Clock())
        assert (await check_ledger(patient)).state == "ok"
        caller = await open_account(own, 100, 100)
        await _move_clock(as_owner, own, caller, _month(9))
        await _charge(Billing(own, TIMEOUT_MS), caller, "far ahead")
        finding = await check_ledger(patient)
        assert (finding.state, finding.found) == ("warning", "1 rows are in the default partition")


async def test_while_the_ledger_is_read_the_job_gives_up(
    own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    caller = await open_account(own, 100, 100)
    later = _month(1)
    async with as_owner.transaction():
        await as_owner.fetch(own.sql("SELECT count(*) FROM {schema}.ledger"))
        state = await create_ledger_months(own, SetClock(later))
        assert state == LedgerMonths([f"{_month(4):%Y-%m}"], 0)
        assert _metrics() == (1, 0)
        await _charge(Billing(own, TIMEOUT_MS), caller, "meanwhile")
    assert (await create_ledger_months(own, SetClock(later))).missing == []


async def test_a_number_that_is_there_twice_is_found(
    own: Explaining, as_owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    caller = await open_account(own, 100, 100)
    await _charge(Billing(own, TIMEOUT_MS), caller, "request")
    await as_owner.execute(
        own.sql(
            "INSERT INTO {schema}.ledger SELECT account_id, seq, at + interval '1 month', kind, operation, api, lead,"
            " expires_at, refers_to, actor_kind, actor_id, request_id, domains, previous_hash, hash"
            " FROM {schema}.ledger WHERE account_id = $1 AND seq = 2"
        ),
        caller.account_id,
    )
    problems = (await ledger.verify(own, caller.account_id)).problems
    assert "has the number of the row before it" in [problem.what for problem in problems]
    assert all(problem.seq in (2, None) for problem in problems)
