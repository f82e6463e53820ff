"""The name of a business: what pages of a site say in several places, and the one that they agree on."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.name_candidates import sightings
from siteglass.ingest.extract.names import NamedPage, elected, sightings_of_best
from siteglass.ingest.extract.profiles import profiles
from siteglass.ingest.extract.texts import texts
from siteglass.ingest.facts import NameSighting
from tests.ingest.content.pages import page


def _ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def name_of(*sources: str, url: str = "https://www.acme-tools.com/") -> tuple[str, str]:
    """The name of a site of these pages, the first of them its home page."""
    read = [page(html, url) for html in sources]
    return elected(
        read[0].domain,
        [
            NamedPage(sightings(one, texts(one), profiles(one).social, is_home=not number), not number)
            for number, one in enumerate(read)
        ],
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (_ld('{"@type": "Dentist", "name": "Dr. Bohr &amp; Sons"}'), ("Dr. Bohr & Sons", "json_ld")),
        (_ld('{"@graph": [{"@type": ["Thing", "Organization"], "name": "Acme"}]}'), ("Acme", "json_ld")),
        (_ld('{"@type": "https://schema.org/Store", "name": " Acme  Store "}'), ("Acme Store", "json_ld")),
        (
            _ld(
                '[{"@type":"Organization","name":"Other"},{"@type":"Organization","name":"Bohr","url":"https://acme-tools.com"}]'
            ),
            ("Bohr", "json_ld"),
        ),
        (_ld('{"@type": "Product", "brand": {"@type": "Organization", "name": "Bosch"}}'), ("Acme Tools", "domain")),
        (_ld('{"@type": "Person", "name": "Jo"}'), ("Acme Tools", "domain")),
        (_ld('{"@type": "Organization", "name": {"x": 1}}'), ("Acme Tools", "domain")),
        (_ld('{"@type": "Organization", "name": "My Website"}'), ("Acme Tools", "domain")),
        ('<p itemscope itemtype="https://schema.org/Hotel"><b itemprop="name">Zum Bären</b>', ("Zum Bären", "json_ld")),
        ('<meta property="og:site_name" content="ACME Inc">', ("ACME Inc", "og_site_name")),
        ('<meta property="og:site_name" content="https://acme-tools.com">', ("Acme Tools", "domain")),
        ('<meta name="application-name" content="Bohr">', ("Bohr", "og_site_name")),
        ('<meta property="og:site_name" content="jane@acme.de">', ("Acme Tools", "domain")),
        ('<meta property="og:site_name" content="Jane +49 30 901820">', ("Acme Tools", "domain")),
        ("<title>Power drills | Acme Tools Ltd - Home</title>", ("Acme Tools Ltd", "title")),
        ("<title>ACME-Tools: saws</title>", ("ACME-Tools", "title")),
        ("<title>Saws and drills</title>", ("Acme Tools", "domain")),
        ("<title>Willkommen - Kontakt</title><h1>Willkommen</h1>", ("Acme Tools", "domain")),
        ("<p>Ring us now!</p><p>AcmeTools: all you need. Acme Tools lends saws, and Acme Tools sells.",
         ("Acme Tools", "repeated")),
        ('<img src="logo.png" alt="Bohr logo"><title>Bohr | Saws</title>', ("Bohr", "title")),
        ('<a href="/">Bohr</a><p>© 2019-2026 Bohr Ltd. All rights reserved', ("Bohr Ltd", "repeated")),
        ('<a href="/">Bohr</a><p>Bohr Ltd © 2019', ("Bohr Ltd", "repeated")),
    ],
)  # fmt: skip
def test_sources_of_a_page(html: str, expected: tuple[str, str]) -> None:
    assert name_of(html) == expected


@pytest.mark.parametrize(
    ("title", "url", "expected"),
    [
        ("News | American Bird Conservancy", "https://abc.org/", "American Bird Conservancy"),
        ("", "https://xn--mller-kva.de/", "Müller"),
        ("Wendel Fördertechnik – Sorter", "https://wendel-foerdertechnik.com/", "Wendel Fördertechnik"),
        ("Physiotherapie am Ufer - Itzehoe", "https://physio-am-ufer.de/", "Physiotherapie am Ufer"),
        ("Crumb & Cobble, London", "https://crumbandcobblelondon.co.uk/", "Crumb & Cobble"),
        ("Contact Balise Repair", "https://baliserepair.com/", "Balise Repair"),
        ("Alfarería La Cantarera | Úbeda", "https://alfareriacantarera.es/", "Alfarería La Cantarera"),
        ("Contato | Araucária Contabilidade", "https://contabilaraucaria.com.br/", "Araucária Contabilidade"),
        ("Larch Row is opening soon</title><p>Larch Row", "https://larchrow.com/", "Larch Row"),
        ("宁波恒鑫电机有限公司-直流电机,减速电机", "https://nbhx.com/", "宁波恒鑫电机有限公司"),
        ("株式会社岡崎精密 | 精密切削</title><p>岡崎", "https://kk.co.jp/", "株式会社岡崎精密"),
        ("수학</title><p>상호 : 하늘수학학원 | 대표 : 김", "https://hn.co.kr/", "하늘수학학원"),
        ("Оконная мастерская «Рама» | Контакты", "https://okna-rama.ru/", "Оконная мастерская «Рама»"),
    ],
)  # fmt: skip
def test_parts_of_titles(title: str, url: str, expected: str) -> None:
    assert name_of(f"<title>{title}</title>", url=url)[0] == expected


def test_agreement_decides_against_one_source_and_against_what_is_only_offered() -> None:
    stated = (
        '<title>Plumber Boston</title><h1>Plumber Boston</h1><a href="/"><img alt="Lark & Sons"></a><p>© Lark & Sons'
    )
    assert name_of(stated, url="https://boston-pipes.com/")[0] == "Lark & Sons"
    designer = '<a href="/">Lark & Sons</a><title>Lark & Sons</title><p>© 2020 Pixel Forge'
    assert name_of(designer, url="https://boston-pipes.com/")[0] == "Lark & Sons"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Thistle Joinery Ltd. Company no. 2907", "Thistle Joinery Ltd"),
        ("Thistle Joinery s.n.c. - P.IVA 028", "Thistle Joinery s.n.c."),
        ("Thistle Joinery GmbH & Co. KG, Ulm", "Thistle Joinery GmbH & Co. KG"),
        ("Thistle Joinery as a family", "Thistle Joinery"),
        ("Thistle Joinery, SARL au capital de 9 €", "Thistle Joinery"),
        ("ООО Thistle Joinery, ИНН 6671", "Thistle Joinery"),
    ],
)  # fmt: skip
def test_legal_forms_stay_where_the_site_writes_them_after_the_name(said: str, expected: str) -> None:
    html = f"<title>Thistle Joinery | Doors</title><p>We build doors.</p><p>{said}</p>"
    assert name_of(html, url="https://thistle.co.uk/")[0] == expected


def test_pages_of_a_site_vote_together() -> None:
    titles = ("Αρχική | Οδοντιατρείο Μπουγά", "Πολιτική | Οδοντιατρείο Μπουγά", "Τιμές | Οδοντιατρείο Μπουγά")
    assert name_of(*(f"<title>{title}</title>" for title in titles))[0] == "Οδοντιατρείο Μπουγά"
    subjects = ("<title>Oak - Lark</title>", "<title>Ash - Lark</title><h1>Ash</h1>", "<title>Elm - Lark</title>")
    copyright_line = "<title>Prices</title><p>© 2026 Lark"
    assert name_of(*subjects, copyright_line, url="https://timber.example.org/")[0] == "Lark"


def test_pages_that_the_release_before_read_have_one_name_each_and_their_titles() -> None:
    assert sightings_of_best("Acme", "og_site_name", "Saws | Bohr") == [
        NameSighting("Acme", "site_name"), NameSighting("Saws", "title"), NameSighting("Bohr", "title"),
    ]  # fmt: skip
    assert sightings_of_best("Acme", "title", "Saws | Acme") == [NameSighting("Acme", "title")]
    assert sightings_of_best("Acme", "domain", "Contact") == []
