"""Operator commands on upgrades: what this release would change, before anything is changed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from siteglass import __version__
from siteglass.cli.index import run
from siteglass.settings import known_variables, load_settings, variables_given

if TYPE_CHECKING:
    from siteglass.index.index import Index
    from siteglass.platform.schema import PendingUpgrade


@click.group()
def upgrade() -> None:
    """Look at an upgrade before it is made."""


@upgrade.command("check")
def upgrade_check() -> None:
    """Show what this release would change, and in which order to upgrade; changes nothing.

    Install the new release beside the running one and run it there, with the same settings. Exit code 1 if this release
    cannot upgrade what is there.
    """
    from siteglass.cli.doctor import OTHER_VARIABLES
    from siteglass.platform.schema import pending

    settings = load_settings()
    found = asyncio.run(pending(settings.postgres_owner_dsn, settings.postgres_schema))
    click.echo(
        f"This release is {__version__}. Schema {settings.postgres_schema} is at {found.revision or 'nothing yet'}."
    )
    if not found.known:
        click.echo("This release does not know that revision: a newer one made it. Use that release.", err=True)
        sys.exit(1)
    steps = _tell_database(found)
    unknown = sorted(set(variables_given()) - set(known_variables()) - OTHER_VARIABLES)
    for name in unknown:
        click.echo(f"Setting    {name} is not known to this release and has no effect.")
    steps += run(_index_steps)
    for number, step in enumerate([*steps, "restart the services one after the other"], 1):
        click.echo(f"{number}. {step}")


def _tell_database(found: PendingUpgrade) -> list[str]:
    """Print what changes in PostgreSQL; returns what to do about it."""
    for name, purpose in found.steps:
        click.echo(f"Tables     {name}: {purpose}")
    for name in found.indexes:
        click.echo(f"Index      {name}: built while the service runs")
    if found.functions:
        click.echo(f"Functions  {len(found.functions)} change: {', '.join(found.functions)}")
    if found.steps or found.indexes or found.functions:
        return ["siteglass backup drill, or another proof that a backup can be restored", "siteglass migrate"]
    click.echo("Tables     are up to date.")
    return []


async def _index_steps(index: Index) -> list[str]:
    """What to do about the index in OpenSearch, after printing why."""
    from siteglass.index import cluster_settings, generations
    from siteglass.index.mapping import SCHEMA_VERSION

    steps = []
    if any(not setting.ok for setting in await cluster_settings.compare(index)):
        steps.append("siteglass index settings --apply")
    live = next((one for one in await generations.status(index) if one.live), None)
    if live is not None and live.schema_version < SCHEMA_VERSION:
        click.echo(f"Index      {live.name} has schema {live.schema_version}; this release writes {SCHEMA_VERSION}.")
        steps.append("after the restart, siteglass index rebuild SOURCE --promote, for fields that the old one lacks")
    return steps
