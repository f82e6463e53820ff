"""What is logged, counted and kept of a request: never whom it is about, nor what proves it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest
from redis.asyncio import Redis

from siteglass.platform.postgres import Postgres
from testing.log_lines import kept_lines
from testing.metrics import scrape
from tests.opt_out.conftest import ASK, CONFIRM, Door

ADDRESS, DOMAIN, CALLER = "discreet@door-quiet.com", "door-quiet.com", "203.0.113.77"


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What anybody logs during a test, libraries included."""
    with kept_lines(None, logging.INFO) as kept:
        yield kept


def _use(door: Door) -> list[str]:
    """Requests of every outcome; what none of them may leave behind."""
    asked = door.post(ASK, {"email": ADDRESS}, CALLER).json()
    code = door.outbox.code(ADDRESS)
    domain = door.post(ASK, {"domain": DOMAIN}, CALLER).json()
    door.names.broken = True
    for body in (
        {"ticket": asked["ticket"], "code": "0000-0000-0000"},
        {"ticket": asked["ticket"], "code": code},
        {"ticket": domain["ticket"]},
        {"ticket": asked["ticket"][:-4], "code": code},
    ):
        door.post(CONFIRM, body, CALLER)
    door.post(ASK, {"email": f"{ADDRESS}\r\n"}, CALLER)
    door.post(ASK, {"email": f"{ADDRESS}@"}, CALLER)
    return [ADDRESS, "discreet", "door-quiet", asked["ticket"], code, code.replace("-", ""), domain["ticket"], CALLER]


@pytest.mark.promise("opt_out.discreet")
def test_log_lines_and_metrics_are_discreet(door: Door, lines: list[str]) -> None:
    secrets = _use(door)
    written = "\n".join(line for line in lines if '"logger":"httpx"' not in line)
    assert '"operation":"opt_out"' in written
    assert '"operation":"opt_out_confirm"' in written
    metrics = scrape()
    assert 'siteglass_requests_total{operation="opt_out",status="202"}' in metrics
    for secret in secrets:
        assert secret.lower() not in written.lower(), secret
        assert secret.lower() not in metrics.lower(), secret


@pytest.mark.promise("opt_out.no_state")
def test_nothing_is_kept_of_what_was_not_proven(door: Door) -> None:
    """Not in PostgreSQL; and in Redis only under keyed hashes, for little more than an hour."""

    async def everything() -> tuple[str, list[tuple[str, int]]]:
        postgres = Postgres(door.settings.postgres_dsn, door.settings.postgres_schema, max_connections=1)
        tables = ("suppressed", "suppressed_leads", "audit")
        rows = [
            str(row["text"])
            for table in tables
            for row in await postgres.fetch(f"SELECT t::text AS text FROM {{schema}}.{table} t")
        ]
        await postgres.close()
        client = Redis.from_url(door.settings.redis_url)
        keys = [key.decode() async for key in client.scan_iter(f"{door.settings.redis_prefix}:*")]
        lives = [(key, await client.pttl(key)) for key in keys if "opt-out" in key]
        await client.aclose()
        return "\n".join(rows), lives

    before, _ = asyncio.run(everything())
    for body in ({"email": "never@door-unproven.com"}, {"domain": "door-unproven.com"}):
        asked = door.post(ASK, body).json()
        door.post(CONFIRM, {"ticket": asked["ticket"], **({"code": "0"} if "email" in body else {})})
    after, lives = asyncio.run(everything())
    assert after == before
    assert lives
    for key, life_ms in lives:
        assert "unproven" not in key
        assert "203.0.113" not in key
        assert 0 < life_ms <= 3_700_000


@pytest.mark.promise("opt_out.kept")
def test_of_a_proven_address_a_keyed_hash_is_kept(door: Door) -> None:
    asked = door.ask(email="hashed@door-hashed.com")
    door.confirm(ticket=asked["ticket"], code=door.outbox.code("hashed@door-hashed.com"))

    async def rows() -> str:
        postgres = Postgres(door.settings.postgres_dsn, door.settings.postgres_schema, max_connections=1)
        found = [
            str(row["text"])
            for table in ("suppressed", "suppressed_leads", "audit")
            for row in await postgres.fetch(f"SELECT t::text AS text FROM {{schema}}.{table} t")
        ]
        await postgres.close()
        return "\n".join(found)

    kept = asyncio.run(rows())
    assert "opt-out page" in kept
    assert "hashed@" not in kept
    assert "door-hashed" not in kept
