"""What kind of business a site is, and what it offers: by rules, and rather nothing than something wrong.

Points come from JSON-LD types, the host, paths, and phrases of `trade_words` in title, headings, description and
navigation. A kind needs three points. A phrase in the title, a type or a host gives all three; a phrase in the
navigation only adds to others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.schema_types import SERVICE_TYPE_OF, organisations, types_of
from siteglass.ingest.extract.texts import Texts
from siteglass.ingest.extract.trade_words import FIRST_WORDS, PHRASES
from siteglass.query.folding import fold

MAX_SERVICE_TYPES = 3
MAX_OFFERS = 6
_ENOUGH = 3
_MOST_BY_PHRASES = 6
_NAV_LINKS = 40
_NAV_CHARS = 40
_MARKED_NODES = 20

_WORD = re.compile(r"[\w']+")
_ASCII_OR_SPACED = re.compile("[\x00-\u0dff\u0f00-\u2fff]+")  # Thai has no blanks between words either
_UNSPACED_PHRASES = {phrase: said for phrase, said in PHRASES.items() if not _ASCII_OR_SPACED.fullmatch(phrase)}
_HOSTS = (
    (re.compile(r"\.(?:gov|mil)$|\.(?:gov|gob|gouv|go|govt|gub|gv|mil|bund)\.[a-z]{2}$|\.bund\.de$"), "Government"),
    (re.compile(r"\.edu$|\.(?:edu|ac|sch|k12)\.[a-z]{2}$|\.k12\.[a-z]{2}\.us$"), "Education"),
)
_THINGS = {
    "SoftwareApplication": ("SaaS", 2),
    "WebApplication": ("SaaS", 3),
    "MobileApplication": ("Mobile App", 3),
    "VideoGame": ("Gaming", 3),
    "NewsArticle": ("Publisher", 2),
    "Product": ("Ecommerce", 1),
    "RealEstateListing": ("Realtor", 3),
    "Course": ("Education", 2),
    "Menu": ("Hospitality", 2),
}
_OFFERS_OF = {
    "Ecommerce": "ecommerce",
    "Marketplace": "ecommerce",
    "Healthcare": "healthcare",
    "Education": "education",
    "Realtor": "real_estate",
    "Financial Services": "financial_services",
    "Mobile App": "mobile_app",
}
_LEGAL_TYPES = frozenset({"LegalService", "Attorney", "Notary"})

_CART = frozenset(
    [
        "cart",
        "basket",
        "checkout",
        "warenkorb",
        "panier",
        "carrito",
        "carrinho",
        "carrello",
        "winkelwagen",
        "winkelmand",
        "koszyk",
        "kassa",
    ]
)
_PRICES = frozenset(["pricing", "plans", "preise", "tarifs", "precios"])
_ENTRY = frozenset(["login", "signin", "sign-in", "signup", "sign-up", "register", "free-trial", "trial", "demo"])
_GIFTS = frozenset(
    ["donate", "donation", "donations", "spenden", "faire-un-don", "doar", "donar", "doneren", "dona-ora"]
)
_TABLES = frozenset(
    [
        "menu",
        "menus",
        "reservations",
        "reservation",
        "speisekarte",
        "carte",
        "rooms",
        "zimmer",
        "chambres",
        "habitaciones",
        "camere",
    ]
)
_HOMES = frozenset(
    ["listings", "properties", "property-search", "immobilien", "annonces", "biens", "inmuebles", "imoveis"]
)


class Trade(NamedTuple):
    """Both most likely first."""

    service_types: tuple[str, ...]
    offers: tuple[str, ...]


def trade(page: Page, texts: Texts, paths: tuple[str, ...], *, is_key_page: bool) -> Trade:
    """Kinds and offers that a page shows enough signs of; `paths` are those it links to on its host.

    Titles of other pages than key pages say what an article is about, not what the site is.
    """
    kinds: dict[str, int] = defaultdict(int)
    offers: dict[str, int] = defaultdict(int)
    if is_key_page:
        _by_phrases(page, texts, kinds, offers)
    _by_types(page, kinds, offers)
    _by_paths(paths, kinds, is_org=page.host.endswith((".org", ".ngo", ".charity")))
    for pattern, kind in _HOSTS:
        if pattern.search(page.host):
            kinds[kind] += 6
    found = _best(kinds, MAX_SERVICE_TYPES)
    for kind in found:
        if kind in _OFFERS_OF:
            offers[_OFFERS_OF[kind]] += kinds[kind]
    return Trade(found, _best(offers, MAX_OFFERS))


def _best(points: dict[str, int], most: int) -> tuple[str, ...]:
    enough = [name for name, worth in points.items() if worth >= _ENOUGH]
    return tuple(sorted(enough, key=lambda name: (-points[name], name))[:most])


def _by_phrases(page: Page, texts: Texts, kinds: dict[str, int], offers: dict[str, int]) -> None:
    navigation = " | ".join([link.text for link in page.links[:_NAV_LINKS] if len(link.text) <= _NAV_CHARS])
    places = (
        (texts.title[:200], 3),
        (texts.heading, 3),
        (texts.description[:500], 2),
        (" | ".join(texts.headings[:15]), 1),
        (navigation, 1),
    )
    by_phrases: dict[str, int] = defaultdict(int)
    for text, worth in places:
        said = _said(text)
        for kind in {kind for kind, _ in said if kind}:
            by_phrases[kind] += worth
        for category in {category for _, category in said if category}:
            offers[category] += worth
    for kind, worth in by_phrases.items():
        kinds[kind] += min(worth, _MOST_BY_PHRASES)


def _said(text: str) -> set[tuple[str, str]]:
    said: set[tuple[str, str]] = set()
    for part in fold(text).split("|"):
        words = _WORD.findall(part)
        for start, word in enumerate(words):
            if word in FIRST_WORDS:
                for end in range(start + 1, min(start + 4, len(words) + 1)):
                    said |= PHRASES.get(" ".join(words[start:end]), _NOTHING)
        if not part.isascii() and not _ASCII_OR_SPACED.fullmatch(part):
            said.update(*[meanings for phrase, meanings in _UNSPACED_PHRASES.items() if phrase in part])
    return said


_NOTHING: set[tuple[str, str]] = set()


def _by_types(page: Page, kinds: dict[str, int], offers: dict[str, int]) -> None:
    stated = {name for node in organisations(page.json_ld) for name in types_of(node)} | set(_marked_types(page))
    for kind in {SERVICE_TYPE_OF[name] for name in stated if SERVICE_TYPE_OF.get(name)}:
        kinds[kind] += 5
    if "LocalBusiness" in stated:
        kinds["Local Business"] += 2
    if stated & _LEGAL_TYPES:
        offers["legal_service"] += 5
    things = {name for node in page.json_ld for name in types_of(node)}
    for kind, worth in {_THINGS[name] for name in things if name in _THINGS}:
        kinds[kind] += worth


def _marked_types(page: Page) -> Iterator[str]:
    """Types of organisations in microdata or RDFa."""
    if "itemtype" not in page.html and "typeof=" not in page.html:
        return
    for node in page.tree.css("[itemtype], [typeof]")[:_MARKED_NODES]:
        given = node.attributes.get("itemtype") or node.attributes.get("typeof") or ""
        for name in given.split()[:3]:
            kind = name.rstrip("/").rpartition("/")[2].rpartition(":")[2]
            if kind in SERVICE_TYPE_OF:
                yield kind


def _by_paths(paths: tuple[str, ...], kinds: dict[str, int], *, is_org: bool) -> None:
    names = {re.sub(r"\.\w{2,5}$", "", path.rpartition("/")[2]) for path in paths}
    if names & _CART:
        kinds["Ecommerce"] += 3
    elif names & _PRICES and names & _ENTRY:
        kinds["SaaS"] += 3
    if names & _GIFTS:
        kinds["Non-Profit"] += 3 if is_org else 2
    if names & _TABLES:
        kinds["Hospitality"] += 1
    if names & _HOMES:
        kinds["Realtor"] += 1
