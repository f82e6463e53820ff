"""API keys as somebody makes, copies, rotates and ends them; the call that a page shows is one that works."""

from __future__ import annotations

import re
import shlex
import subprocess

from playwright.sync_api import Page, expect

from testing.dashboard.visitors import Office
from tests.browser.accounts import Furnished, enter, long_ago
from tests.browser.driving import DARK, LOOKS, PHONE, Browse, axe, fits, look_again, shoot

REFUSED = "the server responded with a status of 422"


def called(line: str) -> int:
    """The status of a call as somebody pastes it into a shell."""
    words = shlex.split(line.replace("\\\n", " "))
    assert words[0] == "curl"
    done = subprocess.run(
        ["curl", "--noproxy", "*", "-s", "-o", "/dev/null", "-w", "%{http_code}", *words[1:]],
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    return int(done.stdout)


def shown(page: Page) -> str:
    """The key that is shown once."""
    expect(page.get_by_role("heading", name="Your new key")).to_be_visible()
    key = page.locator("#new-key").inner_text()
    assert re.fullmatch(r"sg_live_\w{30,}", key)
    return key


def make(page: Page, name: str) -> str:
    """A key with what the form offers."""
    page.goto("/dashboard/keys/new")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create the key").click()
    return shown(page)


def test_a_key_is_made_after_the_password_copied_and_works(the_office: Office, browse: Browse) -> None:
    account = the_office.account(api=10, lead=10)
    who = the_office.somebody(account)
    page = enter(browse, the_office, who, "/keys")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.get_by_text("No keys yet")).to_be_visible()
    axe(page)
    long_ago(the_office, who)
    page.get_by_role("link", name="Create a key").click()
    page.get_by_label("Password").fill("not the password at all")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_have_text("That password is wrong.")
    page.get_by_label("Password").fill(who.password)
    page.get_by_role("button", name="Continue").click()
    expect(page).to_have_url(the_office.url + "/dashboard/keys/new")

    page.get_by_label("Name").fill("Website, production")
    page.get_by_role("checkbox", name="Account").uncheck()
    page.get_by_role("radio", name="On another day").check()
    page.get_by_label("API credits").fill("a thousand")
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_role("alert")).to_have_text("The key was not created yet: see below what is missing.")
    expect(page.get_by_label("API credits")).to_have_accessible_description(re.compile("a whole number"))
    expect(page.get_by_label("Last day")).to_have_accessible_description(re.compile("from today up to ten years"))
    expect(page.get_by_role("checkbox", name="Account")).not_to_be_checked()
    for look in (DARK, PHONE):
        look_again(page, look)
        axe(page)
        fits(page)
    page.get_by_role("radio", name="In 90 days").check()
    page.get_by_label("API credits").fill("1,000")
    page.get_by_role("button", name="Create the key").click()
    browse.excuse(REFUSED)

    key = shown(page)
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copy the key")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.get_by_role("button", name="Copy the call").click()
    expect(page.get_by_role("button", name="Copy the call")).to_have_text("Copied")
    assert called(page.evaluate("navigator.clipboard.readText()")) == 200
    page.get_by_role("link", name="Done, I have copied it").click()
    row = page.get_by_role("row", name=re.compile("Website, production"))
    expect(row).to_contain_text(re.compile(r"search\s*enrich"))
    expect(row).to_contain_text("1,000 API")
    expect(row).to_contain_text("expires in 90 days")
    assert key not in page.content()
    page.get_by_role("link", name="Website, production").click()
    expect(page.locator("main code").first).to_contain_text(key[-4:])
    expect(page.locator("main")).to_contain_text(re.compile(r"Ada Lovelace \S+ created the key Website, production"))
    assert key not in page.content()


def test_a_form_that_is_sent_again_makes_no_second_key(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody())
    key = make(page, "Once")
    page.reload()
    expect(page.get_by_role("heading", name="This form was already sent")).to_be_visible()
    assert key not in page.content()
    browse.excuse("the server responded with a status of 409")
    axe(page)
    page.goto("/dashboard/keys")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_where_the_clipboard_is_closed_the_key_is_selected(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody())
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {get: () => undefined})")
    key = make(page, "Selected")
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copy the key")).to_have_text("Press Ctrl+C")
    assert page.evaluate("getSelection().toString()") == key


def test_rotated_both_work_and_revoked_only_the_other(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody(the_office.account(api=10, lead=10)), look=PHONE)
    old = make(page, "CRM")
    first_call = page.locator("#new-call").inner_text()
    page.get_by_role("link", name="View the key").click()
    page.get_by_role("link", name="Rotate").click()
    expect(page.get_by_role("radio", name="In 24 hours")).to_be_checked()
    page.get_by_role("button", name="Rotate").click()
    new, call = shown(page), page.locator("#new-call").inner_text()
    assert new != old
    expect(page.get_by_text("Replace it with the new one before then.")).to_be_visible()
    assert (called(first_call), called(call)) == (200, 200)
    axe(page)
    fits(page)
    page.get_by_role("link", name="Done, I have copied it").click()
    expect(page.get_by_text("rotated")).to_be_visible()
    page.get_by_role("row").filter(has_text="rotated").get_by_role("link", name="CRM").click()
    expect(page.get_by_role("link", name="see its replacement")).to_be_visible()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("link", name="Keep it").click()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("status").first).to_contain_text("The key was revoked.")
    page.get_by_text("Ended keys").click()
    expect(page.locator("details").filter(has_text="Ended keys").get_by_text("revoked")).to_be_visible()
    axe(page)
    fits(page)
    assert (called(first_call), called(call)) == (401, 200)


def test_a_new_key_can_be_read_in_all_ways(the_office: Office, northwind: Furnished, browse: Browse) -> None:
    page = enter(browse, the_office, northwind.people["member"])
    make(page, "Website, production")
    shoot(page, "key-created")
    for other in LOOKS:
        look_again(page, other)
        axe(page)
        fits(page)
    page.get_by_role("link", name="View the key").click()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke the key").click()


def test_a_viewer_sees_keys_and_makes_none(the_office: Office, northwind: Furnished, browse: Browse) -> None:
    page = enter(browse, the_office, northwind.people["viewer"], "/keys")
    expect(page.get_by_role("link", name="Production")).to_be_visible()
    expect(page.get_by_role("link", name="Create a key")).to_have_count(0)
    page.goto(f"/dashboard/keys/{northwind.key_id}")
    expect(page.get_by_role("link", name="Revoke")).to_have_count(0)
    page.goto(f"/dashboard/keys/{northwind.revoked_key_id}")
    expect(page.get_by_text("revoked", exact=True)).to_be_visible()
    axe(page)
