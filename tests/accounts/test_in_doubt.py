"""Charges whose confirmation was lost: only those that were made are listed, and each is settled once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from siteglass.access.keys import Caller
from siteglass.billing import in_doubt
from siteglass.billing.answers import AnswerToStore, compress
from siteglass.billing.credits import Billing
from siteglass.billing.in_doubt import ChargeInDoubt, InDoubt
from siteglass.billing.ledger import verify
from siteglass.cli.main import cli
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres, Unconfirmed
from testing.accounts import bill, open_account

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

pytestmark = pytest.mark.anyio
# Of a charge: what a busy machine needs for one.
DEADLINE_MS = 500


def _answer(key: str) -> AnswerToStore:
    return AnswerToStore(key, b"f" * 32, "{}", compress(b"{}"))


class LosingPostgres(Postgres):
    """Makes every charge, and loses the confirmation of some."""

    loses = False

    @asynccontextmanager
    async def connection(self, timeout_ms: int | None = None, turn: int | None = None) -> AsyncIterator[Connection]:
        async with super().connection(timeout_ms, turn) as connection:
            yield connection
        if self.loses:
            raise Unconfirmed("lost")


@pytest.fixture
async def losing(dsn: str, schema_name: str) -> LosingPostgres:
    return LosingPostgres(dsn, schema_name)


async def _lose(losing: LosingPostgres, caller: Caller, key: str | None) -> tuple[Billing, str]:
    """A charge of one API and two lead credits that nobody confirms, and its request ID."""
    billing, request_id = Billing(losing, DEADLINE_MS), secrets.token_hex(8)
    losing.loses = True
    with pytest.raises(Unavailable) as raised:
        await billing.charge(caller, request_id, bill(1, 2), _answer(key) if key else None)
    losing.loses = False
    assert "nothing was charged" not in raised.value.message.replace("nothing is charged twice", "")
    await asyncio.sleep(DEADLINE_MS / 1000 + 0.05)
    return billing, request_id


async def _listed(postgres: Postgres, caller: Caller) -> list[ChargeInDoubt]:
    return await in_doubt.list_in_doubt(postgres, caller.account_id)


async def test_a_charge_without_confirmation_is_listed(losing: LosingPostgres) -> None:
    caller = await open_account(losing, 10, 10)
    billing, request_id = await _lose(losing, caller, "k1")
    await billing.in_doubt.note()
    (doubt,) = await _listed(losing, caller)
    assert (doubt.request_id, doubt.idempotency_key, doubt.api, doubt.lead) == (request_id, "k1", 1, 2)
    await billing.in_doubt.note()  # it is known now
    assert len(await _listed(losing, caller)) == 1
    await billing.in_doubt.close()
    await losing.close()


async def test_what_was_not_charged_is_not_listed(postgres: Postgres) -> None:
    caller = await open_account(postgres, 10, 10)
    doubts = InDoubt(postgres, 1)
    doubts.remember(caller.account_id, "never sent", None)
    await asyncio.sleep(0.01)
    await doubts.note()
    await doubts.close()
    assert await _listed(postgres, caller) == []


async def test_before_its_deadline_a_charge_may_still_come(postgres: Postgres) -> None:
    caller = await open_account(postgres, 10, 10)
    doubts = InDoubt(postgres, 300)
    request_id = secrets.token_hex(8)
    doubts.remember(caller.account_id, request_id, None)
    await doubts.note()
    await Billing(postgres).charge(caller, request_id, bill(1, 0))
    await doubts.close()  # waits for the deadline
    assert [doubt.request_id for doubt in await _listed(postgres, caller)] == [request_id]


@pytest.mark.parametrize("noted_first", [True, False])
async def test_a_retry_ends_the_doubt(losing: LosingPostgres, noted_first: bool) -> None:
    caller = await open_account(losing, 10, 10)
    billing, _ = await _lose(losing, caller, "k1")
    if noted_first:
        await billing.in_doubt.note()
    await billing.confirm_answer(caller, "k1")
    await billing.in_doubt.note()
    assert await _listed(losing, caller) == []
    await billing.in_doubt.close()
    await losing.close()


async def test_nothing_is_charged_until_commits_are_confirmed(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Postgres, "has_standbys", True)
    caller = await open_account(postgres, 10, 10)
    billing = Billing(postgres)
    confirmed = asyncio.Event()

    async def wait_for_standby(_timeout_ms: int) -> None:
        await confirmed.wait()

    postgres.confirm_commits = wait_for_standby  # type: ignore[assignment, method-assign]  # of this object only
    billing.in_doubt.remember(caller.account_id, "lost", None)
    with pytest.raises(Unavailable, match="nothing was charged"):
        await billing.charge(caller, "refused", bill(1, 0))
    confirmed.set()
    await billing.charge(caller, "made", bill(1, 0))
    assert (await billing.balance(caller.account_id)).api == 9
    await billing.in_doubt.close()


RunCli = Callable[..., Awaitable[Result]]


@pytest.fixture
def run_cli(schema_name: str) -> RunCli:
    async def run(*words: str) -> Result:
        environment = {"SITEGLASS_POSTGRES_SCHEMA": schema_name}
        return await asyncio.to_thread(CliRunner(env=environment).invoke, cli, ["credits", *words])

    return run


async def test_the_operator_confirms_or_gives_back(losing: LosingPostgres, run_cli: RunCli) -> None:
    caller = await open_account(losing, 10, 10)
    account = str(caller.account_id)
    for key in ("k1", None, "k3"):
        billing, request_id = await _lose(losing, caller, key)
        await billing.in_doubt.note()
        await billing.in_doubt.close()
        if key is None:
            unnamed = request_id
    listed = await run_cli("in-doubt", account)
    lines = listed.stdout.splitlines()
    assert lines[-1] == "3 charges are unconfirmed."
    assert f"account {account}, row 2, " in lines[0]
    assert "1 API and 2 lead credits" in lines[0]
    assert lines[0].endswith("Idempotency-Key k1")
    assert lines[1].endswith(f"request {unnamed}, no Idempotency-Key")

    confirmed = await run_cli("settle", account, "k1", "--confirm")
    assert confirmed.stdout == f"The charge in row 2 of account {account} was confirmed.\n"
    assert (await run_cli("settle", account, unnamed, "--give-back")).exit_code == 0
    assert (await run_cli("settle", account, "k3", "--give-back")).exit_code == 0
    assert (await run_cli("in-doubt", account)).stdout == "0 charges are unconfirmed.\n"
    again = await run_cli("settle", account, "k3", "--give-back")
    assert "has no unconfirmed charge" in str(again.exception)

    billing = Billing(losing)
    left = await billing.balance(caller.account_id)
    assert (left.api, left.lead) == (9, 8)
    assert await billing.find_answer(caller, "k1") is not None
    assert await billing.find_answer(caller, "k3") is None  # a retry is charged again
    assert (await verify(losing, caller.account_id)).problem_count == 0
    actions = await losing.fetch("SELECT action FROM {schema}.audit WHERE account_id = $1", caller.account_id)
    assert [row["action"] for row in actions].count("credits.refund") == 2
    assert [row["action"] for row in actions].count("credits.confirm") == 1
    await losing.close()
