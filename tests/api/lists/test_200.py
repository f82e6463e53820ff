"""Lists of domains: created, filled, read, emptied and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from testing.api_calls import answered, ms
from testing.customers import STOCK, Bank, Customer

LISTS = "/v1/lists"
KNOWN = [lead.domain for lead in STOCK[:3]]


def created(customer: Customer, name: str, domains: list[str]) -> dict[str, Any]:
    """A new list."""
    return answered(customer.post(LISTS, {"name": name, "domains": domains}))


def domains_of(customer: Customer, name: str, **parameters: int) -> list[str]:
    """All domains of a list, page by page."""
    page = answered(customer.client.get(f"{LISTS}/{name}/domains", params=parameters))
    domains: list[str] = page["domains"]
    while page["next"]:
        page = answered(customer.client.get(page["next"]))
        assert page["domains"]
        domains += page["domains"]
    return domains


@pytest.mark.promise("route.POST /v1/lists", "route.GET /v1/lists", "list.shown")
def test_a_list_is_created_and_shown(bank: Bank) -> None:
    customer, other = bank.customer(), bank.customer()
    body = created(customer, "customers", [*KNOWN, "not-a-lead.com"])
    assert {name: body[name] for name in ("name", "built_in", "size", "added", "removed", "invalid")} == {
        "name": "customers",
        "built_in": False,
        "size": 4,
        "added": 4,
        "removed": 0,
        "invalid": 0,
    }
    shown = answered(customer.client.get(LISTS))["lists"]
    assert [(one["name"], one["built_in"], one["size"]) for one in shown] == [
        ("customers", False, 4),
        ("downloaded", True, 0),
        ("paid", True, 0),
        ("received", True, 0),
    ]
    assert ms(shown[0]["created_at"]) <= ms(shown[0]["changed_at"])
    assert [one["name"] for one in answered(other.client.get(LISTS))["lists"]] == ["downloaded", "paid", "received"]


@pytest.mark.promise("route.GET /v1/lists/{name}/domains")
def test_the_domains_of_a_list(bank: Bank) -> None:
    customer = bank.customer()
    created(customer, "some", ["zzz-no-lead.com", *KNOWN[::-1]])
    page = answered(customer.client.get(f"{LISTS}/some/domains"))
    assert page["domains"] == [*KNOWN, "zzz-no-lead.com"]
    assert page["next"] is None
    for limit in (1, 2, 3, 4):
        assert domains_of(customer, "some", limit=limit) == [*KNOWN, "zzz-no-lead.com"]


@pytest.mark.promise("route.POST /v1/lists/{name}/domains", "list.forms")
def test_a_domain_in_any_form(bank: Bank) -> None:
    customer = bank.customer()
    created(customer, "forms", [])
    sent = [
        f"https://www.{KNOWN[0]}/contact",
        KNOWN[0].upper(),
        f"blog.{KNOWN[1]}",
        "www.shop.no-lead.co.uk",
        "n/a",
        "127.0.0.1",
        "",
    ]
    body = answered(customer.post(f"{LISTS}/forms/domains", {"domains": sent}))
    assert (body["added"], body["size"], body["invalid"]) == (3, 3, 3)
    assert [one["domain"] for one in body["invalid_domains"]] == ["n/a", "127.0.0.1", ""]
    assert all(one["message"].startswith("This ") for one in body["invalid_domains"])
    assert domains_of(customer, "forms") == ["no-lead.co.uk", KNOWN[0], KNOWN[1]]
    again = answered(customer.post(f"{LISTS}/forms/domains", {"domains": sent}))
    assert (again["added"], again["size"], again["changed_at"]) == (0, 3, body["changed_at"])


@pytest.mark.promise("route.POST /v1/lists/{name}/remove")
def test_domains_are_removed(bank: Bank) -> None:
    customer = bank.customer()
    created(customer, "some", [*KNOWN, "no-lead.com"])
    sent = [f"www.{KNOWN[0]}", f"blog.{KNOWN[1]}", "no-lead.com", "never-listed.com"]
    body = answered(customer.post(f"{LISTS}/some/remove", {"domains": sent}))
    assert (body["removed"], body["size"]) == (3, 1)
    assert domains_of(customer, "some") == [KNOWN[2]]
    assert answered(customer.post(f"{LISTS}/some/remove", {"domains": sent}))["removed"] == 0


@pytest.mark.promise("route.DELETE /v1/lists/{name}")
def test_a_list_is_deleted(bank: Bank) -> None:
    customer = bank.customer()
    created(customer, "some", KNOWN)
    assert answered(customer.client.delete(f"{LISTS}/some")) == {"deleted": "some"}
    assert customer.client.get(f"{LISTS}/some/domains").status_code == 404
    assert created(customer, "some", KNOWN[:1])["size"] == 1


@pytest.mark.promise("list.limits")
def test_two_thousand_domains_at_once(bank: Bank) -> None:
    customer = bank.customer()
    domains = [f"number-{number}.com" for number in range(2_000)]
    assert created(customer, "many", domains)["size"] == 2_000
    assert domains_of(customer, "many", limit=1_000) == sorted(domains)
