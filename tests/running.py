"""What tests run: settings under a prefix of their own, the service on a real port, operations outside a loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import uvicorn

from siteglass.app import create_app
from siteglass.backends import Backends, Clock, open_backends
from siteglass.index import generations
from siteglass.index.names import Names
from siteglass.lead import Lead
from siteglass.lead_files import write_parquet
from siteglass.load import Loaded, load
from siteglass.settings import Settings, load_settings

API_KEY = "test-key-of-the-settings"
SECRET = "a secret of the tests, long enough to seal"

Result = TypeVar("Result")

# All workers of one run share a prefix, so that what they leave behind can be found and deleted.
RUN_PREFIX = "t" + os.environ.get("PYTEST_XDIST_TESTRUNUID", f"{os.getpid():x}")[:10]


def settings_for(prefix: str, **changes: Any) -> Settings:
    """Settings of the environment's engines under a prefix of the test's own."""
    ours = replace(load_settings(), api_key=API_KEY, cursor_secrets=(SECRET,), index_prefix=f"{RUN_PREFIX}-{prefix}")
    return replace(ours, **changes)


def run(settings: Settings, action: Callable[[Backends, Names], Awaitable[Result]]) -> Result:
    """Run an operation with backends of its own."""

    async def inside() -> Result:
        async with open_backends(settings) as backends:
            return await action(backends, Names(settings.index_prefix))

    return asyncio.run(inside())


def fill(settings: Settings, path: Path, shape: generations.Shape | None = None) -> tuple[str, Loaded]:
    """A new generation with the leads of a Parquet file, promoted."""

    async def action(backends: Backends, names: Names) -> tuple[str, Loaded]:
        name = await generations.create(backends, names, shape or generations.Shape())
        loaded = await load(backends, names, path, lambda _: None)
        await generations.promote(backends, names, name)
        return name, loaded

    return run(settings, action)


def add(settings: Settings, leads: list[Lead], folder: Path) -> Loaded:
    """Write leads to the generations that take writes, and make them visible."""
    path = folder / f"added-{time.time_ns()}.parquet"
    write_parquet(path, leads)

    async def action(backends: Backends, names: Names) -> Loaded:
        loaded = await load(backends, names, path, lambda _: None)
        await generations.refresh(backends, await generations.writable(backends, names))
        return loaded

    return run(settings, action)


@contextlib.contextmanager
def serving(settings: Settings, clock: Clock | None = None) -> Iterator[httpx.Client]:
    """The service on a free loopback port, and a client that carries the key."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings, clock), host="127.0.0.1", port=0, log_config=None, access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError("the service did not start")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": API_KEY}, timeout=30, trust_env=False
        ) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(timeout=15)
