"""Every page of the dashboard, on wide and narrow screens, in light and dark: it can be read, fits, and is drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from testing.dashboard.visitors import SESSION, Office
from tests.browser.accounts import SHOWN, Furnished, session_of
from tests.browser.driving import DARK, LIGHT, LOOKS, PHONE, Browse, axe, fits, look_again, shoot

PICTURES = {
    "sign_in": "sign-in",
    "overview": "overview",
    "usage": "usage",
    "ledger": "ledger",
    "ledger.entry": "entry",
    "keys": "keys",
    "key.new": "key-new",
    "key": "key",
    "people": "people",
    "plan": "plan",
    "security": "security",
    "security.set_up": "second-factor",
    "audit": "audit",
}
# What most of a bill is made of.
QUERIES = {"usage": "?credits=lead"}
# Of these the upper part shows enough.
LONG = ("ledger", "audit")
MORE_PICTURES = {
    ("overview", DARK): "overview-dark",
    ("overview", PHONE): "overview-phone",
    ("usage", DARK): "usage-dark",
    ("keys", PHONE): "keys-phone",
}


def look_at(page: Page, name: str = "") -> None:
    """In all ways; a page of this name leaves its pictures."""
    for look in LOOKS:
        look_again(page, look)
        # What is light or dark differs in colours alone.
        axe(page, rules=["color-contrast"] if look.scheme == "dark" else ())
        fits(page)
        picture = MORE_PICTURES.get((name, look), PICTURES.get(name, "") if look == LIGHT else "")
        if picture:
            shoot(page, picture, whole=name not in LONG)


# All in one window, which is twice as fast; what is wrong is reported with the address of its page.
@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
def test_every_page_can_be_read(the_office: Office, northwind: Furnished, browse: Browse, inside: bool) -> None:
    # Its own session: ten minutes after the password, some pages ask for it again.
    page = browse.open(the_office.url, cookies={SESSION: session_of(the_office, northwind.owner)} if inside else {})
    for declared in SHOWN:
        if bool(declared.role) is inside:
            path = northwind.path(declared) + QUERIES.get(declared.name, "")
            look_again(page, LIGHT)
            page.goto(path)
            expect(page).to_have_url(the_office.url + path)
            expect(page.locator("h1")).to_have_count(1)
            look_at(page, declared.name)
