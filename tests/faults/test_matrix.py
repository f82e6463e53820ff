"""Connections to an engine that are slow, silent, reset or closed late: all ends in time and is paid for once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from siteglass.corpus.lead_files import write_parquet
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.fault_runs.run import charges
from testing.outcomes import by_night
from testing.service import apart, fill, serving, settings_for
from tests.proof.toxiproxy import Toxiproxy

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]

DEADLINE_MS, REQUEST_MS = 1_000, 4_000
LATE_S = 0.1
ENGINES = ("opensearch", "postgres", "redis")
FAULTS = {"latency": 8_000, "reset_peer": 0, "timeout": 0, "slow_close": 8_000}
"""The kind, and its milliseconds."""
OPERATIONS = ("search", "page", "enrich")


@pytest.fixture(scope="module")
def proxy() -> Iterator[Toxiproxy]:
    with Toxiproxy() as running:
        yield running


@pytest.fixture(scope="module")
def settings(proxy: Toxiproxy, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The engines of all tests, each reached through the proxy, with tables of this module's own."""
    direct = settings_for("matrix")
    direct = settings_for("matrix", postgres_schema=f"{direct.postgres_schema}_matrix")
    path: Path = tmp_path_factory.mktemp("matrix") / "leads.parquet"
    write_parquet(path, generate(300, 6))
    fill(direct, path)
    ports = {engine: proxy.add(engine, _port_of(direct, engine)) for engine in ENGINES}
    return settings_for(
        "matrix",
        opensearch_urls=(f"http://127.0.0.1:{ports['opensearch']}",),
        postgres_dsn=_through(direct.postgres_dsn, _port_of(direct, "postgres"), ports["postgres"]),
        redis_url=_through(direct.redis_url, _port_of(direct, "redis"), ports["redis"]),
        postgres_schema=direct.postgres_schema,
        search_timeout_ms=DEADLINE_MS,
        postgres_timeout_ms=DEADLINE_MS,
        charge_timeout_ms=DEADLINE_MS,
        request_timeout_ms=REQUEST_MS,
        redis_timeout_ms=50,
    )


def _port_of(settings: Settings, engine: str) -> int:
    address = {
        "opensearch": settings.opensearch_urls[0],
        "postgres": settings.postgres_dsn,
        "redis": settings.redis_url,
    }[engine]
    port = httpx.URL(address).port
    assert port is not None
    return port


def _through(address: str, port: int, proxy_port: int) -> str:
    return address.replace(f":{port}/", f":{proxy_port}/")


@pytest.fixture(scope="module")
def service(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings) as client:
        yield client


@pytest.fixture(scope="module")
def cursor(service: httpx.Client) -> str:
    """The second page of all leads."""
    path: str = service.post("/v1/leads/search", json={"limit": 10}).json()["next"]
    return path


@pytest.mark.parametrize("operation", [OPERATIONS[0], *by_night(*OPERATIONS[1:])])
@pytest.mark.parametrize("fault", ["latency", "reset_peer", *by_night("timeout", "slow_close")])
@pytest.mark.parametrize("engine", ENGINES)
def test_everything_ends_in_time_and_is_paid_for_once(
    service: httpx.Client,
    settings: Settings,
    proxy: Toxiproxy,
    cursor: str,
    engine: str,
    fault: str,
    operation: str,
) -> None:
    key = str(uuid4())
    before = len(apart(charges(settings)))
    proxy.break_connections(engine, fault, FAULTS[fault])
    try:
        started = time.monotonic()
        broken = _ask(service, operation, cursor, key)
        took_s = time.monotonic() - started
    finally:
        proxy.mend(engine)
        proxy.cut(engine)
    assert took_s <= REQUEST_MS / 1000 + LATE_S
    assert broken.status_code in (200, 503)
    if engine == "redis":
        assert broken.status_code == 200, "limits are kept without it"
    answer = _answered(service, operation, cursor, key)
    if broken.status_code == 200:
        assert broken.json() == answer.json()
    assert len(apart(charges(settings))) == before + 1


def _ask(service: httpx.Client, operation: str, cursor: str, key: str) -> httpx.Response:
    headers = {"Idempotency-Key": key}
    match operation:
        case "search":
            return service.post("/v1/leads/search", json={"limit": 10}, headers=headers)
        case "page":
            return service.post(cursor, headers=headers)
        case _:
            return service.post("/v1/leads/enrich", json={"domains": ["nope.example"]}, headers=headers)


def _answered(service: httpx.Client, operation: str, cursor: str, key: str) -> httpx.Response:
    """The answer to the same request with the same key, once everything is well again."""
    deadline = time.monotonic() + 30
    while True:
        answer = _ask(service, operation, cursor, key)
        if answer.status_code == 200:
            return answer
        assert answer.status_code in (409, 503), answer.text
        assert time.monotonic() < deadline
        time.sleep(0.3)
