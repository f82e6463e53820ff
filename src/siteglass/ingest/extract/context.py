"""A first look at where a page is from, before its phone numbers are read: national ones need a country."""

from __future__ import annotations

from siteglass.ingest.extract.address import address
from siteglass.ingest.extract.gazetteer import home_country
from siteglass.ingest.extract.locale import locale
from siteglass.ingest.extract.page import Page
from siteglass.query.vocabulary import vocabulary

MAX_COUNTRIES = 4

# Where most pages in a language are from; those of English, Spanish and Arabic are from everywhere.
_LANDS = {
    "de": "DE AT CH", "fr": "FR BE CH", "it": "IT", "nl": "NL BE", "pl": "PL", "sv": "SE", "da": "DK", "nb": "NO",
    "no": "NO", "nn": "NO", "fi": "FI", "cs": "CZ", "sk": "SK", "hu": "HU", "ro": "RO", "bg": "BG", "el": "GR",
    "tr": "TR", "ru": "RU", "uk": "UA", "ja": "JP", "ko": "KR", "he": "IL", "th": "TH", "vi": "VN", "id": "ID",
    "hr": "HR", "sl": "SI", "lt": "LT", "lv": "LV", "et": "EE", "is": "IS", "pt": "PT BR",
}  # fmt: skip


def countries(page: Page) -> tuple[str, ...]:
    """Countries the page may be from, alpha-2, most likely first: by address, domain, declared region, language."""
    known = vocabulary()
    found: dict[str, None] = {}
    if given := address(page):
        found[known.country_alpha2(given.country) or ""] = None
    if home := home_country(page.host):
        found[known.country_alpha2(home) or ""] = None
    language, region = locale(page)
    if region and known.country_alpha3(region):
        found[region] = None
    if not found or (region and not home):
        found.update(dict.fromkeys(_LANDS.get(language, "").split()))
    found.pop("", None)
    return tuple(found)[:MAX_COUNTRIES]
