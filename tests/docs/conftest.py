"""What the docs promise to run against: the demo as `make demo` starts it, at night with its 50,000 leads of seed 1."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from siteglass.platform.backends import Clock
from siteglass.settings import Settings, load_settings
from testing.accounts import drop_schema
from testing.api_calls import search
from testing.ports import free_port
from testing.service import RUN_PREFIX, serving

# By day fewer, since loading takes minutes. What depends on the leads is then compared in its form alone.
LEADS, LEADS_BY_DAY = 50_000, 4_000
NAME = f"{RUN_PREFIX}_docs"
OWN = f"{RUN_PREFIX}_own"
PROGRAM = Path(sys.executable).parent / "siteglass"
CURSOR_LIFE_MS = Settings().cursor_life_s * 1000


@dataclass(frozen=True)
class Demo:
    """The running demo: the folder it was started in, what a reader's shell holds, and what the pages mention."""

    folder: Path
    environment: dict[str, str]
    variables: dict[str, str]
    whole: bool
    """Whether it has all leads, so that the pages' numbers hold."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Demo]:
    """The demo under its own names; tests that use it carry the mark xdist_group("docs")."""
    folder = tmp_path_factory.mktemp("docs-demo")
    (folder / ".venv").symlink_to(Path(sys.prefix))
    environment = {
        **os.environ,
        "NO_PROXY": "127.0.0.1",
        "SITEGLASS_PORT": str(free_port()),
        # Of the data a reader loads beside the demo.
        "SITEGLASS_INDEX_PREFIX": OWN.replace("_", "-"),
        "SITEGLASS_POSTGRES_SCHEMA": OWN,
        "SITEGLASS_REDIS_PREFIX": OWN,
    }
    whole = bool(pytestconfig.getoption("nightly"))
    words = ("demo", "up", "--count", str(LEADS if whole else LEADS_BY_DAY), "--seed", "1", "--name", NAME)
    try:
        started = json.loads(_siteglass(words, folder, environment))
        variables = {name.upper(): value for name, value in started.items()}
        yield Demo(folder, environment, {**variables, **_more(folder, environment, variables["API_KEY"])}, whole)
    finally:
        _siteglass(("demo", "down"), folder, environment)
        for schema in (NAME, OWN):
            asyncio.run(drop_schema(load_settings().postgres_dsn, schema))
        shutil.rmtree(folder)


def _siteglass(words: tuple[str, ...], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [str(PROGRAM), *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=1_200
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.strip()


def _more(folder: Path, environment: dict[str, str], api_key: str) -> dict[str, str]:
    """Keys, a path and a folder that the pages need, made as these pages say."""
    kept = json.loads((folder / "var/demo/settings.json").read_text())
    ours = {**environment, **kept}
    account = next(
        line.split()[0] for line in _siteglass(("account", "list"), folder, ours).splitlines() if "  Demo " in line
    )

    def key(*options: str) -> str:
        return _siteglass(("key", "create", account, *options), folder, ours)

    suspended = _siteglass(("account", "create", "Suspended"), folder, ours).split()[1]
    suspended_key = _siteglass(("key", "create", suspended), folder, ours)
    _siteglass(("account", "suspend", suspended, "--reason", "Invoice 2026-114 is not paid"), folder, ours)
    return {
        "SUSPENDED_KEY": suspended_key,
        "SEARCH_ONLY_KEY": key("--scope", "search"),
        "OFFICE_KEY": key("--allow-network", "203.0.113.0/24"),
        "CAPPED_KEY": key("--daily-lead-cap", "5"),
        "BUDGET_KEY": key("--daily-lead-cap", "5"),
        "SLOW_KEY": key("--rate", "0.1", "--burst", "1"),
        "OUTBOX": str(folder / "var/demo/outbox"),
        "OLD_PAGE": _old_page(load_settings(kept), api_key),
    }


class _Earlier(Clock):
    """A clock that is slow by more than the life of a cursor."""

    def now_ms(self) -> int:
        return super().now_ms() - CURSOR_LIFE_MS - 60_000


def _old_page(settings: Settings, api_key: str) -> str:
    """The `next` of a page that was answered longer ago than a cursor lives."""
    with serving(settings, _Earlier()) as client:
        client.headers["X-API-Key"] = api_key
        path: str = search(client, {"limit": 1})["next"]
    return path
