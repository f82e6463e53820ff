"""Pages by cursor: the same search, walked there and back, in any order and with any page size."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from testing.api_calls import SEARCH, answered, same_record, search
from testing.service import serving
from tests.api.handmade import BY_DOMAIN, CRAWLED, HANDMADE

CURSOR = re.compile(r"/v1/leads/search/[A-Za-z0-9_-]{1,6000}")


def _page(client: httpx.Client, path: str) -> dict[str, Any]:
    return answered(client.post(path, json={}))


def _walk(client: httpx.Client, page: dict[str, Any], direction: str) -> list[dict[str, Any]]:
    pages = [page]
    while pages[-1][direction]:
        pages.append(_page(client, pages[-1][direction]))
    return pages


def _domains(pages: list[dict[str, Any]]) -> list[str]:
    return [record["domain"] for page in pages for record in page["results"]]


@pytest.mark.promise(
    "envelope.result_id",
    "envelope.size",
    "envelope.next",
    "envelope.previous",
    "route.POST /v1/leads/search/{cursor}",
    "page.cursor",
    "page.envelope",
    "page.walk",
    "echo.every_page",
    "cursor.path",
    "cursor.whole_search",
    "page.first",
)
@pytest.mark.parametrize("sort", ["-score", "score", "-spending", "-crawled_at", "domain"])
@pytest.mark.parametrize("limit", [7, 30])
def test_there_and_back(own: httpx.Client, sort: str, limit: int) -> None:
    whole = _domains([search(own, {"limit": 100, "sort": sort})])
    assert sorted(whole) == sorted(BY_DOMAIN)
    there = _walk(own, search(own, {"limit": limit, "sort": sort}), "next")
    assert _domains(there) == whole
    back = _walk(own, there[-1], "previous")
    assert _domains(back[::-1]) == whole
    assert [page["size"] for page in there[:-1]] == [limit] * (len(there) - 1)
    assert back[-1]["previous"] is None
    for page in (*there, *back):
        assert sorted(page) == sorted(there[0])
        for name in ("result_id", "total_results", "filters"):
            assert page[name] == there[0][name]
        assert page["size"] == len(page["results"])
        for path in (page["next"], page["previous"]):
            assert path is None or CURSOR.fullmatch(path)


@pytest.mark.promise("page.carries", "cursor.whole_search")
def test_select_and_limit_are_carried(own: httpx.Client) -> None:
    page = search(own, {"limit": 9, "select": ["title", "pages"], "sort": "domain"})
    for later in _walk(own, page, "next")[1:]:
        assert all(set(record) == {"title", "pages", "crawled_at"} for record in later["results"])


@pytest.mark.promise("record.default")
def test_default_fields_on_later_pages(own: httpx.Client) -> None:
    for page in _walk(own, search(own, {"limit": 40}), "next"):
        for record in page["results"]:
            assert len(record) == 17
            same_record(record, BY_DOMAIN[record["domain"]])


@pytest.mark.promise("page.carries", "echo.every_page")
def test_filters_on_every_page_as_sent(client: httpx.Client) -> None:
    body = {"country": "united states", "wrapped_query": "@technology(shopify)\n!@state(NY)", "has_phone": False}
    first = search(client, {**body, "limit": 10})
    assert first["filters"]["country"] == "united states"
    assert "has_phone" not in first["filters"]
    second = _page(client, first["next"])
    third = _page(client, second["next"])
    back = _page(client, third["previous"])
    assert first["filters"] == second["filters"] == third["filters"] == back["filters"]
    assert back["results"] == second["results"]


@pytest.mark.promise("page.carries", "generic.emails")
def test_generic_addresses_stay_out_on_later_pages(client: httpx.Client, leads: list[Lead]) -> None:
    by_domain = {lead.domain: lead for lead in leads}
    page = search(client, {"exclude_generic_emails": True, "limit": 50})
    for _ in range(3):
        for record in page["results"]:
            assert record["emails"] == list(by_domain[record["domain"]].emails_personal)
        page = _page(client, page["next"])


@pytest.mark.promise("page.empty_object", "body.null", "body.empty", "page.limit")
def test_bodies_of_a_page(own: httpx.Client) -> None:
    first = search(own, {"limit": 10, "sort": "domain"})
    whole = _domains([search(own, {"limit": 100, "sort": "domain"})])
    json = {"Content-Type": "application/json"}
    second = whole[10:20]
    for response in (
        own.post(first["next"], json={}),
        own.post(first["next"], content=b"", headers=json),
        own.post(first["next"]),
        own.post(first["next"], json={"limit": None}),
        own.post(first["next"], json={}, headers={"Content-Type": "application/json; charset=utf-8"}),
    ):
        assert _domains([answered(response)]) == second
    assert _domains([answered(own.post(first["next"], json={"limit": 25}))]) == whole[10:35]
    assert _domains([answered(own.post(first["next"], json={"limit": 1}))]) == whole[10:11]


@pytest.mark.promise("page.limit")
def test_another_limit_holds_for_one_page_or_onwards_without_gaps(own: httpx.Client) -> None:
    whole = _domains([search(own, {"limit": 100, "sort": "domain"})])
    first = search(own, {"limit": 10, "sort": "domain"})
    second = answered(own.post(first["next"], json={"limit": 3}))
    rest = _walk(own, second, "next")
    assert _domains([first, *rest]) == whole
    assert {page["result_id"] for page in rest} == {first["result_id"]}


@pytest.mark.promise("page.last", "page.first")
def test_ends_when_the_total_is_a_multiple_of_limit(own: httpx.Client) -> None:
    body = {"min_spending": 1, "max_spending": 7_000_000, "wrapped_query": "!@score(77)"}
    assert search(own, body)["total_results"] == 15
    pages = _walk(own, search(own, {**body, "limit": 5}), "next")
    assert [page["size"] for page in pages] == [5, 5, 5]
    assert [page["next"] is None for page in pages] == [False, False, True]
    assert [page["previous"] is None for page in pages] == [True, False, False]


@pytest.mark.promise("cursor.again")
def test_a_cursor_can_be_used_again_and_repeats_its_page(own: httpx.Client) -> None:
    first = search(own, {"limit": 10})
    assert _page(own, first["next"])["results"] == _page(own, first["next"])["results"]


@pytest.mark.promise("limit.cursor_chars")
def test_the_longest_search_fits_a_cursor(client: httpx.Client) -> None:
    # Words that do not compress, close to the 4,000 bytes of a search.
    words = [f"{number * 7919**7 % 16**17:017x}" for number in range(1, 191)]
    body = {"wrapped_query": f"!@keywords({', '.join(words)})", "sort": "-crawled_at", "limit": 2}
    page = search(client, body)
    assert CURSOR.fullmatch(page["next"])
    assert len(page["next"]) <= 6000
    second = _page(client, page["next"])
    assert second["filters"] == page["filters"]
    assert _page(client, second["previous"])["results"] == page["results"]


@pytest.mark.promise("limit.cursor_chars")
def test_a_long_search_with_its_echo_fits_a_cursor(client: httpx.Client) -> None:
    words = [f"ZÜ{number * 7919**5 % 16**14:014X}" for number in range(1, 180)]
    body: dict[str, Any] = {"pages": ["/contact", "/about", *words], "exclude_generic_emails": True, "limit": 2}
    page = search(client, body)
    assert page["filters"] == {"pages": body["pages"], "exclude_generic_emails": True}
    assert CURSOR.fullmatch(page["next"])
    assert _page(client, page["next"])["filters"] == page["filters"]


@pytest.mark.promise("updated_within.fixed")
def test_a_relative_age_is_fixed_at_the_first_page(own_settings: Settings) -> None:
    class Later(Clock):
        now = CRAWLED + 86_400_000

        def now_ms(self) -> int:
            return self.now

    clock = Later()
    with serving(own_settings, clock) as client:
        body = {"wrapped_query": "@updated_within(1d)", "limit": 50, "select": ["domain"]}
        # Exactly a day ago is not later than a day ago.
        assert search(client, body)["total_results"] == 1
        clock.now -= 500
        first = search(client, body)
        assert first["total_results"] == sum(lead.crawled_at_ms > CRAWLED - 500 for lead in HANDMADE)
        clock.now += 3_600_000
        second = _page(client, first["next"])
        assert second["filters"] == first["filters"]
        assert len({*_domains([first, second])}) == first["total_results"]


@pytest.mark.promise("changes.fixed")
def test_days_of_a_change_are_fixed_at_the_first_page(own_settings: Settings) -> None:
    class Later(Clock):
        now = CRAWLED

        def now_ms(self) -> int:
            return self.now

    clock = Later()
    with serving(own_settings, clock) as client:
        either = "@any[ @dropped(Magento, 30d) | !@has_email ]"
        body = {"added": ["Shopify", "HubSpot", "30d"], "limit": 50, "select": ["domain"]}
        assert search(client, body)["filters"] == {"added": ["Shopify", "HubSpot", "2026-08-22"]}
        assert search(client, body)["total_results"] == 1
        first = search(client, {"wrapped_query": either, "limit": 2, "select": ["domain"]})
        assert first["filters"] == {"wrapped_query": either.replace("30d", "2026-08-22")}
        clock.now += 86_400_000
        assert search(client, body)["total_results"] == 0  # the day of the change is over
        second = _page(client, first["next"])
        assert (second["filters"], second["total_results"]) == (first["filters"], first["total_results"])


@pytest.mark.promise("page.cursor", "cursor.sealed")
def test_the_cursor_says_nothing_about_the_search(own: httpx.Client) -> None:
    body = {"wrapped_query": "!@keywords(secretword)", "limit": 2}
    one, two = (search(own, body)["next"] for _ in range(2))
    assert one != two
    assert "secretword" not in one
    assert SEARCH in one
