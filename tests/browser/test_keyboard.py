"""All that matters with the keyboard alone, and where one is can always be seen."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from testing.dashboard.visitors import Office
from tests.browser.accounts import enter, stranger
from tests.browser.driving import PHONE, Browse, axe

MAX_TABS = 60
# A line around it, or a ring drawn as a shadow; and it is within the window.
_SEEN = """() => {
    const focused = document.activeElement, style = getComputedStyle(focused), box = focused.getBoundingClientRect();
    const ring = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || style.boxShadow !== "none";
    return ring && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
}"""


def _focused(page: Page) -> str:
    """What has the focus, as it is called."""
    told: str = page.evaluate(
        "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.innerText"
        " ?? document.activeElement.innerText).trim()"
    )
    return told


def tab_to(page: Page, name: str) -> None:
    """Press Tab until something of this name has the focus; whatever has it meanwhile can be seen."""
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        assert page.evaluate(_SEEN), f"focus cannot be seen: {page.evaluate('document.activeElement.outerHTML')}"
        if re.match(name, _focused(page)):
            return
    raise AssertionError(f"{name} is not reached")


def test_a_key_is_made_and_copied_from_sign_in_to_sign_out(the_office: Office, browse: Browse) -> None:
    who, page = the_office.somebody(), stranger(browse, the_office)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/dashboard/sign-in")
    press = page.keyboard
    press.type(who.email)
    tab_to(page, "Password")
    press.type(who.password)
    press.press("Enter")
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()

    page.goto("/dashboard")
    tab_to(page, "Skip to the content")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    press.press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, "Go to API keys")
    assert page.evaluate("document.activeElement.closest('main') !== null")

    page.reload()
    tab_to(page, "Settings")
    press.press("Enter")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    tab_to(page, "API keys$")
    press.press("Enter")
    expect(page.get_by_role("heading", name="API keys", exact=True)).to_be_visible()
    tab_to(page, "Create a key")
    press.press("Enter")
    expect(page.get_by_role("heading", name="Create a key")).to_be_visible()
    tab_to(page, "Name")
    press.type("By keyboard")
    tab_to(page, "Account")
    press.press("Space")
    expect(page.get_by_role("checkbox", name="Account")).not_to_be_checked()
    tab_to(page, "Never")
    press.press("ArrowDown")
    expect(page.get_by_role("radio", name="In 30 days")).to_be_checked()
    tab_to(page, "Create the key")
    press.press("Space")
    expect(page.get_by_role("heading", name="Your new key")).to_be_visible()
    tab_to(page, "Copy the key")
    press.press("Enter")
    expect(page.get_by_role("button", name="Copy the key")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#new-key").inner_text()
    tab_to(page, "Done")
    press.press("Enter")
    expect(page.get_by_role("link", name="By keyboard")).to_be_visible()
    tab_to(page, "Ada Lovelace")
    press.press("Enter")
    tab_to(page, "Sign out")
    press.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("You are signed out.")


def test_the_menu_of_a_phone_opens_and_closes(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody(), look=PHONE)
    menu = page.get_by_role("navigation", name="Pages")
    expect(menu).to_have_count(0)
    tab_to(page, "Menu")
    page.keyboard.press("Enter")
    expect(menu).to_be_visible()
    axe(page)
    tab_to(page, "Usage")
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    assert _focused(page) == "Menu"
    page.keyboard.press("Space")
    expect(menu).to_be_visible()
    tab_to(page, "Usage")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Usage", exact=True)).to_be_visible()
    expect(menu).to_have_count(0)


def test_choices_keep_the_focus_where_it_was(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody(), "/usage")
    tab_to(page, "7 days")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("days=7"))
    expect(page.get_by_role("link", name="7 days")).to_be_focused()
