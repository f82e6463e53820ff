"""The five tasks that salespeople try first, from sign-in to contacts, done by what the page says, as a person does.

Each takes at most six clicks and a minute. The test prints a table of what each took.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect

from siteglass.access.accounts import Plan, set_plan
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass_demo.leads import COMPANIES
from testing.dashboard.visitors import Office, Somebody, cheaper_hashes, office
from tests.browser.accounts import stranger
from tests.browser.driving import Browse, shoot
from tests.browser.explorers import WIDE

MAX_CLICKS, MAX_SECONDS = 6, 60.0
MIN_LEADS = 12
LEADS: dict[str, Lead] = {lead.domain: lead for _, group in read_parquet(COMPANIES) for lead in group}


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody wants, the chips that say so, and what must be true of a row."""

    name: str
    words: str
    chips: tuple[str, ...]
    place: str
    """Part of the place of every lead, as a pattern."""


TASKS = (
    Task(
        "dentists",
        "dentists in Austin without online booking",
        ("City: Austin", "Trade: Dentist", "not Software: Booking calendar"),
        r"Austin, TX",
    ),
    Task(
        "shops",
        "Shopify stores in Germany, Austria and Switzerland that spend over 5k and load slowly",
        ("Country: Austria, Switzerland or Germany", "Uses: Shopify", "Load time: more than 3,000 ms"),
        r"Germany|Austria|Switzerland",
    ),
    Task(
        "agencies",
        "agencies in London on WordPress with LinkedIn",
        ("City: London", "Uses: WordPress", "Kind of business: Agency", "With a LinkedIn page"),
        r"London, United Kingdom",
    ),
    Task(
        "roofers",
        "roofers in Florida with bad SEO",
        ("State: Florida", "Trade: Roofer", "SEO score: less than 50"),
        r"FL",
    ),
    Task("hotels", "hotels in Italy without a booking system", ("Country: Italy", "Trade: Hotel"), "Italy"),
)


@dataclass(slots=True)
class Person:
    """Somebody who reads, types and clicks; clicks and seconds are counted."""

    page: Page
    clicks: int = 0
    started: float = field(default_factory=time.monotonic)

    def click(self, name: str | re.Pattern[str]) -> None:
        """Press the button of this name, as it is visible."""
        self.page.get_by_role("button", name=name, exact=isinstance(name, str)).click()
        self.clicks += 1

    def type(self, label: str, text: str) -> None:
        """Write into a field; the pointer stays where it is, since the keyboard gets there by itself or with Tab."""
        self.page.get_by_label(label).fill(text)

    def read(self) -> str:
        """What the page says."""
        return " ".join(self.page.get_by_role("main").inner_text().split())

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """The service with the companies of the demo."""
    folder = tmp_path_factory.mktemp("tasks")
    with cheaper_hashes(), office(f"five-tasks-{worker_id}", folder, list(LEADS.values())) as made:
        plan = Plan("tasks", 10_000, 10_000, preview="named")
        made.do(lambda postgres: set_plan(postgres, plan, actor="tests"))
        yield made


@pytest.fixture(scope="module")
def took() -> Iterator[list[tuple[str, int, float, int]]]:
    """Task, clicks, seconds and leads of each; printed at the end."""
    rows: list[tuple[str, int, float, int]] = []
    yield rows
    print("\n| task | clicks | seconds | leads with an address |\n| --- | --- | --- | --- |")
    for name, clicks, seconds, leads in rows:
        print(f"| {name} | {clicks} | {seconds:.1f} | {leads} |")


@pytest.mark.promise("explore.tasks")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_from_sign_in_to_leads_with_contacts(
    demo: Office, browse: Browse, took: list[tuple[str, int, float, int]], task: Task
) -> None:
    who = demo.somebody(demo.account(plan="tasks", lead=100), "member", "Tom Okafor")
    person = _sign_in(demo, browse, who)
    person.type("Describe the leads you want", task.words)
    person.click("Search")
    price = person.page.get_by_role("button", name=re.compile(r"^Get contacts for \d+ leads · \d+ credits$"))
    expect(price).to_be_visible()
    conditions = person.page.get_by_role("list", name="Conditions")
    for chip in task.chips:
        expect(conditions).to_contain_text(chip)
    if task.name == "shops":
        _keep_picture(person, f"task-{task.name}")
    person.click(re.compile(r"^Get contacts for \d+ leads · \d+ credits$"))
    expect(person.page.get_by_role("status").first).to_contain_text("credits charged")
    rows = person.page.get_by_role("row").all()[1:]
    seconds = person.seconds
    if task.name == "hotels":
        shoot(person.page, f"task-{task.name}", whole=False)
    found = [_read_row(row.inner_text()) for row in rows]
    with_address = [lead for lead, text in found if lead.emails and all(email in text for email in lead.emails[:3])]
    took.append((task.name, person.clicks, seconds, len(with_address)))
    assert all(re.search(task.place, text) for _, text in found)
    assert len(with_address) >= MIN_LEADS
    assert person.clicks <= MAX_CLICKS
    assert seconds <= MAX_SECONDS


def _keep_picture(person: Person, name: str) -> None:
    """A picture waits for the filters; somebody in a hurry does not, so that time is not counted."""
    seconds = person.seconds
    expect(person.page.get_by_text("With email").first).to_be_visible()
    shoot(person.page, name, whole=False)
    person.started = time.monotonic() - seconds


def _sign_in(demo: Office, browse: Browse, who: Somebody) -> Person:
    page = stranger(browse, demo, WIDE)
    page.goto("/dashboard")
    person = Person(page)
    person.type("Email address", who.email)
    person.type("Password", who.password)
    person.click("Sign in")
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()
    return person


def _read_row(text: str) -> tuple[Lead, str]:
    """The lead that a row shows, and the row in one line."""
    line = " ".join(text.split())
    return next(lead for word in line.split() if (lead := LEADS.get(word)) is not None), line
