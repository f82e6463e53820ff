"""Commands of the demo: made-up leads, and a whole service over them with keys to try everything, refusals too."""

from __future__ import annotations

import asyncio
import contextlib
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
from pathlib import Path

import click

from siteglass.cli.demo_state import FOLDER, PID_FILE, SETTINGS_FILE, kept_settings, read_kept, running
from siteglass.settings import Settings, SettingsError, environment_of, load_settings
from siteglass.web.address import listener, require_free_port, url
from siteglass_demo.data import COUNT, SEED, prepare

KEYS_FILE = FOLDER / "keys.json"
LOG_FILE = FOLDER / "log"
# Mails of the demo: nobody receives them, so that the codes of /opt-out can be read here.
OUTBOX = FOLDER / "outbox"
# Where the sign-in link works, unless the environment names other networks.
LOOPBACK = ("127.0.0.0/8", "::1")
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
    from siteglass.platform.progress import progress
    from siteglass_demo.leads import write_demo

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
@click.option("--stay", is_flag=True, help="Stay in the foreground until the service ends, as containers do.")
def demo_up(count: int | None, seed: int | None, name: str | None, stay: bool) -> None:
    """Set up tables, leads and accounts, start the service, and print a link that signs you in.

    The last line is JSON with its URL and keys. What is already there stays: run again, it makes only what is missing.
    """
    kept = kept_settings()
    settings = _demo_settings(kept, name or (kept.index_prefix if kept else "demo"))
    if settings != kept and running() is not None:
        _say("the service is running with other settings; stopping it")
        _stop()
    if running() is None:
        require_free_port(settings)  # reported now, not after everything else is created
    _keep(SETTINGS_FILE, environment_of(settings))
    keys = asyncio.run(prepare(settings, count, seed, read_kept(KEYS_FILE), _say))
    _keep(KEYS_FILE, keys)
    process = None
    if running() is None:
        process = _start(settings)
        _wait_until_ready(settings, lambda: process.poll() is None)
    else:
        _wait_until_ready(settings, lambda: running() is not None)
    _say(f"\nSiteglass is running. This link signs you in, once, within ten minutes:\n\n  {_link(settings, keys)}\n")
    click.echo(json.dumps({"base_url": url(settings), **keys}))
    if stay and process is not None:
        sys.exit(_outlive(process))


@demo.command("link")
def demo_link() -> None:
    """Print a new link that signs you in to the running demo, once, within ten minutes."""
    settings, keys = _running_demo()
    click.echo(_link(settings, keys))


@demo.command("env")
def demo_env() -> None:
    """Print the URL and keys of the running demo for a shell: eval "$(siteglass demo env)"."""
    settings, keys = _running_demo()
    # The last two are what `sgl` and the Python client read.
    client = {"siteglass_url": url(settings), "siteglass_api_key": keys["api_key"]}
    for name, value in {"base_url": url(settings), **keys, **client}.items():
        click.echo(f"export {name.upper()}={shlex.quote(value)}")


@demo.command("down")
def demo_down() -> None:
    """Stop the service that `demo up` started; keeps leads and accounts."""
    _say("stopped the demo service" if _stop() else f"no service from {FOLDER} is running; nothing to stop")


@demo.command("web")
@click.option("--count", default=500, show_default=True, type=click.IntRange(1, 1_000), help="Number of sites.")
@click.option("--seed", default=1, show_default=True, type=int, help="Another number gives other sites.")
@click.option(
    "--folder", default=Path("var/demo-web"), show_default=True, type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--network", default="127.18", show_default=True, help="Loopback network, its first two numbers.")
@click.option(
    "--port", default=18180, show_default=True, type=click.IntRange(1, 65_533), help="HTTP; HTTPS and DNS next."
)
def demo_web(count: int, seed: int, folder: Path, network: str, port: int) -> None:
    """Serve made-up sites on loopback for `siteglass crawl run`, until interrupted.

    A site whose domain is appended to the file `changed.txt` in the folder gets another name and other tools.
    """
    if not re.fullmatch(r"127\.\d{1,3}", network):
        raise click.BadParameter(f"{network!r}: use the first two numbers of a loopback network, such as 127.18.")
    asyncio.run(_serve_web(count, seed, folder, network, port))


async def _serve_web(count: int, seed: int, folder: Path, network: str, port: int) -> None:
    from siteglass_demo.sites import sites
    from siteglass_demo.sites.web import DemoWeb

    made_up = DemoWeb(sites(count, seed), folder, network=network, port=port)
    domains, changed, environment = folder / "domains.txt", folder / "changed.txt", folder / "environment"
    async with made_up.running():
        domains.write_text("".join(f"{domain}\n" for domain in made_up.sites))
        changed.touch()
        environment.write_text("".join(f"{name}={value}\n" for name, value in made_up.environment.items()))
        _say(f"{len(made_up.sites)} made-up sites are served. In another shell, crawl them:\n")
        click.echo(f"  (set -a; . {environment}; siteglass crawl run {domains} --promote)")
        _say(f"\nTo change a site, append its domain to {changed}, and crawl again.")
        known: set[str] = set()
        while True:
            for domain in set(changed.read_text().split()) - known:
                known.add(domain)
                _say(f"changed {domain}" if made_up.change(domain) else f"there is no site {domain}")
            await asyncio.sleep(0.5)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _running_demo() -> tuple[Settings, dict[str, str]]:
    settings, keys = kept_settings(), read_kept(KEYS_FILE)
    if running() is None or settings is None or keys is None:
        raise SettingsError(f"no demo is running in {FOLDER}. Start it: siteglass demo up")
    return settings, keys


def _link(settings: Settings, keys: dict[str, str]) -> str:
    from siteglass.dashboard.demo_link import PATH
    from siteglass.people.secrecy import Secrecy
    from siteglass.people.sign_in import new_demo_link

    token = new_demo_link(Secrecy(settings.dashboard_secrets), keys["dashboard_email"], int(time.time()))
    return f"{url(settings)}{PATH}/{token}"


# --- what it keeps in its folder ------------------------------------------------------------------


def _demo_settings(kept: Settings | None, name: str) -> Settings:
    """The environment's engines under names of the demo's own."""
    given = load_settings()
    return replace(
        given,
        demo_networks=given.demo_networks or LOOPBACK,
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


def _keep(path: Path, values: dict[str, str]) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".new")
    aside.touch(mode=0o600)
    aside.write_text(json.dumps(values))
    aside.replace(path)


# --- the service's process ------------------------------------------------------------------------


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


def _outlive(process: subprocess.Popen[bytes]) -> int:
    """Wait for the service, and end it when this command is to end; its status, 0 if this command ended it."""
    asked_to_end = False

    def end(*_: object) -> None:
        nonlocal asked_to_end
        asked_to_end = True
        process.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    status = process.wait()
    PID_FILE.unlink(missing_ok=True)
    return 0 if asked_to_end else abs(status)


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
