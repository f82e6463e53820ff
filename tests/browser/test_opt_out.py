"""The page at /opt-out in a browser: somebody asks, proves that an address is theirs, and sees it done."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.driving import LIGHT, PHONE, PHONE_DARK, Browse, Look, axe, every_look, fits

# From a new address each time: an address may ask only a few times an hour.
_CALLERS = itertools.count(1)
BAD_REQUEST = "the server responded with a status of 400"


def _opened(site: Site, browse: Browse, look: Look = LIGHT) -> Page:
    page = browse.open(site.url, look, headers={"X-Forwarded-For": f"198.19.0.{next(_CALLERS)}"})
    page.goto("/opt-out")
    return page


def _ask(page: Page, value: str) -> None:
    page.get_by_label("Your email address, or the domain of your website").fill(value)
    page.get_by_role("button", name="Continue").click()


def _code(page: Page, site: Site, address: str) -> str:
    """The code in the mail that the page mentions."""
    expect(page.locator("#recipient")).to_have_text(address)
    return site.outbox.code(address)


def _focused(page: Page) -> str:
    """What has the focus, by its id or its text."""
    told: str = page.evaluate("(document.activeElement.id || document.activeElement.innerText).trim()")
    return told


@every_look
def test_every_state_can_be_read(site: Site, browse: Browse, look: Look) -> None:
    page = _opened(site, browse, look)
    expect(page.get_by_role("heading", name="Your data at Siteglass")).to_be_visible()
    page.get_by_text("I have a ticket from an earlier visit").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#value")).to_have_accessible_description(
        "For example jo@example.com, or example.com Please enter an email address or a domain."
    )
    axe(page)
    fits(page)
    _ask(page, "looked-at.com")
    expect(page.locator("#dns-name")).to_have_text("_siteglass.looked-at.com")
    page.get_by_text("Come back later").click()
    axe(page)
    fits(page)


@pytest.mark.parametrize("look", [LIGHT, PHONE_DARK], ids=str)
def test_an_address_is_taken_out(site: Site, browse: Browse, look: Look) -> None:
    address = f"jo-{look}@looked-at.com"
    page = _opened(site, browse, look)
    _ask(page, address)
    expect(page.locator("#by-code")).to_contain_text(f"We sent a code to {address}.")
    axe(page)
    page.get_by_label("Code").fill("0000-0000-0000")
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator("#code-error")).to_have_text(
        "That is not the code from our newest email. Please check it, or start again."
    )
    assert _focused(page) == "code"
    browse.excuse(BAD_REQUEST)
    axe(page)
    fits(page)
    page.get_by_label("Code").fill(_code(page, site, address))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="Done")).to_be_focused()
    expect(page.locator("#done-text")).to_have_text(
        f"Within 60 seconds, Siteglass searches and look-ups will no longer show {address}."
        " You do not need to do anything else."
    )
    axe(page)
    fits(page)


def test_it_tells_what_is_held(site: Site, browse: Browse) -> None:
    page = _opened(site, browse, PHONE)
    page.get_by_text("Show me what is stored about it").click()
    _ask(page, "kim@looked-at.com")
    page.get_by_label("Code").fill(_code(page, site, "kim@looked-at.com"))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="What is stored about kim@looked-at.com")).to_be_focused()
    expect(page.locator("#held strong")).to_have_text(["looked-at.com"])
    expect(page.locator("#done-text")).to_contain_text("We are counting how many customers received such a record and")
    axe(page)
    fits(page)
    page.get_by_role("button", name="Stop showing it").click()
    expect(page.get_by_role("heading", name="Done")).to_be_focused()


def test_a_whole_record_is_read_by_keyboard(site: Site, browse: Browse) -> None:
    lead = {
        "domain": "looked-at.com",
        "fields": ["domain"],
        "source": "leads.parquet",
        "crawled_at": "2026-09-21T14:13:20Z",
        "seen": [
            {
                "value": "kim@looked-at.com",
                "page": "https://looked-at.com/imprint",
                "first_seen": "2026-05-28T20:26:40Z",
                "last_seen": "2026-09-21T14:13:20Z",
            }
        ],
        "record": {"title": "<img src=//elsewhere.test/x onerror=alert(1)>", "description": "long " * 100},
    }
    held = {
        "request": "access",
        "domain": "looked-at.com",
        "suppressed_since": None,
        "suppressed_on": [],
        "leads": [lead],
        "received_by": "12 customers",
    }
    page = _opened(site, browse, PHONE)
    page.route("**/v1/opt-out/confirm", lambda route: route.fulfill(json=held))
    page.get_by_text("I have a ticket from an earlier visit").click()
    page.get_by_label("Ticket of a domain").fill("a ticket")
    page.get_by_role("button", name="Check the domain").click()
    expect(page.get_by_role("heading", name="What is stored about looked-at.com")).to_be_focused()
    expect(page.locator("#done-text")).to_contain_text("12 customers received such a record.")
    seen = "on https://looked-at.com/imprint, first seen 28 May 2026, last seen 21 Sep 2026"
    expect(page.locator("#held dd").nth(2)).to_have_text(seen)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#held pre")).to_contain_text("<img src=//elsewhere.test/x onerror=alert(1)>")
    axe(page)
    fits(page)


def test_what_the_service_refuses_is_told_at_its_field(site: Site, browse: Browse) -> None:
    page = _opened(site, browse)
    _ask(page, "no address@")
    expect(page.locator("#value-error")).to_be_visible()
    assert _focused(page) == "value"
    browse.excuse(BAD_REQUEST)


def test_all_of_it_by_keyboard(site: Site, browse: Browse) -> None:
    page = _opened(site, browse)
    keyboard = page.keyboard
    for _ in range(5):  # past the skip link and the header
        keyboard.press("Tab")
    reached = []
    for _ in range(20):
        keyboard.press("Tab")
        if (focused := _focused(page)) in reached or page.evaluate("document.activeElement === document.body"):
            break
        reached.append(focused)
    assert reached[:3] == ["", "value", "Continue"]  # the first is the choice of what to ask for
    assert reached[3] == "I have a ticket from an earlier visit"
    assert reached[-1] == "/docs/api"
    page.reload()
    page.locator("input[name=request]").first.focus()
    keyboard.press("ArrowDown")
    assert page.locator("input[name=request]:checked").input_value() == "access"
    keyboard.press("ArrowUp")
    assert page.locator("input[name=request]:checked").input_value() == "opt_out"
    keyboard.press("Tab")
    keyboard.type("keys@looked-at.com")
    keyboard.press("Enter")
    expect(page.locator("#confirm h2")).to_be_focused()
    keyboard.press("Tab")
    assert _focused(page) == "code"
    keyboard.type(_code(page, site, "keys@looked-at.com").lower())
    keyboard.press("Tab")
    assert _focused(page) == "confirm-button"
    keyboard.press("Tab")
    assert _focused(page) == "back"
    keyboard.press("Shift+Tab")
    keyboard.press("Space")
    expect(page.get_by_role("heading", name="Done")).to_be_focused()
    keyboard.press("Tab")
    assert _focused(page) == "another"
    keyboard.press("Enter")
    expect(page.locator("#value")).to_be_focused()
