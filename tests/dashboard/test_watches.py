"""Watches in the dashboard, and their mails: what they say, to whom, once, and how people stop them."""

from __future__ import annotations

import html
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from siteglass import app
from siteglass.corpus.lead import Lead
from siteglass.leads.downloads.jobs import MAX_KEPT
from siteglass.leads.watches.delivering import Deliveries
from siteglass.leads.watches.runs import Runs
from siteglass.platform.mailer import MailDeferred
from testing.api_calls import answered
from testing.customers import Bank, Customer
from testing.dashboard.actions import words
from testing.dashboard.visitors import Office, Visitor, link_in, office
from testing.service import add

WATCH = "/v1/watches/german"
OLD = [Lead(domain="old.com", crawled_at_ms=1_790_000_000_000, emails=("a@old.com",), country="DEU")]


def new_lead(number: int, **facts: Any) -> Lead:
    """A lead that is added later, with the number that the lead store would give it."""
    lead = Lead(
        domain=f"new-{number}.com",
        crawled_at_ms=1_790_000_000_000,
        business_name=f"New <b>{number}</b>",
        emails=(f"a@new-{number}.com",),
        country="DEU",
        city="Köln",
        trades=("dentist",),
        technologies=("Wix",),
        score=90 - number,
        lead_no=100 + number,
    )
    return msgspec.structs.replace(lead, **facts)


@dataclass(frozen=True)
class Scene:
    """A service with a dashboard that runs watches and mails as soon as they are due."""

    office: Office
    bank: Bank
    folder: Path

    def add(self, *leads: Lead) -> None:
        add(self.office.settings, list(leads), self.folder)

    def run_again(self, customer: Customer) -> None:
        """The next run, once the one before it has ended."""
        before = self.runs(customer)
        self.set("watches", "next_run_at = 'epoch'")
        deadline = time.monotonic() + 30
        while self.runs(customer) == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def runs(self, customer: Customer) -> int:
        return len(answered(customer.client.get(f"{WATCH}/runs"))["runs"])

    def wait_for(self, query: str) -> None:
        """Return once it has a row."""
        deadline = time.monotonic() + 30
        while not self.bank.do(self.bank.postgres.fetch(query)):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def set(self, table: str, values: str) -> None:
        self.bank.do(self.bank.postgres.fetch(f"UPDATE {{schema}}.{table} SET {values}"))


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder, prefix = tmp_path_factory.mktemp("watches"), f"watch-pages-{secrets.token_hex(4)}"
    with pytest.MonkeyPatch.context() as fast:
        fast.setattr(app, "RUN_WATCHES_EVERY_S", 0.05)
        fast.setattr(app, "DELIVER_EVERY_S", 0.05)
        with office(prefix, folder, OLD, own_tables=True) as opened:
            bank = Bank(opened.settings, opened.url)
            yield Scene(opened, bank, folder)
            bank.close()


def as_shown(visitor: Visitor, path: str) -> dict[str, str]:
    """What the form remembers of the watch that it shows."""
    return dict(re.findall(r'name="(was_\w+)" value="([^"]*)"', visitor.get(path).text))


async def no_run(_runs: Runs) -> None:
    """In place of taking an open run."""


def parts(mail: EmailMessage) -> tuple[str, str]:
    """Text and HTML."""
    text, markup = (part.get_content() for part in mail.iter_parts())
    return text, markup


@pytest.mark.promise("watch.mail")
def test_new_leads_are_mailed_once_until_somebody_unsubscribes(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox = scene.office.outbox
    account = scene.office.account("Acme & Co", plan=scene.bank.plan(10_000, 10_000, preview_leads_per_day=2), lead=10)
    ada, bob = (scene.office.somebody(account) for _ in range(2))
    customer = scene.bank.another(account)
    answered(customer.post("/v1/searches", {"name": "german", "search": {"country": "DEU"}, "shared": True}))
    answered(customer.post("/v1/watches", {"search": "german", "mail_to": [ada.email, bob.email]}))
    scene.add(new_lead(9, country="FRA"))
    while not scene.runs(customer):
        time.sleep(0.05)
    scene.add(*(new_lead(number) for number in range(1, 5)))

    # The worker is killed after a mail was sent and before that is noted, then after the next one.
    noted, deaths = Runs.note_mailed, iter(("before", "after", "no more"))

    async def die(runs: Runs, *given: Any) -> None:
        moment = next(deaths)
        if moment != "before":
            await noted(runs, *given)
        if moment != "no more":
            raise SystemError("killed")

    monkeypatch.setattr(Runs, "note_mailed", die)
    with customer.untouched():
        scene.run_again(customer)
        for count, to in ((1, ada), (2, ada), (1, bob)):
            outbox.wait(to.email, count)
            assert len(outbox.mails(bob.email)) == (to is bob)
            time.sleep(0.3)
            scene.set("watch_runs", "leased_until = '-infinity' WHERE delivered_at IS NULL")
        time.sleep(0.3)
    first, second = outbox.mails(ada.email)
    (other,) = outbox.mails(bob.email)
    assert first["Message-ID"] == second["Message-ID"] != other["Message-ID"]
    text, markup = parts(first)
    assert first["Subject"] == "4 new leads: german"
    assert text.startswith(
        "4 new leads match the saved search german.\n\n"
        "New <b>1</b> · new-1.com\n  Dentist, Köln, Germany · Wix · 1 email\n\n"
        "New <b>2</b> · new-2.com\n  Dentist, Köln, Germany · Wix · 1 email\n\n"
        "2 more are not shown here.\n\nSee exactly these leads in Explore:\n\n"
    )
    assert "found 5 leads in all.\n" in text
    assert "New &lt;b&gt;1&lt;/b&gt;" in markup
    assert "account Acme &amp; Co names" in markup
    assert not any("a@new" in part or "new-3" in part for part in (text, markup))
    page = scene.office.visitor(ada).get(link_in(text))
    assert {*re.findall(r"new-\d", page.text)} == {"new-1", "new-2"}
    assert "4 leads" in words(page)

    link = first["List-Unsubscribe"].strip("<>")
    assert (first["List-Unsubscribe-Post"], link in text, link in markup) == ("List-Unsubscribe=One-Click", True, True)
    asked = httpx.get(link, trust_env=False)
    assert (asked.status_code, "the watch german finds" in words(asked)) == (200, True)
    assert answered(customer.client.get(WATCH))["mail_to"] == sorted((ada.email, bob.email))
    stopped = httpx.post(link, files={"List-Unsubscribe": (None, "One-Click")}, trust_env=False)
    assert (stopped.status_code, "No more emails" in stopped.text) == (200, True)
    assert answered(customer.client.get(WATCH))["mail_to"] == [bob.email]
    assert httpx.post(link[:-1], trust_env=False).status_code == 404
    scene.add(new_lead(5))
    scene.run_again(customer)
    assert outbox.wait(bob.email, 2)[1]["Subject"] == "1 new lead: german"
    scene.run_again(customer)
    time.sleep(0.3)
    assert (len(outbox.mails(ada.email)), len(outbox.mails(bob.email))) == (2, 2)


@pytest.mark.promise("watch.page")
def test_a_search_is_watched_paused_and_removed_on_its_page(scene: Scene) -> None:
    account = scene.office.account(plan=scene.bank.plan(10_000, 10_000))
    ada, viewer = scene.office.somebody(account), scene.office.somebody(account, "viewer")
    page, other = scene.office.visitor(ada), scene.office.visitor(viewer)
    searches, path = "/dashboard/searches", "/dashboard/searches/italy/watch"
    page.post("/dashboard/explore?add=@country(Italy)&received=1", {"name": "italy", "shared": "1"})
    assert f'href="{path}"' in page.get(searches).text
    opened = page.get(path)
    assert "reports the leads that no earlier run found" in words(opened)
    assert f'value="{ada.email}"' in opened.text
    fields = {"every": "week", "weekday": "friday", "hour": "7", "time_zone": "Asia/Tokyo", "mail_to": ada.email}
    wrong = page.post(path, {**fields, "mail_to": "stranger@people.test", "hour": "9"})
    assert (wrong.status_code, "is not the address of a person in this account" in words(wrong)) == (422, True)
    assert '<option value="9" selected>09:00</option>' in wrong.text
    assert other.post(path, fields).status_code == 403
    assert page.post(path, fields).headers["location"] == f"{path}?done=watch-set"

    def shows(text: str) -> str:
        """The page, once it says so."""
        deadline = time.monotonic() + 30
        while text not in (said := words(page.get(path))):
            assert time.monotonic() < deadline, said
            time.sleep(0.05)
        return said

    said = shows("First run: from here on, leads are new 0")
    assert re.search(r"The next run is on \d+ \w+ \d+, 22:00 UTC", said)
    scene.add(*(new_lead(number, country="ITA") for number in (11, 12)), new_lead(13))
    scene.set("watches", "next_run_at = 'epoch'")
    shows("2 new leads 2")
    (run,) = re.findall(r'href="(/dashboard/explore\?[^"]+)">2 new leads', page.get(path).text)
    assert {*re.findall(r"new-\d+", other.get(html.unescape(run)).text)} == {"new-11", "new-12"}
    assert scene.office.outbox.wait(ada.email, 1)[0]["Subject"] == "2 new leads: italy"
    for visitor in (page, other):
        assert "2 +2 leads opened just now Every week ran just now" in words(visitor.get(searches))
    page.post(path, {**fields, "every": "day", "paused": "1"})
    assert "Paused. After a pause" in words(page.get(path))
    assert "Paused ran just now" in words(page.get(searches))

    # Two people change it at once: each changes only what they changed on their form.
    first, second = as_shown(page, path), as_shown(page, path)
    changed = {"every": "day", "paused": "1", "mail_to": viewer.email, "max_lead_credits": "5"}
    page.post(path, {**fields, **first, **changed})
    page.post(path, {**fields, **second, "every": "day", "paused": "1", "hour": "6", "max_lead_credits": ""})
    text = page.get(path).text
    assert f'value="{viewer.email}"' in text
    assert '<option value="6" selected>' in text
    assert re.search('name="max_lead_credits"[^>]* value="5"', text)
    assert other.post(f"{path}/remove").status_code == 403
    assert page.post(f"{path}/remove").headers["location"] == f"{searches}?done=watch-removed"
    assert "Watch this search" in words(page.get(path))
    assert scene.office.visitor(scene.office.somebody()).get(path).status_code == 404


@pytest.mark.promise("watch.buys")
def test_a_run_buys_up_to_its_ceiling_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    account = scene.office.account(plan=scene.bank.plan(10_000, 10_000), lead=10)
    ada, page = (who := scene.office.somebody(account)), scene.office.visitor(who)
    customer, path = scene.bank.another(account), "/dashboard/searches/spain/watch"
    search = {"country": "ESP", "exclude_generic_emails": True, "exclude_lists": ["received"]}
    answered(customer.post("/v1/searches", {"name": "spain", "search": search, "shared": True}))
    fields = {"every": "day", "weekday": "monday", "hour": "7", "time_zone": "UTC"}
    fields |= {"mail_to": ada.email, "add_to_list": "bought"}
    assert page.post(path, {**fields, "max_lead_credits": "20001"}).status_code == 422
    said = page.post(path, {**fields, "max_lead_credits": "2"})
    assert said.status_code == 303, words(said)
    while "First run" not in words(page.get(path)):
        time.sleep(0.05)
    # Files of people leave room for those of watches.
    files = """
        INSERT INTO {schema}.downloads (account_id, person_id, form_key, kind, title, request, format, columns, wanted,
            max_credits, state, ended_at)
        SELECT $1, $2, 'the key of form ' || n, 'search', '', '{}', 'csv', 'siteglass', 1, 1, 'done', now()
        FROM generate_series(1, $3) n
    """
    scene.bank.do(scene.bank.postgres.fetch(files, account, who.id, MAX_KEPT))
    for number in (21, 22, 23):
        addresses = (f"info@new-{number}.com", f"eve@new-{number}.com")
        scene.add(new_lead(number, country="ESP", emails=addresses, emails_personal=addresses[1:]))

    # A worker is killed after it has started the purchase, and after it has noted that.
    noted, deaths = Runs.note_mailed, iter(("before", "after"))

    async def die(runs: Runs, *given: Any) -> None:
        moment = next(deaths, "no more")
        if moment != "before":
            await noted(runs, *given)
        if moment != "no more":
            raise SystemError("killed")

    monkeypatch.setattr(Runs, "note_mailed", die)
    scene.set("watches", "next_run_at = 'epoch'")
    deadline = time.monotonic() + 60
    while not (mails := scene.office.outbox.mails(ada.email)):
        assert time.monotonic() < deadline
        scene.set("watch_runs", "leased_until = '-infinity' WHERE delivered_at IS NULL")
        time.sleep(0.2)
    text, _ = parts(mails[-1])
    assert mails[0]["Subject"] == "3 new leads: spain"
    assert "\n\n2 of them were bought for 2 lead credits; see Files. They are on the list bought.\n\n" in text
    assert (customer.balance()[1], page.get("/dashboard/downloads").text.count("spain: new on")) == (8, 1)
    listed = answered(customer.client.get("/v1/lists/bought/domains"))["domains"]
    assert listed == ["new-21.com", "new-22.com"]
    (file,) = re.findall(r'href="(/dashboard/downloads/\d+/file)"', page.get("/dashboard/downloads").text)
    bought = page.get(file).text
    assert ("eve@new-21.com" in bought, "info@new-21.com" in bought) == (True, False)


@pytest.mark.promise("watch.buys")
def test_what_was_not_bought_is_not_bought_later(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    account = scene.office.account(plan=scene.bank.plan(10_000, 10_000), lead=10)
    page, customer = scene.office.visitor(who := scene.office.somebody(account)), scene.bank.another(account)
    search, path = {"country": "PRT"}, "/dashboard/searches/german/watch"
    answered(customer.post("/v1/searches", {"name": "german", "search": search, "shared": True}))
    fields = {"every": "day", "weekday": "monday", "hour": "7", "time_zone": "UTC", "mail_to": who.email}
    fields["max_lead_credits"] = "1"
    assert page.post(path, fields).status_code == 303
    while not scene.runs(customer):
        time.sleep(0.05)
    scene.add(new_lead(31, country="PRT"))
    send, deferrals = Deliveries._send, iter([MailDeferred])

    async def defer_once(*given: Any) -> None:
        for deferral in deferrals:
            raise deferral
        await send(*given)

    monkeypatch.setattr(Deliveries, "_send", staticmethod(defer_once))
    with monkeypatch.context() as held, customer.untouched():
        held.setattr(Runs, "claim_open", no_run)
        scene.run_again(customer)
        page.post(path, {**fields, "paused": "1"})
        held.undo()
        scene.wait_for("SELECT 1 FROM {schema}.watch_runs WHERE mailed <> '{}' AND delivered_at IS NULL")
        time.sleep(0.3)
        page.post(path, fields)
        scene.set("watch_runs", "leased_until = '-infinity' WHERE delivered_at IS NULL")
        (mail,) = scene.office.outbox.wait(who.email, 1)
        time.sleep(0.3)
    assert "Nothing was bought: the watch is paused." in parts(mail)[0]
    # A lead without an address takes no place under the ceiling.
    scene.add(new_lead(30, country="PRT", emails=(), score=99), new_lead(32, country="PRT"))
    scene.run_again(customer)
    mail = scene.office.outbox.wait(who.email, 2)[1]
    assert "1 of them were bought for 1 lead credits" in parts(mail)[0]
    # Only the buyer lets it buy again after a pause, or more often: not a key, nor another person.
    assert answered(customer.post(WATCH, {"every": "week"}))["max_lead_credits"] == 1
    assert answered(customer.post(WATCH, {"every": "day"}))["max_lead_credits"] is None
    page.post(path, {**fields, "paused": "1"})
    other = scene.office.visitor(scene.office.somebody(account))
    resumed = other.post(path, {**fields, **as_shown(other, path)}).headers["location"]
    assert "buys nothing until" in words(other.get(resumed))
    assert answered(customer.client.get(WATCH))["max_lead_credits"] is None
