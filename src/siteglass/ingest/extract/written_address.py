"""Postal addresses in the text of a page, in the forms that countries give to postal code and city."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from siteglass.ingest.extract.gazetteer import cities_named, country_named, dominant, home_country, state_named
from siteglass.ingest.extract.locale import chosen_country
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.surroundings import PageSurroundings
from siteglass.query.vocabulary import City, vocabulary

MAX_CODES = 200
MAX_LINE_CHARS = 3_000
MAX_CITIES = 5
"""A page with more of them lists branches: none of them is its city."""


class Address(NamedTuple):
    """Where a site's owner is."""

    country: str
    """Alpha-3."""
    state: str
    city: str
    basis: Literal["json_ld", "address", "gazetteer"]
    """gazetteer: a code and a city, yet nothing beside them that makes it an address of this country."""


# What a code looks like (9: a digit, A: a letter), in which countries, and whether the city stands behind or before it.
_SHAPES: dict[str, tuple[str, str]] = {
    "9999": (
        "AUT CHE BEL DNK NOR HUN LUX SVN BGR LVA CYP LIE MKD ALB TUN GEO ARM PHL PRY",
        "AUS NZL ZAF PHL BGD CHE",
    ),
    "9999 AA": ("NLD", ""),
    "99999": (
        "DEU FRA ESP ITA FIN EST HRV TUR MEX UKR SRB BIH MNE LTU MYS MAR DZA EGY KWT PER CRI MCO SMR GRC SWE CZE SVK",
        "USA KOR THA IDN SAU PAK TUR IRQ PER LKA VNM EGY MAR",
    ),
    "99999-9999": ("", "USA"),
    "999 99": ("SWE CZE SVK GRC", ""),
    "99-999": ("POL", ""),
    "9999-999": ("PRT", ""),
    "99999-999": ("BRA", "BRA"),
    "999-9999": ("JPN", ""),
    "999999": ("RUS BLR KAZ ROU CHN COL KGZ UZB ECU", "IND SGP CHN ROU RUS VNM COL NGA KAZ"),
    "999 999": ("", "IND"),
    "AA9 9AA": ("", "GBR"),
    "A9A 9A9": ("", "CAN"),
}
_BEHIND = {shape: frozenset(behind.split()) for shape, (behind, _) in _SHAPES.items()}
_BEFORE = {shape: frozenset(before.split()) for shape, (_, before) in _SHAPES.items()}
_PREFIXES = {
    "D": "DEU", "DE": "DEU", "A": "AUT", "AT": "AUT", "CH": "CHE", "F": "FRA", "FR": "FRA", "I": "ITA", "IT": "ITA",
    "E": "ESP", "ES": "ESP", "B": "BEL", "BE": "BEL", "NL": "NLD", "L": "LUX", "LU": "LUX", "DK": "DNK", "S": "SWE",
    "SE": "SWE", "N": "NOR", "NO": "NOR", "FI": "FIN", "FIN": "FIN", "H": "HUN", "HU": "HUN", "CZ": "CZE",
    "SK": "SVK", "PL": "POL", "SI": "SVN", "SLO": "SVN", "HR": "HRV", "LT": "LTU", "LV": "LVA", "EE": "EST",
    "RO": "ROU", "BG": "BGR", "GR": "GRC", "PT": "PRT", "P": "PRT", "RS": "SRB", "MD": "MDA", "FL": "LIE",
}  # fmt: skip

_CODE = re.compile(
    r"(?<![\w.,/+:-])(?:(?P<prefix>[A-Z]{1,3})[-– ])?(?P<code>"
    r"\d{5}-\d{3}(?!\d)|\d{4}-\d{3}(?!\d)|\d{3}-\d{4}(?!\d)|\d{2}-\d{3}(?!\d)|\d{5}-\d{4}(?!\d)|\d{4} ?[A-Z]{2}(?!\w)|"
    r"\d{3} \d{2}(?![\d-])|\d{3} \d{3}(?![\d-])|\d{4,6}(?!\d)|"
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?!\w)|[A-Z]\d[A-Z] ?\d[A-Z]\d(?!\w))(?![%€$/:]|[.,]\d)"
)
_DIGITS = re.compile(r"\d")
_WORD = r"[^\W\d_][\w'’.]*(?:-[\w'’.]+)*"
_WORDS_BEHIND = re.compile(rf"[ ,\n]{{1,2}}(?:г\. ?)?({_WORD}(?: {_WORD}){{0,3}})(?:(?:, | ?/ ?)({_WORD}))?")
_WORDS = re.compile(rf"{_WORD}|\d+")
_TOWN = re.compile(rf" ((?=[^a-z]){_WORD}(?: {_WORD}){{0,2}})(?= ?(?:[,\n(|·•]|\Z))")
_HOUSE = re.compile(r"\d{1,4} ?[a-zA-Z]?(?:[-/]\d{1,4}[a-z]?)?[ ,;·•|\n–-]{1,4}\Z")
_STREET = re.compile(
    r"stra(?:ß|ss)e|str\.|weg\b|platz|allee|gasse|\brue\b|avenue|\bave\b|boulevard|\bblvd|street|\bst\b|road|"
    r"\brd\b|\bdrive\b|\blane\b|suite|\bvia\b|piazza|corso|calle|avda|plaza|\brua\b|avenida|straat|laan\b|\bul\.|"
    r"utca|ulica|vej\b|gatan|gata\b|\bveien|katu\b|tie\b|sok\.|cad\.|улица|ул\.|просп|floor|building|p\.?o\.? box|"
    r"postfach|\bquai\b|place\b|chemin|route",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_TO_SHAPE = str.maketrans("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10 * "9" + 26 * "A")
_SPELLINGS = {
    "9999AA": "9999 AA",
    "A9A9A9": "A9A 9A9",
    **{f"{area}{blank}9AA": "AA9 9AA" for area in ("A9", "A99", "AA9", "AA99", "A9A", "AA9A") for blank in ("", " ")},
}
# Shapes that only one country has.
_TELLING = frozenset(("9999 AA", "99-999", "9999-999", "99999-999", "AA9 9AA", "A9A 9A9"))
_OF_PHONE = re.compile(r"(?:\+\d[\d ()/-]*|(?:^|\D)0[\d ()/-]*|\d{5,}[ -]?)\Z")
_WITH_STATES = {"99999": "USA", "99999-9999": "USA", "A9A 9A9": "CAN", "9999": "AUS"}


def countries_of_code(code: str) -> frozenset[str]:
    """Countries whose postal codes look like that, alpha-3."""
    shape = _shape(code)
    return _BEHIND.get(shape, frozenset()) | _BEFORE.get(shape, frozenset())


def written(page: Page, country: str = "") -> Address | None:
    """The address that most of the text speaks for, in a country that is known otherwise, if it is."""
    here = country or home_country(page.host) or chosen_country(page)
    found = list(islice(_all_written(page, here), MAX_CODES))
    if not found:
        return None
    votes = Counter({one.country: 0 for one in found})
    for one in found:
        votes[one.country] += 3 if one.basis == "address" else 1
    most = max(votes.values())
    leading = [one for one in found if votes[one.country] == most]
    first = next((one for one in leading if one.country == here), leading[0])
    of_country = [one for one in found if one.country == first.country]
    strong = [one for one in of_country if one.basis == "address"]
    best = next((one for one in strong if one.city), (strong or of_country)[0])
    if len({one.city for one in of_country}) > MAX_CITIES:
        return best._replace(state="", city="")
    return best


@lru_cache(maxsize=2)
def addresses_by_line(page: Page) -> dict[int, str]:
    """Line -> country of an address there, alpha-3."""
    here = home_country(page.host) or chosen_country(page)
    return {line: one.country for line, one in islice(_numbered(page, here), MAX_CODES) if one.basis == "address"}


def _all_written(page: Page, here: str) -> Iterator[Address]:
    return (one for _, one in _numbered(page, here))


def _numbered(page: Page, here: str) -> Iterator[tuple[int, Address]]:
    lines = page.lines
    around = PageSurroundings(page)
    looked_at = 0
    for number, line in enumerate(lines):
        if len(line) > MAX_LINE_CHARS or not _DIGITS.search(line):
            continue
        for match in _CODE.finditer(line):
            looked_at += 1
            if looked_at > 5 * MAX_CODES:
                return
            before = line[max(0, match.start() - 80) : match.start()]
            if match.start() < 40 and number:
                before = f"{lines[number - 1][-80:]}\n{before}"
                if len(before) < 30 and number > 1:
                    before = f"{lines[number - 2][-80:]}\n{before}"
            behind = line[match.end() : match.end() + 80]
            if len(behind) < 40 and number + 1 < len(lines):
                behind = f"{behind}\n{lines[number + 1][:60]}"
            one = _at(match["prefix"] or "", match["code"], before, behind, here)
            # Hosts and regulators have addresses, too.
            if one and not around.at(page.layout.starts[number] + match.start()).party:
                yield number, one


def _at(prefix: str, code: str, before: str, behind: str, here: str) -> Address | None:
    """The address that a code is part of."""
    shape = _shape(code)
    if shape == "999-9999":
        return _japanese(before, behind, here)
    has_house = bool(_HOUSE.search(before[-16:]))
    if shape not in _SHAPES:
        return None
    if shape == "9999" and _YEAR.match(code) and not (prefix or (has_house and _STREET.search(before[-40:]))):
        return None  # "May 5, 2013 Vienna"
    if _OF_PHONE.search(before[-20:]):
        return None
    if with_state := _with_state(prefix, shape, before):
        return with_state
    if prefix and prefix not in _PREFIXES:
        before, prefix = f"{before}{prefix} ", ""
    given = _PREFIXES.get(prefix, "")
    named = _cities_behind(behind, frozenset((given,)) if given else _BEHIND[shape])
    is_sure = has_house or shape in _TELLING
    if not named and not given:
        named, has_state = _cities_before(before, _BEFORE[shape])
        is_sure = has_state or shape in _TELLING
    if not named and not is_sure and not has_house:
        return None
    is_sure = is_sure or bool(_STREET.search(before) or (shape == "999999" and _STREET.search(behind)))
    said = given or _country_in(behind)
    if not named:
        return _of_small_town(shape, before, behind, said or here)
    for country in (said, here):
        if of_country := [one for one in named if one.country == country]:
            return _settled(of_country, "address")
    if said:
        return None
    meant = dominant(named) if len({one.country for one in named}) > 1 else named[0]
    if not meant:
        return None
    return _settled([one for one in named if one.country == meant.country], "address" if is_sure else "gazetteer")


def _of_small_town(shape: str, before: str, behind: str, country: str) -> Address | None:
    """An address in a known country, of a town that the vocabulary is too small for."""
    if country in _BEFORE[shape] and shape in _TELLING:
        return Address(country, "", "", "address")
    town = _TOWN.match(behind)
    if country not in _BEHIND[shape] or not town or not _HOUSE.search(before) or country_named(town[1]):
        return None
    return Address(country, "", town[1], "address")


def _settled(named: list[City], basis: Literal["address", "gazetteer"]) -> Address:
    meant = dominant(named) or named[0]
    state = meant.state if all(one.state == meant.state for one in named) or dominant(named) else ""
    return Address(meant.country, state, meant.name, basis)


def _with_state(prefix: str, shape: str, before: str) -> Address | None:
    """The form "Austin, TX 78701" or "Sydney NSW 2000": so sure that the town may be small."""
    country = _WITH_STATES.get(shape)
    if not country or len(prefix) < 2 or prefix not in vocabulary().states_of(country):
        return None
    words = _words_before(before)
    for length in range(min(4, len(words)), 0, -1):
        name = " ".join(words[-length:])
        for one in cities_named(name):
            if one.country == country and one.state == prefix:
                return Address(country, prefix, one.name, "address")
    town = before.rstrip(" ,").rpartition("\n")[2].rpartition(",")[2].strip()
    is_town = before.rstrip(" ").endswith(",") and re.fullmatch(rf"{_WORD}(?: {_WORD}){{0,2}}", town) and town.istitle()
    if prefix in _PREFIXES and not is_town:
        return None
    return Address(country, prefix, town if is_town else "", "address") if is_town or _STREET.search(before) else None


def _japanese(before: str, behind: str, here: str) -> Address | None:
    if "〒" not in before[-3:] and here != "JPN":
        return None
    text = re.sub(r"[\s,]", "", behind[:40])
    for match in re.finditer(r"[^\d\s]{1,4}?[都道府県市]", text):
        for name in (match[0], match[0][:-1]):
            if named := [one for one in cities_named(name) if one.country == "JPN"]:
                inner = re.match(r"([^\d\s]{1,5}?)市", text[match.end() :])
                closer = [one for one in cities_named(inner[1]) if one.country == "JPN"] if inner else []
                return _settled(closer or named, "address")
    return Address("JPN", "", "", "address") if "〒" in before[-3:] else None


def _words_before(before: str) -> list[str]:
    """The last words, up to a number."""
    words: list[str] = _WORDS.findall(before[-60:])
    last_number = next((at for at in range(len(words) - 1, -1, -1) if words[at][0].isdigit()), -1)
    return words[last_number + 1 :][-6:]


def _cities_behind(behind: str, countries: frozenset[str]) -> list[City]:
    match = _WORDS_BEHIND.match(behind) if countries else None
    if not match:
        return []
    # Of some countries a part of the city comes first: "34430 Beyoğlu/İstanbul".
    for words in (match[1].split(" "), (match[2] or "").split(" ")):
        for length in range(len(words), 0, -1):
            name = " ".join(words[:length]).strip(".")
            if name[:1].islower():
                return []
            if found := [one for one in cities_named(name) if one.country in countries]:
                return found
    return []


def _cities_before(before: str, countries: frozenset[str]) -> tuple[list[City], bool]:
    """Cities before a code, and whether the name of their state stands between."""
    words = _words_before(before) if countries else []
    for skipped in range(min(4, len(words))):
        rest = words[: len(words) - skipped]
        state = " ".join(words[len(words) - skipped :])
        for length in range(min(3, len(rest)), 0, -1):
            name = " ".join(rest[-length:])
            if name[:1].islower():
                continue
            found = [
                one for one in cities_named(name) if one.country in countries and (not skipped or _lies_in(one, state))
            ]
            if found:
                return found, skipped > 0
    return [], False


def _lies_in(city: City, state: str) -> bool:
    """Of Britain, whose counties are no states here, anything may stand between."""
    return city.country == "GBR" or state_named(state, city.country) in (city.state or "-",)


def _country_in(behind: str) -> str:
    """The country that is named within the next words: "Berlin, Germany"."""
    pieces = re.split(r"[,\n·|•()–-]| / ", behind[:80])
    for piece in pieces[:4]:
        words = piece.split()
        if 0 < len(words) <= 4 and len(piece.strip(" .")) > 3 and (found := country_named(piece.strip(" ."))):
            return found
        if len(words) > 1 and len(words[-1]) > 3 and (found := country_named(words[-1])):
            return found
    return ""


def _shape(code: str) -> str:
    shape = code.strip().upper().translate(_TO_SHAPE)
    return _SPELLINGS.get(shape, shape)
