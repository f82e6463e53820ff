"""rebill_after_hours of a plan: a lead that the account paid for within that time is free, wherever it comes up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from siteglass.access import accounts
from siteglass.billing import credits
from siteglass.billing.credits import Mark
from siteglass.platform.postgres import Postgres
from testing.accounts import owner
from testing.api_calls import ENRICH, SEARCH, answered
from testing.customers import COST, IN_ORDER, STOCK, Bank, Customer, Marks, capped, marks

DAY = 24


@pytest.fixture
def customer(bank: Bank) -> Customer:
    return bank.customer(api=100, lead=100, plan=bank.plan(100_000, 100_000, rebill_after_hours=DAY))


def _free(made: Marks, paid: set[str]) -> Marks:
    return [(d, Mark.PAID_BEFORE if mark is Mark.CHARGED and d in paid else mark) for d, mark in made]


def _paid(count: int) -> set[str]:
    return {domain for domain, mark in marks(STOCK[:count]) if mark is Mark.CHARGED}


def test_the_same_search_again(customer: Customer) -> None:
    customer.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))
    customer.pays(SEARCH, IN_ORDER, "search", 0, _free(marks(STOCK[:20]), _paid(20)))
    assert customer.balance() == (100, 100 - COST[20])


def test_only_what_is_new_on_a_larger_page(customer: Customer) -> None:
    customer.pays(SEARCH, {**IN_ORDER, "limit": 7}, "search", 0, marks(STOCK[:7]))
    customer.pays(SEARCH, {**IN_ORDER, "limit": 20}, "search", 0, _free(marks(STOCK[:20]), _paid(7)))
    assert customer.balance() == (100, 100 - COST[20])


@pytest.mark.promise("credits.rebill")
def test_across_search_pages_and_enrichment(customer: Customer) -> None:
    first = customer.pays(SEARCH, {**IN_ORDER, "limit": 10}, "search", 0, marks(STOCK[:10]))
    customer.pays(first["next"], {}, "page", 0, marks(STOCK[10:20]))
    customer.pays(first["next"], {}, "page", 0, _free(marks(STOCK[10:20]), _paid(20)))
    domains = [lead.domain for lead in STOCK[18:22]]
    # enrichment charges what it finds, address or not: stock-18 has none and was free in the search
    found: Marks = [(domain, Mark.PAID_BEFORE if domain in _paid(20) else Mark.CHARGED) for domain in domains]
    assert [mark for _, mark in found] == [Mark.CHARGED, Mark.PAID_BEFORE, Mark.CHARGED, Mark.CHARGED]
    customer.pays(ENRICH, {"domains": domains}, "enrich", 1, found)
    again: Marks = [(domain, Mark.PAID_BEFORE) for domain in domains]
    customer.pays(ENRICH, {"domains": domains}, "enrich", 1, again)
    known = _paid(20) | set(domains)
    customer.pays(SEARCH, {**IN_ORDER, "limit": 60}, "search", 0, _free(marks(STOCK), known))


@pytest.mark.promise("credits.rebill")
def test_inside_one_batch(customer: Customer) -> None:
    asked = ["stock-01.com", "www.stock-01.com", "https://stock-01.com/x"]
    customer.pays(ENRICH, {"domains": asked}, "enrich", 1, [("stock-01.com", Mark.CHARGED)])
    customer.pays(ENRICH, {"domains": asked}, "enrich", 1, [("stock-01.com", Mark.PAID_BEFORE)])


def test_the_price_beforehand_and_the_cap_know_it(customer: Customer) -> None:
    answered(customer.post(SEARCH, {**IN_ORDER, "limit": 10}))
    body: dict[str, Any] = {**IN_ORDER, "limit": 20}
    rest = COST[20] - COST[10]
    assert answered(customer.post(SEARCH, {**body, "dry_run": True}))["lead_credits"] == rest
    capped(customer.post(SEARCH, {**body, "max_lead_credits": rest - 1}), need=rest, left=rest - 1)
    answered(customer.post(SEARCH, {**body, "max_lead_credits": rest}))
    assert answered(customer.post(SEARCH, {**body, "dry_run": True}))["lead_credits"] == 0


def test_what_was_refused_is_not_paid(bank: Bank) -> None:
    poor = bank.customer(lead=3, plan=bank.plan(100_000, 100_000, rebill_after_hours=DAY))
    assert poor.post(SEARCH, IN_ORDER).status_code == 402
    poor.grant(lead=100)
    poor.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))


def test_another_account_pays_for_itself(bank: Bank, customer: Customer) -> None:
    answered(customer.post(SEARCH, IN_ORDER))
    other = bank.customer(lead=100, plan=bank.plan(100_000, 100_000, rebill_after_hours=DAY))
    other.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))


@pytest.mark.promise("credits.rebill")
@pytest.mark.race
def test_16_at_once_pay_each_lead_once(customer: Customer) -> None:
    def ask(number: int) -> None:
        if number % 2:
            answered(customer.post(SEARCH, {**IN_ORDER, "limit": 30}))
        else:
            answered(customer.post(ENRICH, {"domains": [lead.domain for lead in STOCK[1:30] if lead.emails]}))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(48)))
    assert customer.balance()[1] == 100 - COST[30]
    customer.verified()


async def _hours_ago(bank: Bank, account_id: int, hours: float) -> None:
    as_owner = Postgres(owner(bank.settings.postgres_dsn), bank.settings.postgres_schema)
    await as_owner.fetch(
        "UPDATE {schema}.paid SET at = at - make_interval(secs => $2) WHERE account_id = $1",
        account_id,
        hours * 3600,
    )
    await as_owner.close()


@pytest.mark.promise("credits.rebill")
def test_after_that_time_it_is_paid_again(bank: Bank, customer: Customer) -> None:
    customer.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))
    bank.do(_hours_ago(bank, customer.account_id, DAY - 0.01))
    customer.pays(SEARCH, IN_ORDER, "search", 0, _free(marks(STOCK[:20]), _paid(20)))
    bank.do(_hours_ago(bank, customer.account_id, 0.02))
    customer.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))
    customer.pays(SEARCH, IN_ORDER, "search", 0, _free(marks(STOCK[:20]), _paid(20)))


def test_a_refunded_lead_is_not_paid(bank: Bank, customer: Customer) -> None:
    customer.pays(SEARCH, {**IN_ORDER, "limit": 3}, "search", 0, marks(STOCK[:3]))
    bank.do(credits.refund(bank.postgres, customer.account_id, 2, None, None, "tests", "r", "wrong data"))
    assert customer.balance() == (100, 100)
    customer.pays(SEARCH, {**IN_ORDER, "limit": 3}, "search", 0, marks(STOCK[:3]))


def test_a_plan_that_begins_with_it_looks_back(bank: Bank) -> None:
    plan = bank.plan(100_000, 100_000)
    customer = bank.customer(lead=100, plan=plan)
    customer.pays(SEARCH, {**IN_ORDER, "limit": 10}, "search", 0, marks(STOCK[:10]))
    customer.pays(SEARCH, {**IN_ORDER, "limit": 10}, "search", 0, marks(STOCK[:10]))
    changed = accounts.Plan(plan, 100_000, 100_000, rebill_after_hours=DAY)
    bank.do(accounts.set_plan(bank.postgres, changed, actor="tests"))
    customer.pays(SEARCH, IN_ORDER, "search", 0, _free(marks(STOCK[:20]), _paid(10)))


def test_a_plan_without_it_charges_each_time(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    for _ in range(2):
        customer.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))
