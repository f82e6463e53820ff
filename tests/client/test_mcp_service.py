"""`/mcp` of the service: the tools of `sgl mcp` with the key of the caller, and a ceiling that all workers keep."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from siteglass.access.audit import audit_page
from siteglass.access.limits.connection import RedisConnection
from siteglass.corpus.lead import Lead
from testing.customers import Bank, Customer
from testing.service import serving
from tests.client.agents import Agent, connected, in_process

PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
ALL = {"filters": {"has_email": True}, "sort": "domain"}
"""A search whose leads cost a credit each."""


@contextmanager
def at_service(bank: Bank, key: str, ceiling: int | None = None, mode: str = "auto", url: str = "") -> Iterator[Agent]:
    """An agent that the service serves itself."""
    headers = {"Authorization": f"Bearer {key}"}
    if ceiling is not None:
        headers["X-Session-Max-Credits"] = str(ceiling)

    @asynccontextmanager
    async def connecting() -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
            Client(streamable_http_client(f"{url or bank.base_url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client

    with connected(key, connecting) as agent:
        yield agent


def _post(bank: Bank, headers: dict[str, str], message: Any = PING) -> httpx.Response:
    with httpx.Client(trust_env=False) as client:
        return client.post(f"{bank.base_url}/mcp", json=message, headers={**ACCEPT, **headers})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_those_of_sgl_mcp(bank: Bank, customer: Customer, mode: str) -> None:
    with at_service(bank, customer.key, mode=mode) as agent, in_process(customer.key, bank.base_url) as local:
        assert agent.tools == local.tools
        told = agent.call("account")
        assert (told["session_ceiling"], told["session_lead_spent"]) == (200, 0)


@pytest.mark.promise("route.POST /mcp")
def test_nothing_is_bought_before_its_price_was_told(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    payable = [lead.domain for lead in sold if lead.emails]
    with at_service(bank, customer.key) as agent:
        with customer.untouched():
            first = agent.call("search", **ALL, max_lead_credits=4)
            assert (first["stopped"], first["leads"]) == ("price", [])
            assert first["price"]["lead_credits"] == len(payable)
            assert agent.call("enrich", domains=payable[:2], max_lead_credits=2)["price"]["lead_credits"] == 2
        told = agent.call("search", **ALL, max_lead_credits=4)
        assert [lead["domain"] for lead in told["leads"]] == payable[:4]
        assert agent.call("enrich", domains=payable[:2], max_lead_credits=2)["credits"]["lead_used"] == 2
        more = agent.call("search", cursor=told["next"], max_lead_credits=3)
        assert [lead["domain"] for lead in more["leads"]] == payable[4:7]
    assert customer.balance() == (999, 9_991)


@pytest.mark.race
def test_the_ceiling_of_a_session_holds_at_two_services_at_once(bank: Bank, customer: Customer) -> None:
    with (
        serving(replace(bank.settings, port=0)) as other,
        at_service(bank, customer.key, 20) as one,
        at_service(bank, customer.key, 20, url=str(other.base_url)) as two,
    ):
        assert one.call("search", **ALL)["stopped"] == "price"
        calls = [{**ALL, "select": ["emails"], "max_lead_credits": 7 + number} for number in range(3)]
        told = [*one.together("search", *calls), *two.together("search", *calls)]
        assert {each["stopped"] for each in told} >= {"session_ceiling"}
        assert 10_000 - customer.balance()[1] <= 20
        spent = two.call("account")["session_lead_spent"]
        assert 10_000 - customer.balance()[1] == spent == 20
        with customer.untouched():
            last = one.call("search", **ALL, max_lead_credits=5)
            assert (last["leads"], last["stopped"]) == ([], "session_ceiling")
            assert "(header X-Session-Max-Credits)" in last["say"]


def test_leads_that_wait_are_free_and_come_from_the_service_again(
    bank: Bank, customer: Customer, sold: list[Lead]
) -> None:
    payable = [lead.domain for lead in sold if lead.emails][:6]
    with at_service(bank, customer.key) as agent:
        agent.call("enrich", domains=payable)
        told = agent.call("enrich", domains=payable, max_lead_credits=6, max_tokens=600)
        shown = [item["domain"] for item in told["items"]]
        assert told["waiting"] == 6 - len(shown) > 0
        with customer.untouched():
            while told.get("next"):
                told = agent.call("enrich", cursor=told["next"], max_tokens=600)
                shown += [item["domain"] for item in told["items"]]
        assert shown == payable


def test_a_request_that_could_not_be_continued_is_refused_before_it_is_bought(bank: Bank, customer: Customer) -> None:
    filters = {"technologies": ["x" * 100] * 200}
    with at_service(bank, customer.key) as agent, customer.untouched():
        assert "Nothing was sent." in agent.refused("search", filters=filters, max_lead_credits=4)
        assert "Nothing was sent." in agent.refused(
            "enrich", domains=[f"{number:0200}.at" for number in range(90)], max_lead_credits=4
        )


def test_a_session_is_noted_with_each_higher_ceiling(bank: Bank, customer: Customer) -> None:
    async def begin() -> None:  # without an entry, as if PostgreSQL had failed then
        redis = RedisConnection(bank.settings.redis_url, 1)
        await redis.call("HSET", f"{bank.settings.redis_prefix}:agent:{customer.key_id}", "began", int(time.time()))
        await redis.close()

    bank.do(begin())
    for ceiling in (7, 5, 9, 7):
        with at_service(bank, customer.key, ceiling) as agent:
            agent.call("account")
    rows = bank.do(audit_page(bank.postgres, customer.account_id, key_id=customer.key_id, limit=10))
    rows = [row for row in rows if row.action == "agent.session"]
    assert [row.actor_kind for row in rows] == ["key", "key"]
    assert sorted(str(row.details) for row in rows) == ["{'max_credits': 7}", "{'max_credits': 9}"]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": "Bearer sg_live_" + "0" * 36}, 401, "UNAUTHORIZED"),
        ({}, 401, "UNAUTHORIZED"),
        ({"Origin": "https://evil.example"}, 403, "FORBIDDEN"),
        ({"Origin": "null"}, 403, "FORBIDDEN"),
        ({"X-Session-Max-Credits": "-1"}, 400, "INVALID_REQUEST"),
    ],
)
def test_requests_that_are_refused(
    bank: Bank, customer: Customer, headers: dict[str, str], status: int, code: str
) -> None:
    if status != 401:
        headers = {"Authorization": f"Bearer {customer.key}", **headers}
    response = _post(bank, headers)
    assert (response.status_code, response.json()["error"]) == (status, code)
    assert response.headers["x-request-id"]
    assert status != 401 or response.headers["www-authenticate"] == 'Bearer realm="Siteglass"'


def test_a_body_that_is_too_long_and_other_methods(bank: Bank, customer: Customer) -> None:
    key = {"Authorization": f"Bearer {customer.key}"}
    assert _post(bank, key, {**PING, "params": {"x": "y" * 70_000}}).status_code == 413
    assert httpx.get(f"{bank.base_url}/mcp", headers=key).status_code == 405
    assert _post(bank, {**key, "Content-Type": "text/plain"}).status_code == 400
