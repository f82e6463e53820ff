"""Criteria: the one meaning that filters, directives and sentences become; a conjunction in canonical form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from siteglass.query.field import Ask, Kind
from siteglass.query.fields import ASKED, POSITION
from siteglass.query.vocabulary import vocabulary

MAX_CONDITIONS = 64
MAX_VALUES = 200
MAX_CANONICAL_BYTES = 4_000

MS_PER_DAY = 86_400_000


class Range(NamedTuple):
    """Numbers between two bounds; a bound of None is open-ended, `above`/`below` exclude the bound itself."""

    low: int | None
    high: int | None
    above: bool = False
    below: bool = False

    def holds(self, number: int) -> bool:
        """Whether a number is in the range."""
        if self.low is not None and (number < self.low or (self.above and number == self.low)):
            return False
        return self.high is None or not (number > self.high or (self.below and number == self.high))

    @property
    def order(self) -> tuple[int, int, bool, int, bool]:
        """Sort key: by lower bound (none first), then by upper bound (none last)."""
        low = -1 if self.low is None else self.low
        high = 10**15 if self.high is None else self.high
        return (low, self.low is not None, self.above, high, not self.below)


Value = str | int | Range
"""str: a term, path or phrase; int: a moment in ms or an age in days; Range: numbers."""


@dataclass(frozen=True, slots=True)
class Condition:
    """At least one of the values holds for the field; none of them if negated. A flag has no values."""

    field: str
    values: tuple[Value, ...] = ()
    negated: bool = False

    @property
    def ask(self) -> Ask:
        return ASKED[self.field].ask

    @property
    def thing(self) -> str:
        """What it is about: a filter replaces what a sentence says about the same thing."""
        return self.ask.thing or self.field


@dataclass(frozen=True, slots=True)
class Criteria:
    """All conditions must hold. Make it with `criteria()`, which brings them into canonical form."""

    conditions: tuple[Condition, ...] = ()

    @property
    def value_count(self) -> int:
        return sum(len(condition.values) for condition in self.conditions)

    def hides_generic_emails(self) -> bool:
        """Whether role addresses are left out of the answer."""
        return any(c.field == "no_generic_emails" and not c.negated for c in self.conditions)

    def fixed_at(self, now_ms: int) -> Criteria:
        """The same search with ages turned into moments, so that every later page means the same."""
        if not any(c.ask.kind is Kind.AGE for c in self.conditions):
            return self
        return criteria(_fixed(condition, now_ms) for condition in self.conditions)


def _fixed(condition: Condition, now_ms: int) -> Condition:
    if condition.ask.kind is not Kind.AGE:
        return condition
    moments = tuple(now_ms - days * MS_PER_DAY for days in condition.values if isinstance(days, int))
    return Condition("crawled_at", moments, condition.negated)


def _value_order(value: Value) -> tuple[object, ...]:
    return value.order if isinstance(value, Range) else (value,)


def _canonical_values(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(sorted(set(values), key=_value_order))


def _condition_order(condition: Condition) -> tuple[object, ...]:
    return (POSITION[condition.field], condition.negated, tuple(map(_value_order, condition.values)))


def _states_inside_countries(positive: set[Condition]) -> set[Condition]:
    """A state's name stands for all codes of that name; beside countries, for those inside them."""
    countries = [set(c.values) for c in positive if c.field == "country"]
    if not countries:
        return positive
    inside = set.intersection(*countries)
    narrowed = set()
    for condition in positive:
        if condition.field == "state":
            values = tuple(value for value in condition.values if _state_country(str(value)) in {None, *inside})
            condition = Condition("state", values or condition.values)
        narrowed.add(condition)
    return narrowed


def _state_country(code: str) -> str | None:
    """The country of a qualified code such as US-CA; None for a bare code, which may be anywhere."""
    return vocabulary().country_alpha3(code.split("-")[0]) if "-" in code else None


def criteria(conditions: Iterable[Condition]) -> Criteria:
    """Canonical criteria: values sorted, duplicates gone, negations of a field in one condition, catalogue order."""
    positive: set[Condition] = set()
    negated: dict[str, set[Value]] = {}
    for condition in conditions:
        if condition.negated:
            negated.setdefault(condition.field, set()).update(condition.values)
        else:
            positive.add(Condition(condition.field, _canonical_values(condition.values)))
    positive = _states_inside_countries(positive)
    excluded = [Condition(field, _canonical_values(values), negated=True) for field, values in negated.items()]
    return Criteria(tuple(sorted([*positive, *excluded], key=_condition_order)))
