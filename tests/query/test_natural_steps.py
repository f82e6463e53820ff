"""How much work a sentence may make: a hostile one is refused, and a long list of names is read."""

from __future__ import annotations

from datetime import date

import pytest

from siteglass.errors import QueryError
from siteglass.query.natural import MAX_QUERY_CHARS, interpret, units_of

TODAY = date(2026, 9, 1)


def repeated(words: str) -> str:
    return (words * MAX_QUERY_CHARS)[:MAX_QUERY_CHARS]


@pytest.mark.parametrize("words", ["1 or ", "1 or 2 ", "email or ", "1|2|"])
def test_a_sentence_that_takes_too_many_steps_is_refused_with_what_to_do(words: str) -> None:
    with pytest.raises(QueryError, match="send filters such as `country` and `technologies`") as raised:
        interpret(repeated(words), TODAY)
    assert [problem.field for problem in raised.value.problems] == ["query"]


@pytest.mark.parametrize(
    "words", ["Shopify or ", "in Texas or ", "dentists, roofers or ", "switched from Wix to Shopify ", "Berlin "]
)
def test_long_lists_are_read(words: str) -> None:
    assert interpret(repeated(words), TODAY).directives


def test_a_query_takes_a_unit_for_each_200_characters_begun() -> None:
    assert [units_of("x" * chars) for chars in (0, 1, 200, 201, 400, 401, 1_000)] == [1, 1, 1, 2, 2, 3, 5]
