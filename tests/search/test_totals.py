"""A total that cannot be counted in time is estimated from a sample, says so on every page, and never fails a page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index import pages
from siteglass.index.index import Index
from siteglass.query.criteria import Criteria
from siteglass.query.filters import write_filters
from siteglass.settings import Settings
from testing.random_searches import Drawer
from testing.reference_scan import matching
from testing.service import run, serving
from testing.slow_counts import SlowCounts

LIMIT = 5
BODY = {"wrapped_query": "@has_email", "limit": LIMIT}
# Counts have 400 ms, samples 1 s, searches 5 s, requests 10 s.
EXACT_MS, SEARCH_MS, REQUEST_MS = 400, 5_000, 10_000
SEARCHES = 60


@pytest.fixture
def engine(live_settings: Settings) -> Iterator[SlowCounts]:
    with SlowCounts(live_settings.opensearch_urls[0]) as made:
        yield made


@pytest.fixture
def client(engine: SlowCounts, live_settings: Settings) -> Iterator[httpx.Client]:
    """The service with two nodes whose counts can be made slow."""
    settings = replace(
        live_settings,
        opensearch_urls=engine.urls,
        total_exact_ms=EXACT_MS,
        search_timeout_ms=SEARCH_MS,
        request_timeout_ms=REQUEST_MS,
        charge_timeout_ms=2_000,
    )
    with serving(settings) as made:
        made.post("/v1/leads/search", json=BODY)  # so that connections are open
        engine.sent.clear()
        yield made


def headers_of(answer: httpx.Response) -> tuple[str | None, str | None]:
    return answer.headers.get("X-Total-Estimated"), answer.headers.get("X-Total-Error")


@pytest.mark.promise("setting.total_exact_ms", "total.estimated")
def test_an_estimated_total_is_near_and_marked(live_settings: Settings) -> None:
    with serving(live_settings) as client:
        exact = client.post("/v1/leads/search", json=BODY)
    with serving(replace(live_settings, total_exact_ms=0)) as client:
        estimated = client.post("/v1/leads/search", json=BODY)
        second = client.post(estimated.json()["next"], json={})
    assert headers_of(exact) == (None, None)
    # 1 of 64 leads is counted: about 200 here, so that 20 % is three standard deviations.
    total, error = exact.json()["total_results"], int(estimated.headers["X-Total-Error"])
    assert headers_of(second) == headers_of(estimated) == ("true", str(error))
    assert abs(estimated.json()["total_results"] - total) < error < 0.25 * total
    assert estimated.json()["total_results"] % 64 == 0
    assert second.json()["total_results"] == estimated.json()["total_results"]
    assert estimated.json()["results"] == exact.json()["results"]


@pytest.mark.promise("total.error")
def test_estimates_are_within_their_errors(live_settings: Settings, leads: list[Lead]) -> None:
    drawer = Drawer(leads, seed=55)
    within = estimated = 0
    with serving(replace(live_settings, total_exact_ms=0)) as client:
        while estimated < SEARCHES:
            criteria = drawer.criteria()
            answer = client.post("/v1/leads/search", json={**write_filters(criteria), "limit": 5, "dry_run": True})
            total = len(matching(criteria, leads))
            if "X-Total-Error" in answer.headers:
                estimated += 1
                within += abs(answer.json()["total_results"] - total) <= int(answer.headers["X-Total-Error"])
            else:
                assert answer.json()["total_results"] == total <= 5, "a page that no other follows has all leads"
    assert within >= 0.95 * estimated


@pytest.mark.promise("total.late")
def test_a_count_that_takes_long_costs_no_page(engine: SlowCounts, client: httpx.Client) -> None:
    """On both nodes. Nothing is repeated, so the engine gets as much as without the fault, and the samples."""
    engine.delays_s = {"count": 10}
    begun = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post("/v1/leads/search", json=BODY), range(40)))
    assert {answer.status_code for answer in answers} == {200}
    assert time.monotonic() - begun < 5 * REQUEST_MS / 1000
    assert {answer.headers["X-Total-Estimated"] for answer in answers} == {"true"}
    # Only those that came before the first count was late asked for both at once, and again.
    assert 1 <= engine.sent.pop("both") <= 10
    assert engine.sent == {"page": 40, "count": 40, "sample": 40}

    engine.delays_s = {}
    first, again = answers[0], client.post("/v1/leads/search", json=BODY)
    assert headers_of(again) == (None, None)
    later = client.post(first.json()["next"], json={})
    assert headers_of(later) == headers_of(first)
    assert later.json()["total_results"] == first.json()["total_results"] != again.json()["total_results"]


@pytest.mark.promise("total.known")
def test_without_a_sample_the_total_is_what_is_known(engine: SlowCounts, client: httpx.Client) -> None:
    engine.delays_s = {"count": 10, "sample": 10}
    first = client.post("/v1/leads/search", json=BODY)
    later = client.post(first.json()["next"], json={})
    for answer in (first, later):
        assert answer.status_code == 200
        assert headers_of(answer) == ("true", "unknown")
        assert answer.json()["total_results"] == LIMIT + 1
    assert engine.sent == {"both": 1, "page": 2, "count": 1, "sample": 1}


@pytest.mark.promise("total.known")
def test_the_leads_of_an_only_page_are_all(engine: SlowCounts, client: httpx.Client, leads: list[Lead]) -> None:
    engine.delays_s = {"count": 10}
    drawer, few = Drawer(leads, seed=3), list[Lead]()
    while not 1 <= len(few) <= 100:
        criteria = drawer.criteria()
        few = matching(criteria, leads)
    answer = client.post("/v1/leads/search", json={**write_filters(criteria), "limit": 100, "dry_run": True})
    assert answer.json()["total_results"] == len(few)
    assert headers_of(answer) == (None, None)
    assert engine.sent["sample"] == 0, "it does not wait for the count"


def test_a_caller_who_leaves_takes_the_count_along(engine: SlowCounts, live_settings: Settings) -> None:
    engine.delays_s = {"count": 10, "page": 10}

    async def leave(index: Index) -> None:
        searching = asyncio.create_task(pages.first_page(index, Criteria(), "-score", 5))
        await asyncio.sleep(0.5)
        searching.cancel()
        await asyncio.sleep(1)
        assert engine.sent == {"both": 1, "page": 1, "count": 1}
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(replace(live_settings, opensearch_urls=engine.urls[:1], search_timeout_ms=SEARCH_MS), leave)
