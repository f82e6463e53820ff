"""`strict`: what was not surely understood is refused, with the words and their places, and costs nothing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from siteglass.query.natural.accounting import NOT_USED
from siteglass.query.natural.wishes import WISHES
from testing.api_calls import INTERPRET, SEARCH, answered, refused, search
from testing.customers import IN_ORDER, STOCK, Bank, marks

ORDER = "a sentence cannot ask for an order; send `sort`"


def _at(column: int, message: str, line: int = 1, **more: str) -> dict[str, Any]:
    return {"field": "query", "message": message, "line": line, "column": column, **more}


@pytest.mark.promise("search.strict", "query.strict_free", "error.INVALID_QUERY")
@pytest.mark.parametrize(
    ("body", "details"),
    [
        ({"query": "outdated sites in Germany"}, [_at(1, "'outdated': a lead has no field for this")]),
        ({"query": "sites in Peru, best ones first"}, [_at(16, f"'best ones first': {ORDER}")]),
        (
            {"query": "shopfy stores in\n germny"},
            [
                _at(1, "'shopfy' is not a known word; did you mean 'shopify'?", nearest="shopify"),
                _at(2, "'germny' is not a known word; did you mean 'germany'?", 2, nearest="germany"),
            ],
        ),
        (
            {"query": "stores in Texas", "country": "FRA"},
            [_at(8, "'in Texas': @country(FRA) is given, and replaces this")],
        ),
        (
            {"query": "agencies spending more than €3k"},
            [
                _at(
                    10,
                    "'spending more than €3k': not sure that this means @spends(>3000) (spending is known in US "
                    "dollars; the number is taken as it is, not converted)",
                )
            ],
        ),
    ],
)
def test_refused(own: httpx.Client, body: dict[str, Any], details: list[dict[str, Any]]) -> None:
    for path in (SEARCH, INTERPRET):
        response = own.post(path, json={**body, "strict": True})
        assert refused(response, 400, "INVALID_QUERY") == details
        answered(own.post(path, json={**body, "strict": False}))


@pytest.mark.promise("query.no_word_lost")
@pytest.mark.parametrize(
    ("query", "word", "why"),
    [("software in Germany", "software", NOT_USED), ("hiring in Texas", "hiring", WISHES["hiring"])],
)
def test_a_word_that_no_condition_uses_is_refused(own: httpx.Client, query: str, word: str, why: str) -> None:
    for path in (SEARCH, INTERPRET):
        response = own.post(path, json={"query": query, "strict": True})
        assert refused(response, 400, "INVALID_QUERY") == [_at(1, f"{word!r}: {why}")]
    reading = answered(own.post(INTERPRET, json={"query": query}))
    assert reading["confidence"] < 0.95
    assert [note["message"] for note in reading["unsupported"]] == [why]


NOTHING = [
    {"query": "please show me companies"},
    {"query": "hiring"},
    {"query": "software", "has_phone": False, "limit": 5, "sort": "score"},
    {"query": "the best ones", "keywords": []},
]


@pytest.mark.promise("query.nothing")
@pytest.mark.parametrize("body", NOTHING, ids=str)
def test_a_sentence_with_nothing_to_search_is_refused_and_free(bank: Bank, body: dict[str, Any]) -> None:
    customer = bank.customer(lead=100)
    with customer.untouched():
        for more in ({}, {"dry_run": True}, {"explain": True}):
            response = customer.post(SEARCH, {**body, **more})
            details = refused(response, 400, "INVALID_QUERY")
            assert details[0]["message"].startswith("it contains no condition")
            assert "Nothing was charged" in response.json()["message"]
            assert "stock-" not in response.text


@pytest.mark.promise("query.nothing")
def test_interpret_answers_a_sentence_with_nothing_to_search(own: httpx.Client) -> None:
    response = own.post(INTERPRET, json={"query": "please show me companies"})
    reading = answered(response)
    assert reading["conditions"] == reading["directives"] == []
    assert reading["read_back"] is None
    assert (reading["confidence"], reading["total_results"]) == (0.0, 0)
    assert response.headers["x-query-notes"] == "1"


@pytest.mark.promise("query.nothing")
def test_what_is_not_such_a_sentence_is_searched(own: httpx.Client) -> None:
    every = search(own, {})["total_results"]
    for body in ({"query": None}, {"query": " \n"}, {"query": "", "wrapped_query": " "}):
        assert search(own, body)["total_results"] == every
    assert (
        search(own, {"query": "hiring", "country": "DEU"})["total_results"]
        == (search(own, {"country": "DEU"})["total_results"])
    )


def test_a_refusal_says_in_its_message_where_to_look(own: httpx.Client) -> None:
    response = own.post(SEARCH, json={"query": "shopfy stores, best ones first", "strict": True})
    assert response.json()["message"] == (
        "query line 1, column 1: 'shopfy' is not a known word; did you mean 'shopify'? (and 1 more, see details)"
    )


@pytest.mark.promise("query.strict_free")
def test_a_refusal_costs_nothing(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    with customer.untouched():
        for body in ({"query": "sites in germny"}, {"query": "sites in Germany", "country": "FRA"}):
            response = customer.post(SEARCH, {**body, "strict": True}, retry="k")
            refused(response, 400, "INVALID_QUERY")
            assert "stock-" not in response.text
    clear = {**IN_ORDER, "query": "sites in Germany", "strict": True, "limit": 10}
    customer.pays(SEARCH, clear, "search", 0, marks(STOCK[:10]))


@pytest.mark.promise("search.strict")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"country": "germany"},
        {"wrapped_query": "@country(DEU)", "query": "outdated shopfy stores"},
        {"query": "Shopify stores in Texas that spend over $5k a month"},
        {"query": "slow sites in Georgia"},  # vague and ambiguous words are settled, and reported
        {"query": "vegan dog food"},
        {"query": "stores in Texas", "country": "USA", "state": "TX"},
    ],
)
def test_what_is_clear_passes(own: httpx.Client, body: dict[str, Any]) -> None:
    assert search(own, {**body, "strict": True})["results"] == search(own, body)["results"]
