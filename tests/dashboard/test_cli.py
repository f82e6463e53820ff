"""The operator's part: the first owner of an account is invited by command."""

from __future__ import annotations

import secrets
import subprocess
from dataclasses import replace

from testing.dashboard.visitors import Office, link_in
from tests.suppression.world import command


def run(office: Office, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return command(office.settings, *words, code=code)


def test_an_operator_invites_the_first_owner_and_deletes_a_person(the_office: Office) -> None:
    account = the_office.account()
    email = f"{secrets.token_hex(4)}@people.test"
    done = run(the_office, "person", "invite", str(account), email.upper())
    (mail,) = the_office.outbox.mails(email)
    path = link_in(mail.get_content())
    # The port that is served, which is not that of the operator's settings.
    assert f"127.0.0.1:{the_office.settings.port}" not in the_office.url
    assert done.stdout == f"{the_office.url}{path}\n"
    assert done.stdout in mail.get_content()
    visitor = the_office.visitor()
    visitor.get(path)
    joined = visitor.post(path, {"name": "Grace Hopper", "password": "proper pony charger rivet"})
    assert joined.headers["location"] == "/dashboard/explore?done=joined"
    assert visitor.get("/dashboard/people").status_code in (200, 404)
    listed = run(the_office, "person", "list", str(account)).stdout
    assert f"{email}  Grace Hopper  owner  password only" in listed
    run(the_office, "person", "delete", email)
    assert visitor.get("/dashboard").status_code == 303
    assert run(the_office, "person", "list", str(account)).stdout == ""


def test_the_first_owner_of_a_service_without_mail_joins_by_the_printed_link(the_office: Office) -> None:
    account = the_office.account()
    email = f"{secrets.token_hex(4)}@people.test"
    silent = replace(the_office.settings, mail_url="", mail_from="")
    done = command(silent, "person", "invite", str(account), email)
    assert f"No mail was sent: SITEGLASS_MAIL_URL is not set. Give the link to {email}." in done.stderr
    assert the_office.outbox.mails(email) == []
    visitor = the_office.visitor()
    path = done.stdout.strip().removeprefix(the_office.url)
    visitor.get(path)
    joined = visitor.post(path, {"name": "Grace Hopper", "password": "proper pony charger rivet"})
    assert joined.headers["location"] == "/dashboard/explore?done=joined"
    assert f"{email}  Grace Hopper  owner" in run(the_office, "person", "list", str(account)).stdout


def test_what_cannot_be_done_is_one_line(the_office: Office) -> None:
    account = str(the_office.account())
    cases = {
        ("person", "invite", "99999999", "a@b.test"): "There is no account 99999999.",
        ("person", "invite", account, "nobody"): "Enter an email address, such as ada@example.com.",
        ("person", "delete", "nobody@people.test"): "There is no such person.",
    }
    for words, said in cases.items():
        assert run(the_office, *words, code=2).stderr.startswith(f"siteglass: {said}")
