"""Operator commands: serve, and those of the other `cli_` modules. Each says what became of it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib.metadata import entry_points

import click

from siteglass import __version__
from siteglass.cli.accounts import COMMANDS
from siteglass.cli.backup import backup
from siteglass.cli.crawl import crawl
from siteglass.cli.credits import credits_
from siteglass.cli.doctor import doctor
from siteglass.cli.fill import fill
from siteglass.cli.generations import GENERATION_COMMANDS
from siteglass.cli.import_leads import index_import
from siteglass.cli.index import index_commands
from siteglass.cli.ingest import ingest
from siteglass.cli.interpret import interpret
from siteglass.cli.operators import operator
from siteglass.cli.people import person
from siteglass.cli.refresh import refresh
from siteglass.cli.reports import report
from siteglass.cli.sso import sso
from siteglass.cli.suppress import suppress
from siteglass.cli.upgrade import upgrade
from siteglass.settings import SettingsError, load_settings, variable
from siteglass.web.address import require_free_port

# Heavy modules are imported by the command that needs them: `siteglass --help` answers at once.


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Siteglass: find websites and the contact details that they publish."""


for command in (
    *COMMANDS,
    backup,
    crawl,
    credits_,
    doctor,
    fill,
    index_commands,
    ingest,
    interpret,
    operator,
    person,
    refresh,
    report,
    sso,
    suppress,
    upgrade,
):
    cli.add_command(command)
for command in (*GENERATION_COMMANDS, index_import):
    index_commands.add_command(command)
# Commands of other distributions, such as those of the demo.
for other in entry_points(group="siteglass.commands"):
    cli.add_command(other.load())


@cli.command()
@click.option("--host", help="Address to listen on [setting: host].")
@click.option("--port", type=int, help="Port to listen on [setting: port].")
@click.option("--workers", type=int, help="Worker processes [setting: workers].")
def serve(host: str | None, port: int | None, workers: int | None) -> None:
    """Run the service."""
    import uvicorn

    from siteglass.app import create_app
    from siteglass.platform.metrics_server import serving_metrics
    from siteglass.web.server import server_options

    settings = load_settings()
    settings = replace(
        settings,
        host=host or settings.host,
        port=port or settings.port,
        workers=workers or settings.workers,
    )
    require_free_port(settings)
    create_app(settings)  # a missing setting is reported here, once, not by every worker
    # The workers read them: the options must hold for them too. Secrets are not passed on, so that those from files do
    # not get into the environment: each worker reads the files itself.
    os.environ.update({variable(name): str(getattr(settings, name)) for name in ("host", "port", "workers")})
    with serving_metrics(settings):
        uvicorn.run(
            "siteglass.app:from_environment",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            **server_options(settings),
        )


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
    """What the operator can do about an error; None for bugs."""
    match error:  # the cheap checks first: a mistake is reported immediately
        case SettingsError():
            return str(error)
        case OSError(filename=str(name)):
            return f"{name}: {error.strerror}."
        case ModuleNotFoundError(name=str(name)) if not name.startswith("siteglass"):
            return f"{name} is not installed. This command needs the extra `ingest`: deploy/requirements-ingest.lock."

    from siteglass.access.accounts import AccountError
    from siteglass.corpus.lead_files import LeadFileError
    from siteglass.corpus.tables import TableError
    from siteglass.errors import Unavailable
    from siteglass.index.generations import GenerationError
    from siteglass.people.problems import PeopleError
    from siteglass.platform.functions import SchemaError
    from siteglass.platform.opensearch import EngineError
    from siteglass.platform.restored_server import RestoreError
    from siteglass.suppression.entries import SuppressionError

    match error:
        case AccountError() | GenerationError() | LeadFileError() | PeopleError():
            return str(error)
        case RestoreError() | SchemaError() | SuppressionError() | TableError():
            return str(error)
        case Unavailable():
            hint = "" if "`" in error.reason else " `make up` starts the engines;"
            return f"{error.reason}.{hint} `siteglass doctor` shows what is missing."
        case EngineError():
            return f"OpenSearch refused: {error}. `siteglass doctor` shows what is missing."

    import asyncpg

    match error:
        case asyncpg.PostgresError() | asyncpg.InterfaceError():
            return f"PostgreSQL refused: {error}. Is {variable('postgres_dsn')} right? `siteglass doctor` looks."
    return None
