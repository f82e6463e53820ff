"""The landing page, the docs and the API reference in a browser: readable in light and dark, and ours alone.

`browse` fails a test on any console message, such as a violation of the content security policy, and on any request to
another host.
"""

from __future__ import annotations

import re
import tomllib

import pytest
from playwright.sync_api import Page, expect

import build_docs
from testing.outcomes import first_by_day
from tests.browser.conftest import Site
from tests.browser.driving import DARK, LIGHT, PHONE_DARK, Browse, Look, axe, fits, look_again
from tests.docs.blocks import ROOT

PATHS = ["/", *sorted("/docs" if name == "index" else f"/docs/{name}" for name in build_docs.served_pages().values())]
# Pages with every kind of element that is rendered: axe-core takes seconds, and all pages share a stylesheet.
CHECKED = {
    "/",
    "/docs",
    "/docs/readme",
    "/docs/guides/dashboard",
    "/docs/errors",
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
    page.get_by_role("navigation", name="Docs").get_by_role("link", name="Errors", exact=True).click()
    page.get_by_role("table").get_by_role("link", name="CURSOR_EXPIRED").click()
    expect(page.get_by_role("heading", name="CURSOR_EXPIRED")).to_be_in_viewport()
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="UNAVAILABLE").click()
    expect(page.get_by_role("heading", name="UNAVAILABLE")).to_be_in_viewport()
    # An error response names this path.
    page.goto("/docs/errors/NOT_FOUND")
    expect(page.get_by_role("heading", name="NOT_FOUND")).to_be_in_viewport()
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


_ANSWERS = """async (questions) => {
    const field = document.getElementById("find"), answers = [];
    for (const question of questions) {
        field.value = question;
        field.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done));
        answers.push(document.querySelector("#found a")?.getAttribute("href") ?? "");
    }
    return answers;
}"""


def test_the_search_finds_the_right_page_first(site: Site, browse: Browse) -> None:
    questions = tomllib.loads((ROOT / "tests/docs/search_questions.toml").read_text("utf-8"))["questions"]
    assert len(questions) == 50
    page = browse.open(site.url)
    page.goto("/docs")
    page.get_by_role("searchbox", name="Search the docs").fill("error")
    expect(page.locator("#found a").first).to_be_visible()
    answers = page.evaluate(_ANSWERS, list(questions))
    missed = [
        question
        for question, answer in zip(questions, answers, strict=True)
        if questions[question] not in (answer, answer.partition("#")[0])
    ]
    assert len(missed) <= 10, missed


def test_the_search_by_keyboard(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    page.goto("/docs/guides/mcp")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Search the docs")
    expect(field).to_be_focused()
    page.keyboard.type("idempot")
    results = page.get_by_role("search").get_by_role("link")
    expect(results.first).to_have_attribute("href", re.compile("^/docs/errors#idempotency_"))
    axe(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(results.nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_be_focused()
    expect(results).to_have_count(0)
    page.keyboard.type("zzzzzz")
    expect(page.get_by_role("status")).to_have_text("No page has these words. Try others.")
    field.fill("limit what is spent")
    expect(results.first).to_have_attribute("href", "/docs/guides/costs#limit-what-is-spent")
    field.press("Enter")
    expect(page.get_by_role("heading", name="Limit what is spent")).to_be_in_viewport()


def test_code_is_copied_and_headings_have_links(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    page.goto("/docs/guides/mcp")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert '"command": "sgl"' in page.evaluate("() => navigator.clipboard.readText()")
    page.get_by_role("heading", name="Control spending").get_by_role("link").click()
    assert page.url.endswith("/docs/guides/mcp#control-spending")


def test_the_menu_on_a_phone(site: Site, browse: Browse) -> None:
    page = browse.open(site.url, PHONE_DARK)
    page.goto("/docs/guides/mcp")
    menu = page.get_by_role("navigation", name="Docs")
    expect(menu).to_be_hidden()
    page.get_by_text("All pages", exact=True).press("Enter")
    expect(menu.get_by_role("link", name="Use it from an AI agent")).to_have_attribute("aria-current", "page")
    axe(page)
    fits(page)
    page.get_by_role("link", name="Next: Test your integration").click()
    expect(page.get_by_role("heading", level=1, name="Test your integration")).to_be_visible()
