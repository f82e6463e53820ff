"""GET /v1/values/{field} with a field or parameters that are wrong: all are reported, and nothing is guessed."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import VALUES, refused

FIELDS = (
    "language, country, state, city, region, subregion, technologies, added, dropped, service_type, trades, "
    "categories_uses, offers, lacks"
)


def _told(own: httpx.Client, path: str) -> list[tuple[str, str]]:
    details = refused(own.get(f"{VALUES}/{path}"), 400, "INVALID_REQUEST")
    return [(detail["field"], detail["message"]) for detail in details]


@pytest.mark.promise("values.field")
@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("technolgies", "technologies"),
        ("technolog", "technologies"),
        ("cities", "city"),
        ("countries", "country"),
        ("Country", "country"),
        ("categories", "categories_uses"),
        ("languages", "language"),
        ("service-type", "service_type"),
        ("keywords", None),
        ("score", None),
        ("x" * 200, None),
    ],
)
def test_a_field_without_values(own: httpx.Client, field: str, meant: str | None) -> None:
    (detail,) = refused(own.get(f"{VALUES}/{field}"), 400, "INVALID_REQUEST")
    hint = f"; did you mean {meant}?" if meant else ""
    message = f"expected one of {FIELDS}, found {field[:64]!r}{hint}"
    assert detail == {"field": "field", "message": message} | ({"nearest": meant} if meant else {})


@pytest.mark.promise("values.strict")
def test_unknown_parameters(own: httpx.Client) -> None:
    details = refused(own.get(f"{VALUES}/city?query=x&limt=5&state=TX&=1"), 400, "INVALID_REQUEST")
    expected = "unknown parameter; expected one of q, limit, country"
    assert details == [
        {"field": "query", "message": expected},
        {"field": "limt", "message": "unknown parameter; did you mean limit?", "nearest": "limit"},
        {"field": "state", "message": expected},
        {"field": "?", "message": expected},
    ]


@pytest.mark.promise("values.strict")
def test_all_problems_at_once(own: httpx.Client) -> None:
    found = _told(own, f"cty?nope=1&limit=0&country=Germny&q={'x' * 65}&q=y")
    assert [field for field, _ in found] == ["field", "nope", "q", "q", "limit", "country"]


@pytest.mark.promise("values.limit", "limit.values_most")
@pytest.mark.parametrize("text", ["0", "51", "-1", "", "ten", "1.5", "9" * 30, "٣"])
def test_limit(own: httpx.Client, text: str) -> None:
    assert _told(own, f"city?limit={text}") == [("limit", f"expected a whole number from 1 to 50, found {text[:64]!r}")]


@pytest.mark.promise("limit.values_q_chars")
def test_65_characters(own: httpx.Client) -> None:
    assert _told(own, f"city?q={'é' * 65}") == [("q", "expected at most 64 characters, found 65")]
    assert own.get(f"{VALUES}/city?q={'é' * 64}").status_code == 200


@pytest.mark.promise("values.country")
def test_no_country(own: httpx.Client) -> None:
    details = refused(own.get(f"{VALUES}/state?country=Germny"), 400, "INVALID_REQUEST")
    message = "expected a country, found 'Germny'; did you mean DEU?"
    assert details == [{"field": "country", "message": message, "nearest": "DEU"}]
    assert _told(own, "state?country=") == [("country", "expected a value, found blank text")]
    assert _told(own, "state?country=Bavaria")[0][0] == "country"
    assert _told(own, f"state?country={'x' * 300}") == [("country", "expected at most 256 characters, found 300")]


@pytest.mark.promise("values.country")
@pytest.mark.parametrize("field", [name for name in FIELDS.split(", ") if name not in ("state", "city")])
def test_a_country_goes_with_state_and_city_only(own: httpx.Client, field: str) -> None:
    message = f"can only be used with state and city, not with {field}"
    assert _told(own, f"{field}?country=DEU") == [("country", message)]


def test_strange_query_strings_are_answered(own: httpx.Client) -> None:
    for query in ("%FF=1", "q=%FF", "q=%F0%9F%99%82", "&&&", ";", "q=%00", "limit=%EF%BC%91", "country=%FF", "q=a&q=b"):
        assert own.get(f"{VALUES}/city?{query}").status_code in (200, 400)
    for field in ("%00", "%FF", "%F0%9F%99%82", "<script>", "q%3Dx"):
        refused(own.get(f"{VALUES}/{field}"), 400, "INVALID_REQUEST")
