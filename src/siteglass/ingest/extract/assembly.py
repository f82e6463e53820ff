"""All facts of one capture, put together. What a fact module raises, and what takes too long, ends as ExtractFailed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from math import inf
from time import thread_time
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from siteglass.corpus.domains import normalise, registrable
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract import kinds, robots
from siteglass.ingest.extract.audits import audits
from siteglass.ingest.extract.context import countries
from siteglass.ingest.extract.emails import emails
from siteglass.ingest.extract.homes import canonical_home, is_home_page
from siteglass.ingest.extract.keywords import keywords
from siteglass.ingest.extract.language import language
from siteglass.ingest.extract.mail_hosts import mail_marks
from siteglass.ingest.extract.name_candidates import sightings
from siteglass.ingest.extract.named_people import with_people
from siteglass.ingest.extract.names import NamedPage, elected
from siteglass.ingest.extract.own_trades import own_trades
from siteglass.ingest.extract.page import MAX_URL_CHARS, Page
from siteglass.ingest.extract.paths import OTHER, favicon, leads, path_of, priority
from siteglass.ingest.extract.phones import phones
from siteglass.ingest.extract.place import place
from siteglass.ingest.extract.profiles import profiles
from siteglass.ingest.extract.technologies import technology_marks
from siteglass.ingest.extract.texts import texts
from siteglass.ingest.extract.trades import trade
from siteglass.ingest.facts import PageFacts, page_digest
from siteglass.query.vocabulary import vocabulary

MAX_PAGE_S = 2.0
"""CPU time for one capture. It is checked between facts, so each fact needs its own limit, too."""

_Made = TypeVar("_Made")
# Reasons are counted and shown: what else a header holds is the page's own affair.
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,30}/[\w.+-]{1,60}", re.ASCII)


class ExtractFailed(Exception):
    """A capture that gives no facts, for the quarantine: its address, the fact that failed, and why."""

    def __init__(self, url: str, fact: str, reason: str) -> None:
        super().__init__(url, fact, reason)  # all of them, so that it can be sent between processes
        self.url = url
        self.fact = fact
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.fact}: {self.reason}"


class NotHtml(ExtractFailed):
    """The body is not a web page but an image, a document or data. This is expected and needs no investigation."""


class _Parts:
    """Runs the parts of an extraction."""

    def __init__(self, url: str, max_s: float) -> None:
        self._url = url[:MAX_URL_CHARS]
        self._end_s = thread_time() + max_s

    def __call__(self, fact: str, make: Callable[[], _Made]) -> _Made:
        try:
            made = make()
        except Exception as problem:
            # Its words may quote the page, and differ from page to page: the kind can be counted.
            raise ExtractFailed(self._url, fact, type(problem).__name__) from problem
        if thread_time() > self._end_s:
            raise ExtractFailed(self._url, fact, f"the page took more than {MAX_PAGE_S} s")
        return made


# Pages that between them ask every table and model that is loaded when it is first needed.
_SAMPLES = (
    "<html lang=de><title>Tische</title><p>Wir bauen Tische aus Eiche, jeden Tag. Lindenstraße 5, 10969 Berlin. "
    "Tel. 030 901820, info@example.org",
    "<html lang=de><title>Tische</title><p>Wir bauen Tische aus Eiche, jeden Tag. <a href='tel:+4930901820'>Anruf</a>",
    '<script type="application/ld+json">{"@type": "Store", "address": {"addressCountry": "DE", "addressLocality": '
    '"Berlin"}}</script><script src="https://cdn.example.net/a.js"></script><h1>Tables</h1><p>We make tables of oak.',
)


@cache
def _load_tables() -> None:
    """It takes two seconds or more, once in a process: no page's time."""
    for number, html in enumerate(_SAMPLES):
        url = f"https://sample-{number}.example.com/"
        headers = (("content-type", "text/html"),)
        sample = Capture(url=url, captured_at_ms=0, status=200, headers=headers, body=html.encode())
        _facts(sample, _Parts(url, inf))


def facts_of(capture: Capture) -> PageFacts:
    """The facts of a capture; raises ExtractFailed."""
    _load_tables()
    return _facts(capture, _Parts(capture.url, MAX_PAGE_S))


def _facts(capture: Capture, part: _Parts) -> PageFacts:
    if capture.url.startswith("dns:"):
        return part("dns", lambda: _dns_facts(capture))
    bare = part("address", lambda: _bare(capture))
    if capture.page_digest:  # what it says is in the facts store, see `store.unchanged`
        return replace(bare, kind="failed", noindex=kinds.header_noindex(capture), load_time_ms=capture.load_time_ms)
    answered = part("kind", lambda: kinds.before_reading(capture))
    if answered.kind == "robots":
        return part("robots", lambda: _with_robots(bare, capture))
    if answered.kind == "sitemap":
        return replace(bare, kind="sitemap", has_sitemap=robots.has_sitemap(capture))
    if answered.kind is not None:
        return _answered(bare, answered)
    if not kinds.is_html(capture):
        stated = _MEDIA_TYPE.match(capture.header("content-type"))
        raise NotHtml(capture.url[:MAX_URL_CHARS], "body", f"is not HTML ({stated[0] if stated else 'no type'})")
    page = part("page", lambda: Page(capture))
    return _read(page, bare, part)


def _read(page: Page, bare: PageFacts, part: _Parts) -> PageFacts:
    capture = page.capture
    words = part("texts", lambda: texts(page))
    answered = part("kind", lambda: kinds.after_reading(page, words))
    noindex = part("noindex", lambda: kinds.noindex(page))
    if answered.kind not in (None, "page"):
        return replace(_answered(bare, answered), noindex=noindex)
    known = part("profiles", lambda: profiles(page))
    names = part("names", lambda: sightings(page, words, known.social, is_home=bare.is_home))
    name, basis = part("business_name", lambda: elected(bare.domain, [NamedPage(names, bare.is_home)]))
    leading = part("links", lambda: leads(page))
    is_key_page = bare.is_home or priority(bare.path) < OTHER
    traded = part("trade", lambda: trade(page, words, leading.pages, is_key_page=is_key_page))
    guessed = part("countries", lambda: countries(page))
    numbers = part("phones", lambda: phones(page, guessed))
    spoken = part("language", lambda: language(page))
    named = part(
        "own_trades",
        lambda: own_trades(
            page,
            words,
            # Every page has the name of the site: one that says little else would repeat what the home page says.
            name=name if is_key_page or basis == "title" else "",
            domain=bare.domain,
            paths=leading.pages,
            language=spoken,
            service_types=traded.service_types,
            is_key_page=is_key_page,
        ),
    )
    where = part("place", lambda: place(page, numbers, spoken))
    if (country := vocabulary().country_alpha2(where.country)) and country not in guessed:
        numbers = part("phones", lambda: phones(page, (country, *guessed)))
    marks = part("technologies", lambda: technology_marks(page))
    responsive, has_schema = _is_responsive(page), part("schema", lambda: _has_schema(page))
    checks = part(
        "audits",
        lambda: audits(
            page,
            title=words.title,
            noindex=noindex,
            responsive=responsive,
            has_heading=bool(words.heading),
            has_schema=has_schema,
        ),
    )
    return replace(
        bare,
        alias_of=part("canonical", lambda: canonical_home(page)) if bare.is_home else "",
        noindex=noindex,
        title=words.title,
        description=words.description,
        business_name=name,
        name_basis=basis,
        names=names,
        text=words.main,
        keywords=part("keywords", lambda: keywords(words, page.metas.get("keywords", ""))),
        language=spoken,
        favicon=part("favicon", lambda: favicon(page)),
        emails=part("emails", lambda: with_people(page, emails(page))),
        phones=numbers,
        social_links=known.social,
        other_profiles=known.other,
        country=where.country,
        state=where.state,
        city=where.city,
        geo_basis=where.basis,
        technologies=tuple(mark.technology for mark in marks),
        marks=marks,
        offers=traded.offers,
        service_types=traded.service_types,
        trades=named,
        pages=leading.pages,
        links=leading.links,
        secure=page.address.scheme == "https",
        responsive=responsive,
        has_schema=has_schema,
        has_heading=bool(words.heading),
        has_description=bool(page.metas.get("description")),
        load_time_ms=capture.load_time_ms,
        audits=checks,
    )


def _answered(bare: PageFacts, answered: kinds.Answered) -> PageFacts:
    """The facts of what is not a page."""
    alias_of = answered.alias_of if bare.is_home else ""
    return replace(bare, kind=answered.kind, redirects_to=answered.redirects_to, alias_of=alias_of)


def _bare(capture: Capture) -> PageFacts:
    """What the address alone says."""
    host = normalise(capture.url)
    domain = registrable(host)
    address = urlsplit(capture.url)
    path = path_of(address.path)
    return PageFacts(
        domain=domain,
        url=capture.url,
        path=path,
        is_home=is_home_page(capture.url),
        kind="page",
        captured_at_ms=capture.captured_at_ms,
        archive=capture.archive,
        offset=capture.offset,
        digest=capture.page_digest or page_digest(capture.body),
        status=capture.status,
    )


def _dns_facts(capture: Capture) -> PageFacts:
    marks = mail_marks(capture)
    return PageFacts(
        domain=registrable(normalise(capture.url.removeprefix("dns:"))),
        url=capture.url,
        path="",
        is_home=False,
        kind="robots",
        captured_at_ms=capture.captured_at_ms,
        archive=capture.archive,
        offset=capture.offset,
        digest=page_digest(capture.body),
        technologies=tuple(mark.technology for mark in marks),
        marks=marks,
    )


def _with_robots(bare: PageFacts, capture: Capture) -> PageFacts:
    said = robots.robots(capture)
    checks = {"robots-txt": said.is_valid} if said.exists else {}
    if not said.allows_home:
        checks["is-crawlable"] = False
    # That it names no sitemap does not say that there is none.
    sitemap = True if said.names_sitemap else None
    return replace(bare, kind="robots", has_robots=said.exists, has_sitemap=sitemap, audits=checks)


def _is_responsive(page: Page) -> bool:
    viewport = page.metas.get("viewport", "").replace(" ", "").lower()
    return "width=device-width" in viewport or "initial-scale" in viewport


def _has_schema(page: Page) -> bool:
    if any("@type" in node for node in page.json_ld):
        return True
    marked = "itemscope" in page.html or "typeof=" in page.html
    return marked and page.tree.css_first("[itemscope], [typeof]") is not None
