"""The HTTP level: processes of the service over a small real index, killed and frozen while callers retry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import orjson

from siteglass.access import accounts
from siteglass.access.keys import create_key
from siteglass.billing import credits
from siteglass.corpus.lead_files import write_parquet
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.accounts import make_schema
from testing.service import SECRET, ServiceProcess, fill, settings_for
from tests.proof import ledger_level
from tests.proof.arena import Arena
from tests.proof.faults import Counts, schedule
from tests.proof.history import Log, Operation, Progress, read_logs, read_notes
from tests.proof.http_client import Account, Ask, Job
from tests.proof.ledger_level import CHARGES_PER_ACCOUNT, Child, Seen

LEADS = 500
# As at the ledger level: charged together, or, where there are caps, each by itself.
PLANS = [replace(plan, rate_per_s=100_000, burst=100_000) for plan in ledger_level.PLANS.values()]
RICH, POOR = 10**6, 20
QUOTE_ATTEMPTS = 20


@dataclass(frozen=True)
class Size:
    """How much, and how many faults; `command` starts a service that is not ours as it is."""

    charges: int
    faults: Counts
    services: int = 2
    clients: int = 12
    command: Sequence[str] | None = None


def service_settings(arena: Arena, schema: str) -> Settings:
    """The service behind the proxy, with deadlines that suit a run in which much is unavailable."""
    return settings_for(
        "proof",
        postgres_dsn=arena.dsn,
        postgres_owner_dsn=arena.dsn.replace("siteglass@", "siteglass_owner@"),
        postgres_schema=schema,
        redis_url=arena.redis_url,
        postgres_timeout_ms=1_000,
        charge_timeout_ms=1_500,
        request_timeout_ms=3_000,
        log_level="ERROR",
    )


def fill_index(arena: Arena, folder: Path) -> None:
    """Leads in the OpenSearch that all tests share, under a prefix of this run."""
    path = folder / "leads.parquet"
    write_parquet(path, generate(LEADS, 7))
    fill(service_settings(arena, "proof"), path)


def drop_index(arena: Arena) -> None:
    """Take the leads away again."""
    settings = service_settings(arena, "proof")
    with httpx.Client(base_url=settings.opensearch_urls[0], trust_env=False, timeout=30) as engine:
        for row in engine.get(f"/_cat/indices/{settings.index_prefix}*", params={"format": "json"}).json():
            engine.delete(f"/{row['index']}")


async def open_accounts(dsn: str, schema: str, log: Log, count: int, *, poor: bool) -> list[Account]:
    """Accounts with their keys; with `poor` the last is soon out of credits."""
    postgres = Postgres(dsn, schema)
    try:
        for plan in PLANS:
            await accounts.set_plan(postgres, plan, actor="proof")
        opened = []
        for number in range(count):
            plan = PLANS[number % len(PLANS)]
            account = await accounts.create_account(postgres, f"proof {schema} {number}", plan.name, actor="proof")
            is_poor = poor and number == count - 1
            amount = POOR if is_poor else RICH
            grant = Operation(str(account), 0, "grant", api=amount, lead=amount, request=f"opening {account}")
            call = log.call(grant)
            left = await credits.grant(postgres, account, amount, amount, "proof", grant.request)
            log.answer(call, "granted", balance_api=left.api, balance_lead=left.lead, seq=left.seq)
            _, secret = await create_key(postgres, [SECRET], account, "proof", actor="proof")
            opened.append(Account(account, secret, is_poor))
        return opened
    finally:
        await postgres.close()


def _priced(url: str, account: Account) -> list[Ask]:
    """Searches and enrichments of several sizes, and what each costs: nothing changes the index meanwhile."""
    leads = list(generate(40, 7))
    # What costs nothing is not stored, but found again: its key promises nothing about charges.
    costly = {"has_email": True}
    bodies: list[tuple[str, dict[str, Any]]] = [
        *(("/v1/leads/search", {**costly, "limit": limit, "select": ["domain"]}) for limit in range(1, 9)),
        *(("/v1/leads/search", {**costly, "limit": limit, "sort": "domain"}) for limit in (1, 2, 5)),
        *(("/v1/leads/search", {**costly, "limit": 2, "min_score": score}) for score in range(10, 60, 10)),
        *(("/v1/leads/enrich", {"domains": [lead.domain, "nope.example"]}) for lead in leads[:8]),
    ]
    asks = []
    with httpx.Client(base_url=url, headers={"X-API-Key": account.secret}, trust_env=False, timeout=30) as client:
        for path, body in bodies:
            price = _quote(client, path, body)
            asks.append(Ask(path, body, price["api_credits"], price["lead_credits"]))
    return asks


def _quote(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, int]:
    """The price; asked for again if the service, which has just started on a busy machine, cannot answer in time."""
    for _ in range(QUOTE_ATTEMPTS):
        response = client.post(path, json={**body, "dry_run": True})
        if response.status_code != 503:
            break
        time.sleep(1)
    price: dict[str, int] = response.raise_for_status().json()
    return price


def settle(operations: list[Operation]) -> None:
    """What an attempt without an answer would have cost is what the answered one of the same key cost."""
    prices = {
        (o.account, o.key, o.fingerprint): (o.api, o.lead) for o in operations if o.outcome in ("charged", "replayed")
    }
    for operation in operations:
        if operation.kind == "charge" and operation.outcome == "unknown":
            price = prices.get((operation.account, operation.key, operation.fingerprint))
            if price is not None:
                operation.api, operation.lead = price


def run(arena: Arena, schema: str, folder: Path, seed: int, size: Size) -> Seen:
    """Requests under faults; what was seen. The index is there."""
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(make_schema(arena.direct_dsn, schema))
    settings = service_settings(arena, schema)
    services = [ServiceProcess(settings, size.command, with_account=False) for _ in range(size.services)]
    job = folder / "client.json"
    client = Child("tests.proof.http_client", job)
    try:
        for service in services:
            service.start()
        with Log(folder / "opening.log") as log:
            count = 4 + size.charges // CHARGES_PER_ACCOUNT
            opened = asyncio.run(open_accounts(arena.direct_dsn, schema, log, count, poor=True))
        asks = _priced(services[0].url, opened[0])
        urls = [service.url for service in services]
        hold = folder / "faults-to-come"
        hold.touch()
        given = Job(urls, seed, size.clients, size.charges, opened, asks, str(folder / "client.log"), str(hold))
        job.write_bytes(orjson.dumps(asdict(given)))
        client.start()
        faults = schedule(seed, f"http {schema}", size.charges, replace(size.faults, redis=True), size.services)
        arena.run("http", services, [client], faults, Progress(folder), size.charges, hold)
    finally:
        client.kill()
        for service in services:
            service.kill()
    logs = list(folder.glob("*.log"))
    operations = read_logs(logs)
    settle(operations)
    return Seen(operations, read_notes(logs, "error"))
