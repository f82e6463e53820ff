"""The operator's commands, run as the operator runs them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from siteglass.settings import load_settings
from tests.accounts.opening import drop_schema
from tests.limits.faults import free_port
from tests.running import RUN_PREFIX

PROGRAM = Path(sys.executable).parent / "siteglass"


class Cli:
    """Runs `siteglass` with an index prefix and a folder of the test's own."""

    def __init__(self, prefix: str, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "SITEGLASS_INDEX_PREFIX": prefix,
            "SITEGLASS_LEAD_STORE": str(folder / "store"),
            "COLUMNS": "200",
        }

    def __call__(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout.strip() if code == 0 else done.stderr.strip()


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(f"{RUN_PREFIX}-cli-{os.getpid()}-{tmp_path.name}", tmp_path)


def test_generations_from_create_to_drop(cli: Cli) -> None:
    assert cli("index", "status") == "No generation yet. Make one: siteglass index create"
    cli("demo", "generate", "--count", "300", "--seed", "4", "-o", "leads.ndjson")
    assert "siteglass index create" in cli("index", "load", "leads.ndjson", code=2)
    old = cli("index", "create", "--shards", "2", "--source", "demo 4")
    loaded = cli("index", "load", "leads.ndjson")
    assert loaded.startswith("300 leads read; 300 written, 0 older than what was there, 0 failed; ")
    assert len(list((cli.folder / "store").glob("leads-*.parquet"))) == 1
    assert cli("index", "promote", old) == f"{old} is live"
    new = cli("index", "create")
    cli("index", "load", "leads.ndjson")
    assert cli("index", "promote", new) == f"{new} is live"
    listed = cli("index", "status").splitlines()
    assert [line.split()[0] for line in listed] == [old, new]
    assert ["300 leads" in line for line in listed] == [True, True]
    assert [line.endswith("live writes") for line in listed] == [False, True]
    assert f"{new} is live" in cli("index", "drop", new, code=2)
    assert cli("index", "drop", old) == f"{old} is gone"
    assert "There is no generation nonsense" in cli("index", "promote", "nonsense", code=2)


def test_an_older_crawl_does_not_replace_a_newer_one(cli: Cli) -> None:
    cli("index", "create")
    line = '{"domain":"example.com","crawled_at_ms":%d,"title":"%s"}\n'
    for name, crawled, title in (("new", 2000, "new"), ("old", 1000, "old"), ("same", 2000, "better")):
        (cli.folder / f"{name}.ndjson").write_text(line % (crawled, title))
    assert "1 written, 0 older" in cli("index", "load", "new.ndjson")
    assert "0 written, 1 older" in cli("index", "load", "old.ndjson")
    assert "1 written, 0 older" in cli("index", "load", "same.ndjson")


def test_a_wrong_record_names_file_line_and_field(cli: Cli) -> None:
    (cli.folder / "wrong.ndjson").write_text(
        '{"domain":"example.com","crawled_at_ms":1}\n{"domain":7,"crawled_at_ms":1}\n'
    )
    message = cli("index", "load", "wrong.ndjson", code=2)
    assert "wrong.ndjson" in message
    assert "2" in message
    assert "domain" in message


def test_serve_says_which_setting_is_missing(cli: Cli) -> None:
    assert "SITEGLASS_CURSOR_SECRETS: at least one cursor secret" in cli("serve", code=2)


def test_an_engine_that_is_away_is_told_in_one_line(cli: Cli) -> None:
    cli.environment["SITEGLASS_OPENSEARCH_URLS"] = "http://127.0.0.1:9"
    message = cli("index", "status", code=2)
    assert "make up" in message
    assert len(message.splitlines()) == 1


def test_a_demo_with_keys_for_every_refusal(cli: Cli) -> None:
    name = f"{RUN_PREFIX}_demo{os.getpid()}"
    cli.environment["SITEGLASS_PORT"] = str(free_port())
    try:
        started = json.loads(cli("demo", "up", "--count", "300", "--name", name).splitlines()[-1])
        assert json.loads(cli("demo", "up", "--count", "300", "--name", name)) == started
        statuses = {}
        for kind, key in started.items():
            if kind != "base_url":
                url, headers = f"{started['base_url']}/v1/leads/search", {"X-API-Key": key}
                statuses[kind] = httpx.post(url, json={}, headers=headers, trust_env=False).status_code
        assert statuses == {
            "api_key": 200,
            "small_plan_api_key": 200,
            "no_credit_api_key": 402,
            "expired_api_key": 401,
            "revoked_api_key": 401,
        }
    finally:
        cli("demo", "down")
        asyncio.run(drop_schema(load_settings().postgres_dsn, name))
