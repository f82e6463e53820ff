"""Commands of the demo: made-up leads, and a whole service over them with keys to try everything, refusals too."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from siteglass.settings import Settings, SettingsError, environment_of, load_settings
from siteglass.web.address import listener, require_free_port, url

if TYPE_CHECKING:
    from siteglass.platform.backends import Backends

FOLDER = Path("var/demo")
# The environment that the service runs with; the demo's secrets are made once and kept in it.
SETTINGS_FILE = FOLDER / "settings.json"
KEYS_FILE = FOLDER / "keys.json"
PID_FILE = FOLDER / "pid"
LOG_FILE = FOLDER / "log"
# Mails of the demo: nobody receives them, so that the codes of /opt-out can be read here.
OUTBOX = FOLDER / "outbox"
COUNT, SEED = 50_000, 1
# Below this the demo has only generated leads: the companies that are read from pages would be most of it.
MIN_COUNT_WITH_COMPANIES = 10_000
ACTOR = "demo"
CREDITS = 10_000_000
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 20
# It begins the names of indices and is the name of a schema: what both allow.
NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


@click.group()
def demo() -> None:
    """Generate made-up leads, and run a demo service with them."""


@demo.command("generate")
@click.option("--count", default=COUNT, show_default=True, type=click.IntRange(1, 100_000_000))
@click.option("--seed", default=SEED, show_default=True, type=int)
@click.option("--output", "-o", default="var/demo.parquet", show_default=True, type=click.Path(path_type=Path))
def demo_generate(count: int, seed: int, output: Path) -> None:
    """Write realistic leads to a Parquet or NDJSON file; the same seed gives the same leads."""
    from siteglass.corpus.demo import write_demo
    from siteglass.platform.progress import progress

    output.parent.mkdir(parents=True, exist_ok=True)
    with progress("Generating", count) as advance_to:
        write_demo(output, count, seed, advance_to)
    click.echo(f"{count} leads in {output}")


def _checked_name(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    if name is not None and not NAME.fullmatch(name):
        raise click.BadParameter(
            f"{name!r}: use a lower-case letter, then lower-case letters, digits and _; at most 63 characters."
        )
    return name


@demo.command("up")
@click.option(
    "--count",
    type=click.IntRange(1, 10_000_000),
    help="Number of leads; 10000 and more include some read from made-up pages [default: keep the existing, or 50000].",
)
@click.option(
    "--seed", type=int, help="A different number gives different leads [default: keep the existing ones, or 1]."
)
@click.option(
    "--name", callback=_checked_name, help="Prefix of its names in the engines [default: as last time, or demo]."
)
def demo_up(count: int | None, seed: int | None, name: str | None) -> None:
    """Set up tables, leads and accounts, and start the service; the last line is JSON with its URL and keys.

    What is already there stays: run again, it makes only what is missing.
    """
    kept = kept_settings()
    settings = _demo_settings(kept, name or (kept.index_prefix if kept else "demo"))
    if settings != kept and running() is not None:
        _say("the service is running with other settings; stopping it")
        _stop()
    if running() is None:
        require_free_port(settings)  # reported now, not after everything else is created
    _keep(SETTINGS_FILE, environment_of(settings))
    keys = asyncio.run(_prepare(settings, count, seed))
    if running() is None:
        process = _start(settings)
        _wait_until_ready(settings, lambda: process.poll() is None)
    else:
        _wait_until_ready(settings, lambda: running() is not None)
    click.echo(json.dumps({"base_url": url(settings), **keys}))


@demo.command("env")
def demo_env() -> None:
    """Print the URL and keys of the running demo for a shell: eval "$(siteglass demo env)"."""
    settings, keys = kept_settings(), _kept(KEYS_FILE)
    if running() is None or settings is None or keys is None:
        raise SettingsError(f"no demo is running in {FOLDER}. Start it: siteglass demo up")
    # The last two are what `sgl` and the Python client read.
    client = {"siteglass_url": url(settings), "siteglass_api_key": keys["api_key"]}
    for name, value in {"base_url": url(settings), **keys, **client}.items():
        click.echo(f"export {name.upper()}={shlex.quote(value)}")


@demo.command("down")
def demo_down() -> None:
    """Stop the service that `demo up` started; keeps leads and accounts."""
    _say("stopped the demo service" if _stop() else f"no service from {FOLDER} is running; nothing to stop")


def _say(text: str) -> None:
    click.echo(text, err=True)


# --- what it keeps in its folder ------------------------------------------------------------------


def kept_settings() -> Settings | None:
    """What the demo of this folder was last started with, or None."""
    kept = _kept(SETTINGS_FILE)
    return None if kept is None else load_settings(kept)


def _demo_settings(kept: Settings | None, name: str) -> Settings:
    """The environment's engines under names of the demo's own."""
    return replace(
        load_settings(),
        cursor_secrets=kept.cursor_secrets if kept else (secrets.token_hex(24),),
        key_secrets=kept.key_secrets if kept else (secrets.token_hex(24),),
        suppression_secret=(kept and kept.suppression_secret) or secrets.token_hex(24),
        index_prefix=name,
        postgres_schema=name,
        redis_prefix=name,
        drain_s=0,  # it has no load balancer
        lead_store=FOLDER / "leads",
        mail_url=f"file:{OUTBOX}",
        dashboard_secrets=(kept and kept.dashboard_secrets) or (secrets.token_hex(24),),
        mail_from="Siteglass demo <opt-out@demo.example>",
        sales_email="sales@demo.example",
    )


def _kept(path: Path) -> dict[str, str] | None:
    try:
        kept: dict[str, str] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None  # one that cannot be read is created again
    return kept


def _keep(path: Path, values: dict[str, str]) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".new")
    aside.touch(mode=0o600)
    aside.write_text(json.dumps(values))
    aside.replace(path)


# --- tables, leads, accounts ----------------------------------------------------------------------


async def _prepare(settings: Settings, count: int | None, seed: int | None) -> dict[str, str]:
    """All that the service needs in the engines; returns the keys."""
    from siteglass.index import generations
    from siteglass.index.index import open_index
    from siteglass.leads import sandbox
    from siteglass.platform.backends import open_backends
    from siteglass.platform.schema import migrate

    _say("bringing the tables up to date")
    await migrate(settings.postgres_owner_dsn, settings.postgres_schema, settings.postgres_dsn)
    async with open_backends(settings) as backends:
        index = open_index(backends)
        await _fill(backends, count, seed)
        if not await generations.status(index.sandbox()):
            _say("creating the leads for test keys")
            await sandbox.build(index)
        keys = _kept(KEYS_FILE)
        if keys is None or "test_api_key" not in keys or not await _stands(backends, keys.get("api_key", "")):
            _say("creating accounts and keys")
            keys = await _make_keys(backends)
            _keep(KEYS_FILE, keys)
    return keys


async def _fill(backends: Backends, count: int | None, seed: int | None) -> None:
    """A live generation of these leads, unless there is one; others that the demo made are dropped."""
    from siteglass.index import generations, segments
    from siteglass.index.entry import enter_store
    from siteglass.index.index import open_index
    from siteglass.index.load import LoadReport, load
    from siteglass.index.mapping import SCHEMA_VERSION
    from siteglass.platform.progress import progress

    index = open_index(backends)
    found = [g for g in await generations.status(index) if g.source.startswith("demo-")]
    live = next((g for g in found if g.live and g.schema_version == SCHEMA_VERSION), None)
    if live and count is None and seed is None:
        _say(f"{live.documents:,} leads already exist")
        return
    leads = _DemoLeads(count or COUNT, SEED if seed is None else seed)
    if live and live.source == leads.name:
        _say(f"{live.documents:,} leads already exist")
        return
    for half_filled in (g for g in found if not g.live):  # an `up` that was interrupted
        await generations.drop(index, half_filled.name)
    files = leads.files(backends.settings.lead_store)
    _say(f"loading {leads.count:,} leads")
    name = await generations.create(index, generations.Shape(), source=leads.name)
    with progress("Loading", leads.count) as advance_to:
        loaded = 0
        for stored in await enter_store(index, files):

            def advance(so_far: LoadReport, before: int = loaded) -> None:
                advance_to(before + so_far.read)

            loaded += (await load(index, stored.path, advance, only=name)).read
    await segments.merge_if_large(index, name, loaded)
    await generations.promote(index, name)
    for before in (g for g in found if g.live):
        await generations.drop(index, before.name)


class _DemoLeads:
    """The leads of a demo: companies that were read from made-up pages, and generated leads; few are all generated."""

    def __init__(self, count: int, seed: int) -> None:
        from siteglass.corpus.demo import COMPANIES
        from siteglass.corpus.lead_files import read_parquet

        self.count, self.seed = count, seed
        self._companies = [COMPANIES] if count >= MIN_COUNT_WITH_COMPANIES else []
        self._taken = {lead.domain for path in self._companies for _, group in read_parquet(path) for lead in group}
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in self._companies)).hexdigest()[:8]
        self.name = f"demo-{count}-{seed}-{digest}.parquet"

    def files(self, folder: Path) -> list[Path]:
        """The files of leads; those that are generated are written to the folder, unless they are there."""
        from siteglass.corpus.demo import write_demo
        from siteglass.platform.progress import progress

        path = folder / self.name
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            missing = self.count - len(self._taken)
            _say(f"making {missing:,} leads")
            with progress("Generating", missing) as advance_to:
                write_demo(path, missing, self.seed, advance_to, without=self._taken)
        return [*self._companies, path]


async def _stands(backends: Backends, key: str) -> bool:
    """Whether the accounts still know the key; they do not under another name, or if the data was lost."""
    from siteglass.access.keys import Keys
    from siteglass.errors import Unauthorized

    try:
        await Keys(backends.postgres, backends.settings.key_secrets, backends.settings.postgres_timeout_ms).find(key)
    except Unauthorized:
        return False
    return True


async def _make_keys(backends: Backends) -> dict[str, str]:
    """One key for use, one for each refusal, and somebody who signs in to the dashboard."""
    from siteglass.access.accounts import create_account
    from siteglass.access.keys import KeyLimits, create_key, revoke_key
    from siteglass.billing.credits import grant
    from siteglass.people import people
    from siteglass.people.passwords import Passwords

    postgres, key_secrets = backends.postgres, backends.settings.key_secrets
    suffix = secrets.token_hex(3)

    async def account(name: str, plan: str, credits: int) -> int:
        number = await create_account(postgres, f"{name} {suffix}", plan, actor=ACTOR)
        if credits:
            await grant(postgres, number, credits, credits, ACTOR, "demo")
        return number

    main = await account("Demo", "demo", CREDITS)
    small = await account("Small plan", "standard", CREDITS)
    empty = await account("No credit", "demo", 0)
    email, password = f"owner-{suffix}@demo.example", "-".join(secrets.token_hex(3) for _ in range(4))
    passwords = Passwords()
    hashed = await passwords.hash(password)
    passwords.close()
    await people.create(postgres, email, "Demo Owner", hashed, main, "owner")
    past = KeyLimits(expires_at=datetime.now(UTC) - timedelta(days=1))
    revoked_id, revoked = await create_key(postgres, key_secrets, main, "revoked", actor=ACTOR)
    await revoke_key(postgres, revoked_id, ACTOR)
    return {
        "api_key": (await create_key(postgres, key_secrets, main, "demo", actor=ACTOR))[1],
        "test_api_key": (await create_key(postgres, key_secrets, main, "test", actor=ACTOR, test=True))[1],
        "small_plan_api_key": (await create_key(postgres, key_secrets, small, "small plan", actor=ACTOR))[1],
        "no_credit_api_key": (await create_key(postgres, key_secrets, empty, "no credit", actor=ACTOR))[1],
        "expired_api_key": (await create_key(postgres, key_secrets, main, "expired", limits=past, actor=ACTOR))[1],
        "revoked_api_key": revoked,
        "dashboard_email": email,
        "dashboard_password": password,
    }


# --- the service's process ------------------------------------------------------------------------


def running() -> int | None:
    """The pid of the service that `demo up` started in this folder, while it runs."""
    try:
        pid = int(PID_FILE.read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        here = Path(f"/proc/{pid}/cwd").samefile(Path.cwd())
    except (OSError, ValueError):
        return None
    # A pid that the system has since given to someone else is not ours.
    return pid if here and b"serve" in words else None


def _start(settings: Settings) -> subprocess.Popen[bytes]:
    """The service as a separate process, which outlives this command."""
    require_free_port(settings)  # someone else's service there must not be taken for ours
    environment = {**os.environ, **environment_of(settings)}
    with LOG_FILE.open("ab") as log:
        process = subprocess.Popen(  # the program that runs this command
            [sys.argv[0], "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    PID_FILE.write_text(str(process.pid))
    _say(f"starting the service; its log is {LOG_FILE}")
    return process


def _wait_until_ready(settings: Settings, runs: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while asyncio.run(listener(settings)) != "siteglass":
        if not runs() or time.monotonic() > deadline:
            why = last_reason(LOG_FILE.read_text(encoding="utf-8", errors="replace"))
            raise SettingsError(f"the service is not ready on port {settings.port}: {why or f'see {LOG_FILE}'}")
        time.sleep(0.1)


def last_reason(log: str) -> str | None:
    """The newest reason in a log for what did not work."""
    for line in reversed(log.splitlines()):
        with contextlib.suppress(json.JSONDecodeError, AttributeError):
            if reason := json.loads(line).get("reason"):
                return str(reason)
    return None


def _stop() -> bool:
    """End the service and wait until it has gone; whether there was one."""
    pid = running()
    deadline = time.monotonic() + STOP_TIMEOUT_S
    how = signal.SIGTERM
    while pid is not None and running() == pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)
        while running() == pid and time.monotonic() < deadline:
            time.sleep(0.05)
        how = signal.SIGKILL
    PID_FILE.unlink(missing_ok=True)
    return pid is not None
