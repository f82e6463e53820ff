"""Facets: the values of a field by which the leads of a search are counted, and what to search for to find only those.

The index names a value by a key: the folded term, the text of a band, a month, or yes and no of a flag. A facet
ignores the search's own conditions on its field, so that callers see what the other values would find. Pure.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from siteglass.query.completion import display_name
from siteglass.query.criteria import Clause, Condition, Criteria, Range
from siteglass.query.field import Kind
from siteglass.query.fields import ASKED
from siteglass.query.folding import fold
from siteglass.query.value_names import value_name
from siteglass.query.vocabulary import vocabulary

YES, NO = "yes", "no"
# Between the two terms that name a state: no code has a blank.
_IN = " "


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a field: as it is sent and shown, and the conditions that find the leads that have it."""

    value: str
    name: str
    conditions: tuple[Condition, ...]


class Band(NamedTuple):
    """Numbers from the lowest up to, and without, the lowest of the next band; None: without an end."""

    low: int
    next_low: int | None

    @property
    def text(self) -> str:
        """As the filter `spending` writes it: 100-499, 100000+."""
        return f"{self.low}+" if self.next_low is None else f"{self.low}-{self.next_low - 1}"

    @property
    def numbers(self) -> Range:
        return Range(self.low, None if self.next_low is None else self.next_low - 1)


class Month(NamedTuple):
    """A calendar month in UTC: its text, and when it starts and ends, in ms."""

    text: str
    start_ms: int
    end_ms: int


def without_selection(criteria: Criteria, field: str) -> Criteria:
    """The search without its own conditions on a field. Those inside alternatives stay: they depend on others."""

    def is_other(clause: Clause) -> bool:
        return not isinstance(clause, Condition) or clause.field != field

    return Criteria(tuple(filter(is_other, criteria.conditions)))


def bands(field: str) -> tuple[Band, ...]:
    """The bands of a number, the lowest first."""
    lows = ASKED[field].ask.bands
    return tuple(Band(low, next_low) for low, next_low in pairwise((*lows, None)) if low is not None)


def months(now_ms: int, count: int) -> Iterator[Month]:
    """The month of a time and those before it, the newest first."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    number = now.year * 12 + now.month - 1
    for month in range(number, number - count, -1):
        yield _month(month)


def _month(number: int) -> Month:
    start, end = (datetime(one // 12, one % 12 + 1, 1, tzinfo=UTC) for one in (number, number + 1))
    return Month(f"{start:%Y-%m}", int(start.timestamp()) * 1000, int(end.timestamp()) * 1000)


def state_key(country: str, state: str) -> str:
    """The key of a state, from the terms of its country and its code."""
    return country + _IN + state


def facet_value(field: str, key: str) -> FacetValue | None:
    """What a key stands for; None if no condition finds exactly the leads that have it."""
    match ASKED[field].ask.kind:
        case Kind.FLAG:
            return _flag_value(field, key)
        case Kind.NUMBER:
            return _band_value(field, key)
        case Kind.TIME:
            return _month_value(field, key)
        case _:
            return _state_value(key) if field == "state" else _term_value(field, key)


def _flag_value(field: str, key: str) -> FacetValue:
    noun = ASKED[field].ask.says.removeprefix("have ")
    name = f"With {noun}" if key == YES else f"Without {noun}"
    return FacetValue(key, name, (Condition(field, (), negated=key == NO),))


def _band_value(field: str, key: str) -> FacetValue:
    (band,) = [one for one in bands(field) if one.text == key]
    name = value_name(ASKED[field].ask, band.numbers)
    # Two conditions: filters write the ends one by one, and no directive has a score of 0.
    ends = (Range(band.low, None), Range(None, band.numbers.high))
    return FacetValue(
        key, name[0].upper() + name[1:], tuple(Condition(field, (end,)) for end in ends if end != Range(None, None))
    )


def _month_value(field: str, key: str) -> FacetValue:
    year, _, month = key.partition("-")
    found = _month(int(year) * 12 + int(month) - 1)
    # A condition is strictly later than its time.
    later = Condition(field, (found.start_ms - 1,)), Condition(field, (found.end_ms - 1,), negated=True)
    return FacetValue(key, f"{calendar.month_name[int(month)]} {year}", later)


def _state_value(key: str) -> FacetValue | None:
    country, _, code = key.partition(_IN)
    value = f"{vocabulary().country_alpha2(country.upper())}-{code.upper()}"
    if vocabulary().resolve("state", value) != (value,):
        return None
    return FacetValue(value, display_name("state", value), (Condition("state", (value,)),))


def _term_value(field: str, term: str) -> FacetValue | None:
    ask = ASKED[field].ask
    if ask.vocabulary is None:
        raise TypeError(f"{field} is a term without a vocabulary")
    if not term:  # the index stores what is not known as an empty text
        return None
    meant = vocabulary().resolve(ask.vocabulary, term)
    for value in meant:
        if fold(value) == term:
            return FacetValue(value, display_name(ask.vocabulary, value), (Condition(field, (value,)),))
    # A condition on a text that is the alias of another value would find that one, and a closed list has no others.
    return None if meant or ask.closed else FacetValue(term, term, (Condition(field, (term,)),))
