"""A plan for accounts within the company: no page mentions credits; ledger and caps are as ever."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from siteglass.access.browsing import set_daily_cap
from siteglass.billing import ledger
from siteglass.billing.credits import Billing
from testing.dashboard.actions import words
from testing.dashboard.explore import explore_leads
from testing.dashboard.visitors import Office, office
from tests.suppression.world import command

EXPLORE = "/dashboard/explore"
SEARCH = f"{EXPLORE}?q=dentists%20in%20Austin"
PAGES = (
    *("", "/usage", "/usage?credits=api", "/plan", "/settings", "/keys", "/keys/new", "/people", "/people/invite"),
    *("/security", "/lists", "/searches", "/searches/mine/watch", "/downloads", "/downloads/uploads", "/explore"),
)


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service whose plan `company` is internal."""
    with office(f"internal-{worker_id}", tmp_path_factory.mktemp("internal"), explore_leads()) as made:
        command(made.settings, "plan", "set", "company", "--internal", "--rate", "1000", "--burst", "1000")
        yield made


def _without_credits(answer: httpx.Response) -> str:
    """What a person reads or hears on the page, which has no credits in it."""
    assert answer.status_code in (200, 402), answer.url
    main = answer.text[answer.text.index("<main") :]
    heard = " ".join(re.findall(r'(?:aria-label|data-announce|placeholder|title)="([^"]*)"', main))
    text = f"{words(answer)} {html.unescape(heard)}"
    assert "credit" not in text.lower(), (answer.url, re.search(r".{60}credit.{60}", text, re.IGNORECASE | re.DOTALL))
    return text


@pytest.mark.promise("plan.internal")
def test_no_page_of_an_internal_account_mentions_credits(company: Office) -> None:
    account = company.account(plan="company", lead=30, api=5)
    owner, member = company.somebody(account, "owner"), company.somebody(account, "member")
    visitor = company.visitor(owner)
    assert "30 leads left" in _without_credits(visitor.get(EXPLORE))
    found = visitor.get(SEARCH)
    assert "Get contacts for 20 leads " in _without_credits(found)
    _without_credits(visitor.get(f"{EXPLORE}/download?q=dentists%20in%20Austin"))
    fields = dict(re.findall(r'name="(body|after|price|back)" value="([^"]*)"', found.text))
    bought = visitor.post(f"{EXPLORE}/buy", {name: html.unescape(value) for name, value in fields.items()})
    assert "Your account has these leads now" in _without_credits(visitor.get(bought.headers["location"]))
    visitor.post(SEARCH, {"name": "mine"})
    for path in (*PAGES, f"/people/{member.id}"):
        _without_credits(visitor.get(f"/dashboard{path}"))
    company.do(lambda postgres: set_daily_cap(postgres, account, owner.id, "Ada", 20, owner.id))
    _without_credits(visitor.get("/dashboard/people"))
    # Ledger and caps are as ever.
    balance = company.do(lambda postgres: Billing(postgres).balance(account))
    assert balance.lead == 30 - 16
    assert company.do(lambda postgres: ledger.verify(postgres, account)).problems == []
    assert "lead credits" in words(visitor.get("/dashboard/ledger")).lower()
    capped = _without_credits(visitor.get(f"{EXPLORE}?q=restaurants+in+Berlin"))
    assert "Your daily cap leaves 4 of 20 leads today; this page costs 8." in capped


def test_the_prices_of_an_internal_plan_are_0(company: Office) -> None:
    refused = command(company.settings, "plan", "set", "company", "--lead-price-micros", "5", code=2)
    assert "The prices of an internal plan must be 0." in refused.stderr
    assert "internal" in command(company.settings, "plan", "list").stdout
    assert "lead credits" in words(company.visitor(company.somebody()).get(EXPLORE))
