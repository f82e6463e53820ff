"""Saved searches with the client, the command line and agents: saved, counted and run again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import AsyncSiteglass, NotFound, SiteglassError
from testing.customers import Bank, Customer
from tests.client.agents import over_stdio
from tests.client.commanding import Desk
from tests.client.conftest import Connect

GERMAN = {"country": "DEU", "has_email": True}


def _german(sold: list[Lead]) -> list[str]:
    return sorted(lead.domain for lead in sold if lead.country == "DEU" and lead.emails)


def test_the_client(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    client, german = connect(customer), _german(sold)
    with customer.untouched():
        saved = client.search(filters=GERMAN, sort="domain", select=["domain"], max_leads=3).save("german")
        assert (saved.name, saved.shared, saved.last_total) == ("german", False, None)
        assert [each.name for each in client.saved_searches()] == ["german"]
        first, second = client.count_saved_search("german"), client.count_saved_search("german")
        assert (first.total_results, first.last_total) == (len(german), None)
        assert (second.total_results, second.last_total) == (len(german), len(german))
    run = client.saved_search("german", max_leads=7)
    leads = list(run)
    assert [lead.domain for lead in leads] == german[:7]
    assert {name for lead in leads for name in lead} == {"domain", "crawled_at"}  # as it was saved
    assert run.credits_used == 7
    with customer.untouched():
        client.delete_saved_search("german")
        with pytest.raises(NotFound):
            client.delete_saved_search("german")
        with pytest.raises(SiteglassError, match="There is no saved search 'german'"):
            client.saved_search("german")


def test_the_asynchronous_client(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    async def use() -> list[str]:
        async with AsyncSiteglass(customer.key, bank.base_url) as client:
            await client.search(filters=GERMAN, sort="domain").save("german", shared=True)
            assert [each.shared for each in await client.saved_searches()] == [True]
            found = [lead.domain async for lead in await client.saved_search("german", max_leads=2)]
            assert (await client.count_saved_search("german")).total_results == len(_german(sold))
            await client.delete_saved_search("german")
            return found

    assert asyncio.run(use()) == _german(sold)[:2]


def test_the_command_line(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    german = _german(sold)
    words = ("--filter", "country=DEU", "--filter", "has_email=true", "--sort", "domain", "--exclude-list", "paid")
    with customer.untouched():
        made = desk.run("saved", "create", "german", *words, "--shared").json
        assert made["search"] == {"country": "DEU", "has_email": True, "exclude_lists": ["paid"], "sort": "domain"}
        assert [each["name"] for each in desk.run("saved", "show").json] == ["german"]
        assert desk.run("saved", "count", "german").json["total_results"] == len(german)
        code, shown = desk.on_terminal("saved", "count", "german")
        assert (code, f"{len(german)} leads (+0 since 20" in shown) == (0, True)
        code, shown = desk.on_terminal("saved", "show")
        assert (code, "country=DEU" in shown) == (0, True)
        assert desk.run("saved", "run", "german", "--dry-run").json["lead_credits"] == len(german)
        refused = desk.run("saved", "run", "nothing")
        assert (refused.code, refused.err) == (
            2,
            "sgl: There is no saved search 'nothing' that this key sees. Check the name.\n",
        )
    found = desk.run("saved", "run", "german", "--max-leads", "3")
    assert [lead["domain"] for lead in found.lines] == german[:3]
    written = desk.run("saved", "run", "german", "--max-leads", "3", "-o", "next.jsonl").json
    assert (written["rows"], written["lead_credits"]) == (3, 3)
    assert (desk.folder / "next.jsonl").read_text().count(german[3]) > 0
    assert desk.run("saved", "delete", "german").err == "The saved search german is deleted.\n"
    assert desk.run("saved", "show").json == []


def test_agents(bank: Bank, customer: Customer, sold: list[Lead], tmp_path: Path) -> None:
    german = _german(sold)
    with over_stdio(Desk(tmp_path, bank.base_url, customer.key), tmp_path / "log.txt") as agent, customer.untouched():
        assert [each["name"] for each in agent.call("lists")["lists"]] == ["downloaded", "paid", "received"]
        changed = agent.call("change_list", name="mine", add=[*german[:4], "n/a"], remove=german[3:4])
        assert changed == {"name": "mine", "domains": 3, "added": 4, "removed": 1, "not_domains": ["n/a"]}
        assert agent.call("change_list", name="mine", add=german[:4])["added"] == 1
        assert agent.refused("change_list", name="mine").startswith("Say which domains")
        assert agent.refused("change_list", name="other", remove=german[:1]).startswith("NOT_FOUND")
        filters = {**GERMAN, "exclude_lists": ["mine"]}
        assert agent.call("save_search", name="new", filters=filters) == {"name": "new", "shared": False}
        (saved,) = agent.call("saved_searches")["searches"]
        assert saved == {"name": "new", "filters": filters, "shared": False}
        assert agent.call("count", filters=saved["filters"]) == {"total_results": len(german) - 4}
        assert agent.call("count_saved_search", name="new") == {"total_results": len(german) - 4}
        assert agent.call("count_saved_search", name="new")["last_total"] == len(german) - 4
        long = {"name": "long", "wrapped_query": "@country(DEU)\n" * 400}
        assert agent.call("save_search", **long)["name"] == "long"
        assert agent.call("saved_searches", max_tokens=600)["more"]
        assert agent.refused("save_search", name="empty").startswith("Say what to search for")
