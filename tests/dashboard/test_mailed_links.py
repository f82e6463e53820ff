"""Links that are mailed: a new password, and invitations. Each works once, and reveals to nobody who is known."""

from __future__ import annotations

import asyncio
import datetime
import secrets
import time
from dataclasses import replace
from email.message import EmailMessage

import pytest

from siteglass.access.audit import list_audit
from siteglass.people import credentials, links, people
from siteglass.people.mails import DELAY_S
from siteglass.people.problems import PeopleError
from siteglass.platform.postgres import Postgres
from testing.dashboard.visitors import SESSION, Office, Somebody, Visitor, link_in
from tests.dashboard.test_second_factor import set_up, with_code
from tests.dashboard.test_sign_in import change, same_time, try_to

NEW = "some other long password"


def mailed(office: Office, to: str, count: int = 1) -> EmailMessage:
    """The newest of so many mails; they go out after the answer."""
    found = office.outbox.wait(to, count)
    assert len(found) == count
    return found[-1]


def ask(visitor: Visitor, email: str) -> str:
    visitor.get("/dashboard/forgot")
    answer = visitor.post("/dashboard/forgot", {"email": email})
    assert answer.status_code == 200
    return answer.text


def test_a_new_password_by_a_mailed_link_ends_all_sessions_and_works_once(the_office: Office) -> None:
    who = the_office.somebody()
    signed_in = the_office.visitor(who)
    visitor = the_office.visitor()
    ask(visitor, who.email)
    path = link_in(mailed(the_office, who.email).get_content())
    assert who.email in visitor.get(path).text
    short = visitor.post(path, {"password": "too short"})
    assert (short.status_code, "At least 15 characters" in short.text) == (422, True)
    for guessed in ("a" * 20, who.email, "x" + who.email + "x"):
        assert visitor.post(path, {"password": guessed}).status_code == 422
    assert visitor.post(path, {"password": NEW}).headers["location"] == "/dashboard/sign-in?done=password-reset"
    assert signed_in.get("/dashboard").status_code == 303
    assert visitor.get(path).status_code == 404
    assert visitor.post(path, {"password": NEW + "!"}).status_code == 404
    assert try_to(visitor, who.email, who.password).status_code == 422
    assert try_to(visitor, who.email, NEW).status_code == 303
    _, *told = (mail["Subject"] for mail in the_office.outbox.wait(who.email, 3))
    assert sorted(told) == ["New sign-in to Siteglass", "Your Siteglass password was changed"]
    visitor.post("/dashboard/sign-out")
    assert try_to(visitor, who.email, NEW).status_code == 303
    time.sleep(DELAY_S[1] + 0.1)
    mailed(the_office, who.email, 3)  # none about a browser that is known


def test_a_newer_link_replaces_the_one_before_and_an_old_one_has_expired(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor()
    ask(visitor, who.email)
    first = link_in(mailed(the_office, who.email).get_content())
    ask(visitor, who.email)
    second = link_in(mailed(the_office, who.email, 2).get_content())
    assert visitor.get(first).status_code == 404
    assert visitor.get(second).status_code == 200
    change(the_office, "DELETE FROM {schema}.links WHERE email = $1", who.email)

    async def expired(postgres: object) -> str:
        life, links.LIVES["reset"] = links.LIVES["reset"], datetime.timedelta(seconds=-1)
        try:
            return await links.new_reset(postgres, who.email)  # type: ignore[arg-type]
        finally:
            links.LIVES["reset"] = life

    token = the_office.do(expired)
    assert visitor.get(f"/dashboard/reset/{token}").status_code == 404
    assert visitor.post(f"/dashboard/reset/{token}", {"password": NEW}).status_code == 404


def test_known_and_unknown_get_the_same_answer_and_only_the_known_a_mail(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor()
    unknown = f"{secrets.token_hex(4)}@people.test"
    pages = {email: ask(visitor, email) for email in (who.email, unknown)}
    same = {
        "".join(line for line in page.replace(email, "").splitlines() if "nonce" not in line)
        for email, page in pages.items()
    }
    assert len(same) == 1
    mailed(the_office, who.email)
    assert the_office.outbox.mails(unknown) == []


@pytest.mark.timing
def test_known_and_unknown_take_the_same_time(the_office: Office) -> None:
    def measure(times: dict[str, list[float]]) -> None:
        visitor = the_office.visitor()
        known = [the_office.somebody().email for _ in range(4)]
        emails = {"known": known, "unknown": [f"{secrets.token_hex(4)}@people.test" for _ in known]}
        for turn in range(16):
            for kind in times:
                started = time.perf_counter()
                visitor.get("/dashboard/forgot")
                visitor.post("/dashboard/forgot", {"email": emails[kind][turn % 4]})
                times[kind].append(time.perf_counter() - started)

    same_time(measure)


def test_one_asks_for_at_most_five_links_an_hour_and_takes_none_from_others(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor()
    for _ in range(5):
        ask(visitor, who.email)
    answer = visitor.post("/dashboard/forgot", {"email": who.email})
    assert answer.status_code == 429
    assert "Too many attempts. Try again in 60 minutes." in answer.text
    ask(the_office.visitor(), who.email)  # somebody else asks from elsewhere


def test_a_locked_out_person_gets_in_by_a_new_password(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor()
    for _ in range(10):
        try_to(visitor, who.email, "not the password at all")
    assert try_to(visitor, who.email, who.password).status_code == 429
    ask(visitor, who.email)
    assert visitor.post(link_in(mailed(the_office, who.email).get_content()), {"password": NEW}).status_code == 303
    assert try_to(visitor, who.email, NEW).status_code == 303


def test_links_begin_with_the_service_s_own_address_whatever_the_request_says(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor()
    visitor.get("/dashboard/forgot")
    sent = visitor.post(
        "/dashboard/forgot", {"email": who.email}, **{"X-Forwarded-Host": "evil.test", "Host": "evil.test"}
    )
    assert sent.status_code in (200, 403)
    if sent.status_code == 200:
        assert "evil.test" not in mailed(the_office, who.email).get_content()


def test_a_new_password_withdraws_links_that_would_set_another(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor(who)
    ask(visitor, who.email)
    path = link_in(mailed(the_office, who.email).get_content())
    assert visitor.post("/dashboard/security/password", {"password": NEW}).status_code == 303
    assert visitor.get(path).status_code == 404


@pytest.mark.race
def test_of_links_that_are_made_at_once_one_works(the_office: Office) -> None:
    who = the_office.somebody()

    async def many(postgres: Postgres) -> int:
        made = [links.new_reset(postgres, who.email) for _ in range(5)]
        tokens = await asyncio.gather(*made)
        found = [await links.look_at(postgres, "reset", token) for token in tokens]
        return sum(link is not None for link in found)

    assert the_office.do(many) == 1


def test_a_reset_forgives_codes_too(the_office: Office) -> None:
    who = the_office.somebody()
    totp, _ = set_up(the_office.visitor(who))
    visitor = the_office.visitor()
    for _ in range(10):
        with_code(visitor, who, "000000")
    ask(visitor, who.email)
    reset = mailed(the_office, who.email, 2)  # the first one says that two-step sign-in was turned on
    assert visitor.post(link_in(reset.get_content()), {"password": NEW}).status_code == 303
    assert with_code(visitor, replace(who, password=NEW), totp.now()).status_code == 303


def test_invitations_go_with_who_sent_them(the_office: Office) -> None:
    owner = the_office.somebody()
    for role in ("removed", "member"):
        other = the_office.somebody(owner.account_id)
        email = f"{secrets.token_hex(4)}@people.test"
        invited = the_office.visitor(other).post("/dashboard/people/invite", {"email": email, "role": "owner"})
        assert invited.status_code == 303
        path = link_in(mailed(the_office, email).get_content())
        assert the_office.visitor().get(path).status_code == 200

        async def act(postgres: Postgres, role: str = role, who: Somebody = other) -> None:
            if role == "removed":
                await people.remove(postgres, owner.account_id, who.id, owner.id)
            else:
                await people.set_role(postgres, owner.account_id, who.id, role, owner.id)

        the_office.do(act)
        assert the_office.visitor().get(path).status_code == 404


def test_an_invitation_that_is_sent_again_at_the_limit_replaces_itself(the_office: Office) -> None:
    account = the_office.account()

    async def fill(postgres: Postgres) -> list[str]:
        by = ("operator", "tests")
        emails = [f"{number}@full.test" for number in range(links.MAX_INVITATIONS)]
        for email in [*emails, emails[0]]:
            await links.new_invitation(postgres, email, account, "viewer", by)
        with pytest.raises(PeopleError, match="100 invitations are still pending"):
            await links.new_invitation(postgres, "more@full.test", account, "viewer", by)
        return [one.email for one in await links.invitations_of(postgres, account)]

    waiting = the_office.do(fill)
    assert (len(waiting), waiting[0]) == (links.MAX_INVITATIONS, "0@full.test")


def test_what_concerns_a_person_is_noted_in_all_their_accounts(the_office: Office) -> None:
    who = the_office.somebody()
    second = the_office.account()
    visitor = the_office.visitor(who)

    async def join(postgres: Postgres) -> None:
        by = ("operator", "tests")
        token = await links.new_invitation(postgres, who.email, second, "viewer", by)
        await credentials.join(postgres, token, who.id, who.email)

    the_office.do(join)
    the_office.visitor(who)
    visitor.post("/dashboard/security/name", {"name": "Grace Hopper"})
    visitor.post("/dashboard/security/sessions/end-others")
    visitor.post("/dashboard/security/password", {"password": NEW})

    async def noted(postgres: Postgres) -> dict[int, list[str]]:
        found = {account: await list_audit(postgres, account) for account in (who.account_id, second)}
        return {
            account: [row.action for row in rows if row.actor_kind == "person" and row.actor_id == str(who.id)]
            for account, rows in found.items()
        }

    did = ["person.sign_in", "person.rename", "person.sessions_end", "person.password"]
    joined = ["person.join"]
    assert the_office.do(noted) == {who.account_id: [*joined, "person.sign_in", *did], second: [*joined, *did]}


def test_a_changed_password_ends_all_other_sessions(the_office: Office) -> None:
    who = the_office.somebody()
    here, there = the_office.visitor(who), the_office.visitor(who)
    assert here.post("/dashboard/security/password", {"password": "short"}).status_code == 422
    assert here.post("/dashboard/security/password", {"password": NEW}).headers["location"].endswith("password-changed")
    assert here.get("/dashboard").status_code == 200
    assert there.get("/dashboard").status_code == 303
    assert SESSION in here.cookies
    assert try_to(the_office.visitor(), who.email, NEW).status_code == 303
