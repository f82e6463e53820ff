"""What is measured, built and taken down again: demo leads in an index, an account with a key, the running service."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.common import SECRET, bench_settings, demo_file, tables
from bench.overhead.wire import Address
from siteglass.access import accounts, keys
from siteglass.billing import credits
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import open_parquet, read_row_group
from siteglass.index import generations
from siteglass.index.index import open_index
from siteglass.index.load import load
from siteglass.index.segments import merge_segments
from siteglass.platform.backends import open_backends
from siteglass.settings import Settings, environment_of
from testing.ports import free_port
from testing.progress import say

CREDITS = 10**11
# The limit is taken from Redis at every request, and never reached.
RATE_PER_S, BURST = 1_000_000, 1_000_000
SAMPLE_LEADS = 20_000
START_TIMEOUT_S = 30
SERVE = ("siteglass", "serve")


@dataclass(frozen=True, slots=True)
class World:
    """What requests are drawn from and sent to."""

    settings: Settings
    key: str
    sample: list[Lead]


@contextlib.asynccontextmanager
async def build(leads: int, file: Path | None = None) -> AsyncIterator[World]:
    """An index of so many demo leads, or of those in a file, and an account; all of it is gone afterwards."""
    name = f"bench_overhead_{os.getpid()}"
    defaults = Settings()
    settings = replace(
        bench_settings("overhead"),
        cursor_secrets=(SECRET,),
        key_secrets=(SECRET,),
        search_timeout_ms=defaults.search_timeout_ms,
        redis_prefix=name,
    )
    path = file or demo_file(leads)
    async with open_backends(settings) as backends, tables(settings):
        live_index = open_index(backends)
        generation = await generations.create(live_index, generations.Shape(refresh_interval="-1"))
        try:
            say(f"loading {leads} leads")
            await load(live_index, path, lambda _: None)
            # One segment, so that both sides search the same thing all the time, and no merge is counted.
            await merge_segments(live_index, generation)
            await generations.promote(live_index, generation)
            say("loaded and merged")
            yield World(settings, await _key(settings), read_sample(path))
        finally:
            await backends.opensearch.request("DELETE", f"/{generation}", timeout_ms=60_000)


async def _key(settings: Settings) -> str:
    """The key of an account with credits for all that comes."""
    async with open_backends(settings) as backends:
        plan = accounts.Plan("bench", RATE_PER_S, BURST, preview_leads_per_day=accounts.ANY_NUMBER)
        await accounts.set_plan(backends.postgres, plan, actor="bench")
        account = await accounts.create_account(backends.postgres, "bench", "bench", actor="bench")
        await credits.grant(backends.postgres, account, CREDITS, CREDITS, "bench", "bench")
        _, key = await keys.create_key(backends.postgres, settings.key_secrets, account, "bench", actor="bench")
    return key


def read_sample(path: Path) -> list[Lead]:
    """Leads from all over the file."""
    with open_parquet(path) as file:
        groups = file.num_row_groups
        wanted = max(1, SAMPLE_LEADS * groups // max(file.metadata.num_rows, 1))
        return [lead for number in range(0, groups, max(1, groups // wanted)) for lead in read_row_group(file, number)]


@dataclass(frozen=True, slots=True)
class Service:
    """A running process of the service."""

    address: Address
    pid: int


@contextlib.asynccontextmanager
async def serving(settings: Settings, command: Sequence[str] = SERVE) -> AsyncIterator[Service]:
    """The service as `siteglass serve` runs it, or as a command does to which `--port N` is added, once it is ready."""
    address = Address("127.0.0.1", free_port())
    with _process(settings, address, command) as process:
        deadline = time.monotonic() + START_TIMEOUT_S
        # In a thread: its engine may be a proxy that runs in this one.
        while not await asyncio.to_thread(_is_ready, address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the service did not start")
            await asyncio.sleep(0.05)
        yield Service(address, process.pid)


@contextlib.contextmanager
def _process(settings: Settings, address: Address, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, **environment_of(replace(settings, host=address.host, port=address.port))}
    program, *words = command
    words = [str(Path(sys.executable).parent / program), *words, "--port", str(address.port)]
    # A log is written, as in real use; nobody reads it.
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def _is_ready(address: Address) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address.host}:{address.port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False
