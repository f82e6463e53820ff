"""Owners hear once that a balance is low, whoever sends the mail and whatever dies meanwhile."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from siteglass.access.accounts import AccountError, create_account
from siteglass.access.audit import Person, list_audit
from siteglass.access.keys import Caller
from siteglass.billing import credits
from siteglass.billing.balance_alerts import (
    BalanceAlert,
    Claim,
    balance_alert,
    claim_due,
    mark_mailed,
    release,
    set_balance_alert,
)
from siteglass.billing.balance_mails import mail_low_balances
from siteglass.errors import Unavailable
from siteglass.platform.mailer import Mailer, MailError, open_mailer
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.accounts import open_account, pay
from testing.mails import Outbox
from testing.service import make_test_account, serving, settings_for
from tests.accounts.writing import USED, as_owner

pytestmark = pytest.mark.anyio

LINK = "https://app.example.com/dashboard"
FROM = "Siteglass <credits@sender.test>"
_PEOPLE = itertools.count(1)


class World:
    """A mailer that writes to a folder, and accounts with owners."""

    def __init__(self, postgres: Postgres, folder: Path) -> None:
        self.postgres = postgres
        self.folder = folder
        self.outbox = Outbox(folder)
        made = open_mailer(Settings(mail_url=f"file:{folder}", mail_from=FROM))
        assert made is not None
        self.mailer: Mailer = made

    async def person(self, account_id: int, role: str = "owner", email: str | None = None) -> str:
        """A new person in an account; the address."""
        address = email or f"person-{next(_PEOPLE)}-{account_id}@receiver.test"
        await self.postgres.fetch(
            "WITH made AS (INSERT INTO {schema}.people (email, name, password) VALUES ($1, 'P', '') RETURNING id)"
            " INSERT INTO {schema}.members (account_id, person_id, role)"
            " SELECT $2, id, $3::text::{schema}.role FROM made",
            address,
            account_id,
            role,
        )
        return address

    async def account(self, api: int, lead: int, alert: BalanceAlert) -> tuple[Caller, str]:
        """A new account and its only owner."""
        caller = await open_account(self.postgres, api, lead)
        owner = await self.person(caller.account_id)
        await set_balance_alert(self.postgres, caller.account_id, alert, "tests")
        return caller, owner

    async def mail(self) -> int:
        return await mail_low_balances(self.postgres, self.mailer, LINK)

    def texts(self, to: str) -> list[str]:
        return [mail.get_content() for mail in self.outbox.mails(to)]

    async def grant(self, caller: Caller, api: int, lead: int) -> None:
        await credits.grant(self.postgres, caller.account_id, api, lead, "tests", f"INV {next(_PEOPLE)}")

    async def age_claims(self) -> None:
        """As if six minutes had passed since every claim."""
        await self.postgres.fetch("UPDATE {schema}.balance_alerts SET claimed_at = claimed_at - interval '6 minutes'")


@pytest.fixture
async def world(postgres: Postgres, dsn: str, tmp_path: Path) -> AsyncIterator[World]:
    made = World(postgres, tmp_path / "outbox")
    yield made
    made.mailer.close()
    await as_owner(dsn, postgres, "TRUNCATE {schema}.balance_alerts")


async def test_what_the_mail_says_and_to_whom(world: World, dsn: str) -> None:
    caller, owner = await world.account(12_345, 99, BalanceAlert(5_000, 100))
    account = caller.account_id
    second = await world.person(account)
    others = [await world.person(account, role) for role in ("member", "viewer")]
    today = datetime.now(UTC).date()
    for days in range(1, 9):
        day = today - timedelta(days=days)
        await as_owner(dsn, world.postgres, USED, caller.key_id, day, "search", 1, 1_234, 5)
    assert await world.mail() == 1
    (mail,) = world.outbox.mails(owner)
    row = await world.postgres.fetchrow("SELECT name FROM {schema}.accounts WHERE id = $1", account)
    assert row is not None
    assert mail["Subject"] == f"Low on credits: {row['name']}"
    text = mail.get_content()
    assert text.startswith(f"The account {row['name']} is running low.\n\nIt has fewer than 100 lead credits.\n\n")
    assert "API credits.\n" not in text
    lasts = [datetime.now(UTC) + timedelta(days=days) for days in (12_345 / 1_234, 99 / 5)]
    assert "Left now:    12,345 API credits\n                 99 lead credits\n" in text
    assert f"Daily use:    1,234 API credits, which lasts until {lasts[0].date()}\n" in text
    assert f"                5.0 lead credits, which lasts until {lasts[1].date()}\n" in text
    assert f"\n  {LINK}\n" in text
    assert world.texts(second) == [text]
    assert [world.texts(to) for to in others] == [[], []]


async def test_a_daily_use_below_ten_has_a_decimal(world: World, dsn: str) -> None:
    caller, owner = await world.account(500, 99, BalanceAlert(lead_below=100))
    for days in range(1, 9):
        day = datetime.now(UTC).date() - timedelta(days=days)
        await as_owner(dsn, world.postgres, USED, caller.key_id, day, "search", 1, 10, 9)
    assert await world.mail() == 1
    (text,) = world.texts(owner)
    assert "\nDaily use:    10 API credits, which lasts until " in text
    assert "\n             9.0 lead credits, which lasts until " in text


async def test_once_until_it_has_been_higher(world: World) -> None:
    caller, owner = await world.account(10, 100, BalanceAlert(lead_below=100))
    assert await world.mail() == 0  # at the number, not below
    await pay(world.postgres, caller, 0, 1)
    assert [await world.mail() for _ in range(3)] == [1, 0, 0]
    await pay(world.postgres, caller, 0, 5)
    assert await world.mail() == 0
    await world.grant(caller, 0, 6)
    assert await world.mail() == 0
    await pay(world.postgres, caller, 0, 1)
    assert [await world.mail() for _ in range(2)] == [1, 0]
    texts = world.texts(owner)
    assert len(texts) == 2
    # It began today: part of a day does not give a pace.
    assert all("\nDaily use:   known after a full day\n\nDaily use is" in text for text in texts)


async def test_each_balance_has_its_own_mail(world: World) -> None:
    caller, owner = await world.account(0, 100, BalanceAlert(10, 100))
    assert await world.mail() == 1
    await pay(world.postgres, caller, 0, 1)
    assert [await world.mail() for _ in range(2)] == [1, 0]
    api, lead = world.texts(owner)
    assert "fewer than 10 API credits" in api
    assert "fewer than 100 lead" not in api
    assert "fewer than 100 lead credits" in lead
    assert "fewer than 10 API" not in lead
    await world.grant(caller, 10, 0)
    assert await world.mail() == 0
    await pay(world.postgres, caller, 1, 0)
    assert [await world.mail() for _ in range(2)] == [1, 0]
    assert "lead credits.\n\nLeft" not in world.texts(owner)[2]


async def test_what_has_expired_is_not_there(world: World, dsn: str) -> None:
    caller, owner = await world.account(0, 5, BalanceAlert(lead_below=10))
    ends = datetime.now(UTC) + timedelta(days=9)
    await credits.grant(world.postgres, caller.account_id, 0, 50, "tests", "INV", ends)
    assert await world.mail() == 0
    for statement in (
        "UPDATE {schema}.expiring SET expires_at = now() WHERE account_id = $1",
        "UPDATE {schema}.balances SET next_expiry = now() WHERE account_id = $1",
    ):
        await as_owner(dsn, world.postgres, statement, caller.account_id)
    assert [await world.mail() for _ in range(2)] == [1, 0]
    assert " 5 lead credits\n" in world.texts(owner)[0]


async def test_many_workers_send_one(world: World, dsn: str, schema_name: str) -> None:
    owners = [(await world.account(0, 0, BalanceAlert(5, 5)))[1] for _ in range(6)]
    workers = [Postgres(dsn, schema_name, max_connections=2) for _ in range(6)]
    for worker in workers:  # connected, so that all begin at the same time
        await worker.fetch("SELECT 1")
    sent = await asyncio.gather(*(mail_low_balances(worker, world.mailer, LINK) for worker in workers))
    assert sum(sent) == len(owners)
    assert [len(world.texts(owner)) for owner in owners] == [1] * len(owners)
    await asyncio.gather(*(worker.close() for worker in workers))


async def test_who_dies_between_claim_and_mail_is_followed(world: World) -> None:
    _, owner = await world.account(0, 0, BalanceAlert(lead_below=5))
    dead = await claim_due(world.postgres)
    assert isinstance(dead, Claim)
    assert dead.owners == [owner]
    assert await world.mail() == 0
    await world.age_claims()
    later = await claim_due(world.postgres)
    assert later is not None
    # It was only slow: what it says of its claim does not touch that of the other.
    await mark_mailed(world.postgres, dead, dead.due)
    await release(world.postgres, dead)
    assert await world.mail() == 0
    await world.age_claims()
    assert [await world.mail() for _ in range(2)] == [1, 0]
    assert len(world.texts(owner)) == 1


async def test_a_mail_that_fails_is_tried_again(world: World) -> None:
    _, owner = await world.account(0, 0, BalanceAlert(lead_below=5))
    world.folder.write_text("no folder")
    for _ in range(2):
        with pytest.raises(Unavailable) as caught:
            await world.mail()
        assert caught.value.reason.startswith("mail: ")
    world.folder.unlink()
    assert [await world.mail() for _ in range(2)] == [1, 0]
    assert len(world.texts(owner)) == 1


async def test_an_account_whose_mails_fail_is_in_nobodys_way(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, failing), (_, other) = [await world.account(0, 0, BalanceAlert(lead_below=5)) for _ in range(2)]
    send = world.mailer.send

    async def send_some(to: str, subject: str, text: str) -> None:
        if to == failing:
            raise MailError("greylisted")
        await send(to, subject, text)

    monkeypatch.setattr(world.mailer, "send", send_some)
    for _ in range(60):  # in no order: all in vain by chance is out of the question
        with pytest.raises(Unavailable):
            await world.mail()
        if world.texts(other):
            break
    assert len(world.texts(other)) == 1
    assert world.texts(failing) == []


async def test_an_owner_who_takes_no_mail_stops_no_other(world: World) -> None:
    caller, owner = await world.account(0, 0, BalanceAlert(lead_below=5))
    await world.person(caller.account_id, email=f"no address {caller.account_id}")
    lonely = await open_account(world.postgres)
    await world.person(lonely.account_id, email=f"no address {lonely.account_id}")
    await set_balance_alert(world.postgres, lonely.account_id, BalanceAlert(lead_below=5), "tests")
    assert [await world.mail() for _ in range(2)] == [2, 0]
    assert len(world.texts(owner)) == 1


async def test_an_account_without_owner_waits_for_one(world: World) -> None:
    caller = await open_account(world.postgres)
    await world.person(caller.account_id, "member")
    await set_balance_alert(world.postgres, caller.account_id, BalanceAlert(lead_below=5), "tests")
    assert await world.mail() == 0
    owner = await world.person(caller.account_id)
    assert await world.mail() == 1
    assert len(world.texts(owner)) == 1


async def test_no_name_says_more_in_a_header(world: World) -> None:
    name = f"Acme\r\nBcc: all@receiver.test\n{next(_PEOPLE)}-{time.time_ns()}"
    account = await create_account(world.postgres, name, actor="tests")
    owner = await world.person(account)
    await set_balance_alert(world.postgres, account, BalanceAlert(lead_below=5), "tests")
    assert await world.mail() == 1
    (mail,) = world.outbox.mails(owner)
    assert mail["Bcc"] is None
    assert mail["Subject"].startswith("Low on credits: Acme  Bcc: all@receiver.test ")
    assert world.outbox.mails("all@receiver.test") == []


async def test_an_alert_is_set_read_and_noted(world: World) -> None:
    caller, _ = await world.account(0, 0, BalanceAlert(lead_below=5))
    postgres, account = world.postgres, caller.account_id
    assert await balance_alert(postgres, (await open_account(postgres)).account_id) == BalanceAlert()
    await set_balance_alert(postgres, account, BalanceAlert(10**15, None), Person(7))
    assert await balance_alert(postgres, account) == BalanceAlert(10**15, None)
    rows = [row for row in await list_audit(postgres, account) if row.action == "alert.set"]
    assert [(row.actor_kind, row.actor_id, row.details) for row in rows] == [
        ("operator", "tests", {"api_below": None, "lead_below": 5}),
        ("person", "7", {"api_below": 10**15, "lead_below": None}),
    ]
    for number in (0, -1, 10**15 + 1):
        with pytest.raises(AccountError, match="from 1 to 1,000,000,000,000,000"):
            await set_balance_alert(postgres, account, BalanceAlert(lead_below=number), "tests")
    with pytest.raises(AccountError, match="no account"):
        await set_balance_alert(postgres, 10**12, BalanceAlert(), "tests")


async def test_another_number_is_told_of_anew_and_the_same_is_not(world: World) -> None:
    caller, _ = await world.account(5, 5, BalanceAlert(10, 10))
    assert [await world.mail() for _ in range(2)] == [1, 0]
    for alert, mails in ((BalanceAlert(10, 10), 0), (BalanceAlert(None, 10), 0), (BalanceAlert(10, 8), 1)):
        await set_balance_alert(world.postgres, caller.account_id, alert, "tests")
        assert await world.mail() == mails
    await set_balance_alert(world.postgres, caller.account_id, BalanceAlert(5, 5), "tests")
    assert await world.mail() == 0


def test_the_service_mails_with_a_link_to_itself(tmp_path: Path, worker_id: str) -> None:
    folder = tmp_path / "outbox"
    public_url = LINK.removesuffix("dashboard")
    settings = settings_for(f"low-{worker_id}", mail_url=f"file:{folder}", mail_from=FROM, public_url=public_url)
    make_test_account(settings.postgres_dsn, settings.postgres_schema)

    async def prepare() -> str:
        postgres = Postgres(settings.postgres_dsn, settings.postgres_schema)
        made = World(postgres, folder)
        _, owner = await made.account(0, 0, BalanceAlert(lead_below=5))
        await postgres.close()
        return owner

    owner = asyncio.run(prepare())
    with serving(settings):
        deadline = time.monotonic() + 10
        while not Outbox(folder).mails(owner) and time.monotonic() < deadline:
            time.sleep(0.02)
    (mail,) = Outbox(folder).mails(owner)
    assert f"\n  {LINK}\n" in mail.get_content()
