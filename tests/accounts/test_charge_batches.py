"""Charges of an account that arrive together go to the database together, and end as if each had come alone."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siteglass.access.accounts import Plan, set_plan
from siteglass.access.keys import Caller, KeyLimits, revoke_key
from siteglass.billing import charge_batches, credits, ledger
from siteglass.billing.answers import AnswerToStore, compress
from siteglass.billing.charge_batches import MAX_BATCH
from siteglass.billing.credits import Balances, Bill, Billing, ChargedOperation, Mark, Receipt
from siteglass.billing.in_doubt import list_in_doubt
from siteglass.errors import CreditCapExceeded, InsufficientCredits, SiteglassError, Unauthorized, Unavailable
from siteglass.platform.postgres import Postgres, Unconfirmed
from testing.accounts import TIMEOUT_MS, bill, drop_schema, make_schema, open_account, open_key, owner

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

pytestmark = pytest.mark.anyio


class WatchedPostgres(Postgres):
    """Counts the connections that are taken, and fails after the work on one, as it is told."""

    def __init__(self, dsn: str, schema: str, **options: Any) -> None:
        super().__init__(dsn, schema, **options)
        self.taken = 0
        self.fails_with: Exception | None = None

    @asynccontextmanager
    async def connection(self, timeout_ms: int | None = None, turn: int | None = None) -> AsyncIterator[Connection]:
        self.taken += 1
        async with super().connection(timeout_ms, turn) as connection:
            yield connection
        if self.fails_with is not None:
            raise self.fails_with


@pytest.fixture
async def watched(dsn: str, schema_name: str) -> AsyncIterator[WatchedPostgres]:
    pool = WatchedPostgres(dsn, schema_name, max_connections=2)
    yield pool
    await pool.close()


@asynccontextmanager
async def _held(postgres: Postgres, dsn: str, caller: Caller) -> AsyncIterator[None]:
    """Somebody else holds the balance row, so that charges wait."""
    holder = await asyncpg.connect(owner(dsn))
    async with holder.transaction():
        await holder.execute(
            postgres.sql("SELECT * FROM {schema}.balances WHERE account_id = $1 FOR UPDATE"), caller.account_id
        )
        yield
    await holder.close()


def _keep(key: str) -> AnswerToStore:
    return AnswerToStore(key, b"print of " + key.encode(), "{}", compress(b"answer to " + key.encode()))


def _start(billing: Billing, caller: Caller, count: int, first: int = 0) -> list[asyncio.Task[Receipt | None]]:
    requests = [f"request {number}" for number in range(first, first + count)]
    return [asyncio.create_task(billing.charge(caller, request, bill(0, 1))) for request in requests]


async def _requests(postgres: Postgres, caller: Caller) -> list[str]:
    rows = await postgres.fetch(
        "SELECT request_id FROM {schema}.ledger WHERE account_id = $1 AND kind = 'charge' ORDER BY seq",
        caller.account_id,
    )
    return [row["request_id"] for row in rows]


@pytest.mark.race
async def test_what_arrives_meanwhile_is_the_next_batch(watched: WatchedPostgres, dsn: str) -> None:
    caller = await open_account(watched, lead=100)
    billing = Billing(watched, TIMEOUT_MS)
    before = watched.taken
    async with _held(watched, dsn, caller):
        first = _start(billing, caller, 1)
        await asyncio.sleep(0.1)
        others = _start(billing, caller, 30, first=1)
        await asyncio.sleep(0.1)
        assert watched.taken - before == 1
    receipts = await asyncio.gather(*first, *others)
    assert watched.taken - before == 2
    assert receipts == [Receipt(0, 1, Balances(0, 99 - number, 2 + number)) for number in range(31)]
    assert await _requests(watched, caller) == [f"request {number}" for number in range(31)]
    assert (await ledger.verify(watched, caller.account_id)).problems == []


async def test_a_batch_is_bounded(watched: WatchedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = await open_account(watched, lead=1000)
    billing = Billing(watched, TIMEOUT_MS)
    for count, batches in ((MAX_BATCH, 1), (MAX_BATCH + 1, 2)):
        before = watched.taken
        await asyncio.gather(*_start(billing, caller, count))
        assert watched.taken - before == batches
    monkeypatch.setattr(charge_batches, "MAX_BATCH_BYTES", 1_000)
    before = watched.taken
    keeps = [replace(_keep(f"large {number}"), body=bytes(400)) for number in range(6)]
    await asyncio.gather(
        *(billing.charge(caller, f"large {number}", bill(0, 1), keep) for number, keep in enumerate(keeps))
    )
    assert watched.taken - before == 3
    found = await billing.find_answer(caller, "large 5")
    assert found is not None
    assert found[0].compressed == bytes(400)


async def test_too_many_that_wait_are_refused(
    watched: WatchedPostgres, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charge_batches, "MAX_WAITING", 5)
    caller = await open_account(watched, lead=100)
    billing = Billing(watched, TIMEOUT_MS)
    async with _held(watched, dsn, caller):
        first = _start(billing, caller, 1)
        await asyncio.sleep(0.1)
        others = _start(billing, caller, 5, first=1)
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="nothing was charged"):
            await billing.charge(caller, "one too many", bill(0, 1))
    assert len(await asyncio.gather(*first, *others)) == 6
    assert "one too many" not in await _requests(watched, caller)


async def test_refusals_take_nothing_from_the_others(postgres: Postgres) -> None:
    caller = await open_account(postgres, api=2, lead=10)
    revoked, _ = await open_key(postgres, caller.account_id)
    await revoke_key(postgres, revoked.key_id, "tests")
    billing = Billing(postgres, TIMEOUT_MS)
    got = await asyncio.gather(
        billing.charge(caller, "fits", bill(1, 6)),
        billing.charge(caller, "too many leads", bill(0, 5)),
        billing.charge(caller, "fits, too", bill(0, 4)),
        billing.charge(revoked, "no key", bill(0, 0)),
        billing.charge(caller, "above its own cap", Bill("search", 0, bill(0, 3).domains, max_lead=2)),
        billing.charge(caller, "too many api", bill(2, 0)),
        billing.charge(caller, "the last one", bill(1, 0), _keep("key")),
        billing.charge(caller, "the same again", bill(1, 0), _keep("key")),
        return_exceptions=True,
    )
    assert got[0] == Receipt(1, 6, Balances(1, 4, 2))
    assert isinstance(got[1], InsufficientCredits)
    assert "needs 0 API and 5 lead credits; the account has 1 API and 4 lead credits" in got[1].message
    assert got[2] == Receipt(0, 4, Balances(1, 0, 3))
    assert isinstance(got[3], Unauthorized)
    assert isinstance(got[4], CreditCapExceeded)
    assert isinstance(got[5], InsufficientCredits)
    assert got[6] == Receipt(1, 0, Balances(0, 0, 4))
    assert got[7] is None
    assert await _requests(postgres, caller) == ["fits", "fits, too", "the last one"]
    found = await billing.find_answer(caller, "key")
    assert found is not None
    assert found[0].request_id == "the last one"


async def test_an_error_of_one_charge_is_not_that_of_the_others(watched: WatchedPostgres, dsn: str) -> None:
    """The server refuses the batch because of one charge: each is sent again alone."""
    caller = await open_account(watched, lead=10)
    billing = Billing(watched, TIMEOUT_MS)
    too_long = "x" * 101  # for the ledger
    got = await asyncio.gather(
        *(billing.charge(caller, request, bill(0, 1)) for request in ("one", too_long, "two")), return_exceptions=True
    )
    assert got[0] == Receipt(0, 1, Balances(0, 9, 2))
    assert isinstance(got[1], asyncpg.CheckViolationError)
    assert got[2] == Receipt(0, 1, Balances(0, 8, 3))
    assert await _requests(watched, caller) == ["one", "two"]


@pytest.mark.parametrize("error", [Unconfirmed("lost"), Unavailable("lost")])
async def test_after_a_lost_confirmation_all_are_in_doubt_and_none_is_repeated(
    watched: WatchedPostgres, error: Unavailable
) -> None:
    caller = await open_account(watched, lead=10)
    billing = Billing(watched, 300)
    watched.fails_with = error
    charges = [billing.charge(caller, f"r{number}", bill(0, 1), _keep(f"k{number}")) for number in range(3)]
    got = await asyncio.gather(*charges, return_exceptions=True)
    watched.fails_with = None
    for failure in got:
        assert isinstance(failure, Unavailable)
        assert "nothing was charged" not in failure.message.replace("nothing is charged twice", "")
    assert await _requests(watched, caller) == ["r0", "r1", "r2"]
    await billing.in_doubt.close()  # past their deadline
    doubts = await list_in_doubt(watched, caller.account_id)
    assert [(doubt.request_id, doubt.idempotency_key) for doubt in doubts] == [(f"r{n}", f"k{n}") for n in range(3)]


async def test_after_the_server_ended_its_process_nobody_knows(watched: WatchedPostgres) -> None:
    """An error of that kind may come after the commit."""
    caller = await open_account(watched, lead=10)
    billing = Billing(watched, 300)
    ended = asyncpg.exceptions.PostgresIOError("could not write to the log")
    ended.severity_en = "PANIC"
    watched.fails_with = ended
    got = await asyncio.gather(*(billing.charge(caller, f"r{n}", bill(0, 1)) for n in range(2)), return_exceptions=True)
    watched.fails_with = None
    assert [type(failure) for failure in got] == [Unavailable, Unavailable]
    assert await _requests(watched, caller) == ["r0", "r1"]
    await billing.in_doubt.close()
    assert len(await list_in_doubt(watched, caller.account_id)) == 2


async def test_without_a_connection_nothing_is_charged() -> None:
    nobody = Postgres("postgresql://siteglass@127.0.0.1:1/siteglass", "siteglass")
    billing = Billing(nobody, 500)
    caller = Caller(1, 1, 1, frozenset(("search",)), "standard", 1.0, 1)
    got = await asyncio.gather(*(billing.charge(caller, f"r{n}", bill(0, 1)) for n in range(3)), return_exceptions=True)
    for failure in got:
        assert isinstance(failure, Unavailable)
        assert "nothing was charged" in failure.message
    await nobody.close()


async def test_a_caller_that_leaves_stops_nobody(watched: WatchedPostgres, dsn: str) -> None:
    """One that was sent may be charged, as ever; one that still waited is not."""
    caller = await open_account(watched, lead=10)
    billing = Billing(watched, TIMEOUT_MS)
    async with _held(watched, dsn, caller):
        sent = _start(billing, caller, 2)
        await asyncio.sleep(0.1)
        waiting = _start(billing, caller, 3, first=2)
        await asyncio.sleep(0)
        sent[0].cancel()
        waiting[0].cancel()
        await asyncio.sleep(0.1)
    assert (await sent[1], await waiting[1], await waiting[2]) == tuple(
        Receipt(0, 1, Balances(0, 8 - number, 3 + number)) for number in range(3)
    )
    assert await _requests(watched, caller) == ["request 0", "request 1", "request 3", "request 4"]


async def test_each_charge_has_its_own_deadline(watched: WatchedPostgres, dsn: str) -> None:
    """The first waits for the row until its deadline; the second, which came later, is charged."""
    caller = await open_account(watched, lead=10)
    billing = Billing(watched, 1_000)
    async with _held(watched, dsn, caller):
        first = _start(billing, caller, 1)
        await asyncio.sleep(0.45)
        second = _start(billing, caller, 1, first=1)
        with pytest.raises(Unavailable):
            await first[0]
    assert await second[0] == Receipt(0, 1, Balances(0, 9, 2))
    assert await _requests(watched, caller) == ["request 1"]
    await billing.in_doubt.close()
    assert await list_in_doubt(watched, caller.account_id) == []


async def test_while_all_connections_are_busy_nothing_is_sent(postgres: Postgres, dsn: str, schema_name: str) -> None:
    """A caller that gives up in that time is told that nothing was charged, and nothing is."""
    caller = await open_account(postgres, lead=10)
    small = Postgres(dsn, schema_name, max_connections=1)
    billing = Billing(small, 300)
    async with small.connection(TIMEOUT_MS):
        with pytest.raises(Unavailable, match="nothing was charged"):
            await billing.charge(caller, "gave up", bill(0, 1))
        patient = Billing(small, TIMEOUT_MS)
        charges = _start(patient, caller, 3)
        await asyncio.sleep(0.1)
    await asyncio.gather(*charges)
    assert await _requests(postgres, caller) == ["request 0", "request 1", "request 2"]
    await small.close()


async def test_a_late_charge_is_refused_and_the_others_are_made(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    now = datetime.now(UTC)
    rows = await postgres.fetch(
        "SELECT * FROM {schema}.charge_batch($1, $2, $3, $4, $5, $6, $7, $8, $9,"
        " NULL, NULL, NULL, NULL, NULL, NULL, 1)",
        caller.account_id,
        [caller.key_id] * 2,
        ["search"] * 2,
        [0, 0],
        [1, 1],
        ["late", "in time"],
        ["c a.example", "c b.example"],
        [now - timedelta(seconds=1), now + timedelta(minutes=1)],
        [None, None],
    )
    assert [(row["place"], row["outcome"], row["entry_seq"]) for row in rows] == [(1, "late", None), (2, "charged", 2)]
    assert await _requests(postgres, caller) == ["in time"]


async def test_batches_are_made_where_each_charge_is_made_alone_too(postgres: Postgres) -> None:
    """Caps, rebilling and credits that expire: decided one after the other, and written by one commit."""
    await set_plan(postgres, Plan("batch-once", 10, 20, rebill_after_hours=24), actor="tests")
    caller = await open_account(postgres, lead=6, limits=KeyLimits(daily_lead_cap=5), plan="batch-once")
    ends = datetime.now(UTC) + timedelta(hours=1)
    await credits.grant(postgres, caller.account_id, 0, 2, "tests", "expiring", ends)
    billing = Billing(postgres, TIMEOUT_MS)
    first, same, capped, small = await asyncio.gather(
        *(billing.charge(caller, f"r{number}", bill(0, lead)) for number, lead in enumerate((3, 3, 9, 4))),
        return_exceptions=True,
    )
    assert first == Receipt(0, 3, Balances(0, 5, 3))
    assert same == Receipt(0, 0, Balances(0, 5, 4))
    assert isinstance(capped, CreditCapExceeded)
    assert small == Receipt(0, 1, Balances(0, 4, 5))
    written = await postgres.fetch(
        "SELECT xmin::text FROM {schema}.ledger WHERE account_id = $1 AND seq > 2", caller.account_id
    )
    assert len({row["xmin"] for row in written}) == 1
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


# A batch against the same charges one by one, on an account that is alike


@dataclass(frozen=True)
class Ask:
    """A charge; `key` is which of the account's keys pays."""

    key: int
    operation: ChargedOperation
    api: int
    domains: list[tuple[str, Mark]]
    max_lead: int | None
    retry: str | None


domain_lists = st.lists(
    st.tuples(
        st.from_regex(r"[a-e]{1,2}\.example", fullmatch=True),
        st.sampled_from([Mark.CHARGED, Mark.CHARGED, Mark.NO_ADDRESS, Mark.NOT_FOUND]),
    ),
    max_size=8,
    unique_by=lambda pair: pair[0],
)
asks = st.builds(
    Ask,
    st.integers(0, 2),
    st.sampled_from(["search", "page", "enrich", "export"]),
    st.integers(0, 3),
    domain_lists,
    st.none() | st.integers(0, 6),
    st.none() | st.sampled_from(["one", "two", "three", "four"]),
)
accounts_alike = st.fixed_dictionaries(
    {
        "api": st.integers(0, 25),
        "lead": st.integers(0, 60),
        "lead_cap": st.none() | st.integers(0, 30),
        "plan": st.sampled_from(["standard", "standard", "twin-once"]),
        "expiring": st.booleans(),
        "aged": st.booleans(),
    }
)

Outcome = tuple[Any, ...]


class Twin:
    """An account with three keys, the last of them revoked."""

    def __init__(self, postgres: Postgres, callers: Sequence[Caller]) -> None:
        self._postgres = postgres
        self._callers = callers

    @classmethod
    async def open(cls, postgres: Postgres, dsn: str, like: dict[str, Any]) -> Twin:
        caller = await open_account(postgres, plan=like["plan"])
        account = caller.account_id
        await credits.grant(postgres, account, like["api"] + 1, like["lead"] + 1, "tests", "opening")
        if like["expiring"]:
            ends = datetime.now(UTC) + timedelta(hours=1)
            await credits.grant(postgres, account, 1, 5, "tests", "expiring", ends)
        capped, _ = await open_key(postgres, account, KeyLimits(daily_lead_cap=like["lead_cap"]))
        revoked, _ = await open_key(postgres, account)
        await revoke_key(postgres, revoked.key_id, "tests")
        twin = cls(postgres, [caller, capped, revoked])
        if like["aged"]:  # a key that was used more than a day ago can be used again
            await Billing(postgres, TIMEOUT_MS).charge(caller, "aged", bill(0, 1), _keep("one"))
            connection = await asyncpg.connect(owner(dsn))
            await connection.execute(
                postgres.sql("UPDATE {schema}.idempotency SET at = at - interval '25 hours' WHERE account_id = $1"),
                account,
            )
            await connection.close()
        return twin

    def _charge(self, billing: Billing, number: int, ask: Ask) -> Any:
        keep = _keep(ask.retry) if ask.retry else None
        asked = Bill(ask.operation, ask.api, ask.domains, ask.max_lead)
        return billing.charge(self._callers[ask.key], f"r{number}", asked, keep)

    async def one_by_one(self, batch: Sequence[Ask]) -> list[Outcome]:
        billing = Billing(self._postgres, TIMEOUT_MS)
        return [await _outcome(self._charge(billing, number, ask)) for number, ask in enumerate(batch)]

    async def together(self, batch: Sequence[Ask]) -> list[Outcome]:
        billing = Billing(self._postgres, TIMEOUT_MS)
        return await asyncio.gather(*(_outcome(self._charge(billing, number, ask)) for number, ask in enumerate(batch)))

    async def written(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that a charge writes, without times, hashes and the numbers of account and keys."""
        account, names = self._callers[0].account_id, {str(c.key_id): n for n, c in enumerate(self._callers)}
        statements = {
            "balance": "SELECT api, lead, seq FROM {schema}.balances WHERE account_id = $1",
            "ledger": "SELECT actor_id, seq, kind::text, operation::text, api, lead, refers_to, actor_kind::text,"
            " request_id, domains FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq",
            "usage": "SELECT key_id::text, operation::text, requests, api, lead FROM {schema}.usage_days"
            " WHERE key_id IN (SELECT id FROM {schema}.keys WHERE account_id = $1) ORDER BY key_id, operation",
            "paid": "SELECT domain, seq FROM {schema}.paid WHERE account_id = $1 ORDER BY domain",
            "expiring": "SELECT seq, api, lead FROM {schema}.expiring WHERE account_id = $1 ORDER BY seq",
            "keys": "SELECT key, fingerprint, seq FROM {schema}.idempotency WHERE account_id = $1 ORDER BY key",
        }
        rows: dict[str, list[Any]] = {
            name: await self._postgres.fetch(select, account) for name, select in statements.items()
        }
        answers = []
        for retry in sorted({row["key"] for row in rows["keys"]}):
            found = await Billing(self._postgres).find_answer(self._callers[0], retry)
            answers.append((retry, found and (found[0], found[1])))
        for name in ("ledger", "usage"):
            rows[name] = [(names.get(actor, actor), *others) for actor, *others in rows[name]]
        assert (await ledger.verify(self._postgres, account)).problems == []
        return {**{name: [tuple(row) for row in found] for name, found in rows.items()}, "answers": answers}


async def _outcome(charging: Any) -> Outcome:
    try:
        receipt = await charging
    except SiteglassError as error:
        return (type(error).__name__, error.message)
    return ("stored before",) if receipt is None else ("charged", receipt)


@pytest.mark.no_cover  # the same lines over and over
def test_a_batch_does_what_one_by_one_does(dsn: str) -> None:
    with asyncio.Runner() as runner:
        schema = f"test_{secrets.token_hex(6)}"
        runner.run(make_schema(dsn, schema))
        postgres = Postgres(dsn, schema)
        runner.run(set_plan(postgres, Plan("twin-once", 10, 20, rebill_after_hours=24), actor="tests"))

        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(like=accounts_alike, batches=st.lists(st.lists(asks, min_size=1, max_size=12), max_size=3))
        def compare(like: dict[str, Any], batches: list[list[Ask]]) -> None:
            async def run() -> None:
                alone, batched = [await Twin.open(postgres, dsn, like) for _ in range(2)]
                for batch in batches:
                    assert await batched.together(batch) == await alone.one_by_one(batch)
                assert await batched.written() == await alone.written()

            runner.run(run())

        try:
            compare()
        finally:
            runner.run(postgres.close())
            runner.run(drop_schema(dsn, schema))
