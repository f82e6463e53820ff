"""max_lead_credits: a page or batch above the caller's own price is refused, whatever the account has."""

from __future__ import annotations

import pytest

from testing.api_calls import ENRICH, SEARCH, answered, refused
from testing.customers import COST, IN_ORDER, STOCK, Bank, capped, too_few
from tests.api.retries.test_200 import OPERATIONS, replayed, request_of


@pytest.mark.promise("search.max_lead_credits", "credits.cap_request")
@pytest.mark.parametrize("limit", [2, 20, 60])
def test_a_search(bank: Bank, limit: int) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "limit": limit}
    with customer.untouched():
        response = customer.post(SEARCH, {**body, "max_lead_credits": COST[limit] - 1})
    capped(response, need=COST[limit], left=COST[limit] - 1)
    assert response.json()["message"] == (
        f"This request needs {COST[limit]} credits; `max_lead_credits` allows {COST[limit] - 1}. Nothing was charged. "
        "Request less at once (`limit`, fewer domains), or raise the cap."
    )
    answered(customer.post(SEARCH, {**body, "max_lead_credits": COST[limit]}))
    assert customer.balance() == (0, 100 - COST[limit])


@pytest.mark.promise("enrich.max_lead_credits", "page.max_lead_credits", "credits.cap_request")
def test_a_page_and_an_enrichment(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    path, _ = request_of(customer, "page")
    domains = [lead.domain for lead in STOCK[:4]]
    with customer.untouched():
        capped(customer.post(path, {"max_lead_credits": 3}), need=COST[20] - COST[10], left=3)
        capped(customer.post(ENRICH, {"domains": domains, "max_lead_credits": 3}), need=4, left=3)
    assert answered(customer.post(path, {"limit": 3, "max_lead_credits": 2}))["size"] == 3
    answered(customer.post(ENRICH, {"domains": domains, "max_lead_credits": 4}))


def test_nothing_to_pay_passes_a_cap_of_nothing(bank: Bank) -> None:
    customer = bank.customer(api=1)
    answered(customer.post(SEARCH, {"keywords": ["nothing-has-this"], "max_lead_credits": 0}))
    answered(customer.post(ENRICH, {"domains": ["nobody.example"], "max_lead_credits": 0}))
    assert customer.balance() == (0, 0)


def test_the_account_comes_after_the_cap(bank: Bank) -> None:
    poor = bank.customer(lead=1)
    capped(poor.post(SEARCH, {**IN_ORDER, "max_lead_credits": 5}), need=COST[20], left=5)
    too_few(poor.post(SEARCH, {**IN_ORDER, "max_lead_credits": 50}), need=(0, COST[20]), balance=(0, 1))


def test_refused_is_not_kept(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "max_lead_credits": 3}
    capped(customer.post(SEARCH, body, retry="k"), need=COST[20], left=3)
    first = customer.post(SEARCH, IN_ORDER, retry="k")
    replayed(first, customer.post(SEARCH, IN_ORDER, retry="k"))


@pytest.mark.promise("search.max_lead_credits")
@OPERATIONS
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "expected a number from 0 to 1000000, found -1"),
        (1_000_001, "expected a number from 0 to 1000000, found 1000001"),
        ("5", "expected a whole number from 0 to 1000000, found a string"),
        (True, "expected a whole number from 0 to 1000000, found a boolean"),
        (2.5, "expected a whole number from 0 to 1000000, found 2.5"),
    ],
)
def test_400_what_is_no_cap(bank: Bank, operation: str, value: object, message: str) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    with customer.untouched():
        (problem,) = refused(customer.post(path, {**body, "max_lead_credits": value}), 400, "INVALID_REQUEST")
    assert problem == {"field": "max_lead_credits", "message": message}
