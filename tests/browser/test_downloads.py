"""Downloads in a browser: from a search to a file, on wide and narrow screens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from siteglass.access.accounts import Plan, set_plan
from testing.dashboard.explore import AUSTIN, explore_leads
from testing.dashboard.visitors import SESSION, Office, cheaper_hashes, office
from tests.browser.accounts import session_of
from tests.browser.driving import Browse, Look, axe, fits, look_again, shoot

LOOKS = [Look(width, height, scheme) for width, height in ((1440, 900), (390, 844)) for scheme in ("light", "dark")]
WIDE = LOOKS[0]


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service that has leads."""
    folder = tmp_path_factory.mktemp("downloads")
    with cheaper_hashes(), office(f"downloads-browser-{worker_id}", folder, explore_leads(), own_tables=True) as made:
        made.do(partial(set_plan, plan=Plan("browser-downloads", 10_000, 10_000), actor="tests"))
        yield made


def enter(browse: Browse, depot: Office, path: str) -> Page:
    who = depot.somebody(depot.account(plan="browser-downloads", api=50, lead=300), "member", "Tom Okafor")
    page = browse.open(depot.url, WIDE, cookies={SESSION: session_of(depot, who)})
    page.goto(path)
    return page


def look_at(page: Page, name: str) -> None:
    """In all ways: nothing is cut off, and axe-core finds nothing."""
    for look in LOOKS:
        look_again(page, look)
        axe(page, rules=["color-contrast"] if look.scheme == "dark" else ())
        fits(page)
        if look == LOOKS[2]:
            shoot(page, f"{name}-phone", whole=False)
    look_again(page, WIDE)
    shoot(page, name, whole=False)


def test_from_a_search_to_a_file(depot: Office, browse: Browse) -> None:
    page = enter(browse, depot, "/dashboard/explore?q=dentists+in+Austin")
    page.get_by_role("link", name=f"Download {AUSTIN} …").click()
    expect(page.get_by_role("button", name=f"Download {AUSTIN} leads · 20 credits")).to_be_visible()
    # The price follows the number that somebody types.
    page.get_by_label("How many leads?").fill("10")
    expect(page.get_by_role("button", name="Download 10 leads · at most 10 credits")).to_be_visible()
    page.get_by_label("CSV").check()
    page.get_by_label("HubSpot companies").check()
    look_at(page, "download")
    page.get_by_role("button", name="Download 10 leads · at most 10 credits").click()
    expect(page.locator(".job")).to_contain_text("10 rows · 8 lead credits charged", timeout=30_000)
    look_at(page, "downloads")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the file").click()
    assert saved.value.suggested_filename.endswith("-hubspot.csv")
    lines = saved.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("Company Domain Name,Company name,")
    assert len(lines) == 11
    expect(page.locator("main")).to_contain_text("We delete a file 7 days after it was made.")
    # Typed, chosen and pressed at once, while the button still says the price of all.
    page.goto("/dashboard/explore/download?q=restaurants+in+Berlin")
    page.evaluate(
        """() => {
            const rows = document.querySelector("#rows");
            rows.value = "1";
            rows.dispatchEvent(new Event("input", { bubbles: true }));
            document.querySelector("input[value=csv]").click();
            document.querySelector("#offer button").click();
        }"""
    )
    expect(page.locator(".job").first).to_contain_text("1 row · 1 lead credit charged", timeout=30_000)
    expect(page.locator(".job").first).to_contain_text("CSV")


def test_from_a_table_to_the_same_table_with_contacts(depot: Office, browse: Browse) -> None:
    page = enter(browse, depot, "/dashboard/downloads")
    page.get_by_role("link", name="Upload a list").click()
    expect(page.locator("main")).to_contain_text("We delete the file after 24 hours.")
    look_at(page, "uploads")
    table = "Company;Website\nAlder;https://www.alder-dental-austin.com\nNobody;nobody-knows-this.com\n"
    page.get_by_label("CSV or XLSX file").set_input_files(
        {"name": "customers.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("main")).to_contain_text("2 rows, 2 with a domain in the column “Website”.")
    look_at(page, "upload")
    page.get_by_role("button", name="Enrich 1 company · 1 lead credit and 1 API credit").click()
    expect(page.locator(".job")).to_contain_text("1 lead · 1 lead credit and 1 API credit charged", timeout=30_000)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the file").click()
    lines = saved.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("Company;Website;sg_status;sg_found_domain;")
    assert lines[1].startswith("Alder;https://www.alder-dental-austin.com;found;alder-dental-austin.com;")
    assert lines[2].startswith("Nobody;nobody-knows-this.com;not found;;")
    page.go_back()
    page.get_by_label("Name of the list").fill("Customers 2026")
    page.get_by_role("button", name="Add 2 domains to the list").click()
    expect(page.locator(".notice.good")).to_contain_text("The domains were added to the list.")
