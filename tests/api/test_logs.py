"""Log lines of requests: JSON, with the request id, and never a key, an address or a caller's words."""

from __future__ import annotations

import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.settings import Settings, environment_of
from testing.api_calls import ENRICH, SEARCH
from testing.collector import collecting
from testing.customers import IN_ORDER, Bank
from testing.log_lines import kept_lines
from testing.ports import free_port
from testing.service import API_KEY, serving, settings_for

WORDS = ["verysecretword", "wordofwrapped", "Munich", "secret-enriched.com", "Kowalski", "full-record.com"]


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What the service logs during a test."""
    with kept_lines("siteglass", logging.DEBUG) as kept:
        yield kept


def _ask(own: httpx.Client) -> list[httpx.Response]:
    first = own.post(SEARCH, json={"limit": 1, "wrapped_query": "!@keywords(wordofwrapped)", "has_email": False})
    return [
        first,
        own.post(first.json()["next"], json={}),
        own.post(SEARCH, json={"query": "verysecretword"}),
        own.post(f"{SEARCH}?note=verysecretword", json={"city": "Munich"}),
        own.post(SEARCH, json={"has_email": True}),
        own.post(SEARCH, json={"wrapped_query": "@nope(verysecretword)"}),
        own.post(SEARCH, json={"verysecretword": 1, "country": "Kowalski"}),
        own.post(SEARCH, content=b'{"query": "verysecretword', headers={"Content-Type": "application/json"}),
        own.post(ENRICH, json={"domains": ["secret-enriched.com", "full-record.com", ""]}),
        own.post(SEARCH, json={}, headers={"X-API-Key": "wrong-key-of-kowalski"}),
        own.post(f"{SEARCH}/{'x' * 50}", json={}),
    ]


def _settled(lines: list[str], count: int) -> list[dict[str, Any]]:
    """The lines, which may be written a little later than the answers."""
    deadline = time.monotonic() + 5
    while len(lines) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return [json.loads(line) for line in lines]


def test_lines_are_json_and_discreet(own: httpx.Client, lines: list[str]) -> None:
    responses = _ask(own)
    assert own.get("/verysecretword").status_code == 404
    assert len(_settled(lines, len(responses))) >= len(responses)
    whole = "\n".join(lines)
    assert all("\n" not in line for line in lines)
    for response in responses:
        assert response.headers["x-request-id"] in whole
    for secret in (API_KEY, "wrong-key", *WORDS, "127.0.0.1", "@full-record.com", "info@"):
        assert secret.lower() not in whole.lower(), secret


def test_a_cursor_is_not_logged(own: httpx.Client, lines: list[str]) -> None:
    path = own.post(SEARCH, json={"limit": 1}).json()["next"]
    own.post(path, json={})
    assert _settled(lines, 2)
    assert path.rpartition("/")[2] not in "\n".join(lines)


def test_statuses_are_logged(own: httpx.Client, lines: list[str]) -> None:
    statuses = [response.status_code for response in _ask(own)]
    made = _settled(lines, len(statuses))
    assert [line["status"] for line in made if "status" in line] == statuses


def _line_of(lines: list[str], response: httpx.Response) -> dict[str, Any]:
    """The line of a request, without what every line has."""
    request_id = response.headers["x-request-id"]
    deadline = time.monotonic() + 5
    while not any(request_id in line for line in lines) and time.monotonic() < deadline:
        time.sleep(0.01)
    (line,) = [line for line in map(json.loads, lines) if line.get("request_id") == request_id]
    return {name: value for name, value in line.items() if name not in ("time", "level", "logger", "request_id")}


def test_a_line_says_whose_request_it_was_and_where_its_time_went(bank: Bank, lines: list[str]) -> None:
    customer = bank.customer(api=10, lead=10)
    whose = {"message": "answered", "account_id": customer.account_id, "key_id": customer.key_id}

    for path, body, operation in (
        (SEARCH, {**IN_ORDER, "limit": 1}, "search"),
        (ENRICH, {"domains": ["stock-01.com"]}, "enrich"),
    ):
        line = _line_of(lines, customer.post(path, body))
        taken = [line.pop(name) for name in ("ms", "engine_ms", "charge_ms")]
        assert line == {**whose, "operation": operation, "status": 200}
        assert taken[0] > taken[1] + taken[2]
        assert min(taken) > 0

    # A step that did not happen has no time, and a caller that is not known no account.
    line = _line_of(lines, customer.post(SEARCH, {**IN_ORDER, "limit": 1, "dry_run": True}))
    assert line.keys() == {*whose, "operation", "status", "ms", "engine_ms"}
    line = _line_of(lines, customer.post(SEARCH, {"country": "Kowalski"}))
    assert line == {**whose, "operation": "search", "status": 400, "ms": line["ms"]}
    line = _line_of(lines, customer.client.post(SEARCH, json={}, headers={"X-API-Key": "wrong-key"}))
    assert line == {"message": "answered", "operation": "search", "status": 401, "ms": line["ms"]}
    line = _line_of(lines, customer.client.get("/healthz"))
    assert line == {"message": "answered", "operation": "healthz", "status": 200, "ms": line["ms"]}


@pytest.mark.parametrize("flags", ["00", "01"])
def test_a_line_has_the_trace_of_its_request(
    flags: str, bank: Bank, stock_settings: Settings, lines: list[str]
) -> None:
    customer, trace_id = bank.customer(lead=10), secrets.token_hex(16)
    sent = {"X-API-Key": customer.key, "traceparent": f"00-{trace_id}-00f067aa0ba902b7-{flags}"}
    with (
        collecting() as collector,
        serving(replace(stock_settings, traces_endpoint=collector.endpoint, traces_ratio=1.0)) as traced,
    ):
        line = _line_of(lines, traced.post(SEARCH, json={**IN_ORDER, "limit": 1}, headers=sent))
        assert line["trace_id"] == trace_id
        # Without the caller's, our own; but only of a request that is traced.
        response = customer.post(SEARCH, {**IN_ORDER, "limit": 1}, traced)
        assert _line_of(lines, response)["trace_id"] == response.headers["traceparent"].split("-")[1]
    # Traces are off: the header means nothing.
    assert "trace_id" not in _line_of(lines, customer.client.post(SEARCH, json={"limit": 1}, headers=sent))


def test_lines_of_the_server_itself_are_plain_and_filled_in(tmp_path: Path) -> None:
    settings = settings_for("own-lines", port=free_port())
    log = tmp_path / "log"
    with log.open("wb") as file:
        service = subprocess.Popen(
            [str(Path(sys.executable).parent / "siteglass"), "serve"],
            env={**os.environ, **environment_of(settings)},
            stdout=file,
            stderr=file,
        )
    deadline = time.monotonic() + 60
    while "Uvicorn running" not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    service.send_signal(signal.SIGTERM)
    service.wait(timeout=30)
    of_server = [line for line in map(json.loads, log.read_text().splitlines()) if line["logger"] == "uvicorn.error"]
    assert all(set(line) == {"time", "level", "logger", "message"} for line in of_server), of_server
    messages = [line["message"] for line in of_server]
    assert messages[0] == f"Started server process [{service.pid}]"
    assert f"Uvicorn running on http://127.0.0.1:{settings.port} (Press CTRL+C to quit)" in messages
