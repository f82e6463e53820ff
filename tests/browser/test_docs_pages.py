"""The landing page, the docs and the API reference in a browser: readable in light and dark, and ours alone.

`browse` fails a test on any console message, such as a violation of the content security policy, and on any request to
another host.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import build_docs
from testing.outcomes import first_by_day
from tests.browser.conftest import Site
from tests.browser.driving import DARK, LIGHT, PHONE_DARK, Browse, Look, axe, fits, look_again

PATHS = ["/", *sorted("/docs" if name == "index" else f"/docs/{name}" for name in build_docs.served_pages().values())]
# Pages with every kind of element that is rendered: axe-core takes seconds, and all pages share a stylesheet.
CHECKED = {
    "/",
    "/docs",
    "/docs/readme",
    "/docs/guides/dashboard",
    "/docs/errors/INVALID_QUERY",
    "/docs/proof",
}
# Scripts that tell how a page looks: the luminance of the background, and the longest line of text in characters.
_BACKGROUND = """() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
    return (red + green + blue) / 3;
}"""
_LONGEST_LINE = """() => Math.max(0, ...[...document.querySelectorAll(".page p, .page > main li")].map(
    (text) => text.getBoundingClientRect().width / (parseFloat(getComputedStyle(text).fontSize) * 0.5)))"""


def _is_dark(page: Page) -> bool:
    return bool(page.evaluate(_BACKGROUND) < 128)


@pytest.mark.nightly
def test_every_page_in_light_and_dark(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    for path in PATHS:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        for image in page.locator("main img").all():
            image.scroll_into_view_if_needed()
            assert image.evaluate("async (image) => { await image.decode(); return image.naturalWidth; }") > 0, path
            assert image.get_attribute("alt"), path
        for look in (LIGHT, PHONE_DARK):
            look_again(page, look)
            assert _is_dark(page) is (look.scheme == "dark"), path
            assert page.evaluate(_LONGEST_LINE) < 100, path
            fits(page)
            if path in CHECKED:
                axe(page)


def test_from_the_landing_page_to_an_error_by_keyboard(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    page.goto("/")
    expect(page.get_by_role("link", name="Sign in").first).to_have_attribute("href", "/dashboard/sign-in")
    page.get_by_role("link", name="Docs", exact=True).first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Errors", exact=True).click()
    page.get_by_role("link", name="CURSOR_EXPIRED").click()
    expect(page.get_by_role("heading", name="CURSOR_EXPIRED")).to_be_visible()
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="What to do").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_in_viewport()
    page.reload()
    page.goto("/docs/errors")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()


@pytest.mark.parametrize("look", first_by_day([PHONE_DARK, LIGHT, DARK]), ids=str)
def test_the_reference(site: Site, browse: Browse, look: Look) -> None:
    page = browse.open(site.url, look)
    page.goto("/docs/api")
    expect(page.get_by_role("heading", name="Siteglass", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Find leads")).to_be_attached()
    assert _is_dark(page) is (look.scheme == "dark")
    axe(page)
    fits(page)


def test_a_request_from_the_reference(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    page.goto("/docs/api#tag/service/GET/healthz")
    page.get_by_role("button", name="Test Request").first.click()
    page.get_by_role("button", name="Send Request").last.click()
    expect(page.get_by_text("200 OK")).to_be_visible()
