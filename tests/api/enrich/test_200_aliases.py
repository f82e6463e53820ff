"""Enrichment by alias: the item has the domain as sent, its data is the lead's, and the lead is charged once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.billing.credits import Mark
from siteglass.corpus.lead import Lead
from siteglass.leads.enrich import CARDS_FROM
from siteglass.privacy import opt_out
from siteglass.suppression.values import read_value
from testing.api_calls import ENRICH, SEARCH, answered, enrich, refused
from testing.customers import Bank, Customer
from testing.service import add, run, serving
from tests.suppression.world import World, results, walked, world

CRAWLED_MS = 1_790_000_000_000
NO_DATA = "No data found for {}"


def _lead(domain: str, *aliases: str) -> Lead:
    return Lead(
        domain=domain, crawled_at_ms=CRAWLED_MS, title=f"Of {domain}", emails=(f"info@{domain}",), aliases=aliases
    )


LEADS = [
    _lead("new-name.com", "old-name.com", "older-name.co.uk", "own-lead.com", "xn--mnchen-3ya.de"),
    _lead("own-lead.com"),
    _lead("b-shares.com", "shared.com"),
    _lead("a-shares.com", "shared.com"),
    _lead("leaves.com", "to-leaves.com", "also-to-leaves.com"),
    _lead("stays.com", "left.com", "kept.com"),
]


def _enriched(client: httpx.Client, domains: list[str], **options: Any) -> list[dict[str, Any]]:
    """The items, which are the same among many others: those are looked up in another way."""
    items = enrich(client, domains, **options)
    others = [f"nobody-{number}.example" for number in range(CARDS_FROM)]
    assert enrich(client, [*domains, *others], **options)[: len(domains)] == items
    return items


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[World]:
    with world(f"aliases_{worker_id}", LEADS, tmp_path_factory.mktemp("aliases")) as made:
        yield made


@pytest.fixture(scope="module")
def client(scene: World) -> Iterator[httpx.Client]:
    with serving(scene.settings) as made:
        yield made


@pytest.fixture(scope="module")
def customers(scene: World, client: httpx.Client) -> Iterator[Bank]:
    made = Bank(scene.settings, str(client.base_url))
    yield made
    made.close()


@pytest.mark.promise("alias.lead", "alias.registrable")
@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("old-name.com", "new-name.com"),
        ("https://www.OLD-name.com/contact?x=1", "new-name.com"),
        ("shop.old-name.com", "new-name.com"),
        ("older-name.co.uk", "new-name.com"),
        ("münchen.de", "new-name.com"),
        ("shared.com", "a-shares.com"),
        ("own-lead.com", "own-lead.com"),
        ("www.own-lead.com", "own-lead.com"),
    ],
)
def test_an_alias_is_answered_with_its_lead(client: httpx.Client, sent: str, stored: str) -> None:
    (item,) = _enriched(client, [sent], select=["domain", "title"])
    assert item == {"status": "success", "domain": sent, "data": {"domain": stored, "title": f"Of {stored}"}}
    (whole,) = _enriched(client, [sent])
    (named,) = _enriched(client, [stored])
    assert whole["data"] == named["data"]


@pytest.mark.promise("alias.lead")
@pytest.mark.parametrize("domain", ["name.com", "old-name.com.evil.org", "old-name.co", "co.uk", "never.com"])
def test_nothing_else_leads_to_it(client: httpx.Client, domain: str) -> None:
    assert _enriched(client, [domain]) == [
        {"status": "not_found", "domain": domain, "message": NO_DATA.format(domain)},
    ]


@pytest.mark.promise("alias.charge")
def test_a_lead_is_charged_once_by_whatever_name(customers: Bank) -> None:
    customer = customers.customer(api=5, lead=10)
    sent = ["old-name.com", "new-name.com", "older-name.co.uk", "nobody.com", "own-lead.com", "www.old-name.com"]
    charged = [("new-name.com", Mark.CHARGED), ("nobody.com", Mark.NOT_FOUND), ("own-lead.com", Mark.CHARGED)]
    made = customer.pays(ENRICH, {"domains": sent, "select": ["domain"]}, "enrich", 1, charged)
    assert [item["domain"] for item in made["results"]] == sent
    assert [item.get("data", {}).get("domain") for item in made["results"]] == [
        "new-name.com", "new-name.com", "new-name.com", None, "own-lead.com", "new-name.com",
    ]  # fmt: skip
    assert customer.balance() == (4, 8)
    dry = answered(customer.post(ENRICH, {"domains": sent, "dry_run": True}))
    assert (dry["lead_credits"], dry["found"]) == (2, 2)
    assert customer.balance() == (4, 8)


@pytest.mark.promise("alias.search")
def test_search_shows_no_alias(client: httpx.Client) -> None:
    found = results(walked(client))
    assert sorted(record["domain"] for record in found) == sorted(lead.domain for lead in LEADS)
    assert "aliases" not in found[0]
    refused(client.post(SEARCH, json={"select": ["aliases"]}), 400, "INVALID_REQUEST")
    refused(client.post(ENRICH, json={"domains": ["old-name.com"], "select": ["aliases"]}), 400, "INVALID_REQUEST")


@pytest.mark.promise("alias.evidence")
def test_evidence_of_an_alias_is_that_of_the_lead_once_it_is_paid(customers: Bank) -> None:
    customer = customers.customer(api=5, lead=5)
    path = "/v1/leads/{}/evidence"
    response = customer.client.get(path.format("old-name.com"))
    refused(response, 403, "FORBIDDEN")
    assert "new-name.com" not in response.text
    answered(customer.post(ENRICH, {"domains": ["old-name.com"]}))
    assert answered(customer.client.get(path.format("old-name.com")))["domain"] == "new-name.com"


@pytest.mark.promise("alias.lead_wins")
def test_an_alias_that_becomes_a_lead_is_answered_by_itself(scene: World, client: httpx.Client, tmp_path: Path) -> None:
    lead = _lead("becomes.com", "later-a-lead.com")
    add(scene.settings, [lead], tmp_path)
    (item,) = _enriched(client, ["later-a-lead.com"], select=["domain"])
    assert item["data"] == {"domain": "becomes.com"}
    add(scene.settings, [_lead("later-a-lead.com")], tmp_path)
    (item,) = _enriched(client, ["later-a-lead.com"], select=["domain"])
    assert item["data"] == {"domain": "later-a-lead.com"}


def _bought(customer: Customer, select: list[str]) -> httpx.Response:
    body = {"domains": ["also-to-leaves.com", "own-lead.com", "kept.com", "left.com"], "select": select}
    return customer.post(ENRICH, body, retry=f"bought-{select[0]}")


@pytest.mark.promise("alias.opt_out")
def test_opted_out_leads_and_aliases_are_not_found(scene: World, customers: Bank) -> None:
    """Also in responses that were paid for before, and in the next generation."""
    customer = customers.customer(api=9, lead=9)
    for select in (["domain"], ["title"]):
        assert [item["status"] for item in answered(_bought(customer, select))["results"]] == ["success"] * 4
    values = [read_value("leaves.com"), read_value("left.com")]
    run(scene.settings, lambda index: opt_out.suppress(index, values, reason="asked to", actor="tests"))
    expected = [
        ("to-leaves.com", "not_found"),
        ("leaves.com", "not_found"),
        ("left.com", "not_found"),
        ("shop.left.com", "not_found"),
        ("kept.com", "success"),
        ("stays.com", "success"),
    ]
    for rebuilds in (False, True):
        if rebuilds:
            scene.rebuild()
            scene.command("index", "retain", "--keep", "0")
            documents = [record for records in scene.documents().values() for record in records]
            assert {name for record in documents for name in record.get("aliases", ())}.isdisjoint(
                {"left.com", "to-leaves.com"}
            )
        with serving(scene.settings) as fresh:  # it reads the list when it starts, not twenty seconds later
            items = _enriched(fresh, [domain for domain, _ in expected])
            assert [(item["domain"], item["status"]) for item in items] == expected
    # An item without `domain` does not say whose it is: that of kept.com may be of the lead that left.
    for select, kept in ((["domain"], "success"), (["title"], "not_found")):
        again = _bought(customer, select)
        assert again.headers["idempotency-redacted"] == "true"
        statuses = [item["status"] for item in answered(again)["results"]]
        assert statuses == ["not_found", "success", kept, "not_found"]
