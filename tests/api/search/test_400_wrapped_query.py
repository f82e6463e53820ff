"""Directive text that is refused, with line and column."""

from __future__ import annotations

import httpx
import pytest

from tests.api.asking import bad_query


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("@nope(1)", 1, 1),
        ("@country(USA)\n@nope", 2, 1),
        ("\n\n  @nope", 3, 3),
        ("country(USA)", 1, 1),
        ("@country(USA)\nhello", 2, 1),
        ("@score(0)", 1, 8),
        ("@score(91)", 1, 8),
        ("@country(USA)\n@score(91)", 2, 8),
        ("@country(USA, Germny)", 1, 15),
        ("@country(USA) @state(CA)", 1, 15),
    ],
)
def test_line_and_column(own: httpx.Client, text: str, line: int, column: int) -> None:
    (detail,) = bad_query(own, text)
    assert (detail["line"], detail["column"]) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "@country",
        "@country()",
        "@country( )",
        "@country(USA",
        "@country USA)",
        "@country(USA))",
        "@country(USA,)",
        "@country(USA, , DEU)",
        '@technology("Foo)',
        "@not_secure()",
        "@not_secure(yes)",
        "@has_phone()",
        "!!@country(USA)",
        "!country(USA)",
        "@",
        "!",
        "@country(USA) @country(DEU)",
        "@country(USA), @state(CA)",
        "@not_secure @not_responsive",
        "@spends(5,000)",
        "@spends(>5,000)",
        "@spends(5000-1000)",
        "@spends(much)",
        "@score(>90.5)",
        "@score(high)",
        "@score(>91)",
        "@score(<0)",
        "@score(80-30)",
        "@load_time(slow)",
        "@updated_after(yesterday)",
        "@updated_within(30)",
        "@updated_within(1.5d)",
        "@updated_within(0d)",
        "@updated_within(3651d)",
        "@lang(klingon)",
        "@lang(xx)",
        "@country(Atlantis)",
        "@state(ZZZZ)",
        "@region(Atlantis)",
        "@subregion(Middle Earth)",
        "@service_type(Dentist)",
        "!@technology(Shopfy)",
        "!@offers(no_such_offer)",
        "!@categories_uses(crmm)",
        "!@city(Nowhere at all)",
        "@lacks(crmm)",
        "!@lacks(crmm)",
    ],
)
def test_refused(own: httpx.Client, text: str) -> None:
    bad_query(own, text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("@contry(USA)", "country"),
        ("@country(Germny)", "DEU"),
        ("@service_type(Sass)", "SaaS"),
        ("!@technology(Shopfy)", "Shopify"),
        ("@lacks(crmm)", "crm"),
        ("!@offers(marketng)", "marketing"),
        ("@subregion(Western Europ)", "Western Europe"),
        ("@language(de)", "@lang"),
        ("@technologies(Shopify)", "@technology"),
    ],
)
def test_the_nearest_is_suggested(own: httpx.Client, text: str, nearest: str) -> None:
    (detail,) = bad_query(own, text)
    assert nearest in detail["message"]


def test_all_lines_are_reported(own: httpx.Client) -> None:
    details = bad_query(own, "@nope\n@country(USA)\n@score(91)\n@country(Atlantis)")
    assert [detail["line"] for detail in details] == [1, 3, 4]


def test_columns_count_characters(own: httpx.Client) -> None:
    (detail,) = bad_query(own, "@city(Zürich, 東京)\n@country(Côte d'Ivoire, Atlantis)")
    assert (detail["line"], detail["column"]) == (2, 25)
