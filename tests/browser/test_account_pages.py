"""People, plan, audit trail, several accounts, and pages that are refused."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from testing.dashboard.visitors import Office
from tests.browser.accounts import Furnished, also_of, enter, stranger
from tests.browser.driving import LOOKS, PHONE_DARK, Browse, axe, fits, look_again, shoot

REFUSED = "the server responded with a status of {}"


def test_a_role_is_changed_and_a_person_removed_but_the_last_owner_stays(the_office: Office, browse: Browse) -> None:
    account = the_office.account()
    owner, other = the_office.somebody(account), the_office.somebody(account, "viewer", "Grace Hopper")
    theirs = enter(browse, the_office, other, "/people")
    expect(theirs.get_by_role("link", name="Invite somebody")).to_have_count(0)
    page = enter(browse, the_office, owner, "/people")
    page.get_by_role("link", name="Change Grace Hopper").click()
    page.get_by_role("radio", name="Member").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("Grace Hopper.*member"))).to_be_visible()
    page.get_by_role("link", name="Leave").click()
    page.get_by_role("button", name="Leave the account").click()
    expect(page.get_by_role("alert")).to_have_text("An account needs an owner. Make another person an owner first.")
    browse.excuse(REFUSED.format(422))
    look_again(page, PHONE_DARK)
    axe(page)
    fits(page)
    page.goto("/dashboard/people")
    page.get_by_role("link", name="Change Grace Hopper").click()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove this person").click()
    expect(page.get_by_role("status").first).to_have_text("The person was removed and signed out of this account.")
    expect(page.get_by_text("Grace Hopper")).to_have_count(0)
    theirs.reload()
    expect(theirs.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/dashboard/audit")
    told = page.locator("tbody tr").first
    expect(told).to_contain_text(re.compile(r"Ada Lovelace \S+ removed Grace Hopper"))


def test_an_invitation_is_withdrawn(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody(), "/people/invite")
    page.get_by_label("Email address").fill("nobody@people")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_label("Email address")).to_have_accessible_description(
        "Enter an email address, such as ada@example.com."
    )
    browse.excuse(REFUSED.format(422))
    axe(page)
    page.get_by_label("Email address").fill("withdrawn@people.test")
    page.get_by_role("button", name="Send the invitation").click()
    page.get_by_role("button", name="Withdraw the invitation of withdrawn@people.test").click()
    expect(page.get_by_role("status").first).to_have_text("The invitation was withdrawn. Its link no longer works.")
    expect(page.get_by_text("No pending invitations")).to_be_visible()


def test_the_mail_on_low_balances_is_set_and_turned_off(the_office: Office, browse: Browse) -> None:
    page = enter(browse, the_office, the_office.somebody(), "/plan")
    expect(page.get_by_text("Off: owners get no email")).to_be_visible()
    page.get_by_label("API credits below").fill("lots")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("API credits below")).to_have_accessible_description(re.compile("a whole number"))
    browse.excuse(REFUSED.format(422))
    axe(page)
    page.get_by_label("API credits below").fill("10,000,000")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("API credits fall below 10,000,000")).to_be_visible()
    expect(page.get_by_label("API credits below")).to_have_value("10,000,000")
    page.get_by_label("API credits below").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_have_text("Saved. No email will be sent.")
    page.goto("/dashboard/audit")
    expect(page.locator("tbody tr").first).to_contain_text("turned the low-balance email off")


def test_one_looks_at_another_account(the_office: Office, browse: Browse) -> None:
    first, second = the_office.account("First of two"), the_office.account("Second of two")
    who = the_office.somebody(first)
    page = enter(browse, the_office, who)
    expect(page.get_by_role("link", name="Switch account")).to_have_count(0)
    also_of(the_office, who, second)
    page.reload()
    page.get_by_role("banner").get_by_text("Ada Lovelace").first.click()
    page.get_by_role("link", name="Switch account").click()
    expect(page.get_by_role("row", name=re.compile("First of two.*shown now"))).to_be_visible()
    axe(page)
    page.get_by_role("row", name=re.compile("Second of two")).get_by_role(
        "button", name="Switch to this account"
    ).click()
    expect(page.get_by_role("status").first).to_have_text("You switched to another account.")
    expect(page.locator(".me-account").first).to_have_text("Second of two · viewer")
    expect(page.locator("aside").get_by_role("link", name="Audit trail")).to_have_count(0)


def test_what_is_not_there_and_what_a_role_does_not_allow(
    the_office: Office, northwind: Furnished, browse: Browse
) -> None:
    page = enter(browse, the_office, northwind.people["member"], "/no/such/page")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    browse.excuse(REFUSED.format(404))
    shoot(page, "refusal", whole=False)
    for look in LOOKS:
        look_again(page, look)
        axe(page)
        fits(page)
    page.get_by_role("link", name="Go to the overview").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    theirs = enter(browse, the_office, northwind.people["viewer"], "/audit")
    expect(theirs.get_by_role("heading", name="Your role does not allow this")).to_be_visible()
    browse.excuse(REFUSED.format(403))
    outside = stranger(browse, the_office)
    outside.goto("/dashboard/no/such/page")
    expect(outside.get_by_role("link", name="Go to sign-in")).to_be_visible()
    browse.excuse(REFUSED.format(404))
    axe(outside)


def test_a_form_of_a_session_that_ended_changes_nothing(the_office: Office, browse: Browse) -> None:
    who = the_office.somebody()
    page = enter(browse, the_office, who, "/security")
    page.get_by_label("Name", exact=True).fill("Somebody else")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="This form has expired")).to_be_visible()
    browse.excuse(REFUSED.format(403))
    axe(page)
