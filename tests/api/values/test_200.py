"""GET /v1/values/{field}: known values that complete a text, exactly these and in this order."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from testing.api_calls import SEARCH, VALUES, answered
from testing.customers import Bank
from testing.metrics import scrape
from testing.service import API_KEY


def _body(own: httpx.Client, field: str, **parameters: Any) -> dict[str, Any]:
    body = answered(own.get(f"{VALUES}/{field}", params=parameters))
    assert list(body) == ["field", "values", "more"]
    return body


def _values(own: httpx.Client, field: str, **parameters: Any) -> list[str]:
    return [one["value"] for one in _body(own, field, **parameters)["values"]]


@pytest.mark.promise("route.GET /v1/values/{field}", "values.q")
@pytest.mark.parametrize(
    ("field", "text", "first"),
    [
        (
            "technologies",
            "GA4",
            {"value": "Google Analytics", "name": "Google Analytics", "matched": "GA4", "categories": ["analytics"]},
        ),
        ("technologies", "google-analytics", {"value": "Google Analytics", "matched": None}),
        ("technologies", "next js", {"value": "Next.js", "matched": None, "detected": True}),
        ("technologies", "athenahealth", {"value": "athenahealth", "detected": False}),
        ("categories_uses", "SEO", {"value": "seo_structured_data", "name": "seo structured data", "matched": "SEO"}),
        ("offers", "Werbung", {"value": "advertising", "name": "advertising", "matched": "Werbung"}),
        ("lacks", "live chat", {"value": "customer_support", "name": "customer support", "matched": "live chat"}),
        ("service_type", "ngo", {"value": "Non-Profit", "name": "Non-Profit", "matched": "NGO"}),
        ("trades", "roof", {"value": "roofer", "name": "Roofer", "matched": None}),
        ("trades", "dachd", {"value": "roofer", "name": "Roofer", "matched": "Dachdecker"}),
        ("country", "UK", {"value": "GBR", "name": "United Kingdom", "matched": "uk"}),
        ("country", "de", {"value": "DEU", "name": "Germany", "matched": "DE"}),
        ("country", "deu", {"value": "DEU", "name": "Germany", "matched": None}),
        ("country", "Côte d’Ivoire", {"value": "CIV", "matched": None}),
        ("state", "Bayern", {"value": "DE-BY", "name": "Bavaria", "matched": "bayern", "country": "DEU"}),
        ("state", "Lacs", {"value": "CI-LC", "name": "Lacs", "matched": None, "country": "CIV"}),
        ("state", "us-tx", {"value": "US-TX", "name": "Texas", "matched": None, "country": "USA"}),
        (
            "city",
            "München",
            {"value": "Munich", "name": "Munich", "matched": "munchen", "country": "DEU", "state": "DE-BY"},
        ),
        (
            "city",
            "NYC",
            {"value": "New York City", "name": "New York City", "matched": "nyc", "country": "USA", "state": "US-NY"},
        ),
        ("city", "SEOUL", {"value": "Seoul", "name": "Seoul", "matched": None, "country": "KOR", "state": None}),
        ("city", "北京", {"value": "Beijing", "matched": "北京", "country": "CHN", "state": "CN-BJ"}),
        ("language", "deutsch", {"value": "de", "name": "German", "matched": "deutsch"}),
        ("language", "DE", {"value": "de", "name": "German", "matched": None}),
        ("region", "Europa", {"value": "Europe", "name": "Europe", "matched": "europa"}),
        ("subregion", "south east asia", {"value": "South-eastern Asia", "name": "South-eastern Asia"}),
    ],
)
def test_names_aliases_and_codes(own: httpx.Client, field: str, text: str, first: dict[str, Any]) -> None:
    body = _body(own, field, q=text)
    assert body["field"] == field
    found = body["values"][0]
    assert {name: found[name] for name in first} == first
    told = {"technologies": ["categories", "detected"], "state": ["country"], "city": ["country", "state"]}
    assert list(found) == ["value", "name", "matched", *told.get(field, [])]


@pytest.mark.promise("values.value")
def test_a_value_is_what_a_filter_takes(own: httpx.Client) -> None:
    for field, many in (("technologies", True), ("categories_uses", True), ("lacks", True), ("offers", False)):
        value = _values(own, field, limit=1)[0]
        answered(own.post(SEARCH, json={field: [value] if many else value, "limit": 1}))
    place = _body(own, "city", q="Paris", country="USA", limit=1)["values"][0]
    filters = {"city": place["value"], "country": place["country"], "state": place["state"]}
    assert filters == {"city": "Paris", "country": "USA", "state": "US-TX"}
    assert answered(own.post(SEARCH, json=filters))["filters"] == filters
    for field in ("region", "subregion", "language", "service_type", "state", "country"):
        directive = {"language": "lang"}.get(field, field)
        for value in _values(own, field, limit=50):
            answered(own.post(SEARCH, json={"wrapped_query": f"@{directive}({value})", "limit": 1}))


@pytest.mark.promise("values.field")
@pytest.mark.parametrize(
    ("name", "field"), [("technology", "technologies"), ("lang", "language"), ("categories_uses", "categories_uses")]
)
def test_the_name_of_a_directive_is_understood(own: httpx.Client, name: str, field: str) -> None:
    assert _body(own, name, q="s") == _body(own, field, q="s")
    assert _body(own, name)["field"] == field


# --- order --------------------------------------------------------------------------------------


@pytest.mark.promise("values.order")
def test_equal_then_begun_then_later_words_then_aliases(uncounted: httpx.Client) -> None:
    found = _body(uncounted, "city", q="york", limit=50)["values"]
    assert [(one["value"], one["state"]) for one in found] == [
        ("York", "GB-ENG"),
        ("York", "US-PA"),
        ("York University Heights", "CA-ON"),
        ("Yorkville", "US-IL"),
        ("Yorkton", "CA-SK"),
        ("New York City", "US-NY"),
        ("East New York", "US-NY"),
        ("West New York", "US-NJ"),
        ("Danforth East York", "CA-ON"),
    ]
    assert [(one["value"], one["matched"]) for one in _body(uncounted, "country", q="united")["values"]] == [
        ("ARE", None),
        ("GBR", None),
        ("USA", None),
        ("MEX", "united mexican states"),
        ("TZA", "united republic of tanzania"),
        ("VIR", "united states virgin islands"),
    ]
    kings = [(one["value"], one["matched"]) for one in _body(uncounted, "country", q="king", limit=3)["values"]]
    assert kings == [("GBR", None), ("BEL", "kingdom of belgium"), ("DNK", "kingdom of denmark")]
    assert _values(uncounted, "offers", q="mark") == ["marketing", "email_marketing", "social_media_marketing"]


@pytest.mark.promise("values.order")
def test_an_equal_alias_comes_before_names_that_begin_so(own: httpx.Client) -> None:
    found = _body(own, "country", q="UK")["values"]
    assert [(one["value"], one["matched"]) for one in found] == [("GBR", "uk"), ("UKR", None)]
    assert _values(own, "language", q="de")[0] == "de"


@pytest.mark.promise("values.order")
def test_names_that_differ_in_case_or_a_hyphen(own: httpx.Client) -> None:
    for text, first, second in (("ip-api", "ip-api", "ipapi"), ("IPAPI", "ipapi", "ip-api")):
        assert _values(own, "technologies", q=text, limit=2) == [first, second]
    for text, other in (("ZoomInfo", "Zoominfo"), ("Zoominfo", "ZoomInfo")):
        assert _values(own, "technologies", q=text, limit=2) == [text, other]


@pytest.mark.promise("values.q")
def test_several_words_of_a_name(uncounted: httpx.Client) -> None:
    assert _values(uncounted, "technologies", q="tag  Man", limit=2) == [
        "Google Tag Manager",
        "Google Tag Manager for WordPress",
    ]
    assert _values(uncounted, "subregion", q="asia") == [
        "Central Asia",
        "Eastern Asia",
        "South-eastern Asia",
        "Southern Asia",
        "Western Asia",
    ]


@pytest.mark.promise("values.order")
def test_cities_by_population_others_by_name(uncounted: httpx.Client) -> None:
    assert _values(uncounted, "city", q="s", limit=4) == ["Shanghai", "Shenzhen", "São Paulo", "Seoul"]
    states = [one["state"] for one in _body(uncounted, "city", q="springfield", limit=5)["values"]]
    assert states == ["US-MO", "US-MA", "US-IL", "US-OR", "US-OH"]
    # There are two of them, which no filter can distinguish.
    assert _values(uncounted, "city", q="Gwangju") == ["Gwangju"]
    assert _values(uncounted, "state", q="new", country="USA") == ["US-NH", "US-NJ", "US-NM", "US-NY"]
    assert _values(uncounted, "state", q="Limburg") == ["BE-VLI", "NL-LI"]


@pytest.mark.promise("values.order")
def test_what_looks_like_a_slip_comes_last(own: httpx.Client) -> None:
    for field, text, value in (
        ("technologies", "shopfy", "Shopify"),
        ("country", "Germny", "DEU"),
        ("state", "Californa", "US-CA"),
        ("language", "Germn", "de"),
        ("city", "Lodnon", "London"),
    ):
        found = _body(own, field, q=text)["values"]
        assert (found[-1]["value"], found[-1]["matched"]) == (value, None)
    begun = _values(own, "technologies", q="google an")
    assert begun == ["Google Analytics", "Google Analytics Enhanced eCommerce", "Google Ads"]
    full = _body(own, "technologies", q="google an", limit=2)
    assert ([one["value"] for one in full["values"]], full["more"]) == (begun[:2], False)


@pytest.mark.promise("values.q")
@pytest.mark.parametrize("text", ["qwxzvkjh", "-", "...", "\x00", "😀", "x" * 64])
def test_nothing_is_like_it(own: httpx.Client, text: str) -> None:
    for field in ("technologies", "city", "country", "offers"):
        assert _body(own, field, q=text) == {"field": field, "values": [], "more": False}


# --- without a text, and how many ---------------------------------------------------------------


@pytest.mark.promise("values.blank")
@pytest.mark.parametrize("asked", [{}, {"q": ""}, {"q": " \t "}])
def test_without_a_text_the_first_ones(uncounted: httpx.Client, asked: dict[str, str]) -> None:
    first = {
        "city": ["Shanghai", "Beijing", "Shenzhen"],
        "country": ["CHN", "IND", "USA"],
        "state": ["CN-GD", "CN-SH", "CN-JS"],
        "language": ["ab", "aa", "af"],
        "technologies": ["1C-Bitrix", "2B Advice", "2Checkout"],
        "categories_uses": ["advertising", "analytics", "artificial_intelligence"],
        "service_type": ["Agency", "Consultant", "Ecommerce"],
        "region": ["Africa", "Americas", "Asia"],
        "subregion": ["Australia and New Zealand", "Central Asia", "Eastern Asia"],
    }
    for field, values in first.items():
        assert _values(uncounted, field, limit=3, **asked) == values


@pytest.mark.promise("values.limit", "limit.values_default", "limit.values_most")
def test_limit_and_more(own: httpx.Client) -> None:
    assert len(_values(own, "city", q="s")) == 10
    assert len(_values(own, "city", q="s", limit=50)) == 50
    for limit, more in ((1, True), (4, True), (5, False), (6, False)):
        body = _body(own, "region", limit=limit)
        assert (len(body["values"]), body["more"]) == (min(limit, 5), more)
    for limit, more in ((4, True), (5, False)):
        body = _body(own, "subregion", q="asia", limit=limit)
        assert (len(body["values"]), body["more"]) == (limit, more)


@pytest.mark.promise("values.country")
@pytest.mark.parametrize("country", ["USA", "us", "United States", "Vereinigte Staaten"])
def test_of_one_country(uncounted: httpx.Client, country: str) -> None:
    assert _values(uncounted, "city", limit=3, country=country) == ["New York City", "Los Angeles", "Brooklyn"]
    assert _values(uncounted, "state", limit=3, country=country) == ["US-CA", "US-NY", "US-TX"]
    paris = _body(uncounted, "city", q="paris", limit=1, country=country)["values"]
    assert [(one["value"], one["country"]) for one in paris] == [("Paris", "USA")]
    assert _values(uncounted, "state", q="CA", country=country)[0] == "US-CA"
    assert _values(uncounted, "city", q="Munich", country=country) == []


# --- what it costs ------------------------------------------------------------------------------


@pytest.mark.promise("values.free")
def test_it_costs_no_credits_and_needs_none(bank: Bank) -> None:
    for customer in (bank.customer(api=1, lead=2), bank.customer()):
        with customer.untouched():
            response = customer.client.get(f"{VALUES}/city", params={"q": "munich"})
        assert answered(response)["values"][0]["value"] == "Munich"
        assert not [name for name in response.headers if name.startswith("x-credits")]


@pytest.mark.promise("values.kept")
def test_an_answer_may_be_kept_for_an_hour_and_a_refusal_may_not(own: httpx.Client) -> None:
    response = own.get(f"{VALUES}/region")
    assert response.headers["cache-control"] == "private, max-age=3600"
    assert response.headers["vary"] == "X-API-Key"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert own.get(f"{VALUES}/nope").headers["cache-control"] == "no-store"


def test_it_is_counted_and_its_text_is_told_to_nobody(own: httpx.Client) -> None:
    answered(own.get(f"{VALUES}/city", params={"q": "verysecretword"}))
    metrics = scrape()
    assert 'siteglass_requests_total{operation="values",status="200"}' in metrics
    assert "verysecretword" not in metrics
    assert API_KEY not in metrics
