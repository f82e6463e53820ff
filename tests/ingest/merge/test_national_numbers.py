"""Numbers that pages write without a country are read for the country of their domain; fax numbers are left out."""

from __future__ import annotations

import pyarrow as pa
import pytest

from siteglass.ingest.grouped import listed
from siteglass.ingest.national_numbers import settled_phones


def settled(country: str, *rows: dict[str, str]) -> list[str]:
    columns = {"lead": 0, "value": "", "method": "text", "label": "", "given": ""}
    table = pa.table({name: [row.get(name, default) for row in rows] for name, default in columns.items()})
    return listed(settled_phones(table, [country]), "value")


@pytest.mark.parametrize(
    ("country", "given", "label", "expected"),
    [
        ("GBR", "020 7515 7774", "", ["+442075157774"]),
        ("HKG", "2744 1836", "phone", ["+85227441836"]),
        ("HKG", "(86) 769-8533 1207", "phone", ["+8676985331207"]),
        ("ITA", "340 11 77 284", "phone", ["+393401177284"]),
        ("ITA", "340 11 77 284", "", []),  # neither a label nor grouped as Italians do
        ("DEU", "12345", "phone", []),
        ("IND", "(408) 753-1200", "phone", []),  # valid in India, but not written so
        ("USA", "(408) 753-1200", "", ["+14087531200"]),
        ("", "020 7515 7774", "phone", []),
    ],
)
def test_national_numbers_are_read_for_the_country(country: str, given: str, label: str, expected: list[str]) -> None:
    digits = "".join(filter(str.isdigit, given))
    assert settled(country, {"value": digits, "given": given, "label": label}) == expected


def test_a_reading_for_another_country_is_replaced() -> None:
    row = {"value": "+49732778812", "given": "0732 / 77 88 12", "label": "phone"}
    assert settled("AUT", row) == ["+43732778812"]
    assert settled("DEU", row) == ["+49732778812"]
    assert settled("", row) == ["+49732778812"]


def test_numbers_with_a_country_stay() -> None:
    assert settled("DEU", {"value": "+43732778812"}) == ["+43732778812"]


def test_a_number_that_is_a_fax_on_one_page_is_not_shown_unless_another_calls_it_a_phone() -> None:
    fax, bare, phone = ({"value": "+4930901821", "label": label} for label in ("fax", "", "phone"))
    other = {"value": "+4930901820"}
    assert settled("DEU", fax, bare, other) == ["+4930901820"]
    assert settled("DEU", fax, phone, other) == ["+4930901821", "+4930901820"]
