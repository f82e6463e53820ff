"""`sgl list`: lists of domains, which `--exclude-list` and `--only-list` of a search name."""

from __future__ import annotations

from pathlib import Path

import click

from siteglass_client.cli.domain_files import read_domains
from siteglass_client.cli.options import Session, common
from siteglass_client.cli.terminal import counted, note, say_json, show_table
from siteglass_client.messages import ListChange

_source = click.argument("source", type=click.Path(allow_dash=True, path_type=Path))
_column = click.option("--column", metavar="NAME", help="The column with domains, websites or email addresses.")


@click.group("list")
def list_() -> None:
    """Lists of domains, to leave leads out that you have already. Free."""


@list_.command("show")
@common
@click.argument("name", required=False)
def show(session: Session, name: str | None) -> None:
    """Show all lists, or the domains of one."""
    with session.connect() as client:
        if name is not None:
            for domain in client.list_domains(name):
                click.echo(domain)
            return
        lists = client.lists()
    if not session.for_people:
        say_json(lists)
        return
    rows = ([each.name, each.size, "built in" if each.built_in else "", each.changed_at[:10]] for each in lists)
    show_table(("list", "domains", "", "changed"), rows)


@list_.command("create")
@common
@click.argument("name")
def create(session: Session, name: str) -> None:
    """Create an empty list."""
    with session.connect() as client:
        created = client.create_list(name)
    if session.for_people:
        note(f"The list {created.name} is empty. Add domains: sgl list add {created.name} FILE")
    else:
        say_json(created)


@list_.command("add")
@common
@click.argument("name")
@_source
@_column
def add(session: Session, name: str, source: Path, column: str | None) -> None:
    """Add the domains of a file: a table (CSV) or a plain list."""
    with session.connect() as client:
        _report(session, client.add_to_list(name, _domains(source, column)))


@list_.command("remove")
@common
@click.argument("name")
@_source
@_column
def remove(session: Session, name: str, source: Path, column: str | None) -> None:
    """Remove the domains of a file from a list."""
    with session.connect() as client:
        _report(session, client.remove_from_list(name, _domains(source, column)))


@list_.command("delete")
@common
@click.argument("name")
def delete(session: Session, name: str) -> None:
    """Delete a list with its domains."""
    with session.connect() as client:
        client.delete_list(name)
    note(f"The list {name} is deleted.")


def _domains(source: Path, column: str | None) -> list[str]:
    file = read_domains(source, column)
    note(file.where)
    domains = [domain for domain in file.domains if domain]
    if not domains:
        raise click.UsageError(f"{source} has no domains.")
    return domains


def _report(session: Session, change: ListChange) -> None:
    if not session.for_people:
        say_json(change)
        return
    note(f"{change.name}: {counted(change.size, 'domain')}, {change.added:,} added, {change.removed:,} removed.")
    for each in change.invalid_domains:
        note(f"Left out: {each.domain!r}. {each.message}")
