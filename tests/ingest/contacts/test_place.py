"""Where a page's owner is: by address, phones, domain, region; and nowhere where that is not sure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.ingest.extract.context import countries
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.phones import phones
from siteglass.ingest.extract.place import Place, place
from siteglass.ingest.facts import ContactSighting
from siteglass.query.vocabulary import vocabulary
from tests.ingest.contacts.making import PAGE_LIMIT_MS, page, slowest_ms

GENERIC = "https://www.firma.com/"


def placed(html: str, url: str = GENERIC, language: str = "") -> tuple[str, ...]:
    made = page(f"<body>{html}" if not html.startswith("<html") else html, url)
    return tuple(_place(made, language))


def _place(made: Page, language: str = "") -> Place:
    return place(made, phones(made, countries(made)), language)


def structured(address: Any, kind: str = "LocalBusiness", key: str = "address") -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": kind, key: address})}</script>'


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"addressCountry": "DE", "addressLocality": "München"}, ("DEU", "BY", "Munich")),
        (
            {"addressCountry": "Deutschland", "addressRegion": "Bayern", "addressLocality": "München"},
            ("DEU", "BY", "Munich"),
        ),
        ({"addressCountry": {"@type": "Country", "name": "AUT"}, "addressLocality": "Wien"}, ("AUT", "9", "Vienna")),
        (
            {"addressCountry": ["USA"], "addressRegion": "IL", "addressLocality": "Springfield"},
            ("USA", "IL", "Springfield"),
        ),
        (
            {"addressCountry": "US", "addressRegion": "Texas", "addressLocality": "Smalltown"},
            ("USA", "TX", "Smalltown"),
        ),
        ({"addressCountry": "US", "addressLocality": "Austin, TX"}, ("USA", "TX", "Austin")),
        ({"addressCountry": "United Kingdom", "addressLocality": "London"}, ("GBR", "ENG", "London")),
        ({"addressCountry": "England", "addressLocality": "Leeds"}, ("GBR", "ENG", "Leeds")),
        ({"addressCountry": "IT", "addressRegion": "MI", "addressLocality": "Milano"}, ("ITA", "25", "Milan")),
        ({"addressCountry": "日本", "addressLocality": "東京"}, ("JPN", "13", "Tokyo")),
        ({"addressCountry": "FR"}, ("FRA", "", "")),
        ({"addressCountry": "DE", "addressLocality": "Kleinkleckersdorf"}, ("DEU", "", "Kleinkleckersdorf")),
        ({"addressRegion": "TX", "addressLocality": "Austin", "postalCode": "78701"}, ("USA", "TX", "Austin")),
        ({"addressLocality": "Berlin", "postalCode": "10115"}, ("DEU", "BE", "Berlin")),
        ([{"addressCountry": "NL", "addressLocality": "Den Haag"}], ("NLD", "ZH", "The Hague")),
    ],
)
def test_structured_data_comes_first(address: Any, expected: tuple[str, str, str]) -> None:
    html = (
        structured(address) + "<p>12 rue de la Paix, 75002 Paris, France</p><p>+33 1 42 68 53 00, +33 1 42 68 53 01</p>"
    )

    assert placed(html, "https://www.firma.es/") == (*expected, "json_ld")


@pytest.mark.parametrize(
    "html",
    [
        structured({"address": {"addressCountry": "FR", "addressLocality": "Paris"}}, "Event", "location"),
        structured({"addressCountry": "FR", "addressLocality": "Paris"}, "Person"),
        structured({"addressCountry": "Nowhere", "addressLocality": "Nirgendwo"}),
        structured({"addressCountry": 7, "addressLocality": None}),
        structured("12 rue de la Paix, Paris"),
    ],
)
def test_addresses_of_others_and_broken_ones_do_not_count(html: str) -> None:
    assert placed(html) == ("", "", "", "")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Musterstraße 5<br>10115 Berlin<br>Deutschland", ("DEU", "BE", "Berlin")),
        ("Musterstr. 5, 10115 Berlin", ("DEU", "BE", "Berlin")),
        ("Firma GmbH · Musterweg 5 · D-80331 München · Tel", ("DEU", "BY", "Munich")),
        ("Dorfstraße 5, 17213 Malchow, Deutschland", ("DEU", "", "Malchow")),
        ("Stephansplatz 1, 1010 Wien", ("AUT", "9", "Vienna")),
        ("255, rue Racine, Saguenay (Québec) G7H 7L2", ("CAN", "QC", "Saguenay")),
        ("Fethi Bey Cad. No:55, 35210 Konak / İzmir", ("TUR", "35", "Izmir")),
        ("548 Market Street, Suite 91200, San Francisco, CA 94104", ("USA", "CA", "San Francisco")),
        ("<p>Bahnhofstrasse 10<p>8001 Zürich<p>Schweiz", ("CHE", "ZH", "Zurich")),
        ("CH-1204 Genève", ("CHE", "GE", "Geneva")),
        ("12 rue de la République, 69002 Lyon", ("FRA", "ARA", "Lyon")),
        ("Calle Mayor 5, 28013 Madrid, España", ("ESP", "MD", "Madrid")),
        ("Via Roma 1, 20121 Milano (MI)", ("ITA", "25", "Milan")),
        ("Keizersgracht 1, 1015 CN Amsterdam", ("NLD", "NH", "Amsterdam")),
        ("Rue Neuve 1, 1000 Bruxelles", ("BEL", "BRU", "Brussels")),
        ("ul. Nowa 5, 00-001 Warszawa", ("POL", "14", "Warsaw")),
        ("Rua Augusta 100, 1100-048 Lisboa", ("PRT", "11", "Lisbon")),
        ("Drottninggatan 1, 111 51 Stockholm", ("SWE", "AB", "Stockholm")),
        ("Karl Johans gate 1, 0154 Oslo", ("NOR", "03", "Oslo")),
        ("Strøget 1, 1160 København K", ("DNK", "84", "Copenhagen")),
        ("Mannerheimintie 1, 00100 Helsinki", ("FIN", "18", "Helsinki")),
        ("Vodičkova 1, 110 00 Praha 1", ("CZE", "", "Prague")),
        ("Váci utca 1, 1052 Budapest", ("HUN", "BU", "Budapest")),
        ("İstiklal Cad. 1, 34430 Beyoğlu/İstanbul", ("TUR", "34", "Istanbul")),
        ("101000, г. Москва, ул. Мясницкая 1", ("RUS", "MOW", "Moscow")),
        ("<p>123 Main St<br>Austin, TX 78701", ("USA", "TX", "Austin")),
        ("500 Oak Ave, Smalltown, TX 75000-1234", ("USA", "TX", "Smalltown")),
        ("1 Main Street, Springfield, IL 62701", ("USA", "IL", "Springfield")),
        ("Wilmington, DE 19801", ("USA", "DE", "Wilmington")),
        ("Austin, Texas 78701", ("USA", "TX", "Austin")),
        ("100 King St W, Toronto, ON M5X 1A9", ("CAN", "ON", "Toronto")),
        ("1 Martin Place, Sydney NSW 2000", ("AUS", "NSW", "Sydney")),
        ("10 Downing Street, London SW1A 2AA", ("GBR", "ENG", "London")),
        ("<p>Unit 5<br>Leeds<br>West Yorkshire<br>LS1 4AP", ("GBR", "ENG", "Leeds")),
        ("Av. Paulista 1000, São Paulo - SP, 01310-100", ("BRA", "SP", "São Paulo")),
        ("〒530-0001 大阪府大阪市北区梅田", ("JPN", "27", "Osaka")),
        ("Andheri East, Mumbai, Maharashtra 400069", ("IND", "MH", "Mumbai")),
        ("1 Raffles Place, Singapore 048616", ("SGP", "", "Singapore")),
        ("Queen Street, Auckland 1010, New Zealand", ("NZL", "AUK", "Auckland")),
    ],
)
def test_addresses_in_text(html: str, expected: tuple[str, str, str]) -> None:
    assert placed(html) == (*expected, "address")


@pytest.mark.parametrize(
    "html",
    [
        "© 2013 Reuters, 2012 London, since 1998 Vienna",
        "On May 5, 2013 Vienna and on 20 March, 2014 Zürich were visited",
        "Tel 030 12345 Berlin",
        "12000 people, 15000 Menschen, 1200 kg, 1.200 Wien",
        "Order 10115, item 75002",
        "Paris, London, New York, Berlin",
        "version 1010 beta",
        "",
    ],
)
def test_numbers_beside_cities_are_no_addresses(html: str) -> None:
    assert placed(html) == ("", "", "", "")


def test_many_branches_have_no_city() -> None:
    towns = ("10115 Berlin", "20095 Hamburg", "80331 München", "50667 Köln", "01067 Dresden", "04109 Leipzig")

    assert placed("".join(f"<p>Hauptstraße 1, {town}" for town in towns)) == ("DEU", "", "", "address")


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        ("+49 30 901820 und +49 30 901821", GENERIC, ("DEU", "BE", "Berlin", "phone")),
        ("+49 171 2345678", GENERIC, ("DEU", "", "", "phone")),
        ("+49 171 2345678", "https://www.firma.at/", ("AUT", "", "", "cctld")),
        ("+49 171 2345678, +49 171 2345679", "https://www.firma.at/", ("DEU", "", "", "phone")),
        ("+49 171 2345678, +43 664 1234567", GENERIC, ("", "", "", "")),
        ("1-800-843-0008", GENERIC, ("", "", "", "")),
        ("(212) 736-5000", GENERIC, ("USA", "", "", "phone")),
        ("hallo", "https://www.firma.de/", ("DEU", "", "", "cctld")),
        ("hello", "https://www.firma.co.uk/", ("GBR", "", "", "cctld")),
        ("hola", "https://www.firma.com.co/", ("COL", "", "", "cctld")),
        *[
            ("hi", f"https://www.firma.{ending}/", ("", "", "", ""))
            for ending in ("io", "co", "ai", "tv", "me", "eu", "app")
        ],
        ("10115 Berlin", GENERIC, ("DEU", "BE", "Berlin", "gazetteer")),
        ("10115 Berlin", "https://www.firma.de/", ("DEU", "BE", "Berlin", "address")),
        ("10115 Berlin", "https://www.firma.at/", ("AUT", "", "", "cctld")),
        ('<html lang="de-AT"><p>hallo', GENERIC, ("AUT", "", "", "language")),
        ('<html lang="de-CH"><p>Seestrasse 5, 8800 Kleindorf', GENERIC, ("CHE", "", "Kleindorf", "address")),
        ("+41 44 668 18 00, +41 44 668 18 01", GENERIC, ("CHE", "", "", "phone")),
        ('<html lang="en-US"><p>hello', GENERIC, ("", "", "", "")),
        ('<html lang="ja"><p>こんにちは', GENERIC, ("", "", "", "")),
    ],
)
def test_weaker_signs_in_their_order(html: str, url: str, expected: tuple[str, ...]) -> None:
    assert placed(html, url) == expected


def test_a_declared_region_of_another_language_does_not_count() -> None:
    assert placed('<html lang="en-AU"><p>hallo', language="de") == ("", "", "", "")


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        ("<p>hallo", "https://www.firma.ch/", ("CH",)),
        ('<html lang="de"><p>hallo', GENERIC, ("DE", "AT", "CH")),
        ('<html lang="de-AT"><p>hallo', GENERIC, ("AT", "DE", "CH")),
        ('<html lang="en"><p>hello', GENERIC, ()),
        ("<p>Stephansplatz 1, 1010 Wien", "https://www.firma.de/", ("AT", "DE")),
        (structured({"addressCountry": "FR"}), GENERIC, ("FR",)),
    ],
)
def test_the_first_look_for_phones(html: str, url: str, expected: tuple[str, ...]) -> None:
    assert countries(page(html, url)) == expected


def test_national_numbers_are_read_by_the_address() -> None:
    made = page("<p>Stephansplatz 1, 1010 Wien<p>Tel. 01 58858-0", GENERIC)

    assert [one.value for one in phones(made, countries(made))] == ["+431588580"]


def test_no_page_takes_long() -> None:
    placed("<p>Musterstraße 5, 10115 Berlin, Tel. 030 901820")  # the vocabulary is loaded once

    assert slowest_ms(_place) < PAGE_LIMIT_MS


_PIECES = st.sampled_from(
    [
        "10115",
        "1010",
        " ",
        ",",
        "Berlin",
        "Wien",
        "TX",
        "SW1A 2AA",
        "〒100-0001",
        "東京都",
        "D-",
        "\n",
        "Straße 5",
        "Germany",
        "-",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=4)), max_size=16).map("".join))
def test_whatever_stands_there_only_places_come_out(text: str) -> None:
    country, state, city, basis = placed(
        f"<p>{text}</p>" + structured({"addressCountry": text, "addressLocality": text})
    )
    known = vocabulary()
    assert (country == "") == (basis == "")
    assert not country or known.country_name(country)
    assert not state or state in known.states_of(country)
    assert len(city) <= 100


def test_microdata_is_read_as_data() -> None:
    html = (
        "<div itemscope itemtype='http://schema.org/PostalAddress'><span itemprop=addressLocality>Austin</span> "
        "<span itemprop=addressRegion>TX</span> <span itemprop=postalCode>78701</span></div>"
    )
    read = page(html, "https://www.example-firm.com/")
    assert place(read, (), "en")[:3] == ("USA", "TX", "Austin")


def test_the_address_of_a_host_is_not_the_place() -> None:
    html = "<p>Hébergement : Nuage, 12 rue Réaumur, 75003 Paris</p><p>9 boulevard Carnot, 87000 Limoges</p>"
    assert place(page(html, "https://www.cabinet.fr/"), (), "fr").city == "Limoges"


def test_a_small_town_is_found_in_a_country_that_phones_tell() -> None:
    numbers = (ContactSighting("+34972591284", "text"), ContactSighting("+34617440928", "text"))
    read = page("<p>Carrer del Pont 12, 17850 Besalú (Girona)</p>", "https://www.hotel-x.com/")
    assert place(read, numbers, "es")[:3] == ("ESP", "CT", "Besalú")


@pytest.mark.parametrize(
    ("host", "text", "expected"),
    [
        # A code, and a town that the vocabulary is too small for.
        ("firma.fr", "12 bis rue du Penher, 56400 AURAY. RCS Lorient", ("FRA", "BRE", "Auray")),
        ("firma.at", "A-3561 Langenlois-Zöbing, Kamptalstraße 77", ("AUT", "", "Langenlois-Zöbing")),
        ("firma.at", "Kamptalstraße 77, 3561 Zöbing, Niederösterreich.", ("AUT", "3", "Zöbing")),
        ("firma.gr", "Αγία Άννα, 84300 Νάξος", ("GRC", "", "Νάξος")),
        ("firma.gr", "Αριστομένους 118<br>Καλαμάτα, Τ.Κ. 241 00", ("GRC", "", "Καλαμάτα")),
        ("firma.co.uk", "113 Main Street, Prestwick, Ayrshire KA9 1LA", ("GBR", "SCT", "Prestwick")),
        ("firma.ie", "Bridge Street, Sneem, Co. Kerry, V93 HR67", ("IRL", "M", "Sneem")),
        ("firma.com", "12760 Earhart Avenue<br>Auburn CA 95602", ("USA", "CA", "Auburn")),
        ("firma.com", "Suite 610, Southfield<br>Michigan 48075", ("USA", "MI", "Southfield")),
        ("firma.jp", "〒399-8303 長野県安曇野市穂高4418-2", ("JPN", "20", "安曇野市")),
        # The state by the code.
        ("firma.ru", "620014, г. Екатеринбург, ул. Радищева, 28", ("RUS", "SVE", "Yekaterinburg")),
        # No code, in a known country.
        ("firma.kr", "서울특별시 강남구 테헤란로 322, 9층", ("KOR", "11", "Seoul")),
        ("firma.vn", "Địa chỉ: 88 Nguyễn Văn Tiết, TP. Thuận An, tỉnh Bình Dương", ("VNM", "57", "Thuan An")),
        ("firma.ie", "Clonminch House, Portlaoise Road, Tullamore, Co. Offaly", ("IRL", "L", "Tullamore")),
        # Not addresses.
        ("firma.fr", "Plus de 56400 Clients satisfaits en 2023", ("FRA", "", "")),
        ("firma.co.uk", "Order code AB1 234", ("GBR", "", "")),
    ],
)
def test_small_towns_and_states(host: str, text: str, expected: tuple[str, str, str]) -> None:
    assert place(page(f"<p>{text}</p>", f"https://www.{host}/"), (), "")[:3] == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"addressCountry": "GB", "addressRegion": "Kent", "addressLocality": "Ashford"}, ("GBR", "ENG", "Ashford")),
        ({"addressCountry": "GB", "addressLocality": "Newport", "postalCode": "NP20 1AA"}, ("GBR", "WLS", "Newport")),
        ({"addressCountry": "FR", "addressRegion": "Morbihan", "addressLocality": "Auray"}, ("FRA", "BRE", "Auray")),
        ({"addressCountry": "BE", "addressRegion": "Antwerpen", "addressLocality": "Mol"}, ("BEL", "VLG", "Mol")),
        ({"addressCountry": "DE", "addressRegion": "Bayern", "addressLocality": "Altona"}, ("DEU", "BY", "Altona")),
        ({"addressCountry": "DE", "addressLocality": "Altona", "postalCode": "86150"}, ("DEU", "BY", "Altona")),
        ({"addressCountry": "DE", "addressLocality": "Königsberg", "postalCode": "97486"}, ("DEU", "", "Königsberg")),
    ],
)
def test_city_state_and_postal_code_fit_or_the_name_stays_as_written(address: Any, expected: tuple[str, ...]) -> None:
    assert placed(structured(address))[:3] == expected


@pytest.mark.parametrize(
    ("host", "text", "expected"),
    [
        ("firma.co.uk", "12 York Road, LS9 6TA", ("GBR", "ENG", "")),
        ("firma.co.uk", "Unit 3, Chelsea House, Maidstone, Kent ME14 1AA", ("GBR", "ENG", "Maidstone")),
        ("firma.kz", "Адрес: Алматы, пр. Астана 5", ("KAZ", "75", "Almaty")),
        ("firma.cn", "地址：南京路100号", ("CHN", "", "")),
        ("firma.com", "98724 Neuhaus am Rennweg, Bahnhofstr. 3", ("", "", "")),
    ],
)
def test_streets_and_names_in_other_languages_are_no_cities(host: str, text: str, expected: tuple[str, ...]) -> None:
    assert placed(f"<p>{text}</p>", f"https://www.{host}/")[:3] == expected


def test_the_only_city_of_a_title_is_the_last_resort() -> None:
    def named(title: str) -> str:
        return place(page(f"<title>{title}</title><p>Benvenuti", "https://www.studio.it/"), (), "it").city

    assert named("Studio Rossi - Dentista a Genova") == "Genoa"
    assert named("Treni da Genova a Torino") == ""


def test_a_small_town_of_the_domains_country_before_a_city_elsewhere() -> None:
    html = "Podere - Loc. Ginestreto 7 - 53019 Castelnuovo Berardenga (SI) - P.IVA 01174320528"
    assert placed(html, "https://www.podere.it/")[:3] == ("ITA", "52", "Castelnuovo Berardenga")


def test_a_town_before_its_state_and_code() -> None:
    assert placed("R46, Tulbagh, Western Cape, 6820", "https://www.wines.co.za/")[:3] == ("ZAF", "WC", "Tulbagh")
    cep = "Rod. Fernão Dias km 18, Varginha – MG, CEP 37026-400"
    assert placed(cep, "https://www.cafes.com.br/")[:3] == ("BRA", "MG", "Varginha")


def test_an_address_of_its_own_before_one_in_a_long_line() -> None:
    shipped = f"{'We pour every candle by hand. ' * 6}We have shipped to Phoenix, AZ 85001."
    html = f"<p>{shipped}<p>45 Haywood Road, Asheville, NC 28806"
    assert placed(html)[:3] == ("USA", "NC", "Asheville")


def test_numbers_that_fit_the_country_of_the_language() -> None:
    assert placed("<p>จองเลย โทร 081-882-4470", language="th")[:1] == ("THA",)
    assert placed("<p>จองเลย โทร 02075157774", language="th")[:1] == ("",)
    assert placed("<p>Phone 081-882-4470", language="en")[:1] == ("",)


def test_the_address_of_the_footer_before_those_of_branches() -> None:
    branch = "<p>Via Cattedrale 12, 6900 Lugano</p>"
    footer = "<footer><p>Lagerplatz 9<br>8400 Winterthur</p></footer>"
    assert placed(branch + footer, "https://www.firma.ch/")[:3] == ("CHE", "ZH", "Winterthur")
    assert placed(branch, "https://www.firma.ch/")[:3] == ("CHE", "TI", "Lugano")
