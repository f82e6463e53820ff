"""Paths, links and the icon of a page, and what a path is worth."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.paths import MAX_LINKS, MAX_PAGES, OTHER, favicon, is_home, leads, path_of, priority
from tests.ingest.content.pages import page


@pytest.mark.parametrize("path", ["/", "/index.html", "/en", "/de-at", "/en/index.php", "/default.aspx"])
def test_first_pages(path: str) -> None:
    assert is_home(path)
    assert priority(path) == 0


@pytest.mark.parametrize("path", ["/about", "/eng/about", "/indexes", "/en/de"])
def test_other_pages(path: str) -> None:
    assert not is_home(path)
    assert priority(path) > 0


@pytest.mark.parametrize(
    "path",
    [
        "/contact",
        "/en/contact-us.html",
        "/kontakt",
        "/contact_form",
        "/company/contact",
        "/お問い合わせ",
        "/fr/nous-contacter",
    ],
)
def test_contact_pages_come_before_all_others(path: str) -> None:
    assert (
        0
        < priority(path)
        < priority("/impressum")
        < priority("/about")
        < priority("/pricing")
        < priority("/blog")
        < OTHER
    )


@pytest.mark.parametrize(
    "path", ["/blog/how-to-contact-aliens", "/p/contact/of/the/dead", "/products-we-love-most", "/x"]
)
def test_articles_are_no_key_pages(path: str) -> None:
    assert priority(path) > OTHER


def test_shallow_paths_come_first() -> None:
    assert priority("/tools") < priority("/tools/saws") < priority("/tools/saws/red/big/old")


def test_a_path_is_kept_in_one_spelling() -> None:
    assert path_of("/%C3%9Cber-Uns/?a=b#c") == "/über-uns"
    assert path_of("/%FF%00") == "/%ff%00"
    assert path_of("") == "/"
    assert path_of("//Shop//") == "/shop"


def test_pages_are_of_the_same_host_key_pages_first() -> None:
    html = """<a href="/zebra">z</a><a href="About/?x=1">a</a><a href="https://acme-tools.com/contact">c</a>
        <a href="https://shop.acme-tools.com/pricing">s</a><a href="//www.acme-tools.com/contact/">again</a>
        <a href="/">h</a>
        <a href="mailto:jo@acme-tools.com">m</a><a href="javascript:void(0)">j</a>
        <a href="#top">t</a><a href="/f.pdf">f</a>"""
    found = leads(page(html))
    assert found.pages == ("/contact", "/about", "/zebra")
    assert found.links == (
        "https://www.acme-tools.com/",
        "https://acme-tools.com/contact",
        "https://www.acme-tools.com/contact/",
        "https://www.acme-tools.com/About/?x=1",
        "https://shop.acme-tools.com/pricing",
        "https://www.acme-tools.com/zebra",
        "https://www.acme-tools.com/f.pdf",
    )


def test_relative_links_follow_the_base() -> None:
    html = '<base href="https://www.acme-tools.com/en/"><a href="../contact">c</a><a href="team">t</a>'
    assert leads(page(html)).pages == ("/contact", "/en/team")


def test_links_are_bounded() -> None:
    html = "".join(f'<a href="/p{n}">x</a>' for n in range(900)) + f'<a href="/{"long" * 200}">x</a>'
    found = leads(page(html))
    assert (len(found.pages), len(found.links)) == (MAX_PAGES, MAX_LINKS)
    assert max(map(len, found.links)) < 100


@pytest.mark.parametrize(
    "href", ["https://[", "http://", "http://1.2.3.4/x", "//", "http:///x", "https://exa mple.com/", "\\\\x"]
)
def test_broken_addresses_lead_nowhere(href: str) -> None:
    assert all(link.startswith("https://www.acme-tools.com/") for link in leads(page(f'<a href="{href}">x</a>')).links)


def test_the_icon_is_the_one_that_is_named() -> None:
    apple = '<link rel="apple-touch-icon" href="/a.png">'
    assert favicon(page(f'{apple}<link rel="Shortcut Icon" href="i.ico">')) == "https://www.acme-tools.com/i.ico"
    assert favicon(page(apple)) == "https://www.acme-tools.com/a.png"
    assert favicon(page('<link rel="icon" href="data:image/png;base64,AA">')) == ""
    assert favicon(page("<p>none</p>")) == ""
