"""Counts around a search: display names, filters that find what is counted, the price, and what is frequent here."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.settings import Settings
from testing.api_calls import FACETS, SEARCH, answered, found, search
from testing.customers import CREDIT_HEADERS, STOCK, Bank
from testing.service import serving
from tests.api.handmade import HANDMADE, those


def facets(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """The response, whose facets are those of the request."""
    answer = answered(client.post(FACETS, json=body))
    assert list(answer) == ["total_results", "price", "facets"]
    if body.get("facets"):
        assert [facet["facet"] for facet in answer["facets"]] == list(dict.fromkeys(body["facets"]))
    return answer


def values(client: httpx.Client, field: str, **body: Any) -> dict[str, int]:
    """The counts of one facet."""
    (facet,) = facets(client, facets=[field], size=50, **body)["facets"]
    return {value["value"]: value["count"] for value in facet["counts"]}


@pytest.mark.promise("route.POST /v1/leads/facets", "feature.facets")
def test_one_facet(own: httpx.Client) -> None:
    response = own.post(FACETS, json={"country": "USA", "facets": ["country", "language"], "size": 1})
    assert response.headers["x-query-notes"] == "0"
    assert not set(CREDIT_HEADERS) & set(response.headers)
    countries = Counter(lead.country for lead in HANDMADE if lead.country)
    american = [lead for lead in HANDMADE if lead.country == "USA"]
    answer = answered(response)
    answer["price"].pop("already_paid", None)  # there if another test bought leads with the same account before
    assert answer == {
        "total_results": countries["USA"],
        "price": {"with_email": sum(bool(lead.emails) for lead in american), "estimated": False},
        "facets": [
            {
                "facet": "country",
                "counts": [
                    {
                        "value": "USA",
                        "name": "United States",
                        "count": countries["USA"],
                        "filters": {"country": "USA"},
                    }
                ],
                "more": True,
                "estimated": False,
            },
            {
                "facet": "language",
                "counts": [{"value": "en", "name": "English", "count": 1, "filters": {"language": "en"}}],
                "more": False,
                "estimated": False,
            },
        ],
    }


def test_what_was_never_fetched_is_of_no_month(own: httpx.Client) -> None:
    (facet,) = facets(own, facets=["crawled_at"], size=50)["facets"]
    assert facet["more"] is False
    assert sum(value["count"] for value in facet["counts"]) == len(those(lambda lead: lead.crawled_at_ms))


@pytest.mark.promise("facets.filters")
def test_the_filters_of_a_value_find_what_it_counts(own: httpx.Client) -> None:
    for facet in facets(own, size=50)["facets"]:
        assert facet["counts"], facet["facet"]
        for value in facet["counts"]:
            assert value["name"]
            assert search(own, {**value["filters"], "limit": 1})["total_results"] == value["count"], value


@pytest.mark.promise("facets.selection")
def test_a_facet_ignores_conditions_on_its_own_field(own: httpx.Client) -> None:
    countries = values(own, "country")
    assert values(own, "country", country="USA") == countries
    assert values(own, "country", wrapped_query="!@country(USA)") == countries
    assert values(own, "country", query="sites in Germany") == countries
    assert values(own, "language", country="USA") == {"en": 1}
    assert values(own, "score", min_score=100) == values(own, "score")
    assert values(own, "has_phone", has_phone=True) == values(own, "has_phone")
    assert values(own, "has_phone", has_phone=True)["no"] == len(those(lambda lead: not lead.phones))
    inside = {"wrapped_query": "@any[ @country(USA) | @country(DEU) @has_email ]"}
    assert values(own, "country", **inside)["USA"] == countries["USA"]
    assert set(values(own, "country", **inside)) <= {"USA", "DEU"}


def test_wider_trades_count_those_below(own: httpx.Client) -> None:
    counts = values(own, "trades")
    assert counts["dentist"] == len(found(own, {"trades": ["dentist"]})) > counts["orthodontist"] == 1


@pytest.mark.promise("facets.price", "facets.already_paid")
@pytest.mark.parametrize("personal", [False, True])
def test_the_price_is_what_a_walk_over_all_pages_costs(bank: Bank, personal: bool) -> None:
    customer = bank.customer(lead=100)
    body = {"exclude_generic_emails": personal, "country": "DEU"}
    with customer.untouched():
        price = facets(customer.client, facets=["country"], **body)["price"]
    paid, path, sent = 0, SEARCH, {**body, "limit": 7}
    while path:
        response = customer.client.post(path, json=sent)
        paid += int(response.headers["x-credits-lead-used"])
        path, sent = answered(response)["next"], {}
    german = [lead for lead in STOCK if lead.country == "DEU"]
    assert price == {"with_email": paid, "estimated": False, "already_paid": 0}
    assert paid == sum(bool(lead.emails_personal if personal else lead.emails) for lead in german)
    with customer.untouched():
        assert facets(customer.client, facets=["country"], **body)["price"] == {**price, "already_paid": paid}
        again = facets(customer.client, facets=["country"], **body, exclude_lists=["paid"])
    assert again["price"] == {"with_email": 0, "estimated": False, "already_paid": 0}


@pytest.mark.promise("facets.lift")
def test_what_is_frequent_here_has_a_lift(client: httpx.Client) -> None:
    body = {"facets": ["state", "city", "has_email", "country"], "country": "USA", "size": 50}
    for _ in range(30):  # the first request starts the count over all leads, and does not wait for long
        answer = facets(client, **body)
        state, city, email, country = ({one["value"]: one for one in facet["counts"]} for facet in answer["facets"])
        if "lift" in state["US-CA"]:
            break
        time.sleep(1)
    total, every = answer["total_results"], facets(client, facets=["country"])["total_results"]
    assert state["US-CA"]["lift"] == pytest.approx(every / total, abs=0.051)
    assert all(one["lift"] >= 2 for one in state.values() if one["count"] >= 50)
    assert all("lift" not in one for one in (*state.values(), *city.values()) if one["count"] < 50)
    assert "lift" not in email["yes"]
    # Its own condition is ignored, so that it is counted over all leads.
    assert "lift" not in country["USA"]


@pytest.mark.promise("facets.estimated")
def test_late_counts_are_estimated_and_marked(live_settings: Settings, client: httpx.Client) -> None:
    body = {"has_phone": True, "facets": ["language"]}
    exact = facets(client, **body)
    with serving(replace(live_settings, total_exact_ms=0)) as late:
        response = late.post(FACETS, json=body)
    assert response.headers["X-Total-Estimated"] == "true"
    answer = answered(response)
    # 1 of 64 leads is counted: about 200 here, so that 20 % is three standard deviations.
    assert answer["total_results"] == pytest.approx(exact["total_results"], rel=0.2)
    assert answer["price"]["estimated"]
    assert answer["price"]["with_email"] == pytest.approx(exact["price"]["with_email"], rel=0.25)
    (facet,) = answer["facets"]
    counts = {value["value"]: value["count"] for value in exact["facets"][0]["counts"]}
    assert facet["estimated"]
    assert all(abs(value["count"] - counts.get(value["value"], 0)) <= value["error"] for value in facet["counts"])


def test_fields_of_a_page_have_no_effect(bank: Bank) -> None:
    # An account of its own: what another test buys meanwhile would be in the price.
    own = bank.customer(lead=100).client
    plain = facets(own, facets=["country"])
    assert facets(own, facets=["country"], limit=1, select=["domain"], sort="domain", dry_run=True) == plain
    assert facets(own, facets=["country", "country"]) == plain
    assert facets(own, facets=[]) == facets(own, facets=None) == facets(own)


@pytest.mark.promise("facets.few")
def test_values_of_few_leads_need_room_among_the_new_leads_of_the_day(bank: Bank) -> None:
    customer = bank.customer(lead=100, plan=bank.plan(10_000, 10_000, preview_leads_per_day=8))
    # Two of three have an address.
    few = {"only_lists": ["few"], "facets": ["country"]}
    answered(customer.client.post("/v1/lists", json={"name": "few"}))
    for start in (0, 9):
        domains = [lead.domain for lead in STOCK[start : start + 9]]
        answered(customer.client.post("/v1/lists/few/domains", json={"domains": domains}))
        answer = answered(customer.client.post(FACETS, json=few))
        assert (answer["total_results"], answer["price"]["with_email"]) == (start + 9, (start + 9) * 2 // 3)
        assert bool(answer["facets"]) is (start == 0)
    assert answer["note"] == (
        "These values would describe 12 leads that your account has not received. It sees at most 8 new leads a day "
        "before it gets them; the next ones from 00:00 UTC. Counts and prices are exact."
    )
    # A condition that finds nothing does not hide the few that its own facet would describe.
    nowhere = {**few, "country": "JPN"}
    assert answered(customer.client.post(FACETS, json=nowhere))["facets"] == []
    # The price says how many have an address; what was received is known; many leads describe none of them.
    assert answered(customer.client.post(FACETS, json={**few, "facets": ["has_email"]}))["facets"] != []
    assert answered(customer.client.post(FACETS, json={"facets": ["score"]}))["facets"] != []
    answered(customer.client.post(SEARCH, json={"only_lists": ["few"], "limit": 18}))
    assert answered(customer.client.post(FACETS, json=few))["facets"] != []
