"""What lists refuse."""

from __future__ import annotations

from typing import Any

import pytest

from siteglass.leads.lists import lists as stored_lists
from testing.api_calls import answered, bad_fields, refused
from testing.customers import STOCK, Bank
from tests.api.lists.test_200 import LISTS, created, domains_of


@pytest.mark.promise("list.names")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": None},
        {"name": 5},
        {"name": ""},
        {"name": "Customers"},
        {"name": "my list"},
        {"name": "-customers"},
        {"name": "x" * 64},
        {"name": "a/b"},
        {"name": "customers\n"},
        {"name": "paid"},
        {"name": "downloaded"},
    ],
)
def test_names(bank: Bank, body: dict[str, Any]) -> None:
    assert bad_fields(bank.customer().client, body, LISTS) == {"name"}


@pytest.mark.promise("list.names")
def test_a_name_that_is_taken(bank: Bank) -> None:
    customer = bank.customer()
    created(customer, "x" * 63, [])
    assert bad_fields(customer.client, {"name": "x" * 63, "domains": ["example.com"]}, LISTS) == {"name"}
    assert domains_of(customer, "x" * 63) == []


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"domains"}),
        ({"domains": []}, {"domains"}),
        ({"domains": "example.com"}, {"domains"}),
        ({"domains": ["example.com", 5, None]}, {"domains[1]", "domains[2]"}),
        ({"domains": ["a.com"] * 2_001}, {"domains"}),
        ({"domain": ["example.com"], "domains": ["example.com"]}, {"domain"}),
    ],
)
def test_bodies(bank: Bank, body: dict[str, Any], fields: set[str]) -> None:
    customer = bank.customer()
    created(customer, "some", [])
    for path in ("domains", "remove"):
        assert bad_fields(customer.client, body, f"{LISTS}/some/{path}") == fields
    assert domains_of(customer, "some") == []


def test_parameters(bank: Bank) -> None:
    client = bank.customer().client
    refused(client.get(f"{LISTS}?limit=5"), 400, "INVALID_REQUEST")
    refused(client.get(f"{LISTS}/paid/domains?limit=1001"), 400, "INVALID_REQUEST")
    refused(client.get(f"{LISTS}/paid/domains?offset=5"), 400, "INVALID_REQUEST")
    refused(client.get(f"{LISTS}/paid/domains?after=%00"), 400, "INVALID_REQUEST")


def test_no_such_list(bank: Bank) -> None:
    customer, other = bank.customer(), bank.customer()
    created(other, "theirs", ["example.com"])
    for name in ("theirs", "nope", "%00", "../account"):
        refused(customer.client.get(f"{LISTS}/{name}/domains"), 404, "NOT_FOUND")
    refused(customer.post(f"{LISTS}/theirs/domains", {"domains": ["a.com"]}), 404, "NOT_FOUND")
    refused(customer.post(f"{LISTS}/theirs/remove", {"domains": ["example.com"]}), 404, "NOT_FOUND")
    refused(customer.client.delete(f"{LISTS}/theirs"), 404, "NOT_FOUND")
    assert domains_of(other, "theirs") == ["example.com"]


@pytest.mark.promise("list.built_in")
@pytest.mark.parametrize("name", ["paid", "received", "downloaded"])
def test_built_in_lists_are_read_only(bank: Bank, name: str) -> None:
    customer = bank.customer()
    assert domains_of(customer, name) == []
    for path in ("domains", "remove"):
        assert bad_fields(customer.client, {"domains": [STOCK[0].domain]}, f"{LISTS}/{name}/{path}") == {"name"}
    refused(customer.client.delete(f"{LISTS}/{name}"), 400, "INVALID_REQUEST")
    assert domains_of(customer, name) == []


@pytest.mark.promise("list.limits")
def test_limits(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_lists, "MAX_LISTS", 2)
    monkeypatch.setattr(stored_lists, "MAX_LIST_DOMAINS", 3)
    customer = bank.customer()
    created(customer, "one", ["a.com", "b.com", "c.com"])
    assert bad_fields(customer.client, {"domains": ["d.com", "a.com"]}, f"{LISTS}/one/domains") == {"domains"}
    assert domains_of(customer, "one") == ["a.com", "b.com", "c.com"]
    assert answered(customer.post(f"{LISTS}/one/domains", {"domains": ["a.com"]}))["size"] == 3
    created(customer, "two", [])
    assert bad_fields(customer.client, {"name": "three"}, LISTS) == {"name"}


def test_the_scope(bank: Bank) -> None:
    customer = bank.customer(scopes=["enrich", "account"])
    refused(customer.client.get(LISTS), 403, "FORBIDDEN")
    refused(customer.post(LISTS, {"name": "some"}), 403, "FORBIDDEN")
