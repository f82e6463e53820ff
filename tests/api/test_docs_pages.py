"""The landing page, the served docs and the API reference: complete, linked, and without anything from elsewhere."""

from __future__ import annotations

import html
import re
from functools import cache
from urllib.parse import quote

import httpx
import pytest

import build_docs
from siteglass.dashboard.examples import EXAMPLES
from siteglass.settings import Settings
from siteglass.web import docs
from testing.api_calls import ENRICH, SEARCH, refused
from testing.service import serving

PATHS = sorted("/docs" if name == "index" else f"/docs/{name}" for name in build_docs.served_pages().values())
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
    "js": "text/javascript",
    "json": "application/json",
    "css": "text/css",
    "svg": "image/svg+xml",
    "png": "image/png",
}


def _protected(response: httpx.Response) -> None:
    parts = response.headers["content-security-policy"].split("; ")
    # The landing page has a search form.
    forms = {"form-action": "'self'"} if response.request.url.path == "/" else {}
    assert dict(part.split(" ", 1) for part in parts) == POLICY | forms
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"


@pytest.fixture(scope="module")
def pages(own: httpx.Client) -> dict[str, str]:
    """Every page by its path; each is served in the same way."""
    served = {}
    for path in ("/", "/docs/api", *PATHS):
        response = own.get(path, headers={"X-API-Key": ""})
        assert response.status_code == 200, path
        assert response.headers["content-type"].partition(";")[0] == "text/html"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-request-id"]
        _protected(response)
        served[path] = response.text
    return served


@cache
def _links(page: str) -> list[str]:
    return [html.unescape(target) for target in re.findall(r'<a\b[^>]*\bhref="([^"]*)"', page)]


def _loaded(pages: dict[str, str]) -> dict[str, str]:
    """The files that the pages load, by name."""
    paths = {
        path
        for page in pages.values()
        for path in re.findall(r'<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"', page)
        if not path.endswith(".md")  # offered, not loaded
    }
    return {path.rpartition("/")[2]: path for path in paths}


# --- pages --------------------------------------------------------------------------------------


@pytest.mark.promise("route.GET /")
def test_the_landing_page_leads_on(pages: dict[str, str]) -> None:
    """This service has no dashboard, so there is no link to one."""
    examples = [f"/?q={quote(words)}" for words in EXAMPLES]
    links = ["/", "/docs", "/docs/api", "/opt-out", *examples, "/docs/guides/first-calls", "/docs/api", "/docs"]
    assert _links(pages["/"]) == [*links, "/opt-out"]
    assert "dashboard" not in pages["/"]
    assert "<title>Siteglass</title>" in pages["/"]


@pytest.mark.promise("route.GET /docs", "route.GET /docs/{name}", "route.GET /docs/{section}/{name}")
def test_every_page_of_the_docs_can_be_reached_from_the_list(pages: dict[str, str]) -> None:
    assert len(PATHS) > 40
    assert {"/docs", "/docs/guides/first-calls", "/docs/errors", "/docs/reference/fields"} <= set(PATHS)
    seen, waiting = set[str](), ["/docs"]
    while waiting:
        path = waiting.pop()
        if path in pages and path not in seen:
            seen.add(path)
            waiting += [link.partition("#")[0] for link in _links(pages[path])]
    assert seen == set(pages)


@pytest.mark.parametrize(
    "audience", ["salespeople and analysts", "developers", "operators", "data-protection officers"]
)
def test_the_list_is_by_audience(pages: dict[str, str], audience: str) -> None:
    assert f">For {audience}" in pages["/docs"]
    assert "contributors" not in pages["/docs"]


def test_links_lead_to_pages_and_headings(pages: dict[str, str]) -> None:
    for path, page in pages.items():
        for link in _links(page):
            target, _, anchor = link.partition("?")[0].partition("#")
            if target in ("/opt-out", "/openapi.json", "mailto:privacy@example.com") or target.endswith(".md"):
                continue
            assert (target or path) in pages, f"{path}: {link}"
            assert not anchor or f' id="{anchor}"' in pages[target or path], f"{path}: {link}"


def test_a_page_has_a_title_and_a_table_of_contents(pages: dict[str, str]) -> None:
    page = pages["/docs/guides/first-calls"]
    assert "<title>Your first API calls · Siteglass</title>" in page
    assert re.findall(r"<h1[^>]*>([^<]*)", page) == ["Your first API calls"]
    contents = re.search(r'<nav class="contents".*?</nav>', page, re.DOTALL)
    assert contents
    assert _links(contents[0]) == [f"#{anchor}" for anchor in re.findall(r'<h[23] id="([^"]+)"', page)]
    assert '<pre tabindex="0"><code class="language-sh">curl -s &quot;$BASE_URL' in page
    assert "<table>" in pages["/docs/reference/filters"]
    assert "not run:" not in "".join(pages.values())


def test_each_page_leads_to_the_next_one(pages: dict[str, str]) -> None:
    path, seen = "/docs", ["/docs"]
    while following := re.search(r'<a rel="next" href="([^"]+)"', pages[path]):
        assert f'<a rel="prev" href="{path}"' in pages[following[1]]
        path = following[1]
        seen.append(path)
    assert sorted(seen) == PATHS


def test_the_menu_lists_the_pages_of_a_family_beside_them(pages: dict[str, str]) -> None:
    def menu(path: str) -> set[str]:
        links = _links(pages[path].partition('<nav aria-label="Docs">')[2].partition("</aside>")[0])
        return {link for link in links if not link.startswith("#")}

    family = {path for path in PATHS if path.startswith("/docs/reference/")}
    assert menu("/docs/reference") == menu("/docs/reference/fields")
    assert family < menu("/docs/reference")
    assert not family & menu("/docs/guides/mcp")
    assert set(PATHS) == menu("/docs/reference") | menu("/docs/guides/on-call")


@pytest.mark.promise("route.GET /docs/{name}", "route.GET /docs/{section}/{name}", "route.GET /llms.txt")
def test_every_page_is_there_as_markdown(own: httpx.Client, pages: dict[str, str]) -> None:
    listed = own.get("/llms.txt")
    assert listed.headers["content-type"] == "text/plain; charset=utf-8"
    assert listed.text.startswith("# Siteglass\n\n> Siteglass is ")
    paths = re.findall(r"^- \[[^]]+\]\(([^)]+)\): \S", listed.text, re.MULTILINE)
    assert len(paths) == len(PATHS)
    copies = {path: own.get(path) for path in paths}
    for path in PATHS:
        copy = "/docs/index.md" if path == "/docs" else f"{path}.md"
        assert f'type="text/markdown" href="{copy}"' in pages[path]
        assert copies[copy].status_code == 200
        assert copies[copy].headers["content-type"] == "text/markdown; charset=utf-8"
        assert "not run:" not in copies[copy].text
        _protected(copies[copy])
    for path, response in copies.items():
        links = re.findall(r"\]\((/docs[^)#\s]*)", response.text)
        assert {link for link in links if link.endswith(".md")} <= copies.keys(), path
        assert all(link.endswith((".md", ".svg", ".png")) for link in links), path


@pytest.mark.promise("route.GET /docs/api")
def test_the_reference_shows_our_document(own: httpx.Client, pages: dict[str, str]) -> None:
    loaded = _loaded({"/docs/api": pages["/docs/api"]})
    styles = {"tokens.css", "frame.css", "reference.css"}
    assert set(loaded) == {"icon.svg", *styles, "policy.js", "scalar.js", "reference.js"}
    script = own.get(loaded["reference.js"]).text
    assert 'url: "/openapi.json"' in script
    for option in ("telemetry: false", "withDefaultFonts: false", "agent: { disabled: true }"):
        assert option in script
    assert '<a href="/openapi.json">' in pages["/docs/api"]


def test_nothing_comes_from_elsewhere(own: httpx.Client, pages: dict[str, str]) -> None:
    for path, page in pages.items():
        for loaded in re.findall(r'\b(?:src|action|srcset)="([^"]*)"', page):
            assert re.match(r"/(?!/)", loaded), (path, loaded)
        tags = " ".join(re.findall(r"<[^>]+>", re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL)))
        assert "<style" not in tags
        assert not re.search(r"<script(?![^>]*\bsrc=)", tags)
        assert not re.search(r"\s(?:on[a-z]+|style)=", tags), path
    for name, path in _loaded(pages).items():
        if name.endswith(".css"):
            assert "url(" not in own.get(path).text
            assert "@import" not in own.get(path).text


def test_a_package_without_rendered_docs_says_so(own_settings: Settings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docs, "_entries", lambda folder: [])
        with serving(own_settings) as client:
            assert {path: client.get(path).status_code for path in ("/", "/docs/api")} == {"/": 200, "/docs/api": 200}
            for path in ("/docs", "/docs/errors"):
                response = client.get(path)
                refused(response, 404, "NOT_FOUND")
                assert response.json()["message"] == (
                    f"There is nothing at {path}: this package was built without its docs. Install a released wheel; "
                    "in a checkout, run `make setup`. Then restart the service."
                )


# --- their files --------------------------------------------------------------------------------


@pytest.mark.promise("route.GET /docs/files/{version}/{name}")
def test_their_files(own: httpx.Client, pages: dict[str, str]) -> None:
    loaded = _loaded(pages)
    assert {"overview.png", "sgl.svg", "docs.js"} < set(loaded)
    loaded["search.json"] = loaded["docs.js"].replace("docs.js", "search.json")
    for name, path in loaded.items():
        response = own.get(path)
        assert response.status_code == 200, path
        assert response.headers["content-type"].partition(";")[0] == KINDS[name.rpartition(".")[2]]
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["vary"] == "Accept-Encoding"
        assert response.headers["x-request-id"]
        _protected(response)


@pytest.mark.parametrize("name", ["scalar.js", "site.css"])
def test_compressed_for_clients_that_accept_it(own: httpx.Client, pages: dict[str, str], name: str) -> None:
    path = _loaded(pages)[name]
    plain = own.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for accepted, compressed in (
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("GZIP", True),
        ("br", False),
        ("", False),
        ("gzip;q=0", False),
        ("gzip; q=0.0, br", False),
    ):
        response = own.get(path, headers={"Accept-Encoding": accepted})
        assert (response.headers.get("content-encoding") == "gzip") is compressed, accepted
        assert response.content == plain.content
    assert int(own.get(path, headers={"Accept-Encoding": "gzip"}).headers["content-length"]) < len(plain.content) / 3


@pytest.mark.promise(
    "route.GET /docs/{name}", "route.GET /docs/{section}/{name}", "route.GET /docs/files/{version}/{name}"
)
def test_other_paths_are_not_there(own: httpx.Client, pages: dict[str, str]) -> None:
    files = _loaded(pages)["site.css"].rpartition("/")[0]
    for path in (
        f"{files}/LICENSE",
        f"{files}/landing.html",
        f"{files}/..%2fdocs.py",
        f"{files}/scalar.js.gz",
        "/docs/files/another-version/site.css",
        files,
        "/docs/",
        "/docs/x",
        "/docs/index",
        "/docs/guides",
        "/docs/errors/",
        "/docs/errors/NO_SUCH_CODE",
        "/docs/errors/not_found",
        "/docs/guides/first-calls.html",
        "/docs/guides/..%2f..%2flanding",
        "/docs/images/overview.png",
    ):
        refused(own.get(path), 404, "NOT_FOUND")


@pytest.mark.promise("route.GET /docs/{name}", "route.GET /docs/{section}/{name}")
def test_a_page_that_was_merged_redirects_to_its_section(own: httpx.Client, pages: dict[str, str]) -> None:
    assert not docs.MOVED.keys() & pages.keys()
    for old, new in docs.MOVED.items():
        page, mark, anchor = new.partition("#")
        assert not anchor or f'id="{anchor}"' in pages[page], new
        for markdown in ("", ".md"):
            response = own.get(f"{old}{markdown}")
            assert (response.status_code, response.headers["location"]) == (301, f"{page}{markdown}{mark}{anchor}")


# --- errors lead to their pages -----------------------------------------------------------------


@pytest.mark.promise("errors.help_link")
def test_an_error_links_to_the_section_of_its_code(own: httpx.Client, pages: dict[str, str]) -> None:
    json = {"Content-Type": "application/json"}
    for response in (
        own.get("/nope"),
        own.get(SEARCH),
        own.post(SEARCH, json={"limt": 1}),
        own.post(SEARCH, json={"wrapped_query": "@"}),
        own.post(SEARCH, json={}, headers={"X-API-Key": "wrong"}),
        own.post(SEARCH, content=b"{}"),
        own.post(SEARCH, content=b"x" * 70_000, headers=json),
        own.post(f"{SEARCH}/x", json={}),
        own.post(ENRICH, json={}),
        own.post("/v1/opt-out", content=b"[]", headers=json),
    ):
        link = response.links["help"]
        assert response.is_error
        assert link["url"] == f"/docs/errors/{response.json()['error']}"
        explained = own.get(link["url"], follow_redirects=True).url
        assert explained.path == "/docs/errors"
        assert f'<h2 id="{explained.fragment}">' in pages["/docs/errors"]
        assert explained.fragment == response.json()["error"].lower()


def test_other_responses_do_not(own: httpx.Client) -> None:
    for response in (own.get("/healthz"), own.get("/docs"), own.post(SEARCH, json={"limit": 1}), own.get("/v1/ledger")):
        assert response.status_code == 200
        assert "help" not in response.links
