"""Why a search finds nothing: what each condition removes, and the smallest changes that give results."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from testing.api_calls import DIAGNOSE, SEARCH, answered, bad_fields, refused, search
from testing.customers import CREDIT_HEADERS
from tests.api.handmade import HANDMADE, those


def diagnose(client: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = answered(client.post(DIAGNOSE, json=body))
    assert list(answer) == ["total_results", "conditions", "relaxations", "notes"]
    return answer


@pytest.mark.promise("route.POST /v1/leads/diagnose", "diagnose.conditions", "diagnose.nearest")
def test_a_misspelt_value(own: httpx.Client) -> None:
    response = own.post(DIAGNOSE, json={"technologies": ["shopfy"], "country": "USA"})
    assert not set(CREDIT_HEADERS) & set(response.headers)
    assert response.headers["x-query-notes"] == "1"
    american = len(those(lambda lead: lead.country == "USA"))
    assert answered(response) == {
        "total_results": 0,
        "conditions": [
            {"directive": "@country(USA)", "matches": american, "removes": 0},
            {"directive": '@technology("shopfy")', "matches": 0, "removes": american},
        ],
        "relaxations": [
            {
                "drop": [],
                "replace": [{"directive": '@technology("shopfy")', "by": "@technology(Shopify)"}],
                "total_results": 1,
                "filters": {"country": "USA", "technologies": ["Shopify"]},
            }
        ],
        "notes": [
            {
                "directives": ['@technology("shopfy")'],
                "message": "'shopfy' is not a known technology, so it probably matches no lead; did you mean Shopify?",
                "nearest": ["Shopify", "Shopfa", "Shoppy"],
            }
        ],
    }


def test_the_smallest_changes_come_first(own: httpx.Client) -> None:
    """Seattle is in Washington: without the state, the lead is found; also without the city and the technology."""
    text = "@city(Seattle)\n@state(TX)\n@technology(WordPress)"
    answer = diagnose(own, wrapped_query=text)
    assert answer["total_results"] == 0
    assert [change["drop"] for change in answer["relaxations"] if len(change["drop"]) == 1] == []
    assert all(len(change["drop"]) == 2 for change in answer["relaxations"])
    totals = {tuple(change["drop"]): change["total_results"] for change in answer["relaxations"]}
    assert totals["@state(TX)", "@technology(WordPress)"] == 1
    for change in answer["relaxations"]:
        assert search(own, change["filters"])["total_results"] == change["total_results"]


def test_a_search_that_finds_leads_needs_no_change(own: httpx.Client) -> None:
    answer = diagnose(own, country="USA", has_phone=True)
    assert answer["total_results"] == search(own, {"country": "USA", "has_phone": True})["total_results"] > 0
    assert answer["relaxations"] == []
    phones = len(those(lambda lead: lead.phones))
    assert answer["conditions"][1] == {
        "directive": "@has_phone",
        "matches": phones,
        "removes": len(those(lambda lead: lead.country == "USA" and not lead.phones)),
    }


def test_all_leads(own: httpx.Client) -> None:
    assert diagnose(own) == {"total_results": len(HANDMADE), "conditions": [], "relaxations": [], "notes": []}


def test_one_condition_is_not_dropped_for_all_leads(own: httpx.Client) -> None:
    assert diagnose(own, technologies=["qqqqqqqq"])["relaxations"] == []


@pytest.mark.promise("limit.relaxed_conditions")
def test_many_conditions(own: httpx.Client) -> None:
    """Of a long search, the first conditions are counted; what helps is found all the same."""
    lines = [f"@keywords(word{number:02})" for number in range(40)]
    answer = diagnose(own, wrapped_query="\n".join(lines), country="USA")
    effects = answer["conditions"]
    assert [effect["directive"] for effect in effects] == ["@country(USA)", *lines]
    assert [effect["removes"] for effect in effects] == [0] * 12 + [None] * 29
    (change,) = answer["relaxations"]
    assert change["filters"] == {"country": "USA"}
    assert len(change["drop"]) == 40


@pytest.mark.promise("diagnose.hint")
def test_an_empty_page_has_a_hint(own: httpx.Client) -> None:
    american = len(those(lambda lead: lead.country == "USA"))
    hints: tuple[tuple[dict[str, Any], str], ...] = (
        ({"country": "USA", "technologies": ["shopfy"]}, "1 lead matches with @technology(Shopify)"),
        ({"country": "USA", "technologies": ["qqqqqq"]}, f'{american} leads match without @technology("qqqqqq")'),
        ({"country": "USA", "city": "qqéqqq 100%"}, f'{american} leads match without @city("qqeqqq 100%")'),
        ({"country": "USA", "keywords": ["牙医 x"]}, f"{american} leads match without @keywords(牙医 x)"),
    )
    for body, hint in hints:
        response = own.post(SEARCH, json=body)
        assert answered(response)["results"] == []
        assert response.headers["x-query-hint"].isascii()
        assert unquote(response.headers["x-query-hint"]) == hint
    without: tuple[dict[str, Any], ...] = ({"country": "USA"}, {"technologies": ["qqqqqq"]}, {})
    for body in without:
        assert "x-query-hint" not in own.post(SEARCH, json=body).headers


def test_refused_bodies(own: httpx.Client) -> None:
    assert bad_fields(own, {"limt": 1, "min_score": 140, "facets": ["country"]}, DIAGNOSE) == {
        "limt",
        "min_score",
        "facets",
    }
    refused(own.post(DIAGNOSE, json={"wrapped_query": "@nope"}), 400, "INVALID_QUERY")
    refused(own.post(DIAGNOSE, json={"query": "the best ones"}), 400, "INVALID_QUERY")
