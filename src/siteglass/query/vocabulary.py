"""The values the service knows: places, languages, technologies, categories and business types, and
every form in which a caller may write them. Read once from the packaged file; no other I/O."""

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import orjson

from siteglass.query.folding import LOOSE, compact, compact_folded, fold, loose
from siteglass.query.nearest import TEXT_LENGTH_MAX, Candidates
from siteglass.query.trades import Trades, trades

__all__ = ["City", "Kind", "Vocabulary", "fold", "vocabulary"]

Kind = Literal[
    "country", "language", "state", "city", "region", "subregion", "technology", "category", "service_type", "trade"
]  # fmt: skip

_QUALIFIED = re.compile(r"([a-z]{2,3})-([a-z0-9]{1,3})")
# All canonical city names and the alternate names of the larger cities. Those of the rest are looked up,
# but make no suggestions: they are legion, and rarely meant.
_CITY_KEYS_SUGGESTED = 50_000


_SPOKEN_KINDS: tuple[Kind, ...] = ("country", "state", "city", "region", "subregion", "language")
_JOINED_KINDS: tuple[Kind, ...] = ("category", "service_type")
COMPACT_KINDS: frozenset[Kind] = frozenset(("technology", "category", "service_type", "trade"))
"""Kinds whose values are looked up with their words joined."""


class City(NamedTuple):
    name: str
    country: str  # alpha-3
    state: str  # ISO 3166-2 without the country; "" if not known
    population: int


class Vocabulary:
    """Look-ups are by key: `loose` for places and languages, `compact` for products, categories and types."""

    def __init__(self, content: Mapping[str, Any], trades: Trades) -> None:
        self.version: str = f"{content['version']}-{trades.version}"
        self._trades = trades
        self._cities = tuple([City(*row) for row in content["cities"]])
        self._groups: Mapping[str, tuple[str, ...]] = MappingProxyType(
            {name: tuple(some) for name, some in content["groups"].items()}
        )
        self._languages: dict[str, str] = content["languages"]
        self._suggestions: dict[Kind, Candidates] = {}
        self._alpha2: dict[str, str] = {row[0]: row[1] for row in content["countries"]}
        self._alpha3: dict[str, str] = {row[1]: row[0] for row in content["countries"]}
        self._country_name: dict[str, str] = {row[0]: row[2] for row in content["countries"]}
        self._region: dict[str, str | None] = {row[0]: row[3] for row in content["countries"]}
        self._subregion: dict[str, str | None] = {row[0]: row[4] for row in content["countries"]}
        self._states: dict[str, dict[str, str]] = content["states"]
        self._state_codes = {code for codes in self._states.values() for code in codes}
        self._categories: tuple[str, ...] = tuple(content["category_aliases"])
        self._service_types: tuple[str, ...] = tuple(content["service_type_aliases"])
        self._technologies: dict[str, tuple[str, ...]] = {
            name: tuple(given) for name, given in content["technologies"].items()
        }
        self._written_aliases: dict[Kind, Mapping[str, list[str]]] = {
            "technology": content["technology_aliases"],
            "category": content["category_aliases"],
            "service_type": content["service_type_aliases"],
            "trade": {trade: list(trades.names(trade)[1:]) for trade in trades.ids()},
        }
        # Asked first, because names of different products may differ in punctuation only ("ip-api", "ipapi").
        self._technology_exact = _by_key(fold, self._technologies, content["technology_aliases"])
        self._tables: dict[Kind, Mapping[str, str | list[str]]] = {
            "country": content["country_names"],
            "language": content["language_names"],
            "region": content["region_names"],
            "subregion": content["subregion_names"],
            "state": content["state_names"],
            "city": _city_keys(self._cities, content["city_names"]),
            "technology": _by_key(compact, self._technologies, content["technology_aliases"]),
            "category": _by_key(compact, self._categories, content["category_aliases"]),
            "service_type": _by_key(compact, self._service_types, content["service_type_aliases"]),
            "trade": trades.by_name,
        }

    def resolve(self, kind: Kind, text: str) -> tuple[str, ...]:
        """The canonical values that `text` means, sorted; empty if it means none."""
        if kind == "technology":
            if text in self._technologies:
                return (text,)
            folded = fold(text)
            return _values(self._technology_exact.get(folded) or self._tables[kind].get(compact_folded(folded)))
        if kind == "trade":
            # The table has the names; plurals, compounds and other words are a hundred thousand, and looked up apart.
            return _values(self._tables[kind].get(compact(text))) or tuple(sorted(self._trades.find(text)))
        if kind in COMPACT_KINDS:
            return _values(self._tables[kind].get(compact(text)))
        if kind == "state" and (code := self._state_code(fold(text).replace(".", ""))):
            return (code,)
        return _values(self._tables[kind].get(loose(text)))

    def spoken(self, folded: str) -> list[tuple[Kind, tuple[str, ...]]]:
        """The places and languages that a folded text names: the looks of `resolve` at once, without state codes."""
        plain = folded.isalnum() or folded.replace(" ", "").isalnum()
        key = folded if plain else " ".join(folded.translate(LOOSE).split())
        tables = self._tables
        return [(kind, _values(values)) for kind in _SPOKEN_KINDS if (values := tables[kind].get(key)) is not None]

    def joined(self, folded: str) -> list[tuple[Kind, tuple[str, ...]]]:
        """The products, categories and types that a folded text names, however its words are joined."""
        found: list[tuple[Kind, tuple[str, ...]]] = []
        key = compact_folded(folded)
        if values := self._technology_exact.get(folded) or self._tables["technology"].get(key):
            found.append(("technology", _values(values)))
        found.extend((kind, _values(values)) for kind in _JOINED_KINDS if (values := self._tables[kind].get(key)))
        return found

    def spoken_names(self) -> Iterator[str]:
        """Every form of a place or language that is looked up, and every technology by name and alias."""
        for kind in _SPOKEN_KINDS:
            yield from self._tables[kind]
        yield from self._technology_exact

    def spoken_forms(self, kind: Kind) -> Iterable[str]:
        """Every form of a place or language that is looked up."""
        return self._tables[kind].keys()

    def joined_names(self, *kinds: Kind) -> Iterator[str]:
        """Every form of products, categories or business types that is looked up, its words joined."""
        for kind in kinds:
            yield from self._tables[kind]

    def nearest(self, kind: Kind, text: str) -> str | None:
        """The canonical value whose name is most like `text`; None if nothing is much like it."""
        found = self._candidates(kind).nearest(_suggestion_key(kind, text))
        return _values(self._tables[kind][found])[0] if found else None

    def nearest_several(self, kind: Kind, text: str, limit: int) -> tuple[str, ...]:
        """The canonical values whose names are most like `text`, the best first."""
        # A value has several names, so more are asked for than values are wanted.
        keys = self._candidates(kind).several(_suggestion_key(kind, text), 4 * limit)
        return tuple(dict.fromkeys(_values(self._tables[kind][found])[0] for found in keys))[:limit]

    def values(self, kind: Kind) -> tuple[str, ...]:
        """All canonical values of a kind, sorted; states in their qualified form ("US-CA")."""
        return self._values[kind]

    def aliases(self, kind: Kind) -> Iterator[tuple[str, str]]:
        """Other names of values, each with its value: as people write them, of places and languages as keys."""
        if kind in self._written_aliases:
            for value, others in self._written_aliases[kind].items():
                for other in others:
                    yield other, value
        else:
            for key, found in self._tables[kind].items():
                for value in _values(found):
                    yield key, value

    def language_name(self, code: str) -> str:
        """English name; KeyError if there is no such language."""
        return self._languages[code]

    def trade_name(self, trade: str) -> str:
        """English name; KeyError if there is no such trade."""
        return self._trades.name(trade)

    def country_name(self, alpha3: str) -> str:
        """English name; KeyError if there is no such country."""
        return self._country_name[alpha3]

    def country_alpha2(self, alpha3: str) -> str | None:
        return self._alpha2.get(alpha3)

    def country_alpha3(self, alpha2: str) -> str | None:
        return self._alpha3.get(alpha2)

    def region_of(self, alpha3: str) -> str | None:
        return self._region.get(alpha3)

    def subregion_of(self, alpha3: str) -> str | None:
        return self._subregion.get(alpha3)

    def countries_in(self, kind: Literal["region", "subregion"], name: str) -> tuple[str, ...]:
        """Alpha-3 codes, sorted; empty for an unknown name."""
        placed = self._region if kind == "region" else self._subregion
        return tuple(sorted(country for country, where in placed.items() if where == name))

    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Groups of countries with an everyday name, such as DACH -> alpha-3 codes."""
        return self._groups

    def categories_of(self, technology: str) -> tuple[str, ...]:
        return self._technologies.get(technology, ())

    def technologies(self) -> Mapping[str, tuple[str, ...]]:
        """Canonical technology -> its categories."""
        return MappingProxyType(self._technologies)

    def cities(self) -> tuple[City, ...]:
        """Every city, the most populous first."""
        return self._cities

    def cities_named(self, name: str) -> list[City]:
        """Cities of a canonical name, the most populous first. The first call sorts all cities."""
        return self._cities_by_name.get(name, [])

    def states_of(self, alpha3: str) -> Mapping[str, str]:
        """Subdivision code without the country -> English name."""
        return MappingProxyType(self._states.get(self._alpha2.get(alpha3, ""), {}))

    def state_name(self, alpha3: str, code: str) -> str | None:
        return self.states_of(alpha3).get(code)

    def _state_code(self, text: str) -> str | None:
        """Canonical form of a text that is a code itself: "CA", "N.Y.", "US-CA", "USA-CA"."""
        if len(text) <= 3 and (code := text.upper()) in self._state_codes:
            return code
        if match := _QUALIFIED.fullmatch(text):
            country = _values(self._tables["country"].get(match[1]))
            alpha2 = self._alpha2[country[0]] if country else ""
            if (code := match[2].upper()) in self._states.get(alpha2, {}):
                return f"{alpha2}-{code}"
        return None

    @cached_property
    def _cities_by_name(self) -> dict[str, list[City]]:
        named: dict[str, list[City]] = {}
        for city in self._cities:
            named.setdefault(city.name, []).append(city)
        return named

    @cached_property
    def _values(self) -> Mapping[Kind, tuple[str, ...]]:
        qualified = (f"{alpha2}-{code}" for alpha2, codes in self._states.items() for code in codes)
        some: dict[Kind, Iterable[str]] = {
            "country": self._alpha2,
            "language": self._languages,
            "state": qualified,
            "city": {city.name for city in self._cities},
            "region": filter(None, set(self._region.values())),
            "subregion": filter(None, set(self._subregion.values())),
            "technology": self._technologies,
            "category": self._categories,
            "service_type": self._service_types,
            "trade": self._trades.ids(),
        }
        return {kind: tuple(sorted(values)) for kind, values in some.items()}

    def _candidates(self, kind: Kind) -> Candidates:
        if kind not in self._suggestions:
            keys: Iterable[str] = self._tables[kind]
            if kind == "city":
                keys = islice(keys, _CITY_KEYS_SUGGESTED)
            self._suggestions[kind] = Candidates(keys)
        return self._suggestions[kind]


def _values(found: str | list[str] | None) -> tuple[str, ...]:
    if found is None:
        return ()
    return (found,) if isinstance(found, str) else tuple(found)


def _suggestion_key(kind: Kind, text: str) -> str:
    text = text[:TEXT_LENGTH_MAX]
    return compact(text) if kind in COMPACT_KINDS else loose(text)


def _by_key(
    key: Callable[[str], str], canonical: Iterable[str], aliases: Mapping[str, list[str]]
) -> dict[str, str | list[str]]:
    """Key -> the value of that name, or the values if several share the key; a name wins over an alias."""
    named: dict[str, list[str]] = {}
    for name in canonical:
        named.setdefault(key(name), []).append(name)
    found: dict[str, str | list[str]] = {
        at: names[0] if len(names) == 1 else sorted(names) for at, names in named.items()
    }
    for name, others in aliases.items():
        for other in others:
            found.setdefault(key(other), name)
    return found


def _city_keys(cities: Iterable[City], others: Mapping[str, list[str]]) -> dict[str, str]:
    """Canonical names first, the most populous city leading; suggestions count on the order."""
    names = dict.fromkeys([city.name for city in cities])
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(loose(name), name)
    for name in names:
        for key in others.get(name, ()):
            found[key] = name
    return found


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary that is shipped; read at the first call."""
    packed = files("siteglass.query").joinpath("vocabulary.json.gz").read_bytes()
    return Vocabulary(orjson.loads(gzip.decompress(packed)), trades())
