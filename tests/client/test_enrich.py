"""Enrichment of any number of domains: order, repeated ones, price, budget."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import Forbidden, InsufficientCredits
from testing.customers import Bank, Customer
from tests.client.conftest import Connect


@pytest.fixture
def wanted(sold: list[Lead]) -> list[str]:
    """250 domains: known, unknown, no host at all, and repeated far apart and in another case."""
    chance = random.Random(5)
    domains = [lead.domain for lead in chance.sample(sold, 180)]
    domains += [f"nobody-{number}.example" for number in range(39)] + ["not a host"]
    domains += [domain.upper() for domain in domains[:20]] + domains[20:30]
    chance.shuffle(domains)
    return domains


def test_items_come_in_order_and_repeated_ones_are_paid_once(
    connect: Connect, customer: Customer, wanted: list[str]
) -> None:
    enrichment = connect(customer).enrich(wanted)
    quote = enrichment.price()
    assert (quote.api_credits, quote.lead_credits, quote.exact) == (3, 180, True)
    items = list(enrichment)
    assert [item.domain for item in items] == wanted
    assert sum(item.found for item in items) == 210
    assert {item.status for item in items} == {"success", "not_found", "error"}
    for item in items:
        assert (item.data is None) == (item.message is not None)
        if item.data is not None:
            assert item.data.domain == item.domain.lower()
    assert (enrichment.api_credits_used, enrichment.credits_used) == (3, 180)
    assert customer.balance() == (1_000 - 3, 10_000 - 180)


@pytest.mark.parametrize("budget", [0, 1, 40, 179])
def test_a_budget_is_never_passed(
    connect: Connect, customer: Customer, wanted: list[str], sold: list[Lead], budget: int
) -> None:
    enrichment = connect(customer).enrich(wanted, select=["domain"], max_lead_credits=budget)
    items = list(enrichment)
    assert [item.domain for item in items] == wanted[: len(items)]
    assert enrichment.credits_used == budget == 10_000 - customer.balance()[1]
    assert enrichment.credits_used == len({item.domain.lower() for item in items if item.found})
    assert enrichment.stopped == "max_lead_credits"


def test_nothing_to_enrich_costs_nothing(connect: Connect, customer: Customer) -> None:
    with customer.untouched():
        assert list(connect(customer).enrich([])) == []
    with pytest.raises(TypeError, match="list"):
        connect(customer).enrich("example.com")


def test_batches_as_large_as_an_operator_allows(connect: Connect, customer: Customer, wanted: list[str]) -> None:
    """Also from any iterable; the service under test allows 100, so that this is the plain case."""
    batches = list(connect(customer).enrich(domain for domain in wanted).batches())
    assert [batch.api_credits_used for batch in batches] == [1, 1, 1]
    assert sum(len(batch.items) for batch in batches) == len(wanted)


def test_refusals_that_no_smaller_batch_helps(bank: Bank, connect: Connect, sold: list[Lead]) -> None:
    with pytest.raises(Forbidden):
        list(connect(bank.customer(scopes=["search"])).enrich(["example.com"]))
    poor = bank.customer(api=10, lead=0)
    with pytest.raises(InsufficientCredits):
        list(connect(poor).enrich([lead.domain for lead in sold[:10]]))
    assert poor.balance() == (10, 0)


def test_an_enrichment_as_a_table(connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path) -> None:
    domains = [sold[0].domain, "nobody.example"]
    done = connect(customer).enrich(domains, select=["domain", "country"]).to_csv(tmp_path / "out.csv")
    assert (done.rows, done.credits_used, done.api_credits_used, done.stopped) == (2, 1, 1, "end")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "domain,status,message,found_domain,country",
        f"{sold[0].domain},success,,{sold[0].domain},{sold[0].country}",
        "nobody.example,not_found,No data found for nobody.example,,",
    ]
