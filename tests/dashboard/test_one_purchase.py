"""A lead is paid for once: on screen, in a file and on a list, by whoever of the account gets it.

SITEGLASS_LONG=1 compares 200 random sequences of three people with the ledger instead of 2.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

import pytest

from siteglass.access.accounts import Plan, set_plan
from siteglass.access.browsing import browser_terms, chargeable
from siteglass.access.keys import Caller
from siteglass.billing import credits
from siteglass.billing.credits import Bill, Billing, ChargedOperation, Mark, Receipt, read_domains
from siteglass.corpus.lead import Lead
from siteglass.platform.postgres import Postgres
from siteglass.settings import SettingsError
from testing.accounts import open_key
from testing.dashboard.visitors import Office, Somebody, Visitor, office
from tests.dashboard.test_downloads import FORM, JOBS, charges, ended, form_of, lines_of, plumbers, start, text_of
from tests.dashboard.test_explore import form_of as buy_form_of
from tests.dashboard.test_uploads import form_of as upload_form_of
from tests.dashboard.test_uploads import upload

EXPLORE = "/dashboard/explore"
# The service reads the files of an account one after the other, and asks people to wait; what they buy may coincide.
ONE_FILE_AT_A_TIME = Lock()
PLUMBERS = f"{EXPLORE}?q=plumbers+in+Houston"
SEQUENCES, STEPS = (200, 8) if os.environ.get("SITEGLASS_LONG") == "1" else (2, 6)
LEADS = plumbers()[:60]
BY_DOMAIN = {lead.domain: lead for lead in LEADS}
HAVE_ADDRESS = {lead.domain for lead in LEADS if lead.emails}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service that has leads, and its people."""
    with office(f"once-{worker_id}", tmp_path_factory.mktemp("once"), LEADS, own_tables=True) as made:
        terms = Plan("once", 10_000, 10_000, preview="named", preview_leads_per_day=10_000)
        made.do(lambda postgres: set_plan(postgres, terms, actor="tests"))
        yield made


def customer(shop: Office, lead: int = 300) -> tuple[Somebody, Visitor]:
    who = shop.somebody(shop.account(plan="once", api=100, lead=lead))
    return who, shop.visitor(who)


def get_leads(visitor: Visitor, path: str) -> str:
    """Press the button of a page, if it has one; the page that it leads to."""
    page = visitor.get(path)
    if "explore/buy" not in page.text:
        return page.text
    answer = visitor.post(f"{EXPLORE}/buy", buy_form_of(page))
    assert answer.status_code in (303, 402, 409), answer.text  # the price of a moment ago may be too low by now
    return visitor.get(answer.headers["location"]).text if answer.status_code == 303 else ""


def enrich(visitor: Visitor, domains: list[str]) -> int:
    """Upload a file of domains and press the button; its status."""
    with ONE_FILE_AT_A_TIME:
        page = upload(visitor, "\n".join(["domain", *domains]).encode()).headers["location"]
    form = upload_form_of(visitor.get(page), "enrich")
    return visitor.post(f"{page}/enrich", form).status_code


def ledger_of(shop: Office, account: int) -> list[dict[str, Any]]:
    """The charges of an account with their domains, the oldest first."""

    async def read(postgres: Postgres) -> list[dict[str, Any]]:
        rows = await postgres.fetch(
            "SELECT seq, operation::text AS operation, -lead AS lead, domains FROM {schema}.ledger"
            " WHERE account_id = $1 AND kind = 'charge' ORDER BY seq",
            account,
        )
        return [dict(row) for row in rows]

    return shop.do(read)


# --- the same leads on every way -----------------------------------------------------------------


@pytest.mark.promise("explore.once")
def test_fifty_leads_on_screen_in_a_file_and_on_a_list_are_charged_once(shop: Office) -> None:
    who, visitor = customer(shop)
    shown = get_leads(visitor, f"{PLUMBERS}&n=50")
    assert "40 credits charged. These leads stay free for 30 days" in " ".join(re.sub("<[^>]+>", " ", shown).split())
    # In a file: those that were received, whatever else the search would find.
    page = visitor.get(f"{FORM}&only=received")
    assert "Download 50 leads · free" in text_of(page)
    start(visitor, f"{FORM}&only=received")
    (file,) = ended(shop, who)
    assert (file.state, file.rows, file.lead_credits) == ("done", 50, 0)
    domains = [line["domain"] for line in lines_of(visitor.get(f"{JOBS}/{file.id}/file?format=csv"))]
    # As an upload, whose leads without an address would cost a credit, and as a list.
    uploaded = upload(visitor, "\n".join(["domain", *domains]).encode()).headers["location"]
    assert "Enrich 50 companies · 0 lead credits and 1 API credit" in text_of(visitor.get(uploaded))
    assert visitor.post(f"{uploaded}/enrich", upload_form_of(visitor.get(uploaded), "enrich")).status_code == 303
    assert [job.lead_credits for job in ended(shop, who)] == [0, 0]
    assert visitor.post(f"{uploaded}/keep", {"list": "fifty"}).status_code == 303
    assert "50" in text_of(visitor.get("/dashboard/lists/fifty"))
    assert charges(shop, who) == [40, 0, 0]
    assert sum(row["lead"] for row in ledger_of(shop, who.account_id)) == 40
    # The page of another search has none of them, and costs what the others cost.
    following = visitor.get(f"{PLUMBERS}&n=100")
    assert "10 leads · 50 already received, left out" in text_of(following)
    assert buy_form_of(following)["price"] == "8"
    assert not [domain for domain in domains if domain in following.text]


class Actions:
    """What people do at random."""

    def __init__(self, shop: Office, people: list[Visitor], seed: int) -> None:
        self._people = people
        self._pick = random.Random(seed)
        self._shop = shop
        self.forms = 0
        """Download forms that were sent, however often."""

    def step(self, who: Somebody) -> None:
        """One to three people do something at the same time."""
        actions = (self._get, self._tick, self._download, self._download, self._upload, self._list, self._look)
        chosen = self._pick.sample(self._people, self._pick.randint(1, 3))
        # Chosen before the threads start, so that a seed gives the same choices again.
        prepared = [
            partial(self._pick.choice(actions), visitor, self._path(), self._pick.sample(LEADS, 8))
            for visitor in chosen
        ]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda action: action(), prepared))
        jobs = ended(self._shop, who)
        assert sum(job.kind == "search" for job in jobs) <= self.forms, "a form started two files"

    def _path(self) -> str:
        more = self._pick.choice(("", "", "&received=1", "&sort=score", "&only=ticked", "&exclude=ticked"))
        return f"q=plumbers+in+Houston&n={self._pick.choice((3, 10, 20))}{more}"

    def _get(self, visitor: Visitor, path: str, _leads: list[Lead]) -> None:
        get_leads(visitor, f"{EXPLORE}?{path}")

    def _tick(self, visitor: Visitor, path: str, leads: list[Lead]) -> None:
        self._act(visitor, path, "get" if len(leads[0].domain) % 2 else "download")

    def _list(self, visitor: Visitor, path: str, _leads: list[Lead]) -> None:
        self._act(visitor, path, "list")

    def _act(self, visitor: Visitor, path: str, action: str) -> None:
        page = visitor.get(f"{EXPLORE}?{path}")
        if boxes := re.findall(r'name="lead" value="([^"]+)" data-cost="(\d)"', page.text)[::2]:
            price = str(sum(int(cost) for _, cost in boxes))
            leads = [domain for domain, _ in boxes]
            form: dict[str, str | list[str]] = {"lead": leads, "price": price, "back": EXPLORE, "do": action}
            answer = visitor.post(f"{EXPLORE}/chosen", form | {"list": "ticked", "format": "csv"})
            assert answer.status_code in ((303,) if action == "list" else (303, 402, 409)), answer.text
            if action == "download" and answer.status_code == 303:
                assert {line["domain"] for line in lines_of(visitor.get(answer.headers["location"]))} == {*leads}

    def _download(self, visitor: Visitor, path: str, leads: list[Lead]) -> None:
        page = visitor.get(f"{EXPLORE}/download?{path}&rows={len(leads)}")
        if 'name="price"' in page.text:
            self.forms += 1
            # Then back, and another file format.
            for format_ in ("xlsx", "csv"):
                form = form_of(page) | {"format": format_}
                assert visitor.post(f"{EXPLORE}/download", form).status_code in (303, 409)

    def _upload(self, visitor: Visitor, _path: str, leads: list[Lead]) -> None:
        assert enrich(visitor, ["nobody.invalid", *(lead.domain for lead in leads)]) in (303, 409)

    def _look(self, visitor: Visitor, path: str, leads: list[Lead]) -> None:
        for page in (f"{EXPLORE}?{path}", f"/dashboard/leads/{leads[0].domain}", "/dashboard/lists/received"):
            assert visitor.get(page).status_code == 200
        assert visitor.get(f"{EXPLORE}?{path}&part=facets", {"HX-Request": "true"}).status_code == 200


@dataclass
class Books:
    """What an account owes, by what it was given: a few lines that know nothing of marks and lists."""

    free: set[str] = field(default_factory=set)
    """Received less than 30 days ago."""
    received: set[str] = field(default_factory=set)
    charged: int = 0

    def owes(self, operation: str, given: set[str]) -> set[str]:
        """The leads among these that take a credit each: those with an address, and whatever an upload found."""
        owed = {domain for domain in given if operation == "enrich" or domain in HAVE_ADDRESS} - self.free
        self.free |= given
        self.received |= given
        self.charged += len(owed)
        return owed


@pytest.mark.promise("explore.once")
@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_whatever_three_people_do_each_lead_is_charged_once(shop: Office, seed: int) -> None:
    who, first = customer(shop)
    people = [first, *(shop.visitor(shop.somebody(who.account_id, "member")) for _ in range(2))]
    assert first.post("/dashboard/lists", {"name": "ticked", "domains": "nobody.example"}).status_code == 303
    actions, books, read = Actions(shop, people, seed), Books(), 0
    for step in range(STEPS):
        if step == STEPS // 2 and seed % 2:
            shop.days_pass(who.account_id, 31)
            shop.forget_responses(who.account_id)
            books.free.clear()
        actions.step(who)
        rows = ledger_of(shop, who.account_id)
        for row in rows[read:]:
            marks = dict(read_domains(row["domains"]))
            given = {domain for domain, mark in marks.items() if mark is not Mark.NOT_FOUND}
            assert given == marks.keys() & BY_DOMAIN.keys()
            owed = books.owes(row["operation"], given)
            assert {domain for domain, mark in marks.items() if mark is Mark.CHARGED} == owed
            assert row["lead"] == len(owed)
        read = len(rows)
        following = first.get(f"{PLUMBERS}&n=100&sort=-spending").text
        assert not [domain for domain in books.received if f">{domain}<" in following]
    left = shop.do(lambda postgres: Billing(postgres).balance(who.account_id)).lead
    assert left == 300 - books.charged


@pytest.mark.promise("explore.once")
def test_back_and_another_format_is_the_same_file(shop: Office) -> None:
    who, visitor = customer(shop)
    form = form_of(visitor.get(f"{FORM}&rows=5")) | {"format": "csv"}
    for press in ({}, {"format": "xlsx"}, {"columns": "hubspot"}):
        assert visitor.post(f"{EXPLORE}/download", form | press).headers["location"] == JOBS
    (job,) = ended(shop, who)
    assert (job.rows, job.lead_credits, job.format, job.columns) == (5, 3, "csv", "hubspot")
    # Fewer leads than the form said are another file, whose price comes first.
    page = visitor.get(visitor.post(f"{EXPLORE}/download", form | {"rows": "3"}).headers["location"])
    assert "Download 3 leads · at most 3 credits" in text_of(page)
    assert [job.columns for job in ended(shop, who)] == ["hubspot"]
    assert charges(shop, who) == [3]


# --- what counts as received ---------------------------------------------------------------------


class Till:
    """Charges of one account, by a person and by a key."""

    def __init__(self, shop: Office) -> None:
        self.shop = shop
        self.who, _ = customer(shop)
        self.person: Caller = shop.do(self._person)
        self.key: Caller = shop.do(lambda postgres: open_key(postgres, self.who.account_id))[0]

    async def _person(self, postgres: Postgres) -> Caller:
        terms = await browser_terms(postgres, self.who.account_id, self.who.id)
        return await chargeable(postgres, terms.caller, self.who.id, "Ada")

    def pay(self, caller: Caller, *marks: str, without_address: tuple[str, ...] = ()) -> int:
        """Charge for domains such as "c a.example"; the lead credits that were taken, and quoted before."""
        operation: ChargedOperation = "enrich" if without_address else "search"
        domains = [(text[2:], Mark(text[0])) for text in marks]
        bill = Bill(operation, 0, domains, without_address=frozenset(without_address))

        async def run(postgres: Postgres) -> tuple[Receipt, Receipt | None]:
            billing = Billing(postgres, 10_000)
            quoted = await billing.quote(caller, bill)
            return quoted, await billing.charge(caller, secrets.token_hex(8), bill)

        quoted, receipt = self.shop.do(run)
        assert receipt is not None
        assert quoted.lead == receipt.lead
        return receipt.lead

    def refund(self, seq: int) -> None:
        reference = secrets.token_hex(8)
        self.shop.do(
            lambda postgres: credits.refund(
                postgres, self.who.account_id, seq, None, None, "tests", reference, "a test"
            )
        )


@pytest.mark.promise("explore.once")
def test_only_people_get_free_what_anybody_received(shop: Office) -> None:
    till = Till(shop)
    assert till.pay(till.key, "c a.example") == 1
    assert till.pay(till.person, "c a.example", "c b.example") == 1
    assert till.pay(till.key, "c a.example", "c b.example") == 2
    assert till.pay(till.person, "c a.example", "c b.example", "u c.example") == 0
    assert till.pay(till.person, "c c.example") == 1, "not found is not received"


@pytest.mark.promise("explore.once")
def test_thirty_days_count_from_the_charge_and_free_repeats_do_not_extend_them(shop: Office) -> None:
    till = Till(shop)
    assert till.pay(till.person, "c a.example") == 1
    shop.days_pass(till.who.account_id, 29)
    assert till.pay(till.person, "c a.example") == 0
    shop.days_pass(till.who.account_id, 2)
    assert till.pay(till.person, "c a.example") == 1
    assert till.pay(till.person, "c a.example") == 0


@pytest.mark.parametrize("days", [0, -1, 36_501])
def test_leads_stay_free_for_a_day_at_least(shop: Office, days: int) -> None:
    """Otherwise people would never see what they paid for."""
    with pytest.raises(SettingsError, match="SITEGLASS_RECEIVED_FREE_DAYS: expected 1 to 36500 days"):
        shop.do(lambda postgres: Billing(postgres, received_free_days=days).close())


@pytest.mark.promise("explore.once")
def test_a_lead_that_gained_an_address_since_is_charged(shop: Office) -> None:
    till = Till(shop)
    assert till.pay(till.person, "n a.example") == 0
    assert till.pay(till.person, "c a.example", without_address=("a.example",)) == 0
    assert till.pay(till.person, "c a.example") == 1
    # An enrichment charges what is found, with an address or without, and pays for the lead.
    assert till.pay(till.person, "c b.example", without_address=("b.example",)) == 1
    assert till.pay(till.person, "c b.example", without_address=("b.example",)) == 0
    assert till.pay(till.person, "c b.example") == 0


@pytest.mark.promise("explore.once")
def test_what_was_refunded_does_not_count(shop: Office) -> None:
    till = Till(shop)
    till.pay(till.person, "c a.example", "n b.example")
    assert till.pay(till.person, "c a.example") == 0
    seq = ledger_of(shop, till.who.account_id)[0]["seq"]
    till.refund(seq)
    visitor = shop.visitor(till.who)
    listed = visitor.get("/dashboard/lists/received/domains.txt").text.split()
    assert listed == ["b.example"]
    assert till.pay(till.person, "c a.example", "c b.example", without_address=("b.example",)) == 1
    assert visitor.get("/dashboard/lists/received/domains.txt").text.split() == ["a.example", "b.example"]


@pytest.mark.promise("explore.once")
def test_fifty_at_once_pay_for_a_lead_once(shop: Office) -> None:
    till = Till(shop)

    async def run(postgres: Postgres) -> list[int]:
        billing = Billing(postgres, 10_000)
        bill = Bill("search", 0, [(f"{name}.example", Mark.CHARGED) for name in "abcde"])
        callers = [till.person if number % 2 else till.key for number in range(50)]
        receipts = await asyncio.gather(*(billing.charge(one, secrets.token_hex(8), bill) for one in callers))
        return [receipt.lead if receipt else -1 for receipt in receipts]

    taken = till.shop.do(run)
    assert sorted(taken[::2]) == [5] * 25
    assert set(taken[1::2]) == {0}, "a key paid first"


# --- the page of bought leads --------------------------------------------------------------------


@pytest.mark.promise("explore.bought")
def test_a_page_of_bought_leads_is_built_from_the_ledger_once_its_response_is_gone(shop: Office) -> None:
    who, visitor = customer(shop)
    form = buy_form_of(visitor.get(f"{PLUMBERS}&n=10"))
    path = visitor.post(f"{EXPLORE}/buy", form).headers["location"]
    before = visitor.get(path)
    addresses = re.findall('mailto:([^"]+)', before.text)
    assert len(addresses) == 8
    shop.forget_responses(who.account_id)
    later = visitor.get(path)
    assert re.findall('mailto:([^"]+)', later.text) == addresses
    assert "8 credits charged." in text_of(later)
    assert "Next leads" in text_of(later)
    # A colleague sees it, another account does not.
    colleague = shop.visitor(shop.somebody(who.account_id, "viewer"))
    assert re.findall('mailto:([^"]+)', colleague.get(path).text) == addresses
    _, stranger = customer(shop)
    assert "mailto:" not in stranger.get(path).text
    assert [row["lead"] for row in ledger_of(shop, who.account_id)] == [8]
    # The same form a day later buys what is on its page now, and nothing again.
    assert visitor.post(f"{EXPLORE}/buy", form).status_code == 303
    assert [row["lead"] for row in ledger_of(shop, who.account_id)] == [8, 8]
