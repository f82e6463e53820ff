"""Metrics: those of all workers together, on a separate port; a worker that ends takes no count with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from engine_host import wait_until
from siteglass.errors import Unavailable
from siteglass.platform.jobs import Job, JobRunner
from siteglass.platform.metrics_server import FOLDER_VARIABLE, SharedMetrics
from siteglass.platform.opensearch import OpenSearch
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, environment_of
from testing.metrics import scrape, total
from testing.ports import free_port
from testing.service import API_KEY, ServiceProcess
from tests.server.raw import running

WORKERS = 2
# A worker as far as its metrics are concerned; it ends when its standard input does.
WORKER = """
import sys
from siteglass.platform import metrics
metrics.CHARGES_IN_DOUBT.inc(3)
metrics.charge_seconds("charged").observe(0.3)
metrics.POOL_IN_USE.set(5)
metrics.SUPPRESSION_READ.set(1_000 + int(sys.argv[1]))
metrics.GENERATION_STATUS.labels("green").set(1)
print("ready", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Running:
    """A service with several workers."""

    process: ServiceProcess
    metrics_port: int

    def workers(self) -> list[psutil.Process]:
        workers = []
        for child in psutil.Process(self.process.pid()).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                if any("spawn_main" in word for word in child.cmdline()):
                    workers.append(child)
        return workers

    def total(self, metric: str, **labels: str) -> float:
        return total(scrape(self.metrics_port), metric, **labels) or 0.0

    def settles_at(self, expected: float, metric: str, **labels: str) -> bool:
        return wait_until(lambda: self.total(metric, **labels) == expected, 60)


@pytest.fixture(scope="module")
def service(live_settings: Settings) -> Iterator[Running]:
    port = free_port()
    changes = {"workers": WORKERS, "metrics_port": port, "drain_s": 0}
    with running("metrics", index_prefix=live_settings.index_prefix, **changes) as process:
        made = Running(process, port)
        assert made.settles_at(WORKERS, "siteglass_workers")
        yield made


def _search(service: Running) -> None:
    """On a new connection, which any worker may accept."""
    response = httpx.post(
        f"{service.process.url}/v1/leads/search",
        json={"limit": 1},
        headers={"X-API-Key": API_KEY},
        timeout=60,
        trust_env=False,
    )
    assert response.status_code == 200


@pytest.mark.promise("metrics.separate_port")
def test_metrics_are_not_where_callers_connect(service: Running) -> None:
    assert httpx.get(f"{service.process.url}/metrics", timeout=60, trust_env=False).status_code == 404
    answer = httpx.get(f"http://127.0.0.1:{service.metrics_port}/metrics", timeout=60, trust_env=False)
    assert answer.headers["content-type"].startswith("text/plain")
    assert "# HELP siteglass_requests_total " in answer.text


@pytest.mark.promise("metrics.separate_port")
def test_all_workers_are_counted_and_none_is_forgotten(service: Running) -> None:
    before = service.total("siteglass_requests_total", operation="search", status="200")
    for _ in range(20):
        _search(service)
    searches = {"operation": "search", "status": "200"}
    assert service.total("siteglass_requests_total", **searches) == before + 20
    assert service.total("siteglass_request_seconds_count", operation="search") == before + 20
    assert service.total("siteglass_charge_seconds_count", outcome="charged") == before + 20
    killed = service.workers()[0]
    killed.kill()
    assert wait_until(lambda: killed.pid not in {worker.pid for worker in service.workers()}, 60)
    assert service.total("siteglass_requests_total", **searches) == before + 20
    assert wait_until(lambda: len(service.workers()) == WORKERS, 60)
    assert service.settles_at(WORKERS, "siteglass_workers")
    assert service.total("siteglass_requests_total", **searches) == before + 20


def test_what_workers_report_about_the_engines(service: Running, live_settings: Settings) -> None:
    _search(service)
    pool = live_settings.postgres_pool
    assert service.settles_at(WORKERS * pool, "siteglass_postgres_pool_max")
    assert service.settles_at(1, "siteglass_postgres_up")
    assert service.settles_at(1, "siteglass_ready")
    assert service.settles_at(1, "siteglass_generation_status", status="green")
    assert service.total("siteglass_generation_status") == 1
    assert time.time() - service.total("siteglass_generation_made_timestamp_seconds") < 86_400
    assert time.time() - service.total("siteglass_suppression_read_timestamp_seconds") < 45
    assert service.total("siteglass_opensearch_node_in") == len(live_settings.opensearch_urls)
    assert service.total("siteglass_opensearch_seconds_count", outcome="ok") > 0
    assert service.total("siteglass_postgres_seconds_count", outcome="ok") > 0
    assert service.total("siteglass_limits_local") == 0
    assert service.total("siteglass_job_failing") == 0
    assert service.total("siteglass_job_runs_total", job_name="suppressed leads", outcome="ok") >= WORKERS
    assert service.total("siteglass_ledger_months_missing") == 0


def test_a_service_that_nobody_asks_reports_that_it_is_not_ready() -> None:
    port = free_port()
    away = (f"http://127.0.0.1:{free_port()}",)
    with running("metrics-away", workers=1, metrics_port=port, opensearch_urls=away) as process:
        unready = Running(process, port)
        assert unready.settles_at(1, "siteglass_job_runs_total", job_name="readiness", outcome="ok")
        assert unready.total("siteglass_ready") == 0
        assert unready.total("siteglass_job_failing", job_name="readiness") == 0


def test_a_port_that_is_taken_is_reported(live_settings: Settings, service: Running) -> None:
    environment = {**os.environ, **environment_of(live_settings), "SITEGLASS_PORT": str(free_port())}
    environment["SITEGLASS_METRICS_PORT"] = str(service.metrics_port)
    command = [str(Path(sys.executable).parent / "siteglass"), "serve"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 2
    assert f"Cannot serve metrics on 127.0.0.1:{service.metrics_port} (Address already in use)." in done.stderr


# --- outcomes ------------------------------------------------------------------------------------------------------


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _counted(metric: str, **labels: str) -> float:
    """In this process."""
    return total(scrape(), metric, **labels) or 0.0


@pytest.mark.anyio
async def test_calls_to_engines_that_do_not_run() -> None:
    node = f"127.0.0.1:{free_port()}"
    failed = partial(_counted, "siteglass_opensearch_seconds_count", node=node, outcome="failed")
    unreached = partial(_counted, "siteglass_postgres_seconds_count", outcome="unreached")
    before = unreached()
    opensearch = OpenSearch((f"http://{node}",))
    with pytest.raises(Unavailable):
        await opensearch.request("GET", "/", timeout_ms=5_000)
    await opensearch.close()
    postgres = Postgres(f"postgresql://nobody@{node}/nothing", "nothing")
    with pytest.raises(Unavailable):
        await postgres.fetch("SELECT 1")
    assert failed() == 1
    assert unreached() == before + 1
    assert postgres.usage() == (0, 0)


@pytest.mark.anyio
async def test_calls_that_wait_for_a_connection(live_settings: Settings) -> None:
    # Not by the gauges: a service in another thread of this process sets them, too.
    postgres = Postgres(live_settings.postgres_dsn, live_settings.postgres_schema, max_connections=1)
    async with postgres.connection():
        waiting = asyncio.create_task(postgres.fetch("SELECT 1"))
        await asyncio.sleep(0)
        assert postgres.usage() == (1, 1)
    await waiting
    assert postgres.usage() == (0, 0)
    await postgres.close()


@pytest.mark.anyio
async def test_jobs_that_fail_and_work_again() -> None:
    problems = [Unavailable("a fault of the test")]

    async def run() -> None:
        if problems:
            raise problems.pop()

    runner = JobRunner([Job("job of the test", 0.01, run)])
    failing = partial(_counted, "siteglass_job_failing", job_name="job of the test")
    runs = partial(_counted, "siteglass_job_runs_total", job_name="job of the test")
    started = time.time()
    runner.start()
    await asyncio.sleep(0.5)
    assert runs(outcome="ok") >= 2
    assert (failing(), runs(outcome="failed")) == (0, 1)
    assert _counted("siteglass_job_last_success_timestamp_seconds", job_name="job of the test") >= started
    problems += [Unavailable("another fault")] * 10_000
    await asyncio.sleep(0.5)
    assert failing() == 1
    await runner.close()


# --- how the files of workers become one ---------------------------------------------------------------------------


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(len(started))],
            env={**os.environ, FOLDER_VARIABLE: str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(worker)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        return worker

    yield start
    for worker in started:
        worker.kill()
        worker.communicate()


def test_files_of_ended_workers_become_one(tmp_path: Path, start_worker: Callable[[], subprocess.Popen[str]]) -> None:
    registry = CollectorRegistry()
    registry.register(SharedMetrics(tmp_path))
    workers = [start_worker() for _ in range(3)]

    def now(metric: str, **labels: str) -> float | None:
        return total(generate_latest(registry).decode(), metric, **labels)

    assert now("siteglass_charges_in_doubt_total") == 9
    assert now("siteglass_charge_seconds_count", outcome="charged") == 3
    assert now("siteglass_postgres_pool_in_use") == 15
    assert now("siteglass_suppression_read_timestamp_seconds") == 1_000
    for worker in workers[:2]:
        worker.communicate()
    # Counts stay; gauges are those of the worker that is left.
    for _ in range(2):
        assert now("siteglass_charges_in_doubt_total") == 9
        assert now("siteglass_charge_seconds_count", outcome="charged") == 3
        assert now("siteglass_charge_seconds_bucket", outcome="charged", le="0.25") == 0
        assert now("siteglass_charge_seconds_bucket", outcome="charged", le="0.5") == 3
        assert now("siteglass_postgres_pool_in_use") == 5
        assert now("siteglass_suppression_read_timestamp_seconds") == 1_002
        assert now("siteglass_generation_status", status="green") == 1
    pids = {path.stem.rpartition("_")[2] for path in tmp_path.iterdir()}
    assert pids == {"ended", str(workers[2].pid)}
