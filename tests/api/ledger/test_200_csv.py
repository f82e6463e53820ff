"""GET /v1/ledger as CSV: when, and in which form."""

from __future__ import annotations

import pytest

from siteglass.billing import credits
from testing.api_calls import LEDGER, answered, refused
from testing.customers import Bank
from tests.api.receipts import another, as_table, entries, look_up, spend, table

AS_CSV = [
    "text/csv",
    "TEXT/CSV",
    "text/csv; charset=utf-8",
    "text/csv;header=present",
    "text/csv, application/json",
    "text/csv, */*",
    "text/csv;q=0.9, application/json;q=0.8",
    "application/json;q=0.1, text/csv;q=0.2",
    "text/csv;q=0.5, */*;q=0.4",
    "text/*",
    "text/html, text/csv",
]
AS_JSON = [
    "",
    "*/*",
    "application/json",
    "application/json, text/csv",
    "text/csv;q=0.5, application/json",
    "text/csv;q=0.5, */*",
    "text/csv;q=0",
    "text/csv;q=nonsense",
    "text/csv;q=0, */*",
    "application/*, text/*;q=0.3",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/csvx",
    "image/png",
    ";;,q=1,",
]


@pytest.mark.promise("ledger.csv")
@pytest.mark.parametrize("accept", AS_CSV)
def test_asked_for(bank: Bank, accept: str) -> None:
    assert table(bank.customer().client.get(LEDGER, headers={"Accept": accept})) == []


@pytest.mark.promise("ledger.csv")
@pytest.mark.parametrize("accept", AS_JSON)
def test_not_asked_for(bank: Bank, accept: str) -> None:
    assert answered(bank.customer().client.get(LEDGER, headers={"Accept": accept})) == {"entries": [], "next": None}


@pytest.mark.promise("route.GET /v1/ledger", "ledger.csv")
def test_the_same_as_json(bank: Bank) -> None:
    customer = bank.customer(api=5, lead=50)
    spend(customer)
    look_up(customer)
    response = customer.client.get(LEDGER, headers={"Accept": "text/csv"})
    assert table(response) == as_table(entries(customer))
    assert response.headers["vary"] == "Accept"
    assert response.headers["x-content-type-options"] == "nosniff"
    lines = response.text.split("\r\n")
    assert (len(lines), lines[-1]) == (5, "")
    assert "\n" not in "".join(lines)


HOSTILE = [
    "=cmd|' /C calc'!A0",
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "a,b",
    'a"b',
    "a\r\nb",
    '=HYPERLINK("http://x")',
    "🙂",
    "'",
    "a;b",
]


@pytest.mark.promise("ledger.formulas")
@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_a_key_is_in_it(bank: Bank, name: str) -> None:
    customer = bank.customer(lead=50)
    hostile = another(bank, customer, name)
    spend(hostile)
    (charge, _) = entries(customer)
    assert charge["key"] == {"id": hostile.key_id, "name": name}
    response = customer.client.get(LEDGER, headers={"Accept": "text/csv"})
    assert table(response) == as_table(entries(customer))
    assert table(response)[0]["key_id"] == str(hostile.key_id)
    if len(name) > 2:
        assert name not in response.text


@pytest.mark.promise("ledger.formulas")
@pytest.mark.parametrize("reference", [text for text in HOSTILE if "\n" not in text])
def test_no_reference_of_an_operator_is_a_formula(bank: Bank, reference: str) -> None:
    customer = bank.customer()
    bank.do(credits.grant(bank.postgres, customer.account_id, 1, 1, "=tests", reference))
    (row,) = table(customer.client.get(LEDGER, headers={"Accept": "text/csv"}))
    assert row["request_id"] in (reference, f"'{reference}")
    for cell in row.values():
        assert not cell.startswith(("=", "+", "@", "\t", "\r")), row
        assert not cell.startswith("-") or cell[1:].isdigit(), row
    assert entries(customer)[0]["request_id"] == reference


def test_errors_stay_json(bank: Bank) -> None:
    customer = bank.customer()
    headers = {"Accept": "text/csv"}
    refused(customer.client.get(f"{LEDGER}?limit=0", headers=headers), 400, "INVALID_REQUEST")
    refused(customer.client.get(LEDGER, headers={**headers, "X-API-Key": "wrong"}), 401, "UNAUTHORIZED")
