"""An account is suspended by command: what the API refuses from then on, and that nothing is charged any more."""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import datetime
from typing import Any

import httpx
import pytest

from siteglass.access import lifecycle
from siteglass.access.accounts import AccountError
from siteglass.access.keys import KeyLimits
from siteglass.openapi.operations import OPERATIONS
from testing.api_calls import ACCOUNT, ENRICH, LEDGER, SEARCH, USAGE, answered, refused
from testing.customers import IN_ORDER, Bank, Customer, async_client, nothing_shown
from tests.suppression.world import command

WHY = "Invoice 2026-114 is not paid"
LONGEST_S = 1.0
MESSAGE = (
    f"The operator of this service suspended the account: {WHY}. This request was not charged; GET /v1/ledger still "
    "works. Ask the operator to resume the account."
)


def _suspend(bank: Bank, customer: Customer) -> None:
    bank.do(lifecycle.suspend(bank.postgres, customer.account_id, WHY, actor="tests"))


def _resume(bank: Bank, customer: Customer) -> None:
    bank.do(lifecycle.resume(bank.postgres, customer.account_id, actor="tests"))


@pytest.mark.promise("error.ACCOUNT_SUSPENDED", "account.suspended")
def test_everything_but_the_own_books_is_refused(bank: Bank) -> None:
    customer = bank.customer(api=100, lead=100)
    test_key = bank.another(customer.account_id)
    first = customer.post(SEARCH, {**IN_ORDER, "limit": 3})
    account = str(customer.account_id)
    command(bank.settings, "account", "suspend", account, "--reason", f" {WHY}. ")
    assert f"suspended: {WHY}" in command(bank.settings, "account", "list", "--after", str(int(account) - 1)).stdout
    time.sleep(LONGEST_S)
    with customer.untouched():
        for key in (customer, test_key):
            for operation in OPERATIONS:
                if operation.scope and operation.scope != "account":
                    response = key.client.request(operation.method, operation.path, json={})
                    refused(response, 403, "ACCOUNT_SUSPENDED")
                    assert response.json() == {"error": "ACCOUNT_SUSPENDED", "message": MESSAGE}
                    assert response.headers["link"] == '</docs/errors/ACCOUNT_SUSPENDED>; rel="help"'
                    nothing_shown(response)
        receipt = f"{LEDGER}/{first.headers['x-request-id']}"
        for path in (ACCOUNT, USAGE, LEDGER, receipt):
            answered(customer.client.get(path))
    # Somebody without the scope, or without a key, does not learn of it.
    narrow = bank.another(customer.account_id, scopes=["enrich"])
    refused(narrow.post(SEARCH, {}), 403, "FORBIDDEN")
    refused(customer.client.post(SEARCH, json={}, headers={"X-API-Key": "wrong"}), 401, "UNAUTHORIZED")
    command(bank.settings, "account", "resume", account)
    time.sleep(LONGEST_S)
    answered(customer.post(SEARCH, {**IN_ORDER, "limit": 3}))
    assert command(bank.settings, "account", "resume", account, code=2).stderr.endswith("is active already.\n")
    customer.verified()


@pytest.mark.promise("account.suspended")
def test_a_stored_response_is_returned_after_the_suspension_only(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    body = {**IN_ORDER, "limit": 5}
    first = customer.post(SEARCH, body, retry="one")
    answered(first)
    _suspend(bank, customer)
    time.sleep(LONGEST_S)
    with customer.untouched():
        refused(customer.post(SEARCH, body, retry="one"), 403, "ACCOUNT_SUSPENDED")
        _resume(bank, customer)
        time.sleep(LONGEST_S)
        again = customer.post(SEARCH, body, retry="one")
    assert again.content == first.content
    assert again.headers["Idempotency-Replayed"] == "true"


ASKED: list[tuple[str, dict[str, Any]]] = [
    (SEARCH, {**IN_ORDER, "limit": 2}),
    (SEARCH, {**IN_ORDER, "limit": 5}),
    (ENRICH, {"domains": ["stock-01.com", "nope.invalid"]}),
]


async def _ask(client: httpx.AsyncClient, keys: list[Customer], task: int, stop: float) -> list[tuple[float, int]]:
    """Requests without pause, some with an Idempotency-Key; when each started, and its status."""
    seen = []
    number = 0
    while time.monotonic() < stop:
        number += 1
        path, body = ASKED[number % len(ASKED)]
        key = keys[number % len(keys)]
        headers = {"X-API-Key": key.key} | ({"Idempotency-Key": f"{task}-{number}"} if number % 2 else {})
        started = time.monotonic()
        response = await client.post(path, json=body, headers=headers)
        seen.append((started, response.status_code))
        if response.status_code == 403:
            assert response.json() == {"error": "ACCOUNT_SUSPENDED", "message": MESSAGE}
    return seen


async def _suspended_under_load(bank: Bank, keys: list[Customer]) -> tuple[float, list[tuple[float, int]]]:
    """When the command was confirmed, and all requests of six callers at once."""
    stop = time.monotonic() + 1.0 + 2 * LONGEST_S
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(async_client(bank.base_url)) for _ in range(6)]
        asking = [asyncio.create_task(_ask(client, keys, task, stop)) for task, client in enumerate(clients)]
        await asyncio.sleep(1.0)
        await asyncio.to_thread(_suspend, bank, keys[0])
        confirmed = time.monotonic()
        return confirmed, [one for seen in await asyncio.gather(*asking) for one in seen]


@pytest.mark.promise("account.suspended")
@pytest.mark.alone
@pytest.mark.parametrize("limits", [None, KeyLimits(daily_lead_cap=10**6)], ids=["batched", "one by one"])
def test_nothing_is_charged_after_it(bank: Bank, limits: KeyLimits | None) -> None:
    """By the ledger: the last charge was written before the suspension, and each was answered."""
    first = bank.customer(api=10**6, lead=10**6, limits=limits)
    keys = [first, bank.another(first.account_id, limits=limits)]
    confirmed, seen = asyncio.run(_suspended_under_load(bank, keys))
    charged = [row for row in first.books().rows if row["kind"] == "charge"]
    assert len(charged) == sum(status == 200 for _, status in seen)
    assert len(charged) > 20
    assert {status for started, status in seen if started > confirmed} == {403}
    last, suspended_at = _times(bank, first.account_id)
    assert last < suspended_at
    first.verified()


def _times(bank: Bank, account_id: int) -> tuple[datetime, datetime]:
    """Of the last ledger row, and of the suspension."""
    row = bank.do(
        bank.postgres.fetchrow(
            "SELECT (SELECT max(at) FROM {schema}.ledger WHERE account_id = $1) AS last, state_at"
            " FROM {schema}.accounts WHERE id = $1",
            account_id,
        )
    )
    assert row is not None
    return row["last"], row["state_at"]


@pytest.mark.promise("account.closed")
def test_the_keys_of_a_closed_account_are_gone(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    answered(customer.post(SEARCH, {"limit": 1}))
    command(bank.settings, "account", "close", str(customer.account_id), "--reason", "The contract has ended")
    time.sleep(LONGEST_S)
    with customer.untouched():
        refused(customer.post(SEARCH, {"limit": 1}), 401, "UNAUTHORIZED")
        refused(customer.client.get(LEDGER), 401, "UNAUTHORIZED")
        # Nobody makes another one for it.
        with pytest.raises(AccountError, match="is closed: its keys do not work, so no key was created"):
            bank.another(customer.account_id)
    _resume(bank, customer)
    refused(customer.post(SEARCH, {"limit": 1}), 401, "UNAUTHORIZED")
    answered(bank.another(customer.account_id).post(SEARCH, {"limit": 1}))
    customer.verified()
