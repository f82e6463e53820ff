"""GET /v1/account: what an account has and on which terms, as its key sees it."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from siteglass.access.keys import KeyLimits
from siteglass.billing import credits
from testing.api_calls import ACCOUNT
from testing.customers import COST, Bank, Customer
from tests.api.receipts import another, as_owner, entries, get, look_up, moment, spend


@pytest.mark.promise("route.GET /v1/account", "account.key")
def test_everything(bank: Bank) -> None:
    plan = bank.plan(
        12.5, 40, daily_api_cap=900, daily_lead_cap=0, api_price_micros=10_000, lead_price_micros=4, currency="EUR"
    )
    ends = datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
    limits = KeyLimits(expires_at=ends, daily_api_cap=70, rate_per_s=3, burst=7)
    customer = bank.customer(api=11, lead=22, plan=plan, scopes=["account", "search"], limits=limits)
    body = get(customer, ACCOUNT)
    name = body["account"]["name"]
    made, key_made = body["account"]["created_at"], body["key"]["created_at"]
    for text in (made, key_made):
        assert abs(moment(text) - datetime.now(UTC)) < timedelta(minutes=5)
    assert body == {
        "account": {"id": customer.account_id, "name": name, "plan": plan, "created_at": made},
        "balances": {"api_credits": 11, "lead_credits": 22, "expiring": []},
        "prices": {"currency": "EUR", "api_credit": "0.010000", "lead_credit": "0.000004"},
        "limits": {
            "requests_per_second": 12.5,
            "burst": 40,
            "max_limit": 100,
            "max_domains": 100,
            "daily_api_credits": 900,
            "daily_lead_credits": 0,
            "rebill_after_hours": None,
        },
        "key": {
            "id": customer.key_id,
            "name": "tests",
            "shown": f"{customer.key[:12]}...{customer.key[-4:]}",
            "scopes": ["account", "search"],
            "created_at": key_made,
            "expires_at": "2031-02-03T04:05:06.000789Z",
            "requests_per_second": 3,
            "burst": 7,
            "daily_api_credits": 70,
            "daily_lead_credits": None,
            "used_today": {"api_credits": 0, "lead_credits": 0},
        },
    }
    stored = bank.do(bank.postgres.fetchrow("SELECT name FROM {schema}.accounts WHERE id = $1", customer.account_id))
    assert stored is not None
    assert stored["name"] == name


@pytest.mark.promise("account.null")
def test_null_where_there_is_none(bank: Bank) -> None:
    customer = bank.customer(plan=bank.plan(10, 20, rebill_after_hours=720))
    body = get(customer, ACCOUNT)
    assert body["balances"] == {"api_credits": 0, "lead_credits": 0, "expiring": []}
    assert body["prices"] == {"currency": "USD", "api_credit": "0.000000", "lead_credit": "0.000000"}
    assert body["limits"]["rebill_after_hours"] == 720
    assert body["limits"]["daily_api_credits"] is body["limits"]["daily_lead_credits"] is None
    for name in ("expires_at", "requests_per_second", "burst", "daily_api_credits", "daily_lead_credits"):
        assert body["key"][name] is None


@pytest.mark.promise("account.prices")
def test_prices_are_exact(bank: Bank) -> None:
    for micros, text in (
        (1, "0.000001"),
        (999_999, "0.999999"),
        (10**15 + 1, "1000000000.000001"),
        (10**7, "10.000000"),
    ):
        customer = bank.customer(plan=bank.plan(10, 20, api_price_micros=micros, lead_price_micros=micros))
        prices = get(customer, ACCOUNT)["prices"]
        assert (prices["api_credit"], prices["lead_credit"]) == (text, text)


@pytest.mark.promise("credits.receipts")
def test_balances_and_the_day_follow_the_charges(bank: Bank) -> None:
    customer = bank.customer(api=5, lead=100)
    other = bank.another(customer.account_id)
    spend(customer, 10)
    look_up(customer)
    spend(other, 4)
    left = {"api_credits": 4, "lead_credits": 100 - COST[10] - 1 - COST[4], "expiring": []}
    for key, api, lead in ((customer, 1, COST[10] + 1), (other, 0, COST[4])):
        body = get(key, ACCOUNT)
        assert body["balances"] == left
        assert body["key"]["id"] == key.key_id
        assert body["key"]["used_today"] == {"api_credits": api, "lead_credits": lead}
    assert customer.balance() == (left["api_credits"], left["lead_credits"])


@pytest.mark.promise("account.key")
def test_a_key_counts_with_those_it_replaced(bank: Bank) -> None:
    """As its caps do."""
    old = bank.customer(lead=100)
    new, apart = bank.rotate(old, timedelta(hours=1)), bank.another(old.account_id)
    for key in (old, new, apart):
        spend(key, 5)
    for key, lead in ((old, 2 * COST[5]), (new, 2 * COST[5]), (apart, COST[5])):
        assert get(key, ACCOUNT)["key"]["used_today"] == {"api_credits": 0, "lead_credits": lead}


@pytest.mark.promise("account.key")
def test_yesterday_does_not_count(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    as_owner(
        bank,
        "INSERT INTO {schema}.usage_days VALUES ($1, (now() AT TIME ZONE 'UTC')::date - 1, 'search', 9, 9, 9)",
        customer.key_id,
    )
    assert get(customer, ACCOUNT)["key"]["used_today"] == {"api_credits": 0, "lead_credits": 0}


def _grant(customer: Customer, api: int, lead: int, expires_at: datetime) -> None:
    reference = secrets.token_hex(8)
    bank = customer.bank
    bank.do(credits.grant(bank.postgres, customer.account_id, api, lead, "tests", reference, expires_at))


@pytest.mark.promise("account.balances")
def test_what_expires_soonest_first(bank: Bank) -> None:
    customer = bank.customer(api=50, lead=500)
    soon, later = datetime(2130, 1, 1, tzinfo=UTC), datetime(2140, 1, 1, tzinfo=UTC)
    for ends, api, lead in ((later, 1, 0), (soon, 2, 30), (soon, 0, 40)):
        _grant(customer, api, lead, ends)
    assert get(customer, ACCOUNT)["balances"] == {
        "api_credits": 53,
        "lead_credits": 570,
        "expiring": [
            {"expires_at": "2130-01-01T00:00:00.000000Z", "api_credits": 2, "lead_credits": 70},
            {"expires_at": "2140-01-01T00:00:00.000000Z", "api_credits": 1, "lead_credits": 0},
        ],
    }
    spend(customer, 10)
    assert get(customer, ACCOUNT)["balances"]["expiring"][0]["lead_credits"] == 70 - COST[10]


@pytest.mark.promise("account.balances")
def test_what_has_expired_is_gone_before_its_entry_is_written(bank: Bank) -> None:
    customer = bank.customer(api=50, lead=500)
    ends = datetime.now(UTC) + timedelta(seconds=1)
    _grant(customer, 20, 300, ends)
    while datetime.now(UTC) < ends + timedelta(milliseconds=20):
        time.sleep(0.01)
    balances = {"api_credits": 50, "lead_credits": 500, "expiring": []}
    assert get(customer, ACCOUNT)["balances"] == balances
    assert [entry["kind"] for entry in entries(customer)] == ["grant", "grant"]
    look_up(customer, "nope.invalid")
    assert get(customer, ACCOUNT)["balances"] == {**balances, "api_credits": 49}
    charge, gone, granted, _ = entries(customer)
    assert (charge["kind"], gone["kind"], gone["refers_to"]) == ("charge", "expire", granted["seq"])
    assert (gone["api_credits"], gone["lead_credits"], gone["by"], gone["key"]) == (-20, -300, "operator", None)
    assert moment(granted["expires_at"]) == ends


@pytest.mark.promise("limit.expiries")
def test_at_most_100_expiries(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    many = (
        "INSERT INTO {schema}.expiring (account_id, expires_at, seq, api, lead)"
        " SELECT $1, '2130-01-01Z'::timestamptz + n * interval '1 hour', n, 0, 1 FROM generate_series(1, 101) n"
    )
    as_owner(bank, many, customer.account_id)
    expiring = get(customer, ACCOUNT)["balances"]["expiring"]
    assert len(expiring) == 100
    assert [moment(one["expires_at"]) for one in expiring] == sorted(moment(one["expires_at"]) for one in expiring)
    assert expiring[0]["expires_at"] == "2130-01-01T01:00:00.000000Z"


@pytest.mark.promise("receipts.own")
def test_nothing_of_another_account_or_key(bank: Bank) -> None:
    customer, stranger = bank.customer(api=1, lead=2), bank.customer(api=77, lead=88)
    secret = another(bank, customer, "a name that is not shown")
    spend(stranger)
    _grant(stranger, 5, 5, datetime(2130, 1, 1, tzinfo=UTC))
    response: httpx.Response = customer.client.get(ACCOUNT)
    assert response.json()["balances"] == {"api_credits": 1, "lead_credits": 2, "expiring": []}
    for word in (customer.key, secret.key, "not shown", customer.key[12:-4]):
        assert word not in response.text


@pytest.mark.promise("receipts.free")
def test_it_costs_no_credits_and_is_no_entry(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=2)
    with customer.untouched():
        response = customer.client.get(ACCOUNT)
    assert not [name for name in response.headers if name.startswith("x-credits")]
    assert response.headers["cache-control"] == "no-store"
