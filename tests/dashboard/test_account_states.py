"""What people of a suspended account still see, and what is left of a closed one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siteglass.access import lifecycle
from siteglass.billing import ledger
from siteglass.billing.balance_alerts import BalanceAlert, set_balance_alert
from siteglass.platform.postgres import Postgres
from testing.dashboard.actions import words
from testing.dashboard.visitors import Office
from tests.dashboard.walls import FIELDS, INSIDE, Full, enter, full, state
from tests.suppression.world import command

WHY = "Invoice 2026-114 is not paid"
STILL_THERE = {
    *(
        "overview",
        "usage",
        "usage.csv",
        "ledger",
        "ledger.csv",
        "ledger.head",
        "ledger.entry",
        "plan",
        "settings",
        "audit",
    ),
    *(
        "keys",
        "key",
        "key.revoke.ask",
        "key.revoke",
        "sign_out",
        "confirm",
        "confirm.password",
        "company.again",
        "accounts",
        "switch",
    ),
}
# Of what stays of an erased account. `idempotency` and `in_doubt` belong to the ledger, and are forgotten after a day.
KEPT = {"accounts", "audit", "balances", "keys", "ledger", "ledger_default", "expiring", "idempotency", "in_doubt"}


@pytest.mark.promise("account.suspended")
def test_people_of_a_suspended_account_read_their_books_and_nothing_else(the_office: Office) -> None:
    account = full(the_office)
    visitor = enter(the_office, account, "owner")
    command(the_office.settings, "account", "suspend", str(account.account_id), "--reason", WHY)
    before = state(the_office, account)
    for page in INSIDE:
        if page.name in STILL_THERE or page.name.startswith("security"):
            continue
        path = account.path(page)
        answer = visitor.get(path) if page.method == "GET" else visitor.post(path, FIELDS)
        assert answer.status_code == 403, page.name
        assert f"The operator of this service suspended it: {WHY}. Nothing was charged or changed." in words(answer)
    assert state(the_office, account) == before
    for path in ("", "/ledger", "/usage", "/plan", "/audit", "/security", "/keys"):
        answer = visitor.get(f"/dashboard{path}")
        assert answer.status_code == 200
        assert f"This account is suspended: {WHY}. Searches, files," in words(answer)
        assert "Ask sales@sender.test to resume it." in words(answer)
    assert f"suspended the account {WHY}" in words(visitor.get("/dashboard/audit"))
    # Who signs in now sees the same; who looks at another account of theirs sees that one.
    other = the_office.visitor(account.people["member"])
    assert other.get("/dashboard/explore").status_code == 403
    assert other.get("/dashboard/ledger").status_code == 200
    command(the_office.settings, "account", "resume", str(account.account_id))
    assert visitor.get("/dashboard/lists").status_code == 200
    assert "suspended: " not in words(visitor.get("/dashboard"))


def _rows(office: Office, account: Full) -> dict[str, int]:
    """How many rows each table has of an account."""

    async def count(postgres: Postgres) -> dict[str, int]:
        tables = await postgres.fetch(
            "SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t"
            " USING (table_schema, table_name) WHERE c.table_schema = $1 AND c.column_name = 'account_id'"
            " AND table_name !~ '_[0-9]+$|^answers'",
            office.settings.postgres_schema,
        )
        counts = {}
        for (table,) in tables:
            row = await postgres.fetchrow(
                f"SELECT count(*) AS n FROM {{schema}}.{table} WHERE account_id = $1", account.account_id
            )
            assert row is not None
            counts[table] = row["n"]
        return counts

    return office.do(count)


def _trail(office: Office, account: Full) -> list[Any]:
    return office.do(
        lambda postgres: postgres.fetch(
            "SELECT * FROM {schema}.audit WHERE account_id = $1 ORDER BY id", account.account_id
        )
    )


@pytest.mark.promise("account.closed")
def test_of_a_closed_account_only_the_books_stay(the_office: Office, tmp_path: Path) -> None:
    account = full(the_office)
    number = str(account.account_id)
    # One of them belongs to another account too.
    elsewhere = the_office.account()
    the_office.do(
        lambda postgres: postgres.fetch(
            "INSERT INTO {schema}.members (account_id, person_id, role) VALUES ($1, $2, 'owner')",
            elsewhere,
            account.people["member"].id,
        )
    )
    owner_of = account.people["owner"].id
    the_office.do(lambda postgres: set_balance_alert(postgres, account.account_id, BalanceAlert(5, None), "tests"))
    visitor = enter(the_office, account, "owner")
    before = _trail(the_office, account)

    file = tmp_path / "export.jsonl"
    command(the_office.settings, "account", "export", number, str(file))
    command(the_office.settings, "account", "export", number, str(file), code=2)  # never writes over a file
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    kinds = {line["is"] for line in lines}
    assert kinds >= {"account", "balance", "person", "key", "saved_search", "ledger_entry", "audit_entry"}
    assert {line["email"] for line in lines if line["is"] == "person"} == {who.email for who in account.people.values()}
    (entry,) = [line for line in lines if line["is"] == "ledger_entry"]
    assert (entry["kind"], entry["api"], entry["lead"]) == ("grant", 10, 10)

    told = command(the_office.settings, "account", "close", number, "--reason", "The contract has ended").stdout
    assert "removed in 30 days" in told
    assert visitor.get("/dashboard").headers["location"].startswith("/dashboard/sign-in")
    newcomer = the_office.visitor()
    newcomer.get("/dashboard/sign-in")
    who = account.people["viewer"]
    refused = newcomer.post("/dashboard/sign-in", {"email": who.email, "password": who.password})
    assert "You no longer belong to an account." in words(refused)
    invited = command(the_office.settings, "person", "invite", number, "new@people.test", code=2)
    assert f"Account {number} is closed: nobody can join it." in invited.stderr
    for who_may_call in ((), ("--test",)):
        key = command(the_office.settings, "key", "create", number, *who_may_call, code=2)
        assert f"Account {number} is closed: its keys do not work, so no key was created." in key.stderr
    both = the_office.visitor(account.people["member"])
    assert "Switch account" not in both.get("/dashboard/settings").text
    assert f"{account.secret} Ltd" not in both.get("/dashboard/accounts").text
    assert both.post("/dashboard/accounts", {"account": number}).status_code == 404

    # While its data is there, it can be opened again.
    command(the_office.settings, "account", "resume", number)
    assert account.secret in the_office.visitor(who).get("/dashboard/lists").text
    command(the_office.settings, "account", "close", number, "--reason", "The contract has ended")
    assert the_office.do(lambda postgres: lifecycle.erase_closed(postgres, 0)) >= 1

    counts = _rows(the_office, account)
    assert len(counts) > len(KEPT)
    assert {table for table, count in counts.items() if count} <= KEPT
    assert not _known(the_office, owner_of)
    assert _known(the_office, account.people["member"].id)
    keys = the_office.do(
        lambda postgres: postgres.fetch(
            "SELECT name, revoked_at IS NOT NULL AS ended FROM {schema}.keys WHERE account_id = $1", account.account_id
        )
    )
    assert [tuple(row) for row in keys] == [("erased", True)]
    trail = _trail(the_office, account)
    assert trail[: len(before)] == before
    states = [row["action"] for row in trail[len(before) :] if row["action"] != "person.sign_in"]
    assert states == ["account.close", "account.resume", "account.close", "account.erase"]
    assert "0 problems" in command(the_office.settings, "credits", "verify", number).stdout
    assert the_office.do(lambda postgres: ledger.verify(postgres, account.account_id)).entries == 1
    assert "erased" in command(the_office.settings, "account", "list", "--after", str(account.account_id - 1)).stdout


def _known(office: Office, person_id: int) -> bool:
    return bool(office.do(lambda postgres: postgres.fetch("SELECT FROM {schema}.people WHERE id = $1", person_id)))
