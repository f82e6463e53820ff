"""What words and phrases can mean: roles of the language tables, and the values of the vocabulary."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from siteglass.query.natural.text import Token, tokenise
from siteglass.query.vocabulary import City, vocabulary

LONGEST = 7

_DIRECTIONS = frozenset(
    [
        "central",
        "north",
        "south",
        "east",
        "west",
        "northern",
        "southern",
        "eastern",
        "western",
        "southeast",
        "northeast",
    ]
)
# Said of one kind of business, not of any.
_NO_HEADS = frozenset(
    ["studio", "studios", "operator", "operators", "agency", "agencies", "maker", "makers", "clinic", "clinics"]
)


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a phrase: its kind, and what it stands for."""

    kind: str
    values: tuple[str, ...] = ()


def _key(phrase: str) -> str:
    return " ".join(token.key for token in tokenise(phrase))


class Lexicon:
    """All phrases; looked up by the words of a sentence."""

    def __init__(
        self, words: dict[str, Any], more: dict[str, Any], nations: dict[str, Any], common: frozenset[str]
    ) -> None:
        self._vocabulary = vocabulary()
        self.common = common
        self._phrases: dict[str, list[Sense]] = {}
        for role, table in words.items():
            self._add_role(role, table)
        for name, names in more["regions"].items():
            self._add("region", names, (name,))
        for name, names in more["groups"].items():
            if name in self._vocabulary.groups():
                self._add("group", names, self._vocabulary.groups()[name])
        for name, table in more["service"].items():
            self._add("service_type", table["phrases"], (name,))
        for alpha2, names in more["kiwis"].items():
            self._add_country("nationality", alpha2, names)
        for name, names in more["technology"].items():
            self._add("technology", names, (name,))
        for name, names in more["states"].items():
            self._add("state", names, (name,))
        for role in ("function", "requests", "or", "negation", "law_firm", "judgement", "instructions"):
            self._add(role, more[role]["phrases"])
        for alpha2, names in nations["nationalities"].items():
            self._add_country("nationality", alpha2, names)
        for alpha2, names in nations["nicknames"].items():
            self._add_country("country", alpha2, names)
        for code, names in nations["languages_said"].items():
            self._add("spoken", names, (code,))
        for nickname, place in nations["city_nicknames"].items():
            self._add("city", [nickname], tuple(place.split("|")))
        for name, countries in self._vocabulary.groups().items():
            self._add("group", [name], countries)
        # Codes of states that people write by themselves: Austin TX, NSW.
        self._codes: dict[str, tuple[str, ...]] = {}
        for alpha3 in ("USA", "CAN", "AUS"):
            for code in self._vocabulary.states_of(alpha3):
                self._codes.setdefault(code, (f"{self._vocabulary.country_alpha2(alpha3)}-{code}",))
        self._cities: dict[str, list[City]] = {}
        for city in self._vocabulary.cities():
            self._cities.setdefault(city.name, []).append(city)

    def _add(self, kind: str, phrases: Sequence[str], values: tuple[str, ...] = ()) -> None:
        for phrase in phrases:
            if kind == "generic" and phrase in _NO_HEADS:
                continue
            if kind == "place_preposition" and phrase.split()[-1] in _DIRECTIONS:
                continue  # it belongs to the name behind it
            senses = self._phrases.setdefault(_key(phrase), [])
            sense = Sense(kind, values)
            if sense not in senses:
                senses.append(sense)

    def _add_role(self, role: str, table: dict[str, Any]) -> None:
        if role in ("flag", "contact"):
            for name, forms in table.items():
                for form, phrases in forms.items():
                    self._add(f"{role}_{form}" if role == "flag" else role, phrases, (name,))
        elif role == "page":
            for path, names in table["names"].items():
                self._add("page_name", names, (path,))
            for path, names in table.get("whole", {}).items():
                self._add("page_whole", names, (path,))
            self._add("page_word", table["words"])
        elif role == "numbers":
            for word, number in table["words"].items():
                self._add("number_word", [word], (str(number),))
        elif role == "language_words":
            for word, code in table["words"].items():
                self._add("spoken", [word], (code,))
        elif role == "units":
            for unit, forms in table.items():
                self._add("unit", forms if isinstance(forms, list) else forms["phrases"], (unit,))
        else:
            self._add(role, table["phrases"])

    def _add_country(self, kind: str, alpha2: str, names: Sequence[str]) -> None:
        alpha3 = self._vocabulary.country_alpha3(alpha2)
        if alpha3:
            self._add(kind, names, (alpha3,))

    def single_words(self) -> list[str]:
        """Words that are a phrase by themselves and say something."""
        said = ("function", "requests", "page_name", "number_word", "unit", "instructions", "judgement", "and", "or")
        return [
            key
            for key, senses in self._phrases.items()
            if " " not in key and key in self.common and not any(sense.kind in said for sense in senses)
        ]

    def cities(self, name: str) -> list[City]:
        """Cities of a canonical name, the most populous first."""
        return self._cities.get(name, [])

    def matches(self, tokens: Sequence[Token], at: int) -> Iterator[tuple[int, list[Sense]]]:
        """Every phrase that begins at a word, with its length in words; the longest first."""
        for length in range(min(LONGEST, len(tokens) - at), 0, -1):
            window = tokens[at : at + length]
            if (
                any(token.kind == "sign" and token.key not in "&.+" for token in window[1:])
                or window[-1].kind == "sign"
            ):
                continue
            text = " ".join([token.key for token in window])
            senses = list(self._phrases.get(text, ()))
            senses += self._values(text)
            code = self._codes.get(window[0].text.upper()) if length == 1 else None
            if code and (window[0].text.isupper() or self._follows_city(tokens, at)):
                senses.append(Sense("state", code))
            if not senses and window[-1].key.endswith("s") and len(window[-1].key) > 4:
                senses = [s for s in self._values(text[:-1]) if s.kind in ("service_type", "category", "technology")]
            if senses:
                yield length, senses

    def _follows_city(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a city stands right before: a code in small letters is one only there."""
        before = at - 1 if at and tokens[at - 1].kind == "word" else at - 2
        if before < 0 or tokens[before].kind != "word":
            return False
        name = tokens[before].key
        if before and tokens[before - 1].kind == "word":
            two = f"{tokens[before - 1].key} {name}"
            if any(kind == "city" for kind, _ in self._vocabulary.meanings(two)):
                return True
        return name not in self.common and any(kind == "city" for kind, _ in self._vocabulary.meanings(name))

    def _values(self, text: str) -> list[Sense]:
        return [Sense(kind, values) for kind, values in self._vocabulary.meanings(text)]


@cache
def lexicon() -> Lexicon:
    """The lexicon that is shipped; read at the first call."""
    folder = files("siteglass.query.natural")
    words = tomllib.loads(folder.joinpath("words.toml").read_text())
    nations = tomllib.loads(folder.joinpath("nationalities.toml").read_text())
    common = frozenset(folder.joinpath("common.txt").read_text().split())
    more = tomllib.loads(folder.joinpath("more.toml").read_text())
    return Lexicon(words, more, nations, common)
