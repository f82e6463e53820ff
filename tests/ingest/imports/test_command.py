"""`siteglass index import` with the real engines, run as the operator runs it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from siteglass.corpus.evidence_files import Sighting, read_evidence
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import record_place, write_parquet
from siteglass.corpus.lead_store import newest_leads
from siteglass.ingest.store.facts_store import open_store
from siteglass.ingest.tasks import UnusedRecords, write_facts
from siteglass.settings import load_settings
from testing.random_facts import plain_page
from testing.service import RUN_PREFIX, make_test_account
from tests.test_cli import Cli

TABLE = (
    "Firma;Webseite;E-Mail;Land;Nr\r\n"
    "Müller;www.mueller.de;jo@mueller.de;Deutschland;1\r\n"
    "Meier;meier.de;;Germny;2\r\n"
    "Niemand;;;;3\r\n"
)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    make_test_account(load_settings().postgres_dsn, RUN_PREFIX)
    return Cli(f"{RUN_PREFIX}-import-{os.getpid()}-{tmp_path.name}", tmp_path)


def test_a_table_is_previewed_added_and_replaces_the_index(cli: Cli) -> None:
    source, rejects = cli.folder / "companies.csv", cli.folder / "var/crawl/companies.rejects.ndjson"
    source.write_bytes(TABLE.encode("cp1252"))
    assert "2 leads would be loaded; 2 values or rows would be rejected" in cli(
        "index", "import", "companies.csv", "--dry-run"
    )
    assert "No generation is live" in cli("index", "import", "companies.csv", code=2)
    assert not (cli.folder / "var").exists()

    notes = cli("index", "import", "companies.csv", "--replace", of=2)
    assert "Ignored columns: Nr." in notes
    assert "2 values or lines were rejected and left out; see var/crawl/companies.rejects.ndjson" in notes
    assert [json.loads(line) for line in rejects.read_text().splitlines()] == [
        {
            "line": 4, "column": "Webseite", "domain": "", "field": "domain", "value": "", "reason": "has no domain",
            "nearest": None,
        },
        {
            "line": 3, "column": "Land", "domain": "meier.de", "field": "country", "value": "Germny",
            "reason": "not a known country", "nearest": "DEU",
        },
    ]  # fmt: skip
    lead, (seen,) = stored(cli, "mueller.de")
    assert (lead.crawled_at_ms, lead.newest_fact_ms) == (0, seen.last_seen_ms)
    assert seen.page == f"imported from companies.csv on {datetime.fromtimestamp(seen.last_seen_ms / 1000, UTC).date()}"
    live = cli("index", "status")
    assert "2 leads" in live

    (cli.folder / "newer.csv").write_text(
        "domain,company,crawled at,phone,country\nmueller.de,M.,2026-01-01,030 12345678,DE\n"
    )
    cli("index", "import", "newer.csv", "--licence", "CC0-1.0")
    lead, evidence = stored(cli, "mueller.de")
    assert (lead.business_name, lead.emails, lead.phones) == ("M.", ("jo@mueller.de",), ("+493012345678",))
    assert [one.page.partition(" on ")[0] for one in evidence] == [
        "imported from companies.csv",
        "imported from newer.csv",
    ]
    assert evidence[1].page.endswith(", CC0-1.0")
    assert cli("index", "status").split()[:2] == live.split()[:2]

    # Also alone, a table makes no lead of a website whose home page asks not to be listed.
    with (cli.folder / "page.parquet").open("wb") as sink:
        write_facts(sink, iter([plain_page("unlisted.de", noindex=True)]), UnusedRecords())
    with open_store(cli.folder / "var/crawl/store") as facts:
        facts.append({"page": cli.folder / "page.parquet"})
        facts.commit()
    source.write_text("site\nmueller.de\nmeier.de\nnew.de\nnewer.de\nunlisted.de\n")
    (cli.folder / "mapping.toml").write_text('site = "domain"\n')
    replaced = cli(
        "index", "import", "companies.csv", "--mapping", "mapping.toml", "--replace", "--most-emptier", "100"
    )
    assert "4 leads read from 1 files; 4 written" in replaced
    assert ["4 leads" in line for line in cli("index", "status").splitlines() if " live " in line] == [True]

    source.write_text("domain\nmueller.de\n")
    assert "The live generation is unchanged" in cli("index", "import", "companies.csv", "--replace", code=1)
    source.write_text("domain\nlocalhost\n")
    assert "none of its 1 lines is a lead. line 2: is a single label" in cli("index", "import", "companies.csv", code=2)


def test_an_import_takes_nothing_away_from_a_lead_of_a_file(cli: Cli) -> None:
    crawled = Lead(
        domain="zahn.at", crawled_at_ms=1_790_000_000_000, business_name="Zahn", score=70,
        emails=("info@zahn.at", "jo@zahn.at"),
        emails_detail=(
            {"value": "info@zahn.at", "owner": "own", "confidence": 90, "page": "https://zahn.at/", "crawled_at_ms": 9},
        ),
        hidden_contacts=("email designer",),
    )  # fmt: skip
    write_parquet(cli.folder / "crawled.parquet", [crawled])
    # As the release before imported tables: the time of the import is that of a crawl, and in the name of the file.
    (cli.folder / "store").mkdir()
    write_parquet(cli.folder / "store/crm-1780000000000.parquet", [Lead(
        domain="old.at", crawled_at_ms=1_780_000_000_000, business_name="Old", city="Wien", country="AUT"
    )])  # fmt: skip
    cli("index", "rebuild", "crawled.parquet", "store", "--promote")
    (cli.folder / "a.csv").write_text("domain,company,email,phone\nzahn.at,A,a@zahn.at,+4315120000\nold.at,B,,\n")
    for _ in range(2):  # the second time, the facts store has the crawl
        cli("index", "import", "a.csv")
        lead, evidence = stored(cli, "zahn.at")
        assert (lead.business_name, lead.emails, lead.score) == ("Zahn", crawled.emails, 70)
        assert (lead.crawled_at_ms, lead.phones) == (crawled.crawled_at_ms, ("+4315120000",))
        assert (lead.emails_detail[0]["page"], lead.hidden_contacts) == ("https://zahn.at/", ("email designer",))
        assert sorted((one.value, one.method, one.page.partition(" on ")[0]) for one in evidence) == [
            ("+4315120000", "import", "imported from a.csv"),
            ("info@zahn.at", "site", "https://zahn.at/"),
            ("jo@zahn.at", "site", "loaded from a file of leads"),
        ]
        lead, _ = stored(cli, "old.at")
        assert (lead.business_name, lead.city, lead.crawled_at_ms) == ("B", "Vienna", 0)


def stored(cli: Cli, domain: str) -> tuple[Lead, list[Sighting]]:
    """The newest record of a domain in the lead store, and its evidence."""
    folder = cli.folder / "store"
    (found,) = newest_leads(folder, [domain])
    return found[1], read_evidence(folder, record_place(found[0], 0), domain)
