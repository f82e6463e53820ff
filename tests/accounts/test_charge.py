"""A charge: exact, refused in full or taken in full, whoever else is charging."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from siteglass.access.accounts import AccountError, Plan, list_plans, set_plan
from siteglass.access.keys import Caller, KeyLimits, Keys, revoke_key
from siteglass.access.rotation import rotate_key
from siteglass.billing import credits, ledger
from siteglass.billing.credits import Balances, Bill, Mark, Receipt
from siteglass.errors import CreditCapExceeded, InsufficientCredits, Unauthorized, Unavailable
from siteglass.platform.postgres import Postgres
from testing import account_proofs
from testing.accounts import SECRETS, TIMEOUT_MS, bill, open_account, open_key, owner, pay

pytestmark = pytest.mark.anyio


async def _rows(postgres: Postgres, account_id: int) -> list[asyncpg.Record]:
    return await postgres.fetch(
        "SELECT *, kind::text, operation::text, actor_kind::text FROM {schema}.ledger WHERE account_id = $1"
        " ORDER BY seq",
        account_id,
    )


async def test_a_charge_takes_credits_and_writes_its_row(postgres: Postgres) -> None:
    caller = await open_account(postgres, api=5, lead=30)
    asked = bill(1, 20, "enrich")
    receipt = await credits.Billing(postgres, TIMEOUT_MS).charge(caller, "request", asked)
    assert receipt == Receipt(1, 20, Balances(4, 10, 2))
    row = (await _rows(postgres, caller.account_id))[1]
    assert (row["kind"], row["operation"], row["api"], row["lead"]) == ("charge", "enrich", -1, -20)
    assert (row["actor_kind"], row["actor_id"], row["request_id"]) == ("key", str(caller.key_id), "request")
    assert credits.read_domains(row["domains"]) == asked.domains
    assert abs(datetime.now(UTC) - row["at"]) < timedelta(seconds=30)
    assert await credits.Billing(postgres).balance(caller.account_id) == receipt.balances


async def test_a_charge_of_nothing_writes_its_row_too(postgres: Postgres) -> None:
    caller = await open_account(postgres)
    free = [("example.com", Mark.NO_ADDRESS), ("nope.invalid", Mark.NOT_FOUND)]
    for seq, domains in enumerate((free, []), 1):
        receipt = await credits.Billing(postgres, TIMEOUT_MS).charge(caller, "request", Bill("search", 0, domains))
        assert receipt == Receipt(0, 0, Balances(0, 0, seq))
    rows = await _rows(postgres, caller.account_id)
    assert [credits.read_domains(row["domains"]) for row in rows] == [free, []]


@pytest.mark.parametrize(("api", "lead"), [(0, 11), (3, 0), (3, 11), (3, 1)])
async def test_too_few_credits_charge_nothing(postgres: Postgres, api: int, lead: int) -> None:
    caller = await open_account(postgres, api=2, lead=10)
    with pytest.raises(InsufficientCredits, match=f"needs {api} API and {lead} lead .* has 2 API and 10 lead"):
        await pay(postgres, caller, api, lead)
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(2, 10, 1)
    assert await pay(postgres, caller, 2, 10) == Balances(0, 0, 2)


async def test_a_key_that_ended_meanwhile_pays_nothing(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    soon = KeyLimits(expires_at=datetime.now(UTC) + timedelta(seconds=0.5))
    short, _ = await open_key(postgres, caller.account_id, soon)
    await pay(postgres, short, 0, 1)
    await revoke_key(postgres, caller.key_id, "tests")
    await asyncio.sleep(0.6)
    for ended in (caller, short, replace(caller, key_id=10**9)):
        with pytest.raises(Unauthorized):
            await pay(postgres, ended, 0, 1)
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 9, 2)


async def test_a_key_spends_only_for_its_own_account(postgres: Postgres) -> None:
    mine, theirs = await open_account(postgres, lead=10), await open_account(postgres, lead=10)
    with pytest.raises(Unauthorized):
        await pay(postgres, replace(mine, account_id=theirs.account_id), 0, 1)


async def test_the_daily_caps_of_a_key(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, api=100, lead=100, limits=KeyLimits(daily_api_cap=2, daily_lead_cap=10))
    await pay(postgres, caller, 1, 7)
    with pytest.raises(CreditCapExceeded, match="needs 4 credits; the key's daily lead cap leaves 3"):
        await pay(postgres, caller, 0, 4)
    with pytest.raises(CreditCapExceeded, match="needs 2 credits; the key's daily API cap leaves 1"):
        await pay(postgres, caller, 2, 0)
    await pay(postgres, caller, 1, 3)
    await pay(postgres, caller, 0, 0)
    other, _ = await open_key(postgres, caller.account_id)
    assert await pay(postgres, other, 0, 50) == Balances(98, 40, 5)
    # yesterday's spending does not count
    as_owner = Postgres(owner(dsn), postgres.schema)
    earlier = "UPDATE {schema}.usage_days SET day = day - 1 WHERE key_id = $1"
    await as_owner.fetch(earlier, caller.key_id)
    await as_owner.close()
    await pay(postgres, caller, 0, 10)


async def test_the_cap_of_a_plan_holds_for_its_keys(postgres: Postgres) -> None:
    await set_plan(postgres, Plan("capped", 10, 20, daily_lead_cap=5), actor="tests")
    caller = await open_account(postgres, lead=100, limits=KeyLimits(daily_lead_cap=50), plan="capped")
    with pytest.raises(CreditCapExceeded):
        await pay(postgres, caller, 0, 6)
    await pay(postgres, caller, 0, 5)
    assert "capped" in [p.name for p in await list_plans(postgres)]


@pytest.mark.race
async def test_a_daily_cap_holds_in_a_race(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, lead=1000, limits=KeyLimits(daily_lead_cap=25))
    pools = [Postgres(dsn, postgres.schema, max_connections=1) for _ in range(16)]
    answers = await asyncio.gather(
        *(pay(pool, caller, 0, 1) for pool in pools for _ in range(4)), return_exceptions=True
    )
    assert sum(isinstance(answer, Balances) for answer in answers) == 25
    assert sum(isinstance(answer, CreditCapExceeded) for answer in answers) == 39
    assert (await credits.Billing(postgres).balance(caller.account_id)).lead == 975
    await asyncio.gather(*(pool.close() for pool in pools))


@pytest.mark.race
async def test_64_clients_race_for_the_last_10_credits(postgres: Postgres, dsn: str) -> None:
    await account_proofs.race(postgres, dsn, 60)


async def test_a_charge_that_waited_too_long_is_not_taken(postgres: Postgres, dsn: str) -> None:
    """Somebody holds the balance row: the charge gives up in time, and is not taken afterwards either."""
    caller = await open_account(postgres, lead=10)
    holder = await asyncpg.connect(owner(dsn))
    started = asyncio.get_running_loop().time()
    async with holder.transaction():
        await holder.execute(
            postgres.sql("SELECT * FROM {schema}.balances WHERE account_id = $1 FOR UPDATE"), caller.account_id
        )
        with pytest.raises(Unavailable):
            await credits.Billing(postgres, 1000).charge(caller, "request", bill(0, 1))
    assert asyncio.get_running_loop().time() - started < 1.5
    await holder.close()
    await asyncio.sleep(0.2)
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 10, 1)


async def _charge(
    postgres: Postgres, caller: Caller, api: int, lead: int, domains: str, deadline: datetime | None = None
) -> asyncpg.Record:
    """The function of the database itself, past what Python checks."""
    return await postgres.call(
        "charge",
        account_id=caller.account_id,
        key_id=caller.key_id,
        operation="search",
        api_credits=api,
        lead_credits=lead,
        request_id="r",
        domains=domains,
        deadline=deadline or datetime.now(UTC) + timedelta(minutes=1),
        timeout_ms=TIMEOUT_MS,
    )


async def test_a_charge_after_its_deadline_is_refused_by_the_database(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    row = await _charge(postgres, caller, 0, 1, "c a.example", deadline=datetime.now(UTC) - timedelta(milliseconds=1))
    assert row["outcome"] == "late"
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 10, 1)


async def test_a_busy_account_leaves_the_pool_to_others(dsn: str, schema_name: str, postgres: Postgres) -> None:
    busy, other = await open_account(postgres, lead=100), await open_account(postgres, lead=100)
    small = Postgres(dsn, schema_name, max_connections=3)
    holder = await asyncpg.connect(owner(dsn))
    async with holder.transaction():
        await holder.execute(
            postgres.sql("SELECT * FROM {schema}.balances WHERE account_id = $1 FOR UPDATE"), busy.account_id
        )
        billing = credits.Billing(small, TIMEOUT_MS)
        waiting = [asyncio.create_task(billing.charge(busy, f"request {n}", bill(0, 1))) for n in range(20)]
        await asyncio.sleep(0.1)
        assert (await asyncio.wait_for(pay(small, other, 0, 1), 5)).lead == 99
    receipts = await asyncio.gather(*waiting)
    assert [receipt and receipt.balances.lead for receipt in receipts] == list(range(99, 79, -1))
    await holder.close()
    await small.close()


@pytest.mark.parametrize(("api", "lead"), [(-1, 0), (credits.MAX_CHARGE + 1, 0)])
async def test_amounts_are_bounded(postgres: Postgres, api: int, lead: int) -> None:
    caller = await open_account(postgres, lead=10)
    with pytest.raises(ValueError, match="a charge must be 0 to"):
        await pay(postgres, caller, api, lead)


@pytest.mark.parametrize(
    "domain", ["", "a", "someone@example.com", "a.com\nc b.com", "A.com", "é.com", "a." * 127 + "com"]
)
def test_only_domains_enter_the_ledger(domain: str) -> None:
    with pytest.raises(ValueError, match="only normalized domains"):
        credits.format_domains([("fine.example", Mark.CHARGED), (domain, Mark.CHARGED)])


async def test_no_address_enters_the_ledger_whoever_writes_it(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=10)
    with pytest.raises(asyncpg.CheckViolationError):
        await _charge(postgres, caller, 0, 1, "c a@b.example")


async def test_grants_are_bounded_and_need_an_account(postgres: Postgres) -> None:
    caller = await open_account(postgres)
    for api, lead in ((0, 0), (-1, 5), (credits.MAX_GRANT + 1, 0)):
        with pytest.raises(AccountError, match="A grant must be"):
            await credits.grant(postgres, caller.account_id, api, lead, "tests", "r")
    with pytest.raises(AccountError, match="no account"):
        await credits.grant(postgres, 10**9, 1, 1, "tests", "r")
    for number in range(1000):
        await credits.grant(postgres, caller.account_id, credits.MAX_GRANT, 0, "tests", f"{number}")
    with pytest.raises(AccountError, match=r"Row 5 of the ledger was already written for '4'\. Nothing was changed"):
        await credits.grant(postgres, caller.account_id, 1, 0, "tests", "4")
    with pytest.raises(AccountError, match="at most 1,000,000,000,000,000 API credits"):
        await credits.grant(postgres, caller.account_id, 1, 0, "tests", "r")
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def test_a_rotated_key_shares_the_caps_of_the_one_before(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=100, limits=KeyLimits(daily_lead_cap=10))
    await pay(postgres, caller, 0, 4)
    _, key = await rotate_key(postgres, SECRETS, caller.key_id, timedelta(hours=1), "tests")
    rotated = await Keys(postgres, SECRETS, TIMEOUT_MS).find(key)
    await pay(postgres, rotated, 0, 4)
    for one in (caller, rotated):
        with pytest.raises(CreditCapExceeded, match="needs 3 credits; the key's daily lead cap leaves 2"):
            await pay(postgres, one, 0, 3)
    stranger, _ = await open_key(postgres, caller.account_id, KeyLimits(daily_lead_cap=10))
    await pay(postgres, stranger, 0, 10)
    await pay(postgres, caller, 0, 2)


@pytest.mark.nightly
@pytest.mark.alone
async def test_what_was_paid_before_does_not_slow_a_charge(postgres: Postgres) -> None:
    """A connection keeps its plans: those made when nothing was paid yet must do for an account that paid a lot."""
    await set_plan(postgres, Plan("once", 10, 20, rebill_after_hours=24), actor="tests")
    caller = await open_account(postgres, lead=10**6, plan="once")
    took_s = []
    for number in range(160):
        leads = [(f"lead-{number}-{place}.example", Mark.CHARGED) for place in range(100)]
        started = time.perf_counter()
        await credits.Billing(postgres, TIMEOUT_MS).charge(caller, "request", Bill("search", 0, leads))
        took_s.append(time.perf_counter() - started)
    early, late = statistics.median(took_s[10:30]), statistics.median(took_s[-20:])
    assert late < 4 * early, f"{late * 1e3:.1f} ms against {early * 1e3:.1f} ms"


@pytest.mark.parametrize(
    ("api", "lead", "domains"), [(-5, 0, ""), (0, -5, ""), (0, 2, "c a.example"), (0, 0, "c a.example")]
)
async def test_a_charge_only_takes_and_only_what_its_domains_say(
    postgres: Postgres, api: int, lead: int, domains: str
) -> None:
    caller = await open_account(postgres, api=10, lead=10)
    with pytest.raises(asyncpg.CheckViolationError, match="not a charge"):
        await _charge(postgres, caller, api, lead, domains)
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(10, 10, 1)


async def test_what_an_operator_could_not_wait_for_is_not_done(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, lead=10)
    holder = await asyncpg.connect(owner(dsn))
    async with holder.transaction():
        await holder.execute(
            postgres.sql("SELECT * FROM {schema}.balances WHERE account_id = $1 FOR UPDATE"), caller.account_id
        )
        with pytest.raises(
            AccountError,
            match=r"it may or may not have been made\. Run the command again with "
            "--reference 'ticket 7'",
        ):
            await credits.adjust(postgres, caller.account_id, 0, 7, "tests", "ticket 7", "a test")
    await holder.close()
    await asyncio.sleep(0.3)
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 10, 1)
    await credits.adjust(postgres, caller.account_id, 0, 7, "tests", "ticket 7", "a test")
    with pytest.raises(AccountError, match="Row 2 of the ledger was already written for 'ticket 7'"):
        await credits.adjust(postgres, caller.account_id, 0, 7, "tests", "ticket 7", "a test")
    assert await credits.Billing(postgres).balance(caller.account_id) == Balances(0, 17, 2)
