"""Directive text that is refused, with line and column."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import bad_query, search


@pytest.mark.promise(
    "error.INVALID_QUERY",
    "directives.one_a_line",
    "directives.position",
    "errors.details",
    cases={
        "@score(91)-1-8": ("directive.score", "limit.score_directive", "score.position"),
        "@score(0)-1-8": ("limit.score_directive", "score.position"),
    },
)
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
        ("@country(USA)\n@any[ @has_phone | @score(91) ]", 2, 27),
        ("@any[ @has_phone", 1, 17),
        ("@any[ @has_phone | @any[ @has_email ] ]", 1, 20),
    ],
)
def test_line_and_column(own: httpx.Client, text: str, line: int, column: int) -> None:
    (detail,) = bad_query(own, text)
    assert (detail["line"], detail["column"]) == (line, column)


@pytest.mark.promise(
    "error.INVALID_QUERY",
    "values.closed",
    cases={
        "@updated_within(0d)": "limit.age_days",
        "@updated_within(3651d)": "limit.age_days",
        "@spends(5000-1000)": "numbers.crossed",
        "@spends(5,000)": "numbers.thousands",
        "!@technology(Shopfy)": "values.open_excluded",
        "@not_secure()": "directives.flag_parentheses",
        "@country": "directives.need_value",
        "@country()": "directives.need_value",
        "@not_secure @not_responsive": "directives.one_a_line",
    },
)
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


@pytest.mark.promise("values.closed", "values.open_excluded")
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


@pytest.mark.promise("body.all_problems")
def test_all_lines_are_reported(own: httpx.Client) -> None:
    details = bad_query(own, "@nope\n@country(USA)\n@score(91)\n@country(Atlantis)")
    assert [detail["line"] for detail in details] == [1, 3, 4]


@pytest.mark.promise("directives.position")
def test_columns_count_characters(own: httpx.Client) -> None:
    (detail,) = bad_query(own, "@city(Zürich, 東京)\n@country(Côte d'Ivoire, Atlantis)")
    assert (detail["line"], detail["column"]) == (2, 25)


@pytest.mark.promise("limit.branches", "limit.branch_conditions")
def test_how_large_alternatives_may_be(own: httpx.Client) -> None:
    branches = [f"@keywords(w{number}) @has_phone" for number in range(17)]
    search(own, {"wrapped_query": f"@any[ {' | '.join(branches[:16])} ]"})
    (detail,) = bad_query(own, f"@any[ {' | '.join(branches)} ]")
    assert detail["message"] == "@any may have at most 16 branches; write another search for the rest"
    conditions = [f"@keywords(w{number})" for number in range(9)]
    search(own, {"wrapped_query": f"@any[ {' '.join(conditions[:8])} | @has_phone ]"})
    (detail,) = bad_query(own, f"@any[ {' '.join(conditions)} | @has_phone ]")
    assert detail["message"] == "a branch of @any may have at most 8 conditions"
    lines = [f"@any[ {' | '.join(branches[:16])} ]", f"@any[ {' | '.join(branches[1:17])} ]"]
    search(own, {"wrapped_query": "\n".join(lines)})
    (detail,) = bad_query(own, "\n".join([*lines, "@has_email"]))
    assert detail["message"] == "a search may have at most 64 conditions, found 65"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@tech(Shopify)", "expected a known directive, found @tech; did you mean @technology?"),
        ("@categories(crm)", "expected a known directive, found @categories; did you mean @categories_uses?"),
        ("@te(Shopify)", "expected a known directive, found @te"),
        ("@upd(30d)", "expected a known directive, found @upd"),
        ("@country USA", "@country needs a value: expected '(', found 'USA'; write @country(USA)"),
        ("@country: USA, CAN", "@country needs a value: expected '(', found ': USA, CAN'; write @country(USA, CAN)"),
        ("@country USA)", "@country needs a value: expected '(', found 'USA)'; write @country(USA)"),
        ("@score >80", "@score needs a value: expected '(', found '>80'; write @score(>80)"),
        ("@country", "@country needs a value: expected '(', found the end of the line"),
        ("@country USA @state(CA)", "@country needs a value: expected '(', found 'USA @state(CA)'"),
        ("@city " + "x" * 65, f"@city needs a value: expected '(', found '{'x' * 20}'"),
        (
            "@has_phone | @has_email",
            "expected the end of the line (one condition per line), found '| @has_email'; write alternatives as "
            "@any[ … | … ]",
        ),
        (
            "shops in Texas",
            "expected a directive such as @country(USA), found 'shops in Texas'; plain words go in `query`",
        ),
        (
            "Country(USA)",
            "expected a directive such as @country(USA), found 'Country(USA)'; did you mean @country?",
        ),
        ("-@country(USA)", "expected a directive such as @country(USA), found '-@country(USA)'"),
        (
            r"@country(USA)\n@state(CA)",
            "expected the end of the line (one condition per line), found a backslash and a letter; "
            "in JSON, a line break is written with one backslash, not two",
        ),
        (
            r"\r\n@has_phone",
            "expected a directive such as @country(USA), found a backslash and a letter; "
            "in JSON, a line break is written with one backslash, not two",
        ),
    ],
)
def test_what_to_write_instead(own: httpx.Client, text: str, message: str) -> None:
    (detail,) = bad_query(own, text)
    assert detail["message"] == message
