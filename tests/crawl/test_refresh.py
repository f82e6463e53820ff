"""`siteglass refresh run`: due sites become leads, changed ones sooner again; one at a time, whatever is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from siteglass.crawl.frontier import Frontier
from siteglass.crawl.refresh import alone
from siteglass.platform import metrics
from siteglass.settings import Settings, environment_of
from testing.metrics import scrape, total
from testing.service import serving
from tests.crawl.conftest import SITEGLASS, Web, siteglass

pytestmark = pytest.mark.private_engines
SITES = ("first.org", "second.org", "third.org")
HOME = """<html lang="en"><head><title>{0}</title><meta name="description" content="Tables of oak, made by hand">
</head><body><h1>{0}</h1><p>We make tables of oak, by hand, in our workshop.</p></body></html>"""
LATER = timedelta(days=40)


def test_due_sites_are_visited_again_sooner_if_their_lead_changed(
    web: Web, crawl_settings: Settings, tmp_path: Path
) -> None:
    _serve(web)
    _add(crawl_settings, tmp_path, *SITES, "gone.org")
    _refresh(crawl_settings, tmp_path, "--promote")
    with serving(crawl_settings) as client:
        assert _titles(client) == {"first.org": "First", "second.org": "Second", "third.org": "Third"}
    assert _pauses(crawl_settings) == {**dict.fromkeys(SITES, 30), "gone.org": None}
    _ask(crawl_settings, "UPDATE {schema}.domains SET next_at = now()")  # a month later
    web.say("first.org/", HOME.format("Changed"))
    web.say("third.org/", HOME.format("Third"), X_Times="A page that is sent again says the same")
    _refresh(crawl_settings, tmp_path)
    with serving(crawl_settings) as client:
        assert _titles(client) == {"first.org": "Changed", "second.org": "Second", "third.org": "Third"}
    assert _pauses(crawl_settings) == {"first.org": 15, "second.org": 45, "third.org": 45, "gone.org": None}
    rows = _ask(crawl_settings, "SELECT domain, next_at - visited_at AS pause FROM {schema}.domains")
    assert {row["domain"]: row["pause"].days for row in rows if row["domain"] in SITES} == {
        "first.org": 15,
        "second.org": 45,
        "third.org": 45,
    }
    status = siteglass(crawl_settings, "refresh", "status")
    assert "Age of leads: 50 % at most 0.0 days" in status
    assert "0 domains are due, 0 of them were never visited" in status
    assert "Today: 4 domains and " in status


@pytest.mark.nightly
def test_a_day_has_a_budget_and_the_longest_due_come_first(web: Web, crawl_settings: Settings, tmp_path: Path) -> None:
    _serve(web)
    settings = replace(crawl_settings, refresh_domains_per_day=2)
    for domain in reversed(SITES):
        _add(settings, tmp_path, domain)
    _refresh(settings, tmp_path, "--promote")
    _refresh(settings, tmp_path)
    assert {request.host for request in web.requests} == {"second.org", "third.org"}
    assert "1 domains are due, 1 of them were never visited" in (status := siteglass(settings, "refresh", "status"))
    assert "0 of 2 domains are left (SITEGLASS_REFRESH_DOMAINS_PER_DAY)" in status


def test_one_refresh_runs_at_a_time(crawl_settings: Settings, tmp_path: Path) -> None:
    async def beside_another() -> tuple[int, str]:
        async with alone(crawl_settings):
            return await asyncio.to_thread(_run, crawl_settings, tmp_path)

    code, said = asyncio.run(beside_another())
    assert code == 1
    assert "Another `siteglass refresh run` is at work" in said
    code, said = _run(crawl_settings, tmp_path)
    assert (code, "0 domains visited" in said) == (0, True)


def test_the_service_reports_when_a_refresh_last_finished(crawl_settings: Settings, tmp_path: Path) -> None:
    """Which outlives the run; a run that fails did not finish."""
    began = time.time()
    _refresh(crawl_settings, tmp_path)
    assert began < _reported(crawl_settings) < time.time()
    past = datetime(2026, 1, 1, tzinfo=UTC)
    _ask(
        crawl_settings,
        f"UPDATE {{schema}}.job_leases SET due_at = '{past}' WHERE name LIKE '%finished: refresh'",
        crawl_settings.postgres_schema,
    )
    code, said = _run(replace(crawl_settings, crawl_contact=""), tmp_path)
    assert (code, "SITEGLASS_CRAWL_CONTACT" in said) == (2, True)
    assert _reported(crawl_settings) == past.timestamp()


@pytest.mark.nightly
@pytest.mark.parametrize("moment", ["fetching", "loading"])
def test_a_killed_refresh_is_continued(moment: str, web: Web, crawl_settings: Settings, tmp_path: Path) -> None:
    _serve(web)
    settings = replace(crawl_settings, crawl_lease_s=1)
    _add(settings, tmp_path, *SITES)
    command = [str(SITEGLASS), "refresh", "run", "--work", str(tmp_path / "work"), "--promote", "--workers", "1"]
    environment = {**os.environ, **environment_of(settings)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _wait_for(lambda: len(web.requests) >= 4 if moment == "fetching" else any(tmp_path.rglob("report.json")))
        os.kill(process.pid, signal.SIGKILL)
    _ask(settings, "UPDATE {schema}.job_leases SET due_at = now()", settings.postgres_schema)  # a minute later
    _refresh(settings, tmp_path, "--promote")
    with serving(settings) as client:
        assert _titles(client) == {"first.org": "First", "second.org": "Second", "third.org": "Third"}
    assert _pauses(settings) == dict.fromkeys(SITES, 30)
    assert max(web.paths(domain).count("/") for domain in SITES) <= 2


@pytest.mark.anyio
async def test_pauses_have_bounds_and_each_visit_counts_once(crawl_settings: Settings) -> None:
    async with _frontier(crawl_settings) as (frontier, connection):
        await frontier.add(["often.org", "never.org"], datetime.now(UTC))
        day, seen = datetime.now(UTC), []
        for _ in range(8):
            day += LATER
            await connection.execute(
                "UPDATE domains SET visited_at = $1, next_at = now() + interval '1 day', holder = NULL", day
            )
            for _ in range(2):
                await frontier.plan({"often.org": day, "never.org": None})
            rows = await connection.fetch("SELECT pause_days FROM domains ORDER BY domain DESC")
            seen.append(tuple(row["pause_days"] for row in rows))
    assert seen == [(30, 30), (15, 45), (7, 68), (7, 102), (7, 153), (7, 180), (7, 180), (7, 180)]


def _serve(web: Web) -> None:
    for domain in SITES:
        web.say(f"{domain}/", HOME.format(domain.partition(".")[0].title()))


def _add(settings: Settings, folder: Path, *domains: str) -> None:
    (folder / "listed.txt").write_text("\n".join(domains))
    siteglass(settings, "crawl", "add", str(folder / "listed.txt"))


def _run(settings: Settings, folder: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(SITEGLASS), "refresh", "run", "--work", str(folder / "work"), "--workers", "1", *options],
        env={**os.environ, **environment_of(settings)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _reported(settings: Settings) -> float:
    metrics.REFRESH_FINISHED.set(0)  # what an earlier service in this process read
    with serving(settings):
        _wait_for(lambda: total(scrape(), "siteglass_refresh_finished_timestamp_seconds"))
        return total(scrape(), "siteglass_refresh_finished_timestamp_seconds") or 0


def _refresh(settings: Settings, folder: Path, *options: str) -> None:
    code, said = _run(settings, folder, *options)
    assert code == 0, said


def _pauses(settings: Settings) -> dict[str, int | None]:
    rows = _ask(settings, "SELECT domain, pause_days FROM {schema}.domains")
    return {row["domain"]: row["pause_days"] for row in rows}


def _ask(settings: Settings, statement: str, schema: str = "") -> Sequence[Any]:
    """Of the frontier, or of the database of the service if its schema is given."""

    async def asked() -> Sequence[Any]:
        connection = await asyncpg.connect(settings.postgres_dsn if schema else settings.crawl_dsn, timeout=10)
        try:
            return await connection.fetch(statement.format(schema=schema or settings.crawl_schema))
        finally:
            await connection.close()

    return asyncio.run(asked())


@asynccontextmanager
async def _frontier(settings: Settings) -> AsyncIterator[tuple[Frontier, asyncpg.Connection[Any]]]:
    frontier = await Frontier.open(settings)
    connection = await asyncpg.connect(
        settings.crawl_dsn, timeout=10, server_settings={"search_path": settings.crawl_schema}
    )
    yield frontier, connection
    await connection.close()
    await frontier.close()


def _wait_for(condition: Any, within_s: float = 120) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _titles(client: httpx.Client) -> dict[str, str]:
    answer = client.post("/v1/leads/search", json={"select": ["domain", "title"]})
    assert answer.status_code == 200, answer.text
    return {record["domain"]: record["title"] for record in answer.json()["results"]}
