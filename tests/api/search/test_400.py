"""Bodies that are refused: JSON, unknown fields, wrong types; all problems at once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from testing.api_calls import DEFAULT_FIELDS, SEARCH, bad_fields, refused

JSON = {"Content-Type": "application/json"}


@pytest.mark.promise("error.INVALID_REQUEST", "body.empty")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" ",
        b"{",
        b"{'limit': 1}",
        b'{"limit": 1,}',
        b'{"limit": NaN}',
        b"\xff\xfe{}",
        b'{"query": "\xc3\x28"}',
        b"{} {}",
        b"[]",
        b'[{"limit": 1}]',
        b'"limit"',
        b"null",
        b"3",
        b"true",
        b"[" * 5000,
        b'{"query":' * 5000,
    ],
)
def test_no_json_object(own: httpx.Client, content: bytes) -> None:
    refused(own.post(SEARCH, content=content, headers=JSON), 400, "INVALID_REQUEST")


def _message(own: httpx.Client, body: dict[str, Any]) -> str:
    """What is said of the one thing that is wrong with a body."""
    (detail,) = refused(own.post(SEARCH, json=body), 400, "INVALID_REQUEST")
    return str(detail["message"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a JSON object, found nothing; send at least {}"),
        (b" \n", "expected a JSON object, found nothing; send at least {}"),
        (b"[]", "expected a JSON object, found an array"),
        (b'{\n"limit": 1,\n}', "expected JSON: trailing comma is not allowed: line 2 column 11"),
        (b"{'limit': 1}", "expected JSON: unexpected character, expected a string key: line 1 column 2"),
    ],
)
def test_what_is_said_of_no_json_object(own: httpx.Client, content: bytes, message: str) -> None:
    (detail,) = refused(own.post(SEARCH, content=content, headers=JSON), 400, "INVALID_REQUEST")
    assert detail == {"field": "body", "message": message}


@pytest.mark.promise("body.unknown_field")
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("limt", "limit"),
        ("contry", "country"),
        ("technology", "technologies"),
        ("keyword", "keywords"),
        ("has_linkdin", "has_linkedin"),
        ("Country", "country"),
        ("wraped_query", "wrapped_query"),
    ],
)
def test_an_unknown_field_is_named_with_the_nearest(own: httpx.Client, name: str, nearest: str) -> None:
    response = own.post(SEARCH, json={name: None})
    (detail,) = refused(response, 400, "INVALID_REQUEST")
    assert detail["field"] == name
    assert nearest in detail["message"]
    assert name in response.json()["message"]


@pytest.mark.promise("body.unknown_field")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("offset", "unknown field; to get the next page, POST to the path in `next` of the response"),
        ("page", "unknown field; to get the next page, POST to the path in `next` of the response"),
        ("per_page", "unknown field; use `limit` for the number of leads per page"),
        ("region", "unknown field; use @region in `wrapped_query`"),
        ("score", "unknown field; use `min_score` or `max_score` or `seo_score`"),
        ("lang", "unknown field; did you mean language?"),
        ("order", "unknown field; the known fields are in /openapi.json"),
        ("filter", "unknown field; the known fields are in /openapi.json"),
    ],
)
def test_what_to_send_instead(own: httpx.Client, name: str, message: str) -> None:
    (detail,) = refused(own.post(SEARCH, json={name: 1}), 400, "INVALID_REQUEST")
    assert (detail["field"], detail["message"]) == (name, message)


@pytest.mark.promise("body.nothing_ignored")
def test_an_unknown_field_far_from_all_names(own: httpx.Client) -> None:
    (detail,) = refused(own.post(SEARCH, json={"zzqqxxyy": 1}), 400, "INVALID_REQUEST")
    assert detail == {"field": "zzqqxxyy", "message": "unknown field; the known fields are in /openapi.json"}


@pytest.mark.promise("error.INVALID_REQUEST", "body.all_problems", "errors.details")
def test_all_problems_at_once(own: httpx.Client) -> None:
    body = {
        "limt": 5,
        "limit": "20",
        "country": "Germny",
        "service_type": 3,
        "technologies": "Shopify",
        "has_phone": "yes",
        "min_score": 101,
        "load_time_ms": "3000",
        "updated_after": "yesterday",
        "select": ["domian"],
        "sort": "size",
        "language": "xx",
        "query": 5,
    }
    assert bad_fields(own, body) >= set(body) - {"select"}
    assert any(name.startswith("select") for name in bad_fields(own, body))


@pytest.mark.promise("body.all_problems")
def test_problems_of_body_and_of_wrapped_query_at_once(own: httpx.Client) -> None:
    response = own.post(SEARCH, json={"limt": 5, "country": "Germny", "wrapped_query": "@nope"})
    assert response.status_code == 400
    assert {detail["field"] for detail in response.json()["details"]} == {"limt", "country", "wrapped_query"}


TEXTS = [
    "query",
    "language",
    "wrapped_query",
    "country",
    "state",
    "city",
    "service_type",
    "offers",
    "spending",
    "updated_after",
]
TEXTS += ["load_time_ms", "seo_score", "sort"]
LISTS = ["select", "technologies", "keywords", "categories_uses", "pages", "lacks"]
FLAGS = [
    "has_phone",
    "has_email",
    "has_facebook",
    "has_linkedin",
    "has_twitter",
    "has_x",
    "has_instagram",
    "has_youtube",
    "has_tiktok",
    "has_pinterest",
    "exclude_generic_emails",
    "not_secure",
    "missing_sitemap",
    "missing_schema",
    "missing_robot",
    "missing_heading",
    "missing_description",
    "not_responsive",
]
NUMBERS = ["limit", "min_spending", "max_spending", "min_score", "max_score"]


@pytest.mark.promise("body.single_strings", "body.wrong_type")
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", [3, True, False, 1.5, ["USA"], {"a": 1}], ids=str)
def test_no_text(own: httpx.Client, name: str, value: Any) -> None:
    assert bad_fields(own, {name: value}) == {name}


@pytest.mark.promise("body.wrong_type")
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", ["domain", 3, True, {"a": 1}, [3], [None], [["domain"]], [True]], ids=str)
def test_no_array_of_texts(own: httpx.Client, name: str, value: Any) -> None:
    (field,) = bad_fields(own, {name: value})
    assert field.partition("[")[0] == name


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"technologies": "Shopify"}, 'expected an array of strings, found a string; write ["Shopify"]'),
        ({"lacks": "crm, cms"}, 'expected an array of strings, found a string; write ["crm", "cms"]'),
        ({"keywords": "é" * 500}, f'expected an array of strings, found a string; write ["{"é" * 64}"]'),
        ({"pages": " "}, "expected an array of strings, found a string"),
        ({"pages": 3}, "expected an array of strings, found a number"),
        ({"select": "domain"}, 'expected an array of field names; write ["domain"]'),
    ],
    ids=lambda given: str(given)[:30],
)
def test_a_text_where_an_array_belongs(own: httpx.Client, body: dict[str, Any], message: str) -> None:
    assert _message(own, body) == message


@pytest.mark.parametrize(
    ("body", "way_on"),
    [
        ({"country": ["USA"]}, "alternatives go in wrapped_query: @country(USA)"),
        ({"country": ["USA", "CAN"]}, "alternatives go in wrapped_query: @country(USA, CAN)"),
        ({"language": ["de", "en"]}, "alternatives go in wrapped_query: @lang(de, en)"),
        ({"city": ["Berlin", "Foo, Bar"]}, 'alternatives go in wrapped_query: @city(Berlin, "Foo, Bar")'),
        ({"state": ["CA", 3]}, "alternatives go in wrapped_query, in the parentheses of @state"),
        ({"offers": ["x" * 70]}, "alternatives go in wrapped_query, in the parentheses of @offers"),
        ({"country": ["USA"] * 11}, "alternatives go in wrapped_query, in the parentheses of @country"),
    ],
    ids=lambda given: str(given)[:30],
)
def test_an_array_where_a_text_belongs(own: httpx.Client, body: dict[str, Any], way_on: str) -> None:
    assert _message(own, body) == f"expected a string, found an array; {way_on}"


@pytest.mark.promise("body.wrong_type")
@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", ["true", 1, 0, "", {}], ids=repr)
def test_no_boolean(own: httpx.Client, name: str, value: Any) -> None:
    assert bad_fields(own, {name: value}) == {name}


@pytest.mark.promise("body.integers", "body.wrong_type")
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [True, False, "20", 20.5, "", {}, [20]], ids=repr)
def test_no_integer(own: httpx.Client, name: str, value: Any) -> None:
    assert bad_fields(own, {name: value}) == {name}


@pytest.mark.promise("search.limit", "limit.outside", cases={"101": "limit.page_most"})
@pytest.mark.parametrize("limit", [0, -1, 101, 10**30])
def test_limit_outside_1_to_100(own: httpx.Client, limit: int) -> None:
    assert bad_fields(own, {"limit": limit}) == {"limit"}


@pytest.mark.promise("search.min_score", "search.max_score", "limit.score_filter")
@pytest.mark.parametrize("name", ["min_score", "max_score"])
@pytest.mark.parametrize("value", [-1, 101])
def test_scores_outside_0_to_100(own: httpx.Client, name: str, value: int) -> None:
    assert bad_fields(own, {name: value}) == {name}


@pytest.mark.promise("sort.unknown")
@pytest.mark.parametrize("sort", ["+score", "Score", "-domain", "spending", "crawled_at", ""])
def test_unknown_order(own: httpx.Client, sort: str) -> None:
    assert bad_fields(own, {"sort": sort}) == {"sort"}


@pytest.mark.promise("search.select")
@pytest.mark.parametrize("name", ["domian", "Domain", "social_accounts", "text", "emails_personal", ""])
def test_unknown_field_in_select(own: httpx.Client, name: str) -> None:
    (detail,) = refused(own.post(SEARCH, json={"select": ["title", name]}), 400, "INVALID_REQUEST")
    assert detail["field"].partition("[")[0] == "select"
    if name == "domian":
        assert "domain" in detail["message"]


def test_a_name_in_select_far_from_all_fields(own: httpx.Client) -> None:
    assert _message(own, {"select": ["zzqqxxyy"]}) == (
        "'zzqqxxyy' is not a field of the record; its fields are in /openapi.json"
    )


def test_two_unknown_fields_in_select_are_both_named(own: httpx.Client) -> None:
    details = refused(own.post(SEARCH, json={"select": [*DEFAULT_FIELDS, "x1", "x2"]}), 400, "INVALID_REQUEST")
    assert all(any(name in detail["message"] for detail in details) for name in ("x1", "x2"))


@pytest.mark.promise("errors.no_framework")
def test_framework_bodies_never_show(own: httpx.Client) -> None:
    for content in (b"{", b'{"limit": "x"}', b"\xff"):
        text = own.post(SEARCH, content=content, headers=JSON).text
        assert '"detail"' not in text
        assert "Traceback" not in text
        assert "pydantic" not in text.lower()
        assert "orjson" not in text.lower()
