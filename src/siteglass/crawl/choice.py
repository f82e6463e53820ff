"""What to fetch after a home page: its sitemap, and up to four pages on which sites give their contact details."""

from __future__ import annotations

import re

import yarl

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.crawl.results import Found, Kind, Response
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.page import Page, joined
from siteglass.ingest.extract.paths import KEY_PAGES, OTHER, path_of, priority
from siteglass.ingest.http_responses import Answer, NotAnHttpResponse, plain_body

MAX_KEY_PAGES = 4
MAX_URL_CHARS = 2_000
# Best first; by the names of `KEY_PAGES`, which knows their words in many languages.
_WANTED = ("contact", "imprint", "about", "team", "locations", "shop", "booking")
_NAMES = [name for name, _ in KEY_PAGES]
_NO_WORD = re.compile(r"[\W_]+")


def registrable_of(url: str) -> str:
    """The registrable domain of an address; "" if it has none."""
    try:
        return registrable(normalise(yarl.URL(url).raw_host or ""))
    except (NotAHost, ValueError):
        return ""


def resolved(base: str, reference: str) -> str:
    """The absolute http address of a link or redirect, without a fragment; "" if there is none, or it is too long."""
    try:
        url = yarl.URL(joined(base, reference)).with_fragment(None)
    except ValueError:
        return ""
    text = str(url)
    return (
        text
        if url.scheme in ("http", "https") and url.raw_host and url.user is None and len(text) <= MAX_URL_CHARS
        else ""
    )


def key_pages(home: Response, domain: str) -> list[Found]:
    """Pages of the same registrable domain, one of each kind, by the paths and texts of links."""
    try:
        body = plain_body(Answer(home.status, home.headers, home.body))
        page = Page(Capture(url=home.url, captured_at_ms=home.sent_at_ms, status=200, headers=home.headers, body=body))
    except (NotAnHttpResponse, NotAHost):
        return []
    best: dict[str, tuple[int, str]] = {}
    for link in page.links:
        kind, worth = _kind(link.url, link.text)
        if kind in _WANTED and (kind not in best or worth < best[kind][0]):
            url = resolved(page.base, link.url)
            if url and url != home.url and registrable_of(url) == domain:
                best[kind] = (worth, url)
    urls = dict.fromkeys(best[kind][1] for kind in _WANTED if kind in best)
    return [Found(url, Kind.KEY_PAGE) for url in list(urls)[:MAX_KEY_PAGES]]


def _kind(url: str, text: str) -> tuple[str, int]:
    """What a link leads to, and how sure that is (less is better)."""
    spoken = "/" + _NO_WORD.sub("-", text.lower()).strip("-")
    path = re.sub(r"^(?:https?:)?//[^/]*", "", url)
    worth = min(priority(path_of(path)), priority(spoken) or OTHER)
    place = worth // 10 - 1
    return (_NAMES[place], worth) if 0 <= place < len(_NAMES) else ("", OTHER)


def sitemap(home_url: str, named: list[str], domain: str) -> Found:
    """The first sitemap that robots.txt names, or the usual address."""
    for text in named:
        url = resolved(home_url, text)
        if url and registrable_of(url) == domain:
            return Found(url, Kind.SITEMAP)
    return Found(str(yarl.URL(home_url).join(yarl.URL("/sitemap.xml"))), Kind.SITEMAP)
