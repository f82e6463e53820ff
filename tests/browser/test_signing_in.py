"""Signing in as somebody does it: password, code, recovery code, mailed links, and where one is signed in."""

from __future__ import annotations

import re
import time

import pyotp
from playwright.sync_api import Page, expect

from siteglass.people.second_factor import STEP_S
from testing.dashboard.visitors import Office, Somebody, link_in
from tests.browser.accounts import AGENTS, enter, long_ago, session_of, stranger
from tests.browser.driving import DARK, PHONE, PHONE_DARK, Browse, axe, fits, look_again
from tests.dashboard.test_mailed_links import mailed

NEW = "some other long password"
REFUSED = "the server responded with a status of 422"


def sign_in(page: Page, who: Somebody, password: str = "") -> None:
    """Fill the form and send it."""
    page.get_by_label("Email address").fill(who.email)
    page.get_by_label("Password").fill(password or who.password)
    page.get_by_role("button", name="Sign in").click()


def test_a_wrong_password_is_told_and_the_right_one_goes_on_to_the_page_asked_for(
    the_office: Office, browse: Browse
) -> None:
    who, page = the_office.somebody(), stranger(browse, the_office, PHONE)
    page.goto("/dashboard/people")
    expect(page).to_have_url(re.compile(r"/dashboard/sign-in\?next="))
    expect(page.get_by_label("Email address")).to_be_focused()
    sign_in(page, who, "not the password at all")
    expect(page.get_by_role("alert")).to_contain_text("password")
    expect(page.get_by_label("Email address")).to_have_value(who.email)
    expect(page.get_by_label("Password")).to_be_focused()
    expect(page.get_by_label("Password")).to_have_value("")
    browse.excuse(REFUSED)
    axe(page)
    fits(page)
    sign_in(page, who)
    expect(page).to_have_url(the_office.url + "/dashboard/people")
    page.goto("/dashboard/sign-in")
    expect(page).to_have_url(the_office.url + "/dashboard/explore")
    page.get_by_label("Menu").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status").first).to_have_text("You are signed out.")
    page.go_back()
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _set_up(page: Page) -> tuple[pyotp.TOTP, list[str]]:
    """From the page of security: the authenticator, and the recovery codes."""
    page.get_by_role("link", name="Set up two-step sign-in").click()
    expect(page.get_by_role("img", name="QR code for authenticators")).to_be_visible()
    page.get_by_text("Cannot scan?").click()
    totp = pyotp.TOTP(page.locator("#secret").inner_text().replace(" ", ""))
    axe(page)
    page.get_by_label("Code", exact=True).fill("000000")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_label("Code", exact=True)).to_have_accessible_description(
        "That code does not match. Is the clock of your phone right?"
    )
    # the code of the half minute before: this one's is then there for signing in
    page.get_by_label("Code", exact=True).fill(totp.at(int(time.time()) - STEP_S))
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("heading", name="Two-step sign-in is on")).to_be_visible()
    return totp, page.locator(".codes li").all_inner_texts()


def test_two_steps_are_set_up_and_asked_for_and_a_recovery_code_helps_out(the_office: Office, browse: Browse) -> None:
    who = the_office.somebody()
    page = enter(browse, the_office, who, "/security")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    totp, codes = _set_up(page)
    browse.excuse(REFUSED)
    assert len(codes) == 10
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(codes)
    look_again(page, PHONE_DARK)
    axe(page)
    fits(page)
    page.get_by_role("link", name="I have stored them").click()
    expect(page.get_by_text("10 of 10 left")).to_be_visible()
    axe(page)

    other = stranger(browse, the_office, DARK)
    other.goto("/dashboard/sign-in")
    sign_in(other, who)
    expect(other.get_by_label("Code")).to_be_focused()
    axe(other)
    fits(other)
    other.get_by_label("Code").fill("000000")
    other.get_by_role("button", name="Continue").click()
    expect(other.get_by_role("alert")).to_be_visible()
    browse.excuse(REFUSED)
    other.get_by_label("Code").fill(totp.now())
    other.get_by_role("button", name="Continue").click()
    expect(other).to_have_url(the_office.url + "/dashboard/explore")

    third = stranger(browse, the_office)
    third.goto("/dashboard/sign-in")
    sign_in(third, who)
    third.get_by_label("Code").fill(codes[3])
    third.get_by_role("button", name="Continue").click()
    expect(third).to_have_url(the_office.url + "/dashboard/explore")
    third.goto("/dashboard/security")
    expect(third.get_by_text("9 of 10 left")).to_be_visible()

    long_ago(the_office, who)
    third.goto("/dashboard/keys/new")
    expect(third.get_by_role("heading", name="Confirm it's you")).to_be_visible()
    axe(third)
    third.get_by_label("Password").fill(who.password)
    third.get_by_label("Code from your authenticator app").fill(codes[4])
    third.get_by_role("button", name="Continue").click()
    expect(third).to_have_url(the_office.url + "/dashboard/keys/new")

    third.goto("/dashboard/security")
    third.once("dialog", lambda dialog: dialog.dismiss())
    third.get_by_role("button", name="Turn off").click()
    expect(third.get_by_text("8 of 10 left")).to_be_visible()
    third.once("dialog", lambda dialog: dialog.accept())
    third.get_by_role("button", name="Turn off").click()
    expect(third.get_by_text("Two-step sign-in is off.")).to_be_visible()


def test_who_forgot_the_password_chooses_a_new_one_by_mail(the_office: Office, browse: Browse) -> None:
    who, page = the_office.somebody(), stranger(browse, the_office)
    page.goto("/dashboard/sign-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email address").fill(who.email)
    page.get_by_role("button", name="Send me a link").click()
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    look_again(page, PHONE)
    axe(page)
    fits(page)
    path = link_in(mailed(the_office, who.email).get_content())
    page.goto(path)
    page.get_by_label("New password").fill("short")
    page.get_by_role("button", name="Change the password").click()
    assert page.get_by_label("New password").evaluate("field => field.validity.tooShort")
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("status").first).to_have_text("Your password was changed. Sign in with it.")
    sign_in(page, who, NEW)
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()
    gone = stranger(browse, the_office)
    gone.goto(path)
    expect(gone.get_by_role("heading", name="This link no longer works")).to_be_visible()
    browse.excuse("the server responded with a status of 404")
    axe(gone)


def test_somebody_is_invited_joins_and_is_there(the_office: Office, browse: Browse) -> None:
    account = the_office.account()
    owner, email = the_office.somebody(account), f"new-{account}@people.test"
    page = enter(browse, the_office, owner, "/people")
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("Email address").fill(email)
    page.get_by_role("radio", name="Viewer").check()
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_role("status").first).to_have_text("The invitation was sent.")
    expect(page.get_by_role("cell", name=email, exact=True)).to_be_visible()

    theirs = stranger(browse, the_office, PHONE)
    theirs.goto(link_in(mailed(the_office, email).get_content()))
    expect(theirs.get_by_role("heading", name="Join Acme")).to_be_visible()
    theirs.get_by_label("Your name").fill("Grace Hopper")
    theirs.get_by_label("Password").fill("aaaaaaaaaaaaaaaa")
    theirs.get_by_role("button", name="Join").click()
    expect(theirs.get_by_label("Password")).to_have_accessible_description(
        "This password is easy to guess. Choose another one."
    )
    browse.excuse(REFUSED)
    axe(theirs)
    expect(theirs.get_by_label("Your name")).to_have_value("Grace Hopper")
    theirs.get_by_label("Password").fill(NEW)
    theirs.get_by_role("button", name="Join").click()
    expect(theirs.get_by_role("status").first).to_have_text("Welcome. You now belong to this account.")
    page.reload()
    expect(page.get_by_role("row", name=re.compile("Grace Hopper.*viewer"))).to_be_visible()
    expect(page.get_by_text("No pending invitations")).to_be_visible()


def test_sessions_are_listed_and_another_is_ended(the_office: Office, browse: Browse) -> None:
    who = the_office.somebody()
    phone = enter(browse, the_office, who)
    session_of(the_office, who, AGENTS[1])
    page = enter(browse, the_office, who, "/security")
    listed = page.get_by_role("region", name="Where you are signed in").locator("tbody tr")
    expect(listed).to_have_count(3)
    listed.filter(has_text="Safari on iPhone").get_by_role("button", name="End").click()
    expect(page.get_by_role("status").first).to_have_text("The session was ended.")
    expect(listed).to_have_count(2)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="End all others").click()
    expect(listed).to_have_count(1)
    phone.reload()
    expect(phone.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out the session")).to_be_visible()


def test_name_and_password_are_changed(the_office: Office, browse: Browse) -> None:
    who = the_office.somebody()
    page = enter(browse, the_office, who, "/security", PHONE)
    page.get_by_label("Name", exact=True).fill("Ada King")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_have_text("Your name was changed.")
    page.get_by_label("New password").fill("aaaaaaaaaaaaaaaa")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_label("New password")).to_have_accessible_description(
        "This password is easy to guess. Choose another one."
    )
    browse.excuse(REFUSED)
    axe(page)
    fits(page)
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("status").first).to_contain_text("Your password was changed")
    page.get_by_label("Menu").click()
    expect(page.locator("header .menu .me-name")).to_have_text("Ada King")
