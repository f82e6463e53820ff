"""What a key may do, and the order of checks: key, scope, rate limit, media type, size, JSON and fields."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from siteglass.accounts.keys import SCOPES
from tests.api.asking import ACCOUNT, ENRICH, LEDGER, SEARCH, USAGE, answered, refused
from tests.api.paying import Bank, Customer, nothing_shown

SUBSETS = [subset for size in (1, 2, 3) for subset in itertools.combinations(SCOPES, size)]
BODIES: dict[str, dict[str, Any]] = {SEARCH: {"limit": 1}, ENRICH: {"domains": ["stock-01.com"]}}
NEEDED = {SEARCH: "search", "page": "search", ENRICH: "enrich"}


@pytest.mark.parametrize("scopes", SUBSETS, ids="-".join)
@pytest.mark.parametrize("route", NEEDED)
def test_scopes(bank: Bank, scopes: tuple[str, ...], route: str) -> None:
    opener = bank.customer(api=10, lead=100)
    first = answered(opener.client.post(SEARCH, json={"limit": 1}))
    path = first["next"] if route == "page" else route
    held = bank.another(opener.account_id, scopes=scopes)
    body = BODIES.get(route, {})
    if NEEDED[route] in scopes:
        answered(held.client.post(path, json=body))
        return
    with held.untouched():
        response = held.client.post(path, json=body)
    refused(response, 403, "FORBIDDEN")
    assert list(response.json()) == ["error", "message"]
    assert NEEDED[route] in response.json()["message"]
    nothing_shown(response)


@pytest.mark.parametrize("scopes", SUBSETS, ids="-".join)
@pytest.mark.parametrize("route", [ACCOUNT, USAGE, LEDGER, "receipt"])
def test_the_scope_account_opens_what_was_spent(bank: Bank, scopes: tuple[str, ...], route: str) -> None:
    opener = bank.customer(lead=100)
    paid = opener.client.post(SEARCH, json={"limit": 3}).headers["x-request-id"]
    path = f"{LEDGER}/{paid}" if route == "receipt" else route
    held = bank.another(opener.account_id, scopes=scopes)
    if "account" in scopes:
        answered(held.client.get(path))
        return
    response = held.client.get(path)
    refused(response, 403, "FORBIDDEN")
    assert response.json()["message"] == "This key lacks the scope `account`. Use a key that has it, or make one."
    refused(held.client.get(f"{path}?nope=1"), 403, "FORBIDDEN")
    nothing_shown(response)


@dataclass
class Caller:
    """A key and what is wrong with it."""

    customer: Customer
    valid: bool
    allowed: bool
    slow: bool


@pytest.fixture(scope="module")
def callers(bank: Bank) -> list[Caller]:
    """Keys for all that can be wrong with one; those over their rate have used it up for minutes."""
    made = []
    for valid, allowed, slow in itertools.product((True, False), repeat=3):
        plan = bank.plan(0.001, 1) if slow else "tests"
        user = bank.customer(api=1000, lead=1000, plan=plan)
        other = bank.another(user.account_id, scopes=SCOPES if allowed else ["account"])
        if slow:
            user.client.post(SEARCH, json={"limit": 1}).raise_for_status()
            refused(user.client.post(SEARCH, json={"limit": 1}), 429, "TOO_MANY_REQUESTS")
        if not valid:
            bank.revoke(other.key_id)
        made.append(Caller(other, valid, allowed, slow))
    return made


@pytest.mark.parametrize("path", [SEARCH, f"{SEARCH}/some-cursor", ENRICH])
def test_order(callers: list[Caller], path: str) -> None:
    """Every combination of what can be wrong: the first in the order is told."""
    both = (True, False)
    for caller, json_type, large, good_json in itertools.product(callers, both, both, both):
        content = (b'{"limt": 1}' if good_json else b"{").ljust(70_000 if large else 20)
        kind = "application/json" if json_type else "text/plain"
        with caller.customer.untouched():
            response = caller.customer.client.post(path, content=content, headers={"Content-Type": kind})
        if not caller.valid:
            expected = (401, "UNAUTHORIZED")
        elif not caller.allowed:
            expected = (403, "FORBIDDEN")
        elif caller.slow:
            expected = (429, "TOO_MANY_REQUESTS")
        elif not json_type:
            expected = (415, "UNSUPPORTED_MEDIA_TYPE")
        elif large:
            expected = (413, "PAYLOAD_TOO_LARGE")
        elif path == f"{SEARCH}/some-cursor" and good_json:
            expected = (400, "INVALID_CURSOR")  # the cursor and its body are both wrong: either is a 400
            if response.json()["error"] == "INVALID_REQUEST":
                continue
        else:
            expected = (400, "INVALID_REQUEST")
        refused(response, *expected)


def test_a_missing_scope_takes_nothing_from_the_rate_of_others(bank: Bank) -> None:
    user = bank.customer(lead=100, plan=bank.plan(0.001, 2))
    narrow = bank.another(user.account_id, scopes=["enrich"])
    for _ in range(5):
        refused(narrow.client.post(SEARCH, json={}), 403, "FORBIDDEN")
    answered(user.client.post(SEARCH, json={"limit": 1}))
    answered(user.client.post(SEARCH, json={"limit": 1}))
    refused(user.client.post(SEARCH, json={"limit": 1}), 429, "TOO_MANY_REQUESTS")


def test_a_key_without_scopes_cannot_be_made(bank: Bank) -> None:
    user = bank.customer()
    with pytest.raises(ValueError, match="key"):
        bank.another(user.account_id, scopes=[])
    with pytest.raises(ValueError, match="key"):
        bank.another(user.account_id, scopes=["admin"])
