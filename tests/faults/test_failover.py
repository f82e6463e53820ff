"""PostgreSQL with two synchronous standbys: one may be lost unnoticed. A lost or frozen primary is replaced, and no
charge that was answered is lost or made twice. Without any standby, nothing is confirmed."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from siteglass.access import accounts
from siteglass.access.keys import Caller, Keys, create_key
from siteglass.billing import credits, in_doubt, ledger
from siteglass.billing.credits import Bill, Billing
from siteglass.corpus.lead_files import write_parquet
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, environment_of
from siteglass_demo.leads import generate
from testing.outcomes import by_night
from testing.postgres_cluster import PostgresCluster
from testing.service import SECRET, ServiceProcess, fill, settings_for
from tests.faults.charge_load import ENRICH, ChargeLoad

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]

LONG = bool(os.environ.get("SITEGLASS_LONG"))
RATE, ROUNDS, STEADY_S = (100, 5, 10.0) if LONG else (20, 1, 3.0)
DEADLINE_MS = 3_000
SLACK_S = 1.5
Result = TypeVar("Result")


@pytest.fixture(scope="module")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def settings(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    made = settings_for(
        "failover",
        postgres_dsn=cluster.dsn(),
        postgres_owner_dsn=cluster.dsn("siteglass_owner"),
        postgres_timeout_ms=DEADLINE_MS,
        charge_timeout_ms=DEADLINE_MS,
        request_timeout_ms=10_000,
    )
    path: Path = tmp_path_factory.mktemp("failover") / "leads.parquet"
    write_parquet(path, generate(50, 5))
    fill(made, path)
    return made


@pytest.fixture(scope="module")
def service(settings: Settings) -> Iterator[ServiceProcess]:
    process = ServiceProcess(settings)
    process.start()
    yield process
    process.kill()


def _do(settings: Settings, work: Callable[[Postgres], Awaitable[Result]], dsn: str | None = None) -> Result:
    async def run() -> Result:
        postgres = Postgres(dsn or settings.postgres_dsn, settings.postgres_schema, timeout_ms=10_000)
        try:
            return await work(postgres)
        finally:
            await postgres.close()

    return asyncio.run(run())


def _open_account(settings: Settings) -> tuple[int, str]:
    async def work(postgres: Postgres) -> tuple[int, str]:
        account = await accounts.create_account(postgres, secrets.token_hex(6), "tests", actor="tests")
        await credits.grant(postgres, account, 10**6, 10**6, "tests", secrets.token_hex(6))
        return account, (await create_key(postgres, [SECRET], account, "tests", actor="tests"))[1]

    return _do(settings, work)


def _check_books(settings: Settings, account: int, load: ChargeLoad) -> None:
    """Each answered charge is there once, nothing else is, and nobody is left in doubt."""

    async def read(postgres: Postgres) -> tuple[Counter[str], int]:
        rows = await postgres.fetch(
            "SELECT request_id FROM {schema}.ledger WHERE account_id = $1 AND kind = 'charge'", account
        )
        return Counter(row["request_id"] for row in rows), (await ledger.verify(postgres)).problem_count

    charged, problems = _do(settings, read)
    assert problems == 0
    answered = Counter(charge.charged_by for charge in load.charges)
    assert None not in answered
    assert max(answered.values()) == 1
    assert set(answered) - set(charged) == set(), "answered and lost"
    assert charged == answered
    deadline = time.monotonic() + 20
    while doubts := _do(settings, lambda postgres: in_doubt.list_in_doubt(postgres, account)):
        assert time.monotonic() < deadline, doubts
        time.sleep(0.2)


def _report(what: str, load: ChargeLoad, since: float) -> None:
    charges = load.since(since)
    failures: Counter[str] = sum((charge.failures for charge in charges), Counter())
    late = [charge.started - since for charge in charges if charge.failures]
    last = f", the last first sent {max(late):.1f} s after the fault" if late else ""
    slowest = max(charges, key=lambda charge: charge.slowest_s)
    when = f"{slowest.slowest_s:.2f} s, first sent {slowest.started - since:.1f} s after it"
    print(f"{what}: {len(charges)} charges, failed attempts {dict(failures)}{last}; slowest {when}")


@contextmanager
def _load(settings: Settings, service: ServiceProcess) -> Iterator[ChargeLoad]:
    account, key = _open_account(settings)
    with ChargeLoad(service.url, key, RATE) as load:
        load.run_for(STEADY_S)
        assert not any(charge.failures for charge in load.charges)
        yield load
        load.run_for(1)
    load.charges = [charge for charge in load.charges if charge.attempts]
    _check_books(settings, account, load)


def test_a_lost_standby_is_not_noticed(cluster: PostgresCluster, settings: Settings, service: ServiceProcess) -> None:
    for round_ in range(ROUNDS):
        for fault in ("killed", "frozen") if LONG else ("killed",):
            standby = cluster.standbys[round_ % 2]
            with _load(settings, service) as load:
                began = time.monotonic()
                standby.kill() if fault == "killed" else standby.freeze()
                load.run_for(STEADY_S)
                _report(f"standby {fault}", load, began)
                assert not any(charge.failures for charge in load.charges)
            standby.start() if fault == "killed" else standby.thaw()
            cluster.wait_until_streaming(cluster.standbys)


def _charge_at(dsn: str, settings: Settings, api_key: str) -> str:
    """Try to charge at one server; returns why it was not confirmed."""

    async def work(postgres: Postgres) -> str:
        caller: Caller = await Keys(postgres, [SECRET], 1_000).find(api_key)
        began = time.monotonic()
        with pytest.raises(Unavailable) as raised:
            await Billing(postgres, DEADLINE_MS).charge(caller, secrets.token_hex(8), Bill("search", 1, []))
        assert time.monotonic() - began < DEADLINE_MS / 1000 + SLACK_S
        return raised.value.reason

    return _do(settings, work, dsn)


async def _server_port(postgres: Postgres) -> int:
    return int((await postgres.fetch("SELECT inet_server_port() AS port"))[0]["port"])


@pytest.mark.parametrize("fault", ["killed", *by_night("frozen")])
def test_a_lost_primary_is_replaced(
    cluster: PostgresCluster, settings: Settings, service: ServiceProcess, fault: str
) -> None:
    for _ in range(ROUNDS):
        _, other_key = _open_account(settings)
        with _load(settings, service) as load:
            began = time.monotonic()
            cluster.primary.kill() if fault == "killed" else cluster.primary.freeze()
            time.sleep(1)
            old = cluster.fail_over()
            promoted = time.monotonic()
            load.run_for(STEADY_S)
            if fault == "frozen":
                old.thaw()
                thawed = time.monotonic()
                assert old.value("SELECT pg_is_in_recovery()") == "f"  # it still believes that it is the primary
                alone = f"postgresql://siteglass@127.0.0.1:{old.port}/siteglass"
                assert "TimeoutError" in _charge_at(alone, settings, other_key)
                ports = [_do(settings, _server_port) for _ in range(10)]  # of new processes, which know neither
                assert ports == [cluster.primary.port] * 10
                load.run_for(STEADY_S)
                assert not any(charge.failures for charge in load.since(thawed))
            _report(f"primary {fault}, promoted after {promoted - began:.1f} s", load, began)
        cluster.rejoin(old)


def test_commands_take_several_hosts(settings: Settings) -> None:
    environment = {**os.environ, **environment_of(settings)}
    program = str(Path(sys.executable).parent / "siteglass")
    done = subprocess.run([program, "migrate"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program, "credits", "verify"], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("0 problems.\n"), done.stderr
    done = subprocess.run([program, "doctor"], env=environment, capture_output=True, text=True, check=False)
    (line,) = [line for line in done.stdout.splitlines() if " at 127.0.0.1" in line and "postgresql" in line]
    assert line.count("127.0.0.1") == 3


@contextmanager
def _without_standbys(cluster: PostgresCluster) -> Iterator[None]:
    for standby in cluster.standbys:
        standby.kill()
    try:
        yield
    finally:
        for standby in cluster.standbys:
            standby.start()
        cluster.wait_until_streaming(cluster.standbys)


def test_without_standbys_charges_end_in_time_and_are_settled_later(
    cluster: PostgresCluster, settings: Settings, service: ServiceProcess
) -> None:
    account, key = _open_account(settings)
    headers = {"X-API-Key": key}
    with httpx.Client(base_url=service.url, headers=headers, timeout=30, trust_env=False) as client:

        def pay(idempotency_key: str | None = None) -> tuple[httpx.Response, float]:
            began = time.monotonic()
            keyed = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
            answer = client.post(ENRICH, json={"domains": ["nope.example"]}, headers=keyed)
            return answer, time.monotonic() - began

        assert pay()[0].status_code == 200
        before = _do(settings, lambda postgres: Billing(postgres).balance(account))
        with _without_standbys(cluster):
            lost, took = pay()
            assert (lost.status_code, took < DEADLINE_MS / 1000 + SLACK_S) == (503, True)
            assert "nothing was charged" not in lost.json()["message"]
            # From here on nothing is charged until commits are confirmed again.
            for _ in range(3):
                refused, took = pay()
                assert (refused.status_code, took < 1 + SLACK_S) == (503, True)
                assert "nothing was charged" in refused.json()["message"]
            assert pay("a-key")[0].status_code == 503
        answer, _ = pay("a-key")
        assert answer.status_code == 200
        assert "Idempotency-Replayed" not in answer.headers
        deadline = time.monotonic() + 30
        while not (doubts := _do(settings, lambda postgres: in_doubt.list_in_doubt(postgres, account))):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert [doubt.request_id for doubt in doubts] == [lost.headers["X-Request-Id"]]
        _do(settings, lambda postgres: in_doubt.settle(postgres, account, doubts[0].request_id, "give back", "tests"))
        after = _do(settings, lambda postgres: Billing(postgres).balance(account))
        assert (before.api - after.api, before.lead - after.lead) == (1, 0)  # only the request that was answered
        assert _do(settings, lambda postgres: in_doubt.list_in_doubt(postgres, account)) == []
        assert _do(settings, lambda postgres: ledger.verify(postgres)).problem_count == 0


def test_a_canceled_wait_confirms_nothing(
    cluster: PostgresCluster, settings: Settings, service: ServiceProcess
) -> None:
    """PostgreSQL then reports success with a warning, and everybody sees the row, which a failover would lose."""
    account, key = _open_account(settings)
    waits = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    headers = {"X-API-Key": key, "Idempotency-Key": "canceled"}
    with httpx.Client(base_url=service.url, headers=headers, timeout=30, trust_env=False) as client:

        def pay() -> httpx.Response:
            return client.post(ENRICH, json={"domains": ["nope.example"]})

        with _without_standbys(cluster):
            with ThreadPoolExecutor(1) as thread:
                first = thread.submit(pay)
                while not first.done():
                    cluster.primary.value(waits)
            assert first.result().status_code == 503
            assert "nothing was charged" not in first.result().json()["message"].replace("nothing is charged twice", "")
            charged = f"SELECT count(*) FROM {settings.postgres_schema}.ledger WHERE account_id = {account} AND kind = "
            assert cluster.primary.value(charged + "'charge'", "siteglass") == "1"
            assert pay().status_code == 503  # the row is there, but on this server only
        answer = pay()
        assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (200, "true")
        assert answer.headers["Idempotency-Request-Id"] == first.result().headers["X-Request-Id"]
        assert cluster.primary.value(charged + "'charge'", "siteglass") == "1"
    time.sleep(2 * in_doubt.NOTE_EVERY_S)
    assert _do(settings, lambda postgres: in_doubt.list_in_doubt(postgres, account)) == []
