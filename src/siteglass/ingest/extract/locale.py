"""What a page declares of its language and region."""

from __future__ import annotations

import re

from siteglass.ingest.extract.page import Page
from siteglass.query.vocabulary import vocabulary

_LOCALE = re.compile(r"\s*([a-z]{2,3})(?:[-_][a-z]{4})?(?:[-_]([a-z]{2}))?(?![a-z])", re.IGNORECASE)
# Regions that themes and builders declare unasked: they say nothing of a site.
_UNASKED = frozenset((("en", "US"), ("en", "GB"), ("de", "DE"), ("fr", "FR"), ("es", "ES"), ("pt", "PT"), ("it", "IT")))


def locale(page: Page) -> tuple[str, str]:
    """Language and region that a page declares, as "de" and "AT"; "" for what it does not."""
    root = page.tree.root
    declared = (root.attributes.get("lang") if root is not None else "") or page.metas.get("og:locale") or ""
    match = _LOCALE.match(declared)
    return (match[1].lower(), (match[2] or "").upper()) if match else ("", "")


def chosen_country(page: Page, language: str = "") -> str:
    """Alpha-3 of a declared region that someone chose, in the language that the text is in, if that is known."""
    spoken, region = locale(page)
    if not region or (spoken, region) in _UNASKED or (language and language != spoken):
        return ""
    return vocabulary().country_alpha3(region) or ""
