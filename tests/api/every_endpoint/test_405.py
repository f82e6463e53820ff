"""What takes a body is a POST, what is read a GET."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, READING, SEARCH, VALUES, refused


@pytest.mark.promise("http.post_only", "error.METHOD_NOT_ALLOWED")
@pytest.mark.parametrize("path", [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_methods(own: httpx.Client, path: str, method: str) -> None:
    response = own.request(method, path)
    refused(response, 405, "METHOD_NOT_ALLOWED")
    assert response.json()["message"] == f"{method} is not allowed here. Use POST with a JSON body."
    assert response.headers["allow"] == "POST"


@pytest.mark.promise("http.post_only")
@pytest.mark.parametrize("path", [*READING, f"{VALUES}/city"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_reading_is_a_get(own: httpx.Client, path: str, method: str) -> None:
    response = own.request(method, path)
    refused(response, 405, "METHOD_NOT_ALLOWED")
    assert response.json()["message"] == f"{method} is not allowed here. Use GET."
    assert response.headers["allow"] == "GET"


@pytest.mark.parametrize("path", [*READING[:3], f"{VALUES}/city"])
def test_head_of_what_is_read(own: httpx.Client, path: str) -> None:
    response = own.head(path)
    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.promise("http.post_only")
@pytest.mark.parametrize("path", [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH])
def test_head(own: httpx.Client, path: str) -> None:
    response = own.head(path)
    assert (response.status_code, response.content) == (405, b"")
    assert response.headers["allow"] == "POST"
    assert response.headers["x-request-id"]
