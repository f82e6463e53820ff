"""Kinds of business and offers, told by rules."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.schema_types import SERVICE_TYPE_OF
from siteglass.ingest.extract.texts import texts
from siteglass.ingest.extract.trade_words import PHRASES
from siteglass.ingest.extract.trades import Trade, trade
from siteglass.query.vocabulary import vocabulary
from tests.ingest.content.pages import page


def _trade(html: str, url: str = "https://acme.com/", paths: tuple[str, ...] = (), is_key_page: bool = True) -> Trade:
    read = page(html, url)
    return trade(read, texts(read), paths, is_key_page=is_key_page)


def _ld(types: str) -> str:
    return f'<script type="application/ld+json">{{"@type": {types}, "name": "Acme"}}</script>'


@pytest.mark.parametrize(
    ("html", "service_types", "offers"),
    [
        (_ld('"Restaurant"'), ("Hospitality",), ()),
        (_ld('"Dentist"'), ("Healthcare",), ("healthcare",)),
        (_ld('["Organization", "LegalService"]'), ("Firm",), ("legal_service",)),
        (_ld('"ShoeStore"'), ("Ecommerce",), ("ecommerce",)),
        (_ld('"RealEstateAgent"'), ("Realtor",), ("real_estate",)),
        (_ld('"Organization"'), (), ()),
        ("<title>Smith & Sons, Attorneys at Law</title>", ("Firm",), ("legal_service",)),
        ("<title>Zahnärzte am Markt</title>", ("Healthcare",), ("healthcare",)),
        ("<title>Cabinet d’avocats Dupont</title>", ("Firm",), ("legal_service",)),
        ("<title>Tienda online de zapatos</title>", ("Ecommerce",), ("ecommerce",)),
        ("<title>Ristorante Da Mario</title>", ("Hospitality",), ()),
        ("<title>Werbeagentur Köln</title>", ("Agency",), ("advertising",)),
        ("<title>山田歯科クリニック</title>", ("Healthcare",), ("healthcare",)),
        ("<title>Ταβέρνα Ο Μπάρμπας</title>", ("Hospitality",), ()),
        ("<title>ทะเลสบาย รีสอร์ท</title>", ("Hospitality",), ()),
        ("<title>عيادات نور</title>", ("Healthcare",), ("healthcare",)),
        ("<title>Okna Besko – producent okien</title>", ("Manufacturer",), ()),
        ('<div vocab="https://schema.org/" typeof="Dentist">', ("Healthcare",), ("healthcare",)),
        ('<div itemscope itemtype="http://schema.org/Restaurant">', ("Hospitality",), ()),
        ("<title>Интернет-магазин обуви</title>", ("Ecommerce",), ("ecommerce",)),
        ("<title>The CRM software for sales teams</title>", ("SaaS",), ("crm",)),
        ("<h1>Digital marketing agency, SEO services</h1>", ("Agency",), ("marketing", "seo_structured_data")),
        ("<title>Acme</title><p>Our law firm is a restaurant</p>", (), ()),
        ('<title>Acme</title><a href="/x">Law firm</a>', (), ()),
    ],
)  # fmt: skip
def test_signs(html: str, service_types: tuple[str, ...], offers: tuple[str, ...]) -> None:
    assert _trade(html) == Trade(service_types, offers)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.texas.gov/", "Government"),
        ("https://www.service.gov.uk/", "Government"),
        ("https://www.impots.gouv.fr/", "Government"),
        ("https://www.mit.edu/", "Education"),
        ("https://www.ox.ac.uk/", "Education"),
    ],
)
def test_hosts(url: str, kind: str) -> None:
    assert _trade("", url).service_types == (kind,)


def test_paths() -> None:
    assert _trade("", paths=("/cart",)).service_types == ("Ecommerce",)
    assert _trade("", paths=("/pricing", "/login")).service_types == ("SaaS",)
    assert _trade("", paths=("/pricing",)).service_types == ()
    assert _trade("", paths=("/donate",)).service_types == ()
    assert _trade('<meta name="description" content="A registered charity">', paths=("/donate",)).service_types == (
        "Non-Profit",
    )


def test_an_article_does_not_say_what_its_site_is() -> None:
    assert _trade("<title>Fire in a hospital</title>", is_key_page=False) == Trade((), ())
    assert _trade(_ld('"Hospital"'), is_key_page=False).service_types == ("Healthcare",)


def test_the_likeliest_kind_comes_first() -> None:
    html = _ld('"Dentist"') + "<title>Acme dentists</title><h1>Dental clinic</h1><h2>Online shop</h2>"
    assert _trade(html, paths=("/cart",)).service_types == ("Healthcare", "Ecommerce")


def test_the_tables_speak_the_vocabulary() -> None:
    known = vocabulary()
    said = {meaning for meanings in PHRASES.values() for meaning in meanings}
    assert {kind for kind, _ in said} - {""} <= set(known.values("service_type"))
    assert {category for _, category in said} - {""} <= set(known.values("category"))
    assert set(SERVICE_TYPE_OF.values()) - {""} <= set(known.values("service_type"))
    assert max(len(phrase.split()) for phrase in PHRASES) <= 3
    assert "" not in PHRASES
