"""What a business is, read from its site: sites that a reader gave trades to, and each rule that they rest on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead import TRADE_SOURCES, Lead
from siteglass.corpus.trade_rules import ENOUGH, ENOUGH_BESIDE, Candidate, SiteWords, candidates, decide, with_trades
from siteglass.ingest.extract.own_trades import own_trades
from siteglass.ingest.extract.texts import texts
from siteglass.ingest.facts import TradeSighting
from siteglass.query.trades import trades
from tests.ingest.content.pages import page

SITES = Path(__file__).parents[3] / "testing" / "corpus" / "trades" / "development_sites.jsonl"
# What a site is, besides its first trade: the tables call a pt "contabilidade" a bookkeeper, a nl "zwembad" a pool.
BESIDES = {"Silva Contabilidade": "bookkeeper", "Aquabouw": "swimming_pool"}


def _sites() -> list[Any]:
    rows = [json.loads(line) for line in SITES.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row.pop("trade"), SiteWords(**row), id=row["title"]) for row in rows]


def _given(title: str = "", **words: Any) -> list[str]:
    return [one.trade for one in decide(candidates(SiteWords(**{"language": "en", "title": title, **words})))]


@pytest.mark.parametrize(("trade", "site"), _sites())
def test_sites_get_the_trade_that_a_reader_gave(trade: str, site: SiteWords) -> None:
    """A trade that ends in "?" may be read or not. Where there is none, none may be read."""
    given = decide(candidates(site))
    wanted = trade.rstrip("?")
    near = {*trades().included(wanted), *trades().parents(wanted)} if wanted else set()
    near |= {other for title, other in BESIDES.items() if site.title.startswith(title)}
    assert {one.trade for one in given} <= near
    assert wanted in {one.trade for one in given} or trade.endswith("?") or not wanted
    assert {one.source for one in given} <= set(TRADE_SOURCES)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ({"title": "Roofer in Leeds"}, ["roofer"]),
        ({"title": "Roofer in Leeds", "heading": "How to choose a roofer"}, []),
        ({"title": "Software for roofers in Leeds"}, []),
        ({"title": "Roofing leads in Leeds", "description": "Roofing leads in Leeds"}, []),
        ({"title": "Association of roofers in Leeds", "text": "The roofers of Leeds"}, []),
        ({"title": "Hill Roofing", "heading": "Hill Roofing", "text": "Hill Roofing"}, []),
        ({"title": "Hill Roofing", "heading": "Your roofers"}, ["roofer"]),
        ({"text": "We are a roofing company."}, ["roofer"]),
        ({"text": "We are next to the roofing company."}, []),
        ({"text": "Hill is a roofing company.", "domain": "hill.co.uk"}, ["roofer"]),
        ({"text": "Our neighbour is a roofing company.", "domain": "hill.co.uk"}, []),
        ({"schema_types": ["RoofingContractor"]}, ["roofer"]),
        ({"schema_types": ["HomeAndConstructionBusiness"]}, ["construction"]),
        ({"schema_types": ["HomeAndConstructionBusiness"], "heading": "Roofing"}, ["roofer"]),
        ({"schema_types": ["ProfessionalService", "LocalBusiness"]}, []),
        ({"title": "Bicycles and helmets", "description": "Bicycles", "text": "Bicycles"}, []),
        (
            {"title": "Bicycles, helmets", "description": "Bicycles", "text": "Bicycles", "service_type": "Ecommerce"},
            ["bicycle_shop"],
        ),
        ({"title": "Familienrestaurant in Ulm", "language": "de"}, ["restaurant"]),
        ({"title": "Datenbank in Ulm", "language": "de"}, []),
        ({"title": "Steuerberater in Ulm", "language": "de"}, ["tax_advisor"]),
        ({"title": "Praxis für Physiotherapie in Ulm", "language": "de"}, ["physiotherapist"]),
        ({"title": "Roofer in Leeds", "language": "fi"}, ["roofer"]),
        ({"title": "Roofer in Leeds", "text": "* <> @", "heading": "\ufffd", "description": "_"}, ["roofer"]),
    ],
)  # fmt: skip
def test_whose_trade_it_is(words: dict[str, Any], given: list[str]) -> None:
    assert _given(**words) == given


def test_the_most_certain_comes_first_and_few_are_beside_it() -> None:
    """A second trade needs more; a wider one of the best is kept; one that says little gives way."""
    read = [
        Candidate("bar", "title", ENOUGH_BESIDE),
        Candidate("restaurant", "title", ENOUGH),
        Candidate("pizzeria", "title", ENOUGH_BESIDE + 1),
        Candidate("hotel", "title", ENOUGH_BESIDE - 1),
        Candidate("cafe", "text", ENOUGH_BESIDE),
        Candidate("gastronomy", "schema.org", 90),
        Candidate("dentist", "title", ENOUGH - 1),
    ]
    assert [one.trade for one in decide(read)] == ["pizzeria", "bar", "restaurant"]
    assert decide(reversed(read)) == decide(read)
    assert decide([Candidate("gastronomy", "schema.org", 50)]) == (Candidate("gastronomy", "schema.org", 50),)
    assert decide([]) == ()


def test_records_without_trades_get_them_and_given_ones_stay() -> None:
    lead = Lead(domain="hill.com", crawled_at_ms=0, title="Roofer in Leeds", language="en")
    filled = with_trades(lead)
    assert (filled.trades, filled.trade_sources) == (("roofer",), {"roofer": "title"})
    assert with_trades(filled) is filled
    given = Lead(domain="hill.com", crawled_at_ms=0, title="Roofer in Leeds", language="en", trades=("hotel",))
    assert with_trades(given) is given
    assert with_trades(Lead(domain="hill.com", crawled_at_ms=0)).trades == ()


def _of_page(html: str, *, is_key_page: bool = True) -> tuple[TradeSighting, ...]:
    read = page(html, "https://hill.com/")
    return own_trades(
        read,
        texts(read),
        name="",
        domain="hill.com",
        paths=(),
        language="en",
        service_types=(),
        is_key_page=is_key_page,
    )


def test_pages_give_candidates_with_where_they_were_read() -> None:
    typed = '<script type="application/ld+json">{"@type": "Dentist"}</script>'
    html = f"<title>Dentist in Leeds</title>{typed}<h1>Hello</h1><h2>Orthodontist</h2>"
    assert _of_page(html) == (TradeSighting("dentist", "schema.org", 90), TradeSighting("orthodontist", "text", 20))
    other = '{"@type": "Product", "brand": {"@type": "Brand", "manufacturer": {"@type": "Dentist"}}}'
    assert _of_page(f'<script type="application/ld+json">{other}</script>') == ()


def test_a_page_that_is_not_a_key_page_speaks_by_its_type_alone() -> None:
    typed = '<script type="application/ld+json">{"@type": "Dentist"}</script>'
    assert _of_page("<title>Roofer in Leeds</title>", is_key_page=False) == ()
    assert _of_page(f"<title>Roofer in Leeds</title>{typed}", is_key_page=False) == (
        TradeSighting("dentist", "schema.org", 50),
    )
