"""Both clients have the same surface, and only the I/O is written twice."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import (
    AsyncEnrichment,
    AsyncSearch,
    AsyncSiteglass,
    Enrichment,
    Filters,
    Search,
    Siteglass,
    __version__,
)
from siteglass_client.calls import USER_AGENT
from siteglass_client.messages import Company
from siteglass_client.messages import Lead as LeadRecord
from siteglass_client.plans import COMPANY_COLUMNS, LEAD_COLUMNS
from testing.api_calls import DEFAULT_FIELDS, ENRICH_FIELDS, ENRICH_MORE_FIELDS, MORE_FIELDS
from testing.customers import Bank, Customer
from tests.docs.blocks import ROOT

PAIRS = [(Siteglass, AsyncSiteglass), (Search, AsyncSearch), (Enrichment, AsyncEnrichment)]
TWINS = {"__aenter__": "__enter__", "__aexit__": "__exit__", "__aiter__": "__iter__"}


def _surface(kind: type) -> dict[str, object]:
    """Names with their parameters (kind and default) and docs."""
    found: dict[str, object] = {}
    for name, member in inspect.getmembers(kind):
        name = TWINS.get(name, name)
        if name.startswith("_") and name not in TWINS.values():
            continue
        parameters = inspect.signature(member).parameters.values() if callable(member) else ()
        found[name] = ([(each.name, each.kind, each.default) for each in parameters], inspect.getdoc(member))
    return found


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_names_parameters_and_docs_are_the_same(one: type, other: type) -> None:
    assert _surface(one) == _surface(other)
    assert one.__doc__ == other.__doc__
    undocumented = [name for name in _surface(one) if name[0] != "_" and not inspect.getdoc(getattr(one, name))]
    assert undocumented == []


def test_constructors_are_the_same() -> None:
    ours, theirs = (inspect.signature(kind).parameters for kind in PAIRS[0])
    assert [(each.name, each.kind, each.default) for each in ours.values()] == [
        (each.name, each.kind, each.default) for each in theirs.values()
    ]


def test_every_filter_and_field_is_known() -> None:
    table = (ROOT / "docs/reference/filters.md").read_text().partition("### Filters")[2].partition("\n## ")[0]
    names = re.findall(r"^\| (`\w+`(?:, alias `\w+`)?) \|", table, re.MULTILINE)
    assert {name for row in names for name in re.findall(r"`(\w+)`", row)} == set(Filters.__annotations__)
    assert list(LEAD_COLUMNS) == DEFAULT_FIELDS
    assert ["domain", *COMPANY_COLUMNS] == ENRICH_FIELDS
    assert all(hasattr(LeadRecord, name) for name in DEFAULT_FIELDS + MORE_FIELDS)
    assert all(hasattr(Company, name) for name in ENRICH_FIELDS + ENRICH_MORE_FIELDS)


def test_the_user_agent_names_the_client() -> None:
    assert re.fullmatch(rf"siteglass-client/{re.escape(__version__)} python/3\.\d+\.\d+\S*", USER_AGENT)


def test_the_client_needs_nothing_of_the_server() -> None:
    folder = ROOT / "clients/python/src/siteglass_client"
    imported = {
        word
        for path in folder.glob("*.py")
        for word in re.findall(r"^\s*(?:from|import) ([\w]+)", path.read_text(), re.MULTILINE)
    }
    assert "siteglass" not in imported
    networked = {path.name for path in folder.glob("*.py") if "import httpx" in path.read_text()}
    assert networked == {"client.py", "async_client.py"}


def test_the_asynchronous_client_does_what_the_other_does(
    bank: Bank, customer: Customer, sold: list[Lead], tmp_path: Path
) -> None:
    domains = [lead.domain for lead in sold]

    async def use() -> None:
        async with AsyncSiteglass(customer.key, bank.base_url) as client:
            search = client.search(sort="domain", max_lead_credits=25)
            shown = [lead.domain async for lead in search]
            assert shown == domains[: len(shown)]
            assert (search.credits_used, search.stopped) == (25, "max_lead_credits")
            assert await client.search().count() == len(sold)
            assert (await client.search(max_lead_credits=3).price()).lead_credits == 3
            assert (await client.search("dentists").interpret()).query == "dentists"
            required = client.search("dentists hiring", require=["hiring"])
            assert "@keywords(hiring)" in (await required.interpret()).directives
            items = [item.domain async for item in client.enrich(domains[:150], select=["domain"])]
            assert items == domains[:150]
            assert (await client.enrich(domains[:150]).price()).api_credits == 2
            assert (await client.values("technologies", "ga4")).found[0].value == "Google Analytics"
            assert (await client.account()).balances.lead_credits == 10_000 - 25 - 150
            assert (await client.usage()).totals.lead_credits == 25 + 150
            entries = [entry async for entry in client.ledger()]
            assert sum(entry.lead_credits for entry in entries) == 10_000 - 25 - 150
            receipt = await client.receipt(entries[0].request_id)
            assert len(receipt.entries[0].domains) == 50
            frame = await client.search(sort="domain", max_leads=10).to_pandas()
            assert list(frame["domain"]) == domains[:10]
            for form in ("csv", "jsonl", "parquet"):
                search = client.search(sort="domain", max_leads=10, resume=tmp_path / f"{form}.resume")
                done = await getattr(search, f"to_{form}")(tmp_path / f"leads.{form}")
                assert done.rows == 10

    asyncio.run(use())
    names = {path.name for path in tmp_path.iterdir() if path.name.startswith("leads.")}
    assert names == {"leads.csv", "leads.jsonl", "leads.parquet", "leads.parquet.rows.jsonl"}
