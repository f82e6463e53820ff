"""A search that the account, or the key's own cap, cannot pay: nothing shown, nothing charged, and what would do."""

from __future__ import annotations

import pytest

from siteglass.access.keys import KeyLimits
from testing.api_calls import SEARCH, answered, refused
from testing.customers import COST, FAST, IN_ORDER, STOCK, Bank, capped, marks, too_few


@pytest.mark.promise("error.INSUFFICIENT_CREDITS", "credits.too_few", "credits.message")
def test_the_body(bank: Bank) -> None:
    poor = bank.customer(lead=3)
    with poor.untouched():
        response = poor.client.post(SEARCH, json={**IN_ORDER, "limit": 10})
    too_few(response, need=(0, COST[10]), balance=(0, 3))


@pytest.mark.promise("credits.too_few")
@pytest.mark.parametrize("balance", [0, 1, 5, COST[20] - 1])
def test_one_credit_too_few_is_too_few(bank: Bank, balance: int) -> None:
    poor = bank.customer(api=100, lead=balance)
    with poor.untouched():
        too_few(poor.client.post(SEARCH, json=IN_ORDER), need=(0, COST[20]), balance=(100, balance))


def test_exactly_enough_is_enough(bank: Bank) -> None:
    customer = bank.customer(lead=COST[20])
    customer.pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))
    assert customer.balance() == (0, 0)
    with customer.untouched():
        too_few(customer.client.post(SEARCH, json=IN_ORDER), need=(0, COST[20]), balance=(0, 0))


@pytest.mark.promise("credits.smaller_limit")
def test_a_smaller_limit_works(bank: Bank) -> None:
    poor = bank.customer(lead=3)
    with poor.untouched():
        too_few(poor.client.post(SEARCH, json={**IN_ORDER, "limit": 6}), need=(0, 4), balance=(0, 3))
    page = poor.pays(SEARCH, {**IN_ORDER, "limit": 5}, "search", 0, marks(STOCK[:5]))
    assert page["size"] == 5
    assert poor.balance() == (0, 0)


def test_what_costs_nothing_needs_nothing(bank: Bank) -> None:
    poor = bank.customer()
    poor.pays(SEARCH, {**IN_ORDER, "limit": 1}, "search", 0, marks(STOCK[:1]))
    poor.pays(SEARCH, {"keywords": ["nothing-has-this"]}, "search", 0, [])
    with poor.untouched():
        too_few(poor.client.post(SEARCH, json={**IN_ORDER, "limit": 2}), need=(0, 1), balance=(0, 0))


@pytest.mark.promise("charge.address")
def test_select_saves_nothing(bank: Bank) -> None:
    poor = bank.customer(lead=1)
    with poor.untouched():
        response = poor.client.post(SEARCH, json={**IN_ORDER, "limit": 3, "select": ["domain"]})
    too_few(response, need=(0, 2), balance=(0, 1))


def test_a_grant_helps_at_once(bank: Bank) -> None:
    poor = bank.customer()
    too_few(poor.client.post(SEARCH, json={**IN_ORDER, "limit": 2}), need=(0, 1), balance=(0, 0))
    poor.grant(lead=1)
    answered(poor.client.post(SEARCH, json={**IN_ORDER, "limit": 2}))
    assert poor.balance() == (0, 0)


@pytest.mark.promise("order.fields")
def test_what_is_wrong_is_told_first(bank: Bank) -> None:
    poor = bank.customer()
    refused(poor.client.post(SEARCH, json={"limt": 1}), 400, "INVALID_REQUEST")
    refused(poor.client.post(SEARCH, json={"wrapped_query": "@nope"}), 400, "INVALID_QUERY")


@pytest.mark.promise("error.CREDIT_CAP_EXCEEDED", "key.daily_cap", "credits.cap_key")
def test_the_daily_cap_of_a_key(bank: Bank) -> None:
    held = bank.customer(lead=100, limits=KeyLimits(daily_lead_cap=5))
    with held.untouched():
        capped(held.client.post(SEARCH, json={**IN_ORDER, "limit": 9}), need=6, left=5)
    held.pays(SEARCH, {**IN_ORDER, "limit": 3}, "search", 0, marks(STOCK[:3]))
    with held.untouched():
        capped(held.client.post(SEARCH, json={**IN_ORDER, "limit": 6}), need=4, left=3)
    held.pays(SEARCH, {**IN_ORDER, "limit": 5}, "search", 0, marks(STOCK[:5]))
    with held.untouched():
        capped(held.client.post(SEARCH, json={**IN_ORDER, "limit": 2}), need=1, left=0)
    held.pays(SEARCH, {**IN_ORDER, "limit": 1}, "search", 0, marks(STOCK[:1]))
    # The cap is the key's, the credits are the account's.
    bank.another(held.account_id).pays(SEARCH, {**IN_ORDER, "limit": 9}, "search", 0, marks(STOCK[:9]))
    assert held.balance() == (0, 100 - 2 - 3 - 6)


def test_a_cap_of_nothing(bank: Bank) -> None:
    held = bank.customer(lead=100, limits=KeyLimits(daily_lead_cap=0))
    with held.untouched():
        capped(held.client.post(SEARCH, json={**IN_ORDER, "limit": 2}), need=1, left=0)
    held.pays(SEARCH, {**IN_ORDER, "limit": 1}, "search", 0, marks(STOCK[:1]))


@pytest.mark.promise("credits.cap_key")
def test_a_plan_caps_its_keys_too(bank: Bank) -> None:
    plan = bank.plan(100_000, 100_000, daily_lead_cap=2)
    held = bank.customer(lead=100, plan=plan)
    looser = bank.another(held.account_id, limits=KeyLimits(daily_lead_cap=50))
    for customer in (held, looser):
        with customer.untouched():
            capped(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 5}), need=3, left=2)
        customer.pays(SEARCH, {**IN_ORDER, "limit": 3}, "search", 0, marks(STOCK[:3]))


def test_an_api_cap_does_not_stop_a_search(bank: Bank) -> None:
    held = bank.customer(lead=10, plan=FAST, limits=KeyLimits(daily_api_cap=0))
    held.pays(SEARCH, {**IN_ORDER, "limit": 3}, "search", 0, marks(STOCK[:3]))
