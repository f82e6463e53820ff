"""What a caller may want to know about a search that can be run: values that nobody knows, and contradictions.

A typo in a positive value finds nothing, which looks like a result. So does a state of another country. Neither is an
error: the lists of technologies, categories and cities are open, and no list of places is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, product

from siteglass.errors import repeated
from siteglass.query.criteria import AnyOf, Branch, Condition, Criteria, Range, name_in
from siteglass.query.detected import detected_technologies
from siteglass.query.field import Kind
from siteglass.query.fields import BY_NAME
from siteglass.query.filters import describe_clause
from siteglass.query.value_text import is_unknown
from siteglass.query.values import known_elsewhere, nearest_names
from siteglass.query.vocabulary import vocabulary

# An explanation lists so many notes, and looks up names for so many: each look-up takes milliseconds.
MAX_NOTES = 20
MAX_LOOKED_UP = 5
MAX_NEAREST = 3

_PLACES = frozenset(("country", "state", "city", "region", "subregion"))


@dataclass(frozen=True, slots=True)
class SearchNote:
    """Something to know about conditions that are searched."""

    conditions: tuple[Condition, ...]
    message: str
    unknown: str | None = None
    """A value that is not in the vocabulary of its field."""
    undetected: str | None = None
    """A technology that no rule detects."""

    def nearest(self) -> tuple[str, ...]:
        """The known values that an unknown one most resembles, the best first."""
        ask = self.conditions[0].ask
        if self.unknown is None or known_elsewhere(ask, self.unknown):
            return ()
        return nearest_names(ask, self.unknown, MAX_NEAREST)


def find_notes(criteria: Criteria) -> list[SearchNote]:
    """All notes on a search, without the names that are nearest: these are looked up when they are shown."""
    unknown = [note for condition in _asked_for(criteria) for note in _unknown_values(condition)]
    undetected = [note for condition in criteria.flat() for note in _undetected(condition)]
    contradictions = [note for pair in _together(criteria) if (note := _contradiction(*pair))]
    return list(dict.fromkeys([*unknown, *undetected, *contradictions]))


def _asked_for(criteria: Criteria) -> Iterator[Condition]:
    """Positive conditions; an unknown value that excludes is an error already."""
    for branch in (criteria.plain, *_branches(criteria)):
        yield from (condition for condition in branch if not condition.negated)


def _branches(criteria: Criteria) -> Iterator[Branch]:
    for clause in criteria.conditions:
        if isinstance(clause, AnyOf) and not clause.negated:
            yield from clause.branches


def _together(criteria: Criteria) -> Iterator[tuple[Condition, Condition]]:
    """Pairs that must both hold: among plain conditions, in a branch, and of a branch with the plain ones."""
    yield from combinations(criteria.plain, 2)
    for branch in _branches(criteria):
        yield from combinations(branch, 2)
        yield from product(criteria.plain, branch)


def _unknown_values(condition: Condition) -> Iterator[SearchNote]:
    ask = condition.ask
    if ask.vocabulary is None or ask.kind is Kind.LACKS:
        return
    for value in condition.values:
        if is_unknown(ask, value):
            kind, name = ask.vocabulary.replace("_", " "), name_in(value)
            outcome = "has no history" if ask.kind is Kind.CHANGE else "probably matches no lead"
            why = known_elsewhere(ask, name) or f"not a known {kind}, so it {outcome}"
            yield SearchNote((condition,), f"{repeated(name)} is {why}", name)


def _undetected(condition: Condition) -> Iterator[SearchNote]:
    """Technologies that only imported leads can have: a condition finds little, an exclusion keeps all."""
    ask = condition.ask
    if ask.vocabulary != "technology":
        return
    for value in condition.values:
        name = name_in(value)
        if name not in detected_technologies() and not is_unknown(ask, value):
            outcome = "excluding it leaves out" if condition.negated else "it finds"
            message = f"no rule detects {name} on web pages, so {outcome} only leads that were imported with it"
            yield SearchNote((condition,), message, undetected=name)


def _contradiction(one: Condition, other: Condition) -> SearchNote | None:
    if one.negated and other.negated:
        return None
    if one.negated != other.negated:
        why = _why_excluded(*((other, one) if one.negated else (one, other)))
    else:
        why = _why_not_both(one, other)
    if why is None:
        return None
    lines = " and ".join(map(describe_clause, (one, other)))
    return SearchNote((one, other), f"{lines} contradict each other: {why}")


def _why_excluded(wanted: Condition, excluded: Condition) -> str | None:
    """Why no lead can meet the one and not the other, if that is known."""
    if wanted.field == excluded.field and set(wanted.values) <= set(excluded.values):
        return "one excludes what the other requires"
    if {wanted.field, excluded.field} <= _PLACES and _is_inside(wanted, excluded):
        return "one excludes the place that the other requires"
    return None


def _why_not_both(one: Condition, other: Condition) -> str | None:
    """Why no lead can meet both, if that is known."""
    fields = {one.field, other.field}
    if fields <= _PLACES:
        return None if _can_be_one_place(one, other) else "no known place is in both"
    if fields == {"lacks", "categories_uses"} and len(one.values) == 1 and one.values == other.values:
        return "a site cannot both use and lack it"
    if len(fields) == 1 and not _can_have_both(one, other):
        return "a site has only one of these"
    return None


def _can_have_both(one: Condition, other: Condition) -> bool:
    show = BY_NAME[one.field].show
    if one.ask.kind is Kind.NUMBER:
        ranges = ((a, b) for a in _ranges(one) for b in _ranges(other))
        return any(_overlap(*sorted(pair, key=lambda value: value.order)) for pair in ranges)
    several = show is None or show.type != "string"
    return several or one.ask.kind is not Kind.TERM or not set(one.values).isdisjoint(other.values)


def _ranges(condition: Condition) -> Iterator[Range]:
    return (value for value in condition.values if isinstance(value, Range))


def _overlap(first: Range, second: Range) -> bool:
    """Whether two ranges of whole numbers have one in common; the first begins no later."""
    low = None if second.low is None else second.low + second.above
    ends = [value.high - value.below for value in (first, second) if value.high is not None]
    return low is None or not ends or low <= min(ends)


# --- places -------------------------------------------------------------------------------------

_Place = tuple[str, str]
"""A country and a state; "" for any state."""


def _can_be_one_place(one: Condition, other: Condition) -> bool:
    places, others = _places(one), _places(other)
    if places is None or others is None or not places.isdisjoint(others):
        return True
    return _has_whole_country(places, others) or _has_whole_country(others, places)


def _has_whole_country(places: frozenset[_Place], others: frozenset[_Place]) -> bool:
    """Whether the whole country of one of the others is among the places."""
    return any((country, "") in places for country, _ in others)


def _is_inside(wanted: Condition, excluded: Condition) -> bool:
    """Whether every place that is wanted is one of those excluded."""
    places, excluded_places = _places(wanted), _places(excluded)
    if not places or not excluded_places or excluded.field == "city":
        return False
    return all((place[0], "") in excluded_places or place in excluded_places for place in places)


# Each condition is compared with many others.
@lru_cache(maxsize=1_024)
def _places(condition: Condition) -> frozenset[_Place] | None:
    """Where a place of the condition may be; None if one of them is not known."""
    places: set[_Place] = set()
    for value in condition.values:
        known = _places_of(condition.field, str(value))
        if not known:
            return None
        places.update(known)
    return frozenset(places)


def _places_of(field: str, value: str) -> Sequence[_Place]:
    words = vocabulary()
    match field:
        case "country":
            return [(value, "")]
        case "region":
            return [(country, "") for country in words.countries_in("region", value)]
        case "subregion":
            return [(country, "") for country in words.countries_in("subregion", value)]
        case "city":
            return [(city.country, city.state) for city in words.cities_named(value)]
        case _:
            alpha2, _, code = value.rpartition("-")
            country = words.country_alpha3(alpha2)
            return [(country, code)] if country else _states_by_code().get(code, ())


@cache
def _states_by_code() -> dict[str, list[_Place]]:
    places: dict[str, list[_Place]] = {}
    for country in vocabulary().values("country"):
        for code in vocabulary().states_of(country):
            places.setdefault(code, []).append((country, code))
    return places
