"""Names that are code, everywhere where somebody else's text is shown: none runs, none asks for anything."""

from __future__ import annotations

import csv
import itertools

import pytest
from playwright.sync_api import Dialog, Page, expect

from siteglass.dashboard.guard import DeclaredPage
from siteglass.dashboard.routes import PAGES
from testing.dashboard.visitors import SESSION, Office
from tests.browser.accounts import SHOWN, Furnished, also_of, enter, furnish, session_of
from tests.browser.driving import LIGHT, PHONE, Browse, fits, look_again
from tests.docs.blocks import ROOT

HOSTILE = (ROOT / "testing" / "corpus" / "hostile.txt").read_text("utf-8").splitlines()
FILES = [page for page in PAGES if page.path.endswith(".csv")]
# Where all of the corpus is shown, and in which attribute or text.
EVERYWHERE = ("keys", "ledger", "people", "audit", "accounts", "security")


@pytest.fixture(scope="module")
def hostile(the_office: Office) -> Furnished:
    """An account where every name is one of the corpus, and all of them are in every list."""
    account = the_office.account(HOSTILE[0])
    members = [
        the_office.somebody(account, role, name, f"{name.lower()}@people.test")
        for name, role in itertools.zip_longest(HOSTILE, ("owner", "member"), fillvalue="viewer")
    ]
    by_role = {"owner": members[0], "member": members[1], "viewer": members[2]}
    invited = [f"{name.lower()}@invited.test" for name in HOSTILE]
    made = furnish(the_office, "hostile", by_role, account, HOSTILE, HOSTILE, invited)
    for name in HOSTILE:
        session_of(the_office, made.owner, name, name[:40])
        also_of(the_office, made.owner, the_office.account(f"{name} 2"))
    return made


def _visit(page: Page, hostile: Furnished, declared: DeclaredPage) -> None:
    """Look at all that a page has to show, on a phone, too."""
    look_again(page, LIGHT)
    page.goto(hostile.path(declared))
    if declared.role:
        expect(page.locator("header .me-name").first).to_have_text(HOSTILE[0])
    for chart in page.locator(".chart").all():
        chart.hover()
        expect(chart.locator(".tip")).to_be_visible()
    for closed in page.locator("main details > summary").all():
        closed.press("Enter")  # not a click: an open menu may lie over the next one
    look_again(page, PHONE)
    fits(page)
    assert page.evaluate("window.__hit") is None
    assert page.evaluate("document.querySelectorAll('main :is(script, iframe, base, style, link, math)').length") == 0
    if declared.name in EVERYWHERE:
        said = page.evaluate("document.querySelector('main').textContent")
        missing = [name for name in HOSTILE if name[:40] not in said]
        assert not missing


# All in one window: a page that is wrong is named by what the console says.
@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
def test_nothing_of_it_runs(the_office: Office, hostile: Furnished, browse: Browse, inside: bool) -> None:
    asked: list[str] = []

    def opened(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page = browse.open(the_office.url, cookies={SESSION: hostile.session} if inside else {})
    page.on("dialog", opened)
    for declared in SHOWN:
        if bool(declared.role) is inside:
            _visit(page, hostile, declared)
    assert not asked


@pytest.mark.parametrize("declared", FILES, ids=lambda page: page.name)
def test_no_cell_of_a_file_is_a_formula(
    the_office: Office, hostile: Furnished, browse: Browse, declared: DeclaredPage
) -> None:
    page = enter(browse, the_office, hostile.owner, declared.path.removeprefix("/dashboard").removesuffix(".csv"))
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download CSV").click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert {f"'{name}" for name in HOSTILE if name[0] in "=+-@"} <= cells
    formulas = [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t", "\r")]
    assert not formulas
    assert all(cell[1:].isdigit() for cell in cells if cell.startswith("-"))
