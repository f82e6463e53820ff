"""`siteglass index import` with the real engines, run as the operator runs it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from siteglass.corpus.evidence_files import read_evidence
from siteglass.corpus.lead_files import record_place
from siteglass.settings import load_settings
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
    source, store = cli.folder / "companies.csv", cli.folder / "store"
    source.write_bytes(TABLE.encode("cp1252"))
    assert "2 leads would be loaded; 2 values or rows would be rejected" in cli(
        "index", "import", "companies.csv", "--dry-run"
    )
    assert "No generation takes writes" in cli("index", "import", "companies.csv", code=2)
    assert list(store.glob("*.parquet")) == []

    name = cli("index", "create")
    notes = cli("index", "import", "companies.csv", of=2)
    assert "Ignored columns: Nr." in notes
    (stored,) = store.glob("companies-*.parquet")
    rejects = stored.with_suffix(".rejects.ndjson")
    assert f"2 values or lines were rejected and left out; see {rejects}" in notes
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
    (seen,) = read_evidence(store, record_place(stored, 0), "mueller.de")
    assert seen.page == f"imported from companies.csv on {datetime.fromtimestamp(seen.last_seen_ms / 1000, UTC).date()}"
    cli("index", "promote", name)
    assert "2 leads" in cli("index", "status")

    (cli.folder / "older.csv").write_text("domain,crawled at\nmueller.de,2026-01-01\nnew.de,2026-01-01\n")
    assert cli("index", "import", "older.csv").startswith("2 leads read; 1 written, 1 older than what was there")

    source.write_text("site\nmueller.de\nmeier.de\nnew.de\nnewer.de\n")
    (cli.folder / "mapping.toml").write_text('site = "domain"\n')
    replaced = cli(
        "index", "import", "companies.csv", "--mapping", "mapping.toml", "--replace", "--most-emptier", "100"
    )
    assert "4 leads read from 1 files; 4 written" in replaced
    live = [line for line in cli("index", "status").splitlines() if " live " in line]
    assert [("4 leads" in line, line.split()[0] == name) for line in live] == [(True, False)]

    source.write_text("domain\nmueller.de\n")
    assert "The live generation is unchanged" in cli("index", "import", "companies.csv", "--replace", code=1)
    source.write_text("domain\nlocalhost\n")
    assert "none of its 1 lines is a lead. line 2: is a single label" in cli("index", "import", "companies.csv", code=2)
