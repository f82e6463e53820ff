"""Saved searches: saved, shared, counted, run and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from siteglass.leads.searches import searches as stored_searches
from testing.api_calls import SEARCH, answered, bad_fields, ms, refused
from testing.customers import IN_ORDER, STOCK, Bank, Customer, marks

SEARCHES = "/v1/searches"
IN_GERMANY = {**IN_ORDER, "country": "DEU", "limit": 4}


def saved(customer: Customer, name: str, search: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A new saved search."""
    return answered(customer.post(SEARCHES, {"name": name, "search": search, **more}))


def names(customer: Customer) -> list[str]:
    """Names of the saved searches that a key sees."""
    return [one["name"] for one in answered(customer.client.get(SEARCHES))["searches"]]


@pytest.mark.promise("route.POST /v1/searches", "route.GET /v1/searches", "saved.shown")
def test_a_search_is_saved_as_it_was_sent(bank: Bank) -> None:
    customer = bank.customer()
    search = {"query": "software in germany", "exclude_lists": ["paid"], "limit": 7, "select": ["domain"]}
    body = saved(customer, "some", search)
    assert ms(body.pop("created_at"))
    assert body == {
        "name": "some",
        "search": search,
        "shared": False,
        "own": True,
        "last_total": None,
        "last_counted_at": None,
    }
    (shown,) = answered(customer.client.get(SEARCHES))["searches"]
    assert {**shown, "created_at": None} == {**body, "created_at": None}


@pytest.mark.promise("saved.shared")
def test_who_sees_it(bank: Bank) -> None:
    customer, stranger = bank.customer(), bank.customer()
    colleague = bank.another(customer.account_id)
    saved(customer, "private", {})
    saved(customer, "public", {}, shared=True)
    assert (names(customer), names(colleague), names(stranger)) == (["private", "public"], ["public"], [])
    assert [one["own"] for one in answered(colleague.client.get(SEARCHES))["searches"]] == [False]
    for other in (colleague, stranger):
        for response in (
            other.client.get(f"{SEARCHES}/private/count"),
            other.post(f"{SEARCHES}/private/run", {}),
            other.client.delete(f"{SEARCHES}/private"),
        ):
            assert response.status_code == 404


@pytest.mark.promise("route.POST /v1/searches/{name}/run", "saved.run")
def test_a_run_is_the_search_itself(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    saved(customer, "german", IN_GERMANY)
    page = customer.pays(f"{SEARCHES}/german/run", {}, "search", 0, marks(STOCK[:4]))
    again = answered(customer.post(SEARCH, IN_GERMANY))
    for name in ("results", "filters", "total_results", "size"):
        assert page[name] == again[name]
    customer.pays(page["next"], {}, "page", 0, marks(STOCK[4:8]))
    customer.pays(f"{SEARCHES}/german/run", {"limit": 2}, "search", 0, marks(STOCK[:2]))
    with customer.untouched():
        quote = answered(customer.post(f"{SEARCHES}/german/run", {"limit": 30, "dry_run": True}))
        assert (quote["lead_credits"], quote["total_results"]) == (20, 30)
        assert customer.post(f"{SEARCHES}/german/run", {"max_lead_credits": 1}).status_code == 402


@pytest.mark.promise("route.GET /v1/searches/{name}/count", "saved.count")
def test_a_count_beside_the_last_one(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    saved(customer, "left", {**IN_GERMANY, "has_email": True, "exclude_lists": ["paid"]})

    def counted() -> tuple[int, int | None]:
        with customer.untouched():
            body = answered(customer.client.get(f"{SEARCHES}/left/count"))
        assert (body["last_counted_at"] is None) is (body["last_total"] is None)
        return body["total_results"], body["last_total"]

    assert counted() == (20, None)
    customer.post(f"{SEARCHES}/left/run", {})
    assert counted() == (16, 20)
    assert counted() == (16, 16)
    (shown,) = answered(customer.client.get(SEARCHES))["searches"]
    assert shown["last_total"] == 16


@pytest.mark.promise("route.DELETE /v1/searches/{name}")
def test_it_is_deleted(bank: Bank) -> None:
    customer = bank.customer()
    saved(customer, "some", {})
    assert answered(customer.client.delete(f"{SEARCHES}/some")) == {"deleted": "some"}
    assert names(customer) == []
    saved(customer, "some", {"country": "FRA"})


@pytest.mark.promise("saved.refused")
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name", "search"}),
        ({"name": "A b", "search": {}}, {"name"}),
        ({"name": "some", "search": []}, {"search"}),
        ({"name": "some", "search": {"limt": 5}}, {"limt"}),
        ({"name": "some", "search": {"country": "Germny"}}, {"country"}),
        (
            {"name": "some", "search": {"dry_run": True, "max_lead_credits": 5}},
            {"search.dry_run", "search.max_lead_credits"},
        ),
        ({"name": "some", "search": {}, "shared": "yes"}, {"shared"}),
        ({"name": "some", "search": {}, "sharde": True}, {"sharde"}),
        ({"name": "taken", "search": {}}, {"name"}),
    ],
)
def test_what_is_refused(bank: Bank, body: dict[str, Any], fields: set[str]) -> None:
    customer = bank.customer()
    saved(customer, "taken", {})
    assert bad_fields(customer.client, body, SEARCHES) == fields
    assert names(customer) == ["taken"]


def test_a_run_takes_only_what_a_page_takes(bank: Bank) -> None:
    customer = bank.customer(lead=10)
    saved(customer, "some", {})
    with customer.untouched():
        assert bad_fields(customer.client, {"country": "FRA"}, f"{SEARCHES}/some/run") == {"country"}
        refused(customer.post(f"{SEARCHES}/nope/run", {}), 404, "NOT_FOUND")
        refused(customer.client.get(f"{SEARCHES}/%00/count"), 404, "NOT_FOUND")


def test_there_is_a_limit(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_searches, "MAX_SEARCHES", 1)
    customer = bank.customer()
    saved(customer, "some", {})
    assert bad_fields(customer.client, {"name": "more", "search": {}}, SEARCHES) == {"name"}
