"""Changes to a search that may give it results: without some of its conditions, or with known values for unknown ones.

What each change finds is counted by others. Only changes that include no smaller one with results are worth showing:
after "without the city", "without the city and the score" says nothing new. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from siteglass.query.criteria import Clause, Condition, Criteria, criteria, name_in, renamed
from siteglass.query.notes import MAX_LOOKED_UP, SearchNote, find_notes

# Every relaxation is counted, so their number is bounded: of a longer search, the first conditions are relaxed.
MAX_RELAXED = 12
# Pairs of so many conditions are tried: 28.
MAX_PAIRED = 8
MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Replacement:
    """A condition with unknown values, and the same with the known values that are nearest."""

    condition: Condition
    by: Condition


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A search with fewer conditions, or with other values."""

    dropped: frozenset[Clause]
    replaced: tuple[Replacement, ...] = ()

    def apply(self, search: Criteria) -> Criteria:
        """The search after the change."""
        others = {one.condition: one.by for one in self.replaced}
        kept = [clause for clause in search.conditions if clause not in self.dropped]
        return criteria(others.get(clause, clause) if isinstance(clause, Condition) else clause for clause in kept)

    @property
    def size(self) -> tuple[int, int]:
        """Another spelling is a smaller change than one condition less."""
        return len(self.dropped), len(self.replaced)

    def includes(self, other: Relaxation) -> bool:
        """Whether it changes all that another one changes."""
        changed = {one.condition for one in self.replaced} | self.dropped
        return other.dropped <= self.dropped and all(one.condition in changed for one in other.replaced)


def relaxed_conditions(search: Criteria) -> tuple[Clause, ...]:
    """The conditions that are looked at one by one."""
    return search.conditions[:MAX_RELAXED]


def single_relaxations(search: Criteria) -> list[Relaxation]:
    """The smallest changes: one condition less, and known values in place of unknown ones."""
    changes = [Relaxation(frozenset((clause,))) for clause in relaxed_conditions(search)]
    if replaced := _replacements(search):
        changes.append(Relaxation(frozenset(), replaced))
    return _useful(search, changes)


def relaxations(search: Criteria) -> list[Relaxation]:
    """All changes that are counted for a search: one or two conditions less; if that is not enough, more of them."""
    clauses = relaxed_conditions(search)
    return _useful(search, (*single_relaxations(search), *_larger(search, clauses)))


def _larger(search: Criteria, clauses: tuple[Clause, ...]) -> Iterator[Relaxation]:
    for pair in combinations(clauses[:MAX_PAIRED], 2):
        yield Relaxation(frozenset(pair))
    # A condition on unknown values alone finds nothing, whatever else is dropped.
    if unknown := frozenset(_unknown_conditions(search)):
        yield Relaxation(unknown)
        yield from (Relaxation(unknown | {clause}) for clause in clauses)
    if replaced := _replacements(search):
        yield from (Relaxation(frozenset((clause,)), _others(replaced, clause)) for clause in clauses)
    # Fewer and fewer conditions, down to each one by itself: one of these finds something if any condition does.
    yield from (Relaxation(frozenset(search.conditions[kept:])) for kept in range(2, len(clauses)))
    yield from (Relaxation(frozenset(search.conditions) - {clause}) for clause in clauses)


def _others(replaced: tuple[Replacement, ...], clause: Clause) -> tuple[Replacement, ...]:
    return tuple(one for one in replaced if one.condition != clause)


def _useful(search: Criteria, changes: Iterable[Relaxation]) -> list[Relaxation]:
    """Each change once, without those that leave all leads to be found."""
    whole = frozenset(search.conditions)
    return [change for change in dict.fromkeys(changes) if change.dropped != whole]


def _unknown_conditions(search: Criteria) -> Iterator[Condition]:
    """Conditions none of whose values is known."""
    unknown: dict[Condition, set[str]] = {}
    for note in _unknown_values(search):
        unknown.setdefault(note.conditions[0], set()).add(note.unknown or "")
    return (condition for condition, values in unknown.items() if values == set(map(name_in, condition.values)))


def _unknown_values(search: Criteria) -> list[SearchNote]:
    return [note for note in find_notes(Criteria(search.plain)) if note.unknown is not None]


def _replacements(search: Criteria) -> tuple[Replacement, ...]:
    """For each condition with unknown values, the same with the nearest known ones, where there are any."""
    nearest: dict[Condition, dict[str, str]] = {}
    for note in _unknown_values(search)[:MAX_LOOKED_UP]:
        if names := note.nearest():
            nearest.setdefault(note.conditions[0], {})[note.unknown or ""] = names[0]
    return tuple(
        Replacement(
            condition,
            Condition(
                condition.field,
                tuple(renamed(value, names.get(name_in(value), name_in(value))) for value in condition.values),
            ),
        )
        for condition, names in nearest.items()
    )


def smallest(totals: Mapping[Relaxation, int]) -> list[Relaxation]:
    """The changes that give results, the smallest first, without those that include a smaller one that does."""
    found = [change for change in totals if totals[change] > 0]
    kept: list[Relaxation] = []
    for change in sorted(found, key=lambda change: (*change.size, -totals[change])):
        if not any(change.includes(other) for other in kept):
            kept.append(change)
    return kept[:MAX_SHOWN]
