"""API keys on the dashboard: made, shown once, rotated, revoked; the service heeds it, the audit trail names who."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from siteglass.access.accounts import create_account
from siteglass.access.keys import CACHE_S, create_key
from testing.dashboard.actions import (
    HOSTILE,
    age_password,
    call,
    fill_in,
    form_id,
    is_inert,
    key_on,
    make_key,
    many_keys,
    may_search,
    number_on,
    words,
)
from testing.dashboard.visitors import Office


@pytest.mark.promise("auth.dashboard")
def test_a_new_key_works_and_is_shown_once(the_office: Office) -> None:
    who = the_office.somebody(the_office.account(api=10, lead=10))
    visitor = the_office.visitor(who)
    made = visitor.post("/dashboard/keys", fill_in(visitor, {"name": "  Office  Berlin "}))
    key, number = key_on(made), number_on(made)
    (told_of_key,) = the_office.outbox.wait(who.email, 1)
    assert told_of_key["Subject"] == "An API key was created"
    assert (key[-4:] in told_of_key.get_content(), key in told_of_key.get_content()) == (True, False)
    assert made.headers["cache-control"] == "no-store"
    assert "You will not see it again" in made.text
    shown = words(made)
    assert f"curl '{the_office.url}/v1/leads/search'" in shown
    assert f"-H 'X-API-Key: {key}'" in shown
    assert may_search(the_office, key)
    told = call(the_office, key).json()["key"]
    assert (told["id"], told["name"], told["expires_at"]) == (number, "Office Berlin", None)
    for path in (
        "/dashboard/keys",
        f"/dashboard/keys/{number}",
        f"/dashboard/keys/{number}/revoke",
        "/dashboard/audit",
    ):
        page = visitor.get(path)
        assert page.status_code == 200
        assert key not in page.text
        assert "Office Berlin" in page.text
    assert f"{key[:12]}...{key[-4:]}" in visitor.get("/dashboard/keys").text


def test_a_test_key_is_made_and_told_apart(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    number, key = make_key(visitor, mode="test", name="Continuous integration")
    assert key.startswith("sg_test_")
    assert call(the_office, key).headers["X-Test-Mode"] == "true"
    assert '<span class="badge">test</span>' in visitor.get("/dashboard/keys").text
    rotated = visitor.post(f"/dashboard/keys/{number}/rotate", {"hours": "0"})
    assert key_on(rotated).startswith("sg_test_")


def test_caps_scopes_and_expiry_are_those_given(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    _, key = make_key(visitor, scopes=["account"], expires="90", daily_api_cap="1,000", daily_lead_cap="0")
    told = call(the_office, key).json()["key"]
    assert told["scopes"] == ["account"]
    assert (told["daily_api_credits"], told["daily_lead_credits"]) == (1000, 0)
    left = datetime.fromisoformat(told["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89, hours=23) < left <= timedelta(days=90)
    assert not may_search(the_office, key)
    assert "expires in 90 days" in visitor.get("/dashboard/keys").text


def test_a_day_of_ones_own_counts_whole(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    day = (datetime.now(UTC) + timedelta(days=3)).date()
    _, key = make_key(visitor, expires="day", day=day.isoformat())
    ends = datetime.fromisoformat(call(the_office, key).json()["key"]["expires_at"])
    assert ends == datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


WRONG: tuple[tuple[dict[str, str | list[str]], str], ...] = (
    ({"name": "  "}, "Name: 1 to 200 characters."),
    ({"name": "n" * 201}, "Name: 1 to 200 characters."),
    ({"scopes": []}, "Choose at least one scope"),
    ({"scopes": ["search", "root"]}, "Choose at least one scope"),
    ({"expires": "7"}, "Choose one of these options."),
    ({"expires": "day", "day": ""}, "Last day: enter a day such as"),
    ({"expires": "day", "day": "2020-01-01"}, "Last day: enter a day such as"),
    ({"expires": "day", "day": "9999-12-31"}, "Last day: enter a day such as"),
    ({"expires": "day", "day": "soon"}, "Last day: enter a day such as"),
    ({"daily_api_cap": "many"}, "API credits per day: enter a whole number"),
    ({"daily_lead_cap": "-1"}, "Lead credits per day: enter a whole number"),
)


def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    filled = fill_in(visitor, {"name": "Kept name", "daily_api_cap": "77", "scopes": ["enrich"]})
    for fields, said in WRONG:
        sent = {**filled, **fields}
        answer = visitor.post("/dashboard/keys", sent)
        assert answer.status_code == 422
        assert said in answer.text
        for name in ("name", "daily_api_cap"):
            assert f'name="{name}" type="text" value="{sent[name]}"' in answer.text
        chosen = re.findall(r'type="checkbox" name="scopes" value="(\w+)" checked', answer.text)
        assert chosen == [scope for scope in sent["scopes"] if scope != "root"]
    assert "No keys yet" in visitor.get("/dashboard/keys").text
    # the same form, put right, makes the key
    key_on(visitor.post("/dashboard/keys", filled))


def test_a_form_that_is_sent_twice_makes_one_key(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    filled = fill_in(visitor, {"name": "Only one"})
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: visitor.post("/dashboard/keys", filled), range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert "No second key was created" in next(answer.text for answer in answers if answer.status_code == 409)
    assert visitor.get("/dashboard/keys").text.count(">Only one</a>") == 1
    assert visitor.post("/dashboard/keys", {**filled, "form": ""}).status_code == 403


def test_owners_hear_of_keys_that_members_create(the_office: Office) -> None:
    owner = the_office.somebody()
    member = the_office.somebody(owner.account_id, role="member")
    visitor = the_office.visitor(member)
    number, key = make_key(visitor)
    rotated = key_on(visitor.post(f"/dashboard/keys/{number}/rotate", {"hours": "0"}))
    for person in (member, owner):
        mails = the_office.outbox.wait(person.email, 2)
        assert [mail["Subject"] for mail in mails] == ["An API key was created"] * 2
        texts = [mail.get_content() for mail in mails]
        assert sorted(re.findall(r"ends in (\S{4})", "".join(texts))) == sorted([key[-4:], rotated[-4:]])
        assert all(text.startswith(f"{member.email} created an API key for ") for text in texts)


@pytest.mark.promise("auth.dashboard")
def test_rotated_with_overlap_both_work_without_it_only_the_new_one(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    number, first = make_key(visitor, name="Rotating")
    page = visitor.post(f"/dashboard/keys/{number}/rotate", {"hours": "24"})
    second_number, second = number_on(page), key_on(page)
    assert "works until" in page.text
    assert (call(the_office, first).status_code, call(the_office, second).status_code) == (200, 200)
    assert "rotated" in words(visitor.get("/dashboard/keys"))
    assert f'href="/dashboard/keys/{second_number}"' in visitor.get(f"/dashboard/keys/{number}").text
    # repeating the request makes no key, and the answer does not mention the command line
    again = visitor.post(f"/dashboard/keys/{number}/rotate", {"hours": "24"})
    assert again.status_code == 409
    assert "siteglass key" not in again.text
    page = visitor.post(f"/dashboard/keys/{second_number}/rotate", {"hours": "0"})
    assert "has stopped working" in page.text
    time.sleep(CACHE_S)
    answers = [call(the_office, key).status_code for key in (first, second, key_on(page))]
    assert answers == [200, 401, 200]
    assert visitor.post(f"/dashboard/keys/{number_on(page)}/rotate", {"hours": "5"}).status_code == 422


@pytest.mark.promise("auth.dashboard")
def test_a_revoked_key_is_refused_after_a_page_that_asked(the_office: Office) -> None:
    visitor = the_office.visitor(the_office.somebody())
    number, key = make_key(visitor, name="Leaked")
    asked = visitor.get(f"/dashboard/keys/{number}/revoke")
    assert "Leaked" in asked.text
    assert call(the_office, key).status_code == 200
    done = visitor.post(f"/dashboard/keys/{number}/revoke")
    assert (done.status_code, done.headers["location"]) == (303, "/dashboard/keys?done=key-revoked")
    time.sleep(CACHE_S)
    assert call(the_office, key).status_code == 401
    assert "The key was revoked." in visitor.get(done.headers["location"]).text
    page = visitor.get(f"/dashboard/keys/{number}").text
    assert "/revoke" not in page
    assert "/rotate" not in page
    assert visitor.get(f"/dashboard/keys/{number}/rotate").headers["location"] == f"/dashboard/keys/{number}"


def test_the_trail_of_a_key_names_who_did_what(the_office: Office) -> None:
    account = the_office.account()
    first, second = the_office.somebody(account), the_office.somebody(account, "member", "Grace Hopper")
    ada, grace = the_office.visitor(first), the_office.visitor(second)
    number, _ = make_key(ada, name="Told")
    new = number_on(grace.post(f"/dashboard/keys/{number}/rotate", {"hours": "1"}))
    grace.post(f"/dashboard/keys/{number}/revoke")
    trail = words(grace.get(f"/dashboard/keys/{number}")).partition("What happened")[2]
    rotated = f"Grace Hopper {second.email} rotated the key Told"
    said = [
        f"Grace Hopper {second.email} revoked the key Told",
        rotated,
        f"Ada Lovelace {first.email} created the key Told",
    ]
    assert [trail.find(one) for one in said] == sorted(trail.find(one) for one in said)
    assert trail.find(said[0]) >= 0
    assert rotated in words(grace.get(f"/dashboard/keys/{new}"))


@pytest.mark.promise("dashboard.again")
def test_the_password_is_asked_for_again_and_then_it_goes_on(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor(who)
    number, _ = make_key(visitor)
    filled = fill_in(visitor, {"name": "Too late"})
    age_password(the_office, who)
    asked = visitor.get("/dashboard/keys/new")
    assert (asked.status_code, asked.headers["location"]) == (303, "/dashboard/confirm?next=%2Fdashboard%2Fkeys%2Fnew")
    there = f"{the_office.url}/dashboard/keys/new"
    for path in ("/dashboard/keys", f"/dashboard/keys/{number}/rotate", f"/dashboard/keys/{number}/revoke"):
        sent = visitor.post(path, {**filled, "hours": "0"}, Referer=there)
        assert sent.headers["location"] == "/dashboard/confirm?next=%2Fdashboard%2Fkeys%2Fnew"
    listed = visitor.get("/dashboard/keys").text
    assert "Too late" not in listed
    assert ">active</span>" in listed
    go_on = visitor.post("/dashboard/confirm", {"password": who.password, "next": "/dashboard/keys/new"})
    assert go_on.headers["location"] == "/dashboard/keys/new"
    key_on(visitor.post("/dashboard/keys", filled))


def test_viewers_look_and_change_nothing(the_office: Office) -> None:
    account = the_office.account()
    owner = the_office.visitor(the_office.somebody(account))
    viewer = the_office.visitor(the_office.somebody(account, "viewer"))
    filled = fill_in(owner)
    number, key = make_key(owner)
    for path in ("/dashboard/keys", f"/dashboard/keys/{number}"):
        page = viewer.get(path)
        assert page.status_code == 200
        assert not re.search(r"/keys/(new|\d+/r)", page.text)
    assert viewer.get("/dashboard/keys/new").status_code == 403
    assert viewer.post("/dashboard/keys", filled).status_code == 403
    for step in ("rotate", "revoke"):
        assert viewer.get(f"/dashboard/keys/{number}/{step}").status_code == 403
        assert viewer.post(f"/dashboard/keys/{number}/{step}", {"hours": "0"}).status_code == 403
    assert call(the_office, key).status_code == 200


def test_a_key_of_another_account_is_not_there(the_office: Office) -> None:
    number, key = make_key(the_office.visitor(the_office.somebody()), name="Not yours")
    stranger = the_office.visitor(the_office.somebody())
    for number_or_none in (str(number), "999999999", "1" * 30, "x"):
        path = f"/dashboard/keys/{number_or_none}"
        answers = [stranger.get(path + end) for end in ("", "/rotate", "/revoke")]
        answers += [stranger.post(path + end, {"hours": "0"}) for end in ("/rotate", "/revoke")]
        assert [answer.status_code for answer in answers] == [404] * 5
        assert not any("Not yours" in answer.text or "siteglass key" in answer.text for answer in answers)
    assert call(the_office, key).status_code == 200


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(the_office: Office, name: str) -> None:
    account = the_office.do(lambda postgres: create_account(postgres, f"{name} {time.monotonic_ns()}", actor="tests"))
    who = the_office.somebody(account, name=name)
    visitor = the_office.visitor(who)
    made = visitor.post("/dashboard/keys", fill_in(visitor, {"name": name}))
    number = number_on(made)
    wrong = visitor.post("/dashboard/keys", fill_in(visitor, {"name": name, "day": name, "daily_api_cap": name}))
    paths = ["", "/keys", f"/keys/{number}", f"/keys/{number}/rotate", f"/keys/{number}/revoke", "/people", "/audit"]
    paths += [f"/people/{who.id}", "/people/leave", "/plan", f"/audit?before={name}", f"/keys?done={name}"]
    pages = [made, wrong, *(visitor.get(f"/dashboard{path}") for path in paths)]
    for page in pages:
        assert page.status_code in (200, 422)
        assert is_inert(page)
        assert "alert(1)" in words(page)  # it is there, at least beside the navigation


def test_an_account_has_a_most_of_keys(the_office: Office) -> None:
    account = the_office.account()
    visitor = the_office.visitor(the_office.somebody(account))
    number, _ = make_key(visitor, name="The only one")
    filled = fill_in(visitor, {"name": "Kept name"})
    many_keys(the_office, account, 99)
    many_keys(the_office, account, 500, revoked=True)
    answer = visitor.post("/dashboard/keys", filled)
    assert answer.status_code == 422
    assert "Revoke one first." in answer.text
    assert 'value="Kept name"' in answer.text
    refused = visitor.post(f"/dashboard/keys/{number}/rotate", {"hours": "24"})
    assert refused.status_code == 422
    assert "Let the old key end now" in refused.text
    # without overlap it takes the place of another
    new = number_on(visitor.post(f"/dashboard/keys/{number}/rotate", {"hours": "0"}))
    visitor.post(f"/dashboard/keys/{new}/revoke")
    key_on(visitor.post("/dashboard/keys", {**filled, "form": form_id(answer.text)}))


def test_keys_that_work_are_listed_however_many_have_ended_since(the_office: Office) -> None:
    account = the_office.account()
    visitor = the_office.visitor(the_office.somebody(account))
    make_key(visitor, name="The oldest")
    many_keys(the_office, account, 119)
    many_keys(the_office, account, 1_100, revoked=True)

    def listed(query: str) -> tuple[list[int], list[int], dict[str, str]]:
        page = visitor.get(f"/dashboard/keys{query}").text
        working, _, ended = page.partition('<details class="card')
        links = dict(re.findall(r'href="\?(\w+)=(\d+)">Older<', page))
        ids = [
            [int(one) for one in re.findall(r'class="cut" href="/dashboard/keys/(\d+)"', part)]
            for part in (working, ended)
        ]
        return ids[0], ids[1], links

    assert "Ended keys 1,100" in words(visitor.get("/dashboard/keys"))
    first, ended, links = listed("")
    assert (len(first), len(ended), set(links)) == (100, 50, {"before", "ended_before"})
    rest, _, more = listed(f"?before={links['before']}")
    assert (len(rest), set(more)) == (20, {"ended_before"})
    assert [*first, *rest] == sorted({*first, *rest}, reverse=True)
    assert "The oldest" in visitor.get(f"/dashboard/keys?before={links['before']}").text
    for _ in range(21):
        _, older, links = listed(f"?ended_before={links['ended_before']}")
        ended += older
    assert (len(ended), "ended_before" in links) == (1_100, False)
    assert ended == sorted(set(ended), reverse=True)
    assert visitor.get("/dashboard/keys?before=1&ended_before=1").status_code == 200


def test_keys_of_operators_are_listed_and_their_maker_has_no_name(the_office: Office) -> None:
    account = the_office.account()
    number, _ = the_office.do(
        lambda postgres: create_key(
            postgres, the_office.settings.key_secrets, account, "From the shell", actor="root@build-host"
        )
    )
    visitor = the_office.visitor(the_office.somebody(account))
    page = visitor.get(f"/dashboard/keys/{number}")
    assert "An operator created the key From the shell" in words(page)
    assert "build-host" not in page.text
