"""Each alert fires by its real fault, and resolves when the fault ends.

There are a service with two workers behind the shipped haproxy, three OpenSearch nodes, a PostgreSQL and a Redis, and
Prometheus with the shipped rules, whose times are a sixtieth.

Only with SITEGLASS_LONG=1: `make alerts` runs it and takes about a quarter of an hour.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg
import httpx
import psutil
import pytest
import yaml  # type: ignore[import-untyped]  # the package has no types

from engine_host import CHECKOUT, wait_until
from siteglass.billing.in_doubt import list_in_doubt, settle
from siteglass.corpus.lead_files import write_parquet
from siteglass.index.generations import Shape
from siteglass.platform.postgres import Postgres
from siteglass.platform.schema import LEDGER_MONTHS_AHEAD
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.loopback_servers import hosting, naming
from testing.metrics import scrape, total
from testing.opensearch_cluster import Cluster, running_cluster
from testing.ports import free_port
from testing.private_engines import PrivateEngines
from testing.prometheus import Prometheus
from testing.service import API_KEY, ServiceProcess, fill, settings_for
from tests.crawl.conftest import start_crawl
from tests.deploy.secured import shipped_haproxy

NIGHTLY = True

LONG = bool(os.environ.get("SITEGLASS_LONG"))
pytestmark = [
    pytest.mark.alone,
    pytest.mark.xdist_group("private-engines"),
]

FACTOR = 60
WITHIN_S = 300
ALERTS = {
    rule["alert"]
    for group in yaml.safe_load((CHECKOUT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
}
FAULTS = ALERTS - {"SiteglassWatchdog"}
# What each test saw: seconds from the fault to the alert, and from its end until the alert resolved.
seen: dict[str, tuple[float, float]] = {}


@dataclass
class Installation:
    """All that runs."""

    settings: Settings
    cluster: Cluster
    engines: PrivateEngines
    service: ServiceProcess
    prometheus: Prometheus
    backup_info: Path
    callers: Callers

    def sql(self, *statements: str) -> None:
        """Run statements as the superuser."""

        async def run() -> None:
            async with superuser(self) as connection:
                for statement in statements:
                    await connection.execute(statement.replace("{schema}", self.settings.postgres_schema))

        asyncio.run(run())

    @contextlib.contextmanager
    def holding(self, statement: str) -> Iterator[None]:
        """An open transaction in which a statement was run."""
        open_now, end = threading.Event(), threading.Event()

        async def hold() -> None:
            async with superuser(self) as connection, connection.transaction():
                await connection.execute(statement.replace("{schema}", self.settings.postgres_schema))
                open_now.set()
                await asyncio.to_thread(end.wait)

        with ThreadPoolExecutor(1) as thread:
            held = thread.submit(asyncio.run, hold())
            try:
                assert open_now.wait(60)
                yield
            finally:
                end.set()
                held.result(60)

    def kill_service(self) -> None:
        if (pid := self.service.pid()) is None:
            return
        workers = psutil.Process(pid).children(recursive=True)
        self.service.kill()
        for worker in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()

    def write_backup_info(self, age_s: float) -> None:
        backups = [{"timestamp": {"stop": int(time.time() - age_s)}, "error": False}]
        self.backup_info.write_text(json.dumps([{"name": "siteglass", "backup": backups}]))


@contextlib.asynccontextmanager
async def superuser(installation: Installation):  # type: ignore[no-untyped-def]  # a connection of asyncpg
    connection = await asyncpg.connect(
        host="127.0.0.1", port=installation.engines.get("postgres").port, user="postgres", database="siteglass"
    )
    try:
        yield connection
    finally:
        await connection.close()


class Callers:
    """Searches all the time, whatever comes back."""

    def __init__(self, url: str, authority: Path | None = None) -> None:
        self._url = url
        self._verify = ssl.create_default_context(cafile=authority)
        self._end = threading.Event()
        self._threads: list[threading.Thread] = []

    def add(self, number: int, pause_s: float) -> None:
        self._threads += [threading.Thread(target=self._search, args=(pause_s,), daemon=True) for _ in range(number)]
        for thread in self._threads[-number:]:
            thread.start()

    def _search(self, pause_s: float) -> None:
        with httpx.Client(headers={"X-API-Key": API_KEY}, timeout=20, verify=self._verify, trust_env=False) as client:
            while not self._end.wait(pause_s):
                with contextlib.suppress(httpx.HTTPError):
                    client.post(f"{self._url}/v1/leads/search", json={"limit": 1})

    def close(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join(30)


@pytest.fixture(scope="module")
def installation(private_engines: PrivateEngines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("alerts")
    postgres, redis = (private_engines.get(name) for name in ("postgres", "redis"))
    metrics_port, crawl_metrics_port = free_port(), free_port()
    with running_cluster() as cluster:
        settings = settings_for(
            "alerts",
            opensearch_urls=cluster.urls,
            postgres_dsn=f"postgresql://siteglass@127.0.0.1:{postgres.port}/siteglass",
            redis_url=f"redis://127.0.0.1:{redis.port}/0",
            # The deadlines of production, not the long ones of other tests.
            search_timeout_ms=5_000,
            postgres_timeout_ms=1_000,
            charge_timeout_ms=2_000,
            request_timeout_ms=10_000,
            redis_timeout_ms=50,
            postgres_pool=4,
            workers=2,
            metrics_port=metrics_port,
            crawl_metrics_port=crawl_metrics_port,
            crawl_dsn=f"postgresql://siteglass_crawl@127.0.0.1:{postgres.port}/siteglass_crawl",
            crawl_contact="https://operator.example/crawler",
            outgoing_allowed=("127.0.0.0/8",),
            backup_info=str(folder / "info.json"),
            root_keys=("5e" * 32,),
            root_file=str(folder / "roots.jsonl"),
            mail_url=f"file:{folder / 'outbox'}",
            mail_from="Siteglass <tests@example.com>",
        )
        leads = folder / "leads.parquet"
        write_parquet(leads, generate(1_000, 31))
        fill(settings, leads, Shape(shards=3, replicas=1))
        cluster.green()
        service = ServiceProcess(settings, log=folder / "service.log")
        public, counts, tls = free_port(), free_port(), folder / "prepared/tls"
        subprocess.run([CHECKOUT / "deploy/prepare", folder / "prepared"], check=True)
        (tls / "siteglass.pem").rename(tls / "public.pem")
        places = {"PUBLIC_BIND": public, "PUBLIC_METRICS": counts, "SERVICE_A": service.port, "SERVICE_B": free_port()}
        environment = {"PUBLIC_TLS": str(tls)} | {name: f"127.0.0.1:{port}" for name, port in places.items()}
        with (
            shipped_haproxy("public.cfg", public, environment),
            Prometheus(folder, metrics_port, counts, crawl_metrics_port, FACTOR) as prometheus,
        ):
            callers = Callers(f"https://localhost:{public}", tls / "ca.pem")
            made = Installation(settings, cluster, private_engines, service, prometheus, folder / "info.json", callers)
            made.write_backup_info(age_s=60)
            made.sql("ALTER SYSTEM SET archive_mode = on", "ALTER SYSTEM SET archive_command = 'true'")
            postgres.kill()
            private_engines.start("postgres")
            service.start()
            made.callers.add(4, pause_s=0.5)
            try:
                prometheus.wait_until_firing({"SiteglassWatchdog"}, WITHIN_S)
                prometheus.wait_until_resolved(FAULTS, WITHIN_S)
                time.sleep(10)
                prometheus.wait_until_resolved(FAULTS, WITHIN_S)
                yield made
            finally:
                made.callers.close()
                made.kill_service()
    print()
    for name, (fired, resolved) in sorted(seen.items()):
        print(f"{name:32} fired after {fired:6.1f} s, resolved after {resolved:6.1f} s")


def _fault(installation: Installation, names: set[str], cause: Callable[[], None], end: Callable[[], None]) -> None:
    """Cause a fault until these alerts fire, end it, and wait until nothing fires any more."""
    installation.prometheus.wait_until_resolved(FAULTS, WITHIN_S)
    cause()
    try:
        fired = installation.prometheus.wait_until_firing(names, WITHIN_S)
    finally:
        end()
    resolved = installation.prometheus.wait_until_resolved(FAULTS, WITHIN_S)
    for name in names:
        seen[name] = (fired[name], resolved[name])


def test_a_backup_that_is_too_old(installation: Installation) -> None:
    _fault(
        installation,
        {"SiteglassBackupOld"},
        lambda: installation.write_backup_info(age_s=27 * 3_600),
        lambda: installation.write_backup_info(age_s=60),
    )


def test_no_root_for_three_days(installation: Installation) -> None:
    _fault(
        installation,
        {"SiteglassRootOld"},
        lambda: installation.sql("UPDATE {schema}.roots SET at = at - interval '3 days'"),
        lambda: installation.sql("UPDATE {schema}.roots SET at = at + interval '3 days'"),
    )


def test_no_refresh_finished_for_three_days(installation: Installation) -> None:
    name = f"{installation.settings.index_prefix} finished: refresh"
    noted = f"INSERT INTO {{schema}}.job_leases (name, due_at) VALUES ('{name}', now() - interval '3 days')"
    _fault(
        installation,
        {"SiteglassRefreshOld"},
        lambda: installation.sql(noted),
        lambda: installation.sql(f"UPDATE {{schema}}.job_leases SET due_at = now() WHERE name = '{name}'"),
    )


def test_codes_are_mailed_to_many_strangers(installation: Installation) -> None:
    """Each from another network; the last of those that wait are sent after two minutes."""

    def ask() -> None:
        with httpx.Client(base_url=installation.service.url, timeout=20, trust_env=False) as client:
            for number in range(220):
                headers = {"X-Forwarded-For": f"198.18.{number}.1"}
                client.post("/v1/opt-out", json={"email": f"stranger@many-{number}.com"}, headers=headers)

    _fault(installation, {"SiteglassOptOutMailsWaiting"}, ask, lambda: None)


def test_redis_stops(installation: Installation, tmp_path: Path) -> None:
    """While a crawler works, which sends nothing then."""
    engines = installation.engines
    with contextlib.ExitStack() as stack:
        names, site = stack.enter_context(naming()), stack.enter_context(hosting())
        names.say("stalled.org", "A", ["127.0.0.1"])
        settings = replace(
            installation.settings,
            dns_servers=(f"127.0.0.1:{names.port}",),
            crawl_http_port=site.port,
            crawl_https_port=free_port(),
        )

        def stop() -> None:
            engines.get("redis").kill()
            crawler = start_crawl(settings, tmp_path, "stalled.org", options=("--no-leads",))
            stack.callback(crawler.kill)

        names_of_alerts = {"SiteglassLimitsLocal", "SiteglassCrawlStalled"}
        _fault(installation, names_of_alerts, stop, lambda: engines.start("redis"))


def test_a_table_that_a_job_writes_is_missing(installation: Installation) -> None:
    _fault(
        installation,
        {"SiteglassJobFailing"},
        lambda: installation.sql("ALTER TABLE {schema}.request_days RENAME TO elsewhere"),
        lambda: installation.sql("ALTER TABLE {schema}.elsewhere RENAME TO request_days"),
    )


def test_a_lock_on_the_keys(installation: Installation) -> None:
    """Every call waits for a lock, with a connection in its hand: the others find none."""
    with contextlib.ExitStack() as locked:
        callers = Callers(installation.service.url)
        callers.add(40, pause_s=0.05)
        locked.callback(callers.close)
        _fault(
            installation,
            {"SiteglassPoolExhausted"},
            lambda: locked.enter_context(
                installation.holding("LOCK TABLE {schema}.keys, {schema}.balances IN ACCESS EXCLUSIVE MODE")
            ),
            locked.close,
        )


def test_a_standby_that_confirms_nothing(installation: Installation) -> None:
    """Charges are written and not confirmed: callers wait and get a 503. Later, charges are listed until settled."""
    _fault(
        installation,
        {"SiteglassChargesFailing", "SiteglassSlow"},
        lambda: installation.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"),
        lambda: _settle_after_confirming(installation),
    )


def _settle_after_confirming(installation: Installation) -> None:
    installation.sql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    began = time.monotonic()
    fired = installation.prometheus.wait_until_firing({"SiteglassChargesUnsettled"}, WITHIN_S)
    settings = installation.settings

    async def settle_all() -> int:
        postgres = Postgres(settings.postgres_dsn, settings.postgres_schema)
        try:
            charges = await list_in_doubt(postgres)
            for charge in charges:
                await settle(postgres, charge.account_id, charge.request_id, "give back", "tests")
            return len(charges)
        finally:
            await postgres.close()

    assert asyncio.run(settle_all()) > 0
    settled = time.monotonic()
    installation.prometheus.wait_until_resolved({"SiteglassChargesUnsettled"}, WITHIN_S)
    assert settled - began >= 3_600 / FACTOR
    seen["SiteglassChargesUnsettled"] = (fired["SiteglassChargesUnsettled"], round(time.monotonic() - settled, 1))


def test_postgresql_is_killed(installation: Installation) -> None:
    engines = installation.engines
    names = {"SiteglassPostgresDown", "SiteglassErrorsFast", "SiteglassErrorsSlow", "SiteglassSuppressionListOld"}
    _fault(installation, names, engines.get("postgres").kill, lambda: engines.start("postgres"))


def test_an_opensearch_node_is_killed(installation: Installation) -> None:
    lost = installation.cluster.nodes[0]

    def back() -> None:
        installation.cluster.start_again(lost)
        installation.cluster.green()

    _fault(installation, {"SiteglassNodeOut", "SiteglassGenerationUnhealthy"}, lost.kill, back)


def test_all_of_opensearch_is_killed(installation: Installation) -> None:
    """haproxy answers by itself: the service counts nothing."""

    def kill_all() -> None:
        for node in installation.cluster.nodes:
            node.kill()

    _fault(installation, {"SiteglassNotReady", "SiteglassErrorsFast"}, kill_all, installation.cluster.start)


def test_nothing_can_be_archived(installation: Installation) -> None:
    def archive(command: str) -> None:
        installation.sql(f"ALTER SYSTEM SET archive_command = '{command}'", "SELECT pg_reload_conf()")
        time.sleep(1)
        installation.sql("SELECT pg_switch_wal()")

    _fault(installation, {"SiteglassArchiveFailing"}, lambda: archive("false"), lambda: archive("true"))


def test_prometheus_has_lost_its_targets(installation: Installation) -> None:
    prometheus = installation.prometheus
    _fault(installation, {"SiteglassTargetsMissing"}, lambda: prometheus.watch(service=False), prometheus.watch)


def test_a_service_that_is_killed_and_a_report_that_blocks_partitions(installation: Installation) -> None:
    """The job that creates partitions runs when a worker starts, so the service is killed for both faults."""
    installation.kill_service()
    fired = installation.prometheus.wait_until_firing({"SiteglassDown"}, WITHIN_S)
    last = _partition(LEDGER_MONTHS_AHEAD)
    installation.sql(f"DROP TABLE {{schema}}.{last}")
    with installation.holding("SELECT count(*) FROM {schema}.ledger"):
        installation.service.start()
        resolved = installation.prometheus.wait_until_resolved({"SiteglassDown"}, WITHIN_S)
        seen["SiteglassDown"] = (fired["SiteglassDown"], resolved["SiteglassDown"])
        names = {"SiteglassLedgerPartitions"}
        fired = installation.prometheus.wait_until_firing(names, WITHIN_S)
    installation.kill_service()
    installation.service.start()
    # The series was gone for a moment, which resolves an alert, too.
    port = installation.settings.metrics_port
    assert wait_until(lambda: total(scrape(port), "siteglass_ledger_months_missing") == 0, 60)
    time.sleep(5)
    resolved = installation.prometheus.wait_until_resolved(FAULTS, WITHIN_S)
    seen["SiteglassLedgerPartitions"] = (fired["SiteglassLedgerPartitions"], resolved["SiteglassLedgerPartitions"])


def _partition(ahead: int) -> str:
    today = time.gmtime()
    month = today.tm_year * 12 + today.tm_mon - 1 + ahead
    return f"ledger_{month // 12:04}_{month % 12 + 1:02}"


def test_every_alert_was_fired() -> None:
    """The last one: what the tests before it saw."""
    assert seen.keys() == FAULTS
