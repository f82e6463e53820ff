"""Lists with the client and the command line: filled from files, and named by searches."""

from __future__ import annotations

import asyncio

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import AsyncSiteglass, NotFound
from siteglass_client.calls import MAX_LIST_BYTES, MAX_LIST_DOMAINS, list_parts, with_lists
from testing.customers import Bank, Customer
from tests.client.commanding import Desk
from tests.client.conftest import Connect


def test_any_number_of_domains(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    client = connect(customer)
    domains = [lead.domain for lead in sold[:50]] + [f"{'long-' * 8}{number}.com" for number in range(2_500)]
    assert client.create_list("many").size == 0
    change = client.add_to_list("many", [*domains, "n/a"])
    assert (change.size, change.added, change.invalid) == (2_550, 2_550, 1)
    assert [each.domain for each in change.invalid_domains] == ["n/a"]
    assert list(client.list_domains("many")) == sorted(domains)
    assert client.remove_from_list("many", domains[50:]).removed == 2_500
    shown = [lead.domain for lead in client.search(sort="domain", exclude_lists=["many", "paid"], max_leads=3)]
    assert shown == [lead.domain for lead in sold[50:53]]
    assert client.search(only_lists=["many"]).count() == 50
    client.delete_list("many")
    assert [each.name for each in client.lists()] == ["downloaded", "paid", "received"]
    with pytest.raises(NotFound):
        client.delete_list("many")


def test_the_asynchronous_client(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    domains = [lead.domain for lead in sold[:3]]

    async def use() -> None:
        async with AsyncSiteglass(customer.key, bank.base_url) as client:
            await client.create_list("some")
            assert (await client.add_to_list("some", domains)).added == 3
            assert [domain async for domain in client.list_domains("some")] == domains
            assert [lead.domain async for lead in client.search(sort="domain", only_lists=["some"])] == domains
            assert (await client.remove_from_list("some", domains)).size == 0
            assert [each.size for each in await client.lists() if each.name == "some"] == [0]
            await client.delete_list("some")

    asyncio.run(use())


def test_parts_fit_a_request() -> None:
    domains = ["a.com"] * 5_000 + ["é" * 200 + ".com"] * 300
    parts = list(list_parts(domains))
    assert [domain for part in parts for domain in part] == domains
    assert max(map(len, parts)) == MAX_LIST_DOMAINS
    assert all(len(str(part).encode()) < MAX_LIST_BYTES + 5_000 for part in parts)
    assert list(list_parts([])) == []


def test_lists_of_echoed_filters_stay() -> None:
    echoed = {"country": "DEU", "exclude_lists": ["mine"]}
    assert with_lists(echoed, ["paid", "mine"], []) == {"country": "DEU", "exclude_lists": ["mine", "paid"]}
    with pytest.raises(TypeError, match="not a string"):
        with_lists(None, "paid", [])


def test_the_command_line(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    listed = [lead.domain for lead in sold[:4]]
    (desk.folder / "crm.csv").write_text("Company,Website\n" + "".join(f"x,https://www.{one}/\n" for one in listed))
    assert desk.run("list", "create", "customers").json["size"] == 0
    added = desk.run("list", "add", "customers", "crm.csv").json
    assert (added["added"], added["size"]) == (4, 4)
    assert desk.run("list", "show", "customers").out.split() == listed
    lists = {one["name"]: one["size"] for one in desk.run("list", "show").json}
    assert lists == {"customers": 4, "downloaded": 0, "paid": 0, "received": 0}
    words = ("search", "--filter", "min_score=0", "--sort", "domain", "--exclude-list", "customers")
    scored = [lead.domain for lead in sold[4:] if lead.score is not None]
    found = desk.run(*words, "--exclude-list", "paid", "--max-leads", "5")
    assert [lead["domain"] for lead in found.lines] == scored[:5]
    paid = {lead.domain for lead in sold if lead.domain in scored[:5] and lead.emails}
    again = desk.run(*words, "--exclude-list", "paid", "--max-leads", "5")
    assert [lead["domain"] for lead in again.lines] == [one for one in scored if one not in paid][:5]
    assert desk.run("count", "--only-list", "customers").out.strip() == "4"
    (desk.folder / "one.txt").write_text(listed[0] + "\n")
    assert desk.run("list", "remove", "customers", "one.txt").json["size"] == 3
    assert desk.run("list", "delete", "customers").code == 0
    gone = desk.run("list", "show", "customers")
    assert (gone.code, gone.out) == (2, "")
    assert "There is no list" in gone.err
