"""Operator commands on backups: the drill that restores one and compares it with the live database."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from siteglass.settings import load_settings

if TYPE_CHECKING:
    from siteglass.cli.drill import DrillReport

TIME_FORMATS = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]


@click.group()
def backup() -> None:
    """Check backups of PostgreSQL."""


@backup.command("drill")
@click.option("--stanza", default="siteglass", show_default=True, help="The stanza of pgbackrest.")
@click.option(
    "--to", "until", type=click.DateTime(TIME_FORMATS), help="Restore to this time (UTC). Default: all there is."
)
@click.option(
    "--folder",
    default="/tmp",  # noqa: S108 - the copy gets a folder that only its user can enter
    show_default=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the copy is restored to; it needs as much space as the database.",
)
@click.option(
    "--programs",
    default="/usr/lib/postgresql/15/bin",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of PostgreSQL's programs.",
)
@click.option("--user", default="postgres", show_default=True, help="The user that the copy runs as, if you are root.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def backup_drill(stanza: str, until: datetime | None, folder: Path, programs: Path, user: str, as_json: bool) -> None:
    """Restore a backup into a second PostgreSQL, verify its ledger, and compare it with the live database.

    Run it where pgbackrest and PostgreSQL are installed. The copy is deleted afterwards. Exit code 1 if the backup
    cannot be relied on.
    """
    from siteglass.cli.drill import drill
    from siteglass.platform.restored_server import Backup

    target = None if until is None else until.replace(tzinfo=UTC)
    report = asyncio.run(drill(load_settings(), Backup(stanza, target, programs, user), folder))
    if as_json:
        click.echo(json.dumps(asdict(report), indent=2, default=str))
    else:
        _tell(report)
    sys.exit(1 if report.problems else 0)


def _tell(report: DrillReport) -> None:
    click.echo(f"Restored   in {report.restore_s:.1f} s, replayed in {report.replay_s:.1f} s.")
    click.echo(f"Ledger     {report.ledger_rows} rows of {report.ledger_accounts} accounts verified.")
    counts = ", ".join(f"{table} {copy} of {live}" for table, (copy, live) in report.counts.items())
    click.echo(f"Rows       {counts}.")
    click.echo(
        f"Opt-outs   {report.opt_outs_newer} are newer than the copy; {report.opt_outs_in_journal} of them are in the "
        "journal."
    )
    if report.restored_until is not None:
        moment = report.restored_until.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
        lost = "" if report.data_loss_s is None else f": {report.data_loss_s:.0f} s would be lost now"
        click.echo(f"Data loss  nothing after {moment} UTC is in the copy{lost}.")
    for problem in report.problems:
        click.echo(f"Problem    {problem}", err=True)
    click.echo("The backup cannot be relied on." if report.problems else "The backup can be relied on.")
