"""The serving process is killed under load: the ledger stays whole, and no answer was given without its charge."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import threading
import time
from dataclasses import dataclass, field

import httpx
import pytest

from siteglass.access import accounts
from siteglass.access.keys import create_key
from siteglass.billing import credits, ledger
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.service import SECRET, ServiceProcess

KILLS = 50 if os.environ.get("SITEGLASS_LONG") else 5
CLIENTS = 4


@dataclass
class Seen:
    """What the clients got: the credits that each answered request said it took, by request id."""

    taken: dict[str, tuple[int, int]] = field(default_factory=dict)
    failed: int = 0


def _call(url: str, key: str, stop: threading.Event, seen: Seen, seed: int) -> None:
    choose = random.Random(seed)
    with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=10, trust_env=False) as client:
        while not stop.is_set():
            path, body = choose.choice(
                [
                    ("/v1/leads/search", {"limit": choose.randint(1, 30), "select": ["domain"]}),
                    ("/v1/leads/enrich", {"domains": ["nope.example", "also.example"]}),
                ]
            )
            try:
                answer = client.post(path, json=body)
            except httpx.TransportError:
                seen.failed += 1
                stop.wait(0.05)
                continue
            assert answer.status_code == 200, answer.text
            used = (int(answer.headers["X-Credits-Api-Used"]), int(answer.headers["X-Credits-Lead-Used"]))
            seen.taken[answer.headers["X-Request-Id"]] = used


async def _account(settings: Settings) -> tuple[int, str]:
    postgres = Postgres(settings.postgres_dsn, settings.postgres_schema)
    try:
        account = await accounts.create_account(postgres, f"killed {secrets.token_hex(4)}", "tests", actor="tests")
        await credits.grant(postgres, account, 10**6, 10**6, "tests", "grant")
        _, key = await create_key(postgres, [SECRET], account, "killed", actor="tests")
        return account, key
    finally:
        await postgres.close()


async def _books(settings: Settings, account: int) -> tuple[ledger.LedgerReport, dict[str, tuple[int, int]]]:
    postgres = Postgres(settings.postgres_dsn, settings.postgres_schema)
    try:
        rows = await postgres.fetch(
            "SELECT request_id, api, lead FROM {schema}.ledger WHERE account_id = $1 AND kind = 'charge'",
            account,
            timeout_ms=10_000,
        )
        assert len(rows) == len({row["request_id"] for row in rows})
        return await ledger.verify(postgres, account), {
            row["request_id"]: (abs(row["api"]), abs(row["lead"])) for row in rows
        }
    finally:
        await postgres.close()


@pytest.mark.promise("charge.before_answer")
def test_no_answer_without_its_charge_and_the_ledger_stays_whole(live_settings: Settings) -> None:
    service = ServiceProcess(live_settings)
    service.start()
    account, key = asyncio.run(_account(live_settings))
    stop, seen = threading.Event(), Seen()
    clients = [threading.Thread(target=_call, args=(service.url, key, stop, seen, seed)) for seed in range(CLIENTS)]
    for client in clients:
        client.start()
    choose = random.Random(1)
    try:
        for _ in range(KILLS):
            answers = len(seen.taken)
            stop.wait(choose.uniform(0.3, 0.9))
            while len(seen.taken) <= answers + 10 and any(client.is_alive() for client in clients):
                time.sleep(0.01)  # on a busy machine a kill may come before anything was answered
            service.kill()
            service.start()
        stop.wait(0.5)
    finally:
        stop.set()
        for client in clients:
            client.join()
        service.kill()
    verified, charged = asyncio.run(_books(live_settings, account))
    assert verified.problem_count == 0, verified.problems
    assert len(seen.taken) > 10 * KILLS
    assert seen.failed >= KILLS
    # Each answer has its charge, to the credit. A charge without an answer is one that a kill cut off on its way out.
    assert {request: charged.get(request) for request in seen.taken} == seen.taken
    assert len(charged) - len(seen.taken) <= CLIENTS * KILLS
