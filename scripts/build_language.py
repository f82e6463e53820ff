"""Compiles src/siteglass/query/natural/phrases.json.gz: what words and phrases of eight languages can mean.

    python scripts/build_language.py [--check]

Sources are the tables in scripts/language, wordfreq and the vocabulary; phrase_forms.py says how an entry stands for
several forms. The same inputs give the same bytes; --check fails if the file that is shipped is not the one they
give."""

import argparse
import base64
import gzip
import json
import sys
import tomllib
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import frequent_words
from phrase_forms import forms
from siteglass.query.natural.lexicon import can_be_found, own_kind, print_of
from siteglass.query.natural.text import key_of, tokenise
from siteglass.query.vocabulary import vocabulary

SOURCES = Path(__file__).parent / "language"
TARGET = Path(__file__).parents[1] / "src" / "siteglass" / "query" / "natural" / "phrases.json.gz"
STATES_WRITTEN_AS_CODES = ("USA", "CAN", "AUS")

# In this order: of two roles of a phrase the earlier one is asked first.
TABLES = ("roles", "en", "de", "es", "fr", "pt", "it", "nl", "pl", "values", "nationalities", "casual")
# Tables of names -> the kind of what they name.
VALUES = {
    "service": "service_type", "category": "category", "technology": "technology", "regions": "region",
    "subregions": "subregion", "groups": "group", "states": "state", "nationalities": "nationality",
    "nicknames": "country", "languages_said": "spoken", "city_nicknames": "city",
}  # fmt: skip

Sense = tuple[str, ...]
"""A kind, and the values it stands for."""


class Phrases:
    """Phrases and their senses, in the order of the tables."""

    def __init__(self) -> None:
        self.senses: dict[str, list[Sense]] = {}

    def add(self, kind: str, phrases: list[str], *values: str) -> None:
        for phrase in (form for entry in phrases for form in forms(entry)):
            if not can_be_found(tokenise(phrase)):
                sys.exit(f"{phrase!r} of {kind} can never be found: a sign ends it, or stands where none may")
            some = self.senses.setdefault(key_of(phrase), [])
            if (kind, *values) not in some:
                some.append((kind, *values))

    def table(self, language: str, tables: dict[str, Any]) -> None:
        """One file: names of values, and words that do something in a sentence."""
        for name, table in tables.items():
            if name == "beside_cities":
                continue  # they are names by themselves nowhere
            if name == "own":
                for role, phrases in table.items():
                    self.add(own_kind(language, role), phrases)
            elif name in VALUES:
                for value, phrases in table.items():
                    self.add(VALUES[name], phrases, *_values_of(name, value))
            else:
                self.role(name, table)

    def role(self, role: str, table: dict[str, Any]) -> None:  # noqa: C901
        match role:
            case "flag":
                for name, forms in table.items():
                    for form, phrases in forms.items():
                        self.add(f"flag_{form}", phrases, name)
            case "contact":
                for name, forms in table.items():
                    for phrases in forms.values():
                        self.add("contact", phrases, name)
            case "page":
                for path, phrases in table.get("names", {}).items():
                    self.add("page_name", phrases, path)
                for path, phrases in table.get("whole", {}).items():
                    self.add("page_whole", phrases, path)
                self.add("page_word", table.get("words", []))
            case "numbers":
                for word, number in table["words"].items():
                    self.add("number_word", [word], str(number))
            case "language_words":
                for word, code in table["words"].items():
                    self.add("spoken", [word], code)
            case "agency_of":
                for offer, phrases in table.items():
                    self.add("agency_of", phrases, offer)
            case "units" | "months":
                for name, phrases in table.items():
                    self.add(role.removesuffix("s"), phrases, name)
            case _:
                self.add(role, table["phrases"])


def _values_of(table: str, name: str) -> tuple[str, ...]:
    """What a name of a table stands for."""
    if table == "groups":
        return tuple(country for part in name.split("|") for country in _countries(part))
    if table in ("nationalities", "nicknames"):
        alpha3 = vocabulary().country_alpha3(name)
        return (alpha3,) if alpha3 else ()
    return tuple(name.split("|"))


def _countries(name: str) -> Iterable[str]:
    """A country's code, or the countries of a region, a subregion or a known group."""
    known = vocabulary()
    for kind in ("region", "subregion"):
        if countries := known.countries_in(kind, name):
            return sorted(countries)
    return known.groups().get(name, (name,))


def state_codes() -> dict[str, str]:
    """Codes of states that people write by themselves: Austin TX, NSW."""
    known, codes = vocabulary(), dict[str, str]()
    for alpha3 in STATES_WRITTEN_AS_CODES:
        for code in known.states_of(alpha3):
            codes.setdefault(code, f"{known.country_alpha2(alpha3)}-{code}")
    return codes


def longest(phrases: Iterable[str]) -> dict[str, int]:
    """First word -> words of the longest phrase that begins with it, if there is one of several words."""
    found: dict[str, int] = {}
    for key in phrases:
        words = key.split(" ")
        if len(words) > 1:
            found[words[0]] = max(found.get(words[0], 0), len(words))
    return found


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((SOURCES / f"{name}.toml").read_text())


def words(name: str) -> list[str]:
    return (SOURCES / f"{name}.txt").read_text().splitlines()


def prints(some: list[str]) -> str:
    """Words as sorted 32-bit prints, which take a tenth of the memory of the words."""
    return base64.b64encode(array("I", sorted({print_of(word) for word in some})).tobytes()).decode()


def votes() -> dict[str, list[str]]:
    """Small word -> the languages it is of."""
    found: dict[str, list[str]] = {}
    for language, some in table("votes").items():
        for word in some:
            found.setdefault(key_of(word), []).append(language)
    return found


def sets(some: dict[str, Any]) -> dict[str, Any]:
    """Lists of words as sorted keys; some are by language."""
    return {
        name: sets(words)
        if isinstance(words, dict)
        else sorted({key_of(form) or form for word in words for form in forms(word)})
        for name, words in some.items()
    }


def build() -> bytes:
    phrases = Phrases()
    for name in TABLES:
        phrases.table(name, table(name))
    for name, some in table("wishes").items():
        phrases.add("wish", some, name)
    for where, changes in table("changes").items():
        for name, some in changes.items():
            phrases.add("change", some, name, where)
    for name, countries in vocabulary().groups().items():
        phrases.add("group", [name], *countries)
    senses = {
        sense: number for number, sense in enumerate(sorted({s for some in phrases.senses.values() for s in some}))
    }
    content = {
        "senses": list(senses),
        "phrases": {key: [senses[sense] for sense in some] for key, some in phrases.senses.items()},
        "codes": state_codes(),
        "grammars": table("languages"),
        "beside_cities": {key_of(name): city.split("|") for name, city in table("casual")["beside_cities"].items()},
        "longest_phrases": longest(phrases.senses),
        "longest_names": longest(map(key_of, vocabulary().spoken_names())),
        "common": frequent_words.common(),
        "english": frequent_words.english(),
        "known": prints(frequent_words.known(words("slips"))),
        "brands": words("brands"),
        "ordinary": words("ordinary"),
        "votes": votes(),
        "sets": sets(table("sets") | table("speech")),
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile what words can mean.")
    parser.add_argument("--check", action="store_true", help="only tell whether the shipped file is current")
    options = parser.parse_args()
    made = build()
    if not options.check:
        TARGET.write_bytes(made)
        print(f"{TARGET.name}: {len(made):,} bytes")
    elif gzip.decompress(TARGET.read_bytes()) != gzip.decompress(made):
        sys.exit(f"{TARGET.name} is not what scripts/language gives; run: python scripts/build_language.py")


if __name__ == "__main__":
    main()
