"""The life of an account in the console: opened, invited, granted, charged, refunded, suspended, resumed, closed."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from playwright.sync_api import Page, expect

from siteglass.access.keys import create_key
from siteglass.admin.operators import set_operator
from testing.dashboard.visitors import Office, cheaper_hashes, link_in
from testing.service import serving
from tests.browser.accounts import enter, stranger
from tests.browser.conftest import Site
from tests.browser.driving import PHONE_DARK, Browse, axe, fits, look_again
from tests.suppression.world import command

WHY = "Invoice 2026-114 is not paid"


@pytest.fixture
def company(site: Site) -> Iterator[Office]:
    """The same service with a console."""
    settings = replace(site.settings, console_networks=("127.0.0.0/8", "198.51.100.0/24"))
    with cheaper_hashes(), serving(settings) as client:
        made = Office(settings, str(client.base_url).rstrip("/"), site.outbox)
        yield made
        made.close()


def _submit(page: Page, button: str, **fields: str) -> None:
    """Fill in the form of a button, and send it."""
    form = page.locator("form", has=page.get_by_role("button", name=button, exact=True))
    for name, value in fields.items():
        form.locator(f"[name={name}]").fill(value)
    form.get_by_role("button", name=button, exact=True).click()


def _told(page: Page, text: str) -> None:
    expect(page.get_by_role("status").first).to_contain_text(text)


@pytest.mark.promise("console.life")
def test_an_account_from_its_opening_to_its_end(company: Office, browse: Browse) -> None:
    who = company.somebody(name="Olive Operator")
    company.do(lambda postgres: postgres.fetch("UPDATE {schema}.people SET totp = '\\x00' WHERE id = $1", who.id))
    company.do(lambda postgres: set_operator(postgres, who.email, "operator", actor="tests"))
    page = enter(browse, company, who)
    page.get_by_role("banner").get_by_text("Olive Operator").first.click()
    page.get_by_role("link", name="Console").click()
    name = f"Northwind {secrets.token_hex(4)}"
    _submit(page, "Create the account", name=name)
    _told(page, "The account was created")
    account = int(page.url.partition("?")[0].rpartition("/")[2])

    form = page.locator("form", has=page.get_by_role("button", name="Save", exact=True))
    form.locator("[name=plan]").select_option("demo")
    form.get_by_role("button").click()
    expect(page.get_by_text(f"Account {account} · plan demo")).to_be_visible()
    email = f"{secrets.token_hex(4)}@northwind.example"
    _submit(page, "Send the invitation", email=email)
    expect(page.locator("#shown-once")).to_contain_text("/dashboard/join/")
    page.get_by_role("link", name="Done", exact=True).click()
    _submit(page, "Grant the credits", lead="5", api="5", reference="INV-114")
    _told(page, "The credits were granted")
    _submit(page, "Grant the credits", lead="5", api="5", reference="INV-114")
    expect(page.get_by_role("alert")).to_contain_text("already written for 'INV-114'")
    browse.excuse("422")
    axe(page)
    look_again(page, PHONE_DARK)
    axe(page)
    fits(page)

    # The customer joins, and buys by a program.
    customer = stranger(browse, company)
    customer.goto(link_in(company.outbox.wait(email, 1)[0].get_content()))
    customer.get_by_label("Your name").fill("Jo Northwind")
    customer.get_by_label("Password").fill("proper pony charger rivet")
    customer.get_by_role("button").last.click()
    expect(customer).to_have_url(re.compile("/dashboard"))
    _, key = company.do(
        lambda postgres: create_key(postgres, company.settings.key_secrets, account, "Production", actor="tests")
    )

    def search() -> httpx.Response:
        headers = {"X-API-Key": key, "Idempotency-Key": secrets.token_hex(8)}
        body = {"country": "USA", "limit": 1}
        return httpx.post(f"{company.url}/v1/leads/search", json=body, headers=headers, trust_env=False, timeout=60)

    bought = search()
    assert bought.status_code == 200, bought.text
    page.goto("/admin/accounts")
    _submit(page, "Find", find=bought.headers["x-request-id"])
    expect(page).to_have_url(re.compile(f"/admin/accounts/{account}$"))
    expect(page.get_by_role("row", name=re.compile(r"search.*−1"))).to_be_visible()
    page.get_by_role("link", name=bought.headers["x-request-id"]).click()
    expect(page.locator("section", has_text="How it was read")).to_contain_text("USA")
    axe(page)
    page.go_back()
    _submit(page, "Refund the charge", row="2", reason="Ticket 7")
    _told(page, "The charge was refunded")
    expect(page.get_by_role("row", name=re.compile(r"refund.*of row 2.*\+1"))).to_be_visible()

    _submit(page, "Suspend the account", reason=WHY)
    _told(page, "The account is suspended")
    time.sleep(1)
    refused = search()
    assert (refused.status_code, refused.json()["error"]) == (403, "ACCOUNT_SUSPENDED")
    customer.goto("/dashboard/explore")
    expect(customer.get_by_role("heading", name="This account is suspended")).to_be_visible()
    for path in ("/dashboard/downloads", "/dashboard/downloads/1/file"):
        assert customer.request.get(path).status == 403, path
    browse.excuse("403")
    _submit(page, "Resume the account")
    _told(page, "The account is active")
    time.sleep(1)
    assert search().status_code == 200

    page.once("dialog", lambda dialog: dialog.accept())
    _submit(page, "Close the account", reason="Asked for")
    _told(page, "The account is closed")
    time.sleep(1)
    assert search().status_code == 401
    customer.goto("/dashboard/usage")
    expect(customer.get_by_role("heading", name="Sign in")).to_be_visible()
    for path in ("reports", "privacy", "service", "operators"):
        page.goto(f"/admin/{path}")
        axe(page)
        fits(page)
    assert "0 problems" in command(company.settings, "credits", "verify", str(account)).stdout
    actions = [line.split("  ")[2:4] for line in command(company.settings, "audit", str(account)).stdout.splitlines()]
    assert [action for by, action in actions if by == f"operator person {who.id}"] == [
        *("account.create", "account.set", "person.invite", "credits.grant", "credits.refund"),
        *("account.suspend", "account.resume", "account.close"),
    ]
