"""Postal addresses in the text of a page, in the forms that countries give to postal code and city."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from siteglass.ingest.extract.address_data import is_code, may_be_of, state_of_code
from siteglass.ingest.extract.gazetteer import (
    cities_named,
    country_named,
    dominant,
    home_country,
    level_named,
    state_named,
    state_of_city,
)
from siteglass.ingest.extract.locale import chosen_country
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.postal_codes import (
    AFTER,
    BEFORE,
    CODE,
    LIKE_A_CODE,
    PREFIXES,
    SHAPES,
    TELLING,
    UNMISTAKABLE,
    shape_of,
)
from siteglass.ingest.extract.surroundings import PageSurroundings
from siteglass.query.folding import compact
from siteglass.query.vocabulary import City, vocabulary

MAX_CODES = 200
MAX_LINE_CHARS = 3_000
MAX_ADDRESS_CHARS = 200
MIN_KNOWN_ABROAD = 100_000
"""People of a town that pages of other countries call by another name."""
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


_DIGITS = re.compile(r"\d")
_WORD = r"[^\W\d_][\w'’.]*(?:-[\w'’.]+)*"
_WORDS_AFTER = re.compile(rf"[ ,\n]{{1,2}}(?:г\. ?)?({_WORD}(?: {_WORD}){{0,3}})(?:(?:, | ?/ ?)({_WORD}))?")
_WORDS = re.compile(rf"{_WORD}|\d+")
_TOWN = re.compile(rf" ((?=[^a-z]){_WORD}(?: {_WORD}){{0,2}})(?= ?(?:[,;\n(|·•]|\.(?:\s|\Z)|\s[-–—/]\s|\Z))")
_SENTENCE_END = re.compile(r"(?<=\w{3})\.(?:\s|\Z)")
# "Καλαμάτα, Τ.Κ. 241 00": the city is before the label of the code.
_CODE_LABEL = re.compile(
    r"(?:\b(?:Τ\.?Κ|C\.?P|ZIP|PIN|PLZ|CEP|(?:postal|post|zip|pin) ?code|индекс|kod pocztowy|mã bưu chính)|邮编|"
    r"郵遞區號|우편번호|รหัสไปรษณีย์)\.?[: ]*\Z",
    re.IGNORECASE,
)
_COUNTY = re.compile(r"^(?:co\.?|county|woj\.?|prov\.?) ", re.IGNORECASE)
_NAME = re.compile(rf"{_WORD}(?:[ -]{_WORD}){{0,3}}")
_HOUSE = re.compile(r"\d{1,4} ?[a-zA-Z]?(?:[-/]\d{1,4}[a-z]?)?[ ,;·•|\n–-]{1,4}\Z")
# "Αγία Άννα, " before a code: a district or a village, without a street.
_DISTRICT = re.compile(r"(?:^|[\n,])\s*(?:(?=[^\W\d_a-zß-ÿα-ωа-я])[^\W\d_][\w'’.-]*\s?){1,4},\s*\Z")
_BUILDING = re.compile(
    r"\b(?:park|estate|house|court|centre|center|unit|mill|works|yard|farm|plumbing|ltd|limited|inc|llc|plc|company|"
    r"services?|contact|address|postcode|post code|email)\b",
    re.IGNORECASE,
)
_STREET = re.compile(
    r"stra(?:ß|ss)e|str\.|weg\b|platz|allee|gasse|\brue\b|avenue|\bave\b|boulevard|\bblvd|street|\bst\b|road|"
    r"\brd\b|\bdrive\b|\blane\b|suite|\bvia\b|piazza|corso|calle|avda|plaza|\brua\b|avenida|straat|laan\b|\bul\.|"
    r"\bjl\.|\bjalan\b|menara|\blevel \d|"
    r"utca|ulica|vej\b|gatan|gata\b|\bveien|katu\b|tie\b|sok\.|cad\.|улица|ул\.|просп|floor|building|p\.?o\.? box|"
    r"postfach|\bquai\b|place\b|chemin|route",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
# One, two and three words at the end of a text.
_LAST_WORDS = [re.compile(rf"(?:^|[\s,-])((?=[^\W\d_a-z])(?:[^\W\d_]+ ?){{{words}}})$") for words in (1, 2, 3)]
_NAMING_STATES = frozenset(("USA", "CAN", "AUS", "IND", "MEX", "BRA"))
_OF_PHONE = re.compile(r"(?:\+\d[\d ()/-]*|(?:^|\D)0[\d ()/-]*|\d{5,}[ -]?)\Z")
# "548 Market Street, Suite 91200, San Francisco": the number of a room, a box or a building.
_OF_ROOM = re.compile(
    r"\b(?:suite|ste|unit|apt|apartment|room|rm|p\.?o\.? ?box|box|bldg|building|floor|no|nr)[. #]*\Z|#\Z", re.IGNORECASE
)
_WITH_STATES = {"99999": "USA", "99999-9999": "USA", "A9A 9A9": "CAN", "9999": "AUS"}


def written(page: Page, country: str = "") -> Address | None:
    """The address that most of the text speaks for, in a country that is known otherwise, if it is."""
    here = country or _home(page)
    found = [one for _, one in sorted(_all_written(page, here), key=lambda place: _rank(page, place[0]))]
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


def _rank(page: Page, number: int) -> tuple[bool, bool]:
    """How likely an address in a line is the owner's, the smallest the most."""
    line = page.layout.lines[number]
    # "We have shipped to Phoenix, AZ 85001": what a long line says is more likely of others. Above a footer with the
    # main address there may be branches.
    return len(line.text) > MAX_ADDRESS_CHARS, line.block != "footer"


def addresses_by_line(page: Page) -> dict[int, str]:
    """Line -> country of an address there, alpha-3."""
    return {line: one.country for line, one in _all_written(page, _home(page)) if one.basis == "address"}


def _home(page: Page) -> str:
    return home_country(page.host) or chosen_country(page)


@lru_cache(maxsize=4)
def _all_written(page: Page, here: str) -> list[tuple[int, Address]]:
    """Kept for the page at hand: its place and its phones need them."""
    return list(islice(_numbered(page, here), MAX_CODES))


def _numbered(page: Page, here: str) -> Iterator[tuple[int, Address]]:
    lines = page.lines
    around = PageSurroundings(page)
    looked_at = 0
    for number, line in enumerate(lines):
        if len(line) > MAX_LINE_CHARS or not (_DIGITS.search(line) and LIKE_A_CODE.search(line)):
            continue
        for match in CODE.finditer(line):
            looked_at += 1
            if looked_at > 5 * MAX_CODES:
                return
            before = line[max(0, match.start() - 80) : match.start()]
            if match.start() < 40 and number:
                before = f"{lines[number - 1][-80:]}\n{before}"
                if len(before) < 30 and number > 1:
                    before = f"{lines[number - 2][-80:]}\n{before}"
            after = line[match.end() : match.end() + 80]
            if len(after) < 40 and number + 1 < len(lines):
                after = f"{after}\n{lines[number + 1][:60]}"
            one = _at(match["prefix"] or "", match["code"], before, after, here)
            # Hosts and regulators have addresses, too.
            if one and not around.at(page.layout.starts[number] + match.start()).party:
                yield number, one


def _at(prefix: str, code: str, before: str, after: str, here: str) -> Address | None:
    """The address that a code is part of, with the state that the code is of."""
    shape = shape_of(code)
    if shape == "999-9999":
        found = _japanese(before, after, here)
    elif shape not in SHAPES or _OF_PHONE.search(before[-20:]) or _OF_ROOM.search(before[-16:]):
        return None
    elif not (found := _with_state(prefix, shape, code, before) or _with_named_state(prefix, shape, code, before)):
        if prefix and prefix not in PREFIXES:
            before, prefix = f"{before}{prefix} ", ""
        found = _with_city(PREFIXES.get(prefix, ""), code, before, after, here)
    if not found or found.state:
        return found
    return found._replace(state=state_of_code(found.country, code) or state_of_city(found.country, found.city))


def _with_city(given: str, code: str, before: str, after: str, here: str) -> Address | None:
    """The form "10117 Berlin" or "Mumbai 400072": the city says which country it is."""
    shape = shape_of(code)
    has_house = bool(_HOUSE.search(before[-16:]))
    if shape == "9999" and _YEAR.match(code) and not (given or (has_house and _STREET.search(before[-40:]))):
        return None  # "May 5, 2013 Vienna"
    named = _cities_after(after, frozenset((given,)) if given else AFTER[shape])
    is_sure = has_house or shape in TELLING
    if not named and not given:
        named, has_state = _cities_before(before, BEFORE[shape])
        is_sure = has_state or shape in TELLING
    # A city in a state that does not have such codes is another city, or none.
    named = [one for one in named if may_be_of(one.country, one.state, code)]
    is_sure = is_sure or bool(_STREET.search(before) or (shape == "999999" and _STREET.search(after)))
    said = given or _country_in(after)
    if not named:
        is_sure = is_sure or has_house or bool(given)
        telling = TELLING[shape] if shape in UNMISTAKABLE else ""
        return _of_small_town(code, before, after, said or here or telling, is_sure=is_sure)
    for country in (said, here):
        if of_country := [one for one in named if one.country == country]:
            return _settled(of_country, "address")
    if said:
        return None
    # "53019 Castelnuovo Berardenga" of Italy begins with a name that a city elsewhere has, too.
    if here and (town := _of_small_town(code, before, after, here, is_sure=is_sure)) and town.city:
        return town
    # "98724 Neuhaus": that the German name of a small town abroad is the same says nothing of the country.
    written_so = compact(f"{before} {after}")
    named = [one for one in named if one.population >= MIN_KNOWN_ABROAD or compact(one.name) in written_so]
    if not named:
        return None
    meant = dominant(named) if len({one.country for one in named}) > 1 else named[0]
    if not meant:
        return None
    return _settled([one for one in named if one.country == meant.country], "address" if is_sure else "gazetteer")


def _of_small_town(code: str, before: str, after: str, country: str, *, is_sure: bool) -> Address | None:
    """An address in a known country, of a town that the vocabulary is too small for."""
    shape = shape_of(code)
    label = _CODE_LABEL.search(before)
    is_sure = is_sure or bool(label or _DISTRICT.search(before) or _state_before(before, country))
    if not country or not is_sure or not is_code(country, code.upper()):
        return None
    has_state = country in BEFORE[shape] and bool(_state_before(before, country))
    if label or has_state or (country in BEFORE[shape] and shape in TELLING):
        name, state = _town_before(before[: label.start()] if label else before, country)
        return Address(country, state, name, "address")
    town = _TOWN.match(after)
    name = _SENTENCE_END.split(town[1])[0].removesuffix(" Cedex") if town else ""
    if country not in AFTER[shape] or not town or country_named(name):
        return None
    county = after[town.end() :].lstrip(" ,;(|·•\n").partition(",")[0]
    state = level_named(_COUNTY.sub("", _SENTENCE_END.split(county)[0]), country) if len(county) > 3 else ""
    return Address(country, state, name.title() if name.isupper() else name, "address")


def _state_before(before: str, country: str) -> str:
    """The state that is named right before a code: "Tulbagh, Western Cape, 6820"."""
    name = before.rstrip(" ,\n").rpartition(",")[2].strip()
    return level_named(name, country) if country and len(name) > 3 else ""


def _town_before(before: str, country: str) -> tuple[str, str]:
    """The last piece that may be a town, neither a street nor the label of the next line, and the state after it."""
    state = ""
    pieces = [piece.strip(" .-") for piece in re.split(r"[,;\n·|•()]|\s[-–—]\s", before)]
    last = [piece for piece in reversed(pieces) if piece][:4]
    known = [city.name for piece in last for city in cities_named(piece) if city.country == country]
    if known:
        return known[0], ""
    for piece in last:
        county = level_named(_COUNTY.sub("", piece), country)
        if county or piece.endswith((":", "shire")) or country_named(piece):
            state = state or county
            continue
        is_name = _NAME.fullmatch(piece) and not _STREET.search(piece) and not _BUILDING.search(piece)
        return (piece if is_name and piece[0].isupper() else ""), state
    return "", state


def _settled(named: list[City], basis: Literal["address", "gazetteer"]) -> Address:
    meant = dominant(named) or named[0]
    state = meant.state if all(one.state == meant.state for one in named) or dominant(named) else ""
    return Address(meant.country, state, meant.name, basis)


def _with_named_state(prefix: str, shape: str, code: str, before: str) -> Address | None:
    """The form "Southfield, Michigan 48075": the code is of the state that is named before it."""
    text = f"{before}{prefix}".rstrip(" ,.-–\n")
    ends = [match for pattern in _LAST_WORDS if (match := pattern.search(text))] if text[-1:].isalpha() else []
    for country in BEFORE[shape] & _NAMING_STATES if ends else ():
        state = state_of_code(country, code)
        for match in ends if state else ():
            if state_named(match[1], country) == state:
                rest = text[: match.start(1)].rstrip(" ,-–\n")
                cities = [one for one in _last_named(rest) if one.country == country and one.state in (state, "")]
                town = cities[0].name if cities else _town_before(rest, country)[0]
                return Address(country, state, town, "address")
    return None


def _last_named(text: str) -> tuple[City, ...]:
    """Cities that the last words of a text name."""
    words = _words_before(text)
    for length in range(min(4, len(words)), 0, -1):
        if found := cities_named(" ".join(words[-length:])):
            return found
    return ()


def _with_state(prefix: str, shape: str, code: str, before: str) -> Address | None:
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
    if not is_town and state_of_code(country, code) == prefix:
        town = _town_before(before, country)[0]
        is_town = bool(town)
    if prefix in PREFIXES and not is_town:
        return None
    return Address(country, prefix, town if is_town else "", "address") if is_town or _STREET.search(before) else None


def _japanese(before: str, after: str, here: str) -> Address | None:
    if "〒" not in before[-3:] and here != "JPN":
        return None
    text = re.sub(r"[\s,]", "", after[:40])
    prefecture = re.match(r"(?:東京都|北海道|(?:京都|大阪)府|..県|...県)", text)
    state = state_named(prefecture[0], "JPN") if prefecture else ""
    if match := re.match(
        r"(?:[^\d\s]{1,4}郡)?([^\d\s]{1,6}?(?:市|町|村|区))", text[prefecture.end() :] if prefecture else text
    ):
        named = [one for one in (*cities_named(match[1]), *cities_named(match[1][:-1])) if one.country == "JPN"]
        within = [one for one in named if not state or one.state == state]
        if within:
            return _settled(within, "address")
        if prefecture and not (prefecture[0] == "東京都" and match[1].endswith("区")):
            return Address("JPN", state, match[1], "address")
    if prefecture and (named := [one for one in cities_named(prefecture[0][:-1]) if one.country == "JPN"]):
        return _settled(named, "address") if prefecture[0] == "東京都" else Address("JPN", state, "", "address")
    return Address("JPN", state, "", "address") if "〒" in before[-3:] else None


def _words_before(before: str) -> list[str]:
    """The last words, up to a number."""
    words: list[str] = _WORDS.findall(before[-60:])
    last_number = next((at for at in range(len(words) - 1, -1, -1) if words[at][0].isdigit()), -1)
    return words[last_number + 1 :][-6:]


def _cities_after(after: str, countries: frozenset[str]) -> list[City]:
    match = _WORDS_AFTER.match(after) if countries else None
    if not match:
        return []
    # Of some countries a part of the city comes first: "34430 Beyoğlu/İstanbul".
    parts = (match[1].split(" "), (match[2] or "").split(" "))
    is_turkish = match[2] and any(one.country == "TUR" for one in cities_named(match[2]) if one.country in countries)
    for words in reversed(parts) if is_turkish else parts:
        for length in range(len(words), 0, -1):
            name = " ".join(words[:length]).strip(".")
            if name[:1].islower():
                return []
            if found := [one for one in cities_named(name) if one.country in countries]:
                return found
    return []


def _cities_before(before: str, countries: frozenset[str]) -> tuple[list[City], bool]:
    """Cities before a code, and whether the name of their state is between."""
    words = _words_before(before) if countries else []
    # A city and its state before a city that has the name of a state: "Saguenay (Québec) G7H 7L2".
    for skipped in range(1, min(4, len(words))):
        state, rest = " ".join(words[len(words) - skipped :]), words[: len(words) - skipped]
        for length in range(min(3, len(rest)), 0, -1):
            named = [one for one in cities_named(" ".join(rest[-length:])) if one.country in countries and one.state]
            if found := [one for one in named if state_named(state, one.country) == one.state]:
                return found, True
    for skipped in range(min(4, len(words))):
        rest = words[: len(words) - skipped]
        state = " ".join(words[len(words) - skipped :])
        for length in range(min(3, len(rest)), 0, -1):
            name = " ".join(rest[-length:])
            if name[:1].islower():
                continue
            found = [
                one for one in cities_named(name) if one.country in countries and (not skipped or _is_in(one, state))
            ]
            if found:
                return found, skipped > 0
    return [], False


def _is_in(city: City, state: str) -> bool:
    """Whether a text between the city and the code fits. For Britain any does but a street, as its counties are not
    states here: "York Road, LS9 6TA" isn't in York."""
    if city.country == "GBR":
        return not (_STREET.search(state) or _BUILDING.search(state))
    return state_named(state, city.country) in (city.state or "-",)


def _country_in(after: str) -> str:
    """The country that is named within the next words: "Berlin, Germany"."""
    pieces = re.split(r"[,\n·|•()–-]| / ", after[:80])
    for piece in pieces[:4]:
        words = piece.split()
        if 0 < len(words) <= 4 and len(piece.strip(" .")) > 3 and (found := country_named(piece.strip(" ."))):
            return found
        if len(words) > 1 and len(words[-1]) > 3 and (found := country_named(words[-1])):
            return found
    return ""
