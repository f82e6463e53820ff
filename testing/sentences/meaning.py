"""When two directive texts mean the same: the comparison that labels and results are scored by.

A search becomes a set of atoms, one for each condition. Lists under `!` are one atom for each value. Places that whole
countries can say (a region, a subregion, a group with an exception) become that list of countries. Keywords are bags of
word stems, so that "dentists" and "dentist" are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from siteglass.query.criteria import AnyOf, Change, Condition, Range
from siteglass.query.directives import parse, print_condition
from siteglass.query.value_text import window_text
from siteglass.query.vocabulary import vocabulary

_WORD = re.compile(r"[^\W_]+")
_PLACES = ("country", "region", "subregion")


class Atom(NamedTuple):
    """One condition, comparable."""

    negated: bool
    field: str
    values: frozenset[str]


def stem(word: str) -> str:
    """Without the plural; both sides go through it, so it need not be a word."""
    word = word.lower()
    for ending, rest in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + rest
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def _countries(condition: Condition) -> set[str]:
    known = vocabulary()
    found: set[str] = set()
    for value in map(str, condition.values):
        if condition.field == "country":
            found.add(value)
        else:
            found.update(known.countries_in("region" if condition.field == "region" else "subregion", value))
    return found


def _value(condition: Condition, value: object) -> str:
    if isinstance(value, Range):
        return "..".join("" if end is None else str(end) for end in (value.low, value.high)) + (
            f"{'>' * value.above}{'<' * value.below}"
        )
    if isinstance(value, Change):
        return f"{value.technology}, {window_text(value)}".lower()
    if condition.field == "keywords":
        return " ".join(sorted(map(stem, _WORD.findall(str(value)))))
    return str(value).lower()


def _place_atoms(conditions: Sequence[Condition]) -> set[Atom]:
    """Where the site may be: one list of countries, less those that are excluded; or only exclusions."""
    wanted = [_countries(condition) for condition in conditions if not condition.negated]
    unwanted = set().union(*(_countries(condition) for condition in conditions if condition.negated))
    if not wanted:
        return {Atom(True, "country", frozenset([country])) for country in unwanted}
    return {Atom(False, "country", frozenset(set.intersection(*wanted) - unwanted))}


def atoms(lines: Iterable[str]) -> set[Atom]:
    """What a directive text means; raises QueryError if it cannot be read."""
    criteria = parse("\n".join(lines))
    conditions = criteria.plain
    alternatives = [clause for clause in criteria.conditions if isinstance(clause, AnyOf)]
    found = {Atom(clause.negated, "any", frozenset([print_condition(clause)])) for clause in alternatives}
    if places := [condition for condition in conditions if condition.field in _PLACES]:
        found |= _place_atoms(places)
    for condition in conditions:
        if condition.field in _PLACES:
            continue
        values = [_value(condition, value) for value in condition.values]
        if condition.negated and values:
            found |= {Atom(True, condition.field, frozenset([value])) for value in values}
        else:
            found.add(Atom(condition.negated, condition.field, frozenset(values)))
    return found
