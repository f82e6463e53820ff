"""The page of one lead in a browser: opened from a search, bought, read in every state, by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from siteglass.access.accounts import Plan, set_plan
from testing.dashboard.lead import ALDER, IMPORTED, QUIET, dental_leads, write_sightings
from testing.dashboard.visitors import Office, Somebody, cheaper_hashes, office
from tests.browser.driving import Browse, shoot
from tests.browser.explorers import enter, look_at
from tests.browser.test_explore import charges

PATH = "/dashboard/leads/"


@pytest.fixture(scope="module")
def dentists(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service whose leads have evidence."""
    folder = tmp_path_factory.mktemp("lead")
    leads = dental_leads()
    with cheaper_hashes(), office(f"lead-browser-{worker_id}", folder, leads, lead_store=folder) as made:
        write_sightings(folder)
        made.do(partial(set_plan, plan=Plan("browser-lead", 10_000, 10_000, preview="named"), actor="tests"))
        yield made


def somebody(dentists: Office, lead: int = 300, role: str = "member") -> Somebody:
    return dentists.somebody(dentists.account(plan="browser-lead", lead=lead), role, "Tom Okafor")


def heading(page: Page, name: str) -> None:
    expect(page.locator("h1")).to_contain_text(name)


def test_from_a_row_to_the_contacts(dentists: Office, browse: Browse) -> None:
    who = somebody(dentists)
    page = enter(browse, dentists, who, "/dashboard/explore?q=dentists+in+Austin")
    page.get_by_role("link", name="Alder Dental").click()
    heading(page, "Alder Dental")
    expect(page.locator("main")).to_contain_text("3 emails · 1 phone")
    look_at(page)
    page.get_by_role("button", name="Get this lead · 1 credit").dblclick()
    expect(page.locator(".contacts > li")).to_have_count(4)
    assert charges(dentists, who) == [1]
    expect(page.locator(".contacts")).to_contain_text("Seen on alderdental.com/contact, link, 21 Sep 2026")
    look_at(page)
    shoot(page, "lead")
    page.reload()
    page.go_back()
    page.go_forward()
    expect(page.locator(".contacts > li")).to_have_count(4)
    assert charges(dentists, who) == [1]


def test_a_contact_is_copied_by_keyboard(dentists: Office, browse: Browse) -> None:
    page = enter(browse, dentists, somebody(dentists), PATH + ALDER)
    page.get_by_role("button", name="Get this lead").focus()
    page.keyboard.press("Enter")
    copy = page.get_by_role("button", name="Copy dr.alder@alderdental.com")
    copy.focus()
    page.keyboard.press("Enter")
    expect(copy).to_have_text("Copied")
    page.locator(".contact-source summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("disguised text")).to_be_visible()


def test_a_wrong_value_is_reported_by_keyboard(dentists: Office, browse: Browse) -> None:
    page = enter(browse, dentists, somebody(dentists), PATH + ALDER)
    page.get_by_role("button", name="Get this lead").click()
    page.get_by_label("Report info@alderdental.com").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("What is wrong with info@alderdental.com?")).to_be_visible()
    look_at(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("It bounces.")
    page.keyboard.press("Enter")
    expect(page.locator(".notice.good")).to_have_text("Thank you. We recorded your report.")
    expect(page.locator(".contacts > li").nth(1)).to_contain_text("Reported")
    expect(page.get_by_label("Report info@alderdental.com")).to_have_count(0)


@pytest.mark.parametrize(
    ("domain", "lead", "text"),
    [(QUIET, 300, "Source: imported from dentists.csv"), (ALDER, 0, "You have 0 credits; this lead costs 1.")],
    ids=["free", "poor"],
)
def test_other_states_can_be_read(dentists: Office, browse: Browse, domain: str, lead: int, text: str) -> None:
    page = enter(browse, dentists, somebody(dentists, lead), PATH + domain)
    expect(page.locator("main")).to_contain_text(text)
    look_at(page)


def test_an_imported_lead_can_be_read(dentists: Office, browse: Browse) -> None:
    page = enter(browse, dentists, somebody(dentists), PATH + IMPORTED)
    page.get_by_role("button", name="Get this lead").click()
    expect(page.locator(".contacts")).to_contain_text("No source: imported by the operator")
    look_at(page)
