"""Two services behind haproxy, restarted one after the other, also into a release with a new migration: no request
fails."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import siteglass
from siteglass.platform.schema import HEAD
from siteglass.settings import Settings, environment_of
from siteglass_demo.leads import generate
from testing.accounts import drop_schema
from testing.haproxy import CHECK_EVERY_MS, NOES, Haproxy
from testing.outcomes import by_night
from testing.service import API_KEY, ServiceProcess, filled, make_test_account
from testing.steady_load import SteadyLoad

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("private-engines")]

RATE = 20
ROUNDS = 5 if os.environ.get("SITEGLASS_LONG") else 1
DRAIN_S = 4
SIGNED_IN = {"X-API-Key": API_KEY}
STOPPED = -signal.SIGTERM  # uvicorn ends by the signal that stopped it


class Load(SteadyLoad):
    """Searches, and how many of them had which outcome."""

    def __init__(self, url: str) -> None:
        super().__init__(url, API_KEY, RATE)
        self.outcomes: Counter[str] = Counter()

    async def send(self, client: httpx.AsyncClient) -> None:
        try:
            answer = await client.post("/v1/leads/search", json={"limit": 2, "select": ["domain"]})
            self.outcomes[str(answer.status_code)] += 1
        except httpx.TransportError as error:
            self.outcomes[type(error).__name__] += 1


@pytest.fixture(scope="module")
def leads(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """An index with some leads."""
    return filled("rolling", generate(300, 5), tmp_path_factory.mktemp("rolling"))


@pytest.fixture
def settings(leads: Settings) -> Iterator[Settings]:
    """Those leads, and tables that a test may migrate."""
    ours = replace(leads, postgres_schema=f"rolling_{secrets.token_hex(4)}", drain_s=DRAIN_S)
    make_test_account(ours.postgres_dsn, ours.postgres_schema)
    yield ours
    asyncio.run(drop_schema(ours.postgres_dsn, ours.postgres_schema))


def _next_release(folder: Path) -> Path:
    """A copy of the package with one more migration, a table more, and a function that has another text."""
    package = folder / "siteglass"
    shutil.copytree(Path(siteglass.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    migrations = package / "platform" / "migrations"
    (migrations / "next.sql").write_text("CREATE TABLE {schema}.next_release (number bigint PRIMARY KEY);\n")
    step = (migrations / "versions" / f"{HEAD}.py").read_text()
    script = re.search(r'"(\w+\.sql)"', step)
    assert script is not None
    step = re.sub(r"(?m)^down_revision = .*$", f'down_revision = "{HEAD}"', step).replace(script[1], "next.sql")
    step = re.sub(r"(?m)^revision = .*$", 'revision = "9999_next"', step)
    (migrations / "versions" / "9999_next.py").write_text(step)
    schema = package / "platform" / "schema.py"
    rights = 'RIGHTS = {\n    "next_release": "SELECT",'
    schema.write_text(schema.read_text().replace(f'"{HEAD}"', '"9999_next"').replace("RIGHTS = {", rights))
    charge = package / "billing" / "sql" / "charge.sql"
    charge.write_text("-- of the next release\n" + charge.read_text())
    return folder


def _command(release: Path | None, *words: str) -> list[str]:
    path = [] if release is None else ["env", f"PYTHONPATH={release}"]
    return [*path, str(Path(sys.executable).parent / "siteglass"), *words]


@pytest.mark.promise("setting.drain_s")
@pytest.mark.parametrize("migrated", [True, *by_night(False)], ids=["migrated", "plain"])
def test_no_request_fails(settings: Settings, tmp_path: Path, migrated: bool) -> None:
    assert DRAIN_S * 1000 > 2 * CHECK_EVERY_MS * NOES
    release = _next_release(tmp_path / "next") if migrated else None
    services = [ServiceProcess(settings), ServiceProcess(settings)]
    with Haproxy(tmp_path, [service.port for service in services]) as haproxy:
        try:
            for service in services:
                service.start()
                haproxy.wait_until_up(service.port)
            with Load(haproxy.url) as load:
                time.sleep(1)
                if release is not None:
                    environment = {**os.environ, **environment_of(settings)}
                    subprocess.run(_command(release, "migrate"), env=environment, check=True, capture_output=True)
                for _ in range(ROUNDS):
                    for place, service in enumerate(services):
                        service.begin_stop()
                        assert service.stopped() == STOPPED
                        services[place] = ServiceProcess(settings, _command(release, "serve"), port=service.port)
                        services[place].start()
                        haproxy.wait_until_up(service.port)
                time.sleep(1)
        finally:
            for service in services:
                service.kill()
    print(f"{load.outcomes.total()} requests: {dict(load.outcomes)}")
    assert set(load.outcomes) == {"200"}
    assert load.outcomes["200"] > 2 * RATE


def test_ready_says_no_first_and_requests_are_still_answered(settings: Settings) -> None:
    service = ServiceProcess(settings)
    service.start()
    with httpx.Client(base_url=service.url, headers=SIGNED_IN, timeout=60, trust_env=False) as client:
        deadline = time.monotonic() + 60
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "connection" not in client.get("/healthz").headers
        service.begin_stop()
        while client.get("/readyz").status_code == 200:
            assert time.monotonic() < deadline
        answer = client.post("/v1/leads/search", json={"limit": 1})
        assert answer.status_code == 200
        assert answer.headers["connection"] == "close"
        assert service.stopped() == STOPPED
        with pytest.raises(httpx.ConnectError):
            client.get("/healthz")


def test_a_second_signal_stops_at_once(settings: Settings) -> None:
    service = ServiceProcess(replace(settings, drain_s=3_600))
    service.start()
    service.begin_stop()
    with httpx.Client(base_url=service.url, timeout=60, trust_env=False) as client:
        while client.get("/readyz").status_code == 200:
            time.sleep(0.05)
    service.begin_stop()
    assert service.stopped() == STOPPED
