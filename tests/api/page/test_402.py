"""A page that the account, or the key's own cap, cannot pay: the cursor stays good for a smaller one, and for later."""

from __future__ import annotations

import pytest

from siteglass.access.keys import KeyLimits
from testing.api_calls import SEARCH, answered
from testing.customers import COST, IN_ORDER, STOCK, Bank, capped, marks, price, too_few


def _cost(start: int, end: int) -> int:
    return price(marks(STOCK[start:end]))


@pytest.mark.promise("error.INSUFFICIENT_CREDITS", "credits.smaller_limit")
def test_the_same_page_with_a_smaller_limit(bank: Bank) -> None:
    customer = bank.customer(api=7, lead=COST[10] + 3)
    path = answered(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 10}))["next"]
    for body in ({}, {"limit": 10}, {"limit": 6}):
        with customer.untouched():
            response = customer.client.post(path, json=body)
        need = _cost(10, 10 + body.get("limit", 10))
        assert need > 3
        too_few(response, need=(0, need), balance=(7, 3))
    with customer.untouched():
        too_few(customer.client.post(path), need=(0, _cost(10, 20)), balance=(7, 3))
    page = customer.pays(path, {"limit": 4}, "page", 0, marks(STOCK[10:14]))
    assert [record["domain"] for record in page["results"]] == [lead.domain for lead in STOCK[10:14]]
    assert customer.balance() == (7, 0)


def test_after_a_grant_the_refused_page_is_still_there(bank: Bank) -> None:
    customer = bank.customer(lead=COST[10])
    first = answered(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 10}))
    with customer.untouched():
        too_few(customer.client.post(first["next"], json={}), need=(0, _cost(10, 20)), balance=(0, 0))
    customer.grant(lead=_cost(10, 20))
    page = customer.pays(first["next"], {}, "page", 0, marks(STOCK[10:20]))
    assert page["result_id"] == first["result_id"]
    with customer.untouched():
        too_few(customer.client.post(page["previous"], json={}), need=(0, COST[10]), balance=(0, 0))


def test_a_page_without_addresses_is_free(bank: Bank) -> None:
    customer = bank.customer(lead=2)
    path = answered(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 3}))["next"]
    customer.pays(path, {"limit": 1}, "page", 0, marks(STOCK[3:4]))
    with customer.untouched():
        too_few(customer.client.post(path, json={"limit": 2}), need=(0, 1), balance=(0, 0))


@pytest.mark.promise("key.daily_cap")
def test_the_daily_cap_counts_pages_and_searches_together(bank: Bank) -> None:
    held = bank.customer(lead=100, limits=KeyLimits(daily_lead_cap=COST[10] + 2))
    path = answered(held.client.post(SEARCH, json={**IN_ORDER, "limit": 10}))["next"]
    with held.untouched():
        capped(held.client.post(path, json={}), need=_cost(10, 20), left=2)
    held.pays(path, {"limit": 3}, "page", 0, marks(STOCK[10:13]))
    with held.untouched():
        capped(held.client.post(path, json={"limit": 1}), need=1, left=0)
    # Another key of the account opens the same cursor, and has its own cap.
    bank.another(held.account_id).pays(path, {}, "page", 0, marks(STOCK[10:20]))
