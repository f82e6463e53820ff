"""Overview, usage and ledger: charts are drawn, choices change the page in place, files are kept, and empty says so."""

from __future__ import annotations

import csv
import re
import time

import pytest
from playwright.sync_api import Locator, Page, expect

from testing.dashboard.visitors import Office
from tests.browser.accounts import Furnished, enter
from tests.browser.driving import DARK, LOOKS, PHONE, Browse, axe, fits, look_again, shoot
from tests.browser.test_keys import called, make

# Read from a copy: the browser complains of canvases that are read themselves.
_PAINTED = """canvas => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const pen = copy.getContext("2d", {willReadFrequently: true});
    pen.drawImage(canvas, 0, 0);
    const bytes = pen.getImageData(0, 0, copy.width, copy.height).data, colours = new Map();
    for (let at = 0; at < bytes.length; at += 4) {
        if (bytes[at + 3] < 250) continue;
        const colour = `#${[0, 1, 2].map(part => bytes[at + part].toString(16).padStart(2, "0")).join("")}`;
        colours.set(colour, (colours.get(colour) ?? 0) + 1);
    }
    return [...colours].filter(([, count]) => count > 200).map(([colour]) => colour);
}"""


def drawn(chart: Locator) -> set[str]:
    """The colours of a chart that are more than a few pixels."""
    expect(chart.locator("canvas")).to_have_count(1)
    return set(chart.locator("canvas").evaluate(_PAINTED))


def colour(page: Page, name: str) -> str:
    """What a design token says."""
    found: str = page.evaluate("name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()", name)
    return found


def stay(page: Page) -> None:
    """Mark the page as it is: what is loaded again has no mark."""
    page.evaluate("window.stayed = true")


def stayed(page: Page) -> bool:
    return bool(page.evaluate("window.stayed === true"))


def kept(page: Page, button: Locator) -> tuple[str, list[dict[str, str]]]:
    """Name and rows of the file that a button leads to."""
    with page.expect_download() as waiting:
        button.click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        return waiting.value.suggested_filename, list(csv.DictReader(file))


def test_charts_are_drawn_in_the_colours_of_the_look(the_office: Office, northwind: Furnished, browse: Browse) -> None:
    page = enter(browse, the_office, northwind.people["member"])
    chart = page.locator("#requests")
    light = colour(page, "--chart-1")
    assert light in drawn(chart)
    look_again(page, DARK)
    dark = colour(page, "--chart-1")
    assert dark != light
    deadline = time.monotonic() + 10
    while dark not in drawn(chart):  # the page hears of it a moment later
        assert time.monotonic() < deadline
    assert light not in drawn(chart)
    assert drawn(page.locator("#credits"))
    look_again(page, PHONE)
    width = page.locator("#credits").evaluate("chart => chart.clientWidth")
    expect(page.locator("#credits canvas")).to_have_css("width", f"{width}px")
    page.locator("#credits").hover()
    expect(page.locator("#credits .tip")).to_contain_text(re.compile(r"API credits.*\d"))
    fits(page)
    page.get_by_text("Show as table").first.click()
    expect(page.get_by_role("region", name=re.compile("as table")).first.locator("tbody tr")).to_have_count(30)
    axe(page)
    fits(page)


def test_usage_changes_in_place_and_back_again(the_office: Office, northwind: Furnished, browse: Browse) -> None:
    page = enter(browse, the_office, northwind.people["member"], "/usage")
    stay(page)
    chosen = page.get_by_role("group", name="Days").locator("[aria-current=true]")
    expect(chosen).to_have_text("30 days")
    page.get_by_role("link", name="7 days").click()
    expect(chosen).to_have_text("7 days")
    expect(page).to_have_url(re.compile("days=7"))
    page.get_by_role("link", name="API credits").click()
    expect(page).to_have_url(re.compile("credits=api"))
    expect(page.get_by_role("heading", name=re.compile("^API credits")).first).to_be_visible()
    charts = page.locator(".chart")
    assert charts.count() == 3
    for place in range(3):
        assert drawn(charts.nth(place))
    page.go_back()
    expect(page.get_by_role("heading", name=re.compile("^Lead credits")).first).to_be_visible()
    expect(chosen).to_have_text("7 days")
    assert drawn(page.locator(".chart").first)
    page.go_back()
    expect(chosen).to_have_text("30 days")
    assert stayed(page)
    page.get_by_label("First day").fill("2020-01-01")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_contain_text("The last 30 days are shown.")
    axe(page)
    assert stayed(page)
    name, rows = kept(page, page.get_by_role("link", name="Download CSV"))
    assert name.startswith("siteglass-usage-")
    assert rows


def test_the_ledger_is_filtered_turned_over_and_itemised(
    the_office: Office, northwind: Furnished, browse: Browse
) -> None:
    page = enter(browse, the_office, northwind.people["member"], "/ledger")
    stay(page)
    first = page.locator("tbody tr").first.locator("td").first
    newest = first.inner_text()
    page.get_by_role("link", name="Older").click()
    expect(first).not_to_have_text(newest)
    page.get_by_role("link", name="Newer").click()
    expect(first).to_have_text(newest)
    page.get_by_label("Kind").select_option("Refund")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(re.compile("kind=refund"))
    expect(page.locator("tbody tr .badge").first).to_have_text("Refund")
    assert set(page.locator("tbody tr .badge").all_inner_texts()) == {"Refund"}
    name, rows = kept(page, page.get_by_role("link", name="Download CSV"))
    assert name.startswith("siteglass-ledger-")
    assert {row["kind"] for row in rows} == {"refund"}
    page.go_back()
    expect(page.locator("tbody tr .badge").first).not_to_have_text("Refund")
    page.go_forward()
    expect(page.locator("tbody tr .badge").first).to_have_text("Refund")
    page.get_by_label("Request").fill("no such request")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No matching entries")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="Clear").click()
    expect(first).to_have_text(newest)
    assert stayed(page)

    page.goto(f"/dashboard/ledger/{northwind.seq}")
    domains = page.get_by_role("region", name="Domains").locator("tbody tr")
    listed = domains.all_inner_texts()
    assert len(listed) == 4
    paid = sum("1 lead credit" in line for line in listed)
    expect(page.locator(".tile").nth(1)).to_contain_text(f"−{paid}" if paid else "0")
    expect(page.locator(".tile").nth(2)).to_contain_text(f"{paid} charged, {4 - paid} free")


def test_who_is_new_sees_how_to_begin_and_the_call_works(the_office: Office, browse: Browse) -> None:
    account = the_office.account("Lakeside Studio", api=1_000, lead=5_000)
    page = enter(browse, the_office, the_office.somebody(account, name="Nora Lind"))
    expect(page.get_by_role("heading", name="Make your first request")).to_be_visible()
    shoot(page, "empty")
    for look in LOOKS:
        look_again(page, look)
        axe(page)
        fits(page)
    call = page.locator("#first-call").inner_text()
    for path, text in (("/usage", "Nothing to show"), ("/keys", "No keys yet"), ("/people", "No pending invitations")):
        page.goto(f"/dashboard{path}")
        expect(page.get_by_text(text).first).to_be_visible()
        axe(page)
        fits(page)
    key = make(page, "First")
    assert called(call.replace("YOUR_KEY", key)) == 200
    page.goto("/dashboard")
    expect(page.get_by_role("heading", name="Make your first request")).to_have_count(0)


@pytest.mark.parametrize("credits", [0, 10_000_000, 1_000_000_000_000])
def test_no_credits_and_very_many_fit(the_office: Office, browse: Browse, credits: int) -> None:
    account = the_office.account(api=credits, lead=credits)
    page = enter(browse, the_office, the_office.somebody(account))
    for path in ("", "/plan", "/ledger"):
        page.goto(f"/dashboard{path}")
        for look in (LOOKS[0], PHONE):
            look_again(page, look)
            fits(page)
            for value in page.locator(".tile-value, .ledger td").all():
                assert value.evaluate("value => value.scrollWidth <= value.clientWidth"), value.inner_text()
        if path != "/ledger":
            expect(page.locator(".tile-value").first).to_have_text(f"{credits:,}")
        elif not credits:
            expect(page.get_by_text("No entries yet")).to_be_visible()
            axe(page)
