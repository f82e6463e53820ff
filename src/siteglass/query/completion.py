"""Known values that complete what a caller has begun to write: by name, by a later word of it, by alias or code.

What is compared is folded, as the vocabulary folds it. Keys are sorted, so that all with the same prefix are adjacent.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from heapq import nsmallest
from itertools import chain
from threading import Lock
from typing import NamedTuple

from siteglass.query.fields import ASKED
from siteglass.query.folding import compact, fold, loose
from siteglass.query.trades import trades
from siteglass.query.values import clean
from siteglass.query.vocabulary import COMPACT_KINDS, Kind, vocabulary

# Where a later word of a name begins. An apostrophe parts no words.
_LATER_WORD = re.compile(r"(?<!^)[\s\-_/&.,(]+(?=[^\s\-_/&.,()])")


class KnownValue(NamedTuple):
    """The value for a filter, its display name, and what distinguishes it from others of that name."""

    value: str
    name: str
    country: str | None = None
    state: str | None = None
    categories: tuple[str, ...] = ()


class CompletedValue(NamedTuple):
    """A value that was found, and the alias that it was found by; None: by its name or by the value itself."""

    known: KnownValue
    alias: str | None


class Popularity(NamedTuple):
    """How often the values of a kind occur in leads, by their places; made by `popularity`."""

    fewest: Sequence[int]
    """The number of leads with each value, negated: sorted, the value of most leads comes first."""
    ranks: Sequence[int]
    """The rank of each value among all."""
    first: list[int]
    """The values in the order in which they are shown before anything is typed."""


DETAILS: dict[Kind, tuple[str, ...]] = {
    "state": ("country",),
    "city": ("country", "state"),
    "technology": ("categories",),
}
"""What else is shown for the values of a kind; those with a country can be narrowed to one."""


class CompletableField(NamedTuple):
    """A field whose values are known."""

    field: str
    kind: Kind


def _completable() -> dict[str, CompletableField]:
    named: dict[str, CompletableField] = {}
    for asked in ASKED.values():
        if asked.ask.vocabulary:
            one = CompletableField(asked.name, asked.ask.vocabulary)
            filters = (name for filter_ in asked.ask.filters for name in (filter_.name, filter_.alias))
            named.update({name: one for name in (asked.name, asked.ask.directive, asked.ask.alias, *filters) if name})
    return named


COMPLETABLE = _completable()
"""The fields by each of their names: their own, that of a filter, that of a directive."""


class _Keys:
    """Sorted keys, each with the place of a value and a text that goes with it."""

    def __init__(self, rows: Iterable[tuple[str, int, str]]) -> None:
        keys: list[str] = []
        places = array("I")
        texts: list[str] = []
        by_start: dict[str, list[int]] = {}
        for number, (key, place, text) in enumerate(rows):
            keys.append(key)
            places.append(place)
            texts.append(text)
            by_start.setdefault(key[:1], []).append(number)
        # Start by start: one sort of all names of cities would hold up the threads that answer others.
        order = [number for start in sorted(by_start) for number in sorted(by_start[start], key=keys.__getitem__)]
        self._keys = [keys[number] for number in order]
        self._places = array("I", [places[number] for number in order])
        self._texts = [texts[number] for number in order]

    def equal(self, key: str) -> dict[int, str]:
        """The values that have this key, each with its text."""
        low = bisect_left(self._keys, key)
        return self._between(low, bisect_right(self._keys, key, low))

    def beginning(self, key: str, within: set[int] | None) -> dict[int, str]:
        """The values that have a key which begins so, each with the text of the first such key."""
        low = bisect_left(self._keys, key)
        high = bisect_right(self._keys, key, low, key=lambda known: known[: len(key)])
        # One letter begins thousands of keys, and a small country has none of them.
        if within is not None and within.isdisjoint(self._places[low:high]):
            return {}
        return self._between(low, high)

    def _between(self, low: int, high: int) -> dict[int, str]:
        # Backwards: of several keys of a value the first one stays.
        return dict(zip(self._places[low:high][::-1], self._texts[low:high][::-1], strict=True))


class _Completer:
    """The values of one kind. A value's place in `known` is its rank among those that fit a text equally well."""

    def __init__(self, kind: Kind, known: Sequence[KnownValue], weights: Counter[str | None]) -> None:
        self._kind = kind
        self._known = known
        self._key: Callable[[str], str] = compact if kind in COMPACT_KINDS else loose
        self._names = _Keys((self._key(one.name), place, "") for place, one in enumerate(known))
        self._words = _Keys(self._later_words())
        self._others = _Keys(chain(self._codes(), self._aliases()))
        self._forms = _Keys(self._other_forms())
        self._first = sorted(range(len(known)), key=lambda place: -weights[known[place].value])
        self._first_of: dict[str | None, list[int]] = {}
        for place in self._first:
            self._first_of.setdefault(known[place].country, []).append(place)

    def _later_words(self) -> Iterator[tuple[str, int, str]]:
        for place, one in enumerate(self._known):
            folded = fold(one.name)
            for gap in _LATER_WORD.finditer(folded):
                yield self._key(folded[gap.end() :]), place, ""

    def _codes(self) -> Iterator[tuple[str, int, str]]:
        """Values that are codes, and shorter codes for them: DE for DEU, TX for US-TX."""
        for place, one in enumerate(self._known):
            if one.value == one.name:
                continue
            yield self._key(one.value), place, ""
            if self._kind == "state":
                code = one.value.partition("-")[2]
                yield self._key(code), place, code
            elif self._kind == "country" and (alpha2 := vocabulary().country_alpha2(one.value)):
                yield self._key(alpha2), place, alpha2

    def _aliases(self) -> Iterator[tuple[str, int, str]]:
        places: dict[str, list[int]] = {}
        for place, one in enumerate(self._known):
            places.setdefault(one.value, []).append(place)
        for alias, value in vocabulary().aliases(self._kind):
            key = compact(alias) if self._key is compact else alias  # that of a place is its key already
            for place in places[value]:
                yield key, place, alias

    def _other_forms(self) -> Iterator[tuple[str, int, str]]:
        """Other words for trades: only their keys are known, so they are never shown."""
        if self._kind == "trade":
            places = {one.value: place for place, one in enumerate(self._known)}
            for language in trades().languages:
                for key, value in trades().forms(language).items():
                    yield key, places[value], ""

    def popularity(self, count_of: Callable[[KnownValue], int]) -> Popularity:
        fewest = array("q", [-count_of(one) for one in self._known])
        # Sorts are stable: values with equal counts keep the order that they have without counts.
        ranks = array("I", bytes(4 * len(fewest)))
        for rank, place in enumerate(sorted(range(len(fewest)), key=fewest.__getitem__)):
            ranks[place] = rank
        return Popularity(fewest, ranks, sorted(self._first, key=fewest.__getitem__))

    def complete(
        self, text: str, limit: int, country: str | None, popularity: Popularity | None
    ) -> tuple[list[CompletedValue], bool]:
        text = clean(text)
        first = self._first if popularity is None else popularity.first
        if country is not None:
            first = self._first_of.get(country, [])
            if popularity is not None and not text:
                first = sorted(first, key=popularity.fewest.__getitem__)
        if not text:
            return [CompletedValue(self._known[place], None) for place in first[:limit]], len(first) > limit
        ranks = None if popularity is None else popularity.ranks
        within = None if country is None else set(first)
        found: dict[int, str] = {}
        for group in self._groups(text, within):
            _add(found, group, within, limit + 1, ranks)
            if len(found) > limit:
                break
        if len(found) < limit:
            _add(found, self._near(text), within, limit + 1, ranks)
        shown = [CompletedValue(self._known[place], alias or None) for place, alias in found.items()]
        return shown[:limit], len(shown) > limit

    def _groups(self, text: str, within: set[int] | None) -> Iterator[dict[int, str]]:
        """The values that fit, each with the alias it fits by; those that fit better come first."""
        key = self._key(text)
        if not key:
            return
        others = self._others.equal(key)
        named = [*self._names.equal(key), *(place for place, alias in others.items() if not alias)]
        # Names of different products may differ in case or punctuation only ("ip-api", "ipapi").
        forms: tuple[Callable[[str], str], ...] = (str, fold, self._key)
        for form in forms:
            yield {place: "" for place in named if form(text) in map(form, self._known[place][:2])}
        yield others
        yield self._forms.equal(key)
        yield self._names.beginning(key, within)
        yield self._words.beginning(key, within)
        yield self._others.beginning(key, within)
        yield self._forms.beginning(key, within)

    def _near(self, text: str) -> dict[int, str]:
        """The value that a misspelt text most resembles; several cities may have it."""
        value = vocabulary().nearest(self._kind, text)
        if value is None:
            return {}
        key = self._key(value)
        places = (*self._names.equal(key), *self._others.equal(key))
        return {place: "" for place in places if self._known[place].value == value}


def _add(
    found: dict[int, str], group: dict[int, str], within: set[int] | None, most: int, ranks: Sequence[int] | None
) -> None:
    """Add the foremost of a group that are not found yet, until there are `most`."""
    fresh = group.keys() - found.keys()
    if within is not None:
        fresh &= within
    for place in nsmallest(most - len(found), fresh, key=None if ranks is None else ranks.__getitem__):
        found[place] = group[place]


def _known(kind: Kind) -> list[KnownValue]:
    """The values of a kind: cities by population, others by name."""
    words = vocabulary()
    if kind == "city":
        # Two of one name in one state are one to a filter.
        return list(dict.fromkeys(_city(*city[:3]) for city in words.cities()))
    match kind:
        case "state":
            known = [_state(value) for value in words.values(kind)]
        case "technology":
            known = [KnownValue(value, value, categories=words.categories_of(value)) for value in words.values(kind)]
        case _:
            known = [KnownValue(value, display_name(kind, value)) for value in words.values(kind)]
    return sorted(known, key=lambda one: (fold(one.name), one.value))


def display_name(kind: Kind, value: str) -> str:
    """The name of a known value, as people read it."""
    words = vocabulary()
    match kind:
        case "country":
            return words.country_name(value)
        case "language":
            return words.language_name(value)
        case "state":
            return _state(value).name
        case "trade":
            return words.trade_name(value)
        case "category":
            return value.replace("_", " ")
        case _:
            return value


def _city(name: str, country: str, state: str) -> KnownValue:
    return KnownValue(name, name, country, f"{vocabulary().country_alpha2(country)}-{state}" if state else None)


def _state(value: str) -> KnownValue:
    alpha2, _, code = value.partition("-")
    country = vocabulary().country_alpha3(alpha2)
    return KnownValue(value, vocabulary().states_of(country or "")[code], country)


def _weights(kind: Kind) -> Counter[str | None]:
    """People in the known cities of countries and states; of other kinds nothing is known that weighs."""
    weights: Counter[str | None] = Counter()
    if kind in ("country", "state"):
        for city in vocabulary().cities():
            place = _city(*city[:3])
            weights[place.country if kind == "country" else place.state] += city.population
    return weights


_building = Lock()


@cache
def _completer(kind: Kind) -> _Completer:
    return _Completer(kind, _known(kind), _weights(kind))


def _built(kind: Kind) -> _Completer:
    with _building:
        return _completer(kind)


def popularity(kind: Kind, count_of: Callable[[KnownValue], int]) -> Popularity:
    """The order of the values of a kind by how many leads have them; `count_of` is called for every value."""
    return _built(kind).popularity(count_of)


def complete(
    kind: Kind, text: str, limit: int, country: str | None = None, popularity: Popularity | None = None
) -> tuple[list[CompletedValue], bool]:
    """The values that best fit a text, at most `limit`, and whether there are more; of blank text the first ones.

    Among values that fit equally well those come first that more leads have, where that is known. The first call of a
    kind sorts its keys, which for cities takes half a second.
    """
    return _built(kind).complete(text, limit, country, popularity)
