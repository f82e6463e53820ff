"""Operators change, suspend and close accounts: charges that wait, other plans, and what cannot be done."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from siteglass.access import audit, lifecycle
from siteglass.access.accounts import AccountError, Plan, create_account, list_accounts, set_plan
from siteglass.access.keys import KeyLimits
from siteglass.billing import credits, ledger
from siteglass.billing.credits import Billing
from siteglass.errors import AccountSuspended
from siteglass.platform.postgres import Postgres
from testing.accounts import TIMEOUT_MS, bill, open_account, pay

pytestmark = pytest.mark.anyio


@pytest.mark.promise("account.suspended")
@pytest.mark.parametrize("limits", [None, KeyLimits(daily_lead_cap=99)], ids=["batched", "one by one"])
async def test_charges_that_wait_while_it_is_suspended_are_refused(
    postgres: Postgres, limits: KeyLimits | None
) -> None:
    caller = await open_account(postgres, lead=50, limits=limits)
    billing = Billing(postgres, TIMEOUT_MS)
    async with postgres.transaction(TIMEOUT_MS) as connection:
        await connection.fetchrow(
            postgres.sql("SELECT * FROM {schema}.set_account_state($1, 'suspended', 'because', 'tests')"),
            caller.account_id,
        )
        waiting = [asyncio.create_task(billing.charge(caller, f"r{n}", bill(0, 1))) for n in range(5)]
        await asyncio.sleep(0.3)
        assert not any(task.done() for task in waiting)
    for outcome in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(outcome, AccountSuspended)
        assert outcome.reason == "because"
    await lifecycle.resume(postgres, caller.account_id, actor="tests")
    assert (await pay(postgres, caller, 0, 1)).lead == 49
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def test_a_suspension_waits_for_the_charge_that_came_first(postgres: Postgres) -> None:
    caller = await open_account(postgres, lead=50)
    async with postgres.transaction(TIMEOUT_MS) as connection:
        # Locks the balance as a charge does.
        await connection.execute(postgres.sql("SELECT {schema}.remember_paid($1, 1, 0)"), caller.account_id)
        suspending = asyncio.create_task(lifecycle.suspend(postgres, caller.account_id, "because", actor="tests"))
        await asyncio.sleep(0.3)
        assert not suspending.done()
    await suspending


@pytest.mark.promise("account.plan")
async def test_another_plan_knows_what_was_paid_before(postgres: Postgres) -> None:
    plan = f"p{secrets.token_hex(6)}"
    await set_plan(postgres, Plan(plan, 10, 20, rebill_after_hours=24), actor="tests")
    caller = await open_account(postgres, lead=50)
    assert (await pay(postgres, caller, 0, 5)).lead == 45
    assert (await pay(postgres, caller, 0, 5)).lead == 40
    name = secrets.token_hex(8)
    await lifecycle.change_account(postgres, caller.account_id, name=name, plan=plan, actor="tests")
    receipt = await Billing(postgres, TIMEOUT_MS).charge(caller, "again", bill(0, 5))
    assert receipt is not None
    assert (receipt.lead, receipt.balances.lead) == (0, 40)
    (account,) = [one for one in await list_accounts(postgres, caller.account_id - 1) if one.id == caller.account_id]
    assert (account.name, account.plan, account.state) == (name, plan, "active")
    row = (await audit.list_audit(postgres, caller.account_id))[-1]
    assert (row.action, row.actor_id) == ("account.set", "tests")
    assert row.details == {"renamed": True, "plan": plan, "plan_before": "standard"}


async def test_what_cannot_be_done_is_refused_and_changes_nothing(postgres: Postgres) -> None:
    taken = secrets.token_hex(8)
    await create_account(postgres, taken, actor="tests")
    number = await create_account(postgres, secrets.token_hex(8), actor="tests")
    change, nobody = lifecycle.change_account, 10**9
    before = await audit.list_audit(postgres, number)
    for action, message in (
        (change(postgres, number, name=taken, actor="tests"), "already exists"),
        (change(postgres, number, name="", actor="tests"), "1 to 200 characters"),
        (change(postgres, number, plan="nope", actor="tests"), "no plan 'nope'"),
        (change(postgres, nobody, name="x", actor="tests"), "There is no account"),
        (lifecycle.suspend(postgres, nobody, "because", actor="tests"), "There is no account"),
        (lifecycle.suspend(postgres, number, " . ", actor="tests"), "Give a reason"),
        (lifecycle.suspend(postgres, number, "x" * 201, actor="tests"), "at most 200 characters"),
        (lifecycle.resume(postgres, number, actor="tests"), "is active already"),
        (lifecycle.export(postgres, nobody, lambda _: None), "There is no account"),
    ):
        with pytest.raises(AccountError, match=message):
            await action
    assert await audit.list_audit(postgres, number) == before
    await lifecycle.close(postgres, number, "gone", actor="tests")
    for action, message in (
        (lifecycle.suspend(postgres, number, "because", actor="tests"), "account resume"),
        (lifecycle.close(postgres, number, "because", actor="tests"), "account resume"),
    ):
        with pytest.raises(AccountError, match=message):
            await action


@pytest.mark.promise("account.closed")
async def test_the_data_of_an_account_is_removed_when_its_time_has_come(postgres: Postgres) -> None:
    caller = await open_account(postgres, api=5, lead=50)
    await pay(postgres, caller, 1, 5)
    await lifecycle.close(postgres, caller.account_id, "gone", actor="tests")
    await lifecycle.erase_closed(postgres, 1)
    assert await _state(postgres, caller.account_id) == "closed"
    assert await lifecycle.erase_closed(postgres, 0) >= 1
    assert await _state(postgres, caller.account_id) == "erased"
    assert await lifecycle.erase_closed(postgres, 0) == 0
    with pytest.raises(AccountError, match="data is removed"):
        await lifecycle.resume(postgres, caller.account_id, actor="tests")
    assert (await credits.Billing(postgres).balance(caller.account_id)).lead == 45
    assert (await ledger.verify(postgres, caller.account_id)).problems == []


async def _state(postgres: Postgres, account_id: int) -> str:
    row = await postgres.fetchrow("SELECT state FROM {schema}.accounts WHERE id = $1", account_id)
    assert row is not None
    return str(row["state"])
