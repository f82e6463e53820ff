"""Where a page's owner is, by the surest sign there is: address, phones, domain, region. Rather unknown than wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import phonenumbers
from phonenumbers import PhoneNumberType

from siteglass.ingest.extract.address import address
from siteglass.ingest.extract.gazetteer import cities_named, home_country
from siteglass.ingest.extract.locale import chosen_country
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.phone_numbers import national
from siteglass.ingest.extract.unnumbered_address import in_title, unnumbered
from siteglass.ingest.extract.written_address import written
from siteglass.ingest.facts import ContactSighting, GeoBasis
from siteglass.query.vocabulary import vocabulary

# Of these, the first digits of a landline tell the town; elsewhere, all around a larger one.
_TOWNS_BY_PHONE = frozenset(("DEU", "AUT"))
# Languages of which nearly all pages are from one country.
_SPOKEN_IN = {
    "bg": "BG", "cs": "CZ", "da": "DK", "el": "GR", "fi": "FI", "he": "IL", "hu": "HU", "id": "ID", "ja": "JP",
    "ko": "KR", "no": "NO", "pl": "PL", "ro": "RO", "sk": "SK", "sv": "SE", "th": "TH", "tr": "TR", "uk": "UA",
    "vi": "VN", "zh": "CN",
}  # fmt: skip


class Place(NamedTuple):
    """Where, and how that is known."""

    country: str = ""
    """Alpha-3; "" if it is not known."""
    state: str = ""
    """ISO 3166-2 without the country."""
    city: str = ""
    basis: GeoBasis = ""


def place(page: Page, phones: Sequence[ContactSighting], language: str) -> Place:
    """The place of a page, with its phone numbers and its language as they were found."""
    found = address(page)
    if found and found.basis != "gazetteer":
        if found.city or found.basis == "json_ld":
            return Place(found.country, found.state, found.city, found.basis)
        state, city = _by_phone(phones, found.country)
        fits = found.state in ("", state)
        return Place(found.country, found.state or state, city if fits else "", found.basis)
    weak = found.country if found else ""
    home = home_country(page.host)
    called = _called(phones, home, weak)
    region = chosen_country(page, language)
    signs: tuple[tuple[str, GeoBasis], ...] = (
        (called, "phone"),
        (home, "cctld"),
        (weak, "gazetteer"),
        (region, "language"),
        (_spoken(phones, language), "language"),
    )
    country, basis = next(((country, basis) for country, basis in signs if country), ("", ""))
    if not country:
        return Place()
    if found is None or found.country != country or not found.city:
        # With the country known, an address of a small town can be distinguished from other numbers.
        found = written(page, country)
    if found is None or found.country != country or not found.city:
        found = unnumbered(page, country) or found
    if found is None or found.country != country or not found.city:
        found = in_title(page, country) or found
    if found and found.country == country and (found.city or found.state):
        return Place(country, found.state, found.city, basis)
    return Place(country, *_by_phone(phones, country), basis)


def _spoken(phones: Sequence[ContactSighting], language: str) -> str:
    """The country of a language that is spoken in one, where its numbers are all of that country as people there write
    them: a page in Thai with "โทร 081-882-4470"."""
    region = _SPOKEN_IN.get(language, "")
    local = [one for one in phones if not one.value.startswith("+") and one.label != "fax"] if region else []
    if local and all(national(one.given, region, labelled=True) for one in local):
        return vocabulary().country_alpha3(region) or ""
    return ""


def _called(phones: Sequence[ContactSighting], home: str, weak: str) -> str:
    """The country that numbers agree on: two, or a single one that nothing speaks against."""
    votes = Counter(country for one in phones if (country := _country_of(one.value)))
    if not votes:
        return ""
    country, count = votes.most_common(1)[0]
    if count >= 2 and 3 * count >= 2 * votes.total():
        return country
    return country if count == votes.total() and {home, weak} <= {"", country} else ""


@lru_cache(maxsize=8_192)
def _country_of(number: str) -> str:
    """Alpha-3; "" for numbers that are of no one country, as freephone ones of North America are."""
    if not number.startswith("+"):
        return ""
    read = phonenumbers.parse(number)
    region = phonenumbers.region_code_for_number(read)
    if not region or (read.country_code == 1 and phonenumbers.number_type(read) == PhoneNumberType.TOLL_FREE):
        return ""
    return vocabulary().country_alpha3(region) or ""


def _by_phone(phones: Sequence[ContactSighting], country: str) -> tuple[str, str]:
    """State and city that the landlines of a country agree on; mobile numbers are from anywhere."""
    if country not in _TOWNS_BY_PHONE:
        return "", ""
    towns = {town for one in phones if _country_of(one.value) == country and (town := _town_of(one.value))}
    if len(towns) != 1:
        return "", ""
    named = [one for one in cities_named(towns.pop()) if one.country == country]
    return (named[0].state, named[0].name) if len(named) == 1 else ("", "")


@lru_cache(maxsize=8_192)
def _town_of(number: str) -> str:
    read = phonenumbers.parse(number)
    if phonenumbers.number_type(read) != PhoneNumberType.FIXED_LINE:
        return ""
    from phonenumbers import geocoder  # half a second to load, and many pages need it not

    return str(geocoder.description_for_valid_number(read, "en"))
