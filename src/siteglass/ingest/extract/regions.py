"""Countries whose national phone numbers a page may show, told by what is cheap to read: the best first, alpha-2."""

from __future__ import annotations

import re
from collections.abc import Iterator

from siteglass.ingest.extract.page import Page
from siteglass.query.vocabulary import vocabulary

MAX_REGIONS = 3

# Bought for their looks, wherever their owners are.
_TLDS_OF_NOWHERE = frozenset(
    [
        "ac",
        "ai",
        "as",
        "bz",
        "cc",
        "co",
        "fm",
        "gg",
        "im",
        "io",
        "la",
        "ly",
        "me",
        "mu",
        "sc",
        "sh",
        "so",
        "st",
        "to",
        "tv",
        "vc",
        "ws",
    ]
)
_LOCALE = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{4})?[-_]([a-z]{2})", re.IGNORECASE)


def likely_regions(page: Page) -> tuple[str, ...]:
    """At most MAX_REGIONS countries; none where nothing is said."""
    return tuple(dict.fromkeys(_stated(page)))[:MAX_REGIONS]


def _stated(page: Page) -> Iterator[str]:
    known = vocabulary()
    for node in page.json_ld:
        country = node.get("addressCountry")
        name = country.get("name") if isinstance(country, dict) else country
        if isinstance(name, str) and (found := known.resolve("country", name[:100])):
            yield known.country_alpha2(found[0]) or ""
    tld = page.domain.rpartition(".")[2]
    if len(tld) == 2 and tld not in _TLDS_OF_NOWHERE:
        code = "GB" if tld == "uk" else tld.upper()
        if known.country_alpha3(code):
            yield code
    root = page.tree.root
    language = root.attributes.get("lang") if root else None
    for locale in (language, page.metas.get("og:locale")):
        if locale and (match := _LOCALE.match(locale.strip())) and known.country_alpha3(match[1].upper()):
            yield match[1].upper()
