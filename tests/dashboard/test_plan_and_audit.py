"""The plan in words, the mail on low balances, and the audit trail page after page."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime, timedelta

import pytest

from siteglass.access.accounts import Plan, set_plan
from siteglass.billing.balance_alerts import BalanceAlert, balance_alert
from siteglass.billing.credits import grant
from siteglass.dashboard.plan import price
from siteglass.platform.postgres import Postgres
from testing.dashboard.actions import words
from testing.dashboard.visitors import Office


def test_the_terms_are_told_in_words(the_office: Office) -> None:
    name = f"p{secrets.token_hex(4)}"
    plan = Plan(name, 2.5, 7, 10_000_000, None, 1_500, 0, "EUR", 24)
    the_office.do(lambda postgres: set_plan(postgres, plan, actor="tests"))
    account = the_office.account(plan=name, api=10_000_000)
    ends = datetime.now(UTC) + timedelta(days=30)

    async def more(postgres: Postgres) -> None:
        await grant(postgres, account, 5_000, 70, "tests", secrets.token_hex(4), expires_at=ends)

    the_office.do(more)
    said = words(the_office.visitor(the_office.somebody(account, "viewer")).get("/dashboard/plan"))
    for part in (
        "API credits 10,005,000",
        "Lead credits 70",
        f"called {name} .",
        "2.5 requests per second, up to 7 at once",
        "API credits per day at most 10,000,000",
        "Lead credits per day no cap",
        "1.50 EUR per 1,000",
        "Price of lead credits free",
        "is free for 24 hours after it was paid for",
        f"{ends.day} {ends:%b %Y, %H:%M} UTC 5,000 70",
        "Write to sales@sender.test for more credits",
    ):
        assert part in said, part
    assert "people@sender.test" not in said  # the sender of mails, which the page /opt-out names


@pytest.mark.parametrize(
    ("micros", "said"),
    [
        (0, "free"),
        (1, "0.001 USD per 1,000"),
        (20, "0.02 USD per 1,000"),
        (1_500, "1.50 USD per 1,000"),
        (45_000, "45.00 USD per 1,000"),
        (1_234_567_891, "1,234,567.891 USD per 1,000"),
    ],
)
def test_prices_are_exact(micros: int, said: str) -> None:
    assert price(micros, "USD") == said


@pytest.mark.promise("dashboard.alerts")
def test_the_low_balance_mail_is_set_read_back_and_turned_off(the_office: Office) -> None:
    who = the_office.somebody()
    owner = the_office.visitor(who)

    def stored() -> BalanceAlert:
        return the_office.do(lambda postgres: balance_alert(postgres, who.account_id))

    assert "Off: owners get no email" in owner.get("/dashboard/plan").text
    done = owner.post("/dashboard/plan/alert", {"api_below": "1,000", "lead_below": ""})
    assert done.headers["location"] == "/dashboard/plan?done=alert-set"
    assert stored() == BalanceAlert(1_000, None)
    page = owner.get("/dashboard/plan")
    assert "On: owners get one email when API credits fall below 1,000. The next one" in words(page)
    assert "The email goes to the first 20 owners of the account." in words(page)
    assert 'name="api_below" type="text" value="1,000"' in page.text
    for fields in ({"api_below": "0"}, {"api_below": "1", "lead_below": "x<b>"}):
        wrong = owner.post("/dashboard/plan/alert", fields)
        assert wrong.status_code == 422
        assert "a whole number from 1" in wrong.text
        assert "<b>" not in wrong.text
    assert stored() == BalanceAlert(1_000, None)
    owner.post("/dashboard/plan/alert", {"api_below": "5", "lead_below": "7"})
    assert stored() == BalanceAlert(5, 7)
    assert owner.post("/dashboard/plan/alert", {}).headers["location"] == "/dashboard/plan?done=alert-off"
    assert stored() == BalanceAlert()
    trail = words(owner.get("/dashboard/audit"))
    assert f"Ada Lovelace {who.email} set the low-balance email Below 5 API credits Below 7 lead credits" in trail
    assert f"Ada Lovelace {who.email} turned the low-balance email off" in trail
    member = the_office.visitor(the_office.somebody(who.account_id, "member"))
    assert member.post("/dashboard/plan/alert", {"api_below": "9"}).status_code == 403
    assert "/plan/alert" not in member.get("/dashboard/plan").text


def test_the_trail_is_paged_both_ways_and_for_owners_only(the_office: Office) -> None:
    account = the_office.account(api=5)
    owner = the_office.visitor(the_office.somebody(account))
    the_office.do(
        lambda postgres: postgres.fetch(
            "INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id)"
            " SELECT 'person', '0', 'other.thing_' || chr(97 + n / 26) || chr(97 + n % 26), $1"
            " FROM generate_series(0, 117) n",
            account,
        )
    )  # with those of account, credits, person and sign-in: 122

    def page(query: str) -> tuple[list[str], dict[str, str]]:
        text = owner.get(f"/dashboard/audit{query}").text
        return re.findall(r"did other\.thing_(\w\w)", text), {
            label: link for link, label in re.findall(r'href="(\?\w+=\d+)">(Newer|Older)<', text)
        }

    expected = [chr(97 + n // 26) + chr(97 + n % 26) for n in reversed(range(118))]
    newest, links = page("")
    assert (newest, set(links)) == (expected[:50], {"Older"})
    second, links = page(links["Older"])
    assert (second, set(links)) == (expected[50:100], {"Older", "Newer"})
    last, links = page(links["Older"])
    assert (last, set(links)) == (expected[100:], {"Newer"})
    assert page(links["Newer"])[0] == second
    assert page(page(links["Newer"])[1]["Newer"])[0] == newest
    said = words(owner.get(f"/dashboard/audit{page(page('')[1]['Older'])[1]['Older']}"))
    assert "An operator granted credits +5 API credits" in said
    assert "An operator opened the account Plan standard" in said
    assert "Somebody deleted number 0 did other.thing_aa" in said
    for query in ("?before=1", "?after=999999999999", "?before=x", "?after=" + "9" * 40):
        assert owner.get(f"/dashboard/audit{query}").status_code == 200
    for role in ("viewer", "member"):
        visitor = the_office.visitor(the_office.somebody(account, role))
        assert visitor.get("/dashboard/audit").status_code == 403
        assert "/dashboard/audit" not in visitor.get("/dashboard/plan").text


def test_who_takes_a_name_does_not_take_the_trail(the_office: Office) -> None:
    ada = the_office.somebody()
    mallory = the_office.somebody(ada.account_id, name=f"Ada Lovelace {ada.email}")
    the_office.visitor(mallory).post("/dashboard/plan/alert", {"api_below": "5"})
    said = words(the_office.visitor(ada).get("/dashboard/audit"))
    assert f"Ada Lovelace {ada.email} {mallory.email} set the low-balance email" in said
    assert f"Ada Lovelace {ada.email} set" not in said


def test_everything_that_people_do_has_words(the_office: Office) -> None:
    ada = the_office.somebody()
    grace = the_office.somebody(ada.account_id, name="Grace Hopper")
    of_self = ("rename", "recovery_codes", "session_end", "sessions_end", "reset", "password", "second_factor_on")
    of_others = ("second_factor_reset", "session_end", "sessions_end", "reset", "delete", "remove")

    async def note(postgres: Postgres) -> None:
        statement = (
            "INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)"
            " VALUES ($1::text::{schema}.actor_kind, $2, $3, $4, $5::jsonb)"
        )
        for action in of_self:
            row = ("person", str(grace.id), f"person.{action}", ada.account_id, "{}")
            await postgres.fetch(statement, *row)
        for action in of_others:
            row = ("operator", "olga", f"person.{action}", ada.account_id, f'{{"person": {grace.id}}}')
            await postgres.fetch(statement, *row)

    the_office.do(note)
    said = words(the_office.visitor(ada).get("/dashboard/audit"))
    assert " did person." not in said
    whom = f"Grace Hopper {grace.email}"
    for part in (
        f"{whom} changed their name",
        f"{whom} made new recovery codes",
        f"{whom} ended a session",
        f"{whom} ended their other sessions",
        f"{whom} reset their password by an emailed link",
        f"An operator turned two-step sign-in off for {whom}",
        f"An operator ended a session of {whom}",
        f"An operator ended the sessions of {whom}",
        f"An operator reset the password of {whom}",
        f"An operator deleted {whom}",
    ):
        assert part in said, part
