"""The page of one lead without a browser: what it shows of contacts, what it never shows, and what it charges."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.access.accounts import Preview
from siteglass.billing.credits import Billing
from siteglass.leads import reports
from siteglass.privacy import opt_out
from siteglass.suppression.values import read_value
from testing.accounts import drop_schema
from testing.dashboard.lead import ALDER, EVE, IMPORTED, QUIET, dental_leads, write_sightings
from testing.dashboard.visitors import Office, Visitor, office
from testing.service import RUN_PREFIX, run
from tests.dashboard.test_explore import DENTISTS, charges, customer, form_of, link, text_of
from tests.suppression.world import command

CONTACTS = [value for lead in dental_leads() for value in (*lead.emails, *lead.phones)]


@pytest.fixture(scope="module")
def dentists(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service whose leads have evidence, and its people."""
    folder = tmp_path_factory.mktemp("lead")
    with office(f"lead-{worker_id}", folder, dental_leads(), lead_store=folder) as made:
        write_sightings(folder)
        yield made


def path_of(domain: str) -> str:
    return f"/dashboard/leads/{domain}"


def get_lead(visitor: Visitor, domain: str, price: str = "1") -> httpx.Response:
    """Press the button of a lead that is not open."""
    return visitor.post(f"{path_of(domain)}/buy", {"price": price})


def shown_contacts(answer: httpx.Response) -> list[str]:
    return [value for value in CONTACTS if value in answer.text]


@pytest.mark.promise("explore.lead")
def test_contacts_with_owner_source_and_date_in_words(dentists: Office) -> None:
    account, visitor = customer(dentists)
    assert get_lead(visitor, ALDER).headers["location"] == path_of(ALDER)
    answer = visitor.get(path_of(ALDER))
    shown = text_of(answer)
    assert "Alder Dental Dentist · Austin, TX · alderdental.com Paid" in shown
    assert (
        "dr.alder@alderdental.com Personal · own domain Seen on alderdental.com/team , text, 21 Sep 2026"
        " 1 more page alderdental.com/imprint , disguised text, 18 Sep 2026 Copy" in shown
    )
    assert (
        "info@alderdental.com Role address · own domain First seen 9 Aug 2026 , last seen 21 Sep 2026"
        " Seen on alderdental.com/contact , link, 21 Sep" in shown
    )
    assert (
        "alder.dental@gmail.com Personal · free mail Last seen 21 Sep 2026"
        " Seen on alderdental.com/imprint , text, 21 Sep" in shown
    )
    assert "+1 512 555 0112 Phone · of the business Seen on alderdental.com/contact , link, 21 Sep" in shown
    assert (
        "1 address hidden: it belongs to the web designer. 2 numbers hidden: they belong to authorities. Why?" in shown
    )
    assert "Trade Dentist read in the page title" in shown
    assert "SEO score 44 of 100: not mobile-friendly, no meta description, slow (2.3 s)" in shown
    assert "Ad tags: Google Ads, Facebook Pixel. Rough estimate 1,000–4,999 USD a month" in shown
    assert (
        "Technologies WordPress comes with WooCommerce on /, 21 Sep 2026"
        " Google Ads script with gtag('config', 'AW- on /, 21 Sep 2026 Facebook Pixel jQuery"
        " WooCommerce linked file /wp-content/plugins/woocommerce/a.css on /, 21 Sep 2026"
        " Google Analytics script from google-analytics.com on /, 21 Sep 2026" in shown
    )
    assert charges(dentists, account) == [(1, "person", "search")]


@pytest.mark.promise("explore.lead")
def test_without_evidence_the_page_says_so(dentists: Office) -> None:
    _, visitor = customer(dentists)
    get_lead(visitor, IMPORTED)
    shown = text_of(visitor.get(path_of(IMPORTED)))
    assert "hello@imported-dental.com Role address · own domain No source: imported by the operator, record of" in shown
    assert "No ad tags found" not in shown  # nothing is known of them
    assert "hidden:" not in shown


@pytest.mark.promise("explore.lead")
@pytest.mark.parametrize(
    ("preview", "name", "facts"), [("off", False, False), ("masked", False, True), ("named", True, True)]
)
def test_before_it_is_paid_for_the_page_is_a_preview(
    dentists: Office, preview: Preview, name: bool, facts: bool
) -> None:
    account, visitor = customer(dentists, preview=preview)
    answer = visitor.get(path_of(ALDER))
    assert "Get this lead · 1 credit" in text_of(answer)
    assert ("Alder Dental" in answer.text) is name
    assert ("3 emails · 1 phone" in text_of(answer)) is facts
    assert ("Austin, TX" in answer.text) is facts
    assert shown_contacts(answer) == []
    assert "facebook.com" not in answer.text
    assert charges(dentists, account) == []


@pytest.mark.promise("explore.preview_cap")
def test_opening_leads_counts_as_a_preview(dentists: Office) -> None:
    _, visitor = customer(dentists, per_day=1)
    assert "3 emails" in text_of(visitor.get(path_of(ALDER)))
    other = text_of(visitor.get(path_of(EVE)))
    assert "This lead is not shown before you get it: your account sees at most 1 new leads a day" in other
    assert "2 emails" not in other
    assert "3 emails" in text_of(visitor.get(path_of(ALDER)))


@pytest.mark.promise("explore.lead")
def test_the_button_charges_once_and_never_more_than_it_said(dentists: Office) -> None:
    account, visitor = customer(dentists)
    refused = get_lead(visitor, ALDER, price="0")
    assert (refused.status_code, charges(dentists, account)) == (402, [])
    with ThreadPoolExecutor(4) as pool:
        codes = set(pool.map(lambda _: get_lead(visitor, ALDER).status_code, range(4)))
    assert codes <= {303, 409}
    assert charges(dentists, account) == [(1, "person", "search")]
    for _ in range(2):
        assert shown_contacts(visitor.get(path_of(ALDER))) != []
    assert charges(dentists, account) == [(1, "person", "search")]


@pytest.mark.promise("explore.lead")
def test_a_lead_without_an_address_is_free(dentists: Office) -> None:
    account, visitor = customer(dentists)
    source = "Source: imported from dentists.csv on 2026-09-21, by the operator, 21 Sep 2026"
    assert f"+1 512 555 0112 Phone {source}" in text_of(visitor.get(path_of(QUIET)))
    assert charges(dentists, account) == []


@pytest.mark.promise("explore.lead")
def test_the_rows_of_a_bought_page_open_their_leads(dentists: Office) -> None:
    account, visitor = customer(dentists)
    visitor.post("/dashboard/explore/buy", form_of(visitor.get(DENTISTS)))
    bought = visitor.get(DENTISTS)
    for name, value in (("Alder Dental", "info@alderdental.com"), ("Quiet Dental", "+1 512 555 0112")):
        assert value in visitor.get(link(bought, name)).text
    assert charges(dentists, account) == [(3, "person", "search")]
    # Nobody else can use the address.
    _, stranger = customer(dentists)
    assert shown_contacts(stranger.get(link(bought, "Alder Dental"))) == []


@pytest.mark.promise("explore.lead")
def test_a_month_later_showing_it_again_has_a_price(dentists: Office) -> None:
    account, visitor = customer(dentists)
    visitor.post("/dashboard/explore/buy", form_of(visitor.get(DENTISTS)))
    included = visitor.get(f"{DENTISTS}&received=1&n=50")
    assert text_of(included).count("Paid") == 3
    assert "hello@imported-dental.com" in included.text
    dentists.days_pass(account, 31)
    included = visitor.get(f"{DENTISTS}&received=1&n=50")
    assert text_of(included).count("Paid") == 3
    assert [value for value in shown_contacts(included) if "@" in value] == []
    answer = visitor.get(link(included, "Alder Dental"))
    assert "Showing its contacts again has a price." in text_of(answer)
    assert "Show contacts · 1 credit" in text_of(answer)
    assert "SEO score 44 of 100" in text_of(answer)
    assert (shown_contacts(answer), "facebook.com" in answer.text) == ([], False)
    get_lead(visitor, ALDER)
    assert "info@alderdental.com" in visitor.get(path_of(ALDER)).text
    assert charges(dentists, account) == [(3, "person", "search"), (1, "person", "search")]


def test_with_too_few_credits_there_is_no_button(dentists: Office) -> None:
    account, visitor = customer(dentists, lead=0)
    page = visitor.get(path_of(ALDER))
    assert "You have 0 credits; this lead costs 1." in text_of(page)
    assert '/buy"' not in page.text
    assert get_lead(visitor, ALDER).status_code == 402
    assert charges(dentists, account) == []


@pytest.mark.promise("explore.roles")
def test_a_viewer_cannot_get_a_lead(dentists: Office) -> None:
    account, owner = customer(dentists)
    viewer = dentists.visitor(dentists.somebody(account, "viewer"))
    assert "Your role is viewer" in text_of(viewer.get(path_of(ALDER)))
    assert get_lead(viewer, ALDER).status_code == 403
    get_lead(owner, ALDER)
    assert "info@alderdental.com" in viewer.get(path_of(ALDER)).text
    assert charges(dentists, account) == [(1, "person", "search")]


@pytest.mark.parametrize("domain", ["nobody.example", "x", "%00", "a@b.example", "x" * 300])
def test_a_domain_without_a_lead(dentists: Office, domain: str) -> None:
    _, visitor = customer(dentists)
    for answer in (visitor.get(path_of(domain)), get_lead(visitor, domain)):
        assert answer.status_code == 404
        assert "No lead for this domain" in text_of(answer)


# --- reports ------------------------------------------------------------------------------------


def send_report(
    visitor: Visitor, domain: str, value: str, reason: str = "not_theirs", comment: str = ""
) -> httpx.Response:
    """What the form of a contact sends."""
    kind = "email" if "@" in value else "phone"
    form = {"kind": kind, "value": value, "reason": reason, "comment": comment}
    return visitor.post(f"{path_of(domain)}/report", form)


def stored_reports(dentists: Office, account: int) -> list[dict[str, Any]]:
    rows = dentists.do(
        lambda postgres: postgres.fetch("SELECT * FROM {schema}.reports WHERE account_id = $1 ORDER BY id", account)
    )
    return [dict(row) for row in rows]


def listed_reports(dentists: Office, account: int) -> list[str]:
    """What the command prints, without number and time."""
    lines = command(dentists.settings, "report", "list", "--account", str(account)).stdout.splitlines()
    return [line.partition(" UTC  ")[2] for line in lines]


@pytest.mark.promise("explore.reports")
def test_a_wrong_value_is_reported_once_and_shown_to_operators(dentists: Office) -> None:
    account, visitor = customer(dentists)
    get_lead(visitor, ALDER)
    comment = " It's the nephew's,\n call 512 555 0199 or nephew@gmail.com "
    sent = send_report(visitor, ALDER, "info@alderdental.com", "wrong_person", comment)
    assert sent.headers["location"] == f"{path_of(ALDER)}?done=reported"
    shown = text_of(visitor.get(sent.headers["location"]))
    assert "Thank you. We recorded your report." in shown
    assert "link, 21 Sep 2026 Copy Reported" in shown
    again = send_report(visitor, ALDER, "info@alderdental.com", "other")
    assert again.headers["location"] == f"{path_of(ALDER)}?done=report-known"
    send_report(visitor, ALDER, "+1 512 555 0112", "does_not_work")
    (first, second) = stored_reports(dentists, account)
    assert (first["domain"], first["field"], first["reason"]) == (ALDER, "email", "wrong_person")
    assert first["comment"] == "It's the nephew's, call or"
    person = first["person_id"]
    assert listed_reports(dentists, account) == [
        f"account {account}  person {person}  {ALDER}  info@alderdental.com  wrong person"
        "  \"It's the nephew's, call or\"",
        f"account {account}  person {person}  {ALDER}  +1 512 555 0112  does not work",
    ]
    assert "alderdental" not in repr([first["value"], first["comment"], second["value"], second["comment"]])
    assert f"reported a wrong value Report {first['id']}" in text_of(visitor.get("/dashboard/audit"))
    # A colleague can report the same value; nothing is charged for it.
    colleague = dentists.visitor(dentists.somebody(account, "member"))
    assert send_report(colleague, ALDER, "info@alderdental.com").headers["location"].endswith("done=reported")
    assert charges(dentists, account) == [(1, "person", "search")]


@pytest.mark.promise("explore.reports")
def test_only_values_that_the_account_sees_can_be_reported(dentists: Office) -> None:
    account, visitor = customer(dentists)
    assert send_report(visitor, ALDER, "info@alderdental.com").status_code == 404
    get_lead(visitor, ALDER)
    viewer = dentists.visitor(dentists.somebody(account, "viewer"))
    refusals = [
        (visitor, "somebody@else.example", "other", "", 404),
        (visitor, "info@alderdental.com", "nonsense", "", 422),
        (visitor, "info@alderdental.com", "other", "x" * 301, 422),
        (viewer, "info@alderdental.com", "other", "", 403),
    ]
    for who, value, reason, comment, status in refusals:
        assert send_report(who, ALDER, value, reason, comment).status_code == status
    assert "Report" not in text_of(viewer.get(path_of(ALDER)))
    assert stored_reports(dentists, account) == []


@pytest.mark.promise("explore.reports")
def test_an_account_reports_a_limited_number_of_values_per_day(
    dentists: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MAX_PER_DAY", 2)
    account, visitor = customer(dentists)
    get_lead(visitor, ALDER)
    emails = dental_leads()[0].emails
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda email: send_report(visitor, ALDER, email).status_code, emails))
    assert sorted(answers) == [303, 303, 429]
    assert len(stored_reports(dentists, account)) == 2


@pytest.mark.promise("report.resolved")
def test_a_report_is_resolved_with_its_effects(dentists: Office) -> None:
    account, visitor = customer(dentists)
    get_lead(visitor, ALDER)
    for value in ("+1 512 555 0112", "info@alderdental.com"):
        send_report(visitor, ALDER, value)
    first, second = (str(row["id"]) for row in stored_reports(dentists, account))
    before = _lead_credits(dentists, account)

    def resolve(*words: str, code: int = 0) -> str:
        done = command(dentists.settings, "report", "resolve", *words, code=code)
        return done.stdout + done.stderr

    assert "The value is hidden, on 2 leads." in resolve(first, "hide")
    assert "does not show the value any more" in resolve(first, "hide")
    answer = visitor.get(path_of(ALDER))
    assert "555 0112" not in answer.text
    assert "info@alderdental.com" in answer.text
    assert "One lead credit of ledger row 2 was refunded." in resolve(first, "refund")
    assert _lead_credits(dentists, account) == before + 1
    # The other report is about the same lead, which cost one credit; repeating changes nothing.
    for number in (first, second):
        assert f"The credit for {ALDER} in ledger row 2 was refunded before." in resolve(number, "refund")
    assert _lead_credits(dentists, account) == before + 1
    assert "No reports." in command(dentists.settings, "report", "list", "--account", str(account)).stdout
    every = command(dentists.settings, "report", "list", "--account", str(account), "--all").stdout
    assert "(phone that is no longer shown)  not theirs  hide  refund\n" in every
    assert f"resolved a report Report {first}" in text_of(visitor.get("/dashboard/audit"))
    assert "There is no report" in resolve("999999999", "dismiss", code=2)
    command(dentists.settings, "credits", "verify", str(account))


@pytest.mark.promise("report.resolved", "explore.once")
def test_a_refunded_lead_is_charged_and_shown_again(dentists: Office) -> None:
    account, visitor = customer(dentists)
    for times in (1, 2, 3):
        assert get_lead(visitor, ALDER).status_code == 303
        assert get_lead(visitor, ALDER).status_code == 303
        assert charges(dentists, account) == [(1, "person", "search")] * times
        assert "info@alderdental.com" in visitor.get(path_of(ALDER)).text
        refund = ("credits", "refund", str(account), str(2 * times), "--lead", "1", "--reason", "a test")
        command(dentists.settings, *refund)
        assert "info@alderdental.com" not in visitor.get(path_of(ALDER)).text


@pytest.mark.promise("report.resolved")
def test_a_reported_site_is_fetched_again(dentists: Office) -> None:
    account, visitor = customer(dentists)
    get_lead(visitor, ALDER)
    send_report(visitor, ALDER, "info@alderdental.com")
    (report,) = stored_reports(dentists, account)
    crawler = replace(dentists.settings, crawl_schema=f"{RUN_PREFIX}_r{account}")
    try:
        done = command(crawler, "report", "resolve", str(report["id"]), "refetch")
        assert f"{ALDER} is due to be fetched." in done.stdout
        status = command(crawler, "crawl", "status").stdout
        assert "1 domains, 0 of them visited." in status
        assert "1 are due now" in status
    finally:
        asyncio.run(drop_schema(crawler.crawl_dsn, crawler.crawl_schema))


@pytest.mark.promise("report.resolved")
def test_a_report_stays_open_until_all_its_effects_are_done(dentists: Office) -> None:
    account, visitor = customer(dentists)
    get_lead(visitor, ALDER)
    send_report(visitor, ALDER, "info@alderdental.com")
    number = str(stored_reports(dentists, account)[0]["id"])
    before = _lead_credits(dentists, account)
    crawler = replace(dentists.settings, crawl_schema=f"{RUN_PREFIX}_r{account}")
    away = replace(crawler, crawl_dsn=crawler.crawl_dsn.partition("@")[0] + "@127.0.0.1:9/nowhere")
    try:
        failed = command(away, "report", "resolve", number, "refetch", "refund", code=2).stderr
        assert f"Report {number} stays open, because refetch failed: " in failed
        assert "Done before: One lead credit of ledger row 2 was refunded. Resolve it again" in failed
        assert len(listed_reports(dentists, account)) == 1
        done = command(crawler, "report", "resolve", number, "refetch", "refund").stdout
        assert f"The credit for {ALDER} in ledger row 2 was refunded before.\n{ALDER} is due to be fetched." in done
    finally:
        asyncio.run(drop_schema(crawler.crawl_dsn, crawler.crawl_schema))
    assert _lead_credits(dentists, account) == before + 1
    assert listed_reports(dentists, account) == [""]
    # What is refused is refused before anything is hidden.
    get_lead(visitor, ALDER)
    command(dentists.settings, "credits", "refund", str(account), "4", "--reason", "a test")
    refused = command(dentists.settings, "report", "resolve", number, "hide", "refund", code=2).stderr
    assert "stays open" not in refused
    get_lead(visitor, ALDER)
    assert "info@alderdental.com" in visitor.get(path_of(ALDER)).text


def _lead_credits(dentists: Office, account: int) -> int:
    return dentists.do(lambda postgres: Billing(postgres).balance(account)).lead


@pytest.mark.promise("explore.lead", "explore.reports")
def test_what_opted_out_is_never_shown(dentists: Office) -> None:
    """Last in this file: nothing brings the address back."""
    account, visitor = customer(dentists)
    get_lead(visitor, EVE)
    assert "eve@eve-dental.com" in visitor.get(path_of(EVE)).text
    send_report(visitor, EVE, "eve@eve-dental.com", "not_theirs", "eve [at] eve-dental (dot) com left")
    assert "eve@eve-dental.com" in listed_reports(dentists, account)[0]
    value = read_value("eve@eve-dental.com")
    run(dentists.settings, lambda index: opt_out.suppress(index, [value], reason="asked", actor="tests"))
    answer = visitor.get(path_of(EVE))
    assert "eve@eve-dental.com" not in answer.text
    assert "info@eve-dental.com" in answer.text
    (listed,) = listed_reports(dentists, account)
    assert listed.endswith(f"{EVE}  (email that is no longer shown)  not theirs  'left'")
    assert b"eve@" not in repr(stored_reports(dentists, account)).encode()
    domain = read_value(EVE)
    run(dentists.settings, lambda index: opt_out.suppress(index, [domain], reason="asked", actor="tests"))
    gone = visitor.get(path_of(EVE))
    assert gone.status_code == 404
    assert "eve-dental" not in text_of(gone)
    assert get_lead(visitor, EVE).status_code == 404
    assert charges(dentists, account) == [(1, "person", "search")]
