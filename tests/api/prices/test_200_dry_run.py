"""dry_run: the price of exactly this page or batch; nothing shown, nothing charged."""

from __future__ import annotations

import re
from typing import Any

import pytest

from siteglass.access.keys import KeyLimits
from testing.api_calls import ENRICH, SEARCH, answered, refused
from testing.customers import COST, CREDIT_HEADERS, IN_ORDER, STOCK, Bank, Customer
from tests.api.retries.test_200 import OPERATIONS, replayed, request_of


def quoted(customer: Customer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The price, after a look at all that a dry run must not do."""
    with customer.untouched():
        response = customer.post(path, {**body, "dry_run": True})
        left = customer.balance()
    told = answered(response)
    assert "stock-" not in response.text
    assert [int(response.headers[name]) for name in CREDIT_HEADERS] == [0, 0, *left]
    return told


@pytest.mark.promise("search.dry_run", "credits.dry_run")
@pytest.mark.parametrize("limit", [1, 7, 20, 60, 100])
def test_a_search(bank: Bank, limit: int) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "limit": limit}
    told = quoted(customer, SEARCH, body)
    assert told == {"dry_run": True, "api_credits": 0, "lead_credits": COST[min(limit, 60)], "total_results": 60}
    answered(customer.post(SEARCH, body))
    assert customer.balance() == (0, 100 - told["lead_credits"])


def test_generic_addresses_hidden(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "exclude_generic_emails": True, "limit": 60}
    assert quoted(customer, SEARCH, body)["lead_credits"] == 20


@pytest.mark.promise("page.dry_run", "credits.dry_run")
def test_every_page_has_its_own_price(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    path, first = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 7}))["next"], 7
    while path is not None:
        told = quoted(customer, path, {"limit": 9})
        last = min(first + 9, 60)
        assert told == {
            "dry_run": True,
            "api_credits": 0,
            "lead_credits": COST[last] - COST[first],
            "total_results": 60,
        }
        before = customer.balance()[1]
        path = answered(customer.post(path, {"limit": 9}))["next"]
        assert before - customer.balance()[1] == told["lead_credits"]
        first = last


@pytest.mark.promise("enrich.dry_run", "credits.dry_run")
def test_an_enrichment(bank: Bank) -> None:
    customer = bank.customer(api=5, lead=100)
    domains = [lead.domain for lead in STOCK[:5]] + ["nobody.example", "localhost", "WWW.stock-01.com"]
    told = quoted(customer, ENRICH, {"domains": domains})
    assert told == {"dry_run": True, "api_credits": 1, "lead_credits": 5, "found": 5, "on_lists": {}}
    answered(customer.post(ENRICH, {"domains": domains}))
    assert customer.balance() == (4, 95)


def test_it_needs_no_credits_and_no_cap_stops_it(bank: Bank) -> None:
    poor = bank.customer(limits=KeyLimits(daily_lead_cap=1))
    told = quoted(poor, SEARCH, {**IN_ORDER, "limit": 60, "max_lead_credits": 3})
    assert told["lead_credits"] == COST[60]


@pytest.mark.promise("retry.only_200")
@OPERATIONS
def test_it_is_not_kept_for_retries(bank: Bank, operation: str) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    asked = customer.post(path, {**body, "dry_run": True}, retry="k")
    assert "idempotency-replayed" not in customer.post(path, {**body, "dry_run": True}, retry="k").headers
    assert answered(asked)["dry_run"] is True
    first = customer.post(path, body, retry="k")
    replayed(first, customer.post(path, body, retry="k"))


@OPERATIONS
@pytest.mark.parametrize("value", [None, False])
def test_false_and_null_do_it(bank: Bank, operation: str, value: bool | None) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    rows = len(customer.books().rows)
    response = customer.post(path, {**body, "dry_run": value})
    assert "results" in answered(response)
    assert len(customer.books().rows) == rows + 1


@pytest.mark.promise("search.dry_run")
@OPERATIONS
@pytest.mark.parametrize("value", ["true", 1, 0, [], {}])
def test_400_what_is_no_boolean(bank: Bank, operation: str, value: object) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    with customer.untouched():
        (problem,) = refused(customer.post(path, {**body, "dry_run": value}), 400, "INVALID_REQUEST")
    assert problem["field"] == "dry_run"
    assert problem["message"].startswith("expected true or false, found")


def test_a_key_needs_the_scope_of_the_operation(bank: Bank) -> None:
    searcher = bank.customer(api=10, lead=10, scopes=["search"])
    refused(searcher.post(ENRICH, {"domains": ["stock-01.com"], "dry_run": True}), 403, "FORBIDDEN")


@pytest.mark.promise("rate.dry_run")
@pytest.mark.alone  # beside others Redis may look slow, and each worker has a part of the burst only
def test_it_costs_of_the_rate_limit_what_its_operation_does(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=10, plan=bank.plan(0.001, 4))
    asked = {"domains": [f"nobody-{n}.example" for n in range(100)], "dry_run": True}
    response = customer.post(ENRICH, asked)
    answered(response)
    assert set(re.findall(r"r=(\d+)", response.headers["ratelimit"])) == {"0"}


def test_it_is_not_echoed(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    page = answered(customer.post(SEARCH, {**IN_ORDER, "country": "DEU", "dry_run": False, "max_lead_credits": 99}))
    assert page["filters"] == {"country": "DEU"}


def test_nothing_is_shown_of_an_empty_page(bank: Bank) -> None:
    customer = bank.customer()
    told = quoted(customer, SEARCH, {"keywords": ["nothing-has-this"]})
    assert told == {"dry_run": True, "api_credits": 0, "lead_credits": 0, "total_results": 0}
