"""GET /v1/usage with parameters that are wrong: all are reported, and nothing is guessed."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import USAGE, refused
from testing.customers import Bank
from tests.api.receipts import as_owner, get


def _told(own: httpx.Client, query: str) -> list[tuple[str, str]]:
    details = refused(own.get(f"{USAGE}?{query}"), 400, "INVALID_REQUEST")
    return [(detail["field"], detail["message"]) for detail in details]


@pytest.mark.promise("receipts.strict")
def test_unknown_parameters(own: httpx.Client) -> None:
    details = refused(own.get(f"{USAGE}?form=2026-11-01&operation=search"), 400, "INVALID_REQUEST")
    assert details == [
        {"field": "form", "message": "unknown parameter; did you mean from?", "nearest": "from"},
        {"field": "operation", "message": "unknown parameter; expected one of from, to, key"},
    ]


@pytest.mark.promise("receipts.strict")
def test_all_problems_at_once(own: httpx.Client) -> None:
    assert _told(own, "until=1&from=x&to=y&key=z&key=1") == [
        ("until", "unknown parameter; expected one of from, to, key"),
        ("key", "sent more than once; send it once"),
        ("from", "expected a day such as 2026-11-15, found 'x'"),
        ("to", "expected a day such as 2026-11-15, found 'y'"),
        ("key", "expected a whole number, found 'z'"),
    ]


@pytest.mark.promise("usage.from")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-30",
        "2026-13-01",
        "0000-01-01",
        "20261115",
        "2026-W46-7",
        "15.11.2026",
        "2026-11-15T00:00:00Z",
        "٢٠٢٦-١١-١٥",
    ],
)
def test_no_day(own: httpx.Client, text: str) -> None:
    for name in ("from", "to"):
        assert _told(own, f"{name}={text}") == [(name, f"expected a day such as 2026-11-15, found {text!r}")]


@pytest.mark.promise("usage.key")
@pytest.mark.parametrize("text", ["", "0", "-1", "1.0", "1e3", "9223372036854775808", "9" * 50, "%201", "٣", "mine"])
def test_no_key(own: httpx.Client, text: str) -> None:
    ((field, message),) = _told(own, f"key={text}")
    assert field == "key"
    assert message.startswith("expected a whole number, found ")


@pytest.mark.promise("limit.usage_days")
def test_ranges(own: httpx.Client) -> None:
    assert _told(own, "from=2026-11-02&to=2026-11-01") == [
        ("from", "expected a day not after 2026-11-01, found 2026-11-02")
    ]
    assert _told(own, "from=2024-01-01&to=2025-01-01") == [
        ("from", "expected at most 366 days, found 367 up to 2025-01-01")
    ]
    ((field, message),) = _told(own, "from=2020-01-01")
    assert (field, message[:29]) == ("from", "expected at most 366 days, fo")
    ((field, message),) = _told(own, "from=9999-12-31")
    assert message.startswith("expected a day not after 20")


@pytest.mark.promise("limit.usage_rows")
def test_10_001_rows(bank: Bank) -> None:
    customer = bank.customer()
    keys = [customer, *(bank.another(customer.account_id) for _ in range(27))]
    many = (
        "INSERT INTO {schema}.usage_days SELECT k, '2025-01-01'::date + d, 'enrich', 1, 1, 2"
        " FROM unnest($1::bigint[]) k, generate_series(0, 359) d"
    )
    as_owner(bank, many, [key.key_id for key in keys])
    response = customer.client.get(USAGE, params={"from": "2025-01-01", "to": "2025-12-31"})
    assert refused(response, 400, "INVALID_REQUEST") == [
        {"field": "from", "message": "more than 10,000 rows; request a shorter range, or a single key"}
    ]
    assert len(get(customer, USAGE, from_="2025-01-01", to="2025-12-31", key=customer.key_id)["rows"]) == 360
    assert len(get(customer, USAGE, from_="2025-01-01", to="2025-01-10")["rows"]) == 280
