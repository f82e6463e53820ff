"""Walking pages to the end and back while others are written: every unchanged lead once, in every order."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index.documents import sort_keys
from siteglass.query.criteria import Criteria
from siteglass.query.fields import SORTS
from siteglass.query.filters import write_filters
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.outcomes import by_night, first_by_day
from testing.random_searches import Drawer
from testing.reference_scan import matching
from testing.service import add, serving

# 500 searches are walked with SITEGLASS_LONG=1, every night 25, in each run 5.
CHUNKS, PER_CHUNK = (25, 20) if os.environ.get("SITEGLASS_LONG") else (5, 5)
LEAST, MOST = 40, 1_200

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover

KEYS: dict[str, Callable[[Lead], Any]] = {
    "-score": lambda lead: (sort_keys(lead).rank, lead.domain),
    # Reversed, so that leads without a score are the last.
    "score": lambda lead: (lead.score is not None, sort_keys(lead).rank, lead.domain),
    "-spending": lambda lead: (sort_keys(lead).spending_rank, lead.domain),
    "-crawled_at": lambda lead: (sort_keys(lead).crawled_rank, lead.domain),
    "domain": lambda lead: lead.domain,
}


def in_order(leads: list[Lead], sort: str) -> list[str]:
    """The domains as the order puts them."""
    return [lead.domain for lead in sorted(leads, key=KEYS[sort], reverse=sort == "score")]


@pytest.fixture
def written(changing_settings: Settings, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """A writer that adds other leads, spread over the whole order, until the test ends."""
    stop = threading.Event()
    seed = request.node.callspec.params["chunk"]

    def write() -> None:
        added = 0
        while not stop.wait(1):
            fresh = list(generate(40, seed=90_000 + seed, start=added))
            added += 40
            renamed = [msgspec.structs.replace(lead, domain=f"w{seed}-{added}-{lead.domain}"[:200]) for lead in fresh]
            add(changing_settings, renamed, tmp_path)

    writer = threading.Thread(target=write)
    writer.start()
    yield
    stop.set()
    writer.join()


def walk(client: httpx.Client, body: dict[str, Any], direction: str, start: str | None = None) -> list[dict[str, Any]]:
    """All pages from the first, or from a path, in one direction."""
    pages: list[dict[str, Any]] = []
    path: str | None = start
    if start is None:
        pages.append(client.post("/v1/leads/search", json=body).raise_for_status().json())
        path = pages[-1][direction]
    while path:
        pages.append(client.post(path, json={}).raise_for_status().json())
        path = pages[-1][direction]
    return pages


def domains(pages: list[dict[str, Any]], among: set[str]) -> list[str]:
    """The domains of pages in their order, of those that were there all the time."""
    return [record["domain"] for page in pages for record in page["results"] if record["domain"] in among]


def drawn(client: httpx.Client, drawer: Drawer, leads: list[Lead]) -> tuple[Criteria, list[Lead]]:
    """A search that matches neither too few nor too many: the engine guesses, the reference scan decides."""
    while True:
        made = drawer.criteria()
        total = client.post("/v1/leads/search", json={**write_filters(made), "limit": 1}).json()["total_results"]
        if LEAST <= total <= 2 * MOST:
            expected = matching(made, leads)
            if LEAST <= len(expected) <= MOST:
                return made, expected


@pytest.mark.promise("page.envelope", "page.walk")
@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("chunk", range(CHUNKS) if os.environ.get("SITEGLASS_LONG") else first_by_day(range(CHUNKS)))
def test_a_walk_there_and_back_meets_every_unchanged_lead_once(
    changing_settings: Settings, leads: list[Lead], chunk: int
) -> None:
    drawer = Drawer(leads, seed=5_000 + chunk)
    choose = random.Random(chunk)
    unchanged = {lead.domain for lead in leads}
    with serving(changing_settings) as client:
        for number in range(PER_CHUNK):
            made, expected = drawn(client, drawer, leads)
            sort = SORTS[number % len(SORTS)]
            # At most some 25 pages: a small limit for a large result would only take long.
            limit = min(100, max(choose.choice((7, 20, 50, 100)), len(expected) // 25))
            body = {**write_filters(made), "limit": limit, "sort": sort, "select": ["domain"]}
            forward = walk(client, body, "next")
            last = forward[-1]["previous"]
            back = walk(client, body, "previous", last) if last else []
            ordered = in_order(expected, sort)
            assert domains(forward, unchanged) == ordered
            backward = [*reversed(back), forward[-1]]
            assert domains(backward, unchanged) == ordered
            assert {page["total_results"] for page in (*forward, *back)} == {forward[0]["total_results"]}
            assert {page["result_id"] for page in (*forward, *back)} == {forward[0]["result_id"]}
            assert all(page["filters"] == forward[0]["filters"] for page in (*forward, *back))
            assert all(page["size"] == len(page["results"]) for page in (*forward, *back))
            assert all(page["size"] == limit for page in forward[:-1])


def test_every_order_is_walked_as_often_as_the_others() -> None:
    assert PER_CHUNK % len(SORTS) == 0


@pytest.mark.promise("search.sort")
@pytest.mark.parametrize("chunk", [0, *by_night(*range(1, 100))])
def test_a_search_in_every_order_ends_with_the_unknown(client: httpx.Client, leads: list[Lead], chunk: int) -> None:
    drawer = Drawer(leads, seed=7_000 + chunk)
    for _ in range(5):
        made, expected = drawn(client, drawer, leads)
        among = {lead.domain for lead in expected}
        for sort in SORTS:
            body = {**write_filters(made), "limit": 100, "sort": sort, "select": ["domain"]}
            forward = walk(client, body, "next")
            last = forward[-1]["previous"]
            back = walk(client, body, "previous", last) if last else []
            ordered = in_order(expected, sort)
            assert domains(forward, among) == ordered, (made, sort)
            assert domains([*reversed(back), forward[-1]], among) == ordered, (made, sort)
            assert sum(page["size"] for page in forward) == len(ordered)


@pytest.fixture(scope="module")
def whole_pages(client: httpx.Client, leads: list[Lead]) -> tuple[Criteria, int]:
    """A search that fills pages of ten, and how many of them."""
    drawer = Drawer(leads, seed=1)
    made, expected = drawn(client, drawer, leads)
    while len(expected) % 10 or len(expected) > 400:
        made, expected = drawn(client, drawer, leads)
    return made, len(expected) // 10


@pytest.mark.promise("page.last")
@pytest.mark.parametrize("sort", SORTS)
def test_ends_are_null_also_when_the_total_is_a_multiple_of_limit(
    client: httpx.Client, whole_pages: tuple[Criteria, int], sort: str
) -> None:
    made, count = whole_pages
    pages = walk(client, {**write_filters(made), "limit": 10, "sort": sort}, "next")
    assert len(pages) == count
    assert pages[0]["previous"] is None
    assert [page["next"] is None for page in pages] == [False] * (len(pages) - 1) + [True]


def test_nothing_found_is_an_empty_page(client: httpx.Client) -> None:
    answer = client.post("/v1/leads/search", json={"technologies": ["no such thing"]}).json()
    assert (answer["total_results"], answer["size"], answer["results"]) == (0, 0, [])
    assert answer["next"] is None
    assert answer["previous"] is None


def test_a_page_can_be_asked_with_another_limit(client: httpx.Client) -> None:
    whole = client.post("/v1/leads/search", json={"limit": 60, "select": ["domain"]}).json()["results"]
    first = client.post("/v1/leads/search", json={"limit": 10, "select": ["domain"]}).json()
    second = client.post(first["next"], json={"limit": 50}).json()
    assert second["results"] == whole[10:60]
    third = client.post(second["previous"], content=b"").json()
    assert third["results"] == whole[:10]
    assert third["previous"] is None
