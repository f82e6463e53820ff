"""Domains without a lead: on a list as text, and in force as soon as there is a lead of them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index.index import open_index
from siteglass.leads.lists import lists as stored_lists
from siteglass.leads.lists.lists import DOWNLOADED, Lists
from siteglass.platform.backends import open_backends
from siteglass.privacy import opt_out
from siteglass.settings import Settings
from siteglass.suppression.values import read_value
from testing.api_calls import SEARCH, answered
from testing.customers import Bank
from testing.service import add, filled, run, serving
from tests.api.lists.test_200 import created, domains_of

OLD = [
    Lead(domain=f"old-{number}.com", crawled_at_ms=1_790_000_000_000, emails=("a@example.com",)) for number in range(3)
]
NEW = msgspec.structs.replace(OLD[0], domain="new-lead.com", lead_no=9)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an index of this test."""
    return filled(f"new-leads-{secrets.token_hex(4)}", OLD, tmp_path)


@pytest.fixture
def own_bank(settings: Settings) -> Iterator[Bank]:
    """Customers of a service over the leads of this test."""
    with serving(settings) as client:
        bank = Bank(settings, str(client.base_url))
        yield bank
        bank.close()


async def _number_new_leads(settings: Settings) -> None:
    """What a worker does every half minute; here long after the last look-up, so that this domain is the first."""
    async with open_backends(settings) as backends:
        await backends.postgres.fetch(
            "UPDATE {schema}.list_domains SET tried_at = 'epoch' WHERE domain = $1", NEW.domain
        )
        await Lists(open_index(backends), test=False).number_new_leads()


@pytest.mark.promise("list.unknown")
def test_a_lead_that_appears_later(own_bank: Bank, settings: Settings, tmp_path: Path) -> None:
    customer = own_bank.customer(lead=100)
    created(customer, "mine", ["new-lead.com", "old-1.com"])

    def shown(**lists: list[str]) -> tuple[list[str], int]:
        page = answered(customer.post(SEARCH, {"sort": "domain", "limit": 50, **lists}))
        return [record["domain"] for record in page["results"]], page["total_results"]

    add(settings, [NEW], tmp_path)
    # Its number is not on the list yet: the last check keeps it out, and the total still counts it.
    quote = answered(customer.post(SEARCH, {"exclude_lists": ["mine"], "dry_run": True}))
    assert (quote["lead_credits"], quote["total_results"]) == (2, 3)
    assert shown(exclude_lists=["mine"]) == (["old-0.com", "old-2.com"], 3)
    assert shown(only_lists=["mine"]) == (["old-1.com"], 1)
    asyncio.run(_number_new_leads(settings))
    assert shown(exclude_lists=["mine"]) == (["old-0.com", "old-2.com"], 2)
    assert shown(only_lists=["mine"]) == (["new-lead.com", "old-1.com"], 2)
    charged = "\n".join(row["domains"] for row in customer.books().rows)
    assert charged.count("new-lead.com") == 1  # by the search that was limited to the list


async def _download(settings: Settings, account_id: int, domains: list[str]) -> None:
    """What a download in the dashboard does."""
    async with open_backends(settings) as backends:
        lists = Lists(open_index(backends), test=False)
        await lists.add(await lists.find(account_id, DOWNLOADED), [(domain,) for domain in domains])


@pytest.mark.promise("list.downloaded")
def test_the_list_of_downloads(own_bank: Bank, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    customer = own_bank.customer(lead=100)

    def shown(**lists: list[str]) -> list[str]:
        page = answered(customer.post(SEARCH, {"sort": "domain", **lists}))
        return [record["domain"] for record in page["results"]]

    assert shown(only_lists=["downloaded"]) == []
    monkeypatch.setattr(stored_lists, "MAX_LIST_DOMAINS", 1)  # it has no maximum
    asyncio.run(_download(settings, customer.account_id, ["old-0.com", "old-2.com"]))
    assert shown(exclude_lists=["downloaded"]) == ["old-1.com"]
    assert domains_of(customer, "downloaded") == ["old-0.com", "old-2.com"]


@pytest.mark.promise("list.opt_out")
def test_an_opt_out_wins(own_bank: Bank, settings: Settings, tmp_path: Path) -> None:
    customer = own_bank.customer(lead=100)
    created(customer, "mine", ["old-0.com", "old-1.com"])
    values = [read_value("old-1.com")]
    with_store = replace(settings, lead_store=tmp_path)
    run(with_store, lambda index: opt_out.suppress(index, values, reason="asked to", actor="tests"))
    # A worker may serve for a while with the list of opt-outs that it has read; the index has lost the lead already.
    page = answered(customer.post(SEARCH, {"only_lists": ["mine"]}))
    assert [record["domain"] for record in page["results"]] == ["old-0.com"]
    assert "old-1.com" not in customer.books().rows[-1]["domains"]
    assert domains_of(customer, "mine") == ["old-0.com", "old-1.com"]
