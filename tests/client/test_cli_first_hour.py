"""The first hour with `sgl`: login, free questions, and the first mistakes, each reported in one line."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from siteglass_client.cli.failures import Failure
from siteglass_client.cli.options import read_filters
from siteglass_client.cli.saving import form_of
from testing.customers import Bank, Customer
from tests.client.commanding import ROOT, Desk
from tests.client.conftest import Connect


def test_login_stores_a_key_that_the_service_accepts(
    bank: Bank, connect: Connect, customer: Customer, tmp_path: Path
) -> None:
    desk = Desk(tmp_path, None, None)
    desk.key = customer.key
    told = desk.refused(3, "account")
    assert told == (
        "sgl: No service URL or API key is set. Run `sgl login`, or set SITEGLASS_URL and SITEGLASS_API_KEY."
    )
    file = tmp_path / ".config/siteglass/credentials"
    told = desk.refused(3, "login", typed=f"{bank.base_url}\nsg_live_wrong\n")
    assert told == (
        f"sgl: {bank.base_url} does not accept this key: it is wrong, expired or revoked. Nothing was stored. A key "
        "has 44 characters and starts with sg_live_ or sg_test_: copy all of it, then run `sgl login` again."
    )
    assert not file.exists()
    done = desk.run("login", typed=f"{bank.base_url}/\n{customer.key}\n")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("Logged in as ")
    assert done.err.endswith(f"; the key is in {file}.\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert desk.run("account").json == connect(customer).account()
    told = desk.refused(3, "account", "--url", "http://127.0.0.1:1")
    assert told.startswith(f"sgl: The stored key is for {bank.base_url}, not for http://127.0.0.1:1.")
    desk.environment["SITEGLASS_API_KEY"] = "sg_live_wrong"  # wins over what is stored
    told = desk.refused(3, "account")
    assert told.startswith(
        f"sgl: {bank.base_url} does not accept the key from SITEGLASS_API_KEY: it is wrong, expired or revoked. Set "
        "another key, or unset SITEGLASS_API_KEY to use that of `sgl login`. (request "
    )
    desk.environment["XDG_CONFIG_HOME"] = str(tmp_path / "elsewhere")
    del desk.environment["SITEGLASS_API_KEY"]
    desk.refused(3, "account")


def test_free_questions(desk: Desk, connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    with customer.untouched():
        reading = desk.run("interpret", "SaaS companies in Germany").json
        assert reading == client.search("SaaS companies in Germany").interpret()
        required = desk.run("interpret", "SaaS companies hiring in Germany", "--require", "hiring").json
        assert "@keywords(hiring)" in required["directives"]
        assert desk.run("values", "technologies", "shop", "--limit", "3").json == client.values(
            "technologies", "shop", limit=3
        )
        assert desk.run("usage", "--from", "2026-01-01", "--to", "2026-01-31").json == client.usage(
            first_day="2026-01-01", last_day="2026-01-31"
        )


def test_tables_on_a_terminal(desk: Desk, customer: Customer) -> None:
    code, shown = desk.on_terminal("account")
    assert (code, '{"' in shown) == (0, False)
    assert re.search(r"lead credits +. 10,000 \(free\)", shown)
    assert re.search(r"key from +. SITEGLASS_API_KEY ", shown)
    assert customer.key not in shown
    code, shown = desk.on_terminal("interpret", "SaaS companies in Germany")
    assert (code, "@country(DEU)" in shown, " leads match." in shown) == (0, True, True)
    assert "SaaS businesses in Germany" in shown.splitlines()
    code, shown = desk.on_terminal("account", "--json")
    assert json.loads(shown)["account"]["id"] == customer.account_id


def test_prices_are_shown_as_people_write_them(desk: Desk, bank: Bank) -> None:
    plan = bank.plan(100, 100, api_price_micros=1_500_000, lead_price_micros=50_001, currency="EUR")
    desk.environment["SITEGLASS_API_KEY"] = bank.customer(7, 8, plan=plan).key
    code, shown = desk.on_terminal("account")
    assert code == 0
    assert re.search(r"lead credits +. 8 at 0\.050001 EUR each", shown)
    assert re.search(r"API credits +. 7 at 1\.50 EUR each", shown)


def test_first_mistakes(desk: Desk, customer: Customer) -> None:
    with customer.untouched():
        told = desk.refused(2, "search", "--filter", "countri=DEU", "-o", "leads.csv")
        assert told.startswith("sgl: countri: unknown field; did you mean country? Correct it, ")
        assert "(request " in told
        told = desk.refused(2, "count", "--wrapped-query", "@contry(DEU)\n@foo(x)")
        assert told.startswith(
            "sgl: --wrapped-query line 1: expected a known directive, found @contry; did you mean @country? "
            "--wrapped-query line 2: expected a known directive, found @foo. Correct it, "
        )
        assert list(desk.folder.iterdir()) == []  # a corrected command starts from scratch
        told = desk.refused(2, "search")
        assert told.startswith("sgl: Say what to search for: ")
        told = desk.refused(3, "search", "shops", "--key", "sg_live_wrong", "-o", "leads.csv")
        assert "does not accept the key from --key" in told
        assert list(desk.folder.iterdir()) == []


def test_filters_are_read_by_their_kind() -> None:
    given = ("country=DEU", "technologies=Shopify, Wix", "technologies=Stripe", "has_email=yes", "min_score=7", "x=1")
    assert read_filters(given) == {
        "country": "DEU",
        "technologies": ["Shopify", "Wix", "Stripe"],
        "has_email": True,
        "min_score": 7,
        "x": "1",
    }
    for wrong, told in (
        ("has_email=maybe", "--filter has_email takes true or false, but is 'maybe'."),
        ("min_score=much", "--filter min_score takes a whole number, but is 'much'."),
        ("country", "--filter takes NAME=VALUE, such as country=DEU, but is 'country'."),
    ):
        with pytest.raises(click.UsageError, match=re.escape(told)):
            read_filters([wrong])
    with pytest.raises(click.UsageError, match="given twice"):
        read_filters(["country=DEU", "country=FRA"])


def test_a_file_must_say_its_form(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"leads.xml: the extension sets the format, and must be one of .csv, .jsonl\."):
        form_of(tmp_path / "leads.xml", ("csv", "jsonl"))
    with pytest.raises(
        Failure,
        match=r"leads.xlsx: workbooks are not supported. Use a name that ends in .csv, which "
        r"spread",
    ):
        form_of(tmp_path / "leads.xlsx", ("csv", "jsonl"))
    with pytest.raises(Failure, match=r"Without -o, everything already goes to the pipe"):
        form_of(Path("-"), ("csv", "jsonl"))
    with pytest.raises(Failure, match="There is no folder "):
        form_of(tmp_path / "nowhere" / "leads.csv", ("csv", "jsonl"))


def test_rate_limited(bank: Bank, tmp_path: Path) -> None:
    slow = bank.customer(lead=10, plan=bank.plan(0.01, 1))
    desk = Desk(tmp_path, bank.base_url, slow.key)
    assert desk.run("count", "shops").code == 0
    told = desk.refused(5, "count", "shops", "--deadline", "1")
    assert "then run the same command again. (request " in told


def test_completion(desk: Desk) -> None:
    assert "_SGL_COMPLETE=bash_complete" in desk.run("completion", "bash").out
    desk.environment |= {"_SGL_COMPLETE": "bash_complete", "COMP_WORDS": "sgl search --filter cou", "COMP_CWORD": "3"}
    assert desk.run().out == "plain,country=\n"


def test_the_program_is_named_in_the_distribution() -> None:
    kept = tomllib.loads((ROOT / "clients/python/pyproject.toml").read_text())["project"]
    assert kept["scripts"] == {"sgl": "siteglass_client.cli:main"}
    assert [each.partition(">")[0] for each in kept["optional-dependencies"]["cli"]] == ["click", "rich"]


def test_the_client_needs_no_package_of_the_command_line() -> None:
    code = (
        "import sys; sys.modules['click'] = sys.modules['rich'] = None\n"
        "import siteglass_client; from siteglass_client.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "clients/python/src")},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    install = "pip install './clients/python[cli]'"
    assert done.stderr == f"sgl: This needs click. Install it in a checkout of Siteglass: {install}.\n"
