"""What a caller should know before trusting a search: the same in the interpretation, in headers and in strict mode."""

from __future__ import annotations

from urllib.parse import unquote

import httpx
import pytest

from testing.api_calls import DIAGNOSE, FACETS, INTERPRET, SEARCH, answered, refused

THREE = "dentsts in Austin that are hiring, no Foobarix"


@pytest.mark.promise("query.doubts")
def test_three_problems_are_named_everywhere(own: httpx.Client) -> None:
    reading = answered(own.post(INTERPRET, json={"query": THREE}))
    assert reading["summary"] == (
        'Dentists in Austin, US · "dentsts" read as dentists · not used: "that are hiring", "no Foobarix"'
    )
    assert reading["needs_review"] is True
    page = own.post(SEARCH, json={"query": THREE, "explain": True})
    assert answered(page)["interpretation"]["summary"] == reading["summary"]
    for response in (page, own.post(FACETS, json={"query": THREE}), own.post(DIAGNOSE, json={"query": THREE})):
        unused = [unquote(one) for one in response.headers["x-query-unused"].split(", ")]
        assert unused == ["that are hiring", "no Foobarix"]
        assert response.headers["x-query-corrected"] == "dentsts=dentists"
        assert int(response.headers["x-query-notes"]) >= 3
    details = refused(own.post(SEARCH, json={"query": THREE, "strict": True}), 400, "INVALID_QUERY")
    assert [detail["column"] for detail in details] == [1, 19, 36]


@pytest.mark.promise("query.doubts")
@pytest.mark.parametrize("query", ["dentists in Austin", "agencies in London, not on Wix"])
def test_a_clear_sentence_has_no_such_headers(own: httpx.Client, query: str) -> None:
    response = own.post(SEARCH, json={"query": query})
    assert response.headers["x-query-notes"] == "0"
    assert not {"x-query-unused", "x-query-corrected"} & set(response.headers)
    reading = answered(own.post(INTERPRET, json={"query": query}))
    assert (reading["needs_review"], reading["summary"]) == (False, reading["read_back"])


@pytest.mark.parametrize(
    ("query", "review"),
    [
        ("dentists in Austin that are hiring", False),  # nothing is excluded, and the rest is sure
        ("dentists in Austin, no foobarix", True),
        ("dentists in Austin without blorptech or quuxware", True),
        ("dentists in Austin, but never", True),
        ("dentists in Austin, any size is fine", False),
    ],
)
def test_an_exclusion_that_was_not_used_needs_a_review(own: httpx.Client, query: str, review: bool) -> None:
    assert answered(own.post(INTERPRET, json={"query": query}))["needs_review"] is review


def test_headers_are_percent_encoded_and_short(own: httpx.Client) -> None:
    query = "dentists in Austin, " + ", ".join(f"ohne Grüße{'ß' * 20}{number}" for number in range(20))
    response = own.post(SEARCH, json={"query": query})
    assert response.status_code == 200
    words = response.headers["x-query-unused"]
    assert words.isascii()
    assert 500 < len(words) <= 1_000
    assert "Grüße" in unquote(words)


def test_one_long_word_does_not_empty_the_header(own: httpx.Client) -> None:
    response = own.post(SEARCH, json={"query": f"dentists in Austin, ohne {'ß' * 300}"})
    assert len(response.headers["x-query-unused"]) <= 1_000
    assert unquote(response.headers["x-query-unused"]).startswith("ohne ßßß")


@pytest.mark.parametrize(
    ("query", "directives"),
    [
        ("businesses in Ohio excluding agencies and non-profits", ["!@service_type(Agency, Non-Profit)"]),
        ("businesses in Ohio excl. Cleveland", ["!@city(Cleveland)"]),
        ("businesses in Ohio, max. 5k ad spend", ["@spends(<=5000)"]),
    ],
)
def test_what_is_excluded_or_limited_is_not_demanded(own: httpx.Client, query: str, directives: list[str]) -> None:
    reading = answered(own.post(INTERPRET, json={"query": query}))
    assert [one for one in reading["directives"] if one not in ("@country(USA)", "@state(OH)")] == directives


@pytest.mark.parametrize("text", ["@technology(athenahealth)", "!@technology(athenahealth)"])
def test_a_technology_without_a_rule_is_noted_wherever_it_is_asked_for(own: httpx.Client, text: str) -> None:
    for path in (SEARCH, FACETS, DIAGNOSE, INTERPRET):
        assert own.post(path, json={"wrapped_query": text}).headers["x-query-notes"] == "1", path
    (note,) = answered(own.post(INTERPRET, json={"wrapped_query": text}))["notes"]
    assert "no rule detects athenahealth on web pages" in note["message"]
