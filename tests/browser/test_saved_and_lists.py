"""Saved searches and lists in a browser: from a search to the same search next week, without the own customers."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from testing.dashboard.explore import AUSTIN, explore_leads
from testing.dashboard.visitors import Office
from tests.browser.driving import Browse, shoot
from tests.browser.explorers import DENTISTS, PHONE, enter, explorers, look_at, somebody

__all__ = ["explorers"]
CUSTOMERS = [lead.domain for lead in explore_leads()[:3]]


def save(page: Page, name: str) -> None:
    page.get_by_text("Save search").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Others in the account see it").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice.good")).to_contain_text("The search was saved")


def test_a_list_is_pasted_and_left_out_of_a_search_that_is_saved(explorers: Office, browse: Browse) -> None:
    page = enter(browse, explorers, somebody(explorers, "named"), "/dashboard/lists")
    expect(page.locator("main")).to_contain_text("No lists yet")
    look_at(page)
    page.get_by_label("Name").fill("Customers")
    page.get_by_label("Domains").fill("\n".join([*CUSTOMERS, "not-a-lead.com"]))
    page.get_by_role("button", name="Create the list").click()
    expect(page.locator("h1")).to_have_text("customers")
    expect(page.locator(".tiles")).to_contain_text("Leads known 3")
    look_at(page)
    shoot(page, "list")
    page.goto(DENTISTS)
    page.get_by_text("Lists", exact=True).last.click()
    page.get_by_role("link", name="Leave out the list customers").click()
    expect(page.locator(".counts")).to_contain_text(f"{AUSTIN - 3} leads")
    expect(page.locator(".chip.excluded")).to_contain_text("not List: customers")
    page.get_by_text("Save search").click()
    look_at(page)
    shoot(page, "explore-save", whole=False)
    page.get_by_text("Save search").click()
    save(page, "Dentists who are not customers")
    page.get_by_role("link", name="Searches").first.click()
    row = page.locator("tbody tr")
    expect(row).to_contain_text("dentists-who-are-not-customers")
    expect(row).to_contain_text(f"{AUSTIN - 3}")
    look_at(page)
    shoot(page, "searches")
    row.get_by_role("link").first.click()
    expect(page.locator(".counts")).to_contain_text(f"{AUSTIN - 3} leads")


def test_saved_searches_are_changed_and_deleted(explorers: Office, browse: Browse) -> None:
    page = enter(browse, explorers, somebody(explorers), "/dashboard/searches", PHONE)
    expect(page.locator("main")).to_contain_text("No saved searches yet")
    look_at(page)
    page.goto(DENTISTS)
    save(page, "Dentists")
    page.goto("/dashboard/searches")
    page.get_by_label("Change dentists").click()
    look_at(page)
    page.get_by_label("Name").fill("Teeth")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice.good")).to_contain_text("was changed")
    page.get_by_label("Change teeth").click()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("main")).to_contain_text("No saved searches yet")
