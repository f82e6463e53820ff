"""What a key may do and from where, and the order of checks: key, address, scope, rate limit, body."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from siteglass.access.keys import SCOPES
from siteglass.openapi.operations import OPERATIONS
from siteglass.settings import Settings, SettingsError
from siteglass.web.address import trusted_proxies
from siteglass.web.operations import Operation
from testing.api_calls import (
    ACCOUNT,
    DIAGNOSE,
    ENRICH,
    FACETS,
    INTERPRET,
    LEDGER,
    SEARCH,
    USAGE,
    VALUES,
    answered,
    refused,
)
from testing.customers import Bank, Customer, nothing_shown
from testing.service import ServiceProcess, serving

SUBSETS = [subset for size in (1, 2, 3) for subset in itertools.combinations(SCOPES, size)]
BODIES: dict[str, dict[str, Any]] = {
    SEARCH: {"limit": 1},
    INTERPRET: {},
    FACETS: {},
    DIAGNOSE: {},
    ENRICH: {"domains": ["stock-01.com"]},
}
NEEDED = {
    SEARCH: "search",
    "page": "search",
    INTERPRET: "search",
    FACETS: "search",
    DIAGNOSE: "search",
    ENRICH: "enrich",
}


@pytest.mark.promise("error.FORBIDDEN", "key.scopes")
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


@pytest.mark.promise("key.account_scope")
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
    assert response.json()["message"] == "This key lacks the scope `account`. Use a key that has it, or create one."
    refused(held.client.get(f"{path}?nope=1"), 403, "FORBIDDEN")
    nothing_shown(response)


@pytest.mark.promise("values.scope")
@pytest.mark.parametrize("scopes", SUBSETS, ids="-".join)
def test_the_scope_search_opens_values(bank: Bank, scopes: tuple[str, ...]) -> None:
    held = bank.customer(scopes=scopes)
    response = held.client.get(f"{VALUES}/city")
    if "search" in scopes:
        answered(response)
        return
    refused(response, 403, "FORBIDDEN")
    assert response.json()["message"] == "This key lacks the scope `search`. Use a key that has it, or create one."
    refused(held.client.get(f"{VALUES}/nope?nope=1"), 403, "FORBIDDEN")


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.scope], ids=lambda one: one.name)
def test_every_operation_needs_its_scope_and_takes_from_the_rate(bank: Bank, operation: Operation) -> None:
    """Whatever is in its path: a request is first that of a key."""
    others = [scope for scope in SCOPES if scope != operation.scope]
    narrow, slow = bank.customer(scopes=others), bank.customer(plan=bank.plan(0.001, 1))
    refusal = narrow.client.request(operation.method, operation.path, json={})
    refused(refusal, 403, "FORBIDDEN")
    assert f"the scope `{operation.scope}`" in refusal.json()["message"]
    slow.client.get(ACCOUNT).raise_for_status()
    refused(slow.client.request(operation.method, operation.path, json={}), 429, "TOO_MANY_REQUESTS")


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


@pytest.mark.promise("order.key", "order.scope", "order.rate", "order.media_type", "order.size", "order.fields")
@pytest.mark.parametrize("path", [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH])
def test_order(callers: list[Caller], path: str) -> None:
    """Every combination of what can be wrong: the first in the order is reported."""
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


OFFICE = ("203.0.113.0/24", "2001:db8::/32")


def _message(address: str) -> str:
    return f"This key may not be used from {address}. Call from an allowed address, or change its allowlist."


def _bound(bank: Bank, *networks: str, **limits: Any) -> Customer:
    user = bank.customer(api=10, lead=100, **limits)
    bank.allow(user.key_id, *networks)
    return user


@pytest.mark.promise("error.FORBIDDEN", "key.networks")
def test_a_key_is_used_from_its_networks_only(bank: Bank) -> None:
    inside, outside = _bound(bank, "127.0.0.0/8", "::1"), _bound(bank, *OFFICE)
    for path, body in BODIES.items():
        answered(inside.client.post(path, json=body))
        with outside.untouched():
            response = outside.client.post(path, json=body)
        refused(response, 403, "FORBIDDEN")
        assert response.json() == {"error": "FORBIDDEN", "message": _message("127.0.0.1")}
        nothing_shown(response)


@pytest.mark.promise("key.proxies")
@pytest.mark.parametrize(
    ("forwarded", "seen"),
    [
        ("203.0.113.7", None),
        ("203.0.113.7:49152", None),
        ("::ffff:203.0.113.7", None),
        ("2001:db8::7", None),
        ("[2001:db8::7]:49152", None),
        ("198.51.100.9, 203.0.113.7", None),  # anybody may have written what is before the last one
        ("203.0.113.7, 198.51.100.9", "198.51.100.9"),
        ("203.0.113.7, 127.0.0.1", None),  # two of the trusted proxies in a row
        ("::ffff:198.51.100.9", "198.51.100.9"),
        ("2001:db9::7", "2001:db9::7"),
        ("unknown", "an unknown address"),
        ("203.0.113.7<script>", "an unknown address"),
    ],
)
def test_behind_a_trusted_proxy_the_address_is_the_one_it_saw(bank: Bank, forwarded: str, seen: str | None) -> None:
    user = _bound(bank, *OFFICE)
    response = user.client.post(SEARCH, json={"limit": 1}, headers={"X-Forwarded-For": forwarded})
    if seen is None:
        answered(response)
    else:
        refused(response, 403, "FORBIDDEN")
        assert response.json()["message"] == _message(seen)


@pytest.mark.promise("key.proxies")
def test_the_word_of_others_on_an_address_does_not_count(bank: Bank) -> None:
    user = _bound(bank, *OFFICE)
    service = ServiceProcess(replace(bank.settings, trusted_proxies=()))
    service.start()
    try:
        with httpx.Client(base_url=service.url, trust_env=False) as client:
            client.headers["X-Forwarded-For"] = "203.0.113.7"
            response = user.post(SEARCH, {"limit": 1}, client)
    finally:
        service.kill()
    refused(response, 403, "FORBIDDEN")
    assert response.json()["message"] == _message("127.0.0.1")


def test_a_proxy_that_could_never_match_is_told_at_the_start() -> None:
    for wrong in ("proxy.example", "10.0.0.1/8", "*"):
        with pytest.raises(SettingsError, match="SITEGLASS_TRUSTED_PROXIES"):
            trusted_proxies(Settings(trusted_proxies=("127.0.0.1", wrong)))


@pytest.mark.promise("key.networks")
@pytest.mark.alone
def test_a_changed_list_is_followed_within_a_second(bank: Bank) -> None:
    user = _bound(bank, *OFFICE)
    refused(user.client.post(SEARCH, json={"limit": 1}), 403, "FORBIDDEN")
    bank.allow(user.key_id, "127.0.0.1")
    time.sleep(1.001)
    answered(user.client.post(SEARCH, json={"limit": 1}))


@pytest.mark.promise("order.address")
def test_the_address_is_checked_after_the_key_and_before_scope_and_rate(bank: Bank) -> None:
    user = _bound(bank, *OFFICE, scopes=["account"], plan=bank.plan(0.001, 1))
    for _ in range(3):  # takes nothing from the rate either
        response = user.client.post(SEARCH, content=b"{")
        refused(response, 403, "FORBIDDEN")
        assert response.json()["message"] == _message("127.0.0.1")
    bank.revoke(user.key_id)
    with serving(bank.settings) as fresh:
        refused(user.post(SEARCH, {}, fresh), 401, "UNAUTHORIZED")


@pytest.mark.alone  # beside others Redis may look slow, and each worker has a part of two only
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
