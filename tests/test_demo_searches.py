"""The searches that the demo is made for, in plain words, over the companies that were read from made-up pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from siteglass.corpus.demo import COMPANIES
from siteglass.index import generations
from siteglass.index.entry import enter_store
from siteglass.index.index import Index
from siteglass.index.load import load
from testing.api_calls import answered, enrich, search
from testing.service import make_test_account, run, serving, settings_for

MIN_LEADS, MIN_WITH_EMAIL = 20, 12
SEARCHES = (
    "dentists in Austin without online booking",
    "Shopify stores in Germany, Austria and Switzerland that spend over 5k and load slowly",
    "agencies in London on WordPress with LinkedIn",
    "roofers in Florida with bad SEO",
    "hotels in Italy without a booking system",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The service over these companies alone: the generated leads of the demo would only add to what is found."""
    settings = settings_for("companies", lead_store=Path(tmp_path_factory.mktemp("companies")))
    make_test_account(settings.postgres_dsn, settings.postgres_schema)

    async def fill(index: Index) -> None:
        name = await generations.create(index, generations.Shape())
        for stored in await enter_store(index, [COMPANIES]):
            assert stored.rejected == 0
            await load(index, stored.path, lambda _: None, only=name)
        await generations.promote(index, name)

    run(settings, fill)
    with serving(settings) as service:
        yield service


@pytest.mark.parametrize("sentence", SEARCHES)
def test_a_search_that_people_start_with_finds_enough(client: httpx.Client, sentence: str) -> None:
    page = search(client, {"query": sentence, "limit": 100, "select": ["domain", "emails"]})
    assert page["total_results"] >= MIN_LEADS
    assert sum(bool(lead["emails"]) for lead in page["results"]) >= MIN_WITH_EMAIL


def test_what_is_found_has_evidence(client: httpx.Client) -> None:
    page = search(client, {"query": SEARCHES[0], "limit": 20, "select": ["domain", "emails"]})
    lead = next(lead for lead in page["results"] if lead["emails"])
    enrich(client, [lead["domain"]])
    evidence = answered(client.get(f"/v1/leads/{lead['domain']}/evidence"))
    assert {one["value"] for one in evidence["emails"]} == set(lead["emails"])
    assert all(lead["domain"] in seen["page"] for one in evidence["emails"] for seen in one["seen"])
