"""Each engine stopped, killed and frozen: answers as the architecture says, inside the deadline, nothing charged,
and well again by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from siteglass.billing import credits, ledger
from siteglass.corpus.lead_files import write_parquet
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.outcomes import by_night
from testing.private_engines import PrivateEngines
from testing.service import fill, serving, settings_for

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]

DEADLINE_MS = 1_500
SLACK_S = 1.5
FAULTS = ("stopped", "killed", "frozen")
SEARCH, ENRICH = ("/v1/leads/search", {"limit": 10}), ("/v1/leads/enrich", {"domains": ["nope.example"]})


@pytest.fixture(scope="module")
def settings(private_engines: PrivateEngines, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Leads and accounts on separate engines."""
    opensearch, postgres, redis = (private_engines.get(name) for name in ("opensearch", "postgres", "redis"))
    made = settings_for(
        "faults",
        opensearch_urls=(f"http://127.0.0.1:{opensearch.port}",),
        postgres_dsn=f"postgresql://siteglass@127.0.0.1:{postgres.port}/siteglass",
        redis_url=f"redis://127.0.0.1:{redis.port}/0",
        search_timeout_ms=DEADLINE_MS,
        postgres_timeout_ms=DEADLINE_MS,
        charge_timeout_ms=DEADLINE_MS,
    )
    path: Path = tmp_path_factory.mktemp("faults") / "leads.parquet"
    write_parquet(path, generate(300, 5))
    fill(made, path)
    return made


@pytest.fixture(scope="module")
def service(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings) as client:
        yield client


def _books(settings: Settings) -> tuple[int, int, int]:
    """Balances of the tests' account and problems of its ledger."""

    async def read() -> tuple[int, int, int]:
        postgres = Postgres(settings.postgres_dsn, settings.postgres_schema)
        try:
            left = await credits.Billing(postgres).balance(1)
            return left.api, left.lead, (await ledger.verify(postgres)).problem_count
        finally:
            await postgres.close()

    return asyncio.run(read())


def _begin(private_engines: PrivateEngines, name: str, fault: str) -> None:
    engine = private_engines.get(name)
    if fault == "stopped":
        engine.stop()
    elif fault == "killed":
        engine.kill()
    else:
        os.kill(engine.pid() or 0, signal.SIGSTOP)


def _end(private_engines: PrivateEngines, name: str, fault: str) -> None:
    engine = private_engines.get(name) if fault == "frozen" else None
    if engine is not None:
        os.kill(engine.pid() or 0, signal.SIGCONT)
    else:
        private_engines.start(name)


def _freeze_all(private_engines: PrivateEngines, name: str, how: signal.Signals) -> None:
    """PostgreSQL answers from child processes: they freeze with it."""
    pid = private_engines.get(name).pid() or 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            os.kill(int(child), how)


def _well_again(service: httpx.Client) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if all(service.post(path, json=body).status_code == 200 for path, body in (SEARCH, ENRICH)):
            return True
        time.sleep(0.2)
    return False


@pytest.mark.promise("error.UNAVAILABLE", "setting.search_timeout_ms", "setting.postgres_timeout_ms")
@pytest.mark.parametrize("fault", [FAULTS[1], *by_night(FAULTS[0], FAULTS[2])])
@pytest.mark.parametrize("name", ["opensearch", "postgres"])
def test_503_in_time_nothing_charged_and_well_again(
    service: httpx.Client, settings: Settings, private_engines: PrivateEngines, name: str, fault: str
) -> None:
    assert _well_again(service)
    before = _books(settings)
    _begin(private_engines, name, fault)
    frozen_postgres = fault == "frozen" and name == "postgres"
    try:
        if frozen_postgres:
            _freeze_all(private_engines, name, signal.SIGSTOP)
        time.sleep(1.1)  # past the life of a key that a worker remembers
        for path, body in (SEARCH, ENRICH, SEARCH):
            started = time.monotonic()
            answer = service.post(path, json=body)
            took = time.monotonic() - started
            assert answer.status_code == 503, answer.text
            assert set(answer.json()) == {"error", "message"}
            assert answer.json()["error"] == "UNAVAILABLE"
            assert int(answer.headers["Retry-After"]) >= 1
            assert took < DEADLINE_MS / 1000 + SLACK_S
    finally:
        if frozen_postgres:
            _freeze_all(private_engines, name, signal.SIGCONT)
        _end(private_engines, name, fault)
    if name == "opensearch":
        assert _books(settings) == before
    else:
        # A charge that a frozen server had begun may be whole or not there at all; it is never half.
        api, lead, problems = _books(settings)
        assert problems == 0
        assert (before[0] - api, before[1] - lead) == (0, 0)
    assert _well_again(service)


@pytest.mark.promise(cases={"frozen": "setting.redis_timeout_ms"})
@pytest.mark.parametrize("fault", [FAULTS[2], *by_night(FAULTS[0], FAULTS[1])])
def test_without_redis_everything_is_answered(
    service: httpx.Client, private_engines: PrivateEngines, fault: str
) -> None:
    assert _well_again(service)
    _begin(private_engines, "redis", fault)
    try:
        for _ in range(20):
            for path, body in (SEARCH, ENRICH):
                answer = service.post(path, json=body)
                assert answer.status_code == 200
                assert "RateLimit" in answer.headers
    finally:
        _end(private_engines, "redis", fault)
    assert _well_again(service)
