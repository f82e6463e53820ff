"""Idempotency-Key of a response that was free: it is not stored, and found again only as long as it is free."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from siteglass.access import accounts
from siteglass.platform.postgres import Postgres
from testing.accounts import owner
from testing.api_calls import SEARCH, answered, refused
from testing.customers import COST, IN_ORDER, Bank, Customer

FREE = {**IN_ORDER, "limit": 10, "wrapped_query": "!@has_email"}


def repeated(first: httpx.Response, again: httpx.Response) -> None:
    """The same leads, found and written to the ledger again, free of charge; not a replay."""
    (old, new) = (answered(first), answered(again))
    assert new["results"] == old["results"] != []
    assert again.headers["idempotency-repeated"] == "true"
    assert again.headers["x-credits-lead-used"] == "0"
    for name in ("idempotency-replayed", "idempotency-request-id", "idempotency-redacted"):
        assert name not in again.headers
    assert "idempotency-repeated" not in first.headers


def stored_answers(customer: Customer) -> int:
    settings = customer.bank.settings

    async def count() -> int:
        postgres = Postgres(owner(settings.postgres_dsn), settings.postgres_schema)
        rows = await postgres.fetch("SELECT FROM {schema}.answers WHERE account_id = $1", customer.account_id)
        await postgres.close()
        return len(rows)

    return customer.bank.do(count())


@pytest.mark.promise("retry.free")
def test_a_free_response_is_not_stored_but_found_again(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    page = answered(customer.post(SEARCH, {**FREE, "limit": 5}))["next"]
    for path, body in ((SEARCH, FREE), (page, {})):
        first = customer.post(path, body, retry=path[:200])
        for _ in range(2):
            repeated(first, customer.post(path, body, retry=path[:200]))
        refused(customer.post(path, {**body, "limit": 3}, retry=path[:200]), 422, "IDEMPOTENCY_MISMATCH")
    assert stored_answers(customer) == 0
    assert customer.balance() == (0, 100)
    # Each response has its row: the first search, and three times each of the two.
    assert len(customer.books().rows) == 1 + 1 + 2 * 3
    customer.verified()


@pytest.mark.promise("retry.price_changed", "error.IDEMPOTENCY_PRICE_CHANGED")
def test_409_if_it_would_cost_something_now(bank: Bank) -> None:
    customer, body = price_rises(bank)
    with customer.untouched():
        again = customer.post(SEARCH, body, retry="k")
    refused(again, 409, "IDEMPOTENCY_PRICE_CHANGED")
    assert again.json()["message"] == (
        "The first response to this Idempotency-Key was free, so it was not stored; now the request costs 2 lead "
        "credits. Nothing was charged. To pay that, send the request with a new key."
    )
    answered(customer.post(SEARCH, body, retry="another"))
    assert customer.balance() == (0, 100 - 2 * COST[3])


def price_rises(bank: Bank) -> tuple[Customer, dict[str, Any]]:
    """A customer whose request with the key `k` was free, as its leads were paid before, and has a price now."""
    plan = bank.plan(1_000, 1_000, rebill_after_hours=24)
    customer = bank.customer(lead=100, plan=plan)
    body = {**IN_ORDER, "limit": 3}
    answered(customer.post(SEARCH, body))
    first = customer.post(SEARCH, body, retry="k")
    repeated(first, customer.post(SEARCH, body, retry="k"))
    assert stored_answers(customer) == 0
    bank.do(accounts.set_plan(bank.postgres, accounts.Plan(plan, 1_000, 1_000), actor="tests"))
    return customer, body
