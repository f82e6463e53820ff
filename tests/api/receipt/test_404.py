"""GET /v1/ledger/{request_id} of a request that has no entry, or none that this account may see."""

from __future__ import annotations

import pytest

from testing.api_calls import LEDGER, SEARCH, refused
from testing.customers import Bank, Customer
from tests.api.receipts import get, spend


def _none(customer: Customer, request_id: str) -> None:
    response = customer.client.get(f"{LEDGER}/{request_id}")
    refused(response, 404, "NOT_FOUND")
    assert list(response.json()) == ["error", "message"]


@pytest.mark.promise("error.NOT_FOUND", "receipt.none")
def test_the_message(bank: Bank) -> None:
    customer = bank.customer()
    response = customer.client.get(f"{LEDGER}/0b6f5d0e-3c1f-4f0b-9a55-6d2c8f7e1a90")
    refused(response, 404, "NOT_FOUND")
    assert response.json()["message"] == (
        "There is no ledger entry at /v1/ledger/0b6f5d0e-3c1f-4f0b-9a55-6d2c8f7e1a90. Requests that failed or were "
        "refused have none; GET /v1/ledger lists all entries."
    )


@pytest.mark.promise("receipt.none")
def test_what_failed_or_was_refused_has_none(bank: Bank) -> None:
    poor = bank.customer()
    for response, status in (
        (poor.post(SEARCH, {"limt": 1}), 400),
        (poor.post(SEARCH, {"limit": 60}), 402),
        (poor.client.get(LEDGER), 200),
    ):
        assert response.status_code == status
        _none(poor, response.headers["x-request-id"])


@pytest.mark.promise("receipt.none", "receipts.own")
def test_of_another_account(bank: Bank) -> None:
    """The same answer as for one that does not exist."""
    customer, stranger = bank.customer(lead=10), bank.customer(lead=10)
    request_id, own = spend(customer), spend(stranger)  # with the same number, each in its account
    assert len(get(stranger, f"{LEDGER}/{own}")["entries"]) == 1
    assert get(customer, f"{LEDGER}/{request_id}")["request_id"] == request_id
    _none(stranger, request_id)
    theirs = stranger.client.get(f"{LEDGER}/{request_id}").json()["message"]
    nobodys = stranger.client.get(f"{LEDGER}/{request_id[::-1]}").json()["message"]
    assert theirs.replace(request_id, "") == nobodys.replace(request_id[::-1], "")


@pytest.mark.promise("receipt.none", "limit.request_id_chars")
@pytest.mark.parametrize("text", ["%00", "a%0Ab", "x" * 101, "x" * 5_000, "%FF", "'; DROP TABLE", "%25", "..%2F.."])
def test_what_no_entry_can_have(bank: Bank, text: str) -> None:
    _none(bank.customer(), text)
