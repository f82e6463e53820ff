"""Every request with a key that was found counts as one of that key, whatever becomes of it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from siteglass.settings import Settings
from testing.api_calls import ACCOUNT, ENRICH, LEDGER, SEARCH, USAGE
from testing.customers import IN_ORDER, Bank
from testing.service import serving
from tests.api.every_endpoint.test_500 import Broken


def _counted(bank: Bank, key_id: int) -> Counter[tuple[str, str]]:
    """What the table says about a key, all of it from today."""
    reading = bank.postgres.fetch(
        "SELECT day, operation, outcome, requests FROM {schema}.request_days WHERE key_id = $1",
        key_id,
    )
    rows = bank.do(reading)
    today = datetime.now(UTC).date()
    assert all(0 <= (today - row["day"]).days <= 1 for row in rows)  # midnight may have passed
    return sum((Counter({(row["operation"], row["outcome"]): row["requests"]}) for row in rows), Counter())


def test_by_operation_and_outcome(bank: Bank, stock_settings: Settings) -> None:
    customer = bank.customer(lead=50)
    narrow = bank.another(customer.account_id, scopes=["enrich"])
    bound = bank.another(customer.account_id)
    bank.allow(bound.key_id, "192.0.2.0/24")
    slow = bank.customer(plan=bank.plan(0.001, 1))
    with serving(stock_settings) as client:
        for _ in range(3):
            assert customer.post(SEARCH, {**IN_ORDER, "limit": 3}, client).status_code == 200
        assert customer.post(SEARCH, {"limt": 1}, client).status_code == 400
        assert customer.post(ENRICH, {"domains": ["stock-01.com"]}, client).status_code == 402
        assert client.get(f"{LEDGER}/nope", headers={"X-API-Key": customer.key}).status_code == 404
        assert narrow.post(SEARCH, {}, client).status_code == 403
        assert bound.post(SEARCH, {}, client).status_code == 403
        statuses = [client.get(ACCOUNT, headers={"X-API-Key": slow.key}).status_code for _ in range(3)]
        assert statuses == [200, 429, 429]
        assert client.post(SEARCH, json={}, headers={"X-API-Key": customer.key[:-1]}).status_code == 401
        assert client.post("/v1/nope", json={}, headers={"X-API-Key": customer.key}).status_code == 404
    assert _counted(bank, customer.key_id) == {
        ("search", "ok"): 3,
        ("search", "refused"): 1,
        ("enrich", "refused"): 1,
        ("receipt", "refused"): 1,
    }
    assert _counted(bank, narrow.key_id) == {("search", "refused"): 1}
    assert _counted(bank, bound.key_id) == {("search", "refused"): 1}
    assert _counted(bank, slow.key_id) == {("account", "ok"): 1, ("account", "limited"): 2}


def test_what_failed_counts_and_adds_up(bank: Bank, stock_settings: Settings) -> None:
    customer = bank.customer(lead=50)
    for total in (2, 4):
        with serving(stock_settings, Broken()) as client:
            for _ in range(2):
                assert client.get(USAGE, headers={"X-API-Key": customer.key}).status_code == 500
        assert _counted(bank, customer.key_id) == {("usage", "failed"): total}
