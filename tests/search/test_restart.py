"""A cursor outlives the service, the engine, the index generation and the secret that it was made under."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from siteglass.corpus.lead_files import write_parquet
from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.private_engines import PrivateEngines
from testing.service import SECRET, fill, serving, settings_for

BODY = {"wrapped_query": "!@country(USA)", "limit": 5, "select": ["domain"]}


@pytest.fixture
def own_index(tmp_path: Path) -> Settings:
    settings = settings_for(f"restart-{os.getpid()}-{tmp_path.name}")
    write_parquet(tmp_path / "leads.parquet", generate(500, 3))
    fill(settings, tmp_path / "leads.parquet")
    return settings


@pytest.mark.promise("cursor.restart")
def test_after_a_restart_of_the_service_with_another_secret(own_index: Settings) -> None:
    with serving(own_index) as client:
        first = client.post("/v1/leads/search", json=BODY).json()
        second = client.post(first["next"], json={}).json()
    rotated = replace(own_index, cursor_secrets=("another secret, newer, and long enough", SECRET))
    with serving(rotated) as client:
        assert client.post(first["next"], json={}).json()["results"] == second["results"]
        assert client.post(second["previous"], json={}).json()["results"] == first["results"]
    with serving(replace(own_index, cursor_secrets=("another secret, newer, and long enough",))) as client:
        answer = client.post(first["next"], json={})
        assert (answer.status_code, answer.json()["error"]) == (400, "INVALID_CURSOR")


@pytest.mark.promise("cursor.rebuild")
def test_after_the_promotion_of_a_new_generation(own_index: Settings, tmp_path: Path) -> None:
    with serving(own_index) as client:
        first = client.post("/v1/leads/search", json=BODY).json()
        second = client.post(first["next"], json={}).json()
        fill(own_index, tmp_path / "leads.parquet")
        assert client.post(first["next"], json={}).json()["results"] == second["results"]


@pytest.mark.promise("cursor.expired")
def test_an_expired_cursor_is_410(own_index: Settings) -> None:
    class Later(Clock):
        ahead_ms = 0

        def now_ms(self) -> int:
            return super().now_ms() + self.ahead_ms

    clock = Later()
    with serving(own_index, clock) as client:
        first = client.post("/v1/leads/search", json=BODY).json()
        clock.ahead_ms = 72 * 3_600_000 - 5_000
        assert client.post(first["next"], json={}).status_code == 200
        clock.ahead_ms = 72 * 3_600_000 + 5_000
        answer = client.post(first["next"], json={})
        assert (answer.status_code, answer.json()["error"]) == (410, "CURSOR_EXPIRED")


@pytest.mark.nightly
@pytest.mark.promise("cursor.restart")
@pytest.mark.private_engines
@pytest.mark.xdist_group("private-engines")
def test_after_a_restart_of_opensearch(private_engines: PrivateEngines, tmp_path: Path) -> None:
    engine = private_engines.get("opensearch")
    settings = settings_for("restarted", opensearch_urls=(f"http://127.0.0.1:{engine.port}",))
    write_parquet(tmp_path / "leads.parquet", generate(200, 3))
    fill(settings, tmp_path / "leads.parquet")
    with serving(settings) as client:
        first = client.post("/v1/leads/search", json=BODY).json()
        second = client.post(first["next"], json={}).json()
        engine.kill()
        assert client.post(first["next"], json={}).status_code == 503
        private_engines.start("opensearch")
        assert client.post(first["next"], json={}).json()["results"] == second["results"]
