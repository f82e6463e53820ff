"""Every error that the document announces for a charging operation is provoked, and reads as the document shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import httpx
import pytest

from siteglass.access import lifecycle
from siteglass.access.keys import KeyLimits, Keys
from siteglass.billing import account_status as standing
from siteglass.billing import receipts
from siteglass.errors import Unavailable
from siteglass.leads import diagnose, enrich, facets, interpret
from siteglass.leads import search as searching
from siteglass.query import completion
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
    refused,
    search,
)
from testing.claiming import claimed
from testing.customers import STOCK, Bank, Customer
from testing.service import serving
from tests.api.describing import Description
from tests.api.retries.test_free import price_rises

RIGHT: dict[str, dict[str, Any]] = {
    "search": {"limit": 10, "sort": "domain"},
    "page": {},
    "enrich": {"domains": [STOCK[1].domain]},
}
WRONG = {
    "search": {"limt": 5, "min_score": 140},
    "page": {"limit": 0},
    "enrich": {"domains": [], "select": ["email"]},
    "facets": {"facets": ["contry"], "size": 0},
}
CHARGING = pytest.mark.parametrize("name", RIGHT)


@pytest.fixture(scope="module")
def described(own: httpx.Client) -> Description:
    return Description(own)


@pytest.fixture(scope="module")
def away(own_settings: Settings, closed_port: int) -> Iterator[httpx.Client]:
    """The service whose engine is a closed port."""
    with serving(replace(own_settings, opensearch_urls=(f"http://127.0.0.1:{closed_port}",))) as client:
        yield client


def _path(client: httpx.Client, name: str) -> str:
    if name == "page":
        return str(search(client, {"limit": 10, "sort": "domain"})["next"])
    return {"search": SEARCH, "enrich": ENRICH}[name]


def _shown(described: Description, name: str, response: httpx.Response, code: str) -> None:
    """The answer is announced, and reads as the example does but for its numbers."""
    refused(response, response.status_code, code)
    described.check_answer(name, response)
    example = described.error_example(name, response.status_code, code)
    assert re.sub(r"\d+", "0", response.text) == re.sub(r"\d+", "0", _compact(example))


def _announced(described: Description, name: str) -> set[str]:
    """The codes of all errors that the document has for an operation."""
    return {
        code
        for status, response in described.operation(name)["responses"].items()
        if status != "200"
        for code in response["content"]["application/json"]["examples"]
    }


def _suspended(bank: Bank) -> Customer:
    """An account that is suspended for the reason in the document's example."""
    made = bank.customer(api=100, lead=100)
    bank.do(lifecycle.suspend(bank.postgres, made.account_id, "Invoice 2026-114 is not paid", actor="tests"))
    return made


def _until_refused(customer: Customer, path: str, body: dict[str, Any]) -> httpx.Response:
    """The first answer that is not 200; a slow Redis may let a few more through than the limit."""
    for _ in range(5):
        response = customer.post(path, body)
        if response.status_code != 200:
            break
    return response


def _compact(body: object) -> str:
    return httpx.Response(200, json=body).text


@CHARGING
def test_refused_for_what_was_sent(described: Description, own: httpx.Client, name: str) -> None:
    path = _path(own, name)
    for response, code in (
        (own.post(path, json=WRONG[name]), "INVALID_REQUEST"),
        (own.post(path, json={}, headers={"X-API-Key": "wrong"}), "UNAUTHORIZED"),
        (own.post(path, content=b"x" * 70_000, headers={"Content-Type": "application/json"}), "PAYLOAD_TOO_LARGE"),
        (own.post(path, content=b"{}"), "UNSUPPORTED_MEDIA_TYPE"),
    ):
        _shown(described, name, response, code)
        assert response.json() == described.error_example(name, response.status_code, code)


def test_refused_for_a_query_or_a_cursor(described: Description, own: httpx.Client, own_settings: Settings) -> None:
    query = own.post(SEARCH, json={"wrapped_query": "@country(USA)\n@technologies(Wix)"})
    _shown(described, "search", query, "INVALID_QUERY")
    assert query.json() == described.error_example("search", 400, "INVALID_QUERY")
    cursor, _ = described.operation("page")["parameters"]
    _shown(described, "page", own.post(f"{SEARCH}/{cursor['example']}", json={}), "INVALID_CURSOR")
    with serving(replace(own_settings, cursor_life_s=-1)) as late:
        _shown(described, "page", late.post(_path(own, "page"), json={}), "CURSOR_EXPIRED")


@CHARGING
def test_refused_for_who_asks(described: Description, bank: Bank, name: str) -> None:
    rich = bank.customer(api=100, lead=100)
    path = _path(rich.client, name)
    body = RIGHT[name]

    without_scope = bank.another(rich.account_id, scopes=["account"])
    _shown(described, name, without_scope.post(path, body), "FORBIDDEN")
    suspended = _suspended(bank)
    _shown(described, name, suspended.post(path, body), "ACCOUNT_SUSPENDED")
    capped = bank.another(rich.account_id, limits=KeyLimits(daily_lead_cap=0))
    _shown(described, name, capped.post(path, body), "CREDIT_CAP_EXCEEDED")
    slow = bank.another(rich.account_id, limits=KeyLimits(rate_per_s=0.001, burst=1))
    _shown(described, name, _until_refused(slow, path, body), "TOO_MANY_REQUESTS")
    poor = bank.customer(api=1, lead=8)  # what the first page costs, and one of each kind
    poor_path = _path(poor.client, name)
    poor_body = {"domains": [lead.domain for lead in STOCK[:20]]} if name == "enrich" else {**body, "limit": 60}
    _shown(described, name, poor.post(poor_path, poor_body), "INSUFFICIENT_CREDITS")


@CHARGING
def test_refused_for_what_failed(
    described: Description, own: httpx.Client, away: httpx.Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _path(own, name)
    _shown(described, name, away.post(path, json=RIGHT[name]), "UNAVAILABLE")

    async def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(searching, "first_page", fail)
    monkeypatch.setattr(searching, "later_page", fail)
    monkeypatch.setattr(enrich, "enrich", fail)
    _shown(described, name, own.post(path, json=RIGHT[name]), "INTERNAL")


@CHARGING
def test_refused_for_its_retry_key(described: Description, bank: Bank, name: str) -> None:
    customer = bank.customer(api=100, lead=100)
    path = _path(customer.client, name)
    described.check_200(name, customer.post(path, RIGHT[name], retry="one"))
    again = customer.post(path, RIGHT[name], retry="one")
    described.check_200(name, again)
    assert again.headers["Idempotency-Replayed"] == "true"
    other = customer.post(path, {**RIGHT[name], "max_lead_credits": 99}, retry="one")
    _shown(described, name, other, "IDEMPOTENCY_MISMATCH")
    with claimed(customer, "busy"):
        _shown(described, name, customer.post(path, RIGHT[name], retry="busy"), "IDEMPOTENCY_IN_PROGRESS")
    described.check_200(name, customer.post(path, {**RIGHT[name], "dry_run": True}))


def test_refused_for_its_price(described: Description, bank: Bank) -> None:
    customer, body = price_rises(bank)
    _shown(described, "search", customer.post(SEARCH, body, retry="k"), "IDEMPOTENCY_PRICE_CHANGED")


def test_those_were_all(described: Description) -> None:
    provoked = {
        *("INVALID_REQUEST", "UNAUTHORIZED", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "FORBIDDEN"),
        *("CREDIT_CAP_EXCEEDED", "TOO_MANY_REQUESTS", "INSUFFICIENT_CREDITS", "UNAVAILABLE", "INTERNAL"),
        "ACCOUNT_SUSPENDED",
        *("IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"),
    }
    raised = {"IDEMPOTENCY_PRICE_CHANGED"}
    own = {
        "search": {"INVALID_QUERY"} | raised,
        "page": {"INVALID_CURSOR", "CURSOR_EXPIRED"} | raised,
        "enrich": set[str](),
    }
    for name, more in own.items():
        assert _announced(described, name) == provoked | more


def test_not_ready(described: Description, away: httpx.Client) -> None:
    _shown(described, "readyz", away.get("/readyz"), "UNAVAILABLE")


def test_other_addresses_and_methods(described: Description, own: httpx.Client) -> None:
    responses = described.document["components"]["responses"]
    for response, name in ((own.get("/v1/leads"), "NotFound"), (own.get(SEARCH), "MethodNotAllowed")):
        described.check_response(responses[name], response)
        (example,) = responses[name]["content"]["application/json"]["examples"].values()
        assert response.json() == example["value"]


# --- what is interpreted and counted -------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path", "counting"),
    [
        ("interpret", INTERPRET, (interpret, "count")),
        ("facets", FACETS, (facets, "count")),
        ("diagnose", DIAGNOSE, (diagnose, "diagnose")),
    ],
)
def test_refused_when_counting(
    described: Description,
    bank: Bank,
    own: httpx.Client,
    away: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    path: str,
    counting: tuple[ModuleType, str],
) -> None:
    slow = bank.customer(limits=KeyLimits(rate_per_s=0.001, burst=1))
    typed = {"Content-Type": "application/json"}
    responses = {
        "INVALID_REQUEST": own.post(path, json=WRONG["facets" if path == FACETS else "search"]),
        "INVALID_QUERY": own.post(path, json={"wrapped_query": "@country(USA)\n@technologies(Wix)"}),
        "UNAUTHORIZED": own.post(path, json={}, headers={"X-API-Key": "wrong"}),
        "FORBIDDEN": bank.customer(scopes=["account", "enrich"]).post(path, {}),
        "ACCOUNT_SUSPENDED": _suspended(bank).post(path, {}),
        "PAYLOAD_TOO_LARGE": own.post(path, content=b"x" * 70_000, headers=typed),
        "UNSUPPORTED_MEDIA_TYPE": own.post(path, content=b"{}"),
        "TOO_MANY_REQUESTS": _until_refused(slow, path, {}),
        "UNAVAILABLE": away.post(path, json={}),
    }

    async def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(*counting, fail)
    responses["INTERNAL"] = own.post(path, json={})
    for code, response in responses.items():
        _shown(described, name, response, code)
    announced = described.operation(name)["responses"]
    assert set(announced) == {"200", *(str(response.status_code) for response in responses.values())}


# --- what is read -------------------------------------------------------------------------------

READ = {
    "account": ACCOUNT,
    "usage": USAGE,
    "ledger": LEDGER,
    "receipt": f"{LEDGER}/0b6f5d0e-3c1f-4f0b-9a55-6d2c8f7e1a90",
}
WRONG_QUERY = {
    "account": "verbose=1",
    "usage": "form=2026-11-01&key=mine",
    "ledger": "from=yesterday&limit=0",
    "receipt": "domains=1",
}


@pytest.mark.parametrize("name", READ)
def test_refused_when_reading(
    described: Description, bank: Bank, own: httpx.Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = READ[name]
    responses = {
        "INVALID_REQUEST": own.get(f"{path}?{WRONG_QUERY[name]}"),
        "UNAUTHORIZED": own.get(path, headers={"X-API-Key": "wrong"}),
        "FORBIDDEN": bank.customer(scopes=["search", "enrich"]).client.get(path),
    }
    if name == "receipt":
        responses["NOT_FOUND"] = own.get(path)
    for code, response in responses.items():
        _shown(described, name, response, code)
        assert response.json() == described.error_example(name, response.status_code, code)
    slow = bank.customer(limits=KeyLimits(rate_per_s=0.001, burst=1))
    for _ in range(5):
        responses["TOO_MANY_REQUESTS"] = slow.client.get(path)
    _shown(described, name, responses["TOO_MANY_REQUESTS"], "TOO_MANY_REQUESTS")
    for code, error in (("UNAVAILABLE", Unavailable("not told")), ("INTERNAL", RuntimeError("a fault"))):

        async def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(standing, "overview", fail)
        for function in ("usage", "entries", "of_request"):
            monkeypatch.setattr(receipts, function, fail)
        responses[code] = own.get(path)
        _shown(described, name, responses[code], code)
    assert _announced(described, name) == set(responses)


def test_refused_when_completing(
    described: Description, bank: Bank, own: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{VALUES}/city"
    responses = {
        "INVALID_REQUEST": own.get(f"{path}?limt=5&country=Germny"),
        "UNAUTHORIZED": own.get(path, headers={"X-API-Key": "wrong"}),
        "FORBIDDEN": bank.customer(scopes=["account", "enrich"]).client.get(path),
        "ACCOUNT_SUSPENDED": _suspended(bank).client.get(path),
    }
    for code, response in responses.items():
        _shown(described, "values", response, code)
        assert response.json() == described.error_example("values", response.status_code, code)
    slow = bank.customer(limits=KeyLimits(rate_per_s=0.001, burst=1))
    for _ in range(5):
        responses["TOO_MANY_REQUESTS"] = slow.client.get(path)

    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    async def away(*_: object) -> None:
        raise Unavailable("not told")

    monkeypatch.setattr(completion, "complete", fail)
    responses["INTERNAL"] = own.get(path)
    monkeypatch.setattr(Keys, "find", away)
    responses["UNAVAILABLE"] = own.get(path)
    for code in ("TOO_MANY_REQUESTS", "INTERNAL", "UNAVAILABLE"):
        _shown(described, "values", responses[code], code)
    assert _announced(described, "values") == set(responses)
