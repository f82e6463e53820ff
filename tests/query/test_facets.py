"""Keys of the index as values: names for people, and conditions that can be sent."""

from __future__ import annotations

import itertools

import pytest

from siteglass.query.criteria import Criteria, criteria
from siteglass.query.directives import parse
from siteglass.query.facets import bands, facet_value, months, without_selection
from siteglass.query.fields import ASKED, FACETS
from siteglass.query.filters import write_filters
from testing.strategies import NOW_MS


@pytest.mark.parametrize(
    ("field", "key", "value", "name", "filters"),
    [
        ("country", "usa", "USA", "United States", {"country": "USA"}),
        ("state", "usa tx", "US-TX", "Texas", {"state": "US-TX"}),
        ("city", "munich", "Munich", "Munich", {"city": "Munich"}),
        ("city", "sao paulo", "São Paulo", "São Paulo", {"city": "São Paulo"}),
        ("city", "nowhere at all", "nowhere at all", "nowhere at all", {"city": "nowhere at all"}),
        ("technologies", "wordpress", "WordPress", "WordPress", {"technologies": ["WordPress"]}),
        ("language", "de", "de", "German", {"language": "de"}),
        ("service_type", "local business", "Local Business", "Local Business", {"service_type": "Local Business"}),
        ("categories_uses", "email_marketing", "email_marketing", "email marketing", None),
        ("trades", "pest_control", "pest_control", "Pest control", {"wrapped_query": "@trade(pest_control)"}),
        ("score", "0-9", "0-9", "0 to 9", {"min_score": 0, "max_score": 9}),
        ("score", "90+", "90+", "At least 90", {"min_score": 90}),
        ("spending", "100-499", "100-499", "$100 to $499", {"min_spending": 100, "max_spending": 499}),
        ("has_phone", "yes", "yes", "With a phone number", {"has_phone": True}),
        ("has_phone", "no", "no", "Without a phone number", {"wrapped_query": "!@has_phone"}),
        (
            "crawled_at",
            "2026-12",
            "2026-12",
            "December 2026",
            {
                "updated_after": "2026-11-30T23:59:59.999Z",
                "wrapped_query": "!@updated_after(2026-12-31T23:59:59.999Z)",
            },
        ),
    ],
)
def test_values(field: str, key: str, value: str, name: str, filters: dict[str, object] | None) -> None:
    found = facet_value(field, key)
    assert found is not None
    assert (found.value, found.name) == (value, name)
    if filters is not None:
        assert write_filters(criteria(found.conditions)) == filters


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("country", ""),  # what is not known is stored as an empty text
        ("country", "zzz"),  # nothing in a closed list has this name, so no condition finds it
        ("state", "usa zz"),
        ("state", "usa "),
        ("state", " tx"),
        ("trades", "no_such_trade"),
        ("city", "munchen"),  # a condition on it would find Munich
    ],
)
def test_keys_that_cannot_be_searched_for(field: str, key: str) -> None:
    assert facet_value(field, key) is None


def test_bands_cover_every_number_once() -> None:
    for field in ("score", "spending"):
        ranges = [band.numbers for band in bands(field)]
        for number in (0, 1, 9, 10, 89, 90, 99, 100, 4_999, 5_000, 10**9):
            assert sum(numbers.holds(number) for numbers in ranges) == 1, (field, number)


def test_months_run_backwards_over_years() -> None:
    some = list(months(NOW_MS, 14))
    assert [month.text for month in some[:2]] != sorted(month.text for month in some[:2])
    for later, earlier in itertools.pairwise(some):
        assert earlier.end_ms == later.start_ms
    assert some[0].start_ms <= NOW_MS < some[0].end_ms
    assert some[0].text[5:] == some[12].text[5:]


def test_a_facet_ignores_only_what_is_said_of_its_own_field() -> None:
    search = parse("@country(USA)\n!@country(CAN)\n@state(TX)\n@any[ @country(USA) | @has_email ]")
    assert without_selection(search, "country") == parse("@state(TX)\n@any[ @country(USA) | @has_email ]")
    assert without_selection(search, "city") == search
    assert without_selection(Criteria(), "city") == Criteria()


def test_every_facet_can_be_counted_by_the_engine() -> None:
    from siteglass.index.mapping import properties

    mapped = properties()
    for field in FACETS:
        ask = ASKED[field].ask
        if ask.vocabulary:
            assert mapped[ask.index].get("doc_values", True), field
