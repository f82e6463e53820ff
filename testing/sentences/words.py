"""The tables of words that sentences are made of, one file for each language in `words/`, and how they are filled in.

A value has forms by slot: `crm = { list = ["a CRM"], bare = ["CRM"] }`; a plain list is the slot `list`, and `bare`
is `list` where it is not given. A template names slots: `{list}` all values, joined; `{list1}` only if there is one;
`{a}` and `{b}` only if there are two. `{o|a}` agrees with the noun that the sentence is about, whose gender stands
behind it (`empresas:f`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

FOLDER = Path(__file__).parent / "words"
LANGUAGES = ("en", "de", "es", "fr", "pt")

Forms = Mapping[str, Sequence[str]]

_SLOT = re.compile(r"\{(\w+)\}")
_AGREEMENT = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")
_GENDER = re.compile(r"(?<=\w):([mf])\b")


def forms(entry: Sequence[str] | Forms) -> Forms:
    """The forms of a value, from its entry in a table."""
    made: dict[str, Sequence[str]] = dict(entry) if isinstance(entry, Mapping) else {"list": entry}
    made.setdefault("bare", made["list"])
    return made


class Language:
    """The tables of one language."""

    def __init__(self, name: str, tables: Mapping[str, Any]) -> None:
        self.name = name
        self.tables = tables
        self.layout: Mapping[str, Any] = tables["layout"]
        self.numbers: Mapping[str, Any] = tables["numbers"]
        self._values: dict[str, dict[str, Forms]] = {}

    def values(self, table: str) -> dict[str, Forms]:
        """Canonical value -> its forms."""
        if table not in self._values:
            entries = self.tables[table].items()
            self._values[table] = {key: forms(entry) for key, entry in entries if key != "prefix"}
        return self._values[table]

    def cities(self) -> dict[str, Forms]:
        """Cities stand alone in `bare`, and behind the language's preposition, if it has one, in `list`."""
        prefix = self.tables["cities"].get("prefix", "")
        return {
            name: {"list": [prefix + said for said in some["bare"]], "bare": some["bare"]}
            for name, some in self.values("cities").items()
        }

    def ways(self, say: str, values: Sequence[Forms], given: Iterable[str]) -> dict[str, list[str]]:
        """How a kind of condition, or one named by its directive, can be said of these values: class -> templates."""
        table: Mapping[str, Sequence[str]] = self.tables["fixed" if "@" in say else "say"].get(say, {})
        slots = {"head", *given}
        found = {where: [one for one in some if usable(one, values, slots)] for where, some in table.items()}
        return {where: templates for where, templates in found.items() if templates}

    def joined(self, items: Sequence[str], joiner: str) -> str:
        """A list as it is written: `joiner` is "and", "or" or "nor"."""
        if len(items) == 1:
            return items[0]
        between: str = self.layout[joiner]
        letter, other = self.layout.get("euphony", {}).get(between, ("", ""))
        if letter and items[-1].lower().startswith(letter):
            between = other
        return ", ".join(items[:-1]) + between + items[-1]


@cache
def language(name: str) -> Language:
    """The tables of a language; read once."""
    return Language(name, tomllib.loads((FOLDER / f"{name}.toml").read_text()))


@cache
def tools() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Technologies by kind: canonical name -> names that people say."""
    return tomllib.loads((FOLDER / "tools.toml").read_text())


def slots(template: str) -> list[str]:
    """The names of what a template needs."""
    return _SLOT.findall(template)


def usable(template: str, values: Sequence[Forms], given: Collection[str]) -> bool:
    """Whether these values have what the template needs."""

    def has(slot: str) -> bool:
        if slot in given:
            return True
        if slot in ("a", "b"):
            return len(values) == 2
        if slot.endswith("1"):
            return len(values) == 1 and slot[:-1] in values[0]
        return bool(values) and all(slot in value for value in values)

    return all(map(has, slots(template)))


def filled(
    template: str, values: Sequence[Forms], joiner: str, given: Mapping[str, str], spoken: Language, words: Random
) -> str:
    """The template with one form of each value, drawn from `words`."""

    def form(slot: str) -> str:
        if slot in given:
            return given[slot]
        if slot in ("a", "b"):
            return words.choice(values["ab".index(slot)]["list"])
        return spoken.joined([words.choice(value[slot.removesuffix("1")]) for value in values], joiner)

    return _SLOT.sub(lambda found: form(found[1]), template)


def is_feminine(head: str) -> bool:
    """Whether a noun is feminine; several are if all are."""
    genders = _GENDER.findall(head)
    return bool(genders) and set(genders) == {"f"}


def agreed(text: str, *, feminine: bool) -> str:
    """The text with every agreement made and no gender marked."""
    return _GENDER.sub("", _AGREEMENT.sub(lambda found: found[2 if feminine else 1], text))


def unmarked(text: str) -> str:
    """A noun without its gender."""
    return _GENDER.sub("", text)
