"""Media types other than JSON, and compressed bodies."""

from __future__ import annotations

import gzip

import httpx
import pytest

from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, SEARCH, answered, refused, search

ROUTES = [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH]


@pytest.mark.promise("http.media_type", "error.UNSUPPORTED_MEDIA_TYPE")
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
    assert response.json() == {
        "error": "UNSUPPORTED_MEDIA_TYPE",
        "message": "The body must be JSON. Send it with the header Content-Type: application/json.",
    }


@pytest.mark.promise("http.media_type")
@pytest.mark.parametrize("path", ROUTES)
def test_a_body_without_a_media_type(own: httpx.Client, path: str) -> None:
    refused(own.post(path, content=b"{}"), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.promise("order.media_type")
@pytest.mark.parametrize("path", ROUTES)
def test_media_type_before_size_and_json(own: httpx.Client, path: str) -> None:
    for content in (b"x" * 70_000, b"{", b'{"limt": 1}'):
        response = own.post(path, content=content, headers={"Content-Type": "text/plain"})
        refused(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.promise("error.UNSUPPORTED_MEDIA_TYPE", "body.compressed")
@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "zstd", "deflate", "gzip, identity"])
def test_compressed(own: httpx.Client, path: str, encoding: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    for content in (gzip.compress(b"{}"), b"{}"):
        response = own.post(path, content=content, headers=headers)
        refused(response, 415, "UNSUPPORTED_MEDIA_TYPE")
        assert response.json() == {
            "error": "UNSUPPORTED_MEDIA_TYPE",
            "message": "Compressed bodies are not supported. Send the body without the Content-Encoding header.",
        }


@pytest.mark.promise("body.compressed")
def test_not_compressed(own: httpx.Client) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "Identity"}
    answered(own.post(SEARCH, content=b'{"limit": 1}', headers=headers))
    # What is not there cannot be compressed.
    answered(own.post(search(own, {"limit": 1})["next"], headers={"Content-Encoding": "gzip"}))
