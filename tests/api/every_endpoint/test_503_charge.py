"""A charge that does not come through in time: no lead is shown, and nothing is claimed about the credits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import asyncpg
import pytest

from siteglass.settings import Settings
from testing.accounts import owner
from testing.api_calls import ENRICH, SEARCH, answered, refused
from testing.customers import IN_ORDER, Bank, Customer, nothing_shown
from testing.service import serving


@contextlib.contextmanager
def _balance_held(bank: Bank, customer: Customer) -> Iterator[None]:
    """Somebody else holds the row that a charge must change."""
    holder: asyncpg.Connection = bank.do(asyncpg.connect(owner(bank.settings.postgres_dsn)))
    statement = bank.postgres.sql("SELECT * FROM {schema}.balances WHERE account_id = $1 FOR UPDATE")
    bank.do(holder.execute("BEGIN"))
    bank.do(holder.fetch(statement, customer.account_id))
    yield
    bank.do(holder.close())


@pytest.mark.promise("setting.charge_timeout_ms", "charge.before_answer")
@pytest.mark.parametrize("operation", ["search", "page", "enrich"])
def test_no_lead_without_a_charge(bank: Bank, stock_settings: Settings, operation: str) -> None:
    customer = bank.customer(api=10, lead=100)
    first = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 3}))
    asked = {
        "search": (SEARCH, IN_ORDER),
        "page": (first["next"], {}),
        "enrich": (ENRICH, {"domains": ["stock-01.com"]}),
    }
    with serving(replace(stock_settings, charge_timeout_ms=200)) as client, customer.untouched():
        with _balance_held(bank, customer):
            response = customer.post(*asked[operation], client)
        refused(response, 503, "UNAVAILABLE")
        assert response.headers["retry-after"] == "1"
        assert "nothing was charged" not in response.json()["message"]
        assert "GET /v1/ledger/<X-Request-Id> shows if this was charged" in response.json()["message"]
        nothing_shown(response)
    customer.verified()
