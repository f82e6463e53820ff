"""Commands of the demo: made-up leads, and a whole service over them with keys to try everything, refusals too."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from siteglass.settings import Settings, SettingsError, environment_of, load_settings

if TYPE_CHECKING:
    from siteglass.backends import Backends

FOLDER = Path("var/demo")
CREDITS = 10_000_000
START_TIMEOUT_S = 60


@click.group()
def demo() -> None:
    """Made-up leads, and a service to try them with."""


@demo.command("generate")
@click.option("--count", default=50_000, show_default=True, type=click.IntRange(1, 100_000_000))
@click.option("--seed", default=1, show_default=True, type=int)
@click.option("--output", "-o", default="var/demo.parquet", show_default=True, type=click.Path(path_type=Path))
def demo_generate(count: int, seed: int, output: Path) -> None:
    """Write believable leads to a Parquet or NDJSON file; the same seed gives the same leads."""
    from siteglass.demo import write_demo
    from siteglass.progress import progress

    output.parent.mkdir(parents=True, exist_ok=True)
    with progress("Generating", count) as advance_to:
        write_demo(output, count, seed, advance_to)
    click.echo(f"{count} leads in {output}")


@demo.command("up")
@click.option("--count", default=50_000, show_default=True, type=click.IntRange(1, 10_000_000))
@click.option("--seed", default=1, show_default=True, type=int)
@click.option("--name", default="demo", show_default=True, help="Start of the names it uses in the engines.")
def demo_up(count: int, seed: int, name: str) -> None:
    """Tables, leads, accounts and the running service; the last line is JSON with its address and keys."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    settings = _demo_settings(name)
    if not _answers(settings):
        asyncio.run(_prepare(settings, count, seed))
        _start(settings)
    click.echo(json.dumps({"base_url": _url(settings), **json.loads((FOLDER / "keys.json").read_text())}))


@demo.command("down")
def demo_down() -> None:
    """Stop the service that `demo up` started; leads and accounts stay."""
    pid_file = FOLDER / "pid"
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
        pid = int(pid_file.read_text())
        if b"siteglass" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGTERM)
    pid_file.unlink(missing_ok=True)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _url(settings: Settings) -> str:
    return f"http://{settings.host}:{settings.port}"


def _demo_settings(name: str) -> Settings:
    """The environment's engines under names of the demo's own; its secrets are made once and kept."""
    path = FOLDER / "secrets.json"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(json.dumps({use: secrets.token_hex(24) for use in ("cursor", "key")}))
    kept = json.loads(path.read_text())
    return replace(
        load_settings(),
        cursor_secrets=(kept["cursor"],),
        key_secrets=(kept["key"],),
        index_prefix=name,
        postgres_schema=name,
        redis_prefix=name,
        lead_store=FOLDER / "leads",
    )


async def _prepare(settings: Settings, count: int, seed: int) -> None:
    from siteglass.accounts.schema import migrate
    from siteglass.backends import open_backends

    _say("migrating the tables")
    await migrate(settings.postgres_dsn, settings.postgres_schema)
    async with open_backends(settings) as backends:
        await _fill(backends, count, seed)
        path = FOLDER / "keys.json"
        if not path.exists():
            _say("making accounts and keys")
            made = await _make_keys(backends)
            path.touch(mode=0o600)
            path.write_text(json.dumps(made))


async def _fill(backends: Backends, count: int, seed: int) -> None:
    """A live generation with so many leads, unless there is one."""
    from siteglass.demo import write_demo
    from siteglass.index import generations
    from siteglass.index.names import Names
    from siteglass.load import load
    from siteglass.progress import progress

    names = Names(backends.settings.index_prefix)
    if any(g.live and g.documents >= count for g in await generations.status(backends, names)):
        return
    path = backends.settings.lead_store / f"demo-{count}-{seed}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with progress("Generating", count) as advance_to:
            write_demo(path, count, seed, advance_to)
    name = await generations.create(backends, names, generations.Shape(), source=path.name)
    with progress("Loading", count) as advance_to:
        await load(backends, names, path, lambda so_far: advance_to(so_far.read))
    await generations.promote(backends, names, name)


async def _make_keys(backends: Backends) -> dict[str, str]:
    """One key for use, and one for each refusal."""
    from siteglass.accounts.accounts import create_account
    from siteglass.accounts.credits import grant
    from siteglass.accounts.keys import KeyLimits, create_key, revoke_key

    postgres, key_secrets = backends.postgres, backends.settings.key_secrets
    suffix = secrets.token_hex(3)

    async def account(name: str, plan: str, credits: int) -> int:
        number = await create_account(postgres, f"{name} {suffix}", plan)
        if credits:
            await grant(postgres, number, credits, credits, "demo", "demo")
        return number

    main = await account("Demo", "demo", CREDITS)
    small = await account("Small plan", "standard", CREDITS)
    empty = await account("No credit", "demo", 0)
    past = KeyLimits(expires_at=datetime.now(UTC) - timedelta(days=1))
    revoked_id, revoked = await create_key(postgres, key_secrets, main, "revoked")
    await revoke_key(postgres, revoked_id)
    return {
        "api_key": (await create_key(postgres, key_secrets, main, "demo"))[1],
        "small_plan_api_key": (await create_key(postgres, key_secrets, small, "small plan"))[1],
        "no_credit_api_key": (await create_key(postgres, key_secrets, empty, "no credit"))[1],
        "expired_api_key": (await create_key(postgres, key_secrets, main, "expired", limits=past))[1],
        "revoked_api_key": revoked,
    }


def _start(settings: Settings) -> None:
    """The service as a process of its own, which outlives this command."""
    environment = {**os.environ, **environment_of(settings)}
    with (FOLDER / "log").open("ab") as log:
        process = subprocess.Popen(  # the program that runs this command
            [sys.argv[0], "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    (FOLDER / "pid").write_text(str(process.pid))
    _say(f"starting the service, its log is {FOLDER / 'log'}")
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _answers(settings):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SettingsError(f"the service did not start on port {settings.port}; see {FOLDER / 'log'}")
        time.sleep(0.1)


def _answers(settings: Settings) -> bool:
    """Whether the demo's service is ready."""
    if not (FOLDER / "pid").exists() or not (FOLDER / "keys.json").exists():
        return False
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{_url(settings)}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False
