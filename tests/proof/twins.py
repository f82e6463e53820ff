"""Twins: the same request with the same Idempotency-Key 64 times at once. One is carried out and charged. Another
account that sends the same key at the same time gets its own answer."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import aiohttp
import httpx

from siteglass.billing.credits import Billing
from siteglass.index.names import IndexNames
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.accounts import make_schema
from testing.service import ServiceProcess
from tests.proof import http_client, http_level, ledger_level, ledger_worker
from tests.proof.arena import SAY_EVERY_S, Arena
from tests.proof.history import Log, Operation, read_logs, read_notes
from tests.proof.http_client import Account, Ask
from tests.proof.ledger_level import Seen

TWINS = 64
# The verifier takes 5,000 operations of one account.
ROUNDS_PER_ACCOUNT = 70
ASK = Ask("/v1/leads/search", {"limit": 3, "select": ["domain"]})


class Teller:
    """A line every two seconds."""

    def __init__(self, say: Callable[[str], None], title: str, rounds: int) -> None:
        self._say, self._title, self._rounds = say, title, rounds
        self._said = time.monotonic()

    def done(self, number: int) -> None:
        if time.monotonic() - self._said > SAY_EVERY_S:
            self._said = time.monotonic()
            self._say(f"{self._title}: {number:,} of {self._rounds:,} rounds")


def _key(number: int) -> str:
    return f"twins-{number}"


def _not_once(operations: list[Operation], rounds: int) -> list[str]:
    """Rounds in which an account was charged other than once, or a twin ended without the answer."""
    outcomes: dict[tuple[str, str], Counter[str]] = {}
    for operation in operations:
        if operation.key:
            outcomes.setdefault((operation.key, operation.account), Counter())[operation.outcome] += 1
    wrong = [
        f"{key}, account {account}: {dict(found)}"
        for (key, account), found in outcomes.items()
        if found["charged"] != 1 or found["replayed"] not in (0, TWINS - 1)
    ]
    complete = Counter(key for (key, _), found in outcomes.items() if found["replayed"] == TWINS - 1)
    return wrong + [f"{_key(number)} is incomplete" for number in range(rounds) if complete[_key(number)] != 1]


async def ledger(arena: Arena, schema: str, folder: Path, seed: int, rounds: int, say: Callable[[str], None]) -> Seen:
    """Every other round each twin has its own connection, so that the database decides between them. In the others all
    twins share one, so that they are in one batch."""
    await make_schema(arena.direct_dsn, schema)
    path, teller = folder / "twins.log", Teller(say, "twins, ledger", rounds)
    with Log(path) as log:
        count = 2 + rounds // ROUNDS_PER_ACCOUNT
        paths: tuple[ledger_level.ChargePath, ...] = ("batch", "single")
        opened = await ledger_level.open_accounts(arena.direct_dsn, schema, log, count, paths, poor=False)
        bystander, *callers = [ledger_worker.caller_of(*one) for one in opened]
        job = ledger_worker.Job(arena.direct_dsn, schema, seed, 1, TWINS + 1, 0, 0.0, [], str(path))
        pools = [Postgres(job.dsn, schema, max_connections=1) for _ in range(TWINS + 2)]
        billings = [Billing(pool, ledger_worker.CHARGE_MS) for pool in pools]
        apart, together = (
            [
                ledger_worker.Client(job, number, log, pools[which], billings[which], 0, turn)
                for number in range(TWINS + 1)
                for which in (number if turn == 0 else -1,)
            ]
            for turn in (0, 1)
        )
        for number in range(rounds):
            caller = callers[number // ROUNDS_PER_ACCOUNT]
            clients = together if number % 2 else apart
            await asyncio.gather(
                clients[TWINS].charge(bystander, _key(number), "same", 1, 2),
                *(client.charge(caller, _key(number), "same", 1, 2) for client in clients[:TWINS]),
            )
            teller.done(number)
        await asyncio.gather(*(pool.close() for pool in pools))
    operations = read_logs([path])
    return Seen(operations, read_notes([path], "error") + _not_once(operations, rounds))


class Searches:
    """How often the engine was searched, as it counts itself."""

    def __init__(self, settings: Settings) -> None:
        self._client = httpx.Client(base_url=settings.opensearch_urls[0], trust_env=False, timeout=10)
        self._path = f"/{IndexNames(settings.index_prefix).read}/_stats/search"

    def count(self) -> int:
        return int(self._client.get(self._path).raise_for_status().json()["_all"]["total"]["search"]["query_total"])

    def close(self) -> None:
        self._client.close()


async def _http_rounds(
    urls: list[str], opened: list[Account], path: Path, seed: int, rounds: int, searches: Searches, teller: Teller
) -> list[float]:
    """How often the twins of each round were carried out. Every other round they are spread over all services."""
    carried_out = []
    timeout = aiohttp.ClientTimeout(total=30)
    with Log(path) as log:
        async with aiohttp.ClientSession(
            timeout=timeout, connector=aiohttp.TCPConnector(limit=0), trust_env=False
        ) as session:
            jobs = [http_client.Job(some, seed, TWINS + 1, 0, opened, [ASK], str(path)) for some in (urls[:1], urls)]
            both = [[http_client.Caller(job, n, log, session) for n in range(TWINS + 1)] for job in jobs]
            bystander, *accounts = opened
            before = searches.count()
            await both[0][TWINS].send(bystander, ASK, "alone")
            alone = searches.count() - before
            for number in range(rounds):
                before = searches.count()
                account, callers = accounts[number // ROUNDS_PER_ACCOUNT], both[number % 2]
                await asyncio.gather(
                    callers[TWINS].send(bystander, ASK, _key(number)),
                    *(caller.send(account, ASK, _key(number)) for caller in callers[:TWINS]),
                )
                # one of them was the other account's
                carried_out.append((searches.count() - before) / alone - 1)
                teller.done(number)
    return carried_out


def http(
    arena: Arena, schema: str, folder: Path, seed: int, rounds: int, say: Callable[[str], None]
) -> tuple[Seen, Counter[int]]:
    """What was seen, and in how many rounds the twins were carried out how often. The index is there.

    Twins at one service run once. Those at several run once as long as Redis, which all of them keep busy, answers
    within its deadline; else once in each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(make_schema(arena.direct_dsn, schema))
    settings = http_level.service_settings(arena, schema)
    services = [ServiceProcess(settings, with_account=False) for _ in range(2)]
    path, searches = folder / "twins.log", Searches(settings)
    try:
        for service in services:
            service.start()
        with Log(path) as log:
            count = 2 + rounds // ROUNDS_PER_ACCOUNT
            opened = asyncio.run(http_level.open_accounts(arena.direct_dsn, schema, log, count, poor=False))
        urls = [service.url for service in services]
        teller = Teller(say, "twins, http", rounds)
        carried_out = asyncio.run(_http_rounds(urls, opened, path, seed, rounds, searches, teller))
    finally:
        searches.close()
        for service in services:
            service.kill()
    operations = read_logs([path])
    http_level.settle(operations)
    wrong = [
        f"{_key(number)}: carried out {times:g} times"
        for number, times in enumerate(carried_out)
        if times not in ((1,), range(1, len(urls) + 1))[number % 2]
    ]
    seen = Seen(operations, read_notes([path], "error") + _not_once(operations, rounds) + wrong)
    return seen, Counter(int(times) for times in carried_out)
