"""Tables of other programs: which column is which field, and files as spreadsheets write them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.tables import TableError, TableLimits
from siteglass.ingest.imports import sources
from siteglass.ingest.imports.columns import map_columns, read_mapping
from siteglass.ingest.imports.leads import Preview, open_import, preview
from siteglass.ingest.sources import known_fields, record_of
from siteglass.ingest.tasks import read_facts, write_records

NOW_MS = 1_794_000_000_000
EXCEL = [
    ["Firma", "Webseite", "E-Mail", "Telefon", "Land", "Bemerkung"],
    ["Müller & Söhne", "www.mueller.de", "jo@mueller.de; info@mueller.de", "+49 30 1234567", "Deutschland", "a;b"],
    ["Café „Zur Post“", "https://cafe.at/", "", "", "Österreich", "zwei\nZeilen"],
]


def previewed(path: Path, mapping: Path | None = None) -> Preview:
    with open_import(path, mapping, NOW_MS, lambda _: None) as table:
        return preview(table)


def targets(*columns: str, **given: str) -> dict[str, str]:
    mapping = map_columns(columns, given)
    return {columns[place]: str(target) for place, target in mapping.targets.items()}


# --- columns ------------------------------------------------------------------------------------


def test_columns_are_known_by_their_usual_names() -> None:
    assert targets("DOMAIN", "Company name", "E-Mail", "Phone number", "Country/Region", "crawled_at_ms") == {
        "DOMAIN": "domain",
        "Company name": "business_name",
        "E-Mail": "emails",
        "Phone number": "phones",
        "Country/Region": "country",
        "crawled_at_ms": "crawled_at_ms",
    }
    assert targets("sg_emails", "Website", "LinkedIn Company Page", "missing_robot") == {
        "sg_emails": "emails",
        "Website": "url",
        "LinkedIn Company Page": "social_links.linkedin",
        "missing_robot": "not has_robots",
    }


def test_of_two_columns_for_one_value_the_surer_is_read_and_lists_are_joined() -> None:
    mapping = map_columns(["Name", "Company", "Domain", "email", "all_emails", "Hobby", "lead_no", "sg_spending"])
    assert {mapping.columns[place]: str(target) for place, target in mapping.targets.items()} == {
        "Company": "business_name",
        "Domain": "domain",
        "email": "emails",
        "all_emails": "emails",
    }
    assert {mapping.columns[place]: why for place, why in mapping.ignored.items()} == {
        "Name": "business_name is read from 'Company'",
        "Hobby": "not the name of a field",
        "lead_no": "not the name of a field",
        "sg_spending": "it has ranges, not numbers",
    }


def test_a_mapping_goes_before_names() -> None:
    given = {"Our site": "domain", "city": "ignore", "name": "title"}
    assert targets("our site", "City", "Name", **given) == {"our site": "domain", "Name": "title"}


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        (["Firm", "Mail address"], {}, r"The columns are: 'Firm', 'Mail address'\. .* --mapping FILE"),
        (["domain"], {"site": "url"}, r"the column 'site', which the table does not have\. The columns are: 'domain'"),
        (["domain", "x"], {"x": "contry"}, "'contry', which is not a field of a lead. Did you mean country?"),
        (["domain"], {"domain": "ignore"}, "No column is known to have the domains"),
    ],
)
def test_a_mapping_that_cannot_be_used_says_what_to_do(columns: list[str], given: dict[str, str], message: str) -> None:
    with pytest.raises(TableError, match=message):
        map_columns(columns, given)


@pytest.mark.parametrize(("name", "text"), [("a.toml", '"Our site" = "domain"'), ("a.json", '{"Our site": "domain"}')])
def test_a_mapping_file_is_toml_or_json(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_mapping(tmp_path / name) == {"Our site": "domain"}
    (tmp_path / name).write_text(text.replace('"domain"', "7"))
    with pytest.raises(TableError, match="expected TOML lines"):
        read_mapping(tmp_path / name)


# --- files --------------------------------------------------------------------------------------


def as_csv(encoding: str, delimiter: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter).writerows(EXCEL)
        path.write_bytes(text.getvalue().encode(encoding))

    return write


def as_xlsx(path: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in EXCEL:
        sheet.append(row)
    book.save(path)


def as_ndjson(path: Path) -> None:
    rows = [dict(zip(EXCEL[0], row, strict=True)) for row in EXCEL[1:]]
    rows[0]["E-Mail"] = ["jo@mueller.de", "info@mueller.de"]  # type: ignore[assignment]  # NDJSON may have lists
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def as_parquet_file(path: Path) -> None:
    columns: dict[str, Any] = {name: [row[place] for row in EXCEL[1:]] for place, name in enumerate(EXCEL[0])}
    columns["E-Mail"] = [["jo@mueller.de", "info@mueller.de"], None]
    pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("utf-8.csv", as_csv("utf-8", ",")),
        ("excel.csv", as_csv("utf-8-sig", ";")),
        ("windows.csv", as_csv("cp1252", ";")),
        ("unicode.csv", as_csv("utf-16", "\t")),
        ("book.xlsx", as_xlsx),
        ("lines.ndjson", as_ndjson),
        ("rows.parquet", as_parquet_file),
    ],
)
def test_the_same_leads_come_of_every_form(tmp_path: Path, name: str, write: Callable[[Path], None]) -> None:
    write(tmp_path / name)
    result = previewed(tmp_path / name)
    assert result.rejects.count == 0
    assert result.first == [
        Lead(
            domain="mueller.de",
            crawled_at_ms=0,
            business_name="Müller & Söhne",
            emails=("jo@mueller.de", "info@mueller.de"),
            emails_personal=("jo@mueller.de",),
            phones=("+49301234567",),
            country="DEU",
        ),
        Lead(
            domain="cafe.at",
            crawled_at_ms=0,
            url="https://cafe.at/",
            business_name="Café „Zur Post“",
            country="AUT",
        ),
    ]


def test_values_of_json_and_parquet_keep_their_types(tmp_path: Path) -> None:
    crawled = datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
    record = {"domain": "a.com", "score": 85.0, "secure": False, "phones": 15125550100, "technologies": ["Shopify"]}
    (tmp_path / "a.ndjson").write_text(
        json.dumps({**record, "social_links": {"facebook": "https://facebook.com/a"}, "crawled_at": 1_790_000_000})
        + '\n[1]\n{"domain": "b.com", "score": [1, 2]}\n{broken\n'
    )
    pq.write_table(
        pa.Table.from_pylist([{**record, "crawled_at": crawled, "facebook": "facebook.com/a"}]), tmp_path / "a.parquet"
    )
    lead = Lead(
        domain="a.com",
        crawled_at_ms=1_790_000_000_000,
        score=85,
        secure=False,
        phones=("15125550100",),
        technologies=("Shopify",),
        social_links={"facebook": "https://facebook.com/a"},
    )
    lines = previewed(tmp_path / "a.ndjson")
    assert lines.first == [lead, Lead(domain="b.com", crawled_at_ms=0)]
    assert [reason.partition(":")[0] for _, reason in lines.rejects.reasons] == [
        "not a JSON object", "expected text or a number", "not JSON",
    ]  # fmt: skip
    assert previewed(tmp_path / "a.parquet").first == [lead]


def test_values_that_no_lead_can_have_cost_no_import(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "domain,trade,industry,phone,crawled at\n"
        "a.com,dentist;plumber,roofer;electrician,,\n"
        f"b.com,,,{'.'.join('5125550100')}{'.' * 600},\n"
        f"c.com,,,,{'9' * 5_000}\n"
    )
    with open_import(path, None, NOW_MS, lambda _: None) as table:
        records = read_facts(write_records(tmp_path, table.records, None))
        read = [record.lead for row in records if (record := record_of(row))]
    assert [(lead.domain, lead.trades) for lead in read] == [("a.com", ("dentist", "plumber", "roofer")), ("b.com", ())]
    assert dict(table.rejects.reasons) == {
        ("trades", "more than 3 values"): 1,
        ("phones", "longer than 512 characters"): 1,
        ("crawled_at_ms", "not a time such as 2026-09-21 or 2026-09-21T14:13:20Z"): 1,
    }


def test_lines_after_an_open_quote_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"site{number}.com,Name {number}\n" for number in range(8_000))
    path.write_text(f'domain,company\nopen.com,"Never closed\n{rows}')
    result = previewed(path)
    assert (result.leads, dict(result.rejects.reasons)) == (
        8_000,
        {("", "a quote is not closed, or has text after it"): 1},
    )


def test_a_record_names_the_file_and_the_day(tmp_path: Path) -> None:
    source = tmp_path / "leads.csv"
    source.write_text("domain,email,phone,country,city\na.at,jo@a.at,01 5120000,AT,Wien\nb.com,,,,\n")
    progress: list[int] = []
    with open_import(source, None, NOW_MS, progress.append, "CC0-1.0") as table:
        first, second = table.records
    assert progress[-1] == source.stat().st_size
    assert (first.source, first.id, first.at_ms) == ("import", "leads.csv", NOW_MS)
    assert first.origin == "imported from leads.csv on 2026-11-06, CC0-1.0"
    assert known_fields(first.lead) == {
        "domain": "a.at", "crawled_at_ms": 0, "emails": ("jo@a.at",), "emails_personal": ("jo@a.at",),
        "phones": ("+4315120000",), "country": "AUT", "state": "9", "city": "Vienna",
    }  # fmt: skip
    assert second.lead == Lead(domain="b.com", crawled_at_ms=0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"a.com", "must be named .csv"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"\n\n", "the table has no rows"),
        ("a.csv", b"domain\n", "the table has no rows"),
        ("a.csv", b"\x89PNG\0\0\xff\xff", "neither CSV nor XLSX"),
        ("a.csv", b"PK\x03\x04", "Give its name the ending .xlsx"),
        ("a.csv", b"domain" + b",x" * 10, "more than 10 columns"),
        ("a.csv", b"domain\n" + b"a.com\n" * 6, "more than 5 rows"),
        ("a.csv", b"domain\n" + b"x" * 2_000_000, "a line has more than"),
        ("a.xlsx", b"PK\x03\x04", "The workbook cannot be read"),
        ("a.parquet", b"PAR1", "not a Parquet file"),
    ],
)
def test_limits_and_broken_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, message: str
) -> None:
    limits = TableLimits(rows=5, columns=10, cell_chars=1000, cells=50, unpacked_bytes=1000)
    monkeypatch.setattr(sources, "LIMITS", limits)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        previewed(tmp_path / name)
