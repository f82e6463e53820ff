"""Which changes of a search are tried, and which of those that help are worth showing."""

from __future__ import annotations

from siteglass.query.criteria import Condition, Criteria
from siteglass.query.directives import parse
from siteglass.query.relaxations import (
    MAX_RELAXED,
    MAX_SHOWN,
    Relaxation,
    relaxations,
    single_relaxations,
    smallest,
)


def _drop(*clauses: object) -> Relaxation:
    return Relaxation(frozenset(clauses))  # type: ignore[arg-type]  # of a search of the test


def test_one_condition_less_each() -> None:
    search = parse("@country(USA)\n@has_email\n!@technology(Wix)")
    assert single_relaxations(search) == [_drop(clause) for clause in search.conditions]
    assert single_relaxations(parse("@has_email")) == []


def test_every_pair_of_a_short_search() -> None:
    search = parse("@country(USA)\n@has_email\n@has_phone\n!@technology(Wix)")
    tried = relaxations(search)
    assert len(tried) == len(set(tried))
    assert sum(len(one.dropped) == 1 for one in tried) == 4
    assert sum(len(one.dropped) == 2 for one in tried) == 6
    assert all(0 < len(one.dropped) < 4 for one in tried)


def test_known_values_for_unknown_ones() -> None:
    search = parse("@country(USA)\n@technology(shopfy, Wix, qqqqqq)")
    country, technology = search.conditions
    (replaced,) = [one for one in single_relaxations(search) if one.replaced]
    assert replaced.dropped == frozenset()
    assert replaced.apply(search) == parse('@country(USA)\n@technology(Shopify, Wix, "qqqqqq")')
    # Wix is known, so the condition may find something.
    assert _drop(country, technology) not in relaxations(search)


def test_what_nobody_knows_goes_first() -> None:
    """With two unknown conditions and another one that matches nothing, three must go."""
    search = parse('@country(USA)\n@technology("qqqqqq")\n@city("wwwwww")\n@has_email\n@keywords(zzzz)')
    unknown = {one for one in search.plain if one.field in ("city", "technologies")}
    (keywords,) = [one for one in search.plain if one.field == "keywords"]
    assert _drop(*unknown, keywords) in relaxations(search)


def test_the_number_of_changes_is_bounded() -> None:
    search = Criteria(tuple(Condition("keywords", (f"word {number:02}",)) for number in range(64)))
    assert len(relaxations(search)) < 100
    assert len(single_relaxations(search)) == MAX_RELAXED


def test_what_includes_a_smaller_change_is_not_shown() -> None:
    search = parse("@country(USA)\n@has_email\n@has_phone\n!@technology(Wix)")
    a, b, c, d = search.conditions
    totals = {_drop(a): 0, _drop(b): 7, _drop(a, b): 9, _drop(a, c): 3, _drop(c, d): 5, _drop(a, c, d): 6}
    assert smallest(totals) == [_drop(b), _drop(c, d), _drop(a, c)]


def test_a_known_value_is_a_smaller_change_than_one_condition_less() -> None:
    search = parse("@country(USA)\n@technology(shopfy)")
    technology = search.conditions[1]
    (replaced,) = [one for one in single_relaxations(search) if one.replaced]
    assert smallest({_drop(technology): 100, replaced: 1}) == [replaced]
    assert smallest({_drop(technology): 100, replaced: 0}) == [_drop(technology)]


def test_a_known_value_and_one_condition_less() -> None:
    search = parse("@country(USA)\n@technology(shopfy)\n@has_email")
    country = search.conditions[0]
    (replaced,) = [one for one in single_relaxations(search) if one.replaced]
    both = Relaxation(frozenset((country,)), replaced.replaced)
    assert both in relaxations(search)
    assert both.apply(search) == parse("@technology(Shopify)\n@has_email")
    assert smallest({_drop(country): 1, both: 2}) == [_drop(country)]
    assert smallest({replaced: 0, both: 2}) == [both]


def test_longer_searches_lose_more_and_more_conditions() -> None:
    search = Criteria(tuple(Condition("keywords", (f"word {number}",)) for number in range(6)))
    kept = {frozenset(search.conditions) - one.dropped for one in relaxations(search)}
    assert {frozenset(search.conditions[:count]) for count in range(1, 6)} <= kept
    assert {frozenset((clause,)) for clause in search.conditions} <= kept


def test_no_more_are_shown_than_people_read() -> None:
    search = Criteria(tuple(Condition("keywords", (f"word {number}",)) for number in range(9)))
    assert len(smallest({_drop(clause): 1 for clause in search.conditions})) == MAX_SHOWN
