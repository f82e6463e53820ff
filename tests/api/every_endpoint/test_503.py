"""The engine is unavailable: 503 with Retry-After, nothing leaked, and what needs no engine still answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.settings import Settings
from testing.api_calls import (
    ACCOUNT,
    DIAGNOSE,
    ENRICH,
    FACETS,
    INTERPRET,
    LEDGER,
    SEARCH,
    USAGE,
    VALUES,
    answered,
    refused,
    search,
)
from testing.service import serving, settings_for


@pytest.fixture(scope="module")
def away(own_settings: Settings, closed_port: int) -> Iterator[httpx.Client]:
    """The service whose engine is a closed port."""
    with serving(replace(own_settings, opensearch_urls=(f"http://127.0.0.1:{closed_port}",))) as client:
        yield client


def _unavailable(response: httpx.Response, port: int) -> None:
    refused(response, 503, "UNAVAILABLE")
    assert list(response.json()) == ["error", "message"]
    assert int(response.headers["retry-after"]) >= 1
    shown = response.text.lower() + str(response.headers).lower()
    for word in (f":{port}", "127.0.0.1", "opensearch", "connect", "refused", "errno", "traceback", "aiohttp"):
        assert word not in shown


@pytest.mark.promise("error.UNAVAILABLE", "errors.no_engine")
def test_all_operations(own: httpx.Client, away: httpx.Client, closed_port: int) -> None:
    page = search(own, {"limit": 5})["next"]
    _unavailable(away.post(SEARCH, json={}), closed_port)
    _unavailable(away.post(SEARCH, json={"keywords": ["dentist"]}), closed_port)
    _unavailable(away.post(page, json={}), closed_port)
    _unavailable(away.post(ENRICH, json={"domains": ["own-host.com"]}), closed_port)


@pytest.mark.promise("receipts.away")
def test_what_was_spent_can_be_read_without_the_index(own: httpx.Client, away: httpx.Client) -> None:
    paid = own.post(SEARCH, json={"limit": 1}).headers["x-request-id"]
    for path in (ACCOUNT, USAGE, LEDGER, f"{LEDGER}/{paid}"):
        answered(away.get(path))


@pytest.mark.promise("values.away")
def test_values_are_known_without_the_index(away: httpx.Client) -> None:
    assert answered(away.get(f"{VALUES}/city?q=munich"))["values"][0]["value"] == "Munich"


@pytest.mark.promise("order.fields")
def test_what_is_wrong_is_told_first(away: httpx.Client) -> None:
    refused(away.post(SEARCH, json={"limt": 1}), 400, "INVALID_REQUEST")
    refused(away.post(SEARCH, json={"wrapped_query": "@nope"}), 400, "INVALID_QUERY")
    refused(away.post(f"{SEARCH}/some-cursor", json={}), 400, "INVALID_CURSOR")
    refused(away.post(ENRICH, json={}), 400, "INVALID_REQUEST")
    refused(away.post(SEARCH, json={}, headers={"X-API-Key": "wrong"}), 401, "UNAUTHORIZED")


@pytest.mark.promise("route.GET /healthz", "route.GET /readyz")
def test_alive_but_not_ready(away: httpx.Client) -> None:
    assert away.get("/healthz").status_code == 200
    response = away.get("/readyz")
    assert response.status_code == 503
    assert "127.0.0.1" not in response.text


def test_no_index_yet() -> None:
    settings = settings_for("never-filled")
    port = int(settings.opensearch_urls[0].rpartition(":")[2])
    with serving(settings) as client:
        bodies: dict[str, dict[str, Any]] = {ENRICH: {"domains": ["own-host.com"]}}
        for path in (SEARCH, INTERPRET, FACETS, DIAGNOSE, ENRICH):
            body = bodies.get(path, {})
            response = client.post(path, json=body)
            _unavailable(response, port)
            assert "index" not in response.text
        assert client.get("/readyz").status_code == 503
