"""GET /v1/values/{field}: among equally good matches, values that more leads have come first."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generation_cache, generations
from siteglass.index.administration import admin
from siteglass.index.documents import trade_tree
from siteglass.index.index import Index
from siteglass.index.load import load
from siteglass.index.value_counts import ValueCounter
from siteglass.query.completion import COMPLETABLE, KnownValue, complete
from siteglass.query.folding import compact, fold
from siteglass.query.vocabulary import vocabulary
from siteglass.settings import Settings
from testing.api_calls import VALUES, answered
from testing.service import make_test_account, run, settings_for

WORDS = vocabulary()
EVERYTHING = 1_000_000

# What a lead has of each field, without the engine: the reference for the engine's counts.
HAS: dict[str, Callable[[Lead], Any]] = {
    "country": lambda lead: [lead.country],
    "language": lambda lead: [lead.language],
    "state": lambda lead: [f"{WORDS.country_alpha2(lead.country)}-{lead.state}"],
    "city": lambda lead: [f"{lead.country} {lead.city}"],
    "region": lambda lead: [WORDS.region_of(lead.country) or ""],
    "subregion": lambda lead: [WORDS.subregion_of(lead.country) or ""],
    "technologies": lambda lead: lead.technologies or (),
    "added": lambda lead: lead.technologies or (),
    "dropped": lambda lead: lead.technologies or (),
    "categories_uses": lambda lead: lead.categories_uses,
    "lacks": lambda lead: lead.categories_uses,
    "offers": lambda lead: lead.offers,
    "service_type": lambda lead: [lead.service_type],
    "trades": lambda lead: trade_tree(lead.trades),
}


def _counted(leads: list[Lead], field: str) -> Callable[[KnownValue], int]:
    counts = Counter(fold(value) for lead in leads for value in HAS[field](lead))
    if field == "city":
        return lambda known: counts[fold(f"{known.country} {known.value}")]
    return lambda known: counts[fold(known.value)]


def _values(client: httpx.Client, field: str, **parameters: Any) -> list[str]:
    return [one["value"] for one in answered(client.get(f"{VALUES}/{field}", params=parameters))["values"]]


def test_the_reference_covers_every_field() -> None:
    assert {one.field for one in COMPLETABLE.values()} <= {*HAS, "trades"}


@pytest.fixture(scope="module")
def counted(client: httpx.Client) -> httpx.Client:
    """The service over the demo leads, once it has counted them: on a busy machine the first requests come before."""
    deadline = time.monotonic() + 60
    while _values(client, "technologies", limit=1) == [complete("technology", "", 1)[0][0].known.value]:
        assert time.monotonic() < deadline, "the leads were not counted"
        time.sleep(0.1)
    return client


@pytest.mark.promise("values.order")
def test_the_shop_that_most_leads_use_comes_first(counted: httpx.Client) -> None:
    assert _values(counted, "technologies", q="shop", limit=1) == ["Shopify"]
    assert _values(counted, "technologies", q="word", limit=1) == ["WordPress"]
    assert _values(counted, "technologies", q="google", limit=1) == ["Google Analytics"]


@pytest.mark.promise("values.order")
@pytest.mark.parametrize("field", HAS)
def test_without_a_text_by_number_of_leads(counted: httpx.Client, leads: list[Lead], field: str) -> None:
    usual, _ = complete(COMPLETABLE[field].kind, "", EVERYTHING)
    count_of = _counted(leads, field)
    expected = sorted((one.known for one in usual), key=lambda known: -count_of(known))
    assert count_of(expected[0]) > 0
    assert _values(counted, field, limit=50) == [known.value for known in expected[:50]]


@pytest.mark.promise("values.order")
@pytest.mark.parametrize("text", ["s", "sh", "go", "wo"])
def test_names_that_start_so_by_number_of_leads(counted: httpx.Client, leads: list[Lead], text: str) -> None:
    count_of = _counted(leads, "technologies")
    usual, _ = complete("technology", text, EVERYTHING)
    begun = [one.known for one in usual if compact(one.known.name).startswith(text)]
    expected = sorted(begun, key=lambda known: -count_of(known))[:50]
    found = _values(counted, "technologies", q=text, limit=50)
    equal = [known.value for known in begun if compact(known.name) == text]
    rest = [known.value for known in expected if known.value not in equal]
    assert found[: len(expected)] == [*equal, *rest]


def test_within_a_country_its_own_leads_count(counted: httpx.Client, leads: list[Lead]) -> None:
    count_of = _counted(leads, "city")
    usual, _ = complete("city", "", EVERYTHING, "CAN")
    expected = sorted((one.known for one in usual), key=lambda known: -count_of(known))
    assert _values(counted, "city", country="CAN", limit=20) == [known.value for known in expected[:20]]


@pytest.mark.promise("values.order")
def test_an_equal_name_comes_first_however_few_leads_have_it(counted: httpx.Client, leads: list[Lead]) -> None:
    count_of = _counted(leads, "technologies")
    for name in ("Wix", "Google Ads", "Stripe"):
        assert _values(counted, "technologies", q=name, limit=1) == [name]
    rare = next(
        one.known
        for one in complete("technology", "", EVERYTHING)[0]
        if not count_of(one.known)
        and any(count_of(other.known) for other in complete("technology", one.known.name, 50)[0])
    )
    assert _values(counted, "technologies", q=rare.name, limit=1) == [rare.value]


@pytest.fixture
def shops(tmp_path: Path) -> Settings:
    settings = settings_for(f"counts-{tmp_path.name}")
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    return settings


def _promoted(index: Index, folder: Path, *technologies: str) -> Any:
    async def action() -> str:
        name = await generations.create(index, generations.Shape())
        path = folder / f"{name}.parquet"
        leads = [Lead(domain=f"{n}.example", crawled_at_ms=1, technologies=(t,)) for n, t in enumerate(technologies)]
        write_parquet(path, leads)
        await load(index, path, lambda _: None, only=name)
        await generations.promote(index, name)
        return name

    return action()


def test_counts_are_taken_again_when_another_generation_is_live(
    shops: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first_shop(counter: ValueCounter) -> str:
        await counter.popularity("technologies", "technology")
        if counter._counting:
            await counter._counting
        popularity = await counter.popularity("technologies", "technology")
        return complete("technology", "shop", 1, None, popularity)[0][0].known.value

    async def action(index: Index) -> None:
        counter = ValueCounter(index)
        assert await counter.popularity("technologies", "technology") is None  # no generation is live
        monkeypatch.setattr(counter, "_look_at", 0.0)
        old = await _promoted(index, tmp_path, "Shoptet", "Shoptet", "Shopify")
        assert await first_shop(counter) == "Shoptet"
        new = await _promoted(index, tmp_path, "Shoptet", "Shopify", "Shopify")
        assert await first_shop(counter) == "Shoptet"  # not looked again yet
        monkeypatch.setattr(counter, "_look_at", 0.0)
        assert await first_shop(counter) == "Shopify"
        for name in (old, new):
            await admin(index, "DELETE", f"/{name}")

    run(shops, action)


def test_without_the_engine_the_order_is_the_usual_one(shops: Settings, closed_port: int) -> None:
    away = replace(shops, opensearch_urls=(f"http://127.0.0.1:{closed_port}",))

    async def action(index: Index) -> None:
        counter = ValueCounter(index)
        assert await counter.popularity("technologies", "technology") is None
        assert counter._look_at > 0

    run(away, action)


def test_an_engine_that_does_not_answer_holds_nobody_up_for_long(
    shops: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation_cache, "FIRST_WAIT_S", 0.05)

    async def action(index: Index) -> None:
        released = asyncio.Event()

        async def frozen(_index: Index) -> str | None:
            await released.wait()
            return None

        monkeypatch.setattr(generations, "live", frozen)
        counter = ValueCounter(index)
        async with asyncio.timeout(5):
            assert await counter.popularity("technologies", "technology") is None
            assert await counter.popularity("technologies", "technology") is None
        released.set()

    run(shops, action)
