"""Postal addresses without a postal code, in a country that is known: "88 Nguyễn Văn Tiết, TP. Thuận An", "서울특별시
강남구 테헤란로 322". Many countries have no codes, or leave them out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from siteglass.ingest.extract.gazetteer import cities_named, dominant, level_named, state_of_city
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.surroundings import PageSurroundings
from siteglass.ingest.extract.written_address import Address
from siteglass.query.vocabulary import City

MAX_LINES = 400
MAX_LINE_CHARS = 200
MAX_PIECES = 24
MIN_NAME_CHARS = 2

# Words that only addresses have: a label before them, or a part of them.
_LABEL = re.compile(
    r"\b(?:address|adresse?|anschrift|besuchsadresse|direcci[oó]n|domicilio|indirizzo|sede|endere[cç]o|morada|adres|"
    r"adress|adresa|osoite|k[äa]yntiosoite|c[ií]m[uü]nk|sz[ée]khely|siedziba|s[ií]dlo|sediu|адрес|адреса|"
    r"διε[υύ]θυνση|alamat|địa chỉ|trụ sở|visit us|find us|located at|based in)\b|"
    r"العنوان|عنوان|כתובת|ที่อยู่|住所|所在地|地址|주소|本社",
    re.IGNORECASE,
)
_STREET = re.compile(
    r"\d.*(?:stra(?:ß|ss)e|str\.|\bweg\b|\brue\b|avenue|\bave\b|\bblvd|street|\broad\b|\brd\b|\bcalle\b|\bav\.|avda|"
    r"\bvia\b|\brua\b|straat|\bul\.|utca|\bulica|\bvej\b|gatan|katu\b|\bsok|\bcad|\bjl\.|\bjalan\b|đường|phường|"
    r"\bquận\b|\bcarrera\b|\bcra\b)|"
    r"(?:stra(?:ß|ss)e|str\.|\brue\b|avenue|\bcalle\b|\bav\.|avenida|\bvia\b|\bcorso\b|\brua\b|straat|\bul\.|utca|"
    r"vej\b|gatan|katu\b|\bjl\.|\bjalan\b|\bcarrera\b|улица|ул\.|вул\.|просп|пр\.|пр-т|бульвар|шоссе|пер\.|наб\.|οδός|оδου).*\d",
    re.IGNORECASE,
)
# One of these is in all of them; the pattern is slow.
_STREET_WORDS = (
    "stra", "str.", "weg", "rue", "ave", "blvd", "street", "road", "rd", "calle", "av.", "avda", "via", "rua", "ul.",
    "utca", "ulica", "vej", "gatan", "katu", "sok", "cad", "jl.", "jalan", "đường", "phường", "quận", "carrera", "cra",
    "corso", "улица", "ул.", "вул.", "просп", "пр.", "пр-т",
    "бульвар", "шоссе", "пер.", "наб.", "οδός", "оδου",
)  # fmt: skip
# Parts of addresses that need no number of a house.
_PART = re.compile(
    r"شارع|طريق|\bحي\b|مبنى|רחוב|רח['׳]|ถนน|ตำบล|อำเภอ|แขวง|[路街道]\s?\d+\s?[号號]|丁目|\d番|[市区區].*\d-\d|"
    r"[가-힣][로길]\s?\d|[가-힣]동\s?\d"
)
_DIGIT = re.compile(r"\d")
_PIECES = re.compile(r"[,，、،;:：|·•()（）\n]|\s[-–—]\s|\s/\s")
# Words before or after the name of a city or state.
_BEFORE_NAME = re.compile(
    r"^(?:г\.|гор\.|город|м\.|місто|гр\.|с\.|tp\.?|thành phố|t\.p\.|tỉnh|thị xã|tx\.|quận|q\.|huyện|kota|kab\.|"
    r"kabupaten|จังหวัด|จ\.|อำเภอ|อ\.|เขต|مدينة|d-|a-|ch-|f-|i-|e-)\s*",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(r"(?:特別市|特别市|특별자치시|특별시|광역시|市|시|군|都|府|県|縣|县|省)$")
_TOWN_IN_COUNTY = re.compile(r"((?=[^\W\d_a-z])[^\W\d_][\w'’ -]{2,30}),\s(?:Co\.?|County|woj\.?|prov\.?) ([^\W\d_]+)")
# Where names of streets and towns are in one piece: scripts after Latin, Greek and Cyrillic.
_OTHER_SCRIPTS = "\u0530"
# Names that run on without blanks: states and cities are cut at the words for them.
_RUN_ON = re.compile(
    r"[\u4e00-\u9fff]{1,6}?(?:省|自治区|特别行政区|市|县|縣|都|府|県|郡|区|區|島)|香港|澳門|澳门|九龍|九龙|新界|"
    r"[\u4e00-\u9fff]{2}(?![东東西南北中]?[路街道巷弄]|大道|通り)"
)


def unnumbered(page: Page, country: str) -> Address | None:
    """The first address of a page that names a city of the country; else the first that names a state of it."""
    around = PageSurroundings(page)
    state_only: Address | None = None
    for number, line in enumerate(page.lines[:MAX_LINES]):
        if not 6 <= len(line) <= MAX_LINE_CHARS:
            continue
        label = _LABEL.search(line)
        if not (label or _is_street(line) or _TOWN_IN_COUNTY.search(line)):
            continue
        after = page.lines[number + 1] if label and len(line) - label.end() < 4 and number + 1 < len(page.lines) else ""
        found = _in_line(f"{line}\n{after[:MAX_LINE_CHARS]}", country)
        if found and not around.at(page.layout.starts[number]).party:
            if found.city:
                return found
            state_only = state_only or found
    return state_only


def _is_street(line: str) -> bool:
    if not line.isascii() and _PART.search(line):
        return True
    if not _DIGIT.search(line):
        return False
    lowered = line.lower()
    return any(word in lowered for word in _STREET_WORDS) and _STREET.search(line) is not None


def _in_line(line: str, country: str) -> Address | None:
    state = ""
    cities: tuple[City, ...] = ()
    for name in _names(line):
        if not state:
            state = level_named(name, country) if len(name) > 3 or not name.isascii() else ""
        if not cities:
            cities = tuple(one for one in cities_named(name) if one.country == country)
    city = _meant(cities, state)
    if city:
        state = city.state or state or state_of_city(country, city.name)
        return Address(country, state, city.name, "address")
    town = _TOWN_IN_COUNTY.search(line)
    if town and (county := level_named(town[2], country)):
        return Address(country, county, town[1], "address")
    return Address(country, state, "", "address") if state else None


def in_title(page: Page, country: str) -> Address | None:
    """The only city of the country that the title names: "Dentista a Genova", "Deming, New Mexico"."""
    node = page.tree.css_first("title")
    title = node.text(strip=True)[:MAX_LINE_CHARS] if node else ""
    words = [word for word in re.split(r"[\s,，、،;:：|｜·•()（）/–—]+|\s-\s", title) if word]
    named: dict[str, tuple[City, ...]] = {}
    for start in range(len(words)):
        for end in range(min(start + 3, len(words)), start, -1):
            name = " ".join(words[start:end])
            cities = tuple(one for one in cities_named(name) if one.country == country) if _is_name(name) else ()
            if cities and len(name) > 3 - (not name.isascii()):
                named[cities[0].name] = cities
                break
    if len(named) != 1:
        return None
    ((_, cities),) = named.items()
    states = {state for piece in _PIECES.split(title) if len(piece) > 3 and (state := level_named(piece, country))}
    city = _meant(cities, states.pop() if len(states) == 1 else "")
    return Address(country, city.state or state_of_city(country, city.name), city.name, "address") if city else None


def _meant(cities: tuple[City, ...], state: str) -> City | None:
    within = [one for one in cities if state and one.state in (state, "")]
    return (dominant(within) or within[0]) if within else dominant(cities) or (cities[0] if cities else None)


def _names(line: str) -> Iterator[str]:
    """What may be names of places in a line, the longest first of each piece; pieces from the end, where cities are."""
    pieces = [piece.strip(" .") for piece in _PIECES.split(line)]
    for piece in [piece for piece in reversed(pieces) if piece][:MAX_PIECES]:
        bare = _BEFORE_NAME.sub("", piece)
        yield from (name for name in (bare, _AFTER_NAME.sub("", bare)) if _is_name(name))
        if not piece.isascii():
            for run in _RUN_ON.findall(piece):
                yield from (name for name in (run, _AFTER_NAME.sub("", run)) if len(name) >= MIN_NAME_CHARS)
        # "пр. Астана 5" is a street of another city.
        for word in piece.split()[:8] if max(piece) >= _OTHER_SCRIPTS or not _is_street(piece) else ():
            if word != piece:
                word = _BEFORE_NAME.sub("", word)
                names = (word, _AFTER_NAME.sub("", word)) if not word.isascii() else ()
                yield from (name for name in names if _is_name(name))


def _is_name(name: str) -> bool:
    return len(name) >= MIN_NAME_CHARS and not name[0].islower() and not any(map(str.isdigit, name))
