"""Downloads: what a download costs, what is in its file, and what a stop, an error or a crash leave."""

from __future__ import annotations

import csv
import html
import io
import json
import operator
import os
import random
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import httpx
import openpyxl
import pytest

from siteglass.access import lifecycle
from siteglass.access.accounts import Plan, set_plan
from siteglass.access.browsing import browser_terms, chargeable
from siteglass.corpus.lead import ContactDetail, Lead
from siteglass.leads.downloads import jobs, working
from siteglass.leads.downloads.columns import COLUMN_SETS, HUBSPOT, SALESFORCE, SITEGLASS, phone_text
from siteglass.leads.downloads.jobs import Download, Downloads, NewDownload, TooManyDownloads
from siteglass.leads.downloads.sheets import csv_cell
from siteglass.platform.postgres import Postgres
from siteglass.settings import environment_of
from siteglass.suppression.entries import add
from siteglass.suppression.values import Hasher, read_value
from testing.dashboard.explore import CRAWLED_MS
from testing.dashboard.visitors import Office, Somebody, Visitor, office

Result = TypeVar("Result")

EXPLORE = "/dashboard/explore"
FORM = f"{EXPLORE}/download?q=plumbers+in+Houston"
JOBS = "/dashboard/downloads"
COUNT, WITH_EMAIL = 230, 184
FORMULA = '=HYPERLINK("https://evil.example","Click")'
SEEDS = 40 if os.environ.get("SITEGLASS_LONG") == "1" else 4


def _seen(value: str) -> ContactDetail:
    return ContactDetail(
        value=value, owner="own", confidence=90, page=None, crawled_at_ms=None, last_seen_ms=CRAWLED_MS
    )


def plumbers() -> list[Lead]:
    """230 plumbers in Houston; every fifth has no email address, and one has a formula for a name."""
    return [
        Lead(
            domain=f"plumber-{number:03}.com",
            crawled_at_ms=CRAWLED_MS,
            business_name=FORMULA if number == 0 else f"Plumber {number:03}",
            title="Plumber in Houston",
            description="Ñandú & Söhne, “pipes”\nsince 1999" if number == 1 else "",
            emails=(f"hello@plumber-{number:03}.com",) if number % 5 != 4 else (),
            emails_detail=(_seen("hello@plumber-001.com"),) if number == 1 else (),
            phones=(f"+1-713-555-{number:04}",),
            language="en",
            country="USA",
            state="TX",
            city="Houston",
            technologies=("WordPress",),
            trades=("plumber",),
            score=90 - number // 10,
        )
        for number in range(COUNT)
    ]


def electricians() -> list[Lead]:
    """Three in Dallas, some of whom opt out."""
    return [
        Lead(
            domain=f"electrician-{number}.com",
            crawled_at_ms=CRAWLED_MS,
            emails=(f"jo@electrician-{number}.com",),
            country="USA",
            state="TX",
            city="Dallas",
            trades=("electrician",),
            score=50 - number,
        )
        for number in range(3)
    ]


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service that has leads, and its people."""
    leads = [*plumbers(), *electricians()]
    with office(f"downloads-{worker_id}", tmp_path_factory.mktemp("downloads"), leads, own_tables=True) as made:
        made.do(lambda postgres: set_plan(postgres, Plan("downloads", 10_000, 10_000), actor="tests"))
        yield made


def customer(depot: Office, lead: int = 300) -> tuple[Somebody, Visitor]:
    """Somebody of a new account with credits, who is signed in."""
    who = depot.somebody(depot.account(plan="downloads", lead=lead))
    return who, depot.visitor(who)


def text_of(answer: httpx.Response) -> str:
    """What a person reads in the page's main part, in one line."""
    main = answer.text[answer.text.index("<main") :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def form_of(answer: httpx.Response) -> dict[str, str]:
    """What the download button sends."""
    (form,) = re.findall(rf'<form method="post" action="{EXPLORE}/download".*?</form>', answer.text, re.DOTALL)
    fields = {}
    for field in re.findall("<input[^>]*>", form):
        if "radio" not in field or " checked" in field:
            name, value = (re.findall(rf'{part}="([^"]*)"', field)[0] for part in ("name", "value"))
            fields[name] = html.unescape(value)
    assert fields.pop("token")
    return fields


def start(visitor: Visitor, path: str = FORM, **changes: str) -> dict[str, str]:
    """Press the download button of a page; returns what it sent."""
    form = form_of(visitor.get(path)) | changes
    answer = visitor.post(f"{EXPLORE}/download", form)
    assert (answer.status_code, answer.headers.get("location")) == (303, JOBS), answer.text
    return form


def jobs_of(depot: Office, who: Somebody) -> list[Download]:
    """The jobs of an account, the oldest first."""
    found = depot.do(lambda postgres: Downloads(postgres).of_account(who.account_id))
    return found[::-1]


def ended(depot: Office, who: Somebody, within_s: float = 60) -> list[Download]:
    """The jobs of an account once all have ended."""
    return until(lambda: jobs_of(depot, who), lambda found: not any(job.is_open for job in found), within_s)


def until(look: Callable[[], Result], good: Callable[[Result], bool], within_s: float = 60) -> Result:
    """What somebody sees once it is good."""
    deadline = time.monotonic() + within_s
    while not good(found := look()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def charges(depot: Office, who: Somebody) -> list[int]:
    """The lead credits of each charge."""

    async def read(postgres: Postgres) -> list[int]:
        rows = await postgres.fetch(
            "SELECT -lead AS lead, actor_kind::text AS kind, actor_id FROM {schema}.ledger"
            " WHERE account_id = $1 AND kind = 'charge' ORDER BY seq",
            who.account_id,
        )
        assert {(row["kind"], row["actor_id"]) for row in rows} <= {("person", str(who.id))}
        return [row["lead"] for row in rows]

    return depot.do(read)


def file_of(visitor: Visitor, job: Download, choice: str = "") -> httpx.Response:
    answer = visitor.get(f"{JOBS}/{job.id}/file{choice}")
    assert answer.status_code == 200, answer.text
    return answer


def lines_of(answer: httpx.Response) -> list[dict[str, str]]:
    """The rows of a CSV file by their headings."""
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))


def make_job(depot: Office, who: Somebody, **changes: Any) -> None:
    """A job that no form would start, such as one for more than the account has."""
    new = NewDownload(
        who.account_id,
        who.id,
        secrets.token_hex(12),
        "search",
        "plumbers",
        '{"city": "Houston", "sort": "domain", "select": ["domain", "emails"]}',
        "csv",
        "siteglass",
        COUNT,
        WITH_EMAIL,
    )

    async def make(postgres: Postgres) -> None:
        terms = await browser_terms(postgres, who.account_id, who.id)
        await chargeable(postgres, terms.caller, who.id, "Ada")
        await Downloads(postgres).create(replace(new, **changes))

    depot.do(make)


# --- money --------------------------------------------------------------------------------------


@pytest.mark.promise("downloads.charge")
def test_a_download_costs_what_the_button_said(depot: Office) -> None:
    who, visitor = customer(depot)
    explore = visitor.get(f"{EXPLORE}?q=plumbers+in+Houston")
    assert "Download 230 …" in text_of(explore)
    page = visitor.get(FORM)
    assert "Download 230 leads · 184 credits" in text_of(page)
    assert charges(depot, who) == []
    start(visitor)
    (job,) = ended(depot, who)
    assert (job.state, job.rows, job.lead_credits, job.pages) == ("done", COUNT, WITH_EMAIL, 3)
    assert charges(depot, who) == [80, 80, 24]
    shown = text_of(visitor.get(JOBS))
    assert "plumbers in Houston Complete" in shown
    assert "230 rows · 184 lead credits charged" in shown
    assert "7 days" in shown
    ledger = text_of(visitor.get("/dashboard/ledger"))
    assert (ledger.count("search Download"), ledger.count("page Download")) == (1, 2)


@pytest.mark.promise("downloads.charge")
def test_a_part_costs_at_most_one_credit_a_lead(depot: Office) -> None:
    who, visitor = customer(depot)
    assert "Download 50 leads · at most 50 credits" in text_of(visitor.get(f"{FORM}&rows=50"))
    start(visitor, f"{FORM}&rows=50")
    (job,) = ended(depot, who)
    assert (job.rows, job.lead_credits, job.max_credits) == (50, 40, 50)
    # The next one leaves out what was received, and says so.
    page = visitor.get(FORM)
    assert "50 leads that you already received are left out." in text_of(page)
    assert "Download 180 leads · 144 credits" in text_of(page)
    start(visitor)
    _, second = ended(depot, who)
    assert (second.rows, second.lead_credits, second.left_out) == (180, 144, 50)
    assert "50 leads left out, already received" in text_of(visitor.get(JOBS))


@pytest.mark.promise("downloads.charge")
def test_the_form_sends_what_is_on_the_screen(depot: Office) -> None:
    who, visitor = customer(depot)
    # Typed and chosen, then pressed at once: the button still says what all leads cost.
    start(visitor, rows="1", format="csv", columns="hubspot")
    (job,) = ended(depot, who)
    assert (job.rows, job.wanted, job.max_credits, job.format, job.columns) == (1, 1, 1, "csv", "hubspot")
    # More than the button said: its price first.
    form = form_of(visitor.get(f"{FORM}&rows=5")) | {"rows": "7", "format": "csv"}
    answer = visitor.post(f"{EXPLORE}/download", form)
    page = visitor.get(answer.headers["location"])
    assert "Download 7 leads · at most 7 credits" in text_of(page)
    assert form_of(page)["format"] == "csv"
    assert len(jobs_of(depot, who)) == 1


@pytest.mark.promise("downloads.charge")
def test_a_form_that_is_sent_many_times_starts_one_job(depot: Office) -> None:
    who, visitor = customer(depot)
    form = form_of(visitor.get(f"{FORM}&rows=20"))
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: visitor.post(f"{EXPLORE}/download", form).status_code, range(6))
    assert set(answers) == {303}
    assert visitor.post(f"{EXPLORE}/download", form).status_code == 303
    (job,) = ended(depot, who)
    assert charges(depot, who) == [job.lead_credits] == [16]


def test_with_too_few_credits_fewer_leads_are_offered(depot: Office) -> None:
    _, visitor = customer(depot, lead=9)
    page = visitor.get(FORM)
    assert "You have 9 credits; this costs 184." in text_of(page)
    assert not re.findall(r"<button[^>]*>(?!Show the price<)[^<]*Download", page.text)
    assert "price" not in form_of(page)
    assert "Download 9 leads · at most 9 credits" in text_of(visitor.get(f"{FORM}&rows=9"))


@pytest.mark.promise("downloads.ends")
def test_credits_that_run_out_end_the_job_and_keep_what_was_paid_for(depot: Office) -> None:
    who, visitor = customer(depot, lead=100)
    make_job(depot, who)
    (job,) = ended(depot, who)
    assert (job.state, job.reason, job.rows, job.lead_credits) == ("ended", working.NO_CREDITS, 100, 80)
    assert charges(depot, who) == [80]
    shown = text_of(visitor.get(JOBS))
    assert "Ended early" in shown
    assert "The account has too few credits for the next leads. You keep the 100 rows that were paid for." in shown
    assert len(lines_of(file_of(visitor, job))) == 100


@pytest.mark.promise("downloads.ends", "downloads.charge")
def test_the_price_that_was_agreed_to_is_never_exceeded(depot: Office) -> None:
    who, _ = customer(depot)
    make_job(depot, who, max_credits=100)
    (job,) = ended(depot, who)
    assert (job.state, job.reason, job.lead_credits) == ("ended", working.NO_PRICE, 80)
    assert charges(depot, who) == [80]


@pytest.mark.promise("downloads.ends")
def test_somebody_who_may_no_longer_spend_ends_the_job(depot: Office) -> None:
    who, _ = customer(depot)
    depot.do(
        lambda postgres: postgres.fetch(
            "UPDATE {schema}.members SET role = 'viewer' WHERE person_id = $1 RETURNING 1", who.id
        )
    )
    make_job(depot, who)
    (job,) = ended(depot, who)
    assert (job.state, job.reason, job.rows) == ("ended", working.NOT_ALLOWED, 0)
    assert charges(depot, who) == []


@pytest.mark.promise("downloads.ends", "account.suspended")
def test_a_suspension_ends_the_job_after_the_page_that_is_paid_for(
    depot: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, visitor = customer(depot)
    keep = working.DownloadWorker._keep

    async def keep_and_suspend(self: working.DownloadWorker, download: Download, response: Any) -> Download:
        kept = await keep(self, download, response)
        await lifecycle.suspend(self._leads.index.postgres, who.account_id, "not paid", actor="tests")
        return kept

    monkeypatch.setattr(working.DownloadWorker, "_keep", keep_and_suspend)
    start(visitor, format="csv")
    (job,) = ended(depot, who)
    assert (job.state, job.reason, job.rows, job.lead_credits) == ("ended", working.SUSPENDED, 100, 80)
    assert charges(depot, who) == [80]
    refused = visitor.get(f"{JOBS}/{job.id}/file")
    assert refused.status_code == 403
    assert "plumber-" not in refused.text
    depot.do(lambda postgres: lifecycle.resume(postgres, who.account_id, actor="tests"))
    assert len(lines_of(file_of(visitor, job))) == 100


@pytest.mark.promise("downloads.ends")
def test_a_job_that_stood_still_for_long_is_not_resumed(depot: Office) -> None:
    who, _ = customer(depot)
    depot.do(_pause_all_jobs_of_the_past)
    make_job(depot, who)
    (job,) = ended(depot, who)
    assert job.state == "done"

    async def reopen(postgres: Postgres) -> None:
        await postgres.fetch(
            "UPDATE {schema}.downloads SET state = 'running', ended_at = NULL, leased_until = '-infinity',"
            " moved_at = clock_timestamp() - interval '21 hours', wanted = 20000 WHERE id = $1 RETURNING 1",
            job.id,
        )

    depot.do(reopen)
    (job,) = ended(depot, who)
    assert (job.state, job.reason) == ("ended", working.TOO_LONG)
    assert charges(depot, who) == [80, 80, 24]


async def _pause_all_jobs_of_the_past(postgres: Postgres) -> None:
    await postgres.fetch("DELETE FROM {schema}.downloads WHERE ended_at IS NOT NULL RETURNING 1")


@pytest.mark.promise("downloads.stop")
def test_a_stopped_job_keeps_what_was_paid_for(depot: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    who, visitor = customer(depot)
    monkeypatch.setattr(working, "MAX_LIMIT", 10)
    start(visitor)
    until(lambda: jobs_of(depot, who), lambda found: found[0].rows >= 10)
    job = jobs_of(depot, who)[0]
    assert "Stop and keep what was paid for" in text_of(visitor.get(JOBS))
    assert visitor.post(f"{JOBS}/{job.id}/stop").status_code == 303
    (job,) = ended(depot, who)
    assert job.state == "stopped"
    assert 10 <= job.rows < COUNT
    assert sum(charges(depot, who)) == job.lead_credits
    assert len(lines_of(file_of(visitor, job, "?format=csv"))) == job.rows


@pytest.mark.promise("downloads.stop")
def test_a_job_that_was_stopped_after_a_crash_keeps_the_page_that_was_paid(depot: Office) -> None:
    who, visitor = customer(depot)
    make_job(depot, who)
    (job,) = ended(depot, who)

    async def crash(postgres: Postgres) -> None:
        # As after a crash between the charge of the last page and its storage, and a press on Stop.
        await postgres.fetch(
            "DELETE FROM {schema}.download_pages WHERE download_id = $1 AND page = 2 RETURNING 1", job.id
        )
        await postgres.fetch(
            "UPDATE {schema}.downloads SET state = 'running', ended_at = NULL, stop_wanted = true, pages = 2,"
            " rows = 200, lead_credits = 160, leased_until = '-infinity' WHERE id = $1 RETURNING 1",
            job.id,
        )

    owner = Postgres(depot.settings.postgres_owner_dsn, depot.settings.postgres_schema, max_connections=1)
    depot.do(lambda _: crash(owner))
    depot.do(lambda _: owner.close())
    (job,) = ended(depot, who)
    assert (job.rows, job.lead_credits, sum(charges(depot, who))) == (COUNT, WITH_EMAIL, WITH_EMAIL)
    assert len(lines_of(file_of(visitor, job))) == COUNT


@pytest.mark.promise("downloads.charge")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_people_press_the_ledger_says_at_most_what_the_buttons_said(
    depot: Office, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Random downloads with double clicks, stops, and purchases on the Explore page in between."""
    pick = random.Random(seed)
    monkeypatch.setattr(working, "MAX_LIMIT", pick.choice((10, 40, 100)))
    who, visitor = customer(depot, lead=pick.choice((40, 150, 400)))
    said = 0
    forms: list[dict[str, str]] = []
    for _ in range(4):
        page = visitor.get(f"{FORM}&rows={pick.choice((5, 30, 120, 230))}{pick.choice(('', '&paid=1'))}")
        if "price" in (form := form_of(page)):
            forms.append(form)
        if forms and pick.random() < 0.8:
            form = pick.choice(forms)  # perhaps an old one, or one that was sent before
            said += 0 if form.get("sent") else int(form["price"])
            for _ in range(pick.choice((1, 2))):
                sent = {name: value for name, value in form.items() if name != "sent"}
                assert visitor.post(f"{EXPLORE}/download", sent).status_code == 303
            form["sent"] = "yes"
        if pick.random() < 0.3:
            for job in jobs_of(depot, who):
                visitor.post(f"{JOBS}/{job.id}/stop")
    found = ended(depot, who)
    assert all(job.lead_credits <= job.max_credits for job in found)
    assert sum(charges(depot, who)) == sum(job.lead_credits for job in found) <= said


@pytest.mark.promise("downloads.resume")
def test_a_killed_worker_costs_nothing_twice_and_the_file_is_complete(
    depot: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers are killed in the middle of a job, one after the other; the service finishes it."""
    who, visitor = customer(depot)

    async def no_job(_downloads: Downloads) -> None:
        return None

    async def end_lease(postgres: Postgres) -> None:
        # As if its time had passed: the test need not wait for it.
        await postgres.fetch("UPDATE {schema}.downloads SET leased_until = '-infinity' WHERE ended_at IS NULL")

    monkeypatch.setattr(Downloads, "claim", no_job)  # of the service in this process
    make_job(depot, who)
    for pages in (1, 2, 3):
        # Each with its own claims in Redis, which last as long as a request: the ledger alone says what was charged.
        settings = replace(depot.settings, redis_prefix=f"{depot.settings.redis_prefix}-{pages}")
        worker = subprocess.Popen(
            [sys.executable, "-m", "testing.dashboard.download_worker"], env={**os.environ, **environment_of(settings)}
        )
        try:
            until(lambda: jobs_of(depot, who)[0].pages, partial(operator.le, pages), within_s=120)
        finally:
            worker.kill()
            worker.wait()
        depot.do(end_lease)
    monkeypatch.undo()
    (job,) = ended(depot, who)
    assert (job.state, job.rows, job.lead_credits) == ("done", COUNT, WITH_EMAIL)
    assert charges(depot, who) == [80, 80, 24]
    lines = lines_of(file_of(visitor, job, "?format=csv"))
    assert sorted(line["domain"] for line in lines) == sorted(lead.domain for lead in plumbers())


# --- files --------------------------------------------------------------------------------------


def bought(depot: Office, rows: int = COUNT) -> tuple[Visitor, Download]:
    """A finished download of these plumbers."""
    who, visitor = customer(depot)
    start(visitor, f"{FORM}&rows={rows}")
    (job,) = ended(depot, who)
    return visitor, job


@pytest.mark.promise("downloads.files")
def test_the_file_has_every_lead_with_its_fields(depot: Office) -> None:
    visitor, job = bought(depot)
    answer = file_of(visitor, job, "?format=csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="siteglass-plumbers-in-houston-' in answer.headers["content-disposition"]
    lines = {line["domain"]: line for line in lines_of(answer)}
    assert len(lines) == COUNT
    assert list(lines["plumber-001.com"]) == SITEGLASS.headings
    line = lines["plumber-001.com"]
    assert line["email"] == "hello@plumber-001.com"
    assert line["phone"] == "+1 713 555 0001"
    assert (line["email_last_seen"], line["phone_last_seen"]) == ("2026-09-21T14:13:20Z", "")
    assert line["description"] == "Ñandú & Söhne, “pipes”\nsince 1999"
    assert (line["trades"], line["seo_score"], line["load_time_ms"]) == ("Plumber", "90", "")
    assert lines["plumber-004.com"]["email"] == ""
    assert lines["plumber-000.com"]["business_name"] == f"'{FORMULA}"


@pytest.mark.promise("downloads.files")
def test_a_workbook_has_the_same_rows_and_no_formula(depot: Office) -> None:
    visitor, job = bought(depot)
    assert job.format == "xlsx"
    answer = file_of(visitor, job)
    assert answer.content[:2] == b"PK"
    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    rows = list(book["Leads"].iter_rows())
    assert len(rows) == COUNT + 1
    assert [cell.value for cell in rows[0]] == SITEGLASS.headings
    assert {cell.data_type for row in rows for cell in row} <= {"s", "n"}
    by_domain = {row[0].value: [cell.value for cell in row] for row in rows[1:]}
    place = SITEGLASS.headings.index
    assert by_domain["plumber-000.com"][place("business_name")] == FORMULA
    assert by_domain["plumber-001.com"][place("phone")] == "+1 713 555 0001"
    assert by_domain["plumber-001.com"][place("seo_score")] == 90


@pytest.mark.promise("downloads.files")
def test_templates_have_the_domain_as_key_and_empty_cells_for_what_is_unknown(depot: Office) -> None:
    visitor, job = bought(depot, 30)
    hubspot = file_of(visitor, job, "?format=csv&columns=hubspot")
    line = {line["Company Domain Name"]: line for line in lines_of(hubspot)}["plumber-004.com"]
    assert list(line) == HUBSPOT.headings
    assert (line["State/Region"], line["Country/Region"]) == ("Texas", "United States")
    assert (line["Email"], line["Description"], line["LinkedIn Company Page"]) == ("", "", "")
    salesforce = file_of(visitor, job, "?format=csv&columns=salesforce")
    assert salesforce.content.startswith(b"Domain,Company,Last Name,")
    line = {line["Domain"]: line for line in lines_of(salesforce)}["plumber-003.com"]
    assert list(line) == SALESFORCE.headings
    assert (line["Company"], line["Last Name"], line["Phone"]) == ("Plumber 003", "[not provided]", "+1 713 555 0003")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("＝1", "'＝1"),
        ("+1 (713) 555 0100; +49 30 123", "+1 (713) 555 0100; +49 30 123"),
        ("+1 713 555 0100 =A1", "'+1 713 555 0100 =A1"),
        ("a=b", "a=b"),
        (7, 7),
    ],
)
@pytest.mark.promise("downloads.files")
def test_no_cell_is_a_formula_and_phones_stay_usable(value: str | int, written: str | int) -> None:
    assert csv_cell(value) == written


def test_a_phone_number_is_not_an_expression() -> None:
    assert phone_text("+1-512-555-0100") == "+1 512 555 0100"
    assert phone_text("+49 (0)30/1234.56") == "+49 (0)30 1234 56"
    assert csv_cell(phone_text("+49 (0)30/1234.56")) == "+49 (0)30 1234 56"


@pytest.mark.promise("downloads.opt_out")
def test_a_lead_that_opted_out_is_in_no_file(depot: Office) -> None:
    who, visitor = customer(depot)
    start(visitor, f"{EXPLORE}/download?q=electricians+in+Dallas")
    (job,) = ended(depot, who)
    assert [line["email"] for line in lines_of(file_of(visitor, job, "?format=csv"))] == [
        f"jo@electrician-{number}.com" for number in range(3)
    ]
    hasher = Hasher(depot.settings)
    gone = [hasher.pair(read_value(text)) for text in ("electrician-0.com", "jo@electrician-1.com")]
    depot.do(lambda postgres: add(postgres, gone, reason="opt-out", actor="tests"))
    lines = lines_of(file_of(visitor, job, "?format=csv"))
    assert [(line["domain"], line["email"]) for line in lines] == [
        ("electrician-1.com", ""),
        ("electrician-2.com", "jo@electrician-2.com"),
    ]
    assert b"electrician-0.com" not in file_of(visitor, job, "?format=csv").content


# --- jobs ---------------------------------------------------------------------------------------


def test_paid_leads_are_on_the_list_of_downloaded_ones(depot: Office) -> None:
    visitor, job = bought(depot, 30)
    assert job.rows == 30
    rows = depot.do(
        lambda postgres: postgres.fetch(
            "SELECT d.domain FROM {schema}.lists l JOIN {schema}.list_domains d ON d.list_id = l.id"
            " WHERE l.account_id = $1 AND l.name = 'downloaded' ORDER BY d.domain",
            job.account_id,
        )
    )
    assert [row["domain"] for row in rows] == sorted(
        line["domain"] for line in lines_of(file_of(visitor, job, "?format=csv"))
    )


def test_an_account_has_one_job_at_a_time_and_keeps_twenty(depot: Office) -> None:
    who, visitor = customer(depot, lead=0)
    for _ in range(jobs.MAX_KEPT):
        make_job(depot, who, max_credits=0)
    with pytest.raises(TooManyDownloads):
        make_job(depot, who)
    seen: list[int] = []

    def look() -> list[Download]:
        found = jobs_of(depot, who)
        seen.append(sum(job.state == "running" for job in found))
        return found

    until(look, lambda found: not any(job.is_open for job in found))
    assert max(seen) <= 1
    rich, rich_visitor = customer(depot)
    form = form_of(rich_visitor.get(FORM))
    for _ in range(jobs.MAX_KEPT):
        make_job(depot, rich, max_credits=0)
    ended(depot, rich)
    refused = rich_visitor.post(f"{EXPLORE}/download", form)
    assert refused.status_code == 409
    assert "delete one under Downloads" in text_of(refused)
    job = jobs_of(depot, rich)[0]
    assert rich_visitor.post(f"{JOBS}/{job.id}/delete").status_code == 303
    assert rich_visitor.post(f"{EXPLORE}/download", form).status_code == 303
    assert visitor.get(f"{JOBS}/{job.id}/file").status_code == 404
    ended(depot, rich)


def test_files_are_deleted_after_seven_days(depot: Office) -> None:
    who, visitor = customer(depot)
    start(visitor, f"{FORM}&rows=5")
    (job,) = ended(depot, who)

    async def age(postgres: Postgres) -> None:
        statement = "UPDATE {schema}.downloads SET ended_at = ended_at - $2::interval WHERE id = $1"
        await postgres.fetch(statement, job.id, jobs.KEPT_FOR)
        await Downloads(postgres).forget_old()

    depot.do(age)
    assert jobs_of(depot, who) == []
    assert visitor.get(f"{JOBS}/{job.id}/file").status_code == 404


def test_a_viewer_can_save_files_and_start_nothing(depot: Office) -> None:
    visitor, job = bought(depot, 10)
    viewer = depot.visitor(depot.somebody(job.account_id, "viewer"))
    assert len(lines_of(file_of(viewer, job, "?format=csv"))) == 10
    assert viewer.get(FORM).status_code == 403
    form = form_of(visitor.get(FORM))
    assert viewer.post(f"{EXPLORE}/download", form).status_code == 403
    assert viewer.post(f"{JOBS}/{job.id}/delete").status_code == 403


@pytest.mark.parametrize(
    "change",
    [
        {"rows": "20001"},
        {"rows": "0"},
        {"price": "x"},
        {"format": "pdf"},
        {"columns": "x"},
        {"body": "[]"},
        {"form": "1"},
    ],
    ids=str,
)
def test_forms_that_cannot_be_read_start_nothing(depot: Office, change: dict[str, str]) -> None:
    who, visitor = customer(depot)
    refused = visitor.post(f"{EXPLORE}/download", form_of(visitor.get(FORM)) | change)
    assert refused.status_code == 422
    assert "Nothing was charged" in text_of(refused)
    assert jobs_of(depot, who) == []


def test_a_form_with_other_fields_or_as_a_dry_run_gives_the_same_file(depot: Office) -> None:
    who, visitor = customer(depot)
    form = form_of(visitor.get(f"{FORM}&rows=3"))
    changed = {**json.loads(form["body"]), "dry_run": True, "select": ["emails"], "limit": 1}
    assert visitor.post(f"{EXPLORE}/download", form | {"body": json.dumps(changed)}).status_code == 303
    (job,) = ended(depot, who)
    assert (job.state, job.rows, charges(depot, who)) == ("done", 3, [job.lead_credits])
    assert all(line["domain"] for line in lines_of(file_of(visitor, job, "?format=csv")))


def test_every_set_of_columns_has_different_headings() -> None:
    for chosen in COLUMN_SETS.values():
        assert len(set(chosen.headings)) == len(chosen.headings)
