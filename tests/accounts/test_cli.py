"""The operator's commands, from an empty schema to a verified ledger."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from siteglass.accounts.accounts import AccountError
from siteglass.accounts.key_form import is_well_formed
from siteglass.cli import cli
from tests.accounts.opening import SECRETS, drop_schema

Run = Callable[..., Result]


@pytest.fixture
def run(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command on a schema of its own, in a folder that holds nothing."""
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


def test_plans_keep_what_is_not_given(run: Run) -> None:
    run("migrate")
    assert "10 a second, burst 50" in run("plan", "set", "large", "--burst", "50").output
    run("plan", "set", "large", "--rate", "99.5", "--lead-price-micros", "20000")
    listed = run("plan", "list").output
    assert "large  99.5 a second, burst 50" in listed
    assert "0.02 a lead credit" in listed
    assert "standard  10 a second, burst 20" in listed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["account", "create", "Acme", "--plan", "none"], "plan list"),
        (["account", "create", ""], r"The name of an account has 1 to 200 characters\."),
        (["key", "create", "77"], "account list"),
        (["key", "create", "1", "--name", "x" * 201], r"The name of a key has 1 to 200 characters\."),
        (["key", "list", "77"], r"There is no account 77\. `siteglass account list` shows them\."),
        (["key", "revoke", "77"], "key list"),
        (["credits", "grant", "77", "--lead", "1"], "account list"),
        (["credits", "balance", "77"], "account list"),
        (["plan", "set", "Big One"], "The name of a plan is a letter, then letters, digits, _ and -, all lower case"),
        (["plan", "set", "big", "--currency", "usd"], r"A currency is three capital letters, such as USD\."),
    ],
)
def test_mistakes_say_what_to_do(run: Run, words: list[str], says: str) -> None:
    run("migrate")
    with pytest.raises(AccountError, match=says):
        run(*words)


def test_a_rate_needs_a_burst(run: Run) -> None:
    assert "--rate and --burst belong together" in run("key", "create", "1", "--rate", "5", code=2).output
