"""Files that a walk writes, and the books that can be read."""

from __future__ import annotations

import csv
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet
import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import MissingExtra
from siteglass_client.outputs import cell
from testing.api_calls import DEFAULT_FIELDS, MORE_FIELDS
from testing.customers import Customer
from tests.client.conftest import Connect

EVERYTHING = [*DEFAULT_FIELDS, *MORE_FIELDS]


def test_json_lines_are_what_the_service_sent(connect: Connect, customer: Customer, tmp_path: Path) -> None:
    client = connect(customer)
    done = client.search(sort="domain", max_leads=120).to_jsonl(tmp_path / "leads.jsonl")
    assert (done.path, done.rows, done.stopped) == (tmp_path / "leads.jsonl", 120, "max_leads")
    lines = [json.loads(line) for line in done.path.read_text().splitlines()]
    assert lines == list(client.search(sort="domain", max_leads=120))


def test_a_table(connect: Connect, customer: Customer, tmp_path: Path) -> None:
    client = connect(customer)
    pages: list[int] = []
    done = client.search(sort="domain", max_leads=120).to_csv(
        tmp_path / "leads.csv", on_page=lambda page: pages.append(len(page.leads))
    )
    assert pages == [100, 20]
    with done.path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == DEFAULT_FIELDS
    leads = list(client.search(sort="domain", max_leads=120))
    assert [row["domain"] for row in rows] == [lead.domain for lead in leads]
    assert [row["emails"] for row in rows] == ["; ".join(lead.emails) for lead in leads]
    empty = client.search(wrapped_query="@country(ATA)", select=["domain"]).to_csv(tmp_path / "empty.csv")
    assert empty.path.read_text().splitlines() == ["domain,crawled_at"]


def test_cells_are_no_formulas() -> None:
    assert cell("=HYPERLINK(1)") == "'=HYPERLINK(1)"
    assert cell(["+1 555 0100", "+49 (89) 1-2"]) == "+1 555 0100; +49 (89) 1-2"
    assert cell(["+1 555 0100", "=1+1"]) == "'+1 555 0100; =1+1"
    assert cell("@cmd") == "'@cmd"
    assert cell({"x": "https://x.com/a"}) == "x:https://x.com/a"
    assert cell([{"value": "a@b.cd", "page": None}]) == '[{"value": "a@b.cd", "page": null}]'
    assert [cell(value) for value in (None, True, False, 7, -7, "")] == ["", "true", "false", "7", "-7", ""]


def test_parquet_has_typed_columns(connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path) -> None:
    path = tmp_path / "leads.parquet"
    done = connect(customer).search(sort="domain", select=EVERYTHING, max_leads=200).to_parquet(path)
    assert done.rows == 200
    assert [each.name for each in tmp_path.iterdir()] == ["leads.parquet"]
    table = pyarrow.parquet.read_table(path)
    rows = table.to_pylist()
    assert [row["domain"] for row in rows] == [lead.domain for lead in sold[:200]]
    assert [row["score"] for row in rows] == [lead.score for lead in sold[:200]]
    assert [tuple(row["emails"]) for row in rows] == [tuple(lead.emails) for lead in sold[:200]]
    assert [dict(row["social_links"]) for row in rows] == [dict(lead.social_links) for lead in sold[:200]]
    crawled = [round(row["crawled_at"].timestamp() * 1000) for row in rows]
    assert crawled == [lead.crawled_at_ms for lead in sold[:200]]
    kinds = {name: str(table.schema.field(name).type) for name in ("score", "emails", "crawled_at", "not_secure")}
    assert kinds["score"] == "int64"
    assert kinds["emails"].startswith("list<")
    assert kinds["crawled_at"] == "timestamp[ms, tz=UTC]"
    assert kinds["not_secure"] == "bool"


def test_enriched_companies_as_parquet(connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path) -> None:
    domains = [lead.domain for lead in sold[:5]] + ["nobody.example"]
    connect(customer).enrich(domains).to_parquet(tmp_path / "out.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["domain"] for row in rows] == domains
    assert [row["spending"] for row in rows] == [*(lead.spending for lead in sold[:5]), None]
    assert [row["status"] for row in rows] == ["success"] * 5 + ["not_found"]


def test_a_data_frame(connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    frame = connect(customer).search(sort="domain", select=["domain", "score"], max_leads=150).to_pandas()
    assert list(frame.columns) == ["domain", "score", "crawled_at"]
    assert list(frame["domain"]) == [lead.domain for lead in sold[:150]]


def test_a_missing_package_is_told_before_anything_is_paid(
    connect: Connect, customer: Customer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    search = connect(customer).search()
    with customer.untouched():
        with pytest.raises(MissingExtra, match=r"clients/python\[pandas\]"):
            search.to_pandas()
        with pytest.raises(MissingExtra, match=r"clients/python\[parquet\]"):
            search.to_parquet(tmp_path / "leads.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_books(connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    spent = sum(page.credits_used for page in client.search(max_leads=30, limit=10).pages())
    list(client.enrich(["example.com"]))
    account = client.account()
    assert (account.balances.api_credits, account.balances.lead_credits) == (999, 10_000 - spent)
    assert (account.limits.max_limit, account.key.used_today.lead_credits) == (100, spent)
    assert account.prices.currency
    assert {(row.operation, row.requests) for row in client.usage().rows} == {("search", 1), ("page", 2), ("enrich", 1)}
    entries = list(client.ledger())
    assert [entry.seq for entry in entries] == [5, 4, 3, 2, 1]
    assert list(client.ledger(request_id=entries[1].request_id)) == [entries[1]]
    now = datetime.now(UTC)
    assert list(client.ledger(since=now - timedelta(hours=1), until=now + timedelta(hours=1))) == entries
    assert list(client.ledger(until=now - timedelta(hours=1))) == []
    with pytest.raises(ValueError, match="time zone"):
        next(client.ledger(since=now.replace(tzinfo=None)))
    today = now.date()
    assert client.usage(first_day=today, last_day=str(today), key_id=account.key.id).totals.lead_credits == spent
    assert client.values("city", "springf", country="US", limit=2).more
