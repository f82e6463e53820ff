"""Media types other than JSON."""

from __future__ import annotations

import httpx
import pytest

from tests.api.asking import ENRICH, SEARCH, refused

ROUTES = [SEARCH, f"{SEARCH}/some-cursor", ENRICH]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json-seq",
        "text/json",
        "json",
        "application/xml; application/json",
    ],
)
def test_not_json(own: httpx.Client, path: str, media_type: str) -> None:
    response = own.post(path, content=b"{}", headers={"Content-Type": media_type})
    refused(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert list(response.json()) == ["error", "message"]


@pytest.mark.parametrize("path", ROUTES)
def test_a_body_without_a_media_type(own: httpx.Client, path: str) -> None:
    refused(own.post(path, content=b"{}"), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("path", ROUTES)
def test_media_type_before_size_and_json(own: httpx.Client, path: str) -> None:
    for content in (b"x" * 70_000, b"{", b'{"limt": 1}'):
        response = own.post(path, content=content, headers={"Content-Type": "text/plain"})
        refused(response, 415, "UNSUPPORTED_MEDIA_TYPE")
