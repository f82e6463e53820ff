"""The numbers that say which technology changed when: they are permanent. Filters and directives ask for them."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siteglass.errors import BadRequest
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Change, Condition
from siteglass.query.cursor import Continuation, CursorSealer, Position
from siteglass.query.directives import parse, print_criteria
from siteglass.query.notes import find_notes
from siteglass.query.relaxations import single_relaxations
from siteglass.query.technology_changes import (
    DAYS_PER_TECHNOLOGY,
    changes_since,
    decode_change,
    encode_change,
    numbered_technologies,
)
from siteglass.query.vocabulary import vocabulary

DAY_MS = 86_400_000
NOW_MS = 20_774 * DAY_MS + 1  # 2026-11-17

# How many technologies had a number, and the digest of their names in that order. Rows are only ever added: leads are
# stored with these numbers, so no technology may lose its number or get another's.
PINNED = {
    3_906: "c1c7a6c4bc59241f67c322e87841ac31ba9a95241532af90eb24cc0cf78ec58e",
}

names = st.sampled_from(numbered_technologies())
days = st.integers(0, DAYS_PER_TECHNOLOGY - 1)


@pytest.mark.parametrize("count", PINNED)
def test_numbers_never_change(count: int) -> None:
    first = numbered_technologies()[:count]
    assert len(first) == count
    assert hashlib.sha256("\n".join(first).encode()).hexdigest() == PINNED[count]


def test_every_technology_has_its_own_number() -> None:
    assert len(set(numbered_technologies())) == len(numbered_technologies()) == max(PINNED)
    assert set(vocabulary().values("technology")) <= set(numbered_technologies())
    assert encode_change(numbered_technologies()[0], 0) == DAYS_PER_TECHNOLOGY
    assert encode_change("Klaviyo", 20_774) == 106_713_382


@given(names, days)
def test_a_number_says_what_it_was_made_from(technology: str, day: int) -> None:
    number = encode_change(technology, day)
    assert 0 < number < 2**63
    assert decode_change(number) == (technology, day)


@given(names, days, names, days)
def test_one_range_has_the_changes_of_a_technology_since_a_day(asked: str, since: int, changed: str, day: int) -> None:
    numbers = changes_since(asked, since)
    assert numbers
    for technology in (asked, changed):
        assert (numbers.first <= encode_change(technology, day) < numbers.end) == (technology == asked and day >= since)


def test_what_is_outside_has_no_number() -> None:
    assert changes_since("Frobnicator", 0) is None
    with pytest.raises(KeyError):
        encode_change("Frobnicator", 0)
    for day in (-1, DAYS_PER_TECHNOLOGY):
        with pytest.raises(ValueError, match="expected a day"):
            encode_change("Klaviyo", day)
    for number in (0, DAYS_PER_TECHNOLOGY - 1, (len(numbered_technologies()) + 1) * DAYS_PER_TECHNOLOGY):
        with pytest.raises(ValueError, match="no technology has the number"):
            decode_change(number)


def test_days_before_the_search_are_fixed_to_a_date() -> None:
    fixed = parse("@added(Klaviyo, 30d)\n!@dropped(Magento, 1d)").fixed_at(NOW_MS)
    assert print_criteria(fixed) == "@added(Klaviyo, 2026-10-18)\n!@dropped(Magento, 2026-11-16)"
    assert fixed.fixed_at(NOW_MS + 5 * DAY_MS) == fixed
    inside = parse("@any[ @added(Klaviyo, 30d) @has_phone | @has_email ]").fixed_at(NOW_MS)
    assert inside == parse("@any[ @added(Klaviyo, 2026-10-18) @has_phone | @has_email ]")


def test_a_filter_is_what_is_in_the_parentheses() -> None:
    body = {"added": ["klaviyo", "mail chimp", " 30D "], "dropped": ["Magento", "2026-09-01"]}
    meaning = read_meaning(body, NOW_MS)
    assert print_criteria(meaning.said) == "@added(Klaviyo, MailChimp, 30d)\n@dropped(Magento, 2026-09-01)"
    assert print_criteria(meaning.criteria) == "@added(Klaviyo, MailChimp, 2026-10-18)\n@dropped(Magento, 2026-09-01)"
    assert meaning.filters == {**body, "added": ["klaviyo", "mail chimp", "2026-10-18"]}


def test_later_pages_search_since_the_same_day() -> None:
    first = read_meaning({"added": ["Klaviyo", "30d"], "wrapped_query": "@dropped(Magento, 90d)"}, NOW_MS)
    sealer = CursorSealer(["s" * 32], 72 * 3_600)
    page = Continuation(first.filters, None, "-score", 10, Position(1, "a.example"), 1, 0, "0" * 32)
    opened = sealer.open(sealer.seal(page, "account", 1), "account", 1)
    later = read_meaning(opened.filters, NOW_MS + 3 * DAY_MS)
    assert later.criteria == first.criteria
    assert later.filters == first.filters == {"added": ["Klaviyo", "2026-10-18"], "wrapped_query": SINCE_AUGUST}


SINCE_AUGUST = "@dropped(Magento, 2026-08-19)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["Klaviyo"], "as the last value, found 'Klaviyo'"),
        (["30d"], "expected a technology before 30d"),
        (["Klaviyo", 30], "expected a string, found a number"),
        ("Klaviyo, 30d", '; write ["Klaviyo", "30d"]'),
    ],
)
def test_a_wrong_filter_is_explained(value: object, message: str) -> None:
    with pytest.raises(BadRequest) as raised:
        read_meaning({"added": value}, NOW_MS)
    (problem,) = raised.value.problems
    assert problem.field == "added"
    assert message in problem.message


def test_a_technology_that_nobody_knows_has_no_history_and_the_answer_says_so() -> None:
    search = parse("@added(Klavyo, Drip, 30d)")
    (note,) = find_notes(search)
    assert note.message == "'klavyo' is not a known technology, so it has no history"
    assert note.nearest()[0] == "Klaviyo"
    replaced = [one.by for change in single_relaxations(parse("@added(Klavyo, Drip, 30d)\n@has_phone"))
                for one in change.replaced]  # fmt: skip
    assert replaced == [Condition("added", (Change("Drip", 30), Change("Klaviyo", 30)))]
    (note,) = find_notes(parse("@dropped(crm, 30d)"))
    assert note.message == "'crm' is a software category, and only technologies have a history"
