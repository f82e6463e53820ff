"""Places in all the forms that callers write them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.api_calls import found, search
from tests.api.handmade import those


@pytest.mark.promise("search.country", "directive.country", "places.country", "places.folded")
@pytest.mark.parametrize(
    ("country", "code"),
    [
        ("USA", "USA"),
        ("usa", "USA"),
        ("US", "USA"),
        ("us", "USA"),
        ("United States", "USA"),
        ("united states", "USA"),
        ("Germany", "DEU"),
        ("DE", "DEU"),
        ("Brazil", "BRA"),
        ("Georgia", "GEO"),
        ("CH", "CHE"),
        ("Switzerland", "CHE"),
        ("Côte d'Ivoire", "CIV"),
        ("cote d'ivoire", "CIV"),
        ("CIV", "CIV"),
    ],
)
def test_country_forms(own: httpx.Client, client: httpx.Client, leads: list[Lead], country: str, code: str) -> None:
    expected = those(lambda lead: lead.country == code)
    assert expected
    assert found(own, {"country": country}) == expected
    assert found(own, {"wrapped_query": f"@country({country})"}) == expected
    page = search(client, {"country": country})
    assert page["total_results"] == sum(lead.country == code for lead in leads)
    assert {record["country"] for record in page["results"]} == {code}
    assert page["filters"] == {"country": country}


PLACES: list[tuple[dict[str, Any], set[str]]] = [
    ({"state": "CA"}, {"los-angeles.com", "cagliari.com"}),
    ({"state": "ca"}, {"los-angeles.com", "cagliari.com"}),
    ({"state": "US-CA"}, {"los-angeles.com"}),
    ({"state": "us-ca"}, {"los-angeles.com"}),
    ({"state": "California"}, {"los-angeles.com"}),
    ({"state": "california", "country": "USA"}, {"los-angeles.com"}),
    ({"state": "CA", "country": "US"}, {"los-angeles.com"}),
    ({"state": "CA", "country": "Italy"}, {"cagliari.com"}),
    ({"state": "US-CA", "country": "ITA"}, set()),
    ({"state": "BY", "country": "DEU"}, {"munich.com"}),
    ({"state": "Bavaria"}, {"munich.com"}),
    ({"state": "Bayern"}, {"munich.com"}),
    ({"state": "Georgia"}, {"atlanta.com"}),
    ({"state": "Córdoba"}, {"cordoba-argentina.com", "cordoba-colombia.com"}),
    ({"state": "cordoba"}, {"cordoba-argentina.com", "cordoba-colombia.com"}),
    ({"state": "Cordoba", "country": "ARG"}, {"cordoba-argentina.com"}),
    ({"state": "AR-X"}, {"cordoba-argentina.com"}),
    ({"city": "Munich"}, {"munich.com"}),
    ({"city": "MUNICH"}, {"munich.com"}),
    ({"city": "München"}, {"munich.com"}),
    ({"city": "munchen"}, {"munich.com"}),
    ({"city": "New York City"}, {"new-york.com"}),
    ({"city": "NYC"}, {"new-york.com"}),
    ({"city": "São Paulo"}, {"sao-paulo.com"}),
    ({"city": "sao paulo"}, {"sao-paulo.com"}),
    ({"city": "SAO PAULO", "country": "BR"}, {"sao-paulo.com"}),
    ({"city": "Zurich"}, {"zurich.com"}),
    ({"city": "Zürich"}, {"zurich.com"}),
    ({"city": "Munich", "country": "FRA"}, set()),
    ({"city": "Nowhere at all"}, set()),
]


@pytest.mark.promise(
    "search.state",
    "search.city",
    "directive.state",
    "values.open",
    "places.state",
    "places.bare_code",
    "places.state_name",
    "places.city",
    "places.folded",
)
@pytest.mark.parametrize(("body", "expected"), PLACES, ids=[str(body) for body, _ in PLACES])
def test_states_and_cities(own: httpx.Client, body: dict[str, Any], expected: set[str]) -> None:
    assert found(own, body) == expected
    assert search(own, body)["filters"] == body
    text = "\n".join(f"@{name}({value})" for name, value in body.items())
    assert found(own, {"wrapped_query": text}) == expected


@pytest.mark.promise("places.state")
def test_states_over_the_demo_leads(client: httpx.Client, leads: list[Lead]) -> None:
    for body, country, state in (
        ({"state": "tx", "country": "United States"}, "USA", "TX"),
        ({"state": "US-TX"}, "USA", "TX"),
        ({"state": "Ontario", "country": "ca"}, "CAN", "ON"),
        ({"state": "Île-de-France", "country": "FR"}, "FRA", "IDF"),
        ({"state": "ile-de-france", "country": "France"}, "FRA", "IDF"),
    ):
        expected = sum(lead.country == country and lead.state == state for lead in leads)
        page = search(client, {**body, "limit": 5})
        assert page["total_results"] == expected > 0, body
        assert {(record["country"], record["state"]) for record in page["results"]} == {(country, state)}
    bare = search(client, {"state": "CA", "limit": 1})["total_results"]
    assert bare == sum(lead.state == "CA" for lead in leads)


@pytest.mark.promise("directive.region", "directive.subregion")
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("@region(Europe)", {"DEU", "CHE", "ITA"}),
        ("@region(europe, Africa)", {"DEU", "CHE", "ITA", "CIV"}),
        ("@subregion(Western Europe)", {"DEU", "CHE"}),
        ("@subregion(Northern America)", {"USA"}),
        ("@subregion(Latin America and the Caribbean)", {"BRA", "ARG", "COL"}),
        ("@region(Americas)\n!@country(USA)", {"BRA", "ARG", "COL"}),
        ("@country(USA, Germany)", {"USA", "DEU"}),
    ],
)
def test_regions(own: httpx.Client, text: str, codes: set[str]) -> None:
    assert found(own, {"wrapped_query": text}) == those(lambda lead: lead.country in codes)


@pytest.mark.promise(
    "directive.country",
    "directive.state",
    "directive.region",
    "directive.subregion",
    "directives.rule_3",
    "directives.exclude_country",
    "directives.exclude_state",
    "directives.exclude_city",
    "directives.exclude_region",
    "directives.exclude_subregion",
)
def test_excluded_places_keep_leads_of_unknown_place(own: httpx.Client) -> None:
    assert found(own, {"wrapped_query": "!@country(USA)"}) == those(lambda lead: lead.country != "USA")
    assert found(own, {"wrapped_query": "!@state(CA, NY)"}) == those(lambda lead: lead.state not in ("CA", "NY"))
    assert found(own, {"wrapped_query": "!@city(München)"}) == those(lambda lead: lead.city != "Munich")
    europe = ("DEU", "CHE", "ITA")
    assert found(own, {"wrapped_query": "!@region(Europe)"}) == those(lambda lead: lead.country not in europe)
    assert found(own, {"wrapped_query": "!@subregion(Western Europe)"}) == those(
        lambda lead: lead.country not in ("DEU", "CHE")
    )
