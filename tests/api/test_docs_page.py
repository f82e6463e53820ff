"""The page at /docs and its files: whole, cacheable, and without anything from elsewhere."""

from __future__ import annotations

import re

import httpx
import pytest

from testing.api_calls import refused

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
KINDS = {
    "swagger-ui-bundle.js": "text/javascript",
    "docs.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "docs.css": "text/css",
    "icon.svg": "image/svg+xml",
}


@pytest.fixture(scope="module")
def page(own: httpx.Client) -> str:
    return own.get("/docs").text


def _loaded(html: str) -> dict[str, str]:
    """The files that the page loads, by name."""
    paths = re.findall(r'<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+)"', html)
    return {path.rpartition("/")[2]: path for path in paths}


def _protected(response: httpx.Response) -> None:
    parts = response.headers["content-security-policy"].split("; ")
    assert dict(part.split(" ", 1) for part in parts) == POLICY
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"


@pytest.mark.promise("route.GET /docs")
def test_the_page(own: httpx.Client, page: str) -> None:
    response = own.get("/docs", headers={"X-API-Key": ""})
    assert response.status_code == 200
    assert response.headers["content-type"].partition(";")[0] == "text/html"
    assert response.headers["cache-control"] == "no-store"
    _protected(response)
    assert "<title>Siteglass API</title>" in page
    assert '<a href="/openapi.json">' in page


@pytest.mark.promise("route.GET /docs/{version}/{name}")
def test_its_files(own: httpx.Client, page: str) -> None:
    loaded = _loaded(page)
    assert set(loaded) == set(KINDS)
    for name, path in loaded.items():
        response = own.get(path)
        assert response.status_code == 200
        assert response.headers["content-type"].partition(";")[0] == KINDS[name]
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["vary"] == "Accept-Encoding"
        assert response.headers["x-request-id"]
        _protected(response)


@pytest.mark.parametrize("name", ["swagger-ui-bundle.js", "swagger-ui.css"])
def test_packed_for_those_who_can_unpack(own: httpx.Client, page: str, name: str) -> None:
    path = _loaded(page)[name]
    plain = own.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for accepted, packed in (
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("GZIP", True),
        ("br", False),
        ("", False),
        ("gzip;q=0", False),
        ("gzip; q=0.0, br", False),
    ):
        response = own.get(path, headers={"Accept-Encoding": accepted})
        assert (response.headers.get("content-encoding") == "gzip") is packed, accepted
        assert response.content == plain.content
    assert int(own.get(path, headers={"Accept-Encoding": "gzip"}).headers["content-length"]) < len(plain.content) / 3


def test_nothing_comes_from_elsewhere(own: httpx.Client, page: str) -> None:
    files = {name: own.get(path).text for name, path in _loaded(page).items()}
    for path in re.findall(r'\b(?:src|href|action|srcset)="([^"]*)"', page):
        assert re.match(r"/(?!/)", path), path
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"\bon[a-z]+=|\bstyle=", page)
    for name in ("docs.css", "swagger-ui.css"):
        assert "@import" not in files[name]
        for address in re.findall(r"url\(\s*[\"']?(.{5})", files[name]):
            assert address == "data:"
    assert "//" not in re.sub(r"^\s*// .*$", "", files["docs.js"], flags=re.MULTILINE)
    assert "validatorUrl: null" in files["docs.js"]
    assert 'url: "/openapi.json"' in files["docs.js"]
    assert not re.search(r"\b(?:href|src)=", files["icon.svg"])


@pytest.mark.promise("route.GET /docs/{version}/{name}")
def test_other_files_are_not_there(own: httpx.Client, page: str) -> None:
    version = _loaded(page)["docs.js"].split("/")[2]
    for path in (
        f"/docs/{version}/LICENSE",
        f"/docs/{version}/docs.html",
        f"/docs/{version}/..%2fdocs_page.py",
        f"/docs/{version}/swagger-ui-bundle.js.gz",
        "/docs/another-version/docs.js",
        f"/docs/{version}",
        "/docs/",
    ):
        refused(own.get(path), 404, "NOT_FOUND")
