"""The built-in list `paid`, and lists that change on the way: no listed lead is returned or charged.

SITEGLASS_LONG=1 makes 10,000 changes while paging instead of 40, and compares 200 random accounts with the ledger
instead of 2.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from typing import Any

import pytest

from siteglass.billing import credits
from siteglass.billing.credits import Mark, read_domains
from testing.api_calls import ENRICH, FACETS, INTERPRET, SEARCH, answered
from testing.customers import IN_ORDER, STOCK, Bank, Customer, async_client, marks
from tests.api.lists.test_200 import LISTS, created, domains_of
from tests.api.lists.test_search import found

DOMAINS = [lead.domain for lead in STOCK]
CHANGES, ACCOUNTS = (10_000, 200) if os.environ.get("SITEGLASS_LONG") else (40, 2)
WITH_EMAIL = [lead.domain for lead in STOCK if lead.emails]


def _paid_by_ledger(customer: Customer) -> list[str]:
    """What the rows of the ledger say."""
    rows = customer.books().rows
    return sorted({domain for row in rows for domain, mark in read_domains(row["domains"]) if mark is Mark.CHARGED})


@pytest.mark.promise("list.paid")
def test_what_was_paid_is_on_it(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=1_000)
    assert domains_of(customer, "paid") == []
    customer.post(SEARCH, {**IN_ORDER, "limit": 10})
    customer.post(ENRICH, {"domains": [DOMAINS[30], DOMAINS[33], "not-a-lead.com"]})
    customer.post(SEARCH, {"limit": 10, "dry_run": True})
    expected = sorted({lead.domain for lead in STOCK[:10] if lead.emails} | {DOMAINS[30], DOMAINS[33]})
    assert domains_of(customer, "paid") == expected == _paid_by_ledger(customer)
    received = sorted({*expected, *DOMAINS[:10]})
    assert domains_of(customer, "received") == received
    _downloaded, *filled = answered(customer.client.get(LISTS))["lists"]
    assert [(one["size"], one["built_in"]) for one in filled] == [(len(expected), True), (len(received), True)]
    assert found(customer, {"only_lists": ["received"]}) == received
    assert found(customer, {"only_lists": ["paid"]}) == expected
    assert found(customer, {"exclude_lists": ["paid"]}) == [one for one in DOMAINS if one not in expected]
    # All but leads without an address, which cost nothing, are paid now.
    paid_for = {*WITH_EMAIL, *expected}
    assert found(customer, {"exclude_lists": ["paid"]}) == [one for one in DOMAINS if one not in paid_for]


@pytest.mark.promise("list.paid")
def test_a_walk_that_excludes_what_it_pays_for(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    body = {**IN_ORDER, "exclude_lists": ["paid"], "limit": 6}
    customer.pays(SEARCH, {**body, "limit": 3}, "search", 0, marks(STOCK[:3]))
    page = customer.pays(SEARCH, body, "search", 0, marks([STOCK[0], *STOCK[3:8]]))
    customer.pays(page["next"], {}, "page", 0, marks(STOCK[8:14]))


def _already_paid(customer: Customer, body: dict[str, Any]) -> int:
    """How many leads of a search the account paid for, by its facets."""
    counts = answered(customer.post(FACETS, {**body, "facets": ["country"]}))
    return int(counts["price"]["already_paid"])


@pytest.mark.promise("list.paid", "facets.already_paid")
@pytest.mark.parametrize("seed", range(ACCOUNTS))
def test_random_accounts_equal_the_ledger(bank: Bank, seed: int) -> None:
    customer, draw = bank.customer(api=100, lead=1_000), random.Random(seed)
    for _ in range(draw.randrange(1, 8)):
        if draw.random() < 0.5:
            customer.post(ENRICH, {"domains": draw.sample([*DOMAINS, "no-lead.com"], draw.randrange(1, 20))})
        else:
            body = {"limit": draw.randrange(1, 20), "sort": draw.choice(("domain", "score"))}
            customer.post(SEARCH, {**body, "exclude_lists": draw.choice(([], ["paid"]))})
        if draw.random() < 0.5:
            assert domains_of(customer, "paid") == _paid_by_ledger(customer)
    expected = _paid_by_ledger(customer)
    assert domains_of(customer, "paid") == expected
    assert answered(customer.post(INTERPRET, {"only_lists": ["paid"]}))["total_results"] == len(expected)
    # An enrichment also charges leads without an address, which a search does not.
    for country in (None, "DEU", "FRA"):
        leads = [lead for lead in STOCK if country in (None, lead.country)]
        paid = sum(bool(lead.emails) and lead.domain in expected for lead in leads)
        assert _already_paid(customer, {"country": country}) == paid


@pytest.mark.promise("list.refunded")
def test_a_refund_takes_leads_off(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=1_000)

    def refund(seq: int, lead: int) -> None:
        reference = secrets.token_hex(8)
        bank.do(credits.refund(bank.postgres, customer.account_id, seq, 0, lead, "tests", reference, "a test"))

    def is_paid(expected: list[str]) -> None:
        assert domains_of(customer, "paid") == expected
        # Interpretation shows no lead, so that nothing is paid for by it.
        assert answered(customer.post(INTERPRET, {"only_lists": ["paid"]}))["total_results"] == len(expected)

    for domains in (DOMAINS[1:3], DOMAINS[2:5], DOMAINS[7:8]):
        customer.post(ENRICH, {"domains": domains})
    is_paid([*DOMAINS[1:5], DOMAINS[7]])
    first = next(row["seq"] for row in customer.books().rows if row["operation"] == "enrich")
    refund(first + 1, 1)  # a part: it isn't known which of its leads, so all stay paid
    is_paid([*DOMAINS[1:5], DOMAINS[7]])
    refund(first, 2)
    is_paid([*DOMAINS[2:5], DOMAINS[7]])
    refund(first + 1, 2)
    is_paid([DOMAINS[7]])
    customer.post(ENRICH, {"domains": DOMAINS[1:2]})
    is_paid([DOMAINS[1], DOMAINS[7]])


@pytest.mark.promise("list.paid_once")
@pytest.mark.race
def test_searches_at_the_same_time_pay_for_no_lead_twice(bank: Bank) -> None:
    customer = bank.customer(lead=1_000)
    body = {**IN_ORDER, "has_email": True, "exclude_lists": ["paid"], "limit": 4}

    async def search_all() -> list[int]:
        async with async_client(bank.base_url, customer.key) as client:
            responses = await asyncio.gather(*(client.post(SEARCH, json=body) for _ in range(8)))
            return [response.status_code for response in responses]

    statuses = {status for _ in range(3) for status in asyncio.run(search_all())}
    assert statuses <= {200, 503}  # each search must have lost to others five times to give up
    charged = [
        domain for row in customer.books().rows for domain, mark in read_domains(row["domains"]) if mark is Mark.CHARGED
    ]
    assert len(charged) == len(set(charged)) > 8
    customer.verified()


@pytest.mark.promise("list.never_listed")
def test_changes_while_paging(bank: Bank) -> None:
    """Of each page, no lead may be shown or charged that was on the list from before the request until after it."""
    customer = bank.customer(lead=10 * CHANGES)
    created(customer, "moving", DOMAINS[:30])
    listed = set(DOMAINS[:30])
    draw = random.Random(5)
    body = {**IN_ORDER, "exclude_lists": ["moving"], "limit": 5}

    async def walk() -> None:
        async with async_client(bank.base_url, customer.key) as client:
            path = SEARCH
            for _ in range(CHANGES):
                sent = draw.sample(DOMAINS, 4)
                action = draw.choice(("domains", "remove"))
                certain = listed - set(sent) if action == "remove" else set(listed)
                page, _ = await asyncio.gather(
                    client.post(path, json=body if path == SEARCH else {}),
                    client.post(f"{LISTS}/moving/{action}", json={"domains": sent}),
                )
                listed.difference_update(sent) if action == "remove" else listed.update(sent)
                assert page.status_code == 200, page.text
                shown = {record["domain"] for record in page.json()["results"]}
                assert not shown & certain
                path = page.json()["next"] or SEARCH

    asyncio.run(walk())
    assert domains_of(customer, "moving") == sorted(listed)


@pytest.mark.promise("list.dry_run")
def test_a_dry_run_counts_domains_on_lists(bank: Bank) -> None:
    customer = bank.customer(api=5, lead=10)
    customer.post(ENRICH, {"domains": DOMAINS[:2]})
    created(customer, "customers", [*DOMAINS[1:4], "not-a-lead.com"])
    created(customer, "others", DOMAINS[50:])
    sent = [*DOMAINS[:3], f"www.{DOMAINS[3]}", "not-a-lead.com", DOMAINS[0], "n/a"]
    with customer.untouched():
        quote = answered(customer.post(ENRICH, {"domains": sent, "dry_run": True}))
    assert quote == {
        "dry_run": True,
        "api_credits": 1,
        "lead_credits": 4,
        "found": 4,
        "on_lists": {"customers": 4, "paid": 2, "received": 2},
    }
