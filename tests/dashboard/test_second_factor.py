"""Two-step sign-in: set up, asked for, taken once; recovery codes; how often one may try."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pyotp
import pytest

from siteglass.people.second_factor import STEP_S, SecondFactors, step_of
from siteglass.people.secrecy import Secrecy
from siteglass.platform.postgres import Postgres
from testing.dashboard.visitors import SESSION, Office, Somebody, Visitor
from testing.service import SECRET
from tests.suppression.world import command

CODES = re.compile(r"<li>([0-9a-z]{4}(?:-[0-9a-z]{4}){3})</li>")


def set_up(visitor: Visitor) -> tuple[pyotp.TOTP, list[str]]:
    """Turn it on; the authenticator and the recovery codes."""
    page = visitor.get("/dashboard/security/second-factor").text
    (secret,) = re.findall(r'<code id="secret" tabindex="0">([A-Z2-7 ]+)</code>', page)
    (sealed,) = re.findall(r'name="sealed" value="([^"]+)"', page)
    totp = pyotp.TOTP(secret.replace(" ", ""))
    # the code of the half minute before: this one's is then there for signing in
    code = totp.at(int(time.time()) - STEP_S)
    answer = visitor.post("/dashboard/security/second-factor", {"sealed": sealed, "code": code})
    assert answer.status_code == 200, answer.text
    codes = CODES.findall(answer.text)
    assert len(set(codes)) == 10
    return totp, codes


def with_code(visitor: Visitor, who: Somebody, code: str) -> httpx.Response:
    """Both steps."""
    visitor.cookies.clear()
    visitor.get("/dashboard/sign-in")
    first = visitor.post("/dashboard/sign-in", {"email": who.email, "password": who.password})
    assert first.status_code == 200
    assert SESSION not in visitor.cookies
    (step,) = re.findall(r'name="step" value="([^"]+)"', first.text)
    return visitor.post("/dashboard/sign-in/code", {"step": step, "code": code})


def test_after_the_password_a_code_is_asked_for_and_each_is_taken_once(the_office: Office) -> None:
    who = the_office.somebody()
    totp, _ = set_up(the_office.visitor(who))
    visitor = the_office.visitor()
    assert with_code(visitor, who, "000000").status_code == 422
    code = totp.now()
    assert with_code(visitor, who, code).headers["location"] == "/dashboard/explore"
    assert "on" in visitor.get("/dashboard/security").text
    again = with_code(the_office.visitor(), who, code)
    assert again.status_code == 422
    assert "was already used" in again.text
    # an earlier one is not taken after a later one either
    assert with_code(the_office.visitor(), who, totp.at(int(time.time()) - STEP_S)).status_code == 422


def test_other_sessions_end_when_it_is_turned_on(the_office: Office) -> None:
    who = the_office.somebody()
    other, visitor = the_office.visitor(who), the_office.visitor(who)
    assert other.get("/dashboard/security").status_code == 200
    set_up(visitor)
    assert visitor.get("/dashboard/security").status_code == 200
    assert other.get("/dashboard/security").status_code == 303


@pytest.mark.promise("dashboard.codes")
def test_of_many_with_the_same_code_one_gets_in(the_office: Office) -> None:
    who = the_office.somebody()
    totp, _ = set_up(the_office.visitor(who))
    code = totp.now()

    def one(_: int) -> int:
        visitor = Visitor(the_office.url)
        try:
            return with_code(visitor, who, code).status_code
        finally:
            visitor.close()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(one, range(6))) == [303] + [422] * 5


def test_a_recovery_code_works_once_and_new_ones_replace_all(the_office: Office) -> None:
    who = the_office.somebody()
    signed_in = the_office.visitor(who)
    _, codes = set_up(signed_in)
    visitor = the_office.visitor()
    assert with_code(visitor, who, codes[0].upper().replace("-", " ")).status_code == 303
    assert with_code(visitor, who, codes[0]).status_code == 422
    assert "9 of 10 left" in signed_in.get("/dashboard/security").text
    renewed = signed_in.post("/dashboard/security/recovery-codes")
    newer = CODES.findall(renewed.text)
    assert len(set(newer) - set(codes)) == 10
    assert with_code(the_office.visitor(), who, codes[1]).status_code == 422
    assert with_code(the_office.visitor(), who, newer[1]).status_code == 303


@pytest.mark.promise("dashboard.attempts")
def test_at_most_ten_codes_in_fifteen_minutes(the_office: Office) -> None:
    who = the_office.somebody()
    totp, _ = set_up(the_office.visitor(who))
    visitor = the_office.visitor()
    visitor.get("/dashboard/sign-in")
    first = visitor.post("/dashboard/sign-in", {"email": who.email, "password": who.password})
    (step,) = re.findall(r'name="step" value="([^"]+)"', first.text)
    tries = [visitor.post("/dashboard/sign-in/code", {"step": step, "code": "000000"}).status_code for _ in range(11)]
    assert tries == [422] * 10 + [429]
    assert visitor.post("/dashboard/sign-in/code", {"step": step, "code": totp.now()}).status_code == 429


def test_a_step_is_of_one_person_and_cannot_be_made_up(the_office: Office) -> None:
    visitor = the_office.visitor()
    visitor.get("/dashboard/sign-in")
    for step in ("", "x", "a" * 2_000, visitor.token):
        answer = visitor.post("/dashboard/sign-in/code", {"step": step, "code": "000000"})
        assert answer.status_code == 422
        assert "Sign in again" in answer.text


def test_a_step_is_worth_nothing_after_the_password_was_changed(the_office: Office) -> None:
    who = the_office.somebody()
    signed_in = the_office.visitor(who)
    _, codes = set_up(signed_in)
    thief = the_office.visitor()
    thief.get("/dashboard/sign-in")
    first = thief.post("/dashboard/sign-in", {"email": who.email, "password": who.password})
    (step,) = re.findall(r'name="step" value="([^"]+)"', first.text)
    assert signed_in.post("/dashboard/security/password", {"password": "some other long words"}).status_code == 303
    answer = thief.post("/dashboard/sign-in/code", {"step": step, "code": codes[0]})
    assert answer.status_code == 422
    assert "was changed in the meantime" in answer.text
    assert SESSION not in thief.cookies


def test_a_new_secret_of_the_settings_takes_nobody_s_second_factor(the_office: Office) -> None:
    who = the_office.somebody()
    totp, codes = set_up(the_office.visitor(who))
    newer = ("another secret of the tests, long enough", SECRET)

    async def change(postgres: Postgres) -> tuple[bool, bool]:
        await SecondFactors(postgres, Secrecy(newer)).reseal()
        alone = SecondFactors(postgres, Secrecy(newer[:1]))
        found = (
            await alone.is_code(who.id, totp.now(), time.time()),
            await alone.is_code(who.id, codes[0], time.time()),
        )
        await SecondFactors(postgres, Secrecy((SECRET, newer[0]))).reseal()  # as others have them
        return found

    assert the_office.do(change) == (True, True)


def test_an_operator_helps_who_lost_everything(the_office: Office) -> None:
    who = the_office.somebody()
    set_up(the_office.visitor(who))
    said = command(the_office.settings, "person", "second-factor-off", who.email).stdout
    assert said == f"{who.email} can now sign in with the password alone.\n"
    # Somebody may have talked the operator into it.
    mails = the_office.outbox.wait(who.email, 2)
    assert [mail["Subject"] for mail in mails[-1:]] == ["Two-step sign-in was turned off"]
    assert "had no second factor" in command(the_office.settings, "person", "second-factor-off", who.email).stdout
    assert len(the_office.outbox.mails(who.email)) == len(mails)
    the_office.visitor(who)


def test_a_wrong_code_turns_nothing_on_and_a_secret_is_of_one_person(the_office: Office) -> None:
    who, other = the_office.somebody(), the_office.somebody()
    visitor, stranger = the_office.visitor(who), the_office.visitor(other)
    page = visitor.get("/dashboard/security/second-factor").text
    (sealed,) = re.findall(r'name="sealed" value="([^"]+)"', page)
    (secret,) = re.findall(r'<code id="secret" tabindex="0">([A-Z2-7 ]+)</code>', page)
    assert visitor.post("/dashboard/security/second-factor", {"sealed": sealed, "code": "000000"}).status_code == 422
    code = pyotp.TOTP(secret.replace(" ", "")).now()
    answer = stranger.post("/dashboard/security/second-factor", {"sealed": sealed, "code": code})
    assert answer.headers["location"] == "/dashboard/security/second-factor"
    assert the_office.do(lambda postgres: _has_factor(postgres, who)) is False
    assert the_office.do(lambda postgres: _has_factor(postgres, other)) is False


def test_turned_off_the_password_is_enough_and_it_is_noted(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor(who)
    set_up(visitor)
    assert visitor.post("/dashboard/security/second-factor/off").status_code == 303
    the_office.visitor(who)

    async def noted(postgres: Postgres) -> list[str]:
        rows = await postgres.fetch(
            "SELECT action FROM {schema}.audit WHERE actor_kind = 'person' AND actor_id = $1 ORDER BY id",
            str(who.id),
        )
        return [row["action"] for row in rows]

    assert the_office.do(noted) == [
        *("person.join", "person.sign_in", "person.second_factor_on", "person.second_factor_off", "person.sign_in")
    ]
    told = {mail["Subject"] for mail in the_office.outbox.wait(who.email, 3)}
    assert told == {"Two-step sign-in was turned on", "Two-step sign-in was turned off", "New sign-in to Siteglass"}


def test_the_secret_is_stored_sealed(the_office: Office) -> None:
    who = the_office.somebody()
    totp, codes = set_up(the_office.visitor(who))

    async def stored(postgres: Postgres) -> str:
        people = await postgres.fetch("SELECT * FROM {schema}.people WHERE id = $1", who.id)
        kept = await postgres.fetch("SELECT * FROM {schema}.recovery_codes WHERE person_id = $1", who.id)
        assert len(kept) == 10
        return repr((people, kept))

    found = the_office.do(stored)
    assert totp.secret not in found
    assert not any(code in found or code.replace("-", "") in found for code in codes)


def test_a_clock_may_be_half_a_minute_off_and_no_more() -> None:
    totp = pyotp.TOTP(pyotp.random_base32())
    now = 1_790_000_000
    here = now // STEP_S
    for by in range(-3, 4):
        found = step_of(totp.secret, totp.at(now + by * STEP_S), now)
        assert found == (here + by if -1 <= by <= 1 else None)
    for typed in ("", "abcdef", "1" * 100, "12345", "１２３４５６"):
        assert step_of(totp.secret, typed, now) is None


async def _has_factor(postgres: Postgres, who: Somebody) -> bool:
    row = await postgres.fetchrow("SELECT totp IS NOT NULL AS has FROM {schema}.people WHERE id = $1", who.id)
    assert row is not None
    return bool(row["has"])


# --- required by the account ----------------------------------------------------------------------


@pytest.mark.promise("dashboard.required_factor")
def test_an_account_requires_it_of_everybody_before_anything_else(the_office: Office) -> None:
    owner = the_office.somebody()
    visitor = the_office.visitor(owner)
    colleague = the_office.visitor(the_office.somebody(owner.account_id, "member"))
    refused = visitor.post("/dashboard/people/second-factor", {"required": "1"})
    assert refused.status_code == 400
    assert "Turn two-step sign-in on for yourself first" in refused.text
    assert colleague.get("/dashboard/explore").status_code == 200
    set_up(visitor)
    assert colleague.post("/dashboard/people/second-factor", {"required": "1"}).status_code == 403
    answer = visitor.post("/dashboard/people/second-factor", {"required": "1"})
    assert answer.headers["location"] == "/dashboard/people?done=factor-required"
    assert visitor.get("/dashboard/explore").status_code == 200
    # Pages, parts of pages and forms lead there, also in sessions that began before.
    set_up_page = "/dashboard/security/second-factor"
    for path in ("/dashboard", "/dashboard/explore", "/dashboard/keys", "/dashboard/security"):
        assert colleague.get(path).headers["location"] == set_up_page
    assert colleague.post("/dashboard/explore/buy", {"price": "0"}).headers["location"] == set_up_page
    part = colleague.get("/dashboard/explore?part=facets", headers={"HX-Request": "true"})
    assert part.headers["hx-redirect"] == set_up_page
    shown = colleague.get(set_up_page).text
    assert "requires it of everybody who signs in" in shown
    assert "Not now" not in shown
    set_up(colleague)
    assert colleague.get("/dashboard/explore").status_code == 200
    # Without it again, the same holds.
    colleague.post(f"{set_up_page}/off")
    assert colleague.get("/dashboard/explore").headers["location"] == set_up_page
    trail = visitor.get("/dashboard/audit").text
    assert "required two-step sign-in of everybody" in trail
    visitor.post("/dashboard/people/second-factor", {"required": "0"})
    assert colleague.get("/dashboard/explore").status_code == 200
    assert "made two-step sign-in optional" in visitor.get("/dashboard/audit").text
