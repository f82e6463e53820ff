"""What was spent cannot be read in time: 503 by the deadline, and nothing about the database is shown."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

import asyncpg
import httpx
import pytest

from siteglass.settings import Settings
from testing.accounts import owner
from testing.api_calls import READING, refused
from testing.customers import Bank
from testing.service import serving


@contextlib.contextmanager
def _tables_held(bank: Bank) -> Iterator[None]:
    """Somebody changes the tables; others of this run wait as long, so it is over soon."""
    holder: asyncpg.Connection = bank.do(asyncpg.connect(owner(bank.settings.postgres_dsn)))
    bank.do(holder.execute("BEGIN"))
    lock = "LOCK TABLE {schema}.usage_days, {schema}.ledger IN ACCESS EXCLUSIVE MODE"
    bank.do(holder.execute(bank.postgres.sql(lock)))
    try:
        yield
    finally:
        bank.do(holder.execute("ROLLBACK"))
        bank.do(holder.close())


def _well(client: httpx.Client, path: str) -> None:
    """It is answered, soon: a new connection may take longer than this short deadline."""
    deadline = time.monotonic() + 10
    while client.get(path).status_code not in (200, 404):
        assert time.monotonic() < deadline


@pytest.mark.promise("receipts.away")
@pytest.mark.parametrize("path", READING)
def test_by_the_deadline(bank: Bank, stock_settings: Settings, path: str) -> None:
    customer = bank.customer(lead=10)
    with serving(replace(stock_settings, postgres_timeout_ms=600)) as client:
        client.headers["X-API-Key"] = customer.key
        _well(client, path)
        with _tables_held(bank):
            started = time.monotonic()
            response = client.get(path)
            took = time.monotonic() - started
        refused(response, 503, "UNAVAILABLE")
        assert response.json()["message"] == (
            "The service is temporarily unavailable and nothing was charged. Try again in 1 s."
        )
        assert response.headers["retry-after"] == "1"
        assert took < 2
        _well(client, path)
