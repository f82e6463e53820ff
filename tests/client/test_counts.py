"""Facets and diagnoses by the client, the command line and agents: what the service returns, free of charge."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import AsyncSiteglass
from testing.customers import Bank, Customer
from tests.client.agents import over_stdio
from tests.client.commanding import Desk
from tests.client.conftest import Connect

TYPO = {"country": "DEU", "technologies": ["shopfy"]}


def _german(sold: list[Lead]) -> list[Lead]:
    return [lead for lead in sold if lead.country == "DEU"]


def test_the_client(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    client = connect(customer)
    with customer.untouched():
        counts = client.search(filters={"country": "DEU"}).facets(["has_email", "country"], size=1)
        german = _german(sold)
        assert counts.total_results == len(german)
        assert counts.price.with_email == sum(bool(lead.emails) for lead in german)
        email, country = counts.facets
        assert (email.facet, email.more, email.estimated) == ("has_email", False, False)
        assert {each.value: each.count for each in email.counts}["yes"] == counts.price.with_email
        assert country.counts[0].filters == {"country": country.counts[0].value}
        search = client.search(filters=TYPO)
        diagnosis = search.diagnose()
        assert [each.removes for each in diagnosis.conditions] == [0, len(german)]
        first = diagnosis.relaxations[0]
        assert client.search(filters=first.filters).count() == first.total_results
    assert not list(search)
    assert search.hint is not None
    assert search.hint.startswith(f"{first.total_results} lead")
    with pytest.raises(TypeError, match="facets must be a list of names"):
        client.search("shops").facets("country")


def test_the_asynchronous_client(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    async def ask() -> tuple[int, int | None]:
        async with AsyncSiteglass(customer.key, bank.base_url) as client:
            search = client.search(filters={"country": "DEU"})
            return (await search.facets(["country"])).total_results, (await search.diagnose()).total_results

    assert asyncio.run(ask()) == (len(_german(sold)),) * 2


def test_the_command_line(desk: Desk, connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    with customer.untouched():
        words = ("--filter", "country=DEU")
        counts = client.search(filters={"country": "DEU"}).facets(["country", "has_email"], size=2)
        assert desk.run("facets", *words, "--facets", "country,has_email", "--size", "2").json == counts
        code, shown = desk.on_terminal("facets", *words, "--facets", "has_email")
        assert code == 0
        assert "With an email address" in shown
        assert f"All of them cost {counts.price.with_email} lead credits." in shown
        typo = (*words, "--filter", "technologies=shopfy")
        diagnosis = client.search(filters=TYPO).diagnose()
        assert desk.run("diagnose", *typo).json == diagnosis
        code, shown = desk.on_terminal("diagnose", *typo)
        assert code == 0
        assert "did you mean Shopify?" in shown
        for change in diagnosis.relaxations:
            assert f"{change.total_results:,} lead" in shown
    search = client.search(filters=TYPO)
    assert list(search) == []
    unknown = "'shopfy' is not a known technology, so it probably matches no lead"
    said = f'Businesses in Germany that use "shopfy" · {unknown}\n'
    said += f"No leads match. {search.hint}. Run `sgl diagnose` with the same search to see why.\n"
    done = desk.run("search", *typo)
    assert (done.code, done.out, done.err) == (0, "", said)


def test_agents(bank: Bank, customer: Customer, connect: Connect, tmp_path: Path) -> None:
    client = connect(customer)
    with over_stdio(Desk(tmp_path, bank.base_url, customer.key), tmp_path / "log.txt") as agent, customer.untouched():
        counts = client.search(filters={"country": "DEU"}).facets(["language", "has_email"], size=3)
        shown = agent.call("facets", filters={"country": "DEU"}, facets=["language", "has_email"], size=3)
        assert (shown["total_results"], shown["with_email"]) == (counts.total_results, counts.price.with_email)
        for facet, told in zip(counts.facets, shown["facets"], strict=True):
            assert told["facet"] == facet.facet
            assert [each["count"] for each in told["counts"]] == [each.count for each in facet.counts]
        few = agent.call("facets", filters={"country": "DEU"}, size=50, max_tokens=1_500)
        assert len(few["facets"]) == 20
        assert any(facet["more"] for facet in few["facets"])
        diagnosis = client.search(filters=TYPO).diagnose()
        shown = agent.call("diagnose", filters=TYPO)
        assert [each["total_results"] for each in shown["changes"]] == [
            each.total_results for each in diagnosis.relaxations
        ]
        assert agent.call("count", filters=shown["changes"][0]["filters"]) == {
            "total_results": shown["changes"][0]["total_results"]
        }
        assert agent.refused("diagnose").startswith("Say what to search for")
        assert agent.call("search", filters=TYPO)["say"].startswith("No leads match. Call diagnose")
