"""Fixtures shared by all tests: 20,000 demo leads in a live index, loaded once a run, and the service over them."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from testing.patience import be_patient

# Only the fixtures that use the service and its clients import them. Otherwise a test of one pure function would wait
# three seconds for Starlette, pyarrow and the drivers of three engines.
if TYPE_CHECKING:
    import httpx

    from siteglass.corpus.lead import Lead
    from siteglass.settings import Settings
    from testing.private_engines import PrivateEngines

pytest_plugins = ["testing.grouping", "testing.quick_tests", "testing.outcomes"]

# How long one example takes says more about what else runs than about the code; times are measured where they are
# promised.
hypothesis.settings.register_profile("siteglass", deadline=None)
hypothesis.settings.load_profile("siteglass")

be_patient()

# Collecting makes millions of objects that live as long as the worker. Looking through them meanwhile is a fifth of its
# time, and a twentieth of that of the tests after it.
gc.disable()

# A run in the background begins with interrupts ignored, and whatever it starts would ignore them, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Fewer in a copy of the checkout that lives for a minute (scripts/first_change.py).
LEADS = int(os.environ.get("SITEGLASS_TEST_LEADS", "20000"))
SEED = 7
# Longer than any module whose tests name the day.
MODULE_S = 180


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this run see."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


def _once(folder: Path, name: str, make: Callable[[], object]) -> None:
    """Run `make` in one worker; the others wait for it."""
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / f"{name}.done"
        if not done.exists():
            make()
            done.touch()


@pytest.fixture(scope="session")
def leads_path(shared_folder: Path) -> Path:
    """The demo leads as a Parquet file; each twentieth was never fetched, and is known from another source."""
    from msgspec.structs import replace

    from siteglass.corpus.lead_files import write_parquet
    from siteglass_demo.leads import generate

    path = shared_folder / "leads.parquet"
    leads = (
        lead if number % 20 else replace(lead, crawled_at_ms=0, newest_fact_ms=lead.crawled_at_ms)
        for number, lead in enumerate(generate(LEADS, SEED))
    )
    _once(shared_folder, "leads", lambda: write_parquet(path, leads))
    return path


@pytest.fixture(scope="session")
def leads(leads_path: Path) -> list[Lead]:
    """The demo leads."""
    from siteglass.corpus.lead_files import read_parquet

    return [lead for _, group in read_parquet(leads_path) for lead in group]


@pytest.fixture(scope="session")
def live_settings(shared_folder: Path, leads_path: Path) -> Settings:
    """Settings of the live index with all demo leads, which nobody changes."""
    from testing.service import fill, settings_for

    settings = settings_for("shared")
    _once(shared_folder, "shared", lambda: fill(settings, leads_path))
    return settings


@pytest.fixture(scope="session")
def changing_settings(shared_folder: Path, leads_path: Path) -> Settings:
    """Settings of a live index with all demo leads, to which tests add others."""
    from testing.service import fill, settings_for

    settings = settings_for("changing")
    _once(shared_folder, "changing", lambda: fill(settings, leads_path))
    return settings


@pytest.fixture(scope="session")
def client(live_settings: Settings) -> Iterator[httpx.Client]:
    """The service over the demo leads."""
    from testing.service import serving

    with serving(live_settings) as client:
        yield client


@pytest.fixture(scope="module")
def today() -> date:
    """The UTC day on which all tests of the module run: near midnight, they wait for the next day."""
    now = datetime.now(UTC)
    left_s = (now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) - now).total_seconds()
    if left_s < MODULE_S:
        time.sleep(left_s + 1)
    return datetime.now(UTC).date()


@pytest.fixture(scope="session")
def private_engines() -> Iterator[PrivateEngines]:
    """Engines that may be stopped and killed; tests that use them carry the mark xdist_group("private-engines")."""
    from testing.private_engines import PrivateEngines

    engines = PrivateEngines()
    yield engines
    engines.close()


def pytest_collection_finish() -> None:
    """Look only through what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The controller deletes every index and the schema that this run made."""
    if hasattr(session.config, "workerinput") or session.config.getoption("quick"):
        return
    dsession = session.config.pluginmanager.get_plugin("dsession")
    uid = getattr(getattr(dsession, "nodemanager", None), "testrunuid", "")
    if not uid and "testing.service" not in sys.modules:
        return  # nothing was made: no test here used the engines
    import httpx

    from siteglass.settings import load_settings
    from testing.accounts import drop_schema
    from testing.service import RUN_PREFIX

    prefix = f"t{uid[:10]}" if uid else RUN_PREFIX
    with (
        contextlib.suppress(httpx.HTTPError),
        httpx.Client(base_url=load_settings().opensearch_urls[0], timeout=30, trust_env=False) as engine,
    ):
        for row in engine.get(f"/_cat/indices/{prefix}*", params={"format": "json"}).json():
            engine.delete(f"/{row['index']}")
    with contextlib.suppress(OSError):
        asyncio.run(drop_schema(load_settings().postgres_dsn, prefix))
