"""The page at /opt-out: whole, safe, readable without JavaScript, and true."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from testing.api_calls import refused
from tests.api.test_docs_pages import POLICY
from tests.opt_out.conftest import Door

ROOT = Path(__file__).parents[2]


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


# The test that holds each sentence under "What happens"; "": nothing that we do.
PURCHASE = "opt_out/test_truth.py::test_what_the_page_says_holds_after_a_purchase"
HASHED = "opt_out/test_logs.py::test_of_a_proven_address_a_keyed_hash_is_kept"
SINCE = "opt_out/test_door.py::test_access_says_since_when_and_where_it_is_not_shown"
LEFT_OUT = "suppression/test_property.py::test_no_order_of_steps_brings_a_suppressed_value_back"
PROOFS = {
    "Nothing is stored about your request": "opt_out/test_logs.py::test_nothing_is_kept_of_what_was_not_proven",
    "This page never reveals": "opt_out/test_door.py::test_the_answer_is_the_same_whether_or_not_anything_is_held",
    "Within 60 seconds": PURCHASE,
    "This also applies if the same data is collected again": LEFT_OUT,
    "Customers who received the record earlier keep a receipt": PURCHASE,
    "They may also have files with the record": PURCHASE,
    "We cannot change those": "",
    "Records of other websites may contain links": "",
    "For an address: the websites that it was found on, and a keyed hash": SINCE,
    "The hash recognises the address": HASHED,
    "For a domain: its name": "suppression/test_commands.py::test_add_check_list_and_audit",
    "For both: when you made the request": SINCE,
    "The files that the records came in are not changed": LEFT_OUT,
    "Earlier responses are stored": PURCHASE,
    "From now on they are returned": PURCHASE,
    "You see it here": PURCHASE,
    "That is what customers see, too": PURCHASE,
    "You can opt out from there": PURCHASE,
    "Within minutes we count": PURCHASE,
    "We email the number to the address": PURCHASE,
    "For a domain, check the ticket again": "opt_out/test_truth.py::test_a_domain_sees_the_number_when_it_asks_again",
    "The number and the websites are stored": PURCHASE,
}


def test_every_sentence_of_what_happens_is_held_by_a_test() -> None:
    page = (ROOT / "src/siteglass/web/static/opt_out.html").read_text()
    inside = re.search(r'<dl class="facts">(.*?)</dl>', page, re.DOTALL)
    assert inside is not None
    told = [" ".join(part.split()) for part in re.findall(r"<dd>(.*?)</dd>", inside[1], re.DOTALL)]
    sentences = [one for part in told for one in re.split(r"(?<=\.) ", part)]
    assert len(sentences) == len(PROOFS)
    for sentence, (begin, proof) in zip(sentences, PROOFS.items(), strict=True):
        assert sentence.startswith(begin)
        file, _, name = proof.partition("::")
        assert not proof or f"def {name}(" in (ROOT / "tests" / file).read_text()


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
