"""The page at /docs in a browser: whole, readable and ours alone."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Site
from tests.browser.driving import LIGHT, PHONE_DARK, Browse, axe, fits, look_again

# Of the viewer's own markup, which a stylesheet cannot change: an operation's button holds the link to it.
VIEWER = [("nested-interactive", ".opblock-summary-control")]


def test_it_shows_the_document_and_opens_by_keyboard(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    page.goto("/docs")
    expect(page.get_by_role("heading", name="Siteglass")).to_be_visible()
    expect(page.locator("#operations-Leads-search")).to_be_visible()
    for look in (LIGHT, PHONE_DARK):  # the viewer looks alike in light and dark
        look_again(page, look)
        axe(page, known=VIEWER)
        fits(page)
    operation = page.locator("#operations-Leads-values")
    operation.locator(".opblock-summary-control").focus()
    page.keyboard.press("Enter")
    expect(operation.get_by_role("button", name="Try it out")).to_be_visible()
    axe(page, within="#operations-Leads-values", known=VIEWER)
    fits(page)
