"""The name of a business, and where it comes from."""

from __future__ import annotations

import pytest

from siteglass.ingest.extract.names import business_name
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
    title = read.tree.css_first("title")
    assert business_name(read, title.text() if title else "") == expected


def test_initials_and_names_in_other_letters() -> None:
    assert business_name(page("", "https://abc.org/"), "News | American Bird Conservancy") == (
        "American Bird Conservancy",
        "title",
    )
    assert business_name(page("", "https://xn--mller-kva.de/"), "") == ("Müller", "domain")
