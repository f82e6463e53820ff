"""Files of domains that people upload: how they are read, and what comes of them."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import re
import resource
import zipfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import httpx
import openpyxl
import pytest
import xlsxwriter

from siteglass.access.accounts import Plan, set_plan
from siteglass.access.limits import open_limits
from siteglass.corpus.tables import TableError
from siteglass.leads.downloads import uploaded_table, uploads
from siteglass.leads.downloads.jobs import Download
from siteglass.leads.downloads.reading import AlreadyReading, TableReader
from siteglass.leads.downloads.uploaded_table import read_table, unpack
from siteglass.leads.downloads.uploads import Uploads
from siteglass.platform.postgres import Postgres
from testing.dashboard.explore import explore_leads
from testing.dashboard.visitors import Office, Somebody, Visitor, office
from tests.dashboard.test_downloads import charges, ended, file_of, text_of

UPLOADS, JOBS = "/dashboard/downloads/uploads", "/dashboard/downloads"
XML = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
CRM = (
    "id;Firma;Webseite;Notiz\r\n"
    "1;Alder;https://www.alder-dental-austin.com/contact;-5\r\n"
    '2;Bluebonnet;BLUEBONNET-dental-austin.com;"a; ""b"""\r\n'
    "3;Nobody;nobody-knows-this.com;ä\r\n"
    '4;=1+1;;"=HYPERLINK(""http://harm.test"")"\r\n'
    "5;Alder again;alder-dental-austin.com;\r\n"
    "6;Elm, without email;elm-dental-austin.com;\r\n"
)


def workbook(*rows: tuple[str | int | None, ...]) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


# --- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "column", "delimiter", "domains"),
    [
        (b"domain\na.com\nb.com\n", 0, ",", ["a.com", "b.com"]),
        (b"a.com\nb.com\n", 0, ",", ["a.com", "b.com"]),
        ("\ufeffName;Webseite\nMüller;www.a.de\n".encode(), 1, ";", ["www.a.de"]),
        ("Name\tWebseite\nMüller\ta.de\n".encode("cp1252"), 1, "\t", ["a.de"]),
        ("Name|Site\nX|a.de\n".encode("utf-16"), 1, "|", ["a.de"]),
        (b"name,mail\nJo,jo@a.com\nKim,kim@gmail.com\nSam,Sam <sam@b.com>\n", 1, ",", ["a.com", "", "b.com"]),
        (b"mail,website\njo@x.com,a.com\njo@y.com,b.com\n", 1, ",", ["a.com", "b.com"]),
        (b'note,url\n"two\nlines, one cell",https://a.com/x\n', 1, ",", ["a.com"]),
        (workbook(("Name", "URL"), ("A", "https://a.com"), ("B", None)), 1, "", ["a.com", ""]),
    ],
    ids=["plain", "no heading", "bom", "windows-1252", "utf-16", "mail", "website first", "quoted", "workbook"],
)
@pytest.mark.promise("uploads.read")
def test_the_column_of_domains_is_found(content: bytes, column: int, delimiter: str, domains: list[str]) -> None:
    table = read_table(content)
    assert (table.column, table.delimiter, table.domains) == (column, delimiter, domains)
    assert unpack(table.pack()) == table


def with_parts(**parts: str) -> bytes:
    """A workbook whose only cell has a domain, with other sheets or strings."""
    given, content = io.BytesIO(), io.BytesIO()
    with xlsxwriter.Workbook(given) as book:
        book.add_worksheet().write(0, 0, "a.com")
    with zipfile.ZipFile(given) as source, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in source.infolist():
            changed = parts.get(part.filename.rpartition("/")[2].removesuffix(".xml"))
            archive.writestr(part.filename, source.read(part) if changed is None else changed)
    return content.getvalue()


def with_rows(rows: str, **parts: str) -> bytes:
    sheet = f'<worksheet {XML}><sheetData><row><c t="s"><v>0</v></c></row>{rows}</sheetData></worksheet>'
    return with_parts(sheet1=sheet, **parts)


def strings(rest: str) -> str:
    return f"<sst {XML}><si><t>a.com</t></si>{rest}</sst>"


def entity_bomb() -> bytes:
    """A workbook whose sheet says a word a billion times, in a few lines."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    cells = '<worksheet><sheetData><row><c t="str"><v>&e9;</v></c></row></sheetData></worksheet>'
    return with_parts(sheet1=f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{cells}')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty"),
        (b"\n\n", "The file has no rows"),
        (b"name\nJo\nKim\n", "No column has domains"),
        (b"domain,name\n", "No column has domains"),
        (b"domain\n" + b"a.com\n" * 20_001, "more than 20,000 rows"),
        (b"a.com," + b"x" * 5_001, "more than 5,000 characters"),
        (b"a.com" + b",x" * 100, "more than 100 cells"),
        (b"\x89PNG\0\0\0\xff\xff", "neither CSV nor XLSX"),
        (b"PK\x03\x04 not a zip", "cannot be read"),
        (with_parts(sharedStrings=" " * (uploaded_table.LIMITS.unpacked_bytes + 1)), "The workbook is too large"),
        (entity_bomb(), "cannot be read"),
    ],
    ids=["empty", "blank", "none", "heading", "rows", "cell", "cells", "image", "broken", "zip bomb", "entity bomb"],
)
@pytest.mark.promise("uploads.read")
def test_what_cannot_be_used_is_refused_with_what_to_do(content: bytes, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_table(content)


# --- pages --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service that has leads."""
    with office(f"uploads-{worker_id}", tmp_path_factory.mktemp("uploads"), explore_leads(), own_tables=True) as made:
        made.do(partial(set_plan, plan=Plan("uploads", 10_000, 10_000), actor="tests"))
        yield made


def customer(desk: Office, api: int = 10, lead: int = 100) -> tuple[Somebody, Visitor]:
    who = desk.somebody(desk.account(plan="uploads", api=api, lead=lead))
    return who, desk.visitor(who)


def upload(visitor: Visitor, content: bytes, name: str = "crm.csv") -> httpx.Response:
    """Send a file as a browser does."""
    request = httpx.Request(
        "POST", visitor.url + UPLOADS, data={"token": visitor.token}, files={"file": (name, content)}
    )
    headers = {"Origin": visitor.url, "Content-Type": request.headers["content-type"]}
    return visitor.send("POST", UPLOADS, request.read(), headers)


def uploaded(visitor: Visitor, content: bytes = CRM.encode()) -> str:
    """The page of an upload."""
    answer = upload(visitor, content)
    assert answer.status_code == 303, text_of(answer)
    return answer.headers["location"]


def form_of(answer: httpx.Response, action: str) -> dict[str, str]:
    (form,) = re.findall(rf'<form method="post" action="[^"]+/{action}".*?</form>', answer.text, re.DOTALL)
    fields = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" [^>]*?value="([^"]*)"', form)}
    assert fields.pop("token")
    return fields


def enriched(desk: Office, visitor: Visitor, who: Somebody, content: bytes = CRM.encode()) -> Download:
    page = uploaded(visitor, content)
    answer = visitor.post(f"{page}/enrich", form_of(visitor.get(page), "enrich"))
    assert (answer.status_code, answer.headers["location"]) == (303, JOBS), text_of(answer)
    return ended(desk, who)[-1]


def peak_memory() -> int:
    """The most memory this process had since it was last asked, in bytes."""
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    Path("/proc/self/clear_refs").write_text("5")
    return int(peak) * 1024


@pytest.mark.parametrize(
    "build",
    [
        lambda: with_rows("<row>" + "<c/>" * 4_000_000 + "</row>"),
        lambda: with_rows(("<row>" + "<c/>" * 100 + "</row>") * 40_000),
        lambda: with_parts(sharedStrings=strings("<si/>" * 800_000)),
        lambda: with_parts(sharedStrings=strings("<si><t>a</t></si>" * 240_000)),
        lambda: with_parts(sharedStrings=strings("<si>" + "<r><t>a</t></r>" * 270_000 + "</si>")),
        # What counts do not show: a cell far away, and a long text that many cells repeat.
        lambda: with_rows('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        lambda: with_rows(
            ("<row>" + '<c t="s"><v>1</v></c>' * 99 + "</row>") * 1_000,
            sharedStrings=strings(f"<si><t>{'x' * 4_999}</t></si>"),
        ),
    ],
    ids=["cells of a row", "cells", "empty strings", "strings", "runs", "a far cell", "repeated text"],
)
@pytest.mark.promise("uploads.read")
def test_a_hostile_workbook_is_refused_and_the_worker_does_not_grow(desk: Office, build: Callable[[], bytes]) -> None:
    _, visitor = customer(desk)
    content = build()
    peak_memory()
    before, used = peak_memory(), resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = upload(visitor, content, "crm.xlsx")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (answer.status_code, "Save the" in text_of(answer)) == (422, True), text_of(answer)
    assert after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime <= 5
    assert peak_memory() - before <= 50 * 1024 * 1024


def test_files_of_an_account_are_read_one_at_a_time_and_take_units(desk: Office) -> None:
    async def read_three(_: Postgres) -> list[bytes | BaseException]:
        limiter, claims = open_limits(desk.settings)
        reader, content = TableReader(claims), CRM.encode()
        try:
            reads = (reader.read(account, f"request {number}", content) for number, account in enumerate((1, 1, 2)))
            return await asyncio.gather(*reads, return_exceptions=True)
        finally:
            await limiter.close()
            await claims.close()

    first, second, other = desk.do(read_three)
    assert isinstance(second, AlreadyReading)
    assert first == other == read_table(CRM.encode()).pack()
    desk.do(partial(set_plan, plan=Plan("slow", 0.01, 10), actor="tests"))
    slow = desk.visitor(desk.somebody(desk.account(plan="slow")))
    assert [upload(slow, b"name\nJo\n").status_code for _ in range(2)] == [422, 429]
    # A kept table can be large, too: it is not unpacked before its units are taken.
    account = desk.account(plan="slow")
    number = desk.do(lambda postgres: Uploads(postgres).add(account, "crm.csv", b"not packed " * 3_000))
    kept = desk.visitor(desk.somebody(account))
    desk.do(partial(set_plan, plan=Plan("slow", 0.01, 1), actor="tests"))
    assert kept.get("/dashboard/explore?q=dentists").status_code == 200
    assert kept.get(f"{UPLOADS}/{number}").status_code == 429


@pytest.mark.promise("uploads.enrich")
def test_rows_come_back_with_our_columns_for_the_price_on_the_button(desk: Office) -> None:
    who, visitor = customer(desk)
    page = visitor.get(uploaded(visitor))
    shown = text_of(page)
    assert "6 rows, 5 with a domain in the column “Webseite”." in shown
    assert "Enrich 3 companies · 3 lead credits and 1 API credit" in shown
    assert "We delete the upload after 24 hours." in shown
    assert charges(desk, who) == []
    job = enriched(desk, visitor, who)
    assert (job.state, job.rows, job.lead_credits, job.api_credits) == ("done", 3, 3, 1)
    assert charges(desk, who) == [3]
    text = file_of(visitor, job).content.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))
    # What the table itself has is no formula either; -5 is a number.
    before = list(csv.reader(io.StringIO(CRM.replace(";=1", ";'=1").replace('"=', "\"'="), newline=""), delimiter=";"))
    assert [row[:4] for row in rows] == before
    assert rows[0][4:7] == ["sg_status", "sg_found_domain", "sg_business_name"]
    assert [row[6:9] for row in rows[:2]] == [
        ["sg_business_name", "sg_email", "sg_trades"],
        ["Alder Dental", "hello@alder-dental-austin.com", "Dentist"],
    ]
    hubspot = visitor.get(f"{JOBS}/{job.id}/file?format=csv&columns=hubspot").content.decode("utf-8-sig")
    layout = list(csv.reader(io.StringIO(hubspot, newline=""), delimiter=";"))
    assert layout[0][4:8] == ["sg_status", "Company Domain Name", "Company name", "Website URL"]
    assert layout[1][:7] == [*before[1], "found", "alder-dental-austin.com", "Alder Dental"]
    assert [row[4:6] for row in rows[1:]] == [
        ["found", "alder-dental-austin.com"],
        ["found", "bluebonnet-dental-austin.com"],
        ["not found", ""],
        ["", ""],
        ["found", "alder-dental-austin.com"],
        ["found", "elm-dental-austin.com"],
    ]
    emails = rows[0].index("sg_emails")
    assert [row[emails] for row in rows[1:4]] == [
        "hello@alder-dental-austin.com",
        "hello@bluebonnet-dental-austin.com",
        "",
    ]
    assert "3 leads · 3 lead credits and 1 API credit charged" in text_of(visitor.get(JOBS))
    assert "enrich Upload" in text_of(visitor.get("/dashboard/ledger"))


@pytest.mark.promise("uploads.enrich")
def test_a_workbook_comes_back_as_a_workbook(desk: Office) -> None:
    who, visitor = customer(desk)
    content = workbook(("Name", "URL"), ("Alder", "alder-dental-austin.com"), ("Nobody", ""))
    job = enriched(desk, visitor, who, content)
    book = openpyxl.load_workbook(io.BytesIO(file_of(visitor, job).content))
    rows = list(book["Leads"].iter_rows(values_only=True))
    assert [row[:4] for row in rows] == [
        ("Name", "URL", "sg_status", "sg_found_domain"),
        ("Alder", "alder-dental-austin.com", "found", "alder-dental-austin.com"),
        ("Nobody", None, None, None),
    ]


@pytest.mark.promise("uploads.enrich")
def test_with_too_few_credits_there_is_no_button(desk: Office) -> None:
    for api, lead in ((10, 2), (0, 100)):
        _, visitor = customer(desk, api=api, lead=lead)
        page = visitor.get(uploaded(visitor))
        assert "This costs 3 lead credits and 1 API credit." in text_of(page)
        assert "/enrich" not in page.text


@pytest.mark.promise("uploads.list")
def test_an_upload_becomes_a_list_that_searches_leave_out(desk: Office) -> None:
    who, visitor = customer(desk)
    page = uploaded(visitor)
    kept = visitor.post(f"{page}/keep", {"list": "My customers"})
    assert kept.status_code == 303, text_of(kept)

    async def read(postgres: Postgres) -> list[str]:
        rows = await postgres.fetch(
            "SELECT d.domain FROM {schema}.lists l JOIN {schema}.list_domains d ON d.list_id = l.id"
            " WHERE l.account_id = $1 AND l.name = 'my-customers' ORDER BY d.domain",
            who.account_id,
        )
        return [row["domain"] for row in rows]

    assert desk.do(read) == [
        *("alder-dental-austin.com", "bluebonnet-dental-austin.com", "elm-dental-austin.com", "nobody-knows-this.com"),
    ]
    # Again, it changes nothing; and names of ours are refused.
    assert visitor.post(f"{page}/keep", {"list": "my-customers"}).status_code == 303
    assert visitor.post(f"{page}/keep", {"list": "paid"}).status_code == 422
    assert charges(desk, who) == []


def test_a_file_that_cannot_be_used_is_explained_on_the_page(desk: Office) -> None:
    _, visitor = customer(desk)
    answer = upload(visitor, b"name\nJo\n")
    assert answer.status_code == 422
    assert "No column has domains" in text_of(answer)
    assert "Choose a CSV or XLSX file first." in text_of(upload(visitor, b""))
    large = upload(visitor, b"a.com\n" * (uploaded_table.MAX_FILE_BYTES // 6 + 1))
    assert large.status_code == 413
    assert "The file is too large" in text_of(large)


def test_uploads_belong_to_their_account_and_are_deleted_after_a_day(desk: Office) -> None:
    _, visitor = customer(desk)
    _, other = customer(desk)
    page = uploaded(visitor)
    assert other.get(page).status_code == 404
    number = int(page.rpartition("/")[2])

    async def age(postgres: Postgres) -> int:
        statement = "SELECT count(*) AS count FROM {schema}.uploads WHERE id = $1"
        await Uploads(postgres).forget_old()
        row = await postgres.fetchrow(statement, number)
        assert row is not None
        return int(row["count"])

    assert desk.do(age) == 1
    kept, uploads.KEPT_FOR = uploads.KEPT_FOR, timedelta(0)
    try:
        assert visitor.get(page).status_code == 404
        assert desk.do(age) == 0
    finally:
        uploads.KEPT_FOR = kept
    assert kept == timedelta(hours=24)
