"""Every error code has a class, and every class is met: at the service, or with its documented body."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import httpx
import pytest

import siteglass_client
from siteglass.access import lifecycle
from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from siteglass_client import (
    AccountSuspended,
    ConfigurationError,
    ConnectionFailed,
    CreditCapExceeded,
    CursorExpired,
    Forbidden,
    IdempotencyInProgress,
    IdempotencyMismatch,
    InsufficientCredits,
    Internal,
    InvalidCursor,
    InvalidQuery,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    ServiceError,
    Siteglass,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from siteglass_client.calls import SEARCH_PATH, Call, get, post
from siteglass_client.errors import BY_CODE
from testing.customers import Bank, Customer
from testing.ports import free_port
from testing.service import serving
from tests.client.conftest import Connect
from tests.docs.blocks import ROOT


def _met(error: type[ServiceError], client: Siteglass, call: Call) -> ServiceError:
    with pytest.raises(error) as caught:
        client._send(call)
    found = caught.value
    assert type(found) is error
    assert found.code == error.default_code
    assert found.request_id
    assert found.request_id in str(found)
    assert found.message in str(found)
    assert found.advice
    return found


def test_every_documented_code_has_a_class() -> None:
    page = (ROOT / "docs/errors.md").read_text()
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == set(BY_CODE)
    assert {each.__name__ for each in BY_CODE.values()} <= set(siteglass_client.__all__)


def test_of_requests(connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    with customer.untouched():
        wrong = _met(InvalidRequest, client, post(SEARCH_PATH, {"technology": "Wix", "limit": 500}))
        assert [(detail.field, detail.nearest) for detail in wrong.details] == [
            ("technology", "technologies"),
            ("limit", None),
        ]
        text = "@country(DEU)\n@country(Germny)"
        line = _met(InvalidQuery, client, post(SEARCH_PATH, {"wrapped_query": text})).details[0]
        assert (line.line, line.column, line.nearest) == (2, 10, "DEU")
        _met(InvalidCursor, client, post(SEARCH_PATH + "/made-up", {}))
        _met(NotFound, client, get("/v1/ledger/00000000-0000-4000-8000-000000000000"))
        _met(MethodNotAllowed, client, get(SEARCH_PATH))
        _met(PayloadTooLarge, client, post(SEARCH_PATH, {"query": "x" * 70_000}))


def test_of_media(bank: Bank, customer: Customer) -> None:
    class Forgetful(httpx.HTTPTransport):
        """A way that loses the header."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            del request.headers["Content-Type"]
            return super().handle_request(request)

    with Siteglass(customer.key, bank.base_url, transport=Forgetful()) as client:
        _met(UnsupportedMediaType, client, post(SEARCH_PATH, {}))


def test_of_keys_and_money(bank: Bank, connect: Connect, customer: Customer) -> None:
    with Siteglass("sg_live_" + "x" * 36, bank.base_url) as stranger:
        _met(Unauthorized, stranger, get("/v1/account"))
    _met(Forbidden, connect(bank.customer(scopes=["search"])), get("/v1/account"))
    suspended = bank.customer(lead=10)
    bank.do(lifecycle.suspend(bank.postgres, suspended.account_id, "Not paid", actor="tests"))
    assert isinstance(_met(AccountSuspended, connect(suspended), post(SEARCH_PATH, {})), Forbidden)
    _met(InsufficientCredits, connect(bank.customer()), post(SEARCH_PATH, {"has_email": True}))
    _met(CreditCapExceeded, connect(customer), post(SEARCH_PATH, {"has_email": True, "max_lead_credits": 1}))
    first = post(SEARCH_PATH, {"limit": 1})
    connect(customer)._send(first)
    _met(IdempotencyMismatch, connect(customer), replace(first, body={"limit": 2}))


def test_of_the_rate(bank: Bank, connect: Connect) -> None:
    slow = bank.customer(plan=bank.plan(0.05, 1))
    client = connect(slow, deadline_s=5)
    client.values("country", "ger")
    found = _met(TooManyRequests, client, get("/v1/values/country"))
    assert found.retry_after_s is not None
    assert 10 < found.retry_after_s <= 20  # longer than the deadline: reported at once


def test_of_old_cursors(shop_settings: Settings, customer: Customer) -> None:
    class Earlier(Clock):
        def now_ms(self) -> int:
            return super().now_ms() - shop_settings.cursor_life_s * 1000 - 60_000

    with serving(shop_settings, Earlier()) as service, Siteglass(customer.key, str(service.base_url)) as client:
        old = next(client.search(limit=1).pages()).next
    with serving(shop_settings) as service, Siteglass(customer.key, str(service.base_url)) as client:
        _met(CursorExpired, client, post(old or "", {}))


def test_of_engines_that_are_away(shop_settings: Settings, customer: Customer) -> None:
    away = replace(shop_settings, opensearch_urls=(f"http://127.0.0.1:{free_port()}",))
    with (
        serving(away) as service,
        Siteglass(customer.key, str(service.base_url), max_attempts=2) as client,
        customer.untouched(),
    ):
        _met(Unavailable, client, post(SEARCH_PATH, {}))


@pytest.mark.parametrize("error", [IdempotencyInProgress, Internal])
def test_of_what_nobody_can_ask_for(error: type[ServiceError]) -> None:
    page = (ROOT / "docs/errors.md").read_text().partition(f"\n## {error.default_code}\n")[2]
    head, body = re.findall(r"```http\n(HTTP.*?)\n\n(.*?)```", page, re.DOTALL)[0]
    status, *lines = head.split("\n")
    headers = dict(line.split(": ", 1) for line in lines)

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(int(status.split()[1]), headers={**headers, "retry-after": "0"}, json=json.loads(body))

    with Siteglass("sg_live_x", "http://test", max_attempts=2, transport=httpx.MockTransport(answer)) as client:
        _met(error, client, post(SEARCH_PATH, {}))


def test_of_what_is_no_service_at_all() -> None:
    def answers(status: int, text: str, **headers: str) -> Siteglass:
        transport = httpx.MockTransport(lambda _request: httpx.Response(status, text=text, headers=headers))
        return Siteglass("sg_live_x", "http://test", max_attempts=1, transport=transport)

    with answers(200, "<html>Welcome</html>") as client, pytest.raises(ConnectionFailed, match="not complete JSON"):
        client.account()
    with answers(418, "<html>Teapot</html>") as client, pytest.raises(ServiceError, match="418 HTTP_418"):
        client.account()
    with answers(301, "", location="https://elsewhere") as client, pytest.raises(ServiceError, match="elsewhere"):
        client.account()
    with answers(402, '{"error": "NEW_CODE", "message": "New."}') as client:
        with pytest.raises(siteglass_client.PaymentRequired) as caught:
            client.account()
        assert caught.value.code == "NEW_CODE"


def test_a_wrong_address_is_told_soon() -> None:
    with Siteglass("sg_live_x", f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(ConnectionFailed) as caught:
            client.account()
        assert caught.value.attempts == 3


def test_of_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SITEGLASS_API_KEY", raising=False)
    monkeypatch.delenv("SITEGLASS_URL", raising=False)
    for key, url, told in [
        (None, "http://x", "SITEGLASS_API_KEY"),
        ("  ", "http://x", "SITEGLASS_API_KEY"),
        ("sg_live_a b", "http://x", "characters"),
        ("sg_live_x", None, "SITEGLASS_URL"),
        ("sg_live_x", "leads.example.com", "https://"),
        ("sg_live_x", "http://x/v1/", "/v1"),
    ]:
        with pytest.raises(ConfigurationError, match=told):
            Siteglass(key, url)
    with pytest.raises(ConfigurationError, match="timeout_s"):
        Siteglass("sg_live_x", "http://x", timeout_s=0)
    monkeypatch.setenv("SITEGLASS_API_KEY", "sg_live_secret\n")
    monkeypatch.setenv("SITEGLASS_URL", "http://x/")
    with Siteglass() as client:
        assert repr(client) == "Siteglass('http://x', live key)"
        for shown in (client, client.search("a"), client.enrich(["a"]), client._configuration):
            assert "secret" not in repr(shown)
