"""A request as a whole has a deadline, however patient its parts are."""

from __future__ import annotations

import socket
import time
from dataclasses import replace

import pytest

from siteglass.settings import Settings
from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, SEARCH, refused
from testing.customers import Bank
from testing.service import serving


@pytest.mark.promise("setting.request_timeout_ms")
@pytest.mark.parametrize(("path", "body"), [(SEARCH, {}), (ENRICH, {"domains": ["stock-01.com"]})])
def test_an_engine_that_never_answers(bank: Bank, stock_settings: Settings, path: str, body: object) -> None:
    customer = bank.customer(api=10, lead=100)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        patient = replace(
            stock_settings,
            opensearch_urls=(f"http://127.0.0.1:{silent.getsockname()[1]}",),
            search_timeout_ms=60_000,
            request_timeout_ms=1_000,
            charge_timeout_ms=500,
        )
        with serving(patient) as client, customer.untouched():
            started = time.monotonic()
            response = customer.post(path, body, client, retry="k")
            assert 0.5 <= time.monotonic() - started < 5
            refused(response, 503, "UNAVAILABLE")
            # another attempt with this key may have been charged: that is not denied
            assert response.json()["message"] == (
                "The service is temporarily unavailable. Try again in 1 s with the same Idempotency-Key: nothing is "
                "charged twice."
            )
            assert "nothing was charged" in customer.post(path, body, client).json()["message"]
    # its claim is gone with it
    assert customer.post(path, body, retry="k").status_code == 200


def test_a_count_that_never_ends(bank: Bank, stock_settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = f"http://127.0.0.1:{silent.getsockname()[1]}"
        patient = replace(stock_settings, opensearch_urls=(engine,), search_timeout_ms=60_000, request_timeout_ms=1_000)
        with serving(patient) as client:
            for path in (INTERPRET, FACETS, DIAGNOSE):
                started = time.monotonic()
                refused(bank.customer().post(path, {}, client), 503, "UNAVAILABLE")
                assert 0.5 <= time.monotonic() - started < 5
