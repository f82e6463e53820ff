"""Evidence that is not given: 400, 403, 404, 503."""

from __future__ import annotations

import pytest

from siteglass.billing import credits, paid
from siteglass.corpus.evidence_files import evidence_of
from testing.api_calls import ENRICH, answered, refused
from testing.customers import Bank
from tests.api.evidence.test_200 import PATH


@pytest.mark.promise("evidence.paid")
def test_403_not_paid_for(desk: Bank) -> None:
    """Nor by what another account paid."""
    customer, other = desk.customer(api=5, lead=5), desk.customer(api=5, lead=5)
    answered(other.post(ENRICH, {"domains": ["seen.example"]}))
    with customer.untouched():
        response = customer.client.get(PATH.format("seen.example"))
    refused(response, 403, "FORBIDDEN")
    assert response.json()["message"] == (
        "This account has not paid for the lead seen.example. Enrich it first (POST /v1/leads/enrich, one lead "
        "credit), then repeat the request."
    )


@pytest.mark.promise("evidence.paid")
def test_403_paid_and_given_back(desk: Bank) -> None:
    customer = desk.customer(api=5, lead=5)
    answered(customer.post(ENRICH, {"domains": ["seen.example"]}))
    charge = customer.books().rows[-1]["seq"]
    answered(customer.client.get(PATH.format("seen.example")))
    desk.do(credits.refund(desk.postgres, customer.account_id, charge, None, None, "tests", "back", "wrong"))
    refused(customer.client.get(PATH.format("seen.example")), 403, "FORBIDDEN")


def test_given_back_once_and_paid_twice(desk: Bank) -> None:
    """The other charge is still valid."""
    customer = desk.customer(api=9, lead=9)
    for _ in range(2):
        answered(customer.post(ENRICH, {"domains": ["seen.example"]}))
    answered(customer.client.get(PATH.format("seen.example")))
    charge = customer.books().rows[-2]["seq"]
    desk.do(credits.refund(desk.postgres, customer.account_id, charge, None, None, "tests", "back", "wrong"))
    answered(customer.client.get(PATH.format("seen.example")))


@pytest.mark.promise("evidence.none")
def test_404_no_such_lead(desk: Bank) -> None:
    customer = desk.customer(api=5, lead=5)
    with customer.untouched():
        response = customer.client.get(PATH.format("nobody.example"))
    refused(response, 404, "NOT_FOUND")
    assert response.json()["message"] == (
        "There is no lead nobody.example. Check its spelling: POST /v1/leads/enrich shows what exists."
    )


@pytest.mark.parametrize(
    ("path", "details"),
    [
        (PATH.format("10.0.0.1"), [{"field": "domain", "message": "'10.0.0.1' is an IP address, not a domain"}]),
        (PATH.format("seen.example") + "?a=1", [{"field": "a", "message": "unknown parameter; there are none here"}]),
    ],
)
def test_400(desk: Bank, path: str, details: list[dict[str, str]]) -> None:
    customer = desk.customer(api=5)
    with customer.untouched():
        assert refused(customer.client.get(path), 400, "INVALID_REQUEST") == details


@pytest.mark.promise("evidence.paid")
def test_503_while_a_long_ledger_is_read(desk: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read is kept: the next request continues from there, and the last one knows."""
    customer = desk.customer(api=9, lead=9)
    for _ in range(3):
        answered(customer.post(ENRICH, {"domains": ["nobody.example"]}))
    answered(customer.post(ENRICH, {"domains": ["seen.example"]}))  # row 5, after the grant
    monkeypatch.setattr(paid, "LEDGER_ROWS_AT_ONCE", 1)
    monkeypatch.setattr(paid, "PARTS_AT_ONCE", 2)
    with customer.untouched():
        for _ in range(2):
            refused(customer.client.get(PATH.format("seen.example")), 503, "UNAVAILABLE")
    answered(customer.client.get(PATH.format("seen.example")))


@pytest.mark.promise("evidence.none")
def test_503_a_file_that_cannot_be_read(desk: Bank) -> None:
    customer = desk.customer(api=9, lead=9)
    answered(customer.post(ENRICH, {"domains": ["seen.example"]}))
    file = evidence_of(desk.settings.lead_store / "leads.parquet")
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:100])
        with customer.untouched():
            refused(customer.client.get(PATH.format("seen.example")), 503, "UNAVAILABLE")
    finally:
        file.write_bytes(whole)
