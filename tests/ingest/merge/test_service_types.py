"""The kind of business where pages do not say it."""

from __future__ import annotations

from importlib.resources import files

import pytest

from siteglass.corpus.trade_rules import Candidate
from siteglass.ingest.kind_words import kinds_named
from siteglass.ingest.service_types import SiteTexts, service_type
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary


@pytest.mark.parametrize(
    ("stated", "technologies", "trade_ids", "expected"),
    [
        ("Firm", ["Shopify"], ["dentist"], "Firm"),  # what pages say
        ("", ["Shopify", "jQuery"], ["dentist"], "Ecommerce"),
        ("", ["WooCommerce"], ["dentist"], "Healthcare"),
        ("", ["WooCommerce"], [], "Ecommerce"),
        ("", [], ["bookkeeper"], "Financial Services"),
        ("", [], ["machine_builder"], "Manufacturer"),
        ("", [], ["roofer", "dentist"], "Local Business"),
        ("", ["jQuery"], [], ""),
    ],
)
def test_shop_systems_and_trades_tell_the_kind(
    stated: str, technologies: list[str], trade_ids: list[str], expected: str
) -> None:
    assert service_type(stated, technologies, trade_ids) == expected


def test_every_trade_has_a_kind_that_exists_or_none() -> None:
    kinds = {"", *vocabulary().values("service_type")}
    assert {service_type("", [], [trade]) for trade in trades().ids()} <= kinds


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (SiteTexts(name="Divadlo Pod Orlicí"), "Entertainment"),
        (SiteTexts(name="Tisza", title="Kapcsolat - Tisza", description="Könyvelés Szegeden"), "Firm"),
        (SiteTexts(name="益成軸承", description="深溝滾珠軸承製造商，台南永康。"), "Manufacturer"),
        (SiteTexts(name="نخيل الخليج للعقارات"), "Realtor"),
        (SiteTexts(name="Corrig", title="Lean advice for manufacturers", description="Consultants"), "Consultant"),
        (SiteTexts(name="Hotel School"), ""),  # two kinds, and no text that decides
        (SiteTexts(name="Hotel School", description="Kurse der Hochschule"), "Education"),
        (SiteTexts(name="Acme", paths=["/pricing", "/docs", "/about"]), "SaaS"),
        (SiteTexts(name="Acme", paths=["/pricing", "/about"]), ""),
        (SiteTexts(name="Barber"), "Local Business"),
        (SiteTexts(name="Innovation Works"), ""),  # neither an inn nor a workshop
    ],
)
def test_words_of_name_title_and_description_tell_the_kind(texts: SiteTexts, expected: str) -> None:
    assert service_type("", [], [], (), texts) == expected
    assert service_type("Agency", [], [], (), texts) == "Agency"


def test_a_trade_in_doubt_tells_the_kind_where_all_agree() -> None:
    roofer, painter = Candidate("roofer", "title", 20), Candidate("painter", "text", 15)
    dentist = Candidate("dentist", "text", 20)
    assert service_type("", [], [], [roofer, painter]) == "Local Business"
    assert service_type("", [], [], [roofer, dentist]) == ""
    assert service_type("", [], [], [Candidate("roofer", "text", 14)]) == ""
    # It also decides between two kinds that a name has words of.
    assert service_type("", [], [], [dentist], SiteTexts(name="Dental Hotel")) == "Healthcare"


def test_words_of_kinds_are_those_of_the_vocabulary() -> None:
    table = files("siteglass.ingest").joinpath("service_type_words.tsv").read_text(encoding="utf-8")
    kinds = {line.partition("\t")[0] for line in table.splitlines()[1:]}
    assert kinds <= set(vocabulary().values("service_type"))
    assert kinds_named("") == set()
