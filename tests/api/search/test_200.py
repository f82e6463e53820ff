"""A search is answered: the envelope, what counts as not given, page size, order, media type."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.api_calls import SEARCH, answered, found, search
from testing.service import API_KEY
from tests.api.handmade import BY_DOMAIN, HANDMADE

ENVELOPE = ["result_id", "total_results", "size", "results", "filters", "next", "previous"]


@pytest.mark.promise(
    "envelope.result_id",
    "envelope.total_results",
    "envelope.next",
    "route.POST /v1/leads/search",
    "search.limit",
    "search.filters_alone",
    "limit.page_default",
    "body.empty_object",
    "total.exact",
    "version.additions",
)
def test_an_empty_object_finds_all_leads(client: httpx.Client, leads: list[Lead]) -> None:
    page = search(client, {})
    assert sorted(page) == sorted(ENVELOPE)
    assert str(uuid.UUID(page["result_id"])) == page["result_id"]
    assert page["total_results"] == len(leads)
    assert type(page["total_results"]) is int
    assert page["size"] == len(page["results"]) == 20
    assert page["filters"] == {}
    assert page["next"].startswith("/v1/leads/search/")
    assert page["previous"] is None


@pytest.mark.promise("envelope.result_id")
def test_each_search_has_a_result_id_of_its_own(own: httpx.Client) -> None:
    assert len({search(own, {"limit": 1})["result_id"] for _ in range(5)}) == 5


@pytest.mark.promise("envelope.total_results", "envelope.results")
def test_all_on_one_page(own: httpx.Client) -> None:
    page = search(own, {"limit": 100})
    assert {record["domain"] for record in page["results"]} == set(BY_DOMAIN)
    assert page["total_results"] == page["size"] == len(HANDMADE)
    assert page["next"] is None
    assert page["previous"] is None


@pytest.mark.promise("page.nothing")
def test_nothing_found(own: httpx.Client) -> None:
    page = search(own, {"keywords": ["no lead says this"]})
    assert (page["total_results"], page["size"], page["results"]) == (0, 0, [])
    assert (page["next"], page["previous"]) == (None, None)


FILTERS = [
    "query",
    "language",
    "select",
    "wrapped_query",
    "country",
    "state",
    "city",
    "technologies",
    "keywords",
    "categories_uses",
    "service_type",
    "offers",
    "pages",
    "has_phone",
    "has_facebook",
    "has_linkedin",
    "has_twitter",
    "has_x",
    "has_instagram",
    "has_youtube",
    "has_tiktok",
    "has_pinterest",
    "exclude_generic_emails",
    "spending",
    "min_spending",
    "max_spending",
    "min_score",
    "max_score",
    "updated_after",
    "not_secure",
    "missing_sitemap",
    "missing_schema",
    "not_responsive",
    "load_time_ms",
    "seo_score",
    "has_email",
    "lacks",
    "missing_robot",
    "missing_heading",
    "missing_description",
    "sort",
    "limit",
]


@pytest.mark.promise("body.null")
@pytest.mark.parametrize("name", FILTERS)
def test_null_is_not_given(own: httpx.Client, name: str) -> None:
    page = search(own, {name: None})
    assert page["total_results"] == len(HANDMADE)
    assert page["size"] == 20
    assert page["filters"] == {}


@pytest.mark.promise("body.empty_array")
@pytest.mark.parametrize("name", ["technologies", "keywords", "categories_uses", "pages", "lacks", "select"])
def test_an_empty_array_is_not_given(own: httpx.Client, name: str) -> None:
    page = search(own, {name: []})
    assert page["total_results"] == len(HANDMADE)
    assert page["filters"] == {}
    assert len(page["results"][0]) == 17


@pytest.mark.promise("body.blank_text")
@pytest.mark.parametrize("name", ["query", "wrapped_query"])
@pytest.mark.parametrize("blank", ["", "   ", "\n\t \n"])
def test_blank_text_is_not_given(own: httpx.Client, name: str, blank: str) -> None:
    page = search(own, {name: blank})
    assert page["total_results"] == len(HANDMADE)
    assert page["filters"] == {}


@pytest.mark.promise("body.blank_text")
def test_a_blank_wrapped_query_lets_the_query_count(own: httpx.Client) -> None:
    assert found(own, {"query": "vegan", "wrapped_query": " \n"}) == {"word-keywords.com", "word-text.com"}


@pytest.mark.promise("envelope.size", "search.limit", cases={"100": "limit.page_most"})
@pytest.mark.parametrize("limit", [1, 2, 20, 99, 100])
def test_limit_is_the_size_of_a_page(client: httpx.Client, limit: int) -> None:
    page = search(client, {"limit": limit, "select": ["domain"]})
    assert page["size"] == len(page["results"]) == limit


def _sorted(own: httpx.Client, sort: str | None) -> list[Lead]:
    body: dict[str, Any] = {"limit": 100, "select": ["domain"]}
    page = search(own, body if sort is None else {**body, "sort": sort})
    assert page["filters"] == {}
    return [BY_DOMAIN[record["domain"]] for record in page["results"]]


@pytest.mark.promise("search.sort", "sort.default", "sort.all")
def test_the_order_is_score_falling_when_nothing_is_said(own: httpx.Client) -> None:
    ordered = _sorted(own, None)
    assert ordered == _sorted(own, "-score")
    scores = [-1 if lead.score is None else lead.score for lead in ordered]
    assert scores == sorted(scores, reverse=True)
    scored = [lead for lead in ordered if lead.score is not None]
    # Leads without a score are the last in both directions.
    assert _sorted(own, "score") == [*scored[::-1], *ordered[len(scored) :][::-1]]


@pytest.mark.promise("search.sort", "sort.all")
def test_the_order_by_spending_and_by_crawl_falls(own: httpx.Client) -> None:
    amounts = [-1 if lead.spending is None else lead.spending for lead in _sorted(own, "-spending")]
    assert amounts == sorted(amounts, reverse=True)
    crawls = [lead.crawled_at_ms for lead in _sorted(own, "-crawled_at")]
    assert crawls == sorted(crawls, reverse=True)


@pytest.mark.promise("search.sort", "sort.all")
def test_the_order_by_domain(own: httpx.Client) -> None:
    assert [lead.domain for lead in _sorted(own, "domain")] == sorted(BY_DOMAIN)


@pytest.mark.promise("sort.shuffle")
def test_equal_scores_come_in_a_fixed_order_that_is_no_alphabet(own: httpx.Client) -> None:
    unscored = [lead.domain for lead in _sorted(own, "-score") if lead.score is None]
    assert unscored != sorted(unscored)
    assert unscored == [lead.domain for lead in _sorted(own, "-score") if lead.score is None]


@pytest.mark.promise("body.charset")
@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON",
        'application/json; charset="utf-8"',
    ],
)
def test_the_media_type_may_carry_a_charset(own: httpx.Client, media_type: str) -> None:
    body = '{"city": "são paulo"}'.encode()
    page = answered(own.post(SEARCH, content=body, headers={"Content-Type": media_type}))
    assert [record["domain"] for record in page["results"]] == ["sao-paulo.com"]


@pytest.mark.promise("auth.header")
def test_the_name_of_the_key_header_has_no_case(own: httpx.Client) -> None:
    response = httpx.post(str(own.base_url.join(SEARCH)), json={}, headers={"x-api-key": API_KEY}, trust_env=False)
    answered(response)


@pytest.mark.promise("header.request_id")
def test_request_ids_are_unique(own: httpx.Client) -> None:
    ids = [own.post(SEARCH, json={"limit": 1}).headers["x-request-id"] for _ in range(20)]
    assert len(set(ids)) == 20


@pytest.mark.promise("body.twice")
def test_of_a_field_sent_twice_the_last_one_counts(own: httpx.Client) -> None:
    content = b'{"country": "USA", "limit": 1, "country": "DEU"}'
    response = own.post(SEARCH, content=content, headers={"Content-Type": "application/json"})
    assert answered(response)["filters"] == {"country": "DEU"}
