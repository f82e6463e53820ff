"""What tests run: settings under their own prefix, the service on a real port, operations outside a loop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import msgspec
import uvicorn

from siteglass.access.accounts import ANY_NUMBER, AccountError, Plan, create_account, set_plan
from siteglass.access.key_form import checksum, digest, secret_version
from siteglass.access.keys import SCOPES
from siteglass.app import create_app
from siteglass.billing.credits import grant
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index.index import Index, open_index
from siteglass.index.load import LoadReport, load
from siteglass.platform.backends import Clock, open_backends
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, environment_of, load_settings
from siteglass.web.server import server_options
from testing.accounts import make_schema
from testing.ports import free_port

SECRET = "a secret of the tests that is long enough to seal"
_KEY_START = "sg_live_" + "TestKeyOfEveryTestWorker".ljust(30, "0")
API_KEY = _KEY_START + checksum(_KEY_START)

TLS = ssl.create_default_context()  # made once: a client that makes its own takes longer than a request

Result = TypeVar("Result")

# All workers of one run share a prefix, so that what they leave behind can be found and deleted.
RUN_PREFIX = "t" + os.environ.get("PYTEST_XDIST_TESTRUNUID", f"{os.getpid():x}")[:10]


def settings_for(prefix: str, **changes: Any) -> Settings:
    """Settings of the environment's engines under a prefix of the test's own; accounts are shared by the run."""
    ours = replace(
        load_settings(),
        cursor_secrets=(SECRET,),
        key_secrets=(SECRET,),
        suppression_secret=SECRET,
        index_prefix=f"{RUN_PREFIX}-{prefix}",
        postgres_schema=RUN_PREFIX,
        # One for each service that tests run side by side. The fewer workers share a limit, the less it changes when a
        # busy machine makes Redis look slow.
        redis_prefix=f"{RUN_PREFIX}-{prefix}",
    )
    return replace(ours, **changes)


@functools.cache
def make_test_account(dsn: str, schema: str) -> None:
    """The tables, and an account whose key is API_KEY, with more credits, rate and previews than any test uses."""

    async def make() -> None:
        await make_schema(dsn, schema)
        postgres = Postgres(dsn, schema, max_connections=1)
        try:
            await set_plan(postgres, Plan("tests", 100_000, 100_000, preview_leads_per_day=ANY_NUMBER), actor="tests")
            with contextlib.suppress(AccountError):  # another worker was first
                account = await create_account(postgres, "tests", "tests", actor="tests")
                await grant(postgres, account, 10**9, 10**9, "tests", "tests")
                await postgres.fetchrow(
                    "INSERT INTO {schema}.keys (account_id, name, digest, secret_version, shown_start, shown_end,"
                    " scopes) VALUES ($1, 'tests', $2, $3, $4, $5, $6)",
                    account,
                    digest(SECRET.encode(), API_KEY),
                    secret_version(SECRET.encode()),
                    API_KEY[:12],
                    API_KEY[-4:],
                    list(SCOPES),
                )
            for _ in range(200):
                if await postgres.fetch("SELECT 1 FROM {schema}.keys WHERE name = 'tests'"):
                    break
                await asyncio.sleep(0.05)
        finally:
            await postgres.close()

    apart(make())


def run(settings: Settings, action: Callable[[Index], Awaitable[Result]]) -> Result:
    """Run an operation with its own backends."""

    async def inside() -> Result:
        async with open_backends(settings) as backends:
            return await action(open_index(backends))

    return apart(inside())


def apart(work: Coroutine[Any, Any, Result]) -> Result:
    """Run it to its end, in a separate thread if this one has a loop already: tests in a browser do."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def fill(settings: Settings, path: Path, shape: generations.Shape | None = None) -> tuple[str, LoadReport]:
    """A new generation with the leads of a Parquet file, promoted."""
    make_test_account(settings.postgres_dsn, settings.postgres_schema)  # the loader asks the list of opt-outs

    async def action(live_index: Index) -> tuple[str, LoadReport]:
        name = await generations.create(live_index, shape or generations.Shape())
        loaded = await load(live_index, path, lambda _: None)
        await generations.promote(live_index, name)
        return name, loaded

    return run(settings, action)


def filled(name: str, leads: Iterable[Lead], folder: Path) -> Settings:
    """Settings of an index of that name with these leads; the folder is for their file."""
    settings, path = settings_for(name), folder / "leads.parquet"
    # They don't pass the lead store, which would number them.
    write_parquet(path, (msgspec.structs.replace(lead, lead_no=number) for number, lead in enumerate(leads, 1)))
    fill(settings, path)
    return settings


def add(settings: Settings, leads: list[Lead], folder: Path) -> LoadReport:
    """Write leads to the generations that take writes, and make them visible."""
    path = folder / f"added-{time.time_ns()}.parquet"
    write_parquet(path, leads)

    async def action(live_index: Index) -> LoadReport:
        loaded = await load(live_index, path, lambda _: None)
        await generations.refresh(live_index, await generations.writable(live_index))
        return loaded

    return run(settings, action)


@contextlib.contextmanager
def serving(
    settings: Settings, clock: Clock | None = None, *, with_account: bool = True, **changes: Any
) -> Iterator[httpx.Client]:
    """The service on a free loopback port, and a client that carries the key; changes are options of uvicorn."""
    if with_account:
        make_test_account(settings.postgres_dsn, settings.postgres_schema)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    # As after `siteglass serve --port`: the service knows its port, and the settings of others name another one.
    app = create_app(replace(settings, port=port), clock)
    server = uvicorn.Server(uvicorn.Config(app, **{**server_options(settings), **changes}))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 180
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError("the service did not start")
        time.sleep(0.01)
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": API_KEY}, timeout=90, trust_env=False, verify=TLS
        ) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(timeout=15)


class ServiceProcess:
    """The service as a separate process, to be killed."""

    def __init__(
        self,
        settings: Settings,
        command: Sequence[str] | None = None,
        *,
        with_account: bool = True,
        log: Path | None = None,
        port: int | None = None,
    ) -> None:
        if with_account:
            make_test_account(settings.postgres_dsn, settings.postgres_schema)
        self._command = command or [str(Path(sys.executable).parent / "siteglass"), "serve"]
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {**os.environ, **environment_of(settings), "SITEGLASS_PORT": str(self.port)}
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, within_s: float = 240) -> None:
        """Start it and wait until it answers."""
        with (self._log or Path(os.devnull)).open("ab") as log:
            self._process = subprocess.Popen(self._command, env=self._environment, stdout=log, stderr=log)
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            # not httpx: it would prepare for TLS at every try, for longer than a request takes
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                connection.close()
                return
            time.sleep(0.02)
        raise RuntimeError("the service did not start")

    def pid(self) -> int | None:
        """None if it was not started, or killed."""
        return None if self._process is None else self._process.pid

    def begin_stop(self) -> None:
        """Tell it to stop, and return at once."""
        if self._process is not None:
            self._process.terminate()

    def stopped(self, within_s: float = 60) -> int:
        """Wait until it has stopped; its exit code."""
        process, self._process = self._process, None
        assert process is not None
        return process.wait(within_s)

    def kill(self) -> None:
        """End it without warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
