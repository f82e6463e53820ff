"""Home pages: which addresses are one, and the other site that one redirects to or names as canonical."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract import facts_of
from siteglass.ingest.extract.homes import is_home_page
from siteglass.ingest.facts import PageFacts
from tests.ingest.content.pages import HTML, capture

HOME = "https://www.acme-tools.com/"
BODY = "<p>Welcome to our tools, made of steel and sold in our shop.</p>"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://acme.co.uk", True),
        ("http://www.acme.co.uk/", True),
        ("https://acme.co.uk/index.html", True),
        ("https://acme.co.uk/en", True),
        ("https://acme.co.uk/?utm_source=x&lang=de", True),
        ("https://acme.github.io/", True),
        ("https://acme.co.uk/?p=12", False),
        ("https://acme.co.uk/shop", False),
        ("https://shop.acme.co.uk/", False),
    ],
)
def test_home_pages(url: str, expected: bool) -> None:
    assert is_home_page(url) == expected


def _redirected(target: str, url: str = HOME) -> PageFacts:
    return facts_of(capture("", url, 301, (("location", target),)))


@pytest.mark.parametrize(
    ("target", "alias_of"),
    [
        ("https://new-name.com/", "new-name.com"),
        ("http://www.new-name.co.uk", "new-name.co.uk"),
        ("//NEW-name.com/de/index.html", "new-name.com"),
        ("https://new-name.com/brands/acme", ""),
        ("https://facebook.com/acme", ""),
        ("https://shop.new-name.com/", ""),
        ("https://new-name.com/?domain=acme-tools.com", ""),
        ("https://acme-tools.com/", ""),
        ("https://shop.acme-tools.com/", ""),
        ("https://10.0.0.1/", ""),
        ("https://[broken", ""),
        ("", ""),
    ],
)
def test_a_redirect_to_the_home_page_of_another_site(target: str, alias_of: str) -> None:
    facts = _redirected(target)
    assert (facts.kind, facts.alias_of) == ("redirect", alias_of)
    assert _redirected(target, f"{HOME}contact").alias_of == ""


def _named(head: str, url: str = HOME) -> PageFacts:
    return facts_of(
        capture(f"<html><head><title>Acme</title>{head}</head><body>{BODY}</body></html>", url, 200, (HTML,))
    )


@pytest.mark.parametrize(
    ("head", "alias_of"),
    [
        ('<link rel="canonical" href="https://new-name.com/">', "new-name.com"),
        ("<link href=//www.new-name.com rel='nofollow CANONICAL'>", "new-name.com"),
        ('<link rel="canonical" href="https://new-name.com/">' * 2, "new-name.com"),
        (
            '<link rel="canonical" href="https://new-name.com/"><link rel="canonical" href="https://acme-tools.com/">',
            "",
        ),
        ('<link rel="canonical" href="https://acme-tools.com/">', ""),
        ('<link rel="canonical" href="/">', ""),
        ('<link rel="canonical" href="https://new-name.com/acme">', ""),
        ('<link rel="alternate" href="https://new-name.com/">', ""),
        ('<link rel="canonical" href="">', ""),
        ("", ""),
    ],
)
def test_a_canonical_link_to_the_home_page_of_another_site(head: str, alias_of: str) -> None:
    facts = _named(head)
    assert (facts.kind, facts.alias_of) == ("page", alias_of)
    assert _named(head, f"{HOME}contact").alias_of == ""
