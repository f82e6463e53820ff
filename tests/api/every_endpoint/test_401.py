"""Without a valid key nothing is answered, whatever else is wrong; the reason is never given."""

from __future__ import annotations

import socket

import httpx
import pytest

from siteglass.openapi.operations import OPERATIONS
from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, SEARCH, refused
from testing.service import API_KEY

ROUTES = [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH]
KEYS = [
    None,
    "",
    "wrong",
    API_KEY[:-1],
    API_KEY + "x",
    API_KEY.upper(),
    f"Bearer {API_KEY}",
    "sg_live_0123456789012345678901234567890123456",
    "ключ".encode(),
    b"\xff\xfe",
    "x" * 5000,
]


def _post(own: httpx.Client, path: str, key: str | bytes | None, **request: object) -> httpx.Response:
    return _ask(own, "POST", path, key, **request)


def _ask(own: httpx.Client, method: str, path: str, key: str | bytes | None, **request: object) -> httpx.Response:
    headers: dict[str, str | bytes] = {} if key is None else {"X-API-Key": key}
    with httpx.Client(base_url=own.base_url, trust_env=False) as bare:
        asked = bare.build_request(method, path, headers=headers, **request)  # type: ignore[arg-type]  # mixed values
        return bare.send(asked)


@pytest.mark.promise("http.key_header", "auth.missing", "errors.body", "key.one_body")
@pytest.mark.parametrize("path", ROUTES)
def test_every_reason_has_one_body(own: httpx.Client, path: str) -> None:
    bodies = set()
    for key in KEYS:
        response = _post(own, path, key, json={"domains": ["own-host.com"]})
        refused(response, 401, "UNAUTHORIZED")
        assert list(response.json()) == ["error", "message"]
        assert response.headers["www-authenticate"] == 'ApiKey realm="Siteglass", header="X-API-Key"'
        bodies.add(response.content)
    assert len(bodies) == 1
    assert response.json()["message"] == (
        "A valid API key is required. Send it in the X-API-Key header; the Authorization header is ignored. A key "
        "that worked before may have expired or been revoked."
    )


@pytest.mark.parametrize("path", [one.path for one in OPERATIONS if one.method == "GET" and one.scope])
def test_reading_needs_a_key_too(own: httpx.Client, path: str) -> None:
    for key in KEYS:
        response = _ask(own, "GET", path, key)
        refused(response, 401, "UNAUTHORIZED")
        assert list(response.json()) == ["error", "message"]
    with httpx.Client(base_url=own.base_url, trust_env=False) as bare:
        refused(bare.get(f"{path}?api_key={API_KEY}&nope=1"), 401, "UNAUTHORIZED")


@pytest.mark.promise("http.key_header", "auth.header")
def test_the_key_counts_in_its_header_only(own: httpx.Client) -> None:
    with httpx.Client(base_url=own.base_url, trust_env=False) as bare:
        refused(bare.post(f"{SEARCH}?api_key={API_KEY}&X-API-Key={API_KEY}", json={}), 401, "UNAUTHORIZED")
        refused(bare.post(SEARCH, json={}, headers={"Authorization": f"Bearer {API_KEY}"}), 401, "UNAUTHORIZED")
        refused(bare.post(SEARCH, json={}, headers={"Cookie": f"X-API-Key={API_KEY}"}), 401, "UNAUTHORIZED")
        refused(bare.post(SEARCH, json={"X-API-Key": API_KEY}), 401, "UNAUTHORIZED")


@pytest.mark.promise("http.header_blanks")
@pytest.mark.parametrize("value", [f"{API_KEY} ", f" {API_KEY}", f"\t{API_KEY}\t \t"])
def test_blanks_around_the_key_are_not_part_of_it(own: httpx.Client, value: str) -> None:
    """Sent by hand: clients and proxies drop them, too."""
    request = (
        f"POST {SEARCH} HTTP/1.1\r\nHost: {own.base_url.host}\r\nX-API-Key:{value}\r\n"
        "Content-Type:  application/json\t\r\nContent-Length: 11 \r\nConnection: close\r\n\r\n"
        '{"limit":1}'
    )
    with socket.create_connection((own.base_url.host, own.base_url.port or 80), timeout=30) as connection:
        connection.sendall(request.encode())
        assert connection.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.promise("order.key")
@pytest.mark.parametrize("path", ROUTES)
def test_the_key_is_checked_first(own: httpx.Client, path: str) -> None:
    for headers, content in (
        ({"Content-Type": "text/plain"}, b"{}"),
        ({"Content-Type": "application/json"}, b"x" * 70_000),
        ({"Content-Type": "text/plain"}, b"x" * 70_000),
        ({"Content-Type": "application/json"}, b"{"),
        ({}, b""),
    ):
        with httpx.Client(base_url=own.base_url, trust_env=False) as bare:
            refused(bare.post(path, content=content, headers=headers), 401, "UNAUTHORIZED")


def test_the_message_does_not_repeat_the_key(own: httpx.Client) -> None:
    response = _post(own, SEARCH, "a-key-that-is-wrong", json={})
    assert "a-key-that-is-wrong" not in response.text
    assert "a-key-that-is-wrong" not in str(response.headers)
