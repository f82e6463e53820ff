"""The name of a business, and where it comes from."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.names import business_name, common_name
from siteglass.ingest.extract.texts import texts
from tests.ingest.content.pages import page


def _ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (_ld('{"@type": "Dentist", "name": "Dr. Acme &amp; Sons"}'), ("Dr. Acme & Sons", "json_ld")),
        (_ld('{"@graph": [{"@type": ["Thing", "Organization"], "name": "Acme"}]}'), ("Acme", "json_ld")),
        (_ld('{"@type": "https://schema.org/Store", "name": " Acme  Store "}'), ("Acme Store", "json_ld")),
        (
            _ld(
                '[{"@type":"Organization","name":"Other"},{"@type":"Organization","name":"A","url":"https://acme-tools.com"}]'
            ),
            ("A", "json_ld"),
        ),
        (_ld('{"@type": "Product", "brand": {"@type": "Organization", "name": "Bosch"}}'), ("Acme Tools", "domain")),
        (_ld('{"@type": "Person", "name": "Jo"}'), ("Acme Tools", "domain")),
        (_ld('{"@type": "Organization", "name": {"x": 1}}'), ("Acme Tools", "domain")),
        (_ld('{"@type": "Organization", "name": "My Website"}'), ("Acme Tools", "domain")),
        ('<meta property="og:site_name" content="ACME Inc">', ("ACME Inc", "og_site_name")),
        ('<meta property="og:site_name" content="https://acme-tools.com">', ("Acme Tools", "domain")),
        ("<title>Power drills | Acme Tools Ltd - Home</title>", ("Acme Tools Ltd", "title")),
        ("<title>ACME-Tools: saws</title>", ("ACME-Tools", "title")),
        ("<title>Saws and drills</title>", ("Acme Tools", "domain")),
    ],
)
def test_the_best_source_wins(html: str, expected: tuple[str, str]) -> None:
    read = page(html)
    assert business_name(read, texts(read), is_home=True) == expected


def name_of(html: str, url: str, *, is_home: bool = True) -> tuple[str, str]:
    read = page(html, url)
    return business_name(read, texts(read), is_home=is_home)


@pytest.mark.parametrize(
    ("title", "url", "expected"),
    [
        ("News | American Bird Conservancy", "https://abc.org/", ("American Bird Conservancy", "title")),
        ("", "https://xn--mller-kva.de/", ("Müller", "domain")),
        ("Wendel Fördertechnik – Sorter", "https://wendel-foerdertechnik.com/", ("Wendel Fördertechnik", "title")),
        ("Physiotherapie am Ufer - Itzehoe", "https://physio-am-ufer.de/", ("Physiotherapie am Ufer", "title")),
        ("Crumb & Cobble, London", "https://crumbandcobblelondon.co.uk/", ("Crumb & Cobble", "title")),
        ("Contact Balise Repair", "https://baliserepair.com/", ("Balise Repair", "title")),
        ("Alfarería La Cantarera | Úbeda", "https://alfareriacantarera.es/", ("Alfarería La Cantarera", "title")),
        ("Röthlin & Partner AG – Sarnen", "https://treuhand-ow.ch/", ("Röthlin & Partner AG", "repeated")),
        ("宁波恒鑫电机有限公司-直流电机,减速电机", "https://nbhx.com/", ("宁波恒鑫电机有限公司", "repeated")),
        ("株式会社岡崎精密 | 精密切削</title><p>岡崎", "https://kk.co.jp/", ("株式会社岡崎精密", "repeated")),
        ("수학</title><p>상호 : 하늘수학학원 | 대표 : 김", "https://hn.co.kr/", ("하늘수학학원", "repeated")),
    ],
)
def test_parts_of_titles_that_are_like_the_domain(title: str, url: str, expected: tuple[str, str]) -> None:
    assert name_of(f"<title>{title}</title>", url) == expected


def test_a_name_that_a_home_page_repeats_in_any_script() -> None:
    heading = "<title>みどり小児科｜仙台市の小児科</title><h1>みどり小児科</h1>"
    assert name_of(heading, "https://midori.com/") == ("みどり小児科", "repeated")
    notice = "<title>Мебель из кедра</title><h1>Фабрика «Кедрово»</h1><p>© 2020 Фабрика «Кедрово», ИНН 6671</p>"
    assert name_of(notice, "https://mebel-kedr.ru/") == ("Фабрика «Кедрово»", "repeated")
    assert name_of(heading, "https://midori.com/access", is_home=False) == ("Midori", "domain")
    assert name_of("<title>Saws and drills</title><h1>Best prices</h1>", "https://acme.com/") == ("Acme", "domain")


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Αρχική | Οδοντιατρείο Μπουγά", "Πολιτική απορρήτου | Οδοντιατρείο Μπουγά"], "Οδοντιατρείο Μπουγά"),
        (["Home - Acme", "Contact - Acme", "Prices"], "Acme"),
        (["Home - Acme", "Home - Acme"], ""),  # one title says nothing of what changes
        (["Home", "Home - Prices"], ""),
        ([], ""),
    ],
)
def test_titles_of_a_site_have_its_name_in_common(titles: list[str], expected: str) -> None:
    assert common_name(titles) == expected
