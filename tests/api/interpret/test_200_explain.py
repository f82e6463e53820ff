"""`explain` on a search, and the header that counts what to know about a reading."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from testing.api_calls import INTERPRET, SEARCH, answered, search
from testing.customers import COST, IN_ORDER, STOCK, Bank, marks
from tests.api.interpret.test_200 import read
from tests.api.retries.test_200 import replayed

NOTES = "x-query-notes"


@pytest.mark.promise("search.explain")
@pytest.mark.parametrize(
    "body",
    [
        {"query": "shopfy stores in Georgia"},
        {"wrapped_query": "@country(usa)"},
        {"country": "usa", "min_score": 40},
        {},
    ],
)
def test_a_search_explains_itself(own: httpx.Client, body: dict[str, Any]) -> None:
    page = search(own, {**body, "explain": True})
    told = read(own, body)
    assert told.pop("total_results") == page["total_results"]
    assert page.pop("interpretation") == told
    silent = search(own, body)
    assert page["results"] == silent["results"]
    assert page["filters"] == silent["filters"] == told["filters"]
    for switch in (False, None):
        assert "interpretation" not in search(own, {**body, "explain": switch})


def test_switches_are_not_echoed_and_not_of_a_later_page(own: httpx.Client) -> None:
    page = search(own, {"query": "sites with a phone number", "explain": True, "strict": True, "limit": 2})
    assert page["filters"] == {"has_phone": True}
    assert list(page)[-1] == "interpretation"
    response = own.post(page["next"], json={})
    assert "interpretation" not in answered(response)
    assert NOTES not in response.headers


def test_an_explained_search_costs_the_same(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "query": "sites in Germany", "limit": 10}
    page = customer.pays(SEARCH, {**body, "explain": True}, "search", 0, marks(STOCK[:10]))
    assert page["interpretation"]["directives"] == ["@country(DEU)"]
    quoted = answered(customer.post(SEARCH, {**body, "explain": True, "dry_run": True}))
    assert quoted == {"dry_run": True, "api_credits": 0, "lead_credits": COST[10], "total_results": 30}


@pytest.mark.promise("query.replayed")
def test_an_explained_search_is_replayed_byte_for_byte(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "query": "outdated sites in germny", "explain": True, "limit": 5}
    first = customer.post(SEARCH, body, retry="k")
    assert answered(first)["interpretation"]["corrections"]
    assert first.headers[NOTES] == "2"
    with customer.untouched():
        again = customer.post(SEARCH, body, retry="k")
    replayed(first, again)
    assert again.headers[NOTES] == "2"


@pytest.mark.promise("query.notes")
@pytest.mark.parametrize(
    ("body", "notes"),
    [
        ({}, 0),
        ({"country": "DEU"}, 0),
        ({"wrapped_query": "@country(DEU)", "query": "outdated"}, 0),
        ({"query": "Shopify stores in Texas"}, 0),
        ({"query": "slow sites"}, 0),  # assumed, as always
        ({"query": "outdated sites in Germany"}, 1),
        ({"query": "shopfy stores in germny"}, 2),
        ({"query": "outdated shopfy stores, best ones first"}, 3),
        ({"query": "stores in Texas", "country": "FRA"}, 1),
        ({"query": "stores in Texas", "country": "USA", "state": "TX"}, 0),
        ({"query": "agencies spending more than €3k"}, 1),  # not sure: another currency
        ({"technologies": ["Shopfy"]}, 1),
        ({"technologies": ["Shopfy", "Shopify", "Hubpsot"], "city": "Lodnon"}, 3),
        ({"wrapped_query": "@any[ @offers(markting) | @categories_uses(ecomerce) ]"}, 2),
        ({"wrapped_query": '!@technology("Shopfy")'}, 0),  # meant, and matches everything
        ({"state": "Texas", "country": "Germany"}, 1),
        ({"query": "outdated sites in Germany", "state": "Texas", "technologies": ["Shopfy"]}, 3),
    ],
)
def test_notes_are_counted(own: httpx.Client, body: dict[str, Any], notes: int) -> None:
    for path in (SEARCH, INTERPRET):
        response = own.post(path, json=body)
        answered(response)
        assert response.headers[NOTES] == str(notes), path
    assert own.post(SEARCH, json={**body, "dry_run": True}).headers[NOTES] == str(notes)


@pytest.mark.promise("notes.unknown", "notes.contradiction")
@pytest.mark.parametrize(
    ("body", "notes"),
    [
        (
            {"technologies": ["Shopfy"]},
            [
                {
                    "directives": ['@technology("shopfy")'],
                    "message": "'shopfy' is not a known technology, so it probably matches no lead; "
                    "did you mean Shopify?",
                    "nearest": ["Shopify", "Shopfa", "Shoppy"],
                }
            ],
        ),
        (
            {"categories_uses": ["Shopify"]},
            [
                {
                    "directives": ['@categories_uses("shopify")'],
                    "message": "'shopify' is a technology, not a software category; write !@technology(Shopify) for "
                    "sites without it, @technology(Shopify) for sites with it",
                    "nearest": [],
                }
            ],
        ),
        (
            {"state": "Texas", "country": "Germany"},
            [
                {
                    "directives": ["@country(DEU)", "@state(US-TX)"],
                    "message": "@country(DEU) and @state(US-TX) contradict each other: no known place is in both",
                    "nearest": [],
                }
            ],
        ),
        (
            {"min_score": 95, "wrapped_query": "@score(<30)"},
            [
                {
                    "directives": ["@score(<30)", "min_score: 95"],
                    "message": "@score(<30) and min_score: 95 contradict each other: a site has only one of these",
                    "nearest": [],
                }
            ],
        ),
    ],
)
def test_notes_on_conditions_are_listed(own: httpx.Client, body: dict[str, Any], notes: list[Any]) -> None:
    assert read(own, body)["notes"] == notes
    page = search(own, {**body, "explain": True})
    assert page["interpretation"]["notes"] == notes
    assert page["total_results"] == 0


def test_many_notes_are_counted_and_a_few_listed(own: httpx.Client) -> None:
    response = own.post(INTERPRET, json={"technologies": [f"Google Analyticz{number}" for number in range(150)]})
    assert response.headers[NOTES] == "150"
    listed = answered(response)["notes"]
    assert len(listed) == 20
    assert [bool(note["nearest"]) for note in listed] == [True] * 5 + [False] * 15
