"""GET /v1/usage: what was charged, by day, operation and key."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from testing.api_calls import LEDGER, SEARCH, USAGE, answered
from testing.customers import COST, IN_ORDER, Bank, Customer
from tests.api.receipts import another, as_owner, entries, get, look_up, moment, spend

COUNTED = "INSERT INTO {schema}.usage_days VALUES ($1, $2, $3, $4, $5, $6)"


def _row(day: str, operation: str, key: Customer, requests: int, api: int, lead: int) -> dict[str, Any]:
    return {
        "day": day,
        "operation": operation,
        "key": {"id": key.key_id, "name": "tests"},
        "requests": requests,
        "api_credits": api,
        "lead_credits": lead,
    }


@pytest.mark.promise("route.GET /v1/usage", "usage.key", "usage.order")
def test_what_was_charged(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=500)
    other = another(bank, customer, "another")
    spend(customer, 10)
    answered(customer.post(answered(customer.post(SEARCH, {**IN_ORDER, "limit": 5}))["next"], {}))
    spend(other, 4)
    look_up(customer)
    look_up(customer, "nope.invalid")
    answered(customer.post(SEARCH, {"keywords": ["nothing-has-this"]}))
    day = entries(customer)[0]["at"][:10]
    body = get(customer, USAGE, from_=day, to=day)
    assert body == {
        "from": day,
        "to": day,
        "rows": [
            _row(day, "enrich", customer, 2, 2, 1),
            _row(day, "page", customer, 1, 0, COST[10] - COST[5]),
            _row(day, "search", customer, 3, 0, COST[10] + COST[5]),
            {**_row(day, "search", other, 1, 0, COST[4]), "key": {"id": other.key_id, "name": "another"}},
        ],
        "totals": {"requests": 7, "api_credits": 2, "lead_credits": 2 * COST[10] + COST[4] + 1},
    }
    assert (10 - body["totals"]["api_credits"], 500 - body["totals"]["lead_credits"]) == customer.balance()
    assert get(other, USAGE, from_=day, to=day) == body
    only = get(customer, USAGE, from_=day, to=day, key=other.key_id)
    assert only["rows"] == body["rows"][-1:]
    assert only["totals"] == {"requests": 1, "api_credits": 0, "lead_credits": COST[4]}


@pytest.mark.promise("usage.from", "usage.to")
def test_days_are_included_at_both_ends(bank: Bank) -> None:
    customer = bank.customer()
    for day in range(1, 11):
        as_owner(bank, COUNTED, customer.key_id, date(2025, 3, day), "search", day, 0, 10 * day)
    body = get(customer, USAGE, from_="2025-03-03", to="2025-03-05")
    assert body["rows"] == [_row(f"2025-03-0{day}", "search", customer, day, 0, 10 * day) for day in (3, 4, 5)]
    assert body["totals"] == {"requests": 12, "api_credits": 0, "lead_credits": 120}
    assert [row["day"] for row in get(customer, USAGE, from_="2025-03-10", to="2025-03-10")["rows"]] == ["2025-03-10"]
    assert get(customer, USAGE, from_="2025-02-01", to="2025-02-28")["rows"] == []


@pytest.mark.promise("limit.usage_default")
def test_the_last_30_days_are_the_default(bank: Bank) -> None:
    customer = bank.customer()
    today = datetime.now(UTC).date()
    for ago in (0, 28, 29, 31, 32):
        as_owner(bank, COUNTED, customer.key_id, today - timedelta(days=ago), "page", 1, 0, ago)
    body = get(customer, USAGE)
    assert date.fromisoformat(body["to"]) - today in (timedelta(0), timedelta(days=1))  # midnight may pass
    assert date.fromisoformat(body["to"]) - date.fromisoformat(body["from"]) == timedelta(days=29)
    assert {row["lead_credits"] for row in body["rows"]} >= {28, 0}
    assert not {row["lead_credits"] for row in body["rows"]} & {31, 32}
    end = today - timedelta(days=2)
    body = get(customer, USAGE, to=str(end))
    assert (body["from"], body["to"]) == (str(end - timedelta(days=29)), str(end))
    assert [row["lead_credits"] for row in body["rows"]] == [31, 29, 28]
    body = get(customer, USAGE, from_=str(end))
    assert (body["from"], [row["lead_credits"] for row in body["rows"]]) == (str(end), [0])


@pytest.mark.promise("limit.usage_days")
def test_366_days_and_the_ends_of_time(bank: Bank) -> None:
    customer = bank.customer()
    as_owner(bank, COUNTED, customer.key_id, date(2024, 1, 1), "search", 1, 0, 1)
    as_owner(bank, COUNTED, customer.key_id, date(2024, 12, 31), "search", 1, 0, 2)
    assert get(customer, USAGE, from_="2024-01-01", to="2024-12-31")["totals"]["lead_credits"] == 3
    for first, last in (("0001-01-01", "0001-12-31"), ("9999-01-01", "9999-12-31")):
        assert get(customer, USAGE, from_=first, to=last)["rows"] == []
    assert get(customer, USAGE, to="0001-01-02")["from"] == "0001-01-01"


@pytest.mark.promise("usage.to")
def test_days_are_those_of_the_ledger(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    spend(customer)
    charge = entries(customer)[0]
    (row,) = get(customer, USAGE, from_=charge["at"][:10], to=charge["at"][:10])["rows"]
    assert (row["day"], row["lead_credits"]) == (str(moment(charge["at"]).date()), -charge["lead_credits"])


@pytest.mark.promise("usage.order", "limit.usage_rows")
def test_10_000_rows(bank: Bank) -> None:
    customer = bank.customer()
    keys = [bank.another(customer.account_id) for _ in range(27)]
    many = (
        "INSERT INTO {schema}.usage_days SELECT k, '2025-01-01'::date + d, 'enrich', 1, 1, 2"
        " FROM unnest($1::bigint[]) k, generate_series(0, 359) d"
    )
    as_owner(bank, many, [key.key_id for key in keys])
    as_owner(bank, many.replace("359", "279"), [customer.key_id])
    body = get(customer, USAGE, from_="2025-01-01", to="2025-12-31")
    assert len(body["rows"]) == 10_000
    assert body["totals"] == {"requests": 10_000, "api_credits": 10_000, "lead_credits": 20_000}
    order = [(row["day"], row["operation"], row["key"]["id"]) for row in body["rows"]]
    assert order == sorted(order)


@pytest.mark.promise("receipts.own")
def test_only_of_ones_own_account(bank: Bank) -> None:
    customer, stranger = bank.customer(lead=100), bank.customer(lead=100)
    spend(stranger)
    assert get(customer, USAGE)["rows"] == []
    for key in (stranger.key_id, 2**63 - 1):
        body = get(customer, USAGE, key=key)
        assert body["rows"] == []
        assert body["totals"] == {"requests": 0, "api_credits": 0, "lead_credits": 0}
    assert len(get(stranger, USAGE)["rows"]) == 1


@pytest.mark.promise("receipts.free")
def test_it_costs_no_credits_and_is_not_counted(bank: Bank) -> None:
    customer = bank.customer(lead=5)
    with customer.untouched():
        for path in (USAGE, USAGE, LEDGER):
            get(customer, path)
    assert get(customer, USAGE)["rows"] == []
