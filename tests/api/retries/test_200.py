"""Idempotency-Key: the same request again gets the first answer, byte for byte, and is charged once."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.access.keys import KeyLimits
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.accounts import owner
from testing.api_calls import ENRICH, SEARCH, answered
from testing.customers import COST, CREDIT_HEADERS, IN_ORDER, STOCK, Bank, Customer, too_few
from testing.customers import capped as capped_at
from testing.ports import free_port
from testing.service import serving

OPERATIONS = pytest.mark.parametrize("operation", ["search", "page", "enrich"])


def request_of(customer: Customer, operation: str) -> tuple[str, dict[str, Any]]:
    """Path and body of an operation that costs something."""
    if operation == "page":
        return answered(customer.post(SEARCH, {**IN_ORDER, "limit": 10}))["next"], {}
    if operation == "enrich":
        return ENRICH, {"domains": ["stock-01.com", "nobody.example", "stock-02.com"]}
    return SEARCH, {**IN_ORDER, "limit": 10}


def replayed(first: httpx.Response, again: httpx.Response) -> None:
    """The second answer is the first one, and says so."""
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["idempotency-request-id"] == first.headers["x-request-id"]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert "idempotency-replayed" not in first.headers
    for name in ("content-type", *CREDIT_HEADERS[:2]):
        assert again.headers[name] == first.headers[name]


@pytest.mark.promise("retry.replay")
@OPERATIONS
def test_the_same_again(bank: Bank, operation: str) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    first = customer.post(path, body, retry="k")
    answered(first)
    customer.post(SEARCH, {**IN_ORDER, "limit": 3})
    with customer.untouched():
        for _ in range(3):
            again = customer.post(path, body, retry="k")
            replayed(first, again)
            # the headers show what is left now
            assert tuple(int(again.headers[name]) for name in CREDIT_HEADERS[2:]) == customer.balance()
    customer.verified()


@pytest.mark.promise("retry.only_200")
@OPERATIONS
def test_without_the_header_nothing_is_kept(bank: Bank, operation: str) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    rows = len(customer.books().rows)
    assert "idempotency-replayed" not in customer.post(path, body).headers
    assert "idempotency-replayed" not in customer.post(path, body).headers
    assert len(customer.books().rows) == rows + 2
    kept = bank.postgres.fetch("SELECT 1 FROM {schema}.idempotency WHERE account_id = $1", customer.account_id)
    assert bank.do(kept) == []


def test_how_the_json_is_written_does_not_matter(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    first = customer.client.post(SEARCH, content=b'{"sort":"domain","limit":3}', headers=headers)
    with customer.untouched():
        again = customer.client.post(SEARCH, content=b' {"limit" : 3, "sort": "domain"}\n', headers=headers)
    replayed(first, again)


@pytest.mark.promise("retry.form")
@pytest.mark.parametrize("given", ['"k"', "k"])
def test_bare_and_quoted_are_the_same_key(bank: Bank, given: str) -> None:
    customer = bank.customer(lead=100)
    first = customer.post(SEARCH, IN_ORDER, retry="k")
    with customer.untouched():
        replayed(first, customer.post(SEARCH, IN_ORDER, retry=given))


@pytest.mark.promise("retry.account")
def test_every_key_of_the_account_gets_it_and_no_other_account(bank: Bank) -> None:
    one, other = bank.customer(lead=100), bank.customer(lead=100)
    sibling = bank.another(one.account_id)
    first = one.post(SEARCH, {**IN_ORDER, "limit": 3}, retry="k")
    with one.untouched():
        replayed(first, sibling.post(SEARCH, {**IN_ORDER, "limit": 3}, retry="k"))
    theirs = other.post(SEARCH, {**IN_ORDER, "limit": 3}, retry="k")
    assert "idempotency-replayed" not in theirs.headers
    assert other.balance() == (0, 100 - COST[3])
    assert answered(theirs)["result_id"] != answered(first)["result_id"]


def test_a_key_does_not_get_leads_that_its_cap_forbids_through_a_key_that_paid(bank: Bank) -> None:
    one = bank.customer(lead=100)
    body = {**IN_ORDER, "limit": 3}
    first = one.post(SEARCH, body, retry="k")
    for cap, status in ((0, 402), (COST[3] - 1, 402), (COST[3], 200)):
        capped = bank.another(one.account_id, limits=KeyLimits(daily_lead_cap=cap))
        with one.untouched():
            again = capped.post(SEARCH, body, retry="k")
        assert again.status_code == status, again.text
    replayed(first, again)
    # What it bought today counts; its own responses it gets again.
    bought = capped.post(SEARCH, {**IN_ORDER, "limit": 2}, retry="own")
    capped_at(capped.post(SEARCH, body, retry="k"), need=COST[3], left=COST[3] - COST[2])
    replayed(bought, capped.post(SEARCH, {**IN_ORDER, "limit": 2}, retry="own"))


@pytest.mark.promise("retry.only_200")
def test_what_was_refused_is_not_kept(bank: Bank) -> None:
    customer = bank.customer(lead=1)
    body = {**IN_ORDER, "limit": 10}
    too_few(customer.post(SEARCH, body, retry="k"), need=(0, COST[10]), balance=(0, 1))
    assert customer.post(SEARCH, {"limt": 1}, retry="k").status_code == 400
    customer.grant(lead=100)
    assert "idempotency-replayed" not in customer.post(SEARCH, body, retry="k").headers
    assert customer.balance() == (0, 101 - COST[10])


@pytest.mark.promise("retry.replay")
def test_it_is_given_again_when_the_engine_and_the_credits_are_gone(bank: Bank, stock_settings: Settings) -> None:
    customer = bank.customer(lead=COST[20])
    first = customer.post(SEARCH, IN_ORDER, retry="k")
    assert customer.balance() == (0, 0)
    away = replace(stock_settings, opensearch_urls=(f"http://127.0.0.1:{free_port()}",))
    with serving(away) as client, customer.untouched():
        replayed(first, customer.post(SEARCH, IN_ORDER, client, retry="k"))


def test_it_outlives_its_cursor(bank: Bank, stock_settings: Settings) -> None:
    customer = bank.customer(lead=100)
    path, body = request_of(customer, "page")
    first = customer.post(path, body, retry="k")
    with serving(replace(stock_settings, cursor_life_s=-1)) as client, customer.untouched():
        replayed(first, customer.post(path, body, client, retry="k"))
        assert customer.post(path, body, client, retry="other").status_code == 410


@pytest.mark.promise("retry.once")
def test_without_redis_the_charge_tells_them_apart(bank: Bank, stock_settings: Settings) -> None:
    customer = bank.customer(lead=100)
    with serving(replace(stock_settings, redis_url=f"redis://127.0.0.1:{free_port()}/0")) as client:
        first = customer.post(SEARCH, IN_ORDER, client, retry="k")
        with customer.untouched():
            replayed(first, customer.post(SEARCH, IN_ORDER, client, retry="k"))


def _age(bank: Bank, customer: Customer, hours: float) -> None:
    """As if the customer's answers were given so long ago."""
    as_owner = Postgres(owner(bank.settings.postgres_dsn), bank.settings.postgres_schema)

    async def move() -> None:
        await as_owner.fetch(
            "UPDATE {schema}.idempotency SET at = at - make_interval(secs => $2) WHERE account_id = $1",
            customer.account_id,
            hours * 3600,
        )
        await as_owner.close()

    bank.do(move())


@pytest.mark.promise("retry.kept")
def test_kept_for_a_day(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "limit": 3}
    first = customer.post(SEARCH, body, retry="k")
    _age(bank, customer, 23.99)
    with customer.untouched():
        replayed(first, customer.post(SEARCH, body, retry="k"))
    _age(bank, customer, 0.02)
    second = customer.post(SEARCH, body, retry="k")
    assert "idempotency-replayed" not in second.headers
    assert customer.balance() == (0, 100 - 2 * COST[3])
    with customer.untouched():
        replayed(second, customer.post(SEARCH, body, retry="k"))


def test_a_large_answer_is_kept_whole(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    first = customer.post(SEARCH, {**IN_ORDER, "limit": 60}, retry=str(uuid.uuid4()))
    assert len(json.loads(first.content)["results"]) == len(STOCK)
    key = first.request.headers["Idempotency-Key"]
    replayed(first, customer.post(SEARCH, {**IN_ORDER, "limit": 60}, retry=key))
