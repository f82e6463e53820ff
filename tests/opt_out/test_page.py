"""The page at /opt-out: whole, safe, readable without JavaScript, and true."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from testing.api_calls import refused
from tests.api.test_docs_pages import POLICY
from tests.opt_out.conftest import Door


class _Read(HTMLParser):
    """Elements with their attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="module")
def html(door: Door) -> str:
    return door.client.get("/opt-out").text


@pytest.fixture(scope="module")
def read(html: str) -> _Read:
    return _Read(html)


def _files(read: _Read) -> dict[str, str]:
    paths = [one.get("src") or one["href"] for one in read.all("script", "link")]
    return {path.rpartition("/")[2]: path for path in paths}


@pytest.mark.promise("route.GET /opt-out", "route.GET /opt-out/{version}/{name}")
def test_the_page_and_its_files(door: Door, read: _Read) -> None:
    files = _files(read)
    assert set(files) == {"tokens.css", "frame.css", "site.css", "opt_out.js", "icon.svg"}
    for path in ("/opt-out", *files.values()):
        response = door.client.get(path)
        assert response.status_code == 200
        parts = response.headers["content-security-policy"].split("; ")
        assert dict(part.split(" ", 1) for part in parts) == POLICY
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        kept = "no-store" if path == "/opt-out" else "public, max-age=31536000, immutable"
        assert response.headers["cache-control"] == kept
    for wrong in ("/opt-out/", files["icon.svg"].replace("icon.svg", "docs.js"), "/opt-out/x/opt_out.js"):
        refused(door.client.get(wrong), 404, "NOT_FOUND")


@pytest.mark.promise("route.GET /opt-out/{version}/{name}")
def test_nothing_comes_from_elsewhere(door: Door, html: str, read: _Read) -> None:
    for path in re.findall(r'\b(?:src|href|action)="([^"]*)"', html):
        assert re.match(r"/(?!/)|#|mailto:privacy@sender\.test$", path), path
    assert "<style" not in html
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    assert not re.search(r"\bon[a-z]+=|\bstyle=", html)
    script = door.client.get(_files(read)["opt_out.js"]).text
    assert "//" not in re.sub(r"^\s*// .*$", "", script, flags=re.MULTILINE)
    for word in ("innerHTML", "eval(", "document.write", "insertAdjacent", "localStorage", "cookie"):
        assert word not in script
    assert "@import" not in door.client.get(_files(read)["site.css"]).text


def test_every_field_has_a_label_and_its_error(read: _Read) -> None:
    ids = [one["id"] for _, one in read.elements if "id" in one]
    assert len(ids) == len(set(ids))
    labelled = {one["for"] for one in read.all("label") if "for" in one}
    for field in read.all("input", "textarea"):
        if field.get("type") == "radio":
            continue
        assert field["id"] in labelled
        if "readonly" not in field:
            described = field["aria-describedby"].split()
            assert any(name.endswith("-error") for name in described)
            assert set(described) <= set(ids)
    (status,) = [one for _, one in read.elements if "aria-live" in one]
    assert (status["role"], status["aria-live"]) == ("status", "polite")
    assert read.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in read.all("meta")


def test_the_script_speaks_of_elements_that_are_there(door: Door, read: _Read) -> None:
    script = door.client.get(_files(read)["opt_out.js"]).text
    named = set(re.findall(r'byId\("([\w-]+)"\)', script)) | set(re.findall(r'complain\("\w*", "([\w-]+)"', script))
    assert len(named) > 15
    assert named <= {one["id"] for _, one in read.elements if "id" in one}


@pytest.mark.promise("route.GET /opt-out")
def test_it_says_how_to_go_on_without_javascript(door: Door, html: str, read: _Read) -> None:
    assert "<noscript>" in html
    assert "mailto:privacy@sender.test" in html
    assert f"curl {str(door.client.base_url).rstrip('/')}/v1/opt-out " in read.text
    # What a script brings to life is not shown before: without one it would do nothing.
    for one in read.all("form")[:2]:
        assert "hidden" in one


def test_a_forged_host_is_only_text(door: Door) -> None:
    html = door.client.get("/opt-out", headers={"Host": 'x"><script>alert(1)</script>'}).text
    assert "<script>alert" not in html


@pytest.mark.promise("route.GET /opt-out")
def test_it_says_what_is_done_and_kept(read: _Read) -> None:
    said = " ".join(read.text.split())
    for promise in (
        "Within 60 seconds, searches and look-ups no longer show the address or the record of the website",
        "keep a receipt that names the domain of the website",
        "They may also have files with the record and its contact details",
        "Records of other websites may contain links to the website",
        "stored for up to two days in case a customer repeats a request. From now on they are returned without your "
        "data",
        "Nothing is stored about your request",
        "a keyed hash",
        "For a domain: its name",
        "This is free, and you need no account",
        "Write to us, too, if the page reports too many attempts",
    ):
        assert promise in said, promise
