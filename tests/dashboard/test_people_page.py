"""The people of an account: invited, joined, given another role, removed; an owner always stays."""

from __future__ import annotations

import re
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from siteglass.people.links import MAX_INVITATIONS
from siteglass.people.sign_in import INVITATIONS_OF_ACCOUNT
from testing.dashboard.actions import HOSTILE, age_password, invitation, many_people, words
from testing.dashboard.visitors import PASSWORD, Office, Somebody, Visitor


def _address() -> str:
    return f"{secrets.token_hex(4)}@invited.test"


def _role(office: Office, who: Somebody) -> str | None:
    rows = office.do(
        lambda postgres: postgres.fetch(
            "SELECT role::text FROM {schema}.members WHERE account_id = $1 AND person_id = $2",
            who.account_id,
            who.id,
        )
    )
    return str(rows[0]["role"]) if rows else None


def _invite(visitor: Visitor, email: str, role: str = "member") -> None:
    sent = visitor.post("/dashboard/people/invite", {"email": email, "role": role})
    assert (sent.status_code, sent.headers["location"]) == (303, "/dashboard/people?done=invited"), sent.text


def test_somebody_new_is_invited_and_joins(the_office: Office) -> None:
    who = the_office.somebody()
    owner, email = the_office.visitor(who), _address()
    _invite(owner, f" {email.upper()} ")
    assert email in owner.get("/dashboard/people").text
    path = invitation(the_office, email)
    visitor = the_office.visitor()
    visitor.get(path)
    joined = visitor.post(path, {"name": "Grace Hopper", "password": "another horse, another staple"})
    assert joined.headers["location"] == "/dashboard/explore?done=joined"
    listed = words(visitor.get("/dashboard/people"))
    assert f"Grace Hopper {email} member you off just now" in listed
    assert "No pending invitations" in owner.get("/dashboard/people").text
    assert visitor.get("/dashboard/audit").status_code == 403
    trail = words(owner.get("/dashboard/audit"))
    assert f"Grace Hopper {email} joined as member" in trail
    assert f"Ada Lovelace {who.email} invited somebody as member" in trail


def test_somebody_known_joins_a_second_account(the_office: Office) -> None:
    owner = the_office.visitor(the_office.somebody())
    known = the_office.somebody(name="Grace Hopper")
    _invite(owner, known.email, "viewer")
    path = invitation(the_office, known.email)
    visitor = the_office.visitor(known)
    assert "You will be <strong>viewer</strong>" in visitor.get(path).text
    assert visitor.post(path).headers["location"] == "/dashboard/explore?done=joined"
    assert "Grace Hopper" in owner.get("/dashboard/people").text
    assert visitor.get("/dashboard/people/invite").status_code == 403


def test_an_invitation_that_is_withdrawn_works_no_more(the_office: Office) -> None:
    owner, email = the_office.visitor(the_office.somebody()), _address()
    _invite(owner, email)
    page = owner.get("/dashboard/people").text
    number = page.partition("/dashboard/people/invitations/")[2].partition("/")[0]
    stranger = the_office.visitor(the_office.somebody())
    assert stranger.post(f"/dashboard/people/invitations/{number}/withdraw").status_code == 404
    done = owner.post(f"/dashboard/people/invitations/{number}/withdraw")
    assert done.headers["location"] == "/dashboard/people?done=withdrawn"
    assert the_office.visitor().get(invitation(the_office, email)).status_code == 404
    assert owner.post(f"/dashboard/people/invitations/{number}/withdraw").status_code == 404


def test_what_is_wrong_with_an_invitation_stands_beside_the_form(the_office: Office) -> None:
    who = the_office.somebody()
    owner = the_office.visitor(who)
    for email, role, said in (
        ("nobody", "viewer", "Enter an email address, such as"),
        (who.email, "viewer", "already belongs to the account"),
        ("a@b.example", "king", "Choose one of these options."),
    ):
        answer = owner.post("/dashboard/people/invite", {"email": email, "role": role})
        assert answer.status_code == 422
        assert said in answer.text
        assert f'value="{email}"' in answer.text
    the_office.do(
        lambda postgres: postgres.fetch(
            "INSERT INTO {schema}.links (digest, purpose, email, account_id, role, expires_at)"
            " SELECT sha256(($1::bigint || '-' || n)::bytea), 'invite', n || '@full.test', $1, 'viewer',"
            " now() + interval '1 day' FROM generate_series(1, $2) n",
            who.account_id,
            MAX_INVITATIONS,
        )
    )
    answer = owner.post("/dashboard/people/invite", {"email": _address(), "role": "viewer"})
    assert answer.status_code == 422
    assert "Withdraw some first." in answer.text


def test_the_people_of_an_account_send_only_so_many_invitations_an_hour(the_office: Office) -> None:
    who = the_office.somebody()
    owner, another = the_office.visitor(who), the_office.visitor(the_office.somebody(who.account_id, "owner"))
    email = _address()
    for _ in range(INVITATIONS_OF_ACCOUNT):
        _invite(owner, email)
    refused = another.post("/dashboard/people/invite", {"email": email, "role": "member"})
    assert refused.status_code == 429
    assert "Too many attempts. Try again in 60 minutes." in refused.text
    _invite(the_office.visitor(the_office.somebody()), _address())  # the owner of another account


def test_an_owner_changes_roles_and_removes(the_office: Office) -> None:
    who = the_office.somebody()
    owner, grace = the_office.visitor(who), the_office.somebody(who.account_id, "viewer", "Grace Hopper")
    visitor = the_office.visitor(grace)
    assert visitor.get("/dashboard/keys/new").status_code == 403
    done = owner.post(f"/dashboard/people/{grace.id}/role", {"role": "member"})
    assert done.headers["location"] == "/dashboard/people?done=role-changed"
    assert visitor.get("/dashboard/keys/new").status_code == 200
    assert owner.post(f"/dashboard/people/{grace.id}/role", {"role": "king"}).status_code == 422
    done = owner.post(f"/dashboard/people/{grace.id}/remove")
    assert done.headers["location"] == "/dashboard/people?done=removed"
    assert visitor.get("/dashboard/people").headers["location"].startswith("/dashboard/sign-in")
    trail = words(owner.get("/dashboard/audit"))
    assert f"Ada Lovelace {who.email} changed the role of Grace Hopper {grace.email} Now member" in trail
    assert f"Ada Lovelace {who.email} removed Grace Hopper {grace.email}" in trail


def test_a_person_leaves_but_not_the_last_owner(the_office: Office) -> None:
    who = the_office.somebody()
    owner, grace = the_office.visitor(who), the_office.somebody(who.account_id, "viewer", "Grace Hopper")
    visitor = the_office.visitor(grace)
    assert "Leave this account?" in visitor.get("/dashboard/people/leave").text
    assert visitor.post("/dashboard/people/leave").headers["location"] == "/dashboard/sign-in?done=left"
    assert _role(the_office, grace) is None
    assert f"Grace Hopper {grace.email} left the account" in words(owner.get("/dashboard/audit"))
    refused = owner.post("/dashboard/people/leave")
    assert refused.status_code == 422
    assert "An account needs an owner." in refused.text
    assert owner.post(f"/dashboard/people/{who.id}/remove").headers["location"] == "/dashboard/people/leave"
    demoted = owner.post(f"/dashboard/people/{who.id}/role", {"role": "member"})
    assert demoted.status_code == 422
    assert "An account needs an owner." in demoted.text
    assert _role(the_office, who) == "owner"


@pytest.mark.race
def test_two_owners_who_demote_or_remove_each_other_at_once_leave_one(the_office: Office) -> None:
    for step, fields in (("role", {"role": "viewer"}), ("remove", {})):
        first = the_office.somebody()
        second = the_office.somebody(first.account_id, "owner", "Grace Hopper")
        pairs = ((the_office.visitor(first), second), (the_office.visitor(second), first))
        with ThreadPoolExecutor(2) as threads:
            sent = [threads.submit(by.post, f"/dashboard/people/{whom.id}/{step}", fields) for by, whom in pairs]
            statuses = sorted(one.result().status_code for one in sent)
        assert statuses[0] == 303
        assert [_role(the_office, who) for who in (first, second)].count("owner") == 1, statuses


def test_only_owners_change_who_is_here(the_office: Office) -> None:
    who = the_office.somebody()
    for role in ("viewer", "member"):
        visitor = the_office.visitor(the_office.somebody(who.account_id, role))
        page = visitor.get("/dashboard/people")
        assert page.status_code == 200
        assert "/dashboard/people/invite" not in page.text
        answers = [
            visitor.get("/dashboard/people/invite"),
            visitor.post("/dashboard/people/invite", {"email": _address(), "role": "viewer"}),
            visitor.get(f"/dashboard/people/{who.id}"),
            visitor.post(f"/dashboard/people/{who.id}/role", {"role": "viewer"}),
            visitor.post(f"/dashboard/people/{who.id}/remove"),
            visitor.post("/dashboard/people/invitations/1/withdraw"),
        ]
        assert [answer.status_code for answer in answers] == [403] * 6


def test_people_of_another_account_are_not_there(the_office: Office) -> None:
    other = the_office.somebody(name="Not yours")
    owner = the_office.visitor(the_office.somebody())
    answers = [
        owner.get(f"/dashboard/people/{other.id}"),
        owner.post(f"/dashboard/people/{other.id}/role", {"role": "viewer"}),
        owner.post(f"/dashboard/people/{other.id}/remove"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 3
    assert not any("Not yours" in answer.text for answer in answers)
    assert _role(the_office, other) == "owner"


def test_the_password_is_asked_for_again(the_office: Office) -> None:
    who = the_office.somebody()
    owner = the_office.visitor(who)
    age_password(the_office, who)
    there = "/dashboard/confirm?next=%2Fdashboard%2Fpeople%2Finvite"
    assert owner.get("/dashboard/people/invite").headers["location"] == there
    email = _address()
    sent = owner.post(
        "/dashboard/people/invite",
        {"email": email, "role": "viewer"},
        Referer=f"{the_office.url}/dashboard/people/invite",
    )
    assert sent.headers["location"] == there
    assert the_office.outbox.mails(email) == []
    owner.post("/dashboard/confirm", {"password": PASSWORD, "next": "/dashboard/people/invite"})
    _invite(owner, email)


def test_hostile_addresses_are_text(the_office: Office) -> None:
    owner = the_office.visitor(the_office.somebody())
    for text in HOSTILE:
        page = owner.post("/dashboard/people/invite", {"email": text, "role": text})
        assert page.status_code == 422
        assert text not in page.text
        assert "alert(1)" in page.text


def test_the_last_of_many_people_can_be_managed(the_office: Office) -> None:
    who = the_office.somebody()
    many_people(the_office, who.account_id, 1_001, "Anna")
    zoe = the_office.somebody(who.account_id, "viewer", "Zoe")
    owner = the_office.visitor(who)
    assert "Zoe" in owner.get(f"/dashboard/people/{zoe.id}").text
    assert owner.post(f"/dashboard/people/{zoe.id}/role", {"role": "member"}).status_code == 303
    assert _role(the_office, zoe) == "member"
    assert owner.post(f"/dashboard/people/{zoe.id}/remove").status_code == 303
    assert _role(the_office, zoe) is None
    assert owner.get(f"/dashboard/people/{zoe.id}").status_code == 404
    elsewhere = the_office.somebody()
    assert owner.get(f"/dashboard/people/{elsewhere.id}").status_code == 404


def test_people_are_shown_a_hundred_at_a_time(the_office: Office) -> None:
    who = the_office.somebody()
    many_people(the_office, who.account_id, 250, "anna")
    visitor = the_office.visitor(who)
    seen: list[str] = []
    for number, links in ((1, ["2"]), (2, ["1", "3"]), (3, ["2"])):
        page = visitor.get(f"/dashboard/people?page={number}").text
        assert re.findall(r'href="\?page=(\d+)"', page) == links
        seen += re.findall(r'<strong class="cut" title="([^"]*)"', page)
    assert seen == ["Ada Lovelace", *(f"anna {number:04}" for number in range(1, 251))]
    assert "251 people, owners first." in words(visitor.get("/dashboard/people"))
    for wrong in ("4", "0", "1001", "x", "-1", "9" * 30):
        assert visitor.get(f"/dashboard/people?page={wrong}").status_code == 404
    alone = the_office.visitor(the_office.somebody())
    assert "?page=" not in alone.get("/dashboard/people").text
