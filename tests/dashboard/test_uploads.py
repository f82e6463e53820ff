"""Files of domains that people upload: how they are read, and what comes of them."""

from __future__ import annotations

import csv
import html
import io
import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import httpx
import openpyxl
import pytest

from siteglass.access.accounts import Plan, set_plan
from siteglass.corpus.tables import TableError
from siteglass.leads.downloads import uploads
from siteglass.leads.downloads.jobs import Download
from siteglass.leads.downloads.uploads import Uploads, read_table, unpack
from siteglass.platform.postgres import Postgres
from testing.dashboard.explore import explore_leads
from testing.dashboard.visitors import Office, Somebody, Visitor, office
from tests.dashboard.test_downloads import charges, ended, file_of, text_of

UPLOADS, JOBS = "/dashboard/downloads/uploads", "/dashboard/downloads"
CRM = (
    "id;Firma;Webseite;Notiz\r\n"
    "1;Alder;https://www.alder-dental-austin.com/contact;-5\r\n"
    '2;Bluebonnet;BLUEBONNET-dental-austin.com;"a; ""b"""\r\n'
    "3;Nobody;nobody-knows-this.com;ä\r\n"
    "4;No website;;\r\n"
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


def zip_bomb() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", b" " * (uploads.LIMITS.unpacked_bytes + 1))
    return content.getvalue()


def entity_bomb() -> bytes:
    """A workbook whose sheet says a word a billion times, in a few lines."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    cells = '<worksheet><sheetData><row><c t="str"><v>&e9;</v></c></row></sheetData></worksheet>'
    sheet = f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{cells}'
    given, content = io.BytesIO(workbook(("a.com",))), io.BytesIO()
    with zipfile.ZipFile(given) as source, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in source.infolist():
            changed = sheet.encode() if part.filename.endswith("sheet1.xml") else source.read(part)
            archive.writestr(part.filename, changed)
    return content.getvalue()


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
        (zip_bomb(), "The workbook is too large"),
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
    before = list(csv.reader(io.StringIO(CRM, newline=""), delimiter=";"))
    assert [row[:4] for row in rows] == before
    assert rows[0][4:7] == ["sg_status", "sg_found_domain", "sg_title"]
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
    large = upload(visitor, b"a.com\n" * (uploads.MAX_FILE_BYTES // 6 + 1))
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
