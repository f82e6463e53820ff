"""`filters` in the answer: what was sent comes back as sent, what was read comes back canonically, the rest never."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from testing.api_calls import search

AS_SENT: list[dict[str, Any]] = [
    {"country": "united states"},
    {"country": "us", "state": "california", "city": "los angeles"},
    {"language": "EN"},
    {"technologies": ["shopify", "SHOPIFY", "Nope"]},
    {"keywords": ["Dentists", "dentists"]},
    {"categories_uses": ["CRM"]},
    {"service_type": "saas"},
    {"offers": "CRM"},
    {"trades": ["Zahnarzt", "roofing"]},
    {"pages": ["Pricing/"]},
    {"has_phone": True},
    {"has_twitter": True},
    {"exclude_generic_emails": True},
    {"spending": " 100-499"},
    {"min_spending": 10, "max_spending": 500},
    {"min_score": 0, "max_score": 100},
    {"updated_after": "2026-09-21T16:13:20+02:00"},
    {"not_secure": True, "missing_sitemap": True, "missing_schema": True, "not_responsive": True},
    {"load_time_ms": "greater than 10"},
    {"seo_score": "less than 95"},
    {"has_email": True, "missing_robot": True, "missing_heading": True, "missing_description": True},
    {"lacks": ["Crm"]},
]


@pytest.mark.promise("envelope.filters", "echo.as_sent")
@pytest.mark.parametrize("body", AS_SENT, ids=str)
def test_a_filter_comes_back_as_sent(own: httpx.Client, body: dict[str, Any]) -> None:
    page = search(own, body)
    assert page["filters"] == body
    again = search(own, page["filters"])
    assert (again["filters"], again["total_results"]) == (body, page["total_results"])
    assert again["results"] == page["results"]


CANONICAL: list[tuple[str, dict[str, Any]]] = [
    ("@country(germany)", {"country": "DEU"}),
    ("@country(us)", {"country": "USA"}),
    ("@lang(EN)", {"language": "en"}),
    ("@technology(shopify)", {"technologies": ["Shopify"]}),
    ("@categories_uses(CRM)", {"categories_uses": ["crm"]}),
    ("@offers(CRM)", {"offers": "crm"}),
    ("@service_type(saas)", {"service_type": "SaaS"}),
    ("@trade(Zahnarzt)", {"wrapped_query": "@trade(dentist)"}),
    ("@pages(Pricing/)", {"pages": ["/pricing"]}),
    ("@has_phone", {"has_phone": True}),
    ("@has_tiktok", {"has_tiktok": True}),
    ("@no_generic_emails", {"exclude_generic_emails": True}),
    ("@not_secure", {"not_secure": True}),
    ("@city(münchen)", {"city": "Munich"}),
]


@pytest.mark.promise("echo.canonical")
@pytest.mark.parametrize(("text", "filters"), CANONICAL)
def test_a_directive_that_a_filter_says_exactly_comes_back_as_that_filter(
    own: httpx.Client, text: str, filters: dict[str, Any]
) -> None:
    assert search(own, {"wrapped_query": text})["filters"] == filters


@pytest.mark.promise("echo.contract")
def test_what_did_not_come_as_a_field_has_names_of_the_contract(own: httpx.Client) -> None:
    filters = search(own, {"query": "Shopify stores in Texas without a CRM, with emails"})["filters"]
    assert filters == {
        "country": "USA",
        "state": "TX",
        "technologies": ["Shopify"],
        "wrapped_query": "@lacks(crm)\n@has_email",
    }
    mixed = search(own, {"lacks": ["CRM"], "wrapped_query": "@lacks(crm)\n@missing_robot"})["filters"]
    assert mixed == {"lacks": ["CRM"], "wrapped_query": "@missing_robot"}


@pytest.mark.promise("echo.wrapped_query")
@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("!@country(us)", "!@country(USA)"),
        (" !@HAS_phone # none", "!@has_phone"),
        ("@region(europe)", "@region(Europe)"),
        ("@country(us, germany)", "@country(DEU, USA)"),
        ("@offers(CRM, marketing)", "@offers(crm, marketing)"),
        ("@lacks(CRM)", "@lacks(crm)"),
        ("@has_email", "@has_email"),
        ("@missing_robot", "@missing_robot"),
        ("@missing_heading", "@missing_heading"),
        ("@missing_description", "@missing_description"),
    ],
)
def test_what_no_filter_says_comes_back_as_wrapped_query(own: httpx.Client, text: str, canonical: str) -> None:
    filters = search(own, {"wrapped_query": text})["filters"]
    assert list(filters) == ["wrapped_query"]
    name, _, values = filters["wrapped_query"].rstrip(")").partition("(")
    expected_name, _, expected = canonical.rstrip(")").partition("(")
    assert name == expected_name
    assert sorted(values.split(", ")) == sorted(expected.split(", "))


@pytest.mark.promise("echo.any")
@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("@any[ @country(us) | @country(germany) ]", {"wrapped_query": "@country(DEU, USA)"}),
        ("@any[ @technology(wix) | @technology(shopify) ]", {"technologies": ["Shopify", "Wix"]}),
        ("@any[ @not_secure @country(us) ]", {"country": "USA", "not_secure": True}),
        (
            "@country(us)\n!@ANY[@has_phone @has_email]\n@any[ @not_secure|@lacks(crm) ]",
            {"country": "USA", "wrapped_query": "@any[ @lacks(crm) | @not_secure ]\n!@any[ @has_email @has_phone ]"},
        ),
    ],
)
def test_alternatives_come_back_as_filters_only_where_these_say_the_same(
    own: httpx.Client, text: str, filters: dict[str, Any]
) -> None:
    page = search(own, {"wrapped_query": text})
    assert page["filters"] == filters
    again = search(own, filters)
    assert (again["filters"], again["total_results"]) == (filters, page["total_results"])


def test_both_parts_beside_each_other(own: httpx.Client) -> None:
    body = {"country": "united states", "wrapped_query": "@technology(shopify)\n!@state(NY)\n@technology(hubspot)"}
    page = search(own, body)
    assert page["filters"]["country"] == "united states"
    again = search(own, page["filters"])
    assert again["filters"] == page["filters"]
    assert [record["domain"] for record in again["results"]] == ["full-record.com"]
    assert [record["domain"] for record in page["results"]] == ["full-record.com"]


def test_the_same_thing_in_filter_and_directive(own: httpx.Client) -> None:
    page = search(own, {"technologies": ["hubspot"], "wrapped_query": "@technology(shopify)"})
    assert page["filters"]["technologies"] == ["hubspot"]
    assert "Shopify" in page["filters"]["wrapped_query"]
    again = search(own, page["filters"])
    assert again["filters"] == page["filters"]
    assert again["total_results"] == page["total_results"] == 1


@pytest.mark.promise("score.as_filter")
def test_a_score_outside_1_to_90_is_printed_as_a_filter(own: httpx.Client) -> None:
    for body in ({"seo_score": ">90"}, {"min_score": 95}, {"max_score": 0}):
        filters = search(own, {**body, "wrapped_query": "!@country(USA)"})["filters"]
        assert {name: filters[name] for name in body} == body
        assert "@score" not in filters["wrapped_query"]


@pytest.mark.promise("search.has_x")
def test_has_x_is_has_twitter(own: httpx.Client) -> None:
    page = search(own, {"has_x": True})
    assert list(page["filters"].values()) == [True]
    assert search(own, page["filters"])["results"] == page["results"]
    assert page["results"] == search(own, {"has_twitter": True})["results"]


@pytest.mark.promise("echo.left_out")
def test_what_is_not_echoed(own: httpx.Client) -> None:
    body = {
        "limit": 5,
        "select": ["domain"],
        "sort": "domain",
        "query": "vegan",
        "has_phone": False,
        "not_secure": False,
        "country": None,
        "technologies": [],
    }
    assert search(own, body)["filters"] == {"keywords": ["vegan"]}
    assert search(own, {**body, "wrapped_query": "@lang(de)"})["filters"] == {"language": "de"}


@pytest.mark.promise("updated_within.fixed")
def test_a_relative_age_comes_back_as_a_fixed_time(own: httpx.Client) -> None:
    filters = search(own, {"wrapped_query": "@updated_within(30d)"})["filters"]
    assert "within" not in str(filters)
    assert search(own, filters)["filters"] == filters


@pytest.mark.promise("directives.quotes")
def test_strange_values_come_back_as_sent(own: httpx.Client) -> None:
    body = {
        "technologies": ["Shopify", "HubSpot", "x)y(", 'q"q', "back\\slash", "a, b", "# c", "!@d"],
        "pages": ["/a(b),c"],
    }
    body["pages"] += ["/pricing"]
    page = search(own, {**body, "limit": 1})
    assert page["filters"] == body
    assert [record["domain"] for record in page["results"]] == ["full-record.com"]
    again = search(own, {"wrapped_query": "!@keywords(x)", **body})
    assert search(own, again["filters"])["filters"] == again["filters"]


LONG_QUERIES = {
    "many words": " ".join(f"w{number}" for number in range(190)),
    "one long word": "é" * 980,
    "one long word in four bytes each": "𠀀" * 980,
    "words in three bytes each": " ".join(chr(0x4E00 + number) * 3 for number in range(245)),
    "punctuation": "?!" * 490,
}


@pytest.mark.promise("echo.long")
@pytest.mark.parametrize("name", LONG_QUERIES)
def test_filters_of_the_longest_queries_can_be_sent_back(own: httpx.Client, name: str) -> None:
    page = search(own, {"query": f"stores in Texas. {LONG_QUERIES[name]}"})
    again = search(own, page["filters"])
    assert again["filters"] == page["filters"]
    assert again["total_results"] == page["total_results"]


@pytest.mark.promise("echo.long")
@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"@keywords({number:050})" for number in range(60)),
        "\n".join(f"!@offers(crm)\n@technology(t{number}, u{number})" for number in range(60)),
        "!@keywords(" + ", ".join(f"{number:017}" for number in range(200)) + ")",
    ],
    ids=["long lines", "two values a line", "many values"],
)
def test_filters_of_the_longest_directives_can_be_sent_back(own: httpx.Client, text: str) -> None:
    page = search(own, {"wrapped_query": text})
    again = search(own, page["filters"])
    assert again["filters"] == page["filters"]
    assert again["total_results"] == page["total_results"]
