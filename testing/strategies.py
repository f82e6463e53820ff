"""Hypothesis strategies: random conditions, criteria and search bodies over everything the catalogue offers."""

from __future__ import annotations

import datetime as dt
import functools
from typing import Any

from hypothesis import strategies as st

from siteglass.query.criteria import AnyOf, Change, Clause, Condition, Criteria, Range, Value, criteria, name_in
from siteglass.query.directives import size_problem
from siteglass.query.field import Form, Kind, SearchableField
from siteglass.query.fields import ASKED
from siteglass.query.values import ValueProblem, moment_text, read_value
from siteglass.query.vocabulary import vocabulary

NOW_MS = 1_793_500_000_000
_DAYS = (dt.date(1970, 1, 1), dt.date(2149, 6, 6))

# Letters, blanks and every character that means something in the language.
TEXT = st.text("abcXYZ éßİ日本中ø0189 ,()\"\\#!@/?&-_.'+<>=", min_size=1, max_size=24)


def _readable(asked: SearchableField, text: str) -> tuple[Value, ...]:
    try:
        return read_value(asked.ask, text, quoted=True)
    except ValueProblem:
        return ()


def ranges(low: int, high: int) -> st.SearchStrategy[Range]:
    """Every form a number condition can have inside these bounds."""
    number = st.integers(low, high)
    return st.one_of(
        number.map(lambda n: Range(n, None, above=True)),
        number.map(lambda n: Range(None, n, below=True)),
        number.map(lambda n: Range(n, None)),
        number.map(lambda n: Range(None, n)),
        number.map(lambda n: Range(n, n)),
        st.tuples(number, number).map(lambda pair: Range(min(pair), max(pair))),
    )


def _windows(*, ages: bool) -> st.SearchStrategy[tuple[int, bool]]:
    """When technologies changed: since a day, or within some days before the search."""
    days = st.integers(0, 2**16 - 1).map(lambda day: (day, True))
    return st.one_of(days, st.integers(1, 3650).map(lambda age: (age, False))) if ages else days


@functools.cache
def _values(name: str, *, ages: bool) -> st.SearchStrategy[tuple[Value, ...]]:
    asked = ASKED[name]
    ask = asked.ask
    match ask.kind:
        case Kind.FLAG:
            return st.just(())
        case Kind.NUMBER:
            return ranges(*(ask.directive_bounds or ask.bounds)).map(lambda value: (value,))
        case Kind.TIME:
            return st.integers(0, 2**41).map(lambda ms: (ms,))
        case Kind.AGE:
            return st.integers(1, 3650).map(lambda days: (days,))
        case Kind.TEXT | Kind.PATH:
            return TEXT.map(lambda text: _readable(asked, text)).filter(bool)
        case Kind.TERM | Kind.LACKS | Kind.CHANGE:
            assert ask.vocabulary
            known: st.SearchStrategy[tuple[Value, ...]] = st.sampled_from(vocabulary().values(ask.vocabulary)).map(
                lambda text: _readable(asked, text)
            )
            if ask.closed:
                return known.filter(bool)
            names = st.one_of(known, TEXT.map(lambda text: _readable(asked, text))).filter(bool)
            if ask.kind is not Kind.CHANGE:
                return names
            return st.tuples(names, _windows(ages=ages)).map(
                lambda pair: tuple(Change(name_in(value), *pair[1]) for value in pair[0])
            )


@functools.cache
def _conditions_on(name: str, *, ages: bool) -> st.SearchStrategy[Condition]:
    if ASKED[name].ask.kind is Kind.FLAG:
        return st.booleans().map(lambda negated: Condition(name, (), negated))
    some = st.lists(_values(name, ages=ages), min_size=1, max_size=4)
    several = some.map(lambda found: tuple(v for f in found for v in f))
    return st.tuples(several, st.booleans()).map(lambda pair: Condition(name, pair[0], pair[1]))


# Made once, like those below: hypothesis looks over every new strategy.
@functools.cache
def conditions(*, ages: bool = True) -> st.SearchStrategy[Condition]:
    """A random condition that directives can say."""
    fields = [asked.name for asked in ASKED.values() if ages or asked.ask.kind is not Kind.AGE]
    return st.sampled_from(fields).flatmap(lambda name: _conditions_on(name, ages=ages))


@functools.cache
def alternatives(*, ages: bool = True) -> st.SearchStrategy[AnyOf]:
    """Random branches, not brought into canonical form; often with the same conditions in several of them."""
    some = st.lists(conditions(ages=ages), min_size=1, max_size=3)

    @st.composite
    def drawn(draw: st.DrawFn) -> AnyOf:
        condition = st.sampled_from(draw(some)) | conditions(ages=ages)
        branches = draw(st.lists(st.lists(condition, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4))
        return AnyOf(tuple(branches), draw(st.booleans()))

    return drawn()


@functools.cache
def clauses(*, ages: bool = True) -> st.SearchStrategy[Clause]:
    """A random condition, or random alternatives."""
    return st.one_of(conditions(ages=ages), conditions(ages=ages), alternatives(ages=ages))


def small(criteria: Criteria) -> bool:
    """Inside the size of a search, with room for the echo's own escapes."""
    return size_problem(criteria) is None and criteria.value_count < 60


def said_by_directives() -> st.SearchStrategy[Criteria]:
    """Random criteria that directive text can say."""
    return st.lists(clauses(), max_size=5).map(criteria).filter(small)


_SCORES = st.integers(0, 100)
_SCORE_RANGES = ranges(0, 100).filter(lambda r: r.low in (None, r.high) or r.high is None)
_UP_TO_FIVE = st.lists(clauses(ages=False), max_size=5)


@st.composite
def any_criteria(draw: st.DrawFn) -> Criteria:
    """Random criteria, scores outside the directive's range among them: one for each filter that can say them."""
    made = draw(_UP_TO_FIVE)
    low, high = sorted((draw(_SCORES), draw(_SCORES)))
    if draw(st.booleans()):
        made.append(Condition("score", (Range(low, None),)))
    if draw(st.booleans()):
        made.append(Condition("score", (Range(None, high),)))
    if draw(st.booleans()):
        made.append(Condition("score", (draw(_SCORE_RANGES),)))
    whole = criteria(made)
    return whole if small(whole) else Criteria()


def _filter_value(asked: SearchableField, form: Form) -> st.SearchStrategy[Any]:
    ask = asked.ask
    low, high = max(ask.bounds[0], 0), min(ask.bounds[1], 200_000)
    number = st.integers(low, high)
    match form:
        case Form.SWITCH:
            return st.booleans()
        case Form.MIN | Form.MAX:
            return number
        case Form.SPAN:
            return st.one_of(
                number.map(lambda n: f"greater than {n}"),
                number.map(lambda n: f"{n}+"),
                st.tuples(number, number).map(lambda pair: f"{min(pair)} - {max(pair)}"),
            )
        case Form.COMPARISON:
            operator = st.sampled_from(["<", ">", "<=", ">=", "=", "less than ", "Greater Than "])
            return st.tuples(operator, number).map(lambda pair: f"{pair[0]}{pair[1]}")
        case Form.MOMENT:
            return st.integers(1_700_000_000_000, NOW_MS).map(moment_text)
        case Form.MANY if ask.kind is Kind.CHANGE:
            names = st.lists(st.sampled_from(vocabulary().values("technology")), min_size=1, max_size=3)
            window = st.one_of(st.integers(1, 3650).map(lambda days: f"{days}d"), st.dates(*_DAYS).map(str))
            return st.tuples(names, window).map(lambda pair: [*pair[0], pair[1]])
        case Form.ONE | Form.MANY:
            if ask.vocabulary:
                text: st.SearchStrategy[str] = st.sampled_from(vocabulary().values(ask.vocabulary))
            else:
                text = st.sampled_from(["/pricing", "Contact/", "dentist", "vegan food", "blog", "café"])
            return text if form is Form.ONE else st.lists(text, min_size=1, max_size=3)


def filter_bodies(max_filters: int = 5) -> st.SearchStrategy[dict[str, Any]]:
    """Random bodies of filters, as a caller might send them."""
    options = {
        filter_.name: _filter_value(asked, filter_.form) for asked in ASKED.values() for filter_ in asked.ask.filters
    }

    some_names = st.lists(st.sampled_from(sorted(options)), max_size=max_filters, unique=True)

    @st.composite
    def body(draw: st.DrawFn) -> dict[str, Any]:
        names = draw(some_names)
        made = {name: draw(options[name]) for name in names}
        for low, high in (("min_score", "max_score"), ("min_spending", "max_spending")):
            if low in made and high in made and made[low] > made[high]:
                made[low], made[high] = made[high], made[low]
        return made

    return body()
