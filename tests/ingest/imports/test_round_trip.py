"""The CSV file of a downloaded search can be imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from siteglass.corpus.domains import is_of_the_internet
from siteglass.corpus.lead import SOCIAL_NETWORKS, Lead
from siteglass.ingest.imports.leads import open_import
from siteglass.ingest.sources import with_phones_and_state
from siteglass.leads.downloads.columns import COLUMN_SETS, phone_text
from siteglass.leads.downloads.sheets import csv_cell, csv_lines
from siteglass.query.values import moment_text
from siteglass_demo.leads import generate

NOW_MS = 1_794_000_000_000
NEGATED = {
    "not_secure": "secure", "not_responsive": "responsive", "missing_sitemap": "has_sitemap",
    "missing_schema": "has_schema", "missing_robot": "has_robots", "missing_heading": "has_heading",
    "missing_description": "has_description",
}  # fmt: skip
SAME = (
    "domain", "business_name", "emails", "url", "trades", "service_type", "city", "state", "country", "language",
    "categories_uses", "score", "load_time_ms", "crawled_at_ms", "updated_at_ms", *NEGATED.values(),
)  # fmt: skip
OF_CRMS = ("domain", "city", "state", "country")


def record_of(lead: Lead) -> dict[str, Any]:
    """A lead as responses show it."""
    record = {name: getattr(lead, name) for name in Lead.__struct_fields__}
    record |= {name: None if record[field] is None else not record[field] for name, field in NEGATED.items()}
    record["crawled_at"] = moment_text(lead.crawled_at_ms)
    record["updated_at"] = lead.updated_at_ms and moment_text(lead.updated_at_ms)
    return record


@pytest.mark.parametrize("columns", ["siteglass", "hubspot", "salesforce"])
def test_a_downloaded_file_comes_in_again(tmp_path: Path, columns: str) -> None:
    source, chosen = tmp_path / "download.csv", COLUMN_SETS[columns]
    # The demo has domains under .mf, which no registry offers.
    leads = [lead for lead in generate(300, 4) if is_of_the_internet(lead.domain)]
    rows = [[csv_cell(value) for value in chosen.row(record_of(lead))] for lead in leads]
    source.write_bytes(csv_lines([chosen.headings], start=chosen.byte_order_mark) + csv_lines(rows))
    with open_import(source, None, NOW_MS, lambda _: None) as table:
        again = [one.lead for one in table.records]
        table.rejects.write(tmp_path / "rejects")
    rejects = (
        [json.loads(line) for line in (tmp_path / "rejects").read_text().splitlines()] if table.rejects.count else []
    )
    # CRMs get names of states, and Spain has a province and a community of Madrid.
    assert {one["reason"].partition(":")[0] for one in rejects} <= {"means several states of ESP"}
    assert len(rejects) == (0 if columns == "siteglass" else 3)
    nameless = {one["domain"] for one in rejects}
    expected = [
        with_phones_and_state(
            replace(
                lead,
                phones=tuple(map(phone_text, lead.phones)),
                state="" if lead.domain in nameless else lead.state,
            )
        )
        for lead in leads
    ]
    for name in SAME if columns == "siteglass" else OF_CRMS:
        assert [getattr(lead, name) for lead in again] == [getattr(lead, name) for lead in expected], name
    if columns == "siteglass":
        assert [lead.phones for lead in again] == [lead.phones for lead in expected]
        assert [lead.technologies for lead in again] == [lead.technologies or None for lead in leads]
        assert [lead.social_links for lead in again] == [
            {network: lead.social_links[network] for network in SOCIAL_NETWORKS if network in lead.social_links}
            for lead in leads
        ]
    else:
        assert [lead.emails for lead in again] == [lead.emails[:1] for lead in leads]
