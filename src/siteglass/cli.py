"""Operator commands: serve, index, and those of the other `cli_` modules. Each says what became of it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from siteglass import __version__
from siteglass.address import require_free_port, trusted_proxies
from siteglass.cli_accounts import COMMANDS
from siteglass.cli_credits import credits_
from siteglass.cli_demo import demo
from siteglass.cli_doctor import doctor
from siteglass.cli_interpret import interpret
from siteglass.settings import SettingsError, environment_of, load_settings, variable

if TYPE_CHECKING:
    from siteglass.backends import Backends
    from siteglass.index.names import Names

Result = TypeVar("Result")

LEAD_FILES = (".ndjson", ".jsonl", ".parquet")

# Heavy modules are imported by the command that needs them: `siteglass --help` answers at once.


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Siteglass: find websites, and the people behind them."""


for command in (*COMMANDS, credits_, demo, doctor, interpret):
    cli.add_command(command)


@cli.command()
@click.option("--host", help="Address to listen on [setting: host].")
@click.option("--port", type=int, help="Port to listen on [setting: port].")
@click.option("--workers", type=int, help="Worker processes [setting: workers].")
def serve(host: str | None, port: int | None, workers: int | None) -> None:
    """Run the service."""
    import uvicorn

    from siteglass.app import create_app

    settings = load_settings()
    settings = replace(
        settings,
        host=host or settings.host,
        port=port or settings.port,
        workers=workers or settings.workers,
    )
    create_app(settings)  # a missing setting is told here, once, not by every worker
    require_free_port(settings)
    os.environ.update(environment_of(settings))  # the workers read it: the options must hold for them too
    uvicorn.run(
        "siteglass.app:from_environment",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
        forwarded_allow_ips=trusted_proxies(settings),
    )


@cli.group()
def index() -> None:
    """Index generations: make, fill, promote, drop."""


def _run(action: Callable[[Backends, Names], Awaitable[Result]]) -> Result:
    """Run an operation with the backends of the settings."""
    from siteglass.backends import open_backends
    from siteglass.index.names import Names

    async def run() -> Result:
        settings = load_settings()
        async with open_backends(settings) as backends:
            return await action(backends, Names(settings.index_prefix))

    return asyncio.run(run())


@index.command("create")
@click.option("--shards", default=1, show_default=True, type=click.IntRange(1, 1024))
@click.option("--replicas", default=0, show_default=True, type=click.IntRange(0, 8))
@click.option("--codec", default="default", show_default=True, type=click.Choice(["default", "best_compression"]))
@click.option("--refresh-interval", default="1s", show_default=True, help="How soon writes are seen; -1 while filling.")
@click.option("--source", default="", help="Where the leads come from, kept with the generation.")
def index_create(shards: int, replicas: int, codec: str, refresh_interval: str, source: str) -> None:
    """Make a new, empty generation that takes writes; prints its name."""
    from siteglass.index import generations

    shape = generations.Shape(shards, replicas, codec, refresh_interval)
    click.echo(_run(lambda backends, names: generations.create(backends, names, shape, source)))


@index.command("load")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def index_load(source: Path) -> None:
    """Write the leads of an NDJSON or Parquet file to all generations that take writes."""
    from siteglass import load as loading
    from siteglass.lead_files import count_leads
    from siteglass.progress import progress

    if source.suffix not in LEAD_FILES:
        raise click.BadParameter(f"{source}: leads come in files named {' or '.join(LEAD_FILES)}.")
    if source.suffix == ".parquet":
        count_leads(source)  # what is no such file must not get into the store
    path = loading.to_store(source, load_settings().lead_store)
    with progress("Loading", count_leads(path)) as advance_to:
        loaded = _run(lambda b, n: loading.load(b, n, path, lambda so_far: advance_to(so_far.read)))
    click.echo(
        f"{loaded.read} leads read; {loaded.written} written, {loaded.older} older than what was there, "
        f"{loaded.failed} failed; {loaded.document_bytes / max(loaded.read, 1):.0f} bytes sent per document"
    )
    for reason in loaded.reasons:
        click.echo(f"  {reason}", err=True)
    if loaded.failed:
        sys.exit(1)


@index.command("promote")
@click.argument("name")
def index_promote(name: str) -> None:
    """Let searches see this generation."""
    from siteglass.index import generations

    _run(lambda backends, names: generations.promote(backends, names, name))
    click.echo(f"{name} is live")


@index.command("drop")
@click.argument("name")
def index_drop(name: str) -> None:
    """Delete a generation that is not live."""
    from siteglass.index import generations

    _run(lambda backends, names: generations.drop(backends, names, name))
    click.echo(f"{name} is gone")


@index.command("status")
def index_status() -> None:
    """List the generations."""
    from siteglass.index import generations

    found = _run(generations.status)
    if not found:
        click.echo("No generation yet. Make one: siteglass index create")
    for g in found:
        marks = " ".join(mark for mark, there in (("live", g.live), ("writes", g.takes_writes)) if there)
        size = (
            f"{g.documents} leads, {g.size_bytes / 1e6:.1f} MB, {g.size_bytes / max(g.documents, 1):.0f} bytes per lead"
        )
        click.echo(f"{g.name}  {g.health}  {size}  schema {g.schema_version}  {marks}")


def main() -> None:
    """Entry point: expected errors become one line and exit code 2."""
    try:
        cli()
    except Exception as error:
        line = _in_one_line(error)
        if line is None:
            raise
        click.echo(f"siteglass: {' '.join(line.split())}", err=True)
        sys.exit(2)


def _in_one_line(error: Exception) -> str | None:
    """What the operator can do about an error; None for those that are faults of ours."""
    import asyncpg
    from sqlalchemy.exc import DBAPIError

    from siteglass.accounts.accounts import AccountError
    from siteglass.backends import EngineError
    from siteglass.errors import Unavailable
    from siteglass.index.generations import GenerationError
    from siteglass.lead_files import LeadFileError

    match error:
        case SettingsError() | AccountError() | GenerationError() | LeadFileError():
            return str(error)
        case Unavailable():
            hint = "" if "`" in error.reason else " `make up` starts the engines;"
            return f"{error.reason}.{hint} `siteglass doctor` says what is missing."
        case EngineError():
            return f"OpenSearch refused: {error}. `siteglass doctor` says what is missing."
        case DBAPIError() | asyncpg.PostgresError() | asyncpg.InterfaceError():
            reason = error.orig if isinstance(error, DBAPIError) else error
            return f"PostgreSQL refused: {reason}. Is {variable('postgres_dsn')} right? `siteglass doctor` looks."
        case OSError(filename=str(name)):
            return f"{name}: {error.strerror}."
    return None
