"""`sgl mcp --http`, and how a server starts: only programs of this machine get in, and every refusal has a message."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from siteglass_client import ConfigurationError
from siteglass_client.mcp.serving import serve_http
from testing.customers import Bank, Customer
from tests.client.agents import Agent, connected, http_server
from tests.client.commanding import ROOT, Desk

TOKEN = "a token of the tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def buyer(bank: Bank) -> Customer:
    return bank.customer(api=10, lead=100)


@pytest.fixture(scope="module")
def address(bank: Bank, buyer: Customer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    desk = Desk(tmp_path_factory.mktemp("http"), bank.base_url, buyer.key)
    desk.environment["SITEGLASS_MCP_TOKEN"] = TOKEN
    with http_server(desk, "--max-credits", "5") as made:
        yield made


@contextmanager
def over_http(address: str, key: str, mode: str = "auto") -> Iterator[Agent]:
    """An agent that connects to the address."""

    @asynccontextmanager
    async def connecting() -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=BEARER, trust_env=False) as http,
            Client(streamable_http_client(address, http_client=http), mode=mode) as client,
        ):
            yield client

    with connected(key, connecting) as made:
        yield made


def test_tools_are_listed_and_called(address: str, buyer: Customer) -> None:
    with over_http(address, buyer.key) as agent:
        assert {"interpret", "search", "lists", "account"} <= set(agent.tools)
        with buyer.untouched():
            assert agent.call("account")["session_ceiling"] == 5
            assert agent.call("search", query="companies in Germany")["stopped"] == "price"
        assert agent.call("search", query="companies in Germany", max_lead_credits=20)["stopped"] == "session_ceiling"
        assert buyer.balance() == (10, 95)
        assert agent.refused("search", filters={"countri": "x"}).startswith("INVALID_REQUEST: countri: unknown field")


def test_an_agent_of_an_older_protocol_shares_the_ceiling(address: str, buyer: Customer) -> None:
    with over_http(address, buyer.key, "legacy") as agent:
        assert agent.client.protocol_version < "2026"
        assert agent.call("search", query="companies in Germany", max_lead_credits=20)["stopped"] == "session_ceiling"
        assert agent.call("account")["session_lead_spent"] == 5
    assert buyer.balance() == (10, 95)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer another"}, 401),
        ({**BEARER, "Host": "evil.example"}, 421),
        ({**BEARER, "Host": "127.0.0.1.evil.example:8765"}, 421),
        ({**BEARER, "Host": "127.0.0.1:1"}, 421),
        ({**BEARER, "Origin": "https://evil.example"}, 403),
        ({**BEARER, "Origin": "null"}, 403),
        ({**BEARER, "Content-Type": "text/plain"}, 400),
    ],
)
def test_who_is_not_let_in(address: str, headers: dict[str, str], status: int) -> None:
    given = {"Content-Type": "application/json", **ACCEPT, **headers}
    with httpx.Client(trust_env=False) as client:
        assert client.post(address, json=PING, headers=given).status_code == status


def test_a_body_that_is_too_long(address: str) -> None:
    with httpx.Client(trust_env=False) as client:
        long = {**PING, "params": {"x": "y" * 300_000}}
        assert client.post(address, json=long, headers={**ACCEPT, **BEARER}).status_code == 413


def test_what_keeps_it_from_starting(desk: Desk) -> None:
    options: dict[str, Any] = {"token": None, "max_credits": None, "deadline_s": 5.0}
    for host in ("0.0.0.0", "192.0.2.1", "leads.example"):
        with pytest.raises(ConfigurationError, match="--host must be a loopback address, such as 127"):
            serve_http("key", "http://127.0.0.1:1", host=host, port=0, **options)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Cannot use --port {port} on 127.0.0.1: Address already in"):
            serve_http("key", "http://127.0.0.1:1", host="127.0.0.1", port=port, **options)
    del desk.environment["SITEGLASS_API_KEY"]
    assert desk.refused(3, "mcp").startswith("sgl: No API key is set. Run `sgl login`, or set ")


def test_without_the_extra_it_says_what_to_install(desk: Desk) -> None:
    code = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['sgl', 'mcp']\n"
        "from siteglass_client.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=desk.environment, cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout) == (2, "")
    install = "pip install './clients/python[mcp]'"
    assert done.stderr == f"sgl: This needs mcp. Install it in a checkout of Siteglass: {install}.\n"
