"""Values that are refused: closed lists, forms of numbers and times, the size of a search."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from testing.api_calls import SEARCH, bad_fields, bad_query, found, refused, search
from tests.api.search.test_200_filters import SERVICE_TYPES


@pytest.mark.promise("values.closed", "values.open_excluded")
@pytest.mark.parametrize(
    ("body", "nearest"),
    [
        ({"country": "Germny"}, "DEU"),
        ({"country": "USB"}, ""),
        ({"country": ""}, ""),
        ({"country": "England"}, "which is a state: ask for it by `state`, as GB-ENG"),
        ({"state": "Germany"}, "which is a country: ask for it by `country`, as DEU"),
        ({"language": "klingon"}, ""),
        ({"language": "xx"}, ""),
        ({"state": "Califrnia"}, "CA"),
        ({"state": "US-ZZ"}, ""),
        ({"service_type": "Sass"}, "SaaS"),
        ({"service_type": "Dentist"}, ""),
        ({"trades": ["denstist"]}, "did you mean dentist?"),
        ({"trades": ["snake charmer"]}, "to search for the word on websites, use keywords"),
        ({"lacks": ["crmm"]}, "crm"),
    ],
    ids=str,
)
def test_closed_values(own: httpx.Client, body: dict[str, Any], nearest: str) -> None:
    (detail,) = refused(own.post(SEARCH, json=body), 400, "INVALID_REQUEST")
    assert [detail["field"].partition("[")[0]] == list(body)
    assert nearest in detail["message"]


@pytest.mark.promise("values.listed")
def test_short_closed_lists_are_named(own: httpx.Client) -> None:
    (detail,) = refused(own.post(SEARCH, json={"service_type": "Dentist"}), 400, "INVALID_REQUEST")
    assert detail["message"] == f"expected a service type ({', '.join(sorted(SERVICE_TYPES))}), found 'Dentist'"
    (detail,) = bad_query(own, "@region(Atlantis)")
    assert detail["message"] == "@region: expected a region (Africa, Americas, Asia, Europe, Oceania), found 'Atlantis'"
    (detail,) = bad_query(own, "@subregion(Atlantis)")
    assert "Western Asia, Western Europe), found" in detail["message"]


@pytest.mark.promise("lacks.technology")
def test_a_technology_is_not_a_category(own: httpx.Client) -> None:
    message = (
        "'Shopify' is a technology, not a software category; write !@technology(Shopify) for sites without it, "
        "@technology(Shopify) for sites with it"
    )
    (detail,) = refused(own.post(SEARCH, json={"lacks": ["Shopify"]}), 400, "INVALID_REQUEST")
    assert detail["message"] == message
    for sign in ("", "!"):
        (detail,) = bad_query(own, f"{sign}@lacks(Shopify)")
        assert detail["message"] == f"@lacks: {message}"
    (detail,) = bad_query(own, "!@technology(crm)")
    assert "write @lacks(crm) for sites without it" in detail["message"]


@pytest.mark.promise("numbers.no_operator")
@pytest.mark.parametrize(
    "body",
    [
        {"load_time_ms": "3000"},
        {"load_time_ms": "~3000"},
        {"load_time_ms": ">"},
        {"load_time_ms": ">3s"},
        {"load_time_ms": ">-1"},
        {"load_time_ms": ">1.5"},
        {"load_time_ms": ">3,000"},
        {"load_time_ms": ""},
        {"seo_score": "50"},
        {"seo_score": "about 50"},
        {"seo_score": ">101"},
        {"seo_score": "more than 50 or so"},
        {"spending": "1000"},
        {"spending": "-1000"},
        {"spending": "1000-"},
        {"spending": "5000-1000"},
        {"spending": "5,000-9,000"},
        {"spending": "$100-$499"},
        {"spending": "a-b"},
        {"updated_after": "2026-13-01T00:00:00Z"},
        {"updated_after": "2026-02-30T00:00:00Z"},
        {"updated_after": "1790000000"},
        {"updated_after": "2026-10-15T00:00:00"},
        {"updated_after": "2026-10-15T25:00:00Z"},
        {"updated_after": "last week"},
        {"updated_after": "1969-12-31T23:59:59Z"},
        {"updated_after": "2110-01-01T00:00:00Z"},
    ],
    ids=str,
)
def test_forms_of_numbers_and_times(own: httpx.Client, body: dict[str, Any]) -> None:
    assert bad_fields(own, body) == set(body)


@pytest.mark.promise("numbers.bare")
def test_a_bare_number_says_how_to_write_it(own: httpx.Client) -> None:
    message = (
        "expected an operator or a range, found only 1000; write 1000+ for at least 1000, 1000-1000 for exactly 1000"
    )
    (detail,) = refused(own.post(SEARCH, json={"spending": " 1000"}), 400, "INVALID_REQUEST")
    assert detail["message"] == message
    (detail,) = bad_query(own, "@spends( 1000 )")
    assert detail["message"] == f"@spends: {message}"
    (detail,) = bad_query(own, "@load_time(1000)")
    assert detail["message"] == f"@load_time: {message}"
    for text in ("1000+", "1000-1000"):
        assert found(own, {"spending": text}) == found(own, {"wrapped_query": f"@spends({text})"})


@pytest.mark.promise("numbers.same_forms")
@pytest.mark.parametrize(
    "text", [">500", "< 1000", ">=500", "<=1000", "=500", "less than 1000", "Greater  Than 500", "500+", "100 - 500"]
)
def test_operators_and_words_are_the_same_in_body_and_directives(own: httpx.Client, text: str) -> None:
    domains = found(own, {"wrapped_query": f"@spends({text})"})
    assert found(own, {"spending": text}) == domains != set()


@pytest.mark.promise("numbers.crossed")
@pytest.mark.parametrize("body", [{"min_score": 50, "max_score": 49}, {"min_spending": 2, "max_spending": 1}], ids=str)
def test_min_above_max(own: httpx.Client, body: dict[str, Any]) -> None:
    assert bad_fields(own, body) & set(body)


@pytest.mark.promise("limit.query_chars", "limit.wrapped_query_chars")
def test_long_texts(own: httpx.Client) -> None:
    search(own, {"query": "sites in Germany. ".ljust(1000, "é"), "limit": 1})
    assert bad_fields(own, {"query": "é" * 1001}) == {"query"}
    line = "@country(USA)\n"
    search(own, {"wrapped_query": line + " " * (8000 - len(line)), "limit": 1})
    response = own.post(SEARCH, json={"wrapped_query": line + " " * (8001 - len(line))})
    assert response.status_code == 400
    assert [detail["field"] for detail in response.json()["details"]] == ["wrapped_query"]


@pytest.mark.promise("limit.query_chars")
def test_a_long_query_is_refused_even_when_wrapped_query_rules(own: httpx.Client) -> None:
    assert bad_fields(own, {"query": "x" * 1001, "wrapped_query": "@country(USA)"}) == {"query"}


def _refused_for_size(own: httpx.Client, body: dict[str, Any]) -> None:
    response = own.post(SEARCH, json=body)
    assert response.status_code == 400, response.text[:200]
    refused(response, 400, response.json()["error"])
    assert response.json()["error"] in ("INVALID_REQUEST", "INVALID_QUERY")


@pytest.mark.promise("limit.values", "size.refused")
def test_200_values(own: httpx.Client) -> None:
    values = [f"w{number}" for number in range(201)]
    search(own, {"keywords": values[:200], "limit": 1})
    _refused_for_size(own, {"keywords": values})
    _refused_for_size(own, {"keywords": values[:150], "technologies": [f"t{number}" for number in range(51)]})
    _refused_for_size(own, {"wrapped_query": f"@keywords({', '.join(values)})"})
    _refused_for_size(own, {"wrapped_query": f"@keywords({', '.join(values[:100])})", "pages": values[100:]})


@pytest.mark.promise("limit.lines", "size.refused")
def test_64_lines(own: httpx.Client) -> None:
    lines = [f"@keywords(w{number})" for number in range(65)]
    search(own, {"wrapped_query": "\n".join(lines[:64]), "limit": 1})
    _refused_for_size(own, {"wrapped_query": "\n".join(lines)})
    _refused_for_size(own, {"wrapped_query": "\n".join(lines[:64]), "country": "USA"})
    search(own, {"wrapped_query": "\n".join(lines[:63]), "country": "USA", "limit": 1})


@pytest.mark.promise("size.once")
def test_equal_lines_and_values_count_once(own: httpx.Client) -> None:
    search(own, {"wrapped_query": "\n".join(["@country(USA)"] * 65), "limit": 1})
    search(own, {"wrapped_query": "\n".join(f"!@keywords(w{number})" for number in range(65)), "limit": 1})
    search(own, {"keywords": ["same"] * 201, "limit": 1})


@pytest.mark.promise("limit.echo_bytes")
def test_4800_bytes_of_filters_as_sent(own: httpx.Client) -> None:
    """What is said is short, but it comes back as it was sent, and travels in the cursor so."""
    most = {"keywords": [*["same"] * 682, "another99"]}
    assert len(json.dumps(most, separators=(",", ":"))) == 4800
    assert search(own, {**most, "limit": 1})["filters"] == most
    _refused_for_size(own, {"keywords": [*most["keywords"][:-1], "another999"]})


@pytest.mark.promise("limit.value_chars")
def test_256_characters_of_a_value(own: httpx.Client) -> None:
    search(own, {"keywords": ["é" * 256], "limit": 1})
    assert bad_fields(own, {"keywords": ["é" * 257]}) == {"keywords"}


@pytest.mark.promise("directives.comment_line")
def test_blank_lines_and_comments_are_no_lines(own: httpx.Client) -> None:
    lines = ["# a note", ""] * 40 + ["@country(USA)"]
    search(own, {"wrapped_query": "\n".join(lines), "limit": 1})


@pytest.mark.promise("limit.canonical_bytes", "size.refused")
def test_4000_bytes(own: httpx.Client) -> None:
    search(own, {"keywords": [f"{number:02}{'x' * 68}" for number in range(50)], "limit": 1})
    _refused_for_size(own, {"keywords": [f"{number:02}{'x' * 68}" for number in range(58)]})
    # Bytes, not characters.
    _refused_for_size(own, {"keywords": [f"{number:02}{'é' * 68}" for number in range(40)]})
    _refused_for_size(own, {"wrapped_query": "\n".join(f"!@keywords({'x' * 200}{number})" for number in range(20))})


@pytest.mark.promise("limit.canonical_bytes")
def test_up_to_4000_bytes_are_answered(own: httpx.Client) -> None:
    values = [f"{number:018}" for number in range(196)]
    line = f"@keywords({', '.join(values)})"
    assert len(line) == 3929
    search(own, {"wrapped_query": line, "limit": 1})
    search(own, {"keywords": values, "limit": 1})


@pytest.mark.promise("size.query")
def test_a_query_beyond_the_size_is_not_refused(own: httpx.Client) -> None:
    search(own, {"query": "sites in Germany. " + " ".join(f"w{number}" for number in range(190)), "limit": 1})


@pytest.mark.parametrize("value", [-1, 2**63, 2**70, -(2**70)])
@pytest.mark.parametrize("name", ["min_spending", "max_spending", "min_score", "max_score", "limit"])
def test_numbers_beyond_every_scale(own: httpx.Client, name: str, value: int) -> None:
    assert bad_fields(own, {name: value}) == {name}
