"""`require`: words of a sentence become keywords, whatever else they could mean."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from siteglass.query.natural.wishes import WISHES
from testing.api_calls import INTERPRET, answered
from tests.api.interpret.test_200 import read

HIRING = "dentists hiring hygienists in Ohio"


def _keywords(reading: dict[str, Any]) -> list[str]:
    return [one["directive"] for one in reading["conditions"] if one["directive"].startswith("@keywords")]


@pytest.mark.promise("search.require")
def test_a_word_that_is_reported_can_be_required(own: httpx.Client) -> None:
    before = read(own, {"query": HIRING})
    assert [note["message"] for note in before["unsupported"]] == [WISHES["hiring"]]
    assert _keywords(before) == []
    after = read(own, {"query": HIRING, "require": ["hiring", "Hygienists"]})
    assert after["unsupported"] == []
    assert _keywords(after) == ["@keywords(hiring)", "@keywords(hygienists)"]
    assert after["confidence"] > before["confidence"]
    answered(own.post(INTERPRET, json={"query": HIRING, "require": ["hiring", "hygienists"], "strict": True}))


@pytest.mark.parametrize(
    ("query", "require", "keyword"),
    [
        ("shops in Turkey with analytics", ["analytics"], "@keywords(analytics)"),
        ("vegan, gluten-free bakeries", ["gluten-free"], "@keywords(gluten free)"),
        ("we sell payroll software to dentists", ["payroll software"], "@keywords(payroll software)"),
        ("SHOPS WITH ORGANIC\nTEA IN PERU", ["organic\ntea"], "@keywords(organic tea)"),
    ],
)
def test_a_required_phrase_has_no_other_meaning(
    own: httpx.Client, query: str, require: list[str], keyword: str
) -> None:
    assert keyword in _keywords(read(own, {"query": query, "require": require}))
    assert _keywords(read(own, {"query": query, "require": []})) != [keyword]
