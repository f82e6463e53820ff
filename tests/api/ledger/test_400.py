"""GET /v1/ledger with parameters that are wrong: all are reported, and nothing is guessed."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import LEDGER, refused

NAMES = "from, to, key, request_id, limit, before"


def _told(own: httpx.Client, query: str) -> list[tuple[str, str]]:
    details = refused(own.get(f"{LEDGER}?{query}"), 400, "INVALID_REQUEST")
    return [(detail["field"], detail["message"]) for detail in details]


@pytest.mark.promise("receipts.strict")
def test_unknown_parameters(own: httpx.Client) -> None:
    details = refused(own.get(f"{LEDGER}?requestid=x&After=5&zzz=1&=1"), 400, "INVALID_REQUEST")
    assert details == [
        {"field": "requestid", "message": "unknown parameter; did you mean request_id?", "nearest": "request_id"},
        {"field": "After", "message": f"unknown parameter; expected one of {NAMES}"},
        {"field": "zzz", "message": f"unknown parameter; expected one of {NAMES}"},
        {"field": "?", "message": f"unknown parameter; expected one of {NAMES}"},
    ]


@pytest.mark.promise("receipts.strict")
def test_all_problems_at_once(own: httpx.Client) -> None:
    found = _told(own, "limit=0&limit=5&from=x&to=y&key=z&before=0&request_id=&nope=1")
    assert [field for field, _ in found] == ["limit", "nope", "from", "to", "key", "request_id", "limit", "before"]


@pytest.mark.promise("ledger.limit", "limit.ledger_most")
@pytest.mark.parametrize("text", ["0", "1001", "-1", "", "ten", "1.5", "9" * 30])
def test_limit(own: httpx.Client, text: str) -> None:
    assert _told(own, f"limit={text}") == [("limit", f"expected a whole number from 1 to 1000, found {text!r}")]


@pytest.mark.promise("ledger.before")
@pytest.mark.parametrize("name", ["key", "before"])
@pytest.mark.parametrize("text", ["0", "-1", "", "x", "9223372036854775808"])
def test_numbers(own: httpx.Client, name: str, text: str) -> None:
    assert _told(own, f"{name}={text}") == [(name, f"expected a whole number, found {text!r}")]


@pytest.mark.promise("ledger.from")
@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-11-31",
        "2026-11-15T12:30Z",
        "2026-11-15T12:30:00",
        "2026-11-15T25:00:00Z",
        "2026-11-15T12:30:60Z",
        "2026-11-15T12:30:00.Z",
        "2026-11-15T12:30:00%2B99:00",
        "0001-01-01T00:00:00%2B12:00",
        "9999-12-31T23:59:59-12:00",
        "1700000000",
        "2026-11-15%00",
    ],
)
def test_no_time(own: httpx.Client, name: str, text: str) -> None:
    ((field, message),) = _told(own, f"{name}={text}")
    assert field == name
    expected = "expected an RFC 3339 time such as 2026-11-15T12:30:00Z or a day such as 2026-11-15, found "
    assert message.startswith(expected)
    assert "%2B" not in message


def test_the_last_day_of_all_has_no_end(own: httpx.Client) -> None:
    assert [field for field, _ in _told(own, "to=9999-12-31")] == ["to"]
    assert own.get(f"{LEDGER}?from=9999-12-31").status_code == 200


def test_a_plus_that_became_a_blank(own: httpx.Client) -> None:
    ((_, message),) = _told(own, "from=2026-11-15T12:30:00+02:00")
    assert message.endswith("found '2026-11-15T12:30:00 02:00'; write the + of an offset as %2B")


@pytest.mark.promise("ledger.to")
def test_from_after_to(own: httpx.Client) -> None:
    assert _told(own, "from=2026-11-15T12:30:00Z&to=2026-11-15T14:29:59%2B02:00") == [
        ("from", "expected a time not after `to`, found 2026-11-15T12:30:00Z")
    ]
    assert _told(own, "from=2026-11-16&to=2026-11-14") == [("from", "expected a time not after `to`, found 2026-11-16")]


@pytest.mark.promise("ledger.request_id", "limit.request_id_chars")
@pytest.mark.parametrize("text", ["", "x" * 101, "a%00b", "a%0Ab", "%7F"])
def test_no_request_id(own: httpx.Client, text: str) -> None:
    ((field, message),) = _told(own, f"request_id={text}")
    assert field == "request_id"
    assert message.startswith("expected 1 to 100 characters, as in the header X-Request-Id, found ")


def test_strange_query_strings_are_answered(own: httpx.Client) -> None:
    for query in ("%FF=1", "from=%FF", "key=%F0%9F%99%82", "&&&", ";", "request_id=%FF", "limit=%EF%BC%91"):
        assert own.get(f"{LEDGER}?{query}").status_code in (200, 400)
