"""Names of places as the vocabulary knows them, read the way addresses write them: countries, states, cities."""

from __future__ import annotations

from functools import cache, lru_cache

from siteglass.ingest.extract.address_data import may_be_of, state_by_name, state_of_code
from siteglass.ingest.extract.state_levels import upper
from siteglass.query.vocabulary import City, vocabulary

MAX_NAME_CHARS = 60
# Of one name in several countries or states, the one that is so many times larger is meant.
_DOMINANCE = 20

_PARTS_OF_COUNTRIES = {
    "england": "GBR",
    "scotland": "GBR",
    "wales": "GBR",
    "northern ireland": "GBR",
    "great britain": "GBR",
    "u s a": "USA",
}

# Anyone may buy a name in these, so they say nothing about the country. Below their "com" or "co" they do.
_GENERIC_CCTLDS = """
ac ad ag ai am as bz cc cd cf cm co cx dj eu fm ga gd gg gl gq gs im io je ki la lc ly me ml ms mu nf nu pm pw re sc
sh so sr st su tc tf tk tl to tv vc vg vu wf ws yt
"""
_generic_cctlds = frozenset(_GENERIC_CCTLDS.split())
_SECOND_LEVELS = frozenset(("com", "co", "net", "org", "gov", "gob", "edu"))


@cache
def _by_name() -> dict[str, tuple[City, ...]]:
    found: dict[str, list[City]] = {}
    for city in vocabulary().cities():
        found.setdefault(city.name, []).append(city)
    return {name: tuple(cities) for name, cities in found.items()}


@cache
def _levels() -> frozenset[tuple[str, str]]:
    """States that cities are placed in: of some countries the vocabulary knows provinces below them, too."""
    return frozenset((city.country, city.state) for city in vocabulary().cities() if city.state)


@lru_cache(maxsize=32_768)
def cities_named(name: str) -> tuple[City, ...]:
    """Cities of a name in any language, the most populous first."""
    if not 2 <= len(name) <= MAX_NAME_CHARS:
        return ()
    canonical = vocabulary().resolve("city", name)
    return _by_name().get(canonical[0], ()) if canonical else ()


@lru_cache(maxsize=8_192)
def country_named(name: str) -> str:
    """Alpha-3 of a name or code; "" if it means none or several."""
    name = name.strip(" .,()")
    if not 2 <= len(name) <= MAX_NAME_CHARS:
        return ""
    if part := _PARTS_OF_COUNTRIES.get(name.lower().replace(".", " ").strip()):
        return part
    found = vocabulary().resolve("country", name)
    return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=8_192)
def state_named(name: str, country: str) -> str:
    """The code of a state of a country, from its code or its name; "" if it has none of that name."""
    name = name.strip(" .,()")
    if not name or len(name) > MAX_NAME_CHARS or not country:
        return ""
    known = vocabulary()
    alpha2 = known.country_alpha2(country) or ""
    code = name.upper().replace(".", "").removeprefix(f"{alpha2}-")
    if code in known.states_of(country):
        return code
    for found in known.resolve("state", name):
        if found.startswith(f"{alpha2}-"):
            return found.partition("-")[2]
    return state_by_name(country, name)


def level_named(name: str, country: str) -> str:
    """The state of a name, or the state that a province of that name is in, where cities are placed in states."""
    state = upper(country, state_named(name, country))
    if not state or (country, state) in _levels():
        return state
    return upper(country, state_by_name(country, name.strip(" .,()"))) or state


def state_of_city(country: str, city: str) -> str:
    """The state that has the name of a city, as Seoul and Istanbul have: where the vocabulary knows no other."""
    if not city or any(one.state for one in cities_named(city) if one.country == country):
        return ""
    return upper(country, state_named(city, country))


def dominant(cities: tuple[City, ...] | list[City]) -> City | None:
    """The one that is meant, where one is so much larger that nobody would think of the others."""
    if not cities:
        return None
    first, *others = sorted(cities, key=lambda city: -city.population)
    return first if all(city.population * _DOMINANCE <= first.population for city in others) else None


def settled(country: str, region: str, city: str, code: str = "") -> tuple[str, str]:
    """State and city as the vocabulary names them. A town too small for it keeps its name as written, and so does one
    whose only namesakes are in other states than region and postal code say."""
    state = upper(country, state_named(region, country)) or state_of_code(country, code)
    named = [one for one in cities_named(city) if one.country == country and may_be_of(country, one.state, code)]
    if state and (country, state) in _levels():
        here = [one for one in named if one.state == state]
        return state, here[0].name if here else named[0].name if named and not named[0].state else city
    meant = dominant(named)
    if meant:
        return meant.state or state or state_of_city(country, meant.name), meant.name
    return state or state_of_city(country, city), named[0].name if named else city


def home_country(host: str) -> str:
    """Alpha-3 of the country whose domain a host is of; "" for generic ones, and those that are used as such."""
    *_, second, ending = host.split(".")
    if len(ending) != 2 or (ending in _generic_cctlds and second not in _SECOND_LEVELS):
        return ""
    return vocabulary().country_alpha3("GB" if ending == "uk" else ending.upper()) or ""
