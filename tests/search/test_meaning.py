"""Every filter and directive, positive and negated, matches exactly the leads that a reference scan matches."""

from __future__ import annotations

import os
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index.compile import compile_criteria
from siteglass.index.documents import sort_keys
from siteglass.index.index import Index
from siteglass.query.criteria import Criteria, criteria
from siteglass.query.directives import parse, print_condition, print_criteria
from siteglass.query.fields import ASKED
from siteglass.query.filters import write_filters
from siteglass.settings import Settings
from testing.outcomes import by_night
from testing.random_searches import Drawer
from testing.reference_scan import matching
from testing.service import run

FIELDS = sorted(set(ASKED) - {"updated_within"})
# Hundreds of searches with SITEGLASS_LONG=1, in each run a quarter of them.
LONG = bool(os.environ.get("SITEGLASS_LONG"))
PER_FIELD = 6 if LONG else 2
RANDOM_CHUNKS, PER_CHUNK = 8, 32 if LONG else 8
# With SITEGLASS_LONG=1 more than 500 searches have alternatives.
WITH_ALTERNATIVES = 64 if LONG else 8

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


def test_enough_criteria_are_read() -> None:
    assert len(FIELDS) * PER_FIELD + RANDOM_CHUNKS * PER_CHUNK >= (400 if LONG else 100)


def _all_domains(settings: Settings, searches: list[Criteria]) -> list[set[str]]:
    """Every domain that the engine finds for the compiled criteria, without going through pages."""

    async def action(index: Index) -> list[set[str]]:
        found: list[set[str]] = []
        for made in searches:
            domains: list[str] = []
            body: dict[str, Any] = {
                "size": 10_000,
                "query": compile_criteria(made),
                "stored_fields": "_none_",  # doc values only: ten thousand stored records would take a second
                "sort": [{"rank": "asc"}, {"domain": "asc"}],
                "track_total_hits": False,
            }
            while True:
                answer = await index.opensearch.request("POST", f"/{index.names.read}/_search", body, timeout_ms=20_000)
                hits = answer["hits"]["hits"]
                domains.extend(hit["sort"][1] for hit in hits)
                if len(hits) < 10_000:
                    break
                body["search_after"] = hits[-1]["sort"]
            found.append(set(domains))
        return found

    return run(settings, action)


@pytest.fixture(scope="module")
def ranked(leads: list[Lead]) -> list[Lead]:
    """The leads in the order that is the default, and so all that is found among them."""
    return sorted(leads, key=lambda lead: (sort_keys(lead).rank, lead.domain))


def _check(client: httpx.Client, settings: Settings, ranked: list[Lead], searches: list[Criteria]) -> int:
    matched = 0
    for made, found in zip(searches, _all_domains(settings, searches), strict=True):
        expected = matching(made, ranked)
        matched += bool(expected)
        assert found == {lead.domain for lead in expected}, made
        answer = client.post(
            "/v1/leads/search", json={**write_filters(made), "limit": 100, "select": ["domain"]}
        ).json()
        assert answer["total_results"] == len(expected), made
        assert [record["domain"] for record in answer["results"]] == [lead.domain for lead in expected[:100]], made
    return matched


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_positive_and_negated(
    client: httpx.Client, live_settings: Settings, leads: list[Lead], ranked: list[Lead], field: str
) -> None:
    drawer = Drawer(leads, seed=FIELDS.index(field))
    searches = [criteria([drawer.condition(field, negated=bool(n % 2))]) for n in range(PER_FIELD)]
    assert _check(client, live_settings, ranked, searches) >= PER_FIELD // 2


@pytest.mark.parametrize("chunk", [*range(RANDOM_CHUNKS // 2), *by_night(*range(RANDOM_CHUNKS // 2, RANDOM_CHUNKS))])
def test_random_criteria(
    client: httpx.Client, live_settings: Settings, leads: list[Lead], ranked: list[Lead], chunk: int
) -> None:
    drawer = Drawer(leads, seed=1_000 + chunk)
    searches = [drawer.criteria() for _ in range(PER_CHUNK)]
    assert _check(client, live_settings, ranked, searches) >= PER_CHUNK // 3


@pytest.mark.promise("directives.any")
@pytest.mark.parametrize("chunk", [*range(RANDOM_CHUNKS // 2), *by_night(*range(RANDOM_CHUNKS // 2, RANDOM_CHUNKS))])
def test_random_alternatives(
    client: httpx.Client, live_settings: Settings, leads: list[Lead], ranked: list[Lead], chunk: int
) -> None:
    """Scanned as they are drawn, searched in canonical form; sent as drawn, repeated by their echo, page by page."""
    drawer = Drawer(leads, seed=2_000 + chunk)
    drawn = [drawer.with_alternatives() for _ in range(WITH_ALTERNATIVES)]
    searches = [criteria(clauses) for clauses in drawn]
    assert _check(client, live_settings, ranked, searches) >= WITH_ALTERNATIVES // 3
    for clauses, made in zip(drawn, searches, strict=True):
        expected = [lead.domain for lead in matching(Criteria(tuple(clauses)), ranked)]
        assert expected == [lead.domain for lead in matching(made, ranked)], clauses
        text = "\n".join(map(print_condition, clauses))
        assert parse(text) == made
        assert criteria(made.conditions) == made
        assert parse(print_criteria(made)) == made
        limit = min(100, max(1, len(expected) // 2))
        body = {"wrapped_query": text, "limit": limit, "select": ["domain"]}
        page = client.post("/v1/leads/search", json=body).json()
        shown = [record["domain"] for record in page["results"]]
        if page["next"]:
            after = client.post(page["next"], json={}).json()
            assert after["filters"] == page["filters"]
            shown += [record["domain"] for record in after["results"]]
        assert shown == expected[: 2 * limit], text
        again = client.post("/v1/leads/search", json={**page["filters"], "limit": 1}).json()
        assert (again["filters"], again["total_results"]) == (page["filters"], len(expected)), text
