"""Criteria survive printing: as a body, as directive text, and inside a cursor."""

from __future__ import annotations

import datetime as dt
import os
import random
import re
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siteglass.errors import BadRequest, CursorExpired, InvalidCursor
from siteglass.query.body import read_meaning
from siteglass.query.criteria import AnyOf, Clause, Condition, Criteria, criteria
from siteglass.query.cursor import MAX_CURSOR_CHARS, Continuation, CursorSealer, Position
from siteglass.query.directives import parse, print_criteria
from siteglass.query.fields import SEARCH_SELECTABLE
from siteglass.query.filters import write_filters
from testing.strategies import NOW_MS, any_criteria, clauses, filter_bodies, said_by_directives

SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
RESULT_ID = "0f3c2a51-7f0e-4c8e-9a57-3d2b1c4e5f60"
SECRET, OLD_SECRET = "s" * 32, "o" * 32

# How many random searches each round trip is tried with, times the factor of `make long-roundtrip`.
FACTOR = 25 if os.environ.get("SITEGLASS_LONG") else 1

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


@settings(max_examples=200 * FACTOR, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(any_criteria())
def test_criteria_printed_as_a_body_read_the_same(made: Criteria) -> None:
    assert read_meaning(write_filters(made), NOW_MS).criteria == made


@settings(max_examples=200 * FACTOR, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(said_by_directives())
def test_criteria_printed_as_directives_read_the_same(made: Criteria) -> None:
    assert parse(print_criteria(made)) == made


@settings(max_examples=200 * FACTOR, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(st.lists(clauses(), max_size=3))
def test_canonical_criteria_stay_as_they_are(drawn: list[Clause]) -> None:
    made = criteria(drawn)
    assert criteria(made.conditions) == made
    assert criteria(reversed(drawn)) == made
    for clause in made.conditions:
        if isinstance(clause, AnyOf):
            assert (len(clause.branches) > 1) != clause.negated
            assert all(clause.branches)
            assert not clause.negated or len(clause.branches[0]) > 1


def test_empty_alternatives_are_a_mistake_of_the_caller() -> None:
    for branches in ((), ((),), ((Condition("has_phone"),), ())):
        with pytest.raises(ValueError, match="at least one"):
            criteria([AnyOf(branches)])


@settings(max_examples=60 * FACTOR, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(filter_bodies(), said_by_directives())
def test_the_echo_repeats_the_search_and_keeps_filters_as_sent(body: dict[str, object], made: Criteria) -> None:
    sent = {**body, "wrapped_query": print_criteria(made)}
    first = read_meaning(sent, NOW_MS)
    again = read_meaning(first.filters, NOW_MS + 86_400_000)
    assert again.criteria == first.criteria
    assert again.filters == first.filters
    for name, value in body.items():
        if value is not False:
            assert first.filters[name] == (with_date(value) if name in ("added", "dropped") else value)


def with_date(values: object) -> list[str]:
    """What is echoed of technologies and a window: days before the search are a date."""
    assert isinstance(values, list)
    *names, window = values
    days = re.fullmatch(r"(\d+)d", window)
    today = dt.datetime.fromtimestamp(NOW_MS / 1000, dt.UTC).date()
    return [*names, str(today - dt.timedelta(days=int(days[1]))) if days else window]


def _continuation(filters: dict[str, object], domain: str = "example.com") -> Continuation:
    select = SEARCH_SELECTABLE
    position = Position(2**62, domain, True, 2**55)
    return Continuation(filters, select, "-crawled_at", 100, position, 300_000_000, 19_000_000, RESULT_ID)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(any_criteria())
def test_a_cursor_carries_the_whole_search(made: Criteria) -> None:
    continuation = _continuation(write_filters(made))
    cursor = CursorSealer([SECRET], 60).seal(continuation, "7", 1_000)
    assert CursorSealer([SECRET], 60).open(cursor, "7", 1_060) == continuation


@pytest.mark.parametrize(
    "letters", ["abcdefghijklmnopqrstuvwxyz", string.printable[:94], "日本語中文字漢海山川" * 3, "éßøñçåüöäłżź"]
)
@pytest.mark.parametrize("values", [53, 196])
def test_the_largest_search_fits_a_cursor(letters: str, values: int) -> None:
    choose = random.Random(1)
    words: list[str] = []
    while len(words) < values:
        words.append("".join(choose.choice(letters) for _ in range(3_900 // values // len(letters[0].encode()) - 2)))
    bodies = ({"keywords": words}, {"keywords": words[::2], "wrapped_query": f"@keywords({_quoted(words[1::2])})"})
    for body in bodies:
        try:
            meaning = read_meaning(body, NOW_MS)
        except BadRequest:
            assert letters == string.printable[:94]  # every other character needs an escape
            continue
        cursor = CursorSealer([SECRET], 60).seal(_continuation(meaning.filters, "d" * 253), "7" * 20, 2**31)
        assert len(cursor) <= MAX_CURSOR_CHARS


def _quoted(words: list[str]) -> str:
    return ", ".join('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in words)


def test_a_cursor_ends_with_its_life() -> None:
    sealer = CursorSealer([SECRET], 60)
    cursor = sealer.seal(_continuation({}), "7", 1_000)
    with pytest.raises(CursorExpired):
        sealer.open(cursor, "7", 1_061)


def test_a_cursor_survives_rotation_of_the_secret_once() -> None:
    continuation = _continuation({"country": "USA"})
    cursor = CursorSealer([OLD_SECRET], 60).seal(continuation, "7", 1_000)
    assert CursorSealer([SECRET, OLD_SECRET], 60).open(cursor, "7", 1_000) == continuation
    with pytest.raises(InvalidCursor):
        CursorSealer([SECRET], 60).open(cursor, "7", 1_000)


def test_a_cursor_of_another_account_is_invalid() -> None:
    sealer = CursorSealer([SECRET], 60)
    with pytest.raises(InvalidCursor):
        sealer.open(sealer.seal(_continuation({}), "7", 1_000), "8", 1_000)


@settings(max_examples=100 * FACTOR, deadline=None)
@given(st.data())
def test_no_changed_cursor_is_accepted(data: st.DataObject) -> None:
    sealer = CursorSealer([SECRET], 60)
    cursor = sealer.seal(_continuation({"country": "USA"}), "7", 1_000)
    position = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.characters(codec="ascii").filter(lambda char: char != cursor[position]))
    changed = data.draw(
        st.sampled_from([cursor[:position] + other + cursor[position + 1 :], cursor[:position], cursor + other])
    )
    with pytest.raises(InvalidCursor):
        sealer.open(changed, "7", 1_000)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="32 characters"):
        CursorSealer(["short"], 60)
