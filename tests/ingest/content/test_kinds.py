"""What kind of answer a capture is, and whether it may be listed."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.kinds import Answered, after_reading, before_reading, is_html, noindex
from siteglass.ingest.extract.robots import Robots, has_sitemap, robots
from siteglass.ingest.extract.texts import texts
from tests.ingest.content.pages import HTML, capture, page

SITEMAP = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>'
LONG = "<p>" + "Much more of its own to read. " * 80 + "</p>"


def _kind(html: str, url: str = "https://www.acme-tools.com/") -> Answered:
    read = page(html, url)
    return after_reading(read, texts(read))


@pytest.mark.parametrize(
    ("path", "status", "location", "expected"),
    [
        ("/", 404, "", Answered("failed")),
        ("/", 503, "", Answered("failed")),
        ("/robots.txt", 503, "", Answered("failed")),
        ("/robots.txt", 404, "", Answered("robots")),
        ("/robots.txt", 200, "", Answered("robots")),
        ("/sitemap.xml", 404, "", Answered("sitemap")),
        ("/sitemap_index.xml", 200, "", Answered("sitemap")),
        ("/", 301, "https://WWW.Other.co.uk/x", Answered("redirect", "other.co.uk")),
        ("/", 301, "https://WWW.Other.co.uk/en/", Answered("redirect", "other.co.uk", "other.co.uk")),
        ("/", 302, "/en/", Answered("redirect", "")),
        ("/", 301, "https://shop.acme-tools.com/", Answered("redirect", "")),
        ("/", 301, "https://[broken", Answered("redirect", "")),
        ("/", 304, "", Answered("redirect", "")),
        ("/", 200, "", Answered(None)),
    ],
)
def test_the_answer_alone_says_much(path: str, status: int, location: str, expected: Answered) -> None:
    headers = (("location", location),) if location else ()
    assert before_reading(capture("", f"https://www.acme-tools.com{path}", status, headers)) == expected


def test_a_sitemap_is_known_by_its_looks_too() -> None:
    assert before_reading(capture(SITEMAP, "https://acme-tools.com/map")).kind == "sitemap"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<meta http-equiv="Refresh" content="0; URL=https://new-home.de/">',
            Answered("redirect", "new-home.de", "new-home.de"),
        ),
        ("<meta http-equiv=refresh content=\"3;url='//new-home.de/x'\">", Answered("redirect", "new-home.de")),
    ],
)
def test_a_refresh_to_another_domain_is_a_redirect(html: str, expected: Answered) -> None:
    assert _kind(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        '<meta http-equiv="refresh" content="0; url=/en/">',
        '<meta http-equiv="refresh" content="300; url=https://new-home.de/">',
        '<meta http-equiv="refresh" content="60">',
        '<link rel="canonical" href="https://new-home.de/">',
    ],
)
def test_what_is_no_redirect(html: str) -> None:
    assert _kind(html + "<p>Welcome</p>").kind == "page"


@pytest.mark.parametrize(
    "html",
    [
        "<h1>acme-tools.com</h1><p>This domain is for sale. Make an offer.</p>",
        "<p>Diese Domain steht zum Verkauf</p>",
        "<p>El dominio acme-tools.com está en venta</p>",
        "<p>Ce nom de domaine est à vendre</p><p>Acheter ce domaine</p>",
        "<p>Домен продаётся</p>",
        "<p>The web address acme-tools.com is for sale</p>",
        "<h1>Acme</h1><h2>Hello world!</h2><p>Welcome to WordPress. This is your first post. Edit or delete it.</p>",
        "<p>此域名正在出售</p>",
        '<script src="https://img.sedoparking.com/x.js"></script>',
        "<title>Welcome to nginx!</title>",
        "<title>Apache2 Ubuntu Default Page: It works</title>",
        "<title>Index of /</title>",
    ],
)
def test_parked(html: str) -> None:
    assert _kind(html).kind == "parked"
    assert _kind(html + LONG).kind == "page"


def test_a_template_as_its_author_left_it_is_parked() -> None:
    filler = "<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit.</p>" * 3
    assert _kind(f"<title>Consultio</title>{LONG}{filler}").kind == "parked"
    assert _kind(f"<title>Acme</title>{LONG}{filler}<p>info@acme-tools.com").kind == "page"
    assert _kind(f"<title>Acme</title>{LONG}<p>Lorem ipsum").kind == "page"


def test_a_site_about_domains_is_not_parked() -> None:
    assert _kind(f"<p>How to know that a domain is for sale: buy this domain</p>{LONG}").kind == "page"


@pytest.mark.parametrize(
    "said",
    [
        "404 Not Found",
        "Error 404",
        "Page not found - Acme",
        "Seite nicht gefunden",
        "Page introuvable",
        "Página no encontrada",
        "Pagina non trovata",
        "Страница не найдена",
        "ページが見つかりません",
        "页面不存在",
        "404",
        "Oops, that page can't be found",
    ],
)
def test_soft_404(said: str) -> None:
    assert _kind(f"<title>{said}</title><p>Sorry.</p>").kind == "soft_404"
    assert _kind(f"<title>Acme</title><h1>{said}</h1>").kind == "soft_404"
    assert _kind(f"<title>{said}</title>{LONG}").kind == "page"


@pytest.mark.parametrize("said", ["Plumber in area code 404", "404 best recipes for the summer", "Lost and found"])
def test_what_is_no_soft_404(said: str) -> None:
    assert _kind(f"<title>{said}</title><p>Hello.</p>").kind == "page"


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ('<meta name="ROBOTS" content="NOINDEX, follow">', "", True),
        ('<meta name="googlebot" content="none">', "", True),
        ('<meta name="robots" content="index"><meta name="robots" content="noindex">', "", True),
        ('<meta name="robots" content="index, follow">', "", False),
        ('<meta name="robots" content="max-image-preview:none">', "", False),
        ('<meta name="otherbot" content="noindex">', "", False),
        ("", "noindex", True),
        ("", "nofollow, NOINDEX", True),
        ("", "googlebot: noindex", True),
        ("", "otherbot: noindex", False),
        ("", "max-snippet:20", False),
    ],
)
def test_noindex(html: str, header: str, expected: bool) -> None:
    headers = (HTML, ("x-robots-tag", header)) if header else (HTML,)
    assert noindex(page(html, headers=headers)) is expected


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"hello", True),
        ("text/html", b"\x89PNG\x00\x00", False),
        ("application/pdf", b"<html>", False),
        ("", b"<!DOCTYPE html><p>x", True),
        ("text/plain", b"just words", False),
        ("application/json", b"{}", False),
        ("", b"\xff\xfe<\x00h\x00t\x00m\x00l\x00", False),
        ("text/html", b"\xff\xfe<\x00h\x00t\x00m\x00l\x00", True),
    ],
)
def test_what_is_html(content_type: str, body: bytes, expected: bool) -> None:
    assert is_html(capture(body, headers=(("content-type", content_type),))) is expected


ROBOTS = "https://acme-tools.com/robots.txt"


def test_robots() -> None:
    text = "\ufeffUser-agent: *\nDisallow: /cart # not this\n\nSitemap: https://acme-tools.com/sitemap.xml"
    assert robots(capture(text, ROBOTS)) == Robots(True, True, True, True)
    assert robots(capture("User-agent: *\nDisallow: /", ROBOTS)) == Robots(True, False, True, False)
    assert robots(capture("hello there", ROBOTS)) == Robots(True, False, False, True)
    assert robots(capture("", ROBOTS)) == Robots(True, False, True, True)
    assert robots(capture("<!doctype html><title>Acme</title>", ROBOTS)).exists is False
    assert robots(capture("User-agent: *", ROBOTS, 404)).exists is False


def test_a_page_in_place_of_a_sitemap_is_none() -> None:
    assert has_sitemap(capture(SITEMAP))
    assert not has_sitemap(capture("<!doctype html><p>Home"))
    assert not has_sitemap(capture(SITEMAP, status=404))


@pytest.mark.parametrize("html", ["", "<html><body></body></html>", "<body><script>start()</script><div id=app></div>"])
def test_a_page_that_says_nothing(html: str) -> None:
    assert _kind(html).kind == "empty"
