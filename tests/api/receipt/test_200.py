"""GET /v1/ledger/{request_id}: each domain of a request, charged or free and why."""

from __future__ import annotations

from typing import Any

import pytest

from siteglass.billing import credits
from siteglass.corpus.lead import Lead
from testing.api_calls import LEDGER, SEARCH, answered
from testing.customers import IN_ORDER, STOCK, Bank
from tests.api.receipts import as_owner, entries, get, look_up, spend


def _domains(leads: list[Lead]) -> list[dict[str, Any]]:
    return [
        {"domain": lead.domain, "charged": bool(lead.emails), "reason": "charged" if lead.emails else "no_address"}
        for lead in leads
    ]


@pytest.mark.promise("route.GET /v1/ledger/{request_id}", "receipt.domains")
def test_a_search(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    response = customer.post(SEARCH, {**IN_ORDER, "limit": 7})
    request_id = response.headers["x-request-id"]
    body = get(customer, f"{LEDGER}/{request_id}")
    (entry,) = entries(customer, request_id=request_id)
    assert body == {"request_id": request_id, "entries": [{**entry, "domains": _domains(STOCK[:7])}]}
    assert [one["domain"] for one in body["entries"][0]["domains"]] == [
        record["domain"] for record in answered(response)["results"]
    ]
    charged = [one for one in body["entries"][0]["domains"] if one["charged"]]
    assert len(charged) == -entry["lead_credits"] == int(response.headers["x-credits-lead-used"])


def test_a_page(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    path = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 3}))["next"]
    request_id = customer.post(path, {}).headers["x-request-id"]
    (entry,) = get(customer, f"{LEDGER}/{request_id}")["entries"]
    assert (entry["operation"], entry["domains"]) == ("page", _domains(STOCK[3:6]))


@pytest.mark.promise("route.GET /v1/ledger/{request_id}", "receipt.domains")
def test_an_enrichment(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    first = STOCK[0].domain
    request_id = look_up(customer, f"www.{first}", "nope.invalid", "not a domain", f"eve@{first}", STOCK[1].domain)
    (entry,) = get(customer, f"{LEDGER}/{request_id}")["entries"]
    assert (entry["api_credits"], entry["lead_credits"]) == (-1, -2)
    assert sorted(entry["domains"], key=lambda one: str(one["domain"])) == [
        {"domain": "nope.invalid", "charged": False, "reason": "not_found"},
        {"domain": first, "charged": True, "reason": "charged"},
        {"domain": STOCK[1].domain, "charged": True, "reason": "charged"},
    ]


def test_nothing_found(bank: Bank) -> None:
    customer = bank.customer(api=1)
    request_id = look_up(customer, "10.0.0.1")
    (entry,) = get(customer, f"{LEDGER}/{request_id}")["entries"]
    assert (entry["api_credits"], entry["domains"]) == (-1, [])


def test_a_grant(bank: Bank) -> None:
    customer = bank.customer()
    bank.do(credits.grant(bank.postgres, customer.account_id, 3, 4, "tests", "INV 7 ü"))
    body = get(customer, f"{LEDGER}/INV 7 ü")
    (entry,) = body["entries"]
    assert (body["request_id"], entry["kind"], entry["domains"]) == ("INV 7 ü", "grant", [])


@pytest.mark.promise("ledger.staff", "receipt.refunds")
def test_a_refund_stands_beside_its_charge(bank: Bank) -> None:
    customer, stranger = bank.customer(api=5, lead=100), bank.customer(api=5, lead=100)
    look_up(stranger)
    bank.do(credits.refund(bank.postgres, stranger.account_id, 2, 1, 0, "someone", "ticket 0", "a reason"))
    request_id = look_up(customer)
    spend(customer)
    for lead, reference in ((0, "ticket 1"), (1, "ticket 2")):
        api = 1 - lead
        bank.do(credits.refund(bank.postgres, customer.account_id, 2, api, lead, "someone", reference, "a reason"))
    body = get(customer, f"{LEDGER}/{request_id}")
    shown = [(entry["seq"], entry["kind"], entry["api_credits"], entry["lead_credits"]) for entry in body["entries"]]
    assert shown == [(2, "charge", -1, -1), (4, "refund", 1, 0), (5, "refund", 0, 1)]
    assert [entry["refers_to"] for entry in body["entries"]] == [None, 2, 2]
    assert [entry["request_id"] for entry in body["entries"]] == [request_id, "ticket 1", "ticket 2"]
    assert [entry["domains"] for entry in body["entries"]][1:] == [[], []]
    assert {entry["by"] for entry in body["entries"][1:]} == {"operator"}
    for word in ("someone", "a reason"):
        assert word not in str(body) + str(get(customer, LEDGER))
    assert [entry["seq"] for entry in get(customer, f"{LEDGER}/ticket 2")["entries"]] == [5]


@pytest.mark.promise("receipt.domains")
def test_a_lead_paid_for_before(bank: Bank) -> None:
    customer = bank.customer(api=5, lead=100, plan=bank.plan(1_000, 1_000, rebill_after_hours=24))
    look_up(customer, STOCK[1].domain)
    request_id = spend(customer, 3)
    (entry,) = get(customer, f"{LEDGER}/{request_id}")["entries"]
    assert entry["lead_credits"] == -1
    assert entry["domains"] == [
        {"domain": STOCK[0].domain, "charged": False, "reason": "no_address"},
        {"domain": STOCK[1].domain, "charged": False, "reason": "already_paid"},
        {"domain": STOCK[2].domain, "charged": True, "reason": "charged"},
    ]


@pytest.mark.promise("limit.receipt_entries")
def test_at_most_100_entries_the_first_ones(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    request_id = spend(customer, 60)
    grow = """
    INSERT INTO {schema}.ledger
    SELECT $1, n, now(), 'refund', 'search', 0, 0, NULL, 2, 'operator', 'tests', 'r' || n, '', '', sha256('')
    FROM generate_series(3, 150) n
    """
    as_owner(bank, grow, customer.account_id)
    as_owner(bank, "UPDATE {schema}.balances SET at = now() WHERE account_id = $1", customer.account_id)
    found = [entry["seq"] for entry in get(customer, f"{LEDGER}/{request_id}")["entries"]]
    assert found == list(range(2, 102))


@pytest.mark.promise("receipts.free")
def test_it_costs_nothing(bank: Bank) -> None:
    customer = bank.customer(lead=10)
    request_id = spend(customer)
    with customer.untouched():
        get(customer, f"{LEDGER}/{request_id}")
