"""What a search means, reported exactly: conditions with their words, assumptions, corrections, and what was left."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from testing.api_calls import INTERPRET, answered, found, search
from testing.customers import CREDIT_HEADERS, Bank

PARTS = [
    "query",
    "read_back",
    "summary",
    "needs_review",
    "directives",
    "filters",
    "conditions",
    "assumptions",
    "corrections",
    "alternatives",
    "ignored",
    "unsupported",
    "notes",
    "confidence",
    "backend",
    "model",
    "total_results",
]


def read(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """How a body is read."""
    told = answered(client.post(INTERPRET, json=body))
    assert list(told) == PARTS
    return told


def span(query: str, words: str) -> dict[str, Any]:
    """Words and where they are."""
    start = query.index(words)
    return {"text": words, "start": start, "end": start + len(words)}


def condition(query: str, directive: str, *words: str, rule: str, confidence: float = 1.0) -> dict[str, Any]:
    return {
        "directive": directive,
        "words": [span(query, some) for some in words],
        "rule": rule,
        "confidence": confidence,
    }


def note(query: str, words: str, message: str) -> dict[str, Any]:
    return {"words": [span(query, words)], "message": message}


def given(directive: str) -> dict[str, Any]:
    """A condition that no word said."""
    return {"directive": directive, "words": [], "rule": "given", "confidence": 1.0}


@pytest.mark.promise("route.POST /v1/leads/interpret", "query.interpret")
def test_a_sentence_that_is_clear(own: httpx.Client) -> None:
    query = "Shopify stores in Texas that spend over $5k a month"
    assert read(own, {"query": query}) == {
        "query": query,
        "read_back": "Businesses in Texas, US that spend more than $5,000 a month on ads and use Shopify",
        "summary": "Businesses in Texas, US that spend more than $5,000 a month on ads and use Shopify",
        "needs_review": False,
        "directives": ["@spends(>5000)", "@country(USA)", "@state(TX)", "@technology(Shopify)"],
        "filters": {
            "country": "USA",
            "state": "TX",
            "technologies": ["Shopify"],
            "wrapped_query": "@spends(>5000)",
        },
        "conditions": [
            condition(query, "@spends(>5000)", "spend over $5k a month", rule="amount"),
            condition(query, "@country(USA)", "in Texas", rule="place"),
            condition(query, "@state(TX)", "in Texas", rule="place"),
            condition(query, "@technology(Shopify)", "Shopify stores", rule="technology"),
        ],
        "assumptions": [],
        "corrections": [],
        "alternatives": [],
        "ignored": [span(query, "that")],
        "unsupported": [],
        "notes": [],
        "confidence": 1.0,
        "backend": "rules",
        "model": None,
        "total_results": 0,
    }


@pytest.mark.promise("query.interpret")
def test_what_was_left_to_the_reader(own: httpx.Client) -> None:
    """A word that is not a value, one that is misspelt, a vague one, an ambiguous one, and one that cannot be said."""
    query = "Please find slow Shopfy bakeries in Georgia, best ones first"
    told = read(own, {"query": query})
    assert told["directives"] == [
        "@country(USA)",
        "@state(GA)",
        "@technology(Shopify)",
        "@trade(bakery)",
        "@load_time(>3000)",
    ]
    assert told["conditions"] == [
        condition(query, "@country(USA)", "in Georgia", rule="place", confidence=0.8),
        condition(query, "@state(GA)", "in Georgia", rule="place", confidence=0.8),
        condition(query, "@technology(Shopify)", "Shopfy", rule="technology", confidence=0.8),
        condition(query, "@trade(bakery)", "bakeries", rule="trade"),
        condition(query, "@load_time(>3000)", "slow", rule="vague word"),
    ]
    assert told["read_back"] == ("Bakeries in Georgia, US that use Shopify and take more than 3,000 ms to load")
    assert told["summary"] == (
        "Bakeries in Georgia, US that use Shopify and take more than 3,000 ms to load"
        ' · "Shopfy" read as shopify · not used: "best ones first"'
    )
    assert told["needs_review"] is False
    assert told["assumptions"] == [note(query, "slow", "'slow' is taken as @load_time(>3000)")]
    assert told["corrections"] == [{**span(query, "Shopfy"), "to": "shopify"}]
    assert told["alternatives"][0] == {
        "words": [span(query, "Georgia")],
        "reading": "Georgia, the country",
        "directives": ["@country(GEO)", "@technology(Shopify)", "@trade(bakery)", "@load_time(>3000)"],
        "read_back": "Bakeries in Georgia that use Shopify and take more than 3,000 ms to load",
    }
    assert told["ignored"] == [span(query, "Please find")]
    assert told["unsupported"] == [note(query, "best ones first", "a sentence cannot ask for an order; send `sort`")]
    assert told["confidence"] == 0.72


def test_alternatives_of_different_kinds_are_one_condition(own: httpx.Client) -> None:
    query = "agencies in Kenya that use Klaviyo or have no sitemap"
    told = read(own, {"query": query})
    either = "@any[ @technology(Klaviyo) | @missing_sitemap ]"
    assert told["directives"] == ["@country(KEN)", "@service_type(Agency)", either]
    words = "use Klaviyo or have no sitemap"
    assert told["conditions"][-1] == condition(query, either, words, rule="alternatives")
    assert told["unsupported"] == []


def test_what_no_search_can_do(own: httpx.Client) -> None:
    query = "agencies in Kenya that are hiring"
    told = read(own, {"query": query})
    assert told["directives"] == ["@country(KEN)", "@service_type(Agency)"]
    assert told["unsupported"] == [note(query, "that are hiring", "Siteglass has no data on hiring.")]


def test_words_apart_that_say_one_thing(own: httpx.Client) -> None:
    query = "sites without Wix or Squarespace, not on Webflow"
    told = read(own, {"query": query})
    assert told["conditions"] == [
        condition(
            query,
            "!@technology(Squarespace, Webflow, Wix)",
            *("without Wix or Squarespace", "not on Webflow"),
            rule="technology",
        )
    ]


def test_an_age_stays_one_and_its_filter_is_a_moment(own: httpx.Client) -> None:
    query = "crawled in the last 30 days"
    told = read(own, {"query": query})
    assert told["directives"] == ["@updated_within(30d)"]
    assert told["conditions"] == [condition(query, "@updated_within(30d)", query, rule="amount")]
    assert list(told["filters"]) == ["updated_after"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.+Z", told["filters"]["updated_after"])


def test_a_score_that_no_directive_can_say(own: httpx.Client) -> None:
    query = "sites in Chile with an SEO score above 95"
    told = read(own, {"query": query})
    assert told["directives"] == ["@country(CHL)"]
    assert told["filters"] == {"seo_score": ">95", "country": "CHL"}
    assert [(one["directive"], one["words"]) for one in told["conditions"]] == [
        ("@country(CHL)", [span(query, "in Chile")]),
        ("seo_score: >95", [span(query, "with an SEO score above 95")]),
    ]
    assert read(own, {"min_score": 95})["conditions"] == [given("min_score: 95")]


def test_places_are_counted_in_characters(own: httpx.Client) -> None:
    query = "\n  😀 Cafés\u00a0— en São Paulo"
    told = read(own, {"query": query})
    for one in told["conditions"]:
        for words in one["words"]:
            assert query[words["start"] : words["end"]] == words["text"]
    assert {"text": "Cafés", "start": 5, "end": 10} in [words for one in told["conditions"] for words in one["words"]]


# --- filters and directives ---------------------------------------------------------------------


@pytest.mark.promise("route.POST /v1/leads/interpret")
def test_filters_are_read_too(own: httpx.Client) -> None:
    told = read(own, {"country": "germany", "technologies": ["shopify", "WIX"], "has_phone": True, "not_secure": False})
    assert told["query"] is None
    assert told["directives"] == ["@country(DEU)", "@technology(Shopify, Wix)", "@has_phone"]
    assert told["filters"] == {"country": "germany", "technologies": ["shopify", "WIX"], "has_phone": True}
    assert told["conditions"] == [given(directive) for directive in told["directives"]]
    assert told["confidence"] == 1.0


@pytest.mark.promise("route.POST /v1/leads/interpret")
def test_directives_are_written_canonically(own: httpx.Client) -> None:
    """A formatter of `wrapped_query`: what it answers, it answers again."""
    text = "# both\n@TECHNOLOGY( shopify )\n\n@country(Germany, at)\n@score( < 40 )\n@updated_within(7D)\n!@lang(DE)"
    told = read(own, {"wrapped_query": text, "query": "not read"})
    assert told["directives"] == [
        "!@lang(de)",
        "@country(AUT, DEU)",
        "@technology(Shopify)",
        "@score(<40)",
        "@updated_within(7d)",
    ]
    assert told["query"] is None
    again = read(own, {"wrapped_query": "\n".join(told["directives"])})
    assert again["directives"] == told["directives"]
    assert again["conditions"] == told["conditions"] == [given(directive) for directive in told["directives"]]


def test_what_only_shapes_a_page_changes_nothing(own: httpx.Client) -> None:
    body = {"query": "agencies in Kenya"}
    shaped = {"limit": 1, "select": ["domain"], "sort": "domain", "dry_run": True, "max_lead_credits": 0}
    assert read(own, {**body, **shaped, "explain": False, "strict": True}) == read(own, body)
    assert read(own, {})["directives"] == read(own, {"query": "  "})["directives"] == []


@pytest.mark.promise("query.things")
def test_a_filter_replaces_what_the_sentence_says_of_the_same_thing(own: httpx.Client) -> None:
    query = "agencies in Munich, not in Texas"
    told = read(own, {"query": query, "country": "FRA"})
    assert told["directives"] == ["@country(FRA)", "!@state(TX)", "@service_type(Agency)"]
    assert told["conditions"] == [
        given("@country(FRA)"),
        condition(query, "!@state(TX)", "not in Texas", rule="place"),
        condition(query, "@service_type(Agency)", "agencies", rule="business type"),
    ]
    assert told["unsupported"] == [note(query, "in Munich", "@country(FRA) is given, and replaces this")]


@pytest.mark.promise("query.things")
def test_places_are_one_thing_and_scores_are_one(own: httpx.Client) -> None:
    query = "agencies in Munich with an SEO score above 50"
    told = read(own, {"query": query, "country": "DEU", "max_score": 80})
    assert told["directives"] == ["@country(DEU)", "@score(<=80)", "@service_type(Agency)"]
    # The words said more than the filter, so they say none of it.
    assert given("@country(DEU)") in told["conditions"]
    assert [one["words"] for one in told["unsupported"]] == [
        [span(query, "in Munich")],
        [span(query, "with an SEO score above 50")],
    ]


@pytest.mark.promise("query.agreeing")
@pytest.mark.parametrize("filters", [{"country": "DEU"}, {"country": "Germany", "state": "BY"}])
def test_a_filter_that_agrees_replaces_nothing(own: httpx.Client, filters: dict[str, Any]) -> None:
    query = "agencies in Germany"
    told = read(own, {"query": query, **filters})
    assert condition(query, "@country(DEU)", "in Germany", rule="place") in told["conditions"]
    assert told["unsupported"] == []


@pytest.mark.promise("size.query_reported")
def test_what_has_no_room_is_told(own: httpx.Client) -> None:
    words = [f"w{number:02}" for number in range(64)]
    told = read(own, {"query": ", ".join(words), "language": "en", "country": "USA"})
    assert len(told["directives"]) == 64
    assert [one["words"][0]["text"] for one in told["unsupported"]] == ["w63", "w62"]
    assert {one["message"] for one in told["unsupported"]} == {"the search would be larger than one may be"}


# --- totals and price ---------------------------------------------------------------------------


@pytest.mark.promise("query.total")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": "Shopify stores in Germany"},
        {"query": "agencies in the USA without a CRM"},
        {"query": "slow sites with a phone number", "country": "GBR"},
        {"query": "bakery"},
        {"wrapped_query": "@country(FRA)\n!@technology(WordPress)", "min_score": 40},
        {"query": "nothing is called xyzzyplugh"},
    ],
)
def test_the_total_is_that_of_the_search(client: httpx.Client, body: dict[str, Any]) -> None:
    told = read(client, body)
    page = search(client, {**body, "limit": 1, "select": ["domain"]})
    assert told["total_results"] == page["total_results"]
    assert told["filters"] == page["filters"]
    assert search(client, {**told["filters"], "limit": 1})["total_results"] == page["total_results"]


@pytest.mark.promise("query.total")
def test_what_it_tells_finds_the_same(own: httpx.Client) -> None:
    query = "dentists with no phone number"
    told = read(own, {"query": query})
    assert told["total_results"] > 0
    expected = found(own, {"query": query})
    assert found(own, {"wrapped_query": "\n".join(told["directives"])}) == found(own, told["filters"]) == expected


@pytest.mark.promise("query.free")
def test_it_costs_nothing_and_shows_no_lead(bank: Bank) -> None:
    poor = bank.customer()
    with poor.untouched():
        for body in ({"query": "sites in Germany"}, {"country": "DEU"}, {}):
            response = poor.post(INTERPRET, body)
            assert answered(response)["total_results"] in (30, 60)
            assert "stock-" not in response.text
            assert not {*CREDIT_HEADERS} & {*response.headers}
