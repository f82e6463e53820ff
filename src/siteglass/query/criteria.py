"""Criteria: the one meaning that filters, directives and sentences become; a conjunction in canonical form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from siteglass.query.field import Ask, Kind
from siteglass.query.fields import ASKED, POSITION
from siteglass.query.vocabulary import vocabulary

# Those inside alternatives count as well.
MAX_CONDITIONS = 64
MAX_VALUES = 200
MAX_BRANCHES = 16
MAX_BRANCH_CONDITIONS = 8
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


class Change(NamedTuple):
    """A technology that websites began or stopped using: since a day, or within some days before the search."""

    technology: str
    days: int
    """Days before the search; if `fixed`, the first day as days since 1970."""
    fixed: bool = False

    def fixed_at(self, now_ms: int) -> Change:
        """The same with the first day in place of an age."""
        return self if self.fixed else Change(self.technology, max(0, now_ms // MS_PER_DAY - self.days), fixed=True)

    @property
    def order(self) -> tuple[bool, int, str]:
        """Sort key: those with the same window are adjacent."""
        return (self.fixed, self.days, self.technology)


Value = str | int | Range | Change
"""str: a term, path or phrase; int: a moment in ms or an age in days; Range: numbers; Change: a technology's."""


def name_in(value: Value) -> str:
    """The name that a value looks up in a vocabulary."""
    return value.technology if isinstance(value, Change) else str(value)


def renamed(value: Value, name: str) -> Value:
    """The value with another name."""
    return value._replace(technology=name) if isinstance(value, Change) else name


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

    def fixed_at(self, now_ms: int) -> Condition:
        """The same with ages turned into a moment or a date."""
        if self.ask.kind is Kind.CHANGE:
            changes = (value.fixed_at(now_ms) for value in self.values if isinstance(value, Change))
            return replace(self, values=tuple(changes))
        if self.ask.kind is Kind.AGE:
            moments = (now_ms - days * MS_PER_DAY for days in self.values if isinstance(days, int))
            return Condition("crawled_at", tuple(moments), self.negated)
        return self


Branch = tuple[Condition, ...]
"""Conditions that must all hold together."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one branch holds as a whole; none of them if negated. Branches hold no other `AnyOf`."""

    branches: tuple[Branch, ...]
    negated: bool = False


Clause = Condition | AnyOf
MergedConditions = dict[Condition, list[Clause]]
"""Canonical conditions, each with the clauses that it was made from."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """All clauses must hold. Make it with `criteria()`, which brings them into canonical form."""

    conditions: tuple[Clause, ...] = ()

    @property
    def plain(self) -> tuple[Condition, ...]:
        """The conditions that every lead found must meet."""
        return tuple(clause for clause in self.conditions if isinstance(clause, Condition))

    def flat(self) -> Iterator[Condition]:
        """Every condition, those inside alternatives too."""
        for clause in self.conditions:
            if isinstance(clause, AnyOf):
                yield from chain.from_iterable(clause.branches)
            else:
                yield clause

    @property
    def condition_count(self) -> int:
        return sum(1 for _ in self.flat())

    @property
    def value_count(self) -> int:
        return sum(len(condition.values) for condition in self.flat())

    def hides_generic_emails(self) -> bool:
        """Whether generic addresses are left out of the answer: only if every lead found must have another one."""
        return any(c.field == "no_generic_emails" and not c.negated for c in self.plain)

    def fixed_at(self, now_ms: int) -> Criteria:
        """The same search with ages turned into moments and dates, so that every later page means the same."""
        if not any(condition.ask.kind in (Kind.AGE, Kind.CHANGE) for condition in self.flat()):
            return self
        return criteria(_fixed(clause, now_ms) for clause in self.conditions)


def _fixed(clause: Clause, now_ms: int) -> Clause:
    if isinstance(clause, AnyOf):
        branches = (tuple(condition.fixed_at(now_ms) for condition in branch) for branch in clause.branches)
        return replace(clause, branches=tuple(branches))
    return clause.fixed_at(now_ms)


def _value_order(value: Value) -> tuple[object, ...]:
    return value.order if isinstance(value, Range | Change) else (value,)


def _canonical_values(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(sorted(set(values), key=_value_order))


def _condition_order(condition: Condition) -> tuple[object, ...]:
    return (POSITION[condition.field], condition.negated, tuple(map(_value_order, condition.values)))


def _states_inside_countries(positive: MergedConditions) -> MergedConditions:
    """A state's name stands for all codes of that name; beside countries, for those inside them."""
    countries = [set(c.values) for c in positive if c.field == "country"]
    if not countries:
        return positive
    inside = set.intersection(*countries)
    narrowed: MergedConditions = {}
    for condition, origins in positive.items():
        if condition.field == "state":
            values = tuple(value for value in condition.values if _state_country(str(value)) in {None, *inside})
            condition = Condition("state", values or condition.values)
        narrowed.setdefault(condition, []).extend(origins)
    return narrowed


def _state_country(code: str) -> str | None:
    """The country of a qualified code such as US-CA; None for a bare code, which may be anywhere."""
    return vocabulary().country_alpha3(code.split("-")[0]) if "-" in code else None


def criteria(clauses: Iterable[Clause]) -> Criteria:
    """Canonical criteria: values sorted, duplicates gone, negations of a field in one condition, catalogue order.

    Alternatives come last, and only where plain conditions cannot say the same.
    """
    return Criteria(tuple(merge(clauses)))


def merge(clauses: Iterable[Clause]) -> dict[Clause, list[Clause]]:
    """The clauses of canonical criteria in their order, each with those that it was made from."""
    plain: list[tuple[Condition, Clause]] = []
    alternatives: dict[AnyOf, list[Clause]] = {}
    for clause in clauses:
        if isinstance(clause, AnyOf):
            conditions, remaining = _simplified(clause)
            plain.extend((condition, clause) for condition in conditions)
            for any_of in remaining:
                alternatives.setdefault(any_of, []).append(clause)
        else:
            plain.append((clause, clause))
    merged: dict[Clause, list[Clause]] = dict(_conjunction(plain).items())
    for any_of in sorted(alternatives, key=_alternatives_order):
        merged[any_of] = alternatives[any_of]
    return merged


def _conjunction(conditions: Iterable[tuple[Condition, Clause]]) -> MergedConditions:
    """Conditions in canonical form; each is given with the clause that it comes from."""
    positive: MergedConditions = {}
    negated: dict[str, tuple[set[Value], list[Clause]]] = {}
    for condition, origin in conditions:
        if condition.negated:
            values, origins = negated.setdefault(condition.field, (set(), []))
            values.update(condition.values)
            origins.append(origin)
        else:
            canonical = Condition(condition.field, _canonical_values(condition.values))
            positive.setdefault(canonical, []).append(origin)
    merged = _states_inside_countries(positive)
    for field, (values, origins) in negated.items():
        merged[Condition(field, _canonical_values(values), negated=True)] = origins
    return {condition: merged[condition] for condition in sorted(merged, key=_condition_order)}


def _canonical_branch(branch: Branch) -> Branch:
    return tuple(_conjunction((condition, condition) for condition in branch))


def _simplified(clause: AnyOf) -> tuple[list[Condition], list[AnyOf]]:
    """Alternatives as plain conditions where these say the same, and what is left.

    One branch that must hold is its conditions. To exclude several branches is to exclude each, and a branch of one
    condition is excluded by the opposite condition.
    """
    branches = _without_implied(_joined(map(_canonical_branch, clause.branches)))
    if not branches or not all(branches):
        raise ValueError("alternatives need at least one branch, and each branch at least one condition")
    if not clause.negated:
        return ([*branches[0]], []) if len(branches) == 1 else ([], [AnyOf(branches)])
    opposites = [replace(branch[0], negated=not branch[0].negated) for branch in branches if len(branch) == 1]
    return opposites, [AnyOf((branch,), negated=True) for branch in branches if len(branch) > 1]


def _joined(branches: Iterable[Branch]) -> list[Branch]:
    """Branches of one positive condition on the same field as one: values are alternatives already."""
    others: list[Branch] = []
    values: dict[str, list[Value]] = {}
    for branch in branches:
        if len(branch) == 1 and not branch[0].negated:
            values.setdefault(branch[0].field, []).extend(branch[0].values)
        else:
            others.append(branch)
    return [*others, *((Condition(field, _canonical_values(some)),) for field, some in values.items())]


def _without_implied(branches: Iterable[Branch]) -> tuple[Branch, ...]:
    """Sorted branches, without those that hold only where another one does: "A and B" adds nothing to "A"."""
    kept: list[Branch] = []
    for branch in sorted(branches, key=_branch_order):
        if not any(_implies(branch, other) for other in kept):
            kept = [other for other in kept if not _implies(other, branch)]
            kept.append(branch)
    return tuple(kept)


def _implies(branch: Branch, other: Branch) -> bool:
    return all(any(_implies_condition(condition, wider) for condition in branch) for wider in other)


def _implies_condition(condition: Condition, wider: Condition) -> bool:
    """Whether one holds wherever the other does: with fewer alternatives, or with more exclusions."""
    if condition.field != wider.field or condition.negated != wider.negated:
        return False
    narrow, wide = (wider, condition) if condition.negated else (condition, wider)
    return set(narrow.values) <= set(wide.values)


def _branch_order(branch: Branch) -> tuple[object, ...]:
    return tuple(map(_condition_order, branch))


def _alternatives_order(clause: AnyOf) -> tuple[object, ...]:
    return (clause.negated, tuple(map(_branch_order, clause.branches)))
