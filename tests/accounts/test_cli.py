"""The operator's commands, from an empty schema to a verified ledger."""

from __future__ import annotations

import asyncio
import getpass
import os
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from siteglass.access import audit
from siteglass.access.accounts import AccountError
from siteglass.access.key_form import is_well_formed, secret_version
from siteglass.cli.main import cli
from testing.accounts import SECRETS, drop_schema

Run = Callable[..., Result]

ALL = "account,enrich,search"


@pytest.fixture
def run(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command on its own schema, in an empty folder."""
    name = f"test_{secrets.token_hex(6)}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SITEGLASS_POSTGRES_SCHEMA", name)
    monkeypatch.setenv("SITEGLASS_KEY_SECRETS", SECRETS[0].replace(",", "-"))

    def run(*words: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, words, catch_exceptions=code == 0)
        if code == 0 and result.exception is not None:
            raise result.exception
        assert result.exit_code == code
        return result

    yield run
    asyncio.run(drop_schema(dsn, name))


@pytest.mark.promise("auth.operator")
def test_from_nothing_to_a_verified_ledger(run: Run) -> None:
    assert "up to date" in run("migrate").output
    assert "up to date" in run("migrate").output
    assert "account create" in run("account", "list").output
    assert "siteglass key create 1" in run("account", "create", "Acme", "--plan", "demo").output
    assert "No key" in run("key", "list", "1").output
    made = run(
        "key", "create", "1", "--name", "ci", "--scope", "search", "--expires-in-days", "7", "--daily-lead-cap", "9"
    )
    key = made.stdout.strip()
    assert is_well_formed(key)
    listed = run("key", "list", "1").output
    assert key not in listed
    assert "sg_live_" in listed
    assert "9 lead a day" in listed
    assert "within 1 s" in run("key", "revoke", "1").output
    assert "revoked 2" in run("key", "list", "1").output
    assert "5 API and 7 lead" in run("credits", "grant", "1", "--api", "5", "--lead", "7").output
    assert "5 API and 7 lead" in run("credits", "balance", "1").output
    assert "1 rows of 1 accounts read, 0 problems" in run("credits", "verify").output
    assert "Acme  plan demo  5 API and 7 lead" in run("account", "list").output


def test_a_key_is_rotated_and_bound_to_networks(run: Run) -> None:
    run("migrate")
    run("account", "create", "Acme")
    made = run("key", "create", "1", "--allow-network", "203.0.113.0/24", "--allow-network", "2001:db8::1")
    old = made.stdout.strip()
    rotated = run("key", "rotate", "1")
    new = rotated.stdout.strip()
    assert is_well_formed(new)
    assert new != old
    assert "Key 2 replaces key 1" in rotated.stderr
    assert "Key 1 stops working in 24 hours at the latest" in rotated.stderr
    newer, older = run("key", "list", "1").output.splitlines()
    version = secret_version(SECRETS[0].replace(",", "-").encode())
    bound = "from 203.0.113.0/24, 2001:db8::1/128"
    assert (
        newer
        == f"2  {new[:12]}...{new[-4:]}  default  {ALL}  expires never  last used never  {bound}  secret {version}"
    )
    assert re.fullmatch(
        rf"1  {old[:12]}\.\.\.{old[-4:]}  default  {ALL}  expires 2\d+-.* UTC  rotated to key 2  last used never  "
        rf"{bound}  secret {version}",
        older,
    )
    assert run("key", "allow", "2", "10.0.0.0/8").output == (
        "Key 2 may be used from 10.0.0.0/8. Workers follow within 1 s.\n"
    )
    assert "from 10.0.0.0/8  " in run("key", "list", "1").output.splitlines()[0]
    assert run("key", "allow", "2", "--any").output == "Key 2 may be used from anywhere. Workers follow within 1 s.\n"
    assert "from" not in run("key", "list", "1").output.splitlines()[0]
    assert "Key 2 stops working now" in run("key", "rotate", "2", "--overlap-hours", "0").stderr
    assert "--any" in run("key", "allow", "2", code=2).output
    assert "--any" in run("key", "allow", "2", "10.0.0.0/8", "--any", code=2).output
    assert "0<=x<=168" in run("key", "rotate", "2", "--overlap-hours", "169", code=2).output


@pytest.mark.promise("key.audit")
def test_every_action_is_in_the_audit_log(run: Run) -> None:
    run("migrate")
    run("account", "create", "jane@example.com", "--plan", "demo")
    run("account", "create", "Other")
    made = [
        run("key", "create", "1", "--name", "jane@example.com", "--scope", "search", "--daily-lead-cap", "9"),
        run("key", "rotate", "1", "--overlap-hours", "0"),
    ]
    run("key", "allow", "2", "10.0.0.0/8")
    run("key", "allow", "2", "--any")
    run("key", "revoke", "2")
    run("key", "revoke", "2")  # changes nothing
    run("plan", "set", "large", "--burst", "50")
    with pytest.raises(AccountError):
        run("key", "rotate", "2")
    who = f"operator {getpass.getuser()}"
    plan = (
        '{"name": "large", "burst": 50, "preview": "named", "watches": 100, "currency": "USD", "rate_per_s": 10, '
        '"is_internal": false, "daily_api_cap": null, "daily_lead_cap": null, '
        '"api_price_micros": 0, "lead_price_micros": 0, '
        '"rebill_after_hours": null, "preview_leads_per_day": 1000}'
    )
    expected = [
        "account.create  account 1  {'plan': 'demo'}",
        "account.create  account 2  {'plan': 'standard'}",
        "key.create  account 1  key 1  {'scopes': ['search'], 'daily_lead_cap': 9}",
        "key.rotate  account 1  key 1  {'new_key': 2, 'expires_at': '<time>'}",
        "key.allow  account 1  key 2  {'networks': ['10.0.0.0/8']}",
        "key.allow  account 1  key 2  {'networks': null}",
        "key.revoke  account 1  key 2",
        f"plan.set  {plan}",
    ]
    log = run("audit").output
    time = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+\+00:00| UTC)"
    assert re.sub(time, "<time>", log).splitlines() == [
        f"{number}  <time>  {who}  {line}".replace("'", '"') for number, line in enumerate(expected, 1)
    ]
    of_one = run("audit", "1").output.splitlines()
    assert of_one == [line for line in log.splitlines() if "  account 1" in line]
    assert run("audit", "1", "--after", "5").output.splitlines() == of_one[-2:]
    for result in made:
        key = result.stdout.strip()
        assert key not in log
        assert key[12:-4] not in log
    assert "@" not in log


def test_the_newest_of_the_audit_log_are_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_LISTED", 3)
    run("migrate")
    for number in range(5):
        run("account", "create", f"Account {number}")
    assert [line.split()[0] for line in run("audit").output.splitlines()] == ["3", "4", "5"]
    assert [line.split()[0] for line in run("audit", "--after", "1").output.splitlines()] == ["2", "3", "4"]


def test_an_operator_without_a_name_is_known_by_number(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr(getpass, "getuser", nameless)
    run("migrate")
    run("account", "create", "Acme")
    assert f"  operator uid {os.getuid()}  account.create  " in run("audit").output


def test_plans_keep_what_is_not_given(run: Run) -> None:
    run("migrate")
    assert "10 a second, burst 50" in run("plan", "set", "large", "--burst", "50").output
    run("plan", "set", "large", "--rate", "99.5", "--lead-price-micros", "20000")
    listed = run("plan", "list").output
    assert "large  99.5 a second, burst 50" in listed
    assert "0.02 a lead credit" in listed
    assert "standard  10 a second, burst 20" in listed


def test_credits_are_given_once_and_put_right(run: Run) -> None:
    run("migrate")
    run("account", "create", "books")
    given = ("credits", "grant", "1", "--lead", "7", "--expires-in-days", "30", "--reference", "invoice 12")
    assert "0 API and 7 lead credits (ledger row 1)" in run(*given).output
    with pytest.raises(AccountError, match="Row 1 of the ledger was already written for 'invoice 12'"):
        run(*given)
    down = ("credits", "adjust", "1", "--reason", "counted twice", "--lead")
    assert "0 API and 5 lead credits (ledger row 2)" in run(*down, "-2").output
    with pytest.raises(AccountError, match=r"has only 0 API and 5 lead credits\. Remove at most that many"):
        run(*down, "-6")
    with pytest.raises(AccountError, match="Row 2 of account 1 is not a charge"):
        run("credits", "refund", "1", "2", "--reason", "wrong")
    assert "Missing option '--reason'" in run("credits", "refund", "1", "2", code=2).output
    assert "2 rows of 1 accounts read, 0 problems" in run("credits", "verify").output
    actions = [line.split("  ")[3] for line in run("audit", "1").output.splitlines()]
    assert actions == ["account.create", "credits.grant", "credits.adjust"]


def test_a_plan_that_charges_a_lead_once(run: Run) -> None:
    run("migrate")
    run("plan", "set", "once", "--rebill-after-hours", "48")
    assert "a lead is free for 48 h once paid" in run("plan", "list").output
    run("plan", "set", "once", "--rebill-after-hours", "0")
    assert "once paid" not in run("plan", "list").output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["account", "create", "Acme", "--plan", "none"], "plan list"),
        (["account", "create", ""], r"An account name must have 1 to 200 characters\."),
        (["key", "create", "77"], "account list"),
        (["key", "create", "1", "--name", "x" * 201], r"A key name must have 1 to 200 characters\."),
        (["key", "list", "77"], r"There is no account 77\. `siteglass account list` lists the accounts\."),
        (["key", "revoke", "77"], "key list"),
        (["key", "rotate", "77"], "key list"),
        (["key", "allow", "77", "10.0.0.0/8"], "key list"),
        (["key", "allow", "77", "10.0.0.1/8"], r"Its network is 10\.0\.0\.0/8\."),
        (
            ["key", "create", "1", "--allow-network", "office"],
            "is not a network. Use an IP address, or a network such as",
        ),
        (["audit", "77"], r"There is no account 77\. `siteglass account list` lists the accounts\."),
        (["credits", "grant", "77", "--lead", "1"], "account list"),
        (["credits", "balance", "77"], "account list"),
        (["plan", "set", "Big One"], "A plan name must start with a lower-case letter, followed by lower-case letters"),
        (["plan", "set", "big", "--currency", "usd"], r"A currency must be three capital letters, such as USD\."),
    ],
)
def test_mistakes_say_what_to_do(run: Run, words: list[str], says: str) -> None:
    run("migrate")
    run("account", "create", "the first")
    with pytest.raises(AccountError, match=says):
        run(*words)


def test_a_rate_needs_a_burst(run: Run) -> None:
    assert "--rate and --burst must be used together" in run("key", "create", "1", "--rate", "5", code=2).output
