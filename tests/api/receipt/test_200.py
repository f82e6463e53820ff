"""GET /v1/ledger/{request_id}: each domain of a request, charged or free and why."""

from __future__ import annotations

from typing import Any

from siteglass.accounts import credits
from siteglass.lead import Lead
from tests.api.asking import LEDGER, SEARCH, answered
from tests.api.paying import IN_ORDER, STOCK, Bank
from tests.api.receipts import entries, get, look_up, spend


def _domains(leads: list[Lead]) -> list[dict[str, Any]]:
    return [
        {"domain": lead.domain, "charged": bool(lead.emails), "reason": "charged" if lead.emails else "no_address"}
        for lead in leads
    ]


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


def test_it_costs_nothing(bank: Bank) -> None:
    customer = bank.customer(lead=10)
    request_id = spend(customer)
    with customer.untouched():
        get(customer, f"{LEDGER}/{request_id}")
