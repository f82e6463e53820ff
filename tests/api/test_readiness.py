"""/readyz: true as long as searches can be answered and charged."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path

import httpx

from siteglass.index.administration import admin
from siteglass.index.index import Index
from siteglass.settings import Settings
from testing.api_calls import refused
from testing.log_lines import kept_lines
from testing.service import filled, run, serving
from tests.api.handmade import HANDMADE


def _reason(client: httpx.Client) -> str:
    """The log says why the service is not ready."""
    with kept_lines("siteglass", logging.WARNING) as lines:
        refused(client.get("/readyz"), 503, "UNAVAILABLE")
    return "\n".join(lines)


def _wait_until_ready(client: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while client.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_not_ready_if_postgresql_takes_no_writes(own_settings: Settings) -> None:
    read_only = f"{own_settings.postgres_dsn}?default_transaction_read_only=on"
    with serving(replace(own_settings, postgres_dsn=read_only), with_account=False) as client:
        assert "postgresql: read-only" in _reason(client)


def test_not_ready_without_postgresql(own_settings: Settings, closed_port: int) -> None:
    away = replace(own_settings, postgres_dsn=f"postgresql://siteglass@127.0.0.1:{closed_port}/siteglass")
    with serving(away, with_account=False) as client:
        assert "postgresql: ConnectionRefusedError" in _reason(client)


def test_not_ready_without_opensearch(own_settings: Settings, closed_port: int) -> None:
    with serving(replace(own_settings, opensearch_urls=(f"http://127.0.0.1:{closed_port}",))) as client:
        assert "opensearch does not respond" in _reason(client)


def test_redis_does_not_count(own_settings: Settings, closed_port: int) -> None:
    with serving(replace(own_settings, redis_url=f"redis://127.0.0.1:{closed_port}/0")) as client:
        _wait_until_ready(client)


def test_not_ready_while_shards_are_missing(tmp_path: Path, worker_id: str) -> None:
    settings = filled(f"missing-shards-{worker_id}", HANDMADE, tmp_path)

    async def lose_shards(index: Index) -> None:
        """The node lets go of a closed index, and may not take it back."""
        await admin(index, "POST", f"/{index.names.read}/_close")
        nowhere = {"index.routing.allocation.require._name": "no such node"}
        await admin(index, "PUT", f"/{index.names.read}/_settings", nowhere)
        await admin(index, "POST", f"/{index.names.read}/_open", params={"wait_for_active_shards": "0"})

    with serving(settings) as client:
        _wait_until_ready(client)
        run(settings, lose_shards)
        assert "shards of the live index are missing" in _reason(client)
