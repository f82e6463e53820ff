"""Walks over all pages: order, budgets to the credit, prices, counts."""

from __future__ import annotations

import json

import httpx
import pytest

from siteglass.access.keys import KeyLimits
from siteglass.corpus.lead import Lead
from siteglass_client import CreditCapExceeded, InsufficientCredits, InvalidRequest, Siteglass
from testing.customers import Bank, Customer
from tests.client.conftest import Connect


def _price(leads: list[Lead]) -> int:
    return sum(bool(lead.emails) for lead in leads)


def _longest(leads: list[Lead], budget: int) -> int:
    """How many leads from the start cost no more than this."""
    return max(count for count in range(len(leads) + 1) if _price(leads[:count]) <= budget)


@pytest.mark.parametrize("limit", [100, 17])
def test_all_leads_come_once_and_in_order(connect: Connect, customer: Customer, sold: list[Lead], limit: int) -> None:
    search = connect(customer).search(sort="domain", limit=limit)
    assert [lead.domain for lead in search] == [lead.domain for lead in sold]
    assert search.credits_used == _price(sold)
    assert search.total_results == len(sold)
    assert search.stopped == "end"
    assert customer.balance() == (1_000, 10_000 - _price(sold))


@pytest.mark.parametrize("budget", [0, 1, 3, 50, 137])
def test_a_budget_buys_the_longest_start_that_it_can(
    connect: Connect, customer: Customer, sold: list[Lead], budget: int
) -> None:
    search = connect(customer).search(sort="domain", max_lead_credits=budget)
    shown = [lead.domain for lead in search]
    assert shown == [lead.domain for lead in sold[: _longest(sold, budget)]]
    assert search.credits_used == budget == 10_000 - customer.balance()[1]
    assert search.stopped == "max_lead_credits"


def test_a_budget_is_of_the_search_and_not_of_an_iteration(connect: Connect, customer: Customer) -> None:
    search = connect(customer).search(sort="domain", max_lead_credits=30)
    for number, _ in enumerate(search):
        if number == 3:
            break
    list(search)
    assert search.credits_used == 30 == 10_000 - customer.balance()[1]


def test_free_leads_do_not_make_many_small_pages(connect: Connect, customer: Customer) -> None:
    search = connect(customer).search(wrapped_query="!@has_email", max_lead_credits=0)
    pages = list(search.pages())
    assert sum(len(page.leads) for page in pages) == search.total_results
    assert search.stopped == "end"
    assert len(pages) <= 10


def test_a_service_that_does_not_keep_the_cap_is_left() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        size = json.loads(request.content)["limit"]
        body = {"result_id": "-", "total_results": 9, "size": size, "filters": {}, "next": "/more", "previous": None}
        headers = {"x-credits-lead-used": str(size)}
        return httpx.Response(200, headers=headers, json={**body, "results": [{"domain": "a.com"}] * size})

    with Siteglass("sg_live_x", "http://test", transport=httpx.MockTransport(answer)) as client:
        search = client.search(max_lead_credits=250)
        assert len(list(search)) == 251
        assert search.stopped == "max_lead_credits"


def test_max_leads_ends_a_walk(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    search = connect(customer).search(sort="domain", max_leads=123)
    assert [lead.domain for lead in search] == [lead.domain for lead in sold[:123]]
    assert (search.stopped, search.rows_done) == ("max_leads", 123)
    assert search.credits_used == _price(sold[:123])


def test_an_account_that_runs_out_pays_for_all_it_can(bank: Bank, connect: Connect, sold: list[Lead]) -> None:
    poor = bank.customer(lead=42)
    search = connect(poor).search(sort="domain")
    shown: list[str] = []

    def walk() -> None:
        for page in search.pages():
            shown.extend(lead.domain for lead in page.leads)

    with pytest.raises(InsufficientCredits) as caught:
        walk()
    assert shown == [lead.domain for lead in sold[: _longest(sold, 42)]]
    assert caught.value.request_id
    assert poor.balance() == (0, 0)
    assert search.credits_used == 42


def test_the_daily_cap_of_a_key_is_not_taken_for_our_budget(bank: Bank, connect: Connect) -> None:
    capped = bank.customer(lead=1_000, limits=KeyLimits(daily_lead_cap=10))
    search = connect(capped).search(max_lead_credits=500)
    with pytest.raises(CreditCapExceeded, match="daily"):
        list(search)
    assert search.credits_used == 10


def test_pages_tell_what_each_cost(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    pages = list(connect(customer).search(sort="domain", limit=50, max_leads=100).pages())
    assert [page.credits_used for page in pages] == [_price(sold[:50]), _price(sold[50:100])]
    receipt = connect(customer).receipt(pages[0].request_id or "")
    assert [each.domain for each in receipt.entries[0].domains] == [lead.domain for lead in pages[0].leads]


def test_price_count_and_meaning_cost_nothing(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    with customer.untouched():
        client = connect(customer)
        everything = client.search()
        assert everything.count() == len(sold)
        quote = everything.price()
        assert (quote.lead_credits, quote.total_results, quote.exact) == (_price(sold), len(sold), True)
        assert client.search(max_lead_credits=5).price().lead_credits == 5
        page = client.search(sort="domain", max_leads=40).price()
        assert (page.lead_credits, page.exact) == (_price(sold[:40]), True)
        cut = client.search(sort="domain", max_leads=300).price()
        assert (cut.lead_credits, cut.exact) == (300, False)
        reading = client.search("slow Shopify stores in Texas").interpret()
        assert "@technology(Shopify)" in reading.directives
        assert reading.conditions[0].words


def test_select_filters_and_their_echo(connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    first = next(client.search(filters={"has_email": True}, select=["domain", "emails"], max_leads=5).pages())
    assert [set(lead) for lead in first.leads] == [{"domain", "emails", "crawled_at"}] * 5
    assert all(lead.emails for lead in first.leads)
    with pytest.raises(AttributeError, match="select"):
        _ = first.leads[0].phones
    again = next(client.search(filters=first.filters, select=["domain", "emails"], max_leads=5).pages())
    assert again.leads == first.leads


def test_nothing_is_sent_before_a_search_is_used(connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    with customer.untouched():
        search = client.search("anything", filters={"no_such_filter": 1})
        with pytest.raises(InvalidRequest):
            search.count()
    with pytest.raises(ValueError, match="limit"):
        client.search(limit=0)
    with pytest.raises(ValueError, match="max_lead_credits"):
        client.search(max_lead_credits=-1)


def test_old_names_are_accepted_for_one_release(customer: Customer, connect: Connect) -> None:
    client = connect(customer)
    with pytest.warns(DeprecationWarning, match="max_credits is now max_lead_credits") as warned:
        search = client.search(max_credits=5)
    with pytest.warns(DeprecationWarning, match=r"dry_run\(\) is now price\(\)") as also:
        assert search.dry_run() == search.price()
    assert search.price().lead_credits == 5
    assert {warning.filename for warning in (*warned, *also)} == {__file__}
    with (
        pytest.warns(DeprecationWarning, match="max_credits"),
        pytest.raises(TypeError, match="give max_lead_credits only"),
    ):
        client.enrich([], max_credits=1, max_lead_credits=1)
