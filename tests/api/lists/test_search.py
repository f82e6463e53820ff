"""Lists in a search: leads on an excluded list, or on none of the lists to choose from, are not returned or charged."""

from __future__ import annotations

from typing import Any

import pytest

from testing.api_calls import INTERPRET, SEARCH, answered, bad_fields, refused
from testing.customers import IN_ORDER, STOCK, Bank, Customer, marks
from tests.api.lists.test_200 import LISTS, created

DOMAINS = [lead.domain for lead in STOCK]


def found(customer: Customer, body: dict[str, Any]) -> list[str]:
    """All domains of a search in small pages; the total is right on each."""
    page = answered(customer.post(SEARCH, {"limit": 7, **IN_ORDER, **body}))
    domains = [record["domain"] for record in page["results"]]
    while page["next"]:
        page = answered(customer.post(page["next"], {}))
        domains += [record["domain"] for record in page["results"]]
    assert page["total_results"] == len(domains)
    return domains


@pytest.mark.promise("search.exclude_lists", "search.only_lists", "list.search")
def test_excluded_and_only(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    created(customer, "even", [*DOMAINS[::2], "no-lead.com"])
    created(customer, "third", DOMAINS[::3])
    created(customer, "none", [])
    created(customer, "unknown", ["no-lead.com"])
    even, third = set(DOMAINS[::2]), set(DOMAINS[::3])
    for exclude, only, expected in (
        (["even"], [], set(DOMAINS) - even),
        (["even", "third"], [], set(DOMAINS) - even - third),
        ([], ["third"], third),
        ([], ["third", "even"], third | even),
        (["even"], ["third"], third - even),
        (["even"], ["even"], set()),
        (["none"], [], set(DOMAINS)),
        ([], ["none"], set()),
        ([], ["unknown"], set()),
        (["unknown", "even", "even"], [], set(DOMAINS) - even),
    ):
        body = {"exclude_lists": exclude, "only_lists": only}
        assert found(customer, body) == sorted(expected), body
        assert answered(customer.post(INTERPRET, body))["total_results"] == len(expected)
    assert found(customer, {"exclude_lists": ["even"], "country": "FRA", "sort": "-score"}) == DOMAINS[:30:-2]


@pytest.mark.promise("list.counts")
def test_facets_and_diagnosis(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    created(customer, "mine", DOMAINS[10:])
    body = {"exclude_lists": ["mine"]}
    counted = answered(customer.post("/v1/leads/facets", {**body, "facets": ["country"]}))
    assert counted["total_results"] == 10
    assert [(one["value"], one["count"]) for one in counted["facets"][0]["counts"]] == [("DEU", 10)]
    assert counted["price"]["with_email"] == sum(bool(lead.emails) for lead in STOCK[:10])
    nothing = {**body, "country": "FRA", "has_email": True}
    diagnosis = answered(customer.post("/v1/leads/diagnose", nothing))
    assert diagnosis["total_results"] == 0
    (relaxed,) = diagnosis["relaxations"]
    assert (relaxed["total_results"], relaxed["filters"]) == (6, {"wrapped_query": "@has_email", **body})
    assert len(found(customer, relaxed["filters"])) == 6
    assert customer.post(SEARCH, nothing).headers["x-query-hint"].startswith("6 leads match")


@pytest.mark.promise("list.charged")
def test_only_what_is_left_is_charged(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    created(customer, "mine", DOMAINS[:20])
    body = {**IN_ORDER, "exclude_lists": ["mine"], "limit": 9}
    page = customer.pays(SEARCH, body, "search", 0, marks(STOCK[20:29]))
    customer.pays(page["next"], {}, "page", 0, marks(STOCK[29:38]))
    quote = answered(customer.post(SEARCH, {**body, "dry_run": True}))
    assert (quote["lead_credits"], quote["total_results"]) == (6, 40)


@pytest.mark.promise("list.echo")
def test_the_echo_repeats_the_search(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    created(customer, "mine", DOMAINS[:20])
    sent = {"exclude_lists": ["mine"], "only_lists": ["mine", "paid"], "country": "DEU"}
    page = answered(customer.post(SEARCH, {**sent, "limit": 5}))
    assert page["filters"] == sent
    assert answered(customer.post(SEARCH, page["filters"]))["filters"] == sent
    first = answered(customer.post(SEARCH, {"exclude_lists": ["mine"], "limit": 5}))
    assert answered(customer.post(first["next"], {}))["filters"] == {"exclude_lists": ["mine"]}


@pytest.mark.promise("list.newest")
def test_the_newest_state_applies_on_every_page(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    created(customer, "mine", DOMAINS[:5])
    body = {**IN_ORDER, "exclude_lists": ["mine"], "limit": 5}
    page = answered(customer.post(SEARCH, body))
    assert [record["domain"] for record in page["results"]] == DOMAINS[5:10]
    customer.post(f"{LISTS}/mine/domains", {"domains": DOMAINS[10:14]})
    customer.post(f"{LISTS}/mine/remove", {"domains": DOMAINS[:3]})
    second = answered(customer.post(page["next"], {}))
    assert [record["domain"] for record in second["results"]] == DOMAINS[14:19]
    back = answered(customer.post(second["previous"], {}))
    assert [record["domain"] for record in back["results"]] == DOMAINS[5:10]
    first = answered(customer.post(back["previous"], {}))
    assert [record["domain"] for record in first["results"]] == DOMAINS[:3]


@pytest.mark.promise("list.deleted")
def test_a_list_that_is_deleted_on_the_way(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    for field in ("exclude_lists", "only_lists"):
        created(customer, "mine", DOMAINS[:20])
        page = answered(customer.post(SEARCH, {field: ["mine"], "limit": 5}))
        assert answered(customer.client.delete(f"{LISTS}/mine")) == {"deleted": "mine"}
        with customer.untouched():
            (detail,) = refused(customer.post(page["next"], {}), 400, "INVALID_REQUEST")
            assert detail["field"] == field
            created(customer, "mine", [])  # another list with its name is not the same list
            refused(customer.post(page["next"], {}), 400, "INVALID_REQUEST")
        customer.client.delete(f"{LISTS}/mine")


def test_what_is_refused(bank: Bank) -> None:
    customer, other = bank.customer(lead=10), bank.customer()
    created(other, "theirs", DOMAINS)
    created(customer, "customers", DOMAINS)
    with customer.untouched():
        for field in ("exclude_lists", "only_lists"):
            for wrong in ("customers", ["theirs"], ["costumers"], [5], [""], ["x"] * 11 + ["y"], {"a": 1}):
                assert bad_fields(customer.client, {field: wrong}) == {field}
                assert bad_fields(customer.client, {field: wrong}, INTERPRET) == {field}
        (detail,) = refused(customer.post(SEARCH, {"exclude_lists": ["costumers"]}), 400, "INVALID_REQUEST")
        assert detail["nearest"] == "customers"
        names = [f"list-{number}" for number in range(11)]
        assert bad_fields(customer.client, {"exclude_lists": names[:6], "only_lists": names[6:]}) == {"exclude_lists"}
    assert found(customer, {"exclude_lists": None, "only_lists": [], "limit": 60, "has_phone": True}) == []
