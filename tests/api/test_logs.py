"""Log lines of requests: JSON, with the request id, and never a key, an address or a caller's words."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.settings import environment_of
from testing.api_calls import ENRICH, SEARCH
from testing.log_lines import kept_lines
from testing.ports import free_port
from testing.service import API_KEY, settings_for

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
