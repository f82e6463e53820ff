"""The Explore page in a browser: from words to leads, in every state, on wide and narrow screens, by keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from siteglass.platform.postgres import Postgres
from testing.dashboard.explore import AUSTIN
from testing.dashboard.visitors import Office, Somebody
from tests.browser.driving import Browse, Look, axe, fits, shoot
from tests.browser.explorers import DENTISTS, PHONE, WIDE, enter, explorers, look_at, somebody

__all__ = ["explorers"]


def charges(explorers: Office, who: Somebody) -> list[int]:
    async def read(postgres: Postgres) -> list[int]:
        rows = await postgres.fetch(
            "SELECT -lead AS lead FROM {schema}.ledger WHERE account_id = $1 AND kind = 'charge'", who.account_id
        )
        return [row["lead"] for row in rows]

    return explorers.do(read)


def test_from_words_to_leads(explorers: Office, browse: Browse) -> None:
    who = somebody(explorers, "named")
    page = enter(browse, explorers, who, "/dashboard/explore")
    # Each example finds something in this index: most of ours find nothing here, so it has others.
    found = page.get_by_role("region", name="Find leads by describing them").locator("li > .soft:not(.small-text)")
    expect(found.first).to_have_text(f"{AUSTIN} leads")
    assert not any(text.startswith("0 ") for text in found.all_inner_texts())
    assert found.count() >= 3
    page.get_by_label("Describe the leads you want").fill("dentists in Austin not using Shopify")
    page.keyboard.press("Enter")
    expect(page.locator(".counts")).to_contain_text(f"{AUSTIN} leads · 20 with email")
    expect(page.locator(".chip.excluded")).to_contain_text("not Uses: Shopify")
    expect(page.locator(".facet")).not_to_have_count(0)
    # A facet narrows the search, and the address says so: somebody else sees the same.
    page.locator(".facet-lines a", has_text="Wix").first.click()
    expect(page.locator(".counts")).to_contain_text("13 leads")
    assert "Wix" in page.url
    expect(page.locator(".busy")).to_have_text("13 leads.")
    page.get_by_label("Remove Uses: Wix").click()
    expect(page.locator(".counts")).to_contain_text(f"{AUSTIN} leads")
    # The button says the price, and that is what is charged.
    page.get_by_role("button", name="Get contacts for 20 leads · 16 credits").click()
    expect(page.locator(".notice.good")).to_contain_text("16 credits charged")
    expect(page.locator("a[href^='mailto:hello@']")).to_have_count(16)
    expect(page.get_by_role("button", name="Copy 16 emails")).to_be_visible()
    shoot(page, "explore-bought", whole=False)
    page.reload()
    page.go_back()
    page.go_forward()
    expect(page.locator(".notice.good")).to_contain_text("16 credits charged")
    assert charges(explorers, who) == [16]
    page.get_by_role("link", name="Receipt").click()
    expect(page.locator("table.ledger tbody tr")).to_have_count(1)


@pytest.mark.parametrize("look", [WIDE, PHONE], ids=str)
def test_pressed_twice_it_is_charged_once(explorers: Office, browse: Browse, look: Look) -> None:
    who = somebody(explorers)
    page = enter(browse, explorers, who, DENTISTS, look)
    page.get_by_role("button", name="Get 20 leads · 16 credits").dblclick()
    expect(page.locator(".notice.good")).to_contain_text("16 credits charged")
    assert charges(explorers, who) == [16]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/dashboard/explore", "Find leads by describing them"),
        ("/dashboard/explore?q=hello", "Add at least one condition"),
        (DENTISTS, f"{AUSTIN} leads"),
        ("/dashboard/explore?q=friendly+slow+dentits+hiring+in+Austin+with+no+Shopify", "Not used: “friendly”"),
        (f"{DENTISTS}+using+Shopify", "No leads match all 4 conditions"),
        ("/dashboard/explore?q=Shopify+in+Germany+or+Wix+in+Austin", "Shopify in Germany or Wix in Austin"),
    ],
    ids=["start", "nothing", "found", "notes", "none", "group"],
)
def test_every_state_can_be_read(explorers: Office, browse: Browse, path: str, text: str) -> None:
    page = enter(browse, explorers, somebody(explorers), path)
    expect(page.locator("main")).to_contain_text(text)
    if page.locator("#facets").count():
        expect(page.locator("#facet-panel")).to_contain_text("With email")
    look_at(page)


def test_paid_and_poor_can_be_read(explorers: Office, browse: Browse) -> None:
    who = somebody(explorers, lead=9)
    page = enter(browse, explorers, who, DENTISTS)
    expect(page.locator(".action-bar")).to_contain_text("You have 9 credits; this page costs 16.")
    look_at(page)
    page.get_by_role("link", name="Choose 12 leads · 9 credits").click()
    page.get_by_role("button", name="Get 12 leads · 9 credits").click()
    expect(page.locator(".notice.good")).to_contain_text("9 credits charged")
    look_at(page)


def test_on_a_phone_filters_open_over_the_cards(explorers: Office, browse: Browse) -> None:
    page = enter(browse, explorers, somebody(explorers), DENTISTS, PHONE)
    # The first lead is in view without scrolling, above the bar with the price.
    first, bar = page.locator("tbody tr").first.bounding_box(), page.locator(".action-bar").bounding_box()
    assert first is not None
    assert bar is not None
    assert first["y"] + first["height"] <= bar["y"]
    expect(page.locator("#facets")).not_to_be_visible()
    page.get_by_role("button", name="Filters").click()
    page.locator(".facet-lines a", has_text="Wix").first.click()
    expect(page.locator(".counts")).to_contain_text("13 leads")
    shoot(page, "explore-phone", whole=False)


def test_recent_and_saved_searches_are_where_people_begin(explorers: Office, browse: Browse) -> None:
    page = enter(browse, explorers, somebody(explorers), DENTISTS)
    page.get_by_text("Save search").click()
    page.get_by_label("Name").fill("Teeth")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".facet").first).to_be_visible()
    # What the browser remembers of a search is compared with what it finds now.
    page.evaluate(
        """() => {
            const kept = JSON.parse(localStorage["siteglass-recent"]);
            kept.searches[0].total = 20;
            localStorage["siteglass-recent"] = JSON.stringify(kept);
        }"""
    )
    page.get_by_role("link", name="Explore").first.click()
    recent = page.get_by_role("region", name="Recent searches").locator("li")
    expect(recent).to_have_count(1)
    expect(recent).to_contain_text(f"dentists in Austin {AUSTIN} leads +{AUSTIN - 20}")
    expect(page.get_by_role("region", name="Saved searches").locator("li")).to_contain_text(f"teeth {AUSTIN} leads")
    look_at(page)
    page.get_by_text("Tom Okafor").first.click()
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate("localStorage.length") == 0


def test_by_keyboard_alone(explorers: Office, browse: Browse) -> None:
    page = enter(browse, explorers, somebody(explorers), DENTISTS)
    page.locator("#q").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".chip-words summary").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".chip .chip-choices").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".chip .chip-choices").first).not_to_be_visible()
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.locator(".chip-words summary").nth(1)).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.locator(".counts")).to_contain_text(f"{AUSTIN + 5} leads")
    expect(page.locator(".chip")).to_have_count(2)


def test_leads_are_ticked_and_only_they_are_got(explorers: Office, browse: Browse) -> None:
    who = somebody(explorers, "named")
    page = enter(browse, explorers, who, DENTISTS)
    boxes = page.locator("input[name=lead]")
    whole = page.get_by_role("button", name="Get contacts for 20 leads · 16 credits")
    expect(whole).to_be_visible()
    # Five by a range, of which the first has no address; by keyboard one less.
    boxes.nth(0).check()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.get_by_role("button", name="Get contacts for 5 leads · 4 credits")).to_be_visible()
    expect(whole).not_to_be_visible()
    boxes.nth(4).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Get contacts for 4 leads · 3 credits")).to_be_visible()
    page.get_by_label("Tick all leads of this page").click()
    expect(page.get_by_role("button", name="Download 20 leads · 16 credits")).to_be_visible()
    page.get_by_text("Tick", exact=True).click()
    page.get_by_label("First", exact=True).fill("3")
    get = page.get_by_role("button", name="Get contacts for 3 leads · 2 credits")
    expect(get).to_be_visible()
    page.keyboard.press("Escape")
    look_at(page)
    # Columns stay hidden after another search, until they are wanted again.
    page.get_by_text("Columns", exact=True).click()
    page.locator("[data-columns]").get_by_label("Uses").uncheck()
    expect(page.get_by_role("columnheader", name="Uses")).not_to_be_visible()
    page.keyboard.press("Escape")
    get.click()
    expect(page.locator(".notice.good")).to_contain_text("2 credits charged")
    assert charges(explorers, who) == [2]
    look_at(page)
    page.get_by_text("Download 3 leads").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV, all fields").click()
    assert len(saved.value.path().read_text("utf-8-sig").splitlines()) == 4
    page.goto(DENTISTS)
    expect(page.get_by_role("columnheader", name="Uses")).not_to_be_visible()
    page.get_by_role("columnheader", name="SEO score").get_by_role("link").click()
    expect(page.get_by_role("columnheader", name="SEO score")).to_have_attribute("aria-sort", "ascending")


# --- a connection that is lost after the click ---------------------------------------------------


def lose_answers(page: Page, count: int) -> list[int]:
    """The service gets the form and answers, and the first answers do not arrive; returns the statuses of all."""
    statuses: list[int] = []

    def handle(route: Route) -> None:
        answer = route.fetch(max_redirects=0)
        statuses.append(answer.status)
        if len(statuses) > count:
            route.fulfill(response=answer)
        else:
            route.abort("connectionreset")

    page.route("**/buy", handle)
    return statuses


@pytest.mark.promise("explore.charge")
@pytest.mark.parametrize("look", [WIDE, PHONE], ids=str)
def test_after_a_lost_connection_the_page_finds_out_what_was_charged(
    explorers: Office, browse: Browse, look: Look
) -> None:
    who = somebody(explorers)
    page = enter(browse, explorers, who, DENTISTS, look)
    statuses = lose_answers(page, 2)
    page.get_by_role("button", name="Get 20 leads · 16 credits").click()
    expect(page.get_by_text("Checking whether this was charged…")).to_be_visible()
    fits(page)
    expect(page.locator(".notice.good")).to_contain_text("16 credits charged")
    # Two that were lost, one that arrived, and the same as a page.
    assert statuses == [303, 303, 303, 303]
    assert charges(explorers, who) == [16]
    browse.excuse("net::ERR_CONNECTION_RESET")


@pytest.mark.promise("explore.charge")
def test_without_a_network_the_page_waits_and_then_buys(explorers: Office, browse: Browse) -> None:
    who = somebody(explorers)
    page = enter(browse, explorers, who, DENTISTS)
    page.context.set_offline(True)
    page.locator(".action-bar .charges button").click()
    expect(page.get_by_text("Checking whether this was charged…")).to_be_visible()
    axe(page)
    assert charges(explorers, who) == []
    page.context.set_offline(False)
    expect(page.locator(".notice.good")).to_contain_text("16 credits charged")
    assert charges(explorers, who) == [16]
    browse.excuse("net::ERR_INTERNET_DISCONNECTED")


def test_a_refusal_is_shown_as_a_page(explorers: Office, browse: Browse) -> None:
    who = somebody(explorers)
    page = enter(browse, explorers, who, DENTISTS)
    page.locator(".action-bar .charges input[name=price]").evaluate("input => input.value = '3'")
    page.locator(".action-bar .charges button").click()
    expect(page.locator("h1")).to_have_text("This costs more than the button said")
    assert charges(explorers, who) == []
    browse.excuse("402")
