"""Leads whose score, spending or crawl is unknown come last in every order, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index.documents import sort_keys
from siteglass.index.pages import LAST_RANK
from siteglass.query.cursor import Continuation, CursorSealer, Position
from siteglass.query.fields import OLD_SCORE_SORT, SORTS
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.service import SECRET, filled, run, serving
from tests.search.test_pages import domains, in_order, walk

SCORED, UNSCORED = 30, 12


@pytest.fixture(scope="module")
def mixed() -> list[Lead]:
    """Leads with and without a score; some share one, and the highest and lowest are there."""
    made = list(generate(SCORED + UNSCORED, seed=431))
    scores = [0, 0, 100, 100, *(range(20, 20 + SCORED - 4))]
    return [
        msgspec.structs.replace(
            lead,
            score=scores[number] if number < SCORED else None,
            crawled_at_ms=lead.crawled_at_ms if number % 3 else 0,
            newest_fact_ms=lead.crawled_at_ms,
        )
        for number, lead in enumerate(made)
    ]


@pytest.fixture(scope="module")
def settings(mixed: list[Lead], tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return filled("unknown-last", mixed, tmp_path_factory.mktemp("unknown"))


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings) as service:
        yield service


@pytest.mark.promise("search.sort")
def test_what_was_never_fetched_comes_last(client: httpx.Client, mixed: list[Lead]) -> None:
    pages = walk(client, {"sort": "-crawled_at", "limit": 7, "select": ["domain"]}, "next")
    times = [record["crawled_at"] for page in pages for record in page["results"]]
    never = sum(not lead.crawled_at_ms for lead in mixed)
    assert times[-never:] == [None] * never
    assert None not in times[:-never]
    after = client.post("/v1/leads/search", json={"updated_after": "1970-01-01T00:00:00Z"}).json()
    assert after["total_results"] == len(mixed) - never


@pytest.mark.promise("search.sort")
def test_a_short_page_from_fetched_to_never_fetched(mixed: list[Lead], tmp_path: Path) -> None:
    """It spans nearly all keys, and a full page would span more than 64 bits."""
    fetched = [lead for lead in mixed if lead.crawled_at_ms][:21]
    never = next(lead for lead in mixed if not lead.crawled_at_ms)
    with serving(filled("unknown-short", [*fetched, never], tmp_path)) as client:
        body = {"sort": "-crawled_at", "limit": 20, "select": ["domain"]}
        forward = walk(client, body, "next")
        back = walk(client, body, "previous", forward[-1]["previous"])
    assert [page["size"] for page in (*forward, *back)] == [20, 2, 20]
    assert forward[-1]["results"][-1]["domain"] == never.domain


def scores(pages: list[dict[str, Any]]) -> list[int | None]:
    return [record["score"] for page in pages for record in page["results"]]


@pytest.mark.promise("search.sort")
def test_low_scores_come_first_and_no_score_last(client: httpx.Client) -> None:
    pages = walk(client, {"sort": "score", "limit": 7, "select": ["domain", "score"]}, "next")
    known = [score for score in scores(pages) if score is not None]
    assert known == sorted(known)
    assert scores(pages) == [*known, *[None] * UNSCORED]
    assert [page["size"] for page in pages] == [7] * 6


# 10 ends a page exactly at the seam, 29 and 31 one lead before and after it, 42 holds everything.
@pytest.mark.parametrize("limit", [1, 4, 10, 29, 30, 31, 41, 42, 100])
@pytest.mark.parametrize("sort", SORTS)
def test_a_walk_there_and_back(client: httpx.Client, mixed: list[Lead], sort: str, limit: int) -> None:
    body = {"sort": sort, "limit": limit, "select": ["domain"]}
    expected = in_order(mixed, sort)
    forward = walk(client, body, "next")
    assert domains(forward, set(expected)) == expected
    assert forward[0]["previous"] is None
    assert all(page["size"] == limit for page in forward[:-1])
    back = walk(client, body, "previous", forward[-1]["previous"]) if len(forward) > 1 else []
    assert domains([*reversed(back), forward[-1]], set(expected)) == expected
    assert len(back) == len(forward) - 1


@pytest.mark.parametrize(
    ("filters", "unknown"), [({"min_score": 30}, 0), ({"wrapped_query": "!@score(<30)"}, UNSCORED)]
)
def test_a_condition_on_the_score(client: httpx.Client, filters: dict[str, Any], unknown: int) -> None:
    pages = walk(client, {**filters, "sort": "score", "limit": 5, "select": ["score"]}, "next")
    known = [*range(30, 20 + SCORED - 4), 100, 100]
    assert scores(pages) == [*known, *[None] * unknown]


def test_only_leads_without_a_score(client: httpx.Client, mixed: list[Lead]) -> None:
    unscored = [lead for lead in mixed if lead.score is None]
    body = {"wrapped_query": "!@score(>=1)\n!@score(<2)", "sort": "score", "limit": 5, "select": ["domain"]}
    pages = walk(client, body, "next")
    assert domains(pages, {lead.domain for lead in mixed}) == in_order(unscored, "score")
    assert pages[0]["previous"] is None
    assert walk(client, body, "previous", pages[-1]["previous"])[-1]["results"] == pages[0]["results"]


def test_a_cursor_of_the_release_before_continues_in_its_order(
    client: httpx.Client, settings: Settings, mixed: list[Lead]
) -> None:
    account = run(
        settings, lambda index: index.postgres.fetchrow("SELECT id FROM {schema}.accounts WHERE name = 'tests'")
    )
    assert account is not None
    start = Continuation({}, ("domain",), OLD_SCORE_SORT, 10, Position(LAST_RANK, ""), len(mixed), 0, "0" * 32)
    cursor = CursorSealer((SECRET,), 3_600).seal(start, str(account["id"]), 2**31 - 1)
    pages = walk(client, {}, "next", f"/v1/leads/search/{cursor}")
    old = sorted(mixed, key=lambda lead: (sort_keys(lead).rank, lead.domain), reverse=True)
    assert domains(pages, {lead.domain for lead in mixed}) == [lead.domain for lead in old]
    assert walk(client, {}, "previous", pages[-1]["previous"])[-1]["results"] == pages[0]["results"]


def test_the_old_order_cannot_be_asked_for(client: httpx.Client) -> None:
    assert client.post("/v1/leads/search", json={"sort": OLD_SCORE_SORT}).status_code == 400
