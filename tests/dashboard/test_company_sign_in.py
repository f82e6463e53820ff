"""Sign-in with a company's account: groups become roles, what cannot be trusted is refused, and lost groups end it."""

from __future__ import annotations

import html
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.people import company_sign_in, links, openid
from siteglass.people.secrecy import digest
from testing.dashboard.actions import words
from testing.dashboard.visitors import FORM, SESSION, Office, Visitor, office
from tests.dashboard.openid_provider import CLIENT_ID, CLIENT_SECRET, Provider, Spoil, new_key, openid_provider
from tests.suppression.world import command

COMPANY = "/dashboard/sign-in/company"
KEYS = "/dashboard/keys/new"


@dataclass
class Company:
    """A customer whose people sign in at a provider."""

    office: Office
    provider: Provider
    account: int
    domain: str
    secret_file: Path

    def person(self, *groups: str, **claims: Any) -> str:
        """The subject of somebody new."""
        subject = secrets.token_hex(6)
        self.provider.people[subject] = {
            "email": f"{subject}@{self.domain}", "name": "Grace Hopper", "groups": list(groups), **claims,
        }  # fmt: skip
        return subject

    def enter(self, subject: str, visitor: Visitor | None = None) -> tuple[Visitor, httpx.Response]:
        """Somebody who signs in at the provider, and the answer to their way back."""
        visitor = visitor or self.office.visitor()
        visitor.get(COMPANY)
        sent = visitor.post(COMPANY, {"email": f"me@{self.domain}", "next": "/dashboard/usage"})
        assert sent.status_code == 200, words(sent)
        return visitor, visitor.get(self.provider.enter(address_in(sent), subject))

    def set(self, *options: str) -> None:
        command(
            self.office.settings, "sso", "set", str(self.account), "--issuer", self.provider.issuer, "--client-id",
            CLIENT_ID, "--client-secret", str(self.secret_file), "--domain", self.domain, "--group", "sales=member",
            "--group", "guests=viewer", *options,
        )  # fmt: skip

    def later(self, seconds: int) -> None:
        """As if sessions had been checked so much earlier."""
        self.office.do(
            lambda postgres: postgres.fetch(
                "UPDATE {schema}.sessions SET checked_at = checked_at - make_interval(secs => $1)", seconds
            )
        )


def address_in(page: httpx.Response) -> str:
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.text)
    assert found, words(page)
    return html.unescape(found[1])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    with office(
        f"sso-{worker_id}", tmp_path_factory.mktemp("sso"), own_tables=True, outgoing_allowed=("127.0.0.1",)
    ) as made:
        yield made


@pytest.fixture
def company(service: Office, tmp_path: Path) -> Iterator[Company]:
    secret_file = tmp_path / "secret"
    secret_file.write_text(f"{CLIENT_SECRET}\n")
    with openid_provider() as provider:
        account = service.account()
        service.somebody(account, "owner")
        made = Company(service, provider, account, f"c{secrets.token_hex(4)}.test", secret_file)
        made.set()
        yield made


@pytest.mark.promise("sso.in")
def test_somebody_new_signs_in_with_the_role_of_their_groups(company: Company) -> None:
    assert "Sign in with your company's account" in company.office.visitor().get("/dashboard/sign-in").text
    subject = company.person("guests", "sales", "others")
    visitor, back = company.enter(subject)
    assert (back.status_code, back.headers["location"]) == (303, "/dashboard/usage")
    assert "Grace Hopper" in visitor.get("/dashboard/usage").text
    people = words(visitor.get("/dashboard/people"))
    assert f"Grace Hopper {subject}@{company.domain} member" in people
    # The release before, which would let them into all accounts of the person, does not find such sessions.
    before = digest(visitor.cookies[SESSION])
    count = "SELECT FROM {schema}.sessions WHERE digest = $1"
    assert company.office.do(lambda postgres: postgres.fetch(count, before)) == []
    # Password, second factor and other accounts are not reached from here.
    refused = visitor.get("/dashboard/security")
    assert (refused.status_code, "Your company manages your sign-in" in words(refused)) == (403, True)
    # The next time they are the same person, whatever their address is by then.
    company.provider.people[subject]["email"] = "other@elsewhere.test"
    again, _ = company.enter(subject)
    assert words(again.get("/dashboard/people")).count("Grace Hopper") == words(visitor.get("/dashboard/people")).count(
        "Grace Hopper"
    )


@pytest.mark.promise("sso.in")
def test_somebody_whom_the_provider_knows_anew_stays_the_same_person(company: Company) -> None:
    email = f"ada@{company.domain}"
    company.enter(company.person("sales", email=email))
    anew = company.person("guests", email=email)
    assert "is not the one that you had here" in words(company.enter(anew)[1])
    command(company.office.settings, "sso", "forget", str(company.account), email.upper())
    visitor, back = company.enter(anew)
    assert (back.status_code, words(visitor.get("/dashboard/people")).count(email)) == (303, 1)
    with openid_provider() as other:
        company.provider = other
        company.set()
        visitor, back = company.enter(company.person("sales", email=email))
        assert (back.status_code, words(visitor.get("/dashboard/people")).count(f"{email} member")) == (303, 1)


def _set(name: str, value: Any) -> Spoil:
    return lambda claims: claims.update({name: value})


@pytest.mark.promise("sso.refused")
@pytest.mark.parametrize(
    ("spoil", "algorithm"),
    [
        (_set("iss", "https://evil.test"), "RS256"),
        (_set("aud", "another client"), "RS256"),
        (_set("aud", [CLIENT_ID, "another client"]), "RS256"),
        (_set("nonce", "another"), "RS256"),
        (lambda claims: claims.pop("nonce"), "RS256"),
        (_set("exp", int(time.time()) - 120), "RS256"),
        (lambda claims: claims.pop("exp"), "RS256"),
        (None, "none"),
        (None, "HS256"),
    ],
    ids=["issuer", "audience", "two audiences", "nonce", "no nonce", "expired", "no expiry", "none", "HMAC"],
)
def test_a_token_that_cannot_be_trusted_is_refused(company: Company, spoil: Spoil | None, algorithm: str) -> None:
    company.provider.spoil, company.provider.algorithm = spoil, algorithm
    visitor, back = company.enter(company.person("sales"))
    assert back.status_code == 422
    assert "Your company's account did not let you in: its ID token is not valid" in words(back)
    assert visitor.get("/dashboard/usage").headers["location"].startswith("/dashboard/sign-in")


@pytest.mark.promise("sso.refused")
def test_people_without_group_or_with_a_strange_address_are_refused(company: Company) -> None:
    for subject, why in (
        (company.person("others"), "You are in no group that may enter"),
        (company.person("sales", email="ada@other.test"), "sends no verified address"),
        (company.person("sales", email_verified=False), "sends no verified address"),
        (company.person("sales", email_verified="false"), "sends no verified address"),
    ):
        _, back = company.enter(subject)
        assert (back.status_code, why in words(back)) == (422, True)
    nobody = company.office.visitor()
    denied = nobody.get(f"{COMPANY}/back/{company.account}?error=access_denied")
    assert "did not let you in: it answers 'access_denied'" in words(denied)
    nobody.get(COMPANY)
    unknown = nobody.post(COMPANY, {"email": "ada@unknown.test"})
    assert "No company's account is set up for this address" in words(unknown)


@pytest.mark.promise("sso.refused")
def test_a_way_back_works_once_in_the_browser_that_began_it(company: Company) -> None:
    subject = company.person("sales")
    victim, thief = company.office.visitor(), company.office.visitor()
    for visitor in (victim, thief):
        visitor.get(COMPANY)
    sent = thief.post(COMPANY, {"email": f"me@{company.domain}"})
    back = company.provider.enter(address_in(sent), subject)
    assert "This sign-in was started elsewhere" in words(victim.get(back))
    assert thief.get(back).status_code == 303
    assert thief.get(back).status_code == 422


@pytest.mark.promise("sso.refused")
def test_a_way_back_from_another_provider_is_refused(company: Company) -> None:
    def enter(spoil: Callable[[str], str]) -> httpx.Response:
        visitor = company.office.visitor()
        visitor.get(COMPANY)
        sent = visitor.post(COMPANY, {"email": f"me@{company.domain}"})
        return visitor.get(spoil(company.provider.enter(address_in(sent), subject)))

    subject = company.person("sales")
    elsewhere = enter(lambda back: back.replace(f"/back/{company.account}?", f"/back/{company.account + 1}?"))
    another = enter(lambda back: re.sub("iss=.*", "iss=https://evil.test", back))
    company.provider.names_itself = False  # though its configuration says that it does
    for refused in (elsewhere, another, enter(str)):
        assert (refused.status_code, "This sign-in was started elsewhere" in words(refused)) == (422, True)


@pytest.mark.promise("sso.refused")
def test_tries_from_an_address_and_sessions_of_a_person_are_limited(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(company_sign_in, "MAX_OF_PERSON", 1)
    subject = company.person("sales")
    first, second = company.enter(subject)[0], company.enter(subject)[0]
    assert [one.get("/dashboard/usage").status_code for one in (first, second)] == [303, 200]
    monkeypatch.setattr(company_sign_in, "MAX_STARTS", 2)
    assert [second.get(f"{COMPANY}/back/1").status_code for _ in range(2)] == [422, 429]


@pytest.mark.promise("sso.in")
def test_new_keys_of_the_provider_are_read_and_strange_ones_refused(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "KEYS_AGAIN_S", 0)
    assert company.enter(company.person("sales"))[1].status_code == 303
    company.provider.key = new_key()
    assert company.enter(company.person("sales"))[1].status_code == 303
    company.provider.published, company.provider.key = company.provider.key, new_key()
    assert company.enter(company.person("sales"))[1].status_code == 422


@pytest.mark.promise("sso.groups")
def test_nobody_is_signed_out_while_keys_cannot_be_read(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = []
    for subject in (company.person("sales"), company.person("sales")):
        visitor = company.office.visitor()
        visitor.get(COMPANY)
        sent = visitor.post(COMPANY, {"email": f"me@{company.domain}"})
        addresses.append((visitor, company.provider.enter(address_in(sent), subject)))
    company.provider.keys_after_s = 0.5
    with ThreadPoolExecutor(2) as pool:  # both need the keys, which nobody read before
        assert [back.status_code for back in pool.map(lambda one: one[0].get(one[1]), addresses)] == [303, 303]
    visitor, _ = addresses[0]
    company.provider.key = new_key()  # sooner after the last reading than keys are read again
    company.later(60)
    assert visitor.get("/dashboard/usage").status_code == 503
    monkeypatch.setattr(openid, "KEYS_AGAIN_S", 0)
    company.provider.keys_status = 500
    assert visitor.get("/dashboard/usage").status_code == 503
    company.provider.keys_status = 200
    assert visitor.get("/dashboard/usage").status_code == 200


@pytest.mark.promise("sso.groups")
def test_a_lost_group_ends_access_within_a_minute(company: Company) -> None:
    subject = company.person("sales")
    visitor, _ = company.enter(subject)
    company.provider.people[subject]["groups"] = []
    assert visitor.get("/dashboard/usage").status_code == 200  # checked just now
    assert company_sign_in.CHECKED_WITHIN.total_seconds() < 60
    company.later(int(company_sign_in.CHECKED_WITHIN.total_seconds()))
    with ThreadPoolExecutor(4) as pool:  # each refresh token works once
        answers = list(pool.map(lambda _: visitor.get("/dashboard/usage"), range(4)))
    assert {answer.status_code for answer in answers} == {303}
    assert company.provider.refreshed == 1
    assert "You are in no group" in words(company.enter(subject)[1])
    owner = company.office.visitor(company.office.somebody(company.account, "owner"))
    assert subject not in words(owner.get("/dashboard/people"))


@pytest.mark.promise("sso.groups")
def test_a_token_without_groups_signs_out_and_removes_nobody(company: Company) -> None:
    subject = company.person("sales")
    visitor, _ = company.enter(subject)
    company.provider.spoil = lambda claims: claims.pop("groups")
    company.later(40)
    assert visitor.get("/dashboard/usage").status_code == 303
    assert "You are in no group" in words(company.enter(subject)[1])
    owner = company.office.visitor(company.office.somebody(company.account, "owner"))
    assert subject in words(owner.get("/dashboard/people"))
    # Groups that give no role remove them, also of somebody who only tries to come back.
    company.provider.spoil, company.provider.people[subject]["groups"] = None, ["others"]
    assert "You are in no group" in words(company.enter(subject)[1])
    assert subject not in words(owner.get("/dashboard/people"))


@pytest.mark.promise("sso.groups")
def test_another_group_is_another_role_and_silence_lets_nobody_in(company: Company) -> None:
    subject = company.person("sales")
    visitor, _ = company.enter(subject)
    company.provider.people[subject]["groups"] = ["guests"]
    company.later(40)
    assert visitor.get(KEYS).status_code == 403
    owner = company.office.visitor(company.office.somebody(company.account, "owner"))
    assert "Your company's account changed the role of Grace Hopper" in words(owner.get("/dashboard/audit"))
    company.provider.is_away = True
    company.later(40)
    assert visitor.get("/dashboard/usage").status_code == 200
    company.later(40)
    assert visitor.get("/dashboard/usage").status_code == 503
    company.provider.is_away = False
    assert visitor.get("/dashboard/usage").status_code == 200
    # Without the person, too.
    del company.provider.people[subject]
    company.later(60)
    assert visitor.get("/dashboard/usage").status_code == 303


@pytest.mark.promise("sso.groups")
def test_while_the_provider_does_not_answer_people_sign_out_and_in_otherwise(company: Company) -> None:
    leaving, _ = company.enter(company.person("sales"))
    staying, _ = company.enter(company.person("sales"))
    company.provider.is_away = True
    company.later(60)
    assert leaving.get("/dashboard/usage").status_code == 503
    assert leaving.post("/dashboard/sign-out").status_code == 303
    owner = company.office.somebody(company.account, "owner")
    assert staying.get("/dashboard/sign-in").status_code == 200
    token = staying.token_of(staying.cookies[FORM])  # as nobody
    staying.post("/dashboard/sign-in", {"email": owner.email, "password": owner.password, "token": token})
    assert staying.get("/dashboard/usage").status_code == 200


@pytest.mark.promise("sso.fresh")
def test_what_matters_needs_a_new_sign_in_at_the_provider(company: Company) -> None:
    company.provider.auth_age_s = 3_600
    subject = company.person("sales")
    visitor, _ = company.enter(subject)
    asked = visitor.get(KEYS)
    assert asked.headers["location"] == "/dashboard/confirm?next=%2Fdashboard%2Fkeys%2Fnew"
    page = visitor.get(asked.headers["location"])
    assert "needs a new sign-in with your company's account" in words(page)
    assert 'name="password"' not in page.text

    def again() -> httpx.Response:
        address = address_in(visitor.post(f"{COMPANY}/again", {"next": KEYS}))
        assert "prompt=login&max_age=0" in address
        return visitor.get(company.provider.enter(address, subject))

    assert again().headers["location"] == KEYS
    assert visitor.get(KEYS).status_code == 303  # the provider did not ask for the password again
    company.provider.auth_age_s = 0
    assert again().headers["location"] == KEYS
    assert visitor.get(KEYS).status_code == 200


@pytest.mark.promise("sso.required")
def test_a_password_opens_neither_their_account_nor_one_that_requires_the_company(company: Company) -> None:
    known = company.office.somebody(company.account, "member", email=f"ada@{company.domain}")
    other = company.office.account()
    company.office.do(
        lambda postgres: postgres.fetch(
            "INSERT INTO {schema}.members (account_id, person_id, role) VALUES ($1, $2, 'owner')", other, known.id
        )
    )
    before = company.office.visitor(known)
    assert before.get("/dashboard/usage").status_code == 200
    visitor, back = company.enter(company.person("sales", email=known.email))
    assert back.status_code == 303
    assert before.get("/dashboard/usage").status_code == 303  # from now on through the provider only
    # That session reaches no other account of the person, and a password only those.
    assert visitor.post("/dashboard/accounts", {"account": str(other)}).status_code == 403
    assert visitor.get("/dashboard/accounts").status_code == 403
    assert visitor.post("/dashboard/confirm", {"password": known.password}).status_code == 403
    assert visitor.post("/dashboard/sign-out").status_code == 303
    audited = "SELECT account_id FROM {schema}.audit WHERE actor_id = $1 AND action LIKE 'person.s%'"
    noted = [row["account_id"] for row in company.office.do(lambda postgres: postgres.fetch(audited, str(known.id)))]
    # Signed in by password, which both see; signed in at the provider and out, which the other account does not.
    assert (noted.count(company.account), noted.count(other)) == (3, 1)
    visitor, _ = company.enter(company.person("sales", email=f"grace@{company.domain}"))
    by_password = company.office.visitor(known)
    assert by_password.post("/dashboard/accounts", {"account": str(company.account)}).status_code == 404
    owner = company.office.somebody(company.account, "owner")
    inside = company.office.visitor(owner)
    assert inside.get("/dashboard/usage").status_code == 200
    company.set("--required")
    assert inside.get("/dashboard/usage").status_code == 303
    outside = company.office.visitor()
    outside.get("/dashboard/sign-in")
    refused = outside.post("/dashboard/sign-in", {"email": owner.email, "password": owner.password})
    assert "Sign in with your company's account" in words(refused)
    # An invitation leads nowhere, and signs nobody out.
    guest = company.office.somebody(other, "member")
    link = company.office.do(
        lambda postgres: links.new_invitation(postgres, guest.email, company.account, "member", ("operator", "test"))
    )
    invited = company.office.visitor(guest)
    assert "without an invitation" in words(invited.post(f"/dashboard/join/{link}"))
    assert invited.get("/dashboard/usage").status_code == 200
    command(company.office.settings, "sso", "remove", str(company.account))
    assert company.office.visitor(owner).get("/dashboard/usage").status_code == 200
