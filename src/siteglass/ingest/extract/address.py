"""The postal address of a page's owner: that of its structured data, else that of its text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborNode

from siteglass.ingest.extract.gazetteer import cities_named, country_named, dominant, home_country, settled, state_named
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.postal_codes import countries_of_code
from siteglass.ingest.extract.written_address import Address, written

MAX_MARKED, MAX_LEVELS = 5, 4
_MARKED = ("addressLocality", "addressRegion", "postalCode", "addressCountry")
_TYPES_ELSEWHERE = frozenset(("Event", "JobPosting", "Person", "Review", "Product", "Offer", "NewsArticle", "Article"))


@lru_cache(maxsize=2)
def address(page: Page) -> Address | None:
    """Where the page says its owner is. Kept for the page at hand: phones need the country, the place all of it."""
    return _structured(page) or written(page)


def _structured(page: Page) -> Address | None:
    elsewhere = [
        thing[key]
        for thing in page.json_ld
        if not _TYPES_ELSEWHERE.isdisjoint(_kinds(thing))
        for key in ("address", "location", "jobLocation", "author", "itemReviewed")
        if isinstance(thing.get(key), dict | list)
    ]
    for thing in (*page.json_ld, *_microdata(page)):
        is_address = "addressCountry" in thing or "addressLocality" in thing
        if is_address and not _is_within(thing, elsewhere) and (found := _of_structured(thing, page)):
            return found
    return None


def _microdata(page: Page) -> Iterator[dict[str, Any]]:
    """Postal addresses in microdata or RDFa, as JSON-LD would write them."""
    if "addressLocality" not in page.html:
        return
    rest = f"{_property('postalCode')}, {_property('addressRegion')}"
    for locality in page.tree.css(_property("addressLocality"))[:MAX_MARKED]:
        around = locality.parent
        for _ in range(MAX_LEVELS):
            if around is None or around.css_first(rest):
                break
            around = around.parent
        if around is not None:
            nodes = {name: around.css_first(_property(name)) for name in _MARKED}
            yield {name: _content(node) for name, node in nodes.items() if node}


def _content(node: LexborNode) -> str:
    return (node.attributes.get("content") or node.text(strip=True))[:200]


def _property(name: str) -> str:
    return f'[itemprop="{name}"], [property="{name}"], [property="schema:{name}"]'


def _kinds(thing: dict[str, Any]) -> list[str]:
    kinds = thing.get("@type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def _is_within(thing: dict[str, Any], outer: list[Any], depth: int = 4) -> bool:
    for one in outer[:50]:
        if one is thing:
            return True
        inner = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else []
        if depth and _is_within(thing, [value for value in inner if isinstance(value, dict | list)], depth - 1):
            return True
    return False


def _said(value: Any) -> str:
    """A text, however it is wrapped: "DE", {"@type": "Country", "name": "DE"}, ["DE"]."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name") or value.get("identifier") or ""
    return value.strip()[:200] if isinstance(value, str) else ""


def _of_structured(thing: dict[str, Any], page: Page) -> Address | None:
    country = country_named(_said(thing.get("addressCountry")))
    region, city = _said(thing.get("addressRegion")), _said(thing.get("addressLocality"))
    if "," in city:
        city, _, rest = city.partition(",")
        region = region or rest.strip()
    if not country:
        country = _inferred(region, city, _said(thing.get("postalCode")), page)
    if not country:
        return None
    state, city = settled(country, region, city, _said(thing.get("postalCode")))
    return Address(country, state, city[:100], "json_ld")


def _inferred(region: str, city: str, code: str, page: Page) -> str:
    """The country of an address that names none: that of its city, if code, state or domain agree."""
    fitting = countries_of_code(code)
    here = home_country(page.host)
    named = [one for one in cities_named(city) if not fitting or one.country in fitting]
    if here and (any(one.country == here for one in named) or (region and state_named(region, here))):
        return here
    in_state = [one for one in named if region and state_named(region, one.country) == one.state and one.state]
    meant = dominant(in_state) or (dominant(named) if fitting else None)
    return meant.country if meant else ""
