"""An error on our side: an answer in the usual form that reveals nothing about it and costs nothing."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from testing.api_calls import ENRICH, LEDGER, SEARCH, USAGE, answered, refused
from testing.customers import IN_ORDER, Bank, nothing_shown
from testing.service import serving


class Broken(Clock):
    """A clock that fails when it is asked."""

    def now_ms(self) -> int:
        raise RuntimeError("a secret of the clock")


@pytest.fixture(scope="module")
def faulty(stock_settings: Settings) -> Iterator[httpx.Client]:
    """The service with a fault inside."""
    with serving(stock_settings, Broken()) as client:
        yield client


@pytest.mark.promise("error.INTERNAL", "charge.failure_free")
def test_nothing_is_told_and_nothing_charged(bank: Bank, faulty: httpx.Client) -> None:
    customer = bank.customer(api=10, lead=100)
    path = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 3}))["next"]
    with customer.untouched():
        for where in (SEARCH, path):
            response = customer.post(where, {}, faulty)
            refused(response, 500, "INTERNAL")
            assert list(response.json()) == ["error", "message"]
            nothing_shown(response)
            for word in ("secret", "clock", "Traceback", "RuntimeError", ".py"):
                assert word not in response.text
    response = faulty.get(USAGE, headers={"X-API-Key": customer.key})
    refused(response, 500, "INTERNAL")
    assert "clock" not in response.text
    # What does not need the broken part still works.
    answered(customer.post(ENRICH, {"domains": ["nope.invalid"]}, faulty))
    answered(faulty.get(LEDGER, headers={"X-API-Key": customer.key}))
