"""Filters of the body, each against the leads: flags, lists, numbers, times, pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.api_calls import found, search, time_text
from tests.api.handmade import CRAWLED, CRAWLED_DAY, FULL, HANDMADE, NEVER, changed, is_a, those

Holds = Callable[[Lead], object]

FLAGS: dict[str, Holds] = {
    "has_phone": lambda lead: lead.phones,
    "has_email": lambda lead: lead.emails,
    "has_facebook": lambda lead: "facebook" in lead.social_links,
    "has_linkedin": lambda lead: "linkedin" in lead.social_links,
    "has_twitter": lambda lead: "twitter" in lead.social_links,
    "has_x": lambda lead: "twitter" in lead.social_links,
    "has_instagram": lambda lead: "instagram" in lead.social_links,
    "has_youtube": lambda lead: "youtube" in lead.social_links,
    "has_tiktok": lambda lead: "tiktok" in lead.social_links,
    "has_pinterest": lambda lead: "pinterest" in lead.social_links,
    "exclude_generic_emails": lambda lead: lead.emails_personal,
    "not_secure": lambda lead: lead.secure is False,
    "missing_sitemap": lambda lead: lead.has_sitemap is False,
    "missing_schema": lambda lead: lead.has_schema is False,
    "missing_robot": lambda lead: lead.has_robots is False,
    "missing_heading": lambda lead: lead.has_heading is False,
    "missing_description": lambda lead: lead.has_description is False,
    "not_responsive": lambda lead: lead.responsive is False,
}


@pytest.mark.promise("flags.false", "directives.known", "total.exact", cases={"{}": "search.{}"})
@pytest.mark.parametrize("name", FLAGS)
def test_true_restricts_and_false_does_not(
    own: httpx.Client, client: httpx.Client, leads: list[Lead], name: str
) -> None:
    expected = those(FLAGS[name])
    assert 0 < len(expected) < len(HANDMADE)
    assert found(own, {name: True}) == expected
    page = search(own, {name: False})
    assert page["total_results"] == len(HANDMADE)
    assert page["filters"] == {}
    assert search(client, {name: True, "limit": 1})["total_results"] == sum(bool(FLAGS[name](lead)) for lead in leads)


def _spending(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.spending is not None and test(lead.spending)


def _score(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.score is not None and test(lead.score)


def _load(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.load_time_ms is not None and test(lead.load_time_ms)


def _confidence(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.email_owner_confidence is not None and test(lead.email_owner_confidence)


NUMBERS: list[tuple[dict[str, Any], Holds]] = [
    ({"min_spending": 0}, _spending(lambda n: n >= 0)),
    ({"min_spending": 1000}, _spending(lambda n: n >= 1000)),
    ({"max_spending": 999}, _spending(lambda n: n <= 999)),
    ({"max_spending": 0}, _spending(lambda n: n == 0)),
    ({"min_spending": 500, "max_spending": 500}, _spending(lambda n: n == 500)),
    ({"min_spending": 99, "max_spending": 5000}, _spending(lambda n: 99 <= n <= 5000)),
    ({"spending": "100-499"}, _spending(lambda n: 100 <= n <= 499)),
    ({"spending": "99-99999"}, _spending(lambda n: 99 <= n <= 99999)),
    ({"spending": "500-500"}, _spending(lambda n: n == 500)),
    ({"spending": "5000+"}, _spending(lambda n: n >= 5000)),
    ({"spending": "0+"}, _spending(lambda n: n >= 0)),
    ({"spending": " 100 - 499 "}, _spending(lambda n: 100 <= n <= 499)),
    ({"spending": "100-9999", "min_spending": 1000}, _spending(lambda n: 1000 <= n <= 9999)),
    ({"min_score": 30}, _score(lambda n: n >= 30)),
    ({"max_score": 30}, _score(lambda n: n <= 30)),
    ({"min_score": 0}, _score(lambda n: n >= 0)),
    ({"max_score": 0}, _score(lambda n: n == 0)),
    ({"min_score": 100}, _score(lambda n: n == 100)),
    ({"max_score": 100}, _score(lambda n: n <= 100)),
    ({"min_score": 30, "max_score": 80}, _score(lambda n: 30 <= n <= 80)),
    ({"seo_score": ">30"}, _score(lambda n: n > 30)),
    ({"seo_score": "> 30"}, _score(lambda n: n > 30)),
    ({"seo_score": ">=30"}, _score(lambda n: n >= 30)),
    ({"seo_score": "<30"}, _score(lambda n: n < 30)),
    ({"seo_score": "<=30"}, _score(lambda n: n <= 30)),
    ({"seo_score": "  <=   30 "}, _score(lambda n: n <= 30)),
    ({"seo_score": "=30"}, _score(lambda n: n == 30)),
    ({"seo_score": "less than 30"}, _score(lambda n: n < 30)),
    ({"seo_score": "Less Than 30"}, _score(lambda n: n < 30)),
    ({"seo_score": "greater than 30"}, _score(lambda n: n > 30)),
    ({"seo_score": ">90"}, _score(lambda n: n > 90)),
    ({"seo_score": "=100"}, _score(lambda n: n == 100)),
    ({"seo_score": "<1"}, _score(lambda n: n < 1)),
    ({"seo_score": ">29", "max_score": 50}, _score(lambda n: 29 < n <= 50)),
    ({"load_time_ms": ">3000"}, _load(lambda n: n > 3000)),
    ({"load_time_ms": ">=3000"}, _load(lambda n: n >= 3000)),
    ({"load_time_ms": "<3000"}, _load(lambda n: n < 3000)),
    ({"load_time_ms": "<=3000"}, _load(lambda n: n <= 3000)),
    ({"load_time_ms": "=3000"}, _load(lambda n: n == 3000)),
    ({"load_time_ms": "less than 1499"}, _load(lambda n: n < 1499)),
    ({"load_time_ms": "greater than 2999"}, _load(lambda n: n > 2999)),
    ({"email_confidence": ">0.8"}, _confidence(lambda n: n > 80)),
    ({"email_confidence": ">= .8"}, _confidence(lambda n: n >= 80)),
    ({"email_confidence": "<81"}, _confidence(lambda n: n < 81)),
    ({"email_confidence": "=1.0"}, _confidence(lambda n: n == 100)),
]


@pytest.mark.promise(
    "numbers.ends",
    cases={
        "{'spending': '100-499'}": "search.spending",
        "{'spending': '5000+'}": "search.spending",
        "{'min_spending': 1000}": "search.min_spending",
        "{'max_spending': 999}": "search.max_spending",
        "{'min_score': 30}": "search.min_score",
        "{'max_score': 30}": "search.max_score",
        "{'load_time_ms': '<=3000'}": "search.load_time_ms",
        "{'email_confidence': '>0.8'}": "search.email_confidence",
        "{'email_confidence': '<81'}": "search.email_confidence",
        "{'load_time_ms': '>3000'}": "search.load_time_ms",
        "{'seo_score': '>=30'}": ("search.seo_score", "numbers.more_operators"),
        "{'seo_score': 'less than 30'}": ("search.seo_score", "numbers.strict"),
        "{'min_score': 100}": "limit.score_filter",
        "{'max_score': 0}": "limit.score_filter",
        "{'seo_score': '<30'}": "numbers.strict",
        "{'seo_score': '>30'}": "numbers.strict",
        "{'seo_score': 'greater than 30'}": "numbers.strict",
        "{'seo_score': '<=30'}": "numbers.more_operators",
        "{'seo_score': '=30'}": "numbers.more_operators",
        "{'seo_score': '  <=   30 '}": "numbers.blanks",
        "{'spending': ' 100 - 499 '}": "numbers.blanks",
    },
)
@pytest.mark.parametrize(("body", "holds"), NUMBERS, ids=[str(body) for body, _ in NUMBERS])
def test_numbers_and_their_ends(
    own: httpx.Client, client: httpx.Client, leads: list[Lead], body: dict[str, Any], holds: Holds
) -> None:
    expected = those(holds)
    assert expected
    assert found(own, body) == expected
    page = search(client, {**body, "limit": 1})
    assert page["total_results"] == sum(bool(holds(lead)) for lead in leads)
    assert page["filters"] == body


LISTS: list[tuple[dict[str, Any], Holds]] = [
    ({"technologies": ["Shopify"]}, lambda lead: "Shopify" in (lead.technologies or ())),
    ({"technologies": ["shopify"]}, lambda lead: "Shopify" in (lead.technologies or ())),
    (
        {"technologies": ["SHOPIFY", "hubspot"]},
        lambda lead: {"Shopify", "HubSpot"} & set(lead.technologies or ()),
    ),
    ({"technologies": ["Shopify", "no such thing"]}, lambda lead: "Shopify" in (lead.technologies or ())),
    ({"technologies": ["no such thing"]}, lambda lead: False),
    ({"technologies": ["Foo, Inc."]}, lambda lead: lead is FULL),
    ({"categories_uses": ["crm"]}, lambda lead: "crm" in lead.categories_uses),
    ({"categories_uses": ["CRM", "ecommerce"]}, lambda lead: {"crm", "ecommerce"} & set(lead.categories_uses)),
    ({"categories_uses": ["no_such_category"]}, lambda lead: False),
    ({"offers": "crm"}, lambda lead: "crm" in lead.offers),
    ({"offers": "legal_service"}, lambda lead: "legal_service" in lead.offers),
    ({"offers": "no such offer"}, lambda lead: False),
    ({"service_type": "SaaS"}, lambda lead: lead.service_type == "SaaS"),
    ({"service_type": "saas"}, lambda lead: lead.service_type == "SaaS"),
    ({"service_type": "Realtor"}, lambda lead: lead.service_type == "Realtor"),
    ({"trades": ["dentist"]}, lambda lead: is_a(lead, "dentist")),
    ({"trades": ["Zahnarztpraxis"]}, lambda lead: is_a(lead, "dentist")),
    ({"trades": ["orthodontist", "Roofing Contractors"]}, lambda lead: is_a(lead, "orthodontist", "roofer")),
    ({"trades": ["Healthcare"]}, lambda lead: is_a(lead, "healthcare")),
    ({"added": ["shopify", "2026-08-22"]}, lambda lead: changed(lead.added, CRAWLED_DAY - 30, "Shopify")),
    ({"added": ["Shopify", "2026-08-23"]}, lambda lead: False),
    ({"added": ["Shopify", "HubSpot", "2025-08-01"]}, lambda lead: lead is FULL),
    ({"added": ["Magento", "no such thing", "1970-01-01"]}, lambda lead: False),
    ({"dropped": ["Magento", "2026-08-22"]}, lambda lead: changed(lead.dropped, CRAWLED_DAY - 30, "Magento")),
    ({"dropped": ["Shopify", "2026-08-22"]}, lambda lead: False),
    ({"language": "en"}, lambda lead: lead.language == "en"),
    ({"language": "DE"}, lambda lead: lead.language == "de"),
    ({"language": "German"}, lambda lead: lead.language == "de"),
    ({"language": "deutsch"}, lambda lead: lead.language == "de"),
    ({"lacks": ["crm"]}, lambda lead: lead.technologies is not None and "crm" not in lead.categories_uses),
    (
        {"lacks": ["crm", "ecommerce"]},
        lambda lead: lead.technologies is not None and not {"crm", "ecommerce"} <= set(lead.categories_uses),
    ),
    (
        {"technologies": ["Shopify"], "categories_uses": ["crm"]},
        lambda lead: "Shopify" in (lead.technologies or ()) and "crm" in lead.categories_uses,
    ),
]


@pytest.mark.promise(
    "lists.or",
    "values.open",
    cases={
        "{'language': 'en'}": "search.language",
        "{'language': 'German'}": "search.language",
        "{'technologies': ['SHOPIFY', 'hubspot']}": "search.technologies",
        "{'categories_uses': ['CRM', 'ecommerce']}": "search.categories_uses",
        "{'service_type': 'SaaS'}": "search.service_type",
        "{'trades': ['dentist']}": "search.trades",
        "{'offers': 'crm'}": "search.offers",
        "{'lacks': ['crm']}": "search.lacks",
        "{'added': ['shopify', '2026-08-22']}": "search.added",
        "{'added': ['Shopify', '2026-08-23']}": "search.added",
        "{'dropped': ['Magento', '2026-08-22']}": "search.dropped",
        "{'technologies': ['Shopify'], 'categories_uses': ['crm']}": "search.filters_alone",
        "{'categories_uses': ['no_such_category']}": "values.categories_uses",
        "{'offers': 'no such offer'}": "values.offers",
    },
)
@pytest.mark.parametrize(("body", "holds"), LISTS, ids=[str(body) for body, _ in LISTS])
def test_values_of_a_list_are_alternatives_and_filters_add_up(
    own: httpx.Client, client: httpx.Client, leads: list[Lead], body: dict[str, Any], holds: Holds
) -> None:
    assert found(own, body) == those(holds)
    page = search(client, {**body, "limit": 1})
    assert page["filters"] == body
    if "Foo, Inc." not in str(body):
        assert page["total_results"] == sum(bool(holds(lead)) for lead in leads)


@pytest.mark.promise("search.pages", "pages.form")
@pytest.mark.parametrize(
    "path", ["/pricing", "pricing", "/Pricing", "PRICING", "/pricing/", "pricing/", "/pricing?plan=1"]
)
def test_pages_are_compared_in_their_stored_form(
    own: httpx.Client, client: httpx.Client, leads: list[Lead], path: str
) -> None:
    assert found(own, {"pages": [path]}) == {FULL.domain}
    page = search(client, {"pages": [path], "limit": 1})
    assert page["total_results"] == sum("/pricing" in lead.pages for lead in leads) > 0
    assert page["filters"] == {"pages": [path]}


@pytest.mark.promise("search.pages", "lists.or", "pages.equal")
def test_pages_are_equal_not_contained(own: httpx.Client) -> None:
    assert found(own, {"pages": ["/pricing/plans"]}) == {NEVER.domain}
    assert found(own, {"pages": ["/about"]}) == set()
    assert found(own, {"pages": ["/pric"]}) == set()
    assert found(own, {"pages": ["about/team", "/pricing/plans", "/none"]}) == {FULL.domain, NEVER.domain}


@pytest.mark.promise("search.updated_after", "updated_after.strict")
@pytest.mark.parametrize("after", [CRAWLED, CRAWLED - 1, CRAWLED - 2, CRAWLED - 1000, CRAWLED + 122, CRAWLED + 123])
def test_updated_after_is_strict(own: httpx.Client, after: int) -> None:
    body = {"updated_after": time_text(after)}
    assert found(own, body) == those(lambda lead: lead.crawled_at_ms > after)
    assert search(own, body)["filters"] == body


def test_updated_after_reads_offsets_and_fractions(own: httpx.Client) -> None:
    later = those(lambda lead: lead.crawled_at_ms > CRAWLED)
    assert later == {FULL.domain}
    assert time_text(CRAWLED) == "2026-09-21T14:13:20.000Z"
    for text in (
        "2026-09-21T14:13:20Z",
        "2026-09-21T16:13:20+02:00",
        "2026-09-21T07:13:20.0-07:00",
        "2026-09-21t14:13:20z",
        "2026-09-21T14:13:20.0009Z",
    ):
        assert found(own, {"updated_after": text}) == later, text


def test_updated_after_reads_a_date_as_its_first_moment(own: httpx.Client) -> None:
    midnight = 1_789_948_800_000
    assert time_text(midnight) == "2026-09-21T00:00:00.000Z"
    assert found(own, {"updated_after": "2026-09-21"}) == those(lambda lead: lead.crawled_at_ms > midnight)
    assert found(own, {"updated_after": "1970-01-01"}) == those(lambda lead: lead.crawled_at_ms)


@pytest.mark.promise("search.updated_after")
def test_updated_after_over_the_demo_leads(client: httpx.Client, leads: list[Lead]) -> None:
    for lead in leads[:5]:
        body = {"updated_after": time_text(lead.crawled_at_ms), "limit": 1}
        assert search(client, body)["total_results"] == sum(one.crawled_at_ms > lead.crawled_at_ms for one in leads)


SHARED = [
    "ecommerce",
    "crm",
    "analytics",
    "marketing",
    "email_marketing",
    "cms",
    "payments",
    "lead_generation",
    "cybersecurity",
    "artificial_intelligence",
    "hosting_server_environment",
    "cloud_providers",
    "advertising",
    "seo_structured_data",
    "website_builder",
    "mobile_app",
    "education",
    "healthcare",
    "real_estate",
    "financial_services",
    "social_media_marketing",
    "customer_support",
    "booking_calendar",
    "legal_service",
]


@pytest.mark.promise("values.categories_uses", "values.offers", "values.one_list")
def test_categories_and_offers_share_one_list(client: httpx.Client, leads: list[Lead]) -> None:
    for value in SHARED:
        page = search(client, {"categories_uses": [value], "limit": 1})
        assert page["total_results"] == sum(value in lead.categories_uses for lead in leads)
        page = search(client, {"offers": value, "limit": 1})
        assert page["total_results"] == sum(value in lead.offers for lead in leads)
        # An exclusion takes known values only.
        page = search(client, {"wrapped_query": f"!@offers({value})\n!@categories_uses({value})", "limit": 1})
        assert page["total_results"] == sum(value not in (*lead.offers, *lead.categories_uses) for lead in leads)


SERVICE_TYPES = [
    "Enterprise",
    "SaaS",
    "Ecommerce",
    "Agency",
    "Local Business",
    "Firm",
    "Consultant",
    "Publisher",
    "Marketplace",
    "Mobile App",
    "Non-Profit",
    "Education",
    "Government",
    "Manufacturer",
    "Healthcare",
    "Hospitality",
    "Financial Services",
    "Entertainment",
    "Gaming",
    "Realtor",
]


@pytest.mark.promise("search.service_type", "values.service_type")
def test_every_service_type(client: httpx.Client, leads: list[Lead]) -> None:
    assert len(SERVICE_TYPES) == 20
    for value in SERVICE_TYPES:
        expected = sum(lead.service_type == value for lead in leads)
        assert search(client, {"service_type": value.upper(), "limit": 1})["total_results"] == expected
        assert search(client, {"wrapped_query": f"@service_type({value})", "limit": 1})["total_results"] == expected
