"""All facts of a capture together; what fails, and what was built to make it fail."""

from __future__ import annotations

import pickle
import time

import pytest

from siteglass.ingest.capture import MAX_BODY_BYTES
from siteglass.ingest.extract import ExtractFailed, NotHtml, assembly, facts_of
from siteglass.ingest.extract.bounds import bounded
from siteglass.ingest.extract.page import Page
from siteglass.ingest.facts import to_batch
from tests.ingest.content.pages import capture

SITE = """<!doctype html><html lang="en-GB"><head><title>Acme Tools | Online shop for saws</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="description" content="Saws.">
<link rel="icon" href="/i.png"></head><body itemscope><h1>Saws</h1><a href="/contact">Contact</a>
<a href="/cart">Cart</a>
</body></html>"""


def test_a_page() -> None:
    facts = facts_of(capture(SITE, "https://www.acme-tools.com/?utm_source=x", load_time_ms=250))
    assert (facts.domain, facts.path, facts.is_home, facts.kind) == ("acme-tools.com", "/", True, "page")
    assert facts.title == "Acme Tools | Online shop for saws"
    assert (facts.business_name, facts.name_basis) == ("Acme Tools", "title")
    assert facts.favicon == "https://www.acme-tools.com/i.png"
    assert (facts.service_types, facts.offers) == (("Ecommerce",), ("ecommerce",))
    assert facts.pages == ("/contact", "/cart")
    assert (facts.secure, facts.responsive, facts.has_schema, facts.has_heading, facts.has_description) == (True,) * 5
    assert (facts.has_robots, facts.has_sitemap, facts.load_time_ms) == (None, None, 250)
    assert set(facts.audits.values()) == {True}
    assert len(facts.digest) == 16
    assert to_batch([facts]).num_rows == 1


def test_flags_that_are_known_to_be_false() -> None:
    facts = facts_of(capture("<html><body><p>Hello</p>", "http://acme-tools.com/about"))
    assert (facts.secure, facts.responsive, facts.has_schema, facts.has_heading, facts.has_description) == (False,) * 5
    assert facts.is_home is False


@pytest.mark.parametrize(
    "url", ["https://shop.acme-tools.com/", "https://acme-tools.com/?p=12", "https://acme-tools.com/x"]
)
def test_what_is_not_the_first_page_of_the_domain(url: str) -> None:
    assert facts_of(capture(SITE, url)).is_home is False


def test_only_a_page_speaks_for_its_domain() -> None:
    for facts in (
        facts_of(capture(SITE, status=500)),
        facts_of(capture(SITE, status=301, headers=(("location", "https://other.com/"),))),
        facts_of(capture("<title>404 Not Found</title>")),
        facts_of(capture("<title>Acme</title><p>This domain is for sale</p>")),
    ):
        assert facts.kind in ("failed", "redirect", "soft_404", "parked")
        assert (facts.title, facts.audits, facts.secure) == ("", {}, None)
    assert facts_of(capture("", status=301, headers=(("location", "https://other.com/"),))).redirects_to == "other.com"


@pytest.mark.parametrize(
    ("body", "status", "has_robots", "has_sitemap", "audits"),
    [
        ("User-agent: *\nSitemap: https://acme-tools.com/s.xml", 200, True, True, {"robots-txt": True}),
        ("User-agent: *\nDisallow: /", 200, True, None, {"robots-txt": True, "is-crawlable": False}),
        ("<html>", 200, False, None, {}),
        ("", 404, False, None, {}),
    ],
)
def test_robots(body: str, status: int, has_robots: bool, has_sitemap: bool | None, audits: dict[str, bool]) -> None:
    facts = facts_of(capture(body, "https://acme-tools.com/robots.txt", status))
    assert (facts.kind, facts.has_robots, facts.has_sitemap, facts.audits) == (
        "robots",
        has_robots,
        has_sitemap,
        audits,
    )


def test_a_sitemap_is_there_or_known_to_be_missing() -> None:
    assert facts_of(capture("<urlset></urlset>", "https://acme-tools.com/sitemap.xml", headers=())).has_sitemap is True
    assert facts_of(capture("", "https://acme-tools.com/sitemap.xml", 404)).has_sitemap is False
    assert facts_of(capture("", "https://acme-tools.com/sitemap.xml", 503)).has_sitemap is None


def test_what_is_no_html() -> None:
    with pytest.raises(NotHtml) as raised:
        facts_of(capture(b"%PDF-1.7", headers=(("content-type", "application/pdf"),)))
    assert str(raised.value) == "body: is not HTML (application/pdf)"


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "https://localhost/", "", "https://[x/"])
def test_an_address_without_a_domain(url: str) -> None:
    with pytest.raises(ExtractFailed) as raised:
        facts_of(capture(SITE, url))
    assert (raised.value.url, raised.value.fact) == (url, "address")


def test_what_a_fact_raises_names_page_fact_and_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaking(read: Page) -> str:
        raise RecursionError("too deep")

    monkeypatch.setattr(assembly, "favicon", breaking)
    with pytest.raises(ExtractFailed) as raised:
        facts_of(capture(SITE))
    failed = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - as a worker hands it over
    assert (failed.url, failed.fact, failed.reason) == (
        "https://www.acme-tools.com/",
        "favicon",
        "RecursionError",
    )


def test_a_page_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "MAX_PAGE_S", 0.0)
    with pytest.raises(ExtractFailed, match="took more than"):
        facts_of(capture(SITE))


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000,
        "<ul><li>" * 100_000,
        "<b>" * 100_000,
        "<font>" * 50_000 + "</p>" * 50_000,
        "<table><tr><td>" * 50_000,
        "<div " + " ".join(f"a{n}" for n in range(100_000)) + ">x",
        '<div x" ' + " ".join(f"a{n}" for n in range(100_000)) + ' y">x',
        "<a href=" * 100_000,
        "<h1>" * 30_000 + "404 " * 30_000,
        "<title>" + "- | " * 50_000,
        '<script type="application/ld+json">' + "[" * 90_000 + "</script>",
        '<script type="application/ld+json">' + '{"@type":"Organization","a":' * 5_000 + "</script>",
        '<meta http-equiv=refresh content="0;url=' + "a" * 90_000 + '">',
        "\x00\ufffd<" * 50_000,
        "<p>" + "a-" * 300_000,
        "<p>" + "domain " * 200,
        "<p>" + "A'" * 30_000 + " jane@acme.de",
        "<p>" + "!" * 50_000 + "x ©",
    ],
    ids=range(18),
)
def test_hostile_pages_are_read_or_refused_in_time(body: str) -> None:
    started = time.thread_time()
    assert facts_of(capture(f"<html>{body}"[:MAX_BODY_BYTES])).domain == "acme-tools.com"
    assert time.thread_time() - started < 2.0


def test_bounds_leave_usual_pages_alone() -> None:
    assert bounded(SITE) is SITE
    long_attribute = f'<div data-x="{"a b=c " * 9_000}">x</div>'
    assert bounded(long_attribute) == long_attribute
    flat = "<p>one<br><img src=a><li>two" * 9_000 + "<div><b>x</b></div>" * 9_000
    assert bounded(flat) == flat


def test_deep_nesting_is_cut_and_what_stands_before_is_kept() -> None:
    facts = facts_of(capture(SITE + "<div>" * 20_000 + "<h1>never</h1>"))
    assert facts.title == "Acme Tools | Online shop for saws"


def test_formats_that_are_left_open_are_not_repeated_without_end() -> None:
    formats = "".join(f"<b a{number}>" for number in range(700))
    assert len(bounded(f"<div>{formats}</div>" + "<p>x</p>" * 12_000)) < 10_000
