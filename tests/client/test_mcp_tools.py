"""Every tool of `sg mcp` over stdio, as an agent uses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from siteglass.lead import Lead
from tests.api.paying import Bank, Customer
from tests.client.agents import Agent, over_stdio
from tests.client.commanding import Desk

pytestmark = pytest.mark.xdist_group("client")


@pytest.fixture(scope="module")
def buyer(bank: Bank) -> Customer:
    return bank.customer(api=1_000, lead=10_000)


@pytest.fixture(scope="module")
def agent(bank: Bank, buyer: Customer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    folder: Path = tmp_path_factory.mktemp("agent")
    with over_stdio(Desk(folder, bank.base_url, buyer.key), folder / "log.txt") as made:
        yield made
    log = (folder / "log.txt").read_text()
    assert log == ""


def test_smoke(agent: Agent, buyer: Customer, sold: list[Lead]) -> None:
    for name, arguments in (
        ("interpret", {"query": "SaaS companies in Germany with wonderful gardens"}),
        ("count", {"query": "SaaS companies in Germany"}),
        ("search", {"query": "companies in Germany"}),
        ("search", {"query": "companies in Germany", "max_credits": 50}),
        ("enrich", {"domains": [lead.domain for lead in sold[:30]]}),
        ("enrich", {"domains": [lead.domain for lead in sold[:30]], "max_credits": 50}),
        ("values", {"field": "technologies", "text": "shop"}),
        ("account", {}),
    ):
        got = agent.result(name, **arguments)
        from tests.client.agents import said

        t = said(got)
        print(name, arguments, len(t.encode()), got.is_error, t[:1500])
        print(len(got.structured_content.get("leads") or got.structured_content.get("items") or []))
    print(buyer.balance())
    for tool in agent.tools.values():
        print(tool.model_dump_json(exclude_none=True))
    assert 0
