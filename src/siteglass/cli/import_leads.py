"""Operator command: a table of companies into the index."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from siteglass.cli.generations import read_checks, run_rebuild, with_checks
from siteglass.cli.index import load_stored, run

if TYPE_CHECKING:
    from siteglass.corpus.lead_store import ImportedLeads, StoredFile
    from siteglass.index.index import Index
    from siteglass.ingest.imports.columns import ColumnMapping
    from siteglass.ingest.imports.leads import Preview

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_MAX_REASONS = 20


@click.command("import")
@click.argument("source", type=_FILE)
@click.option("--mapping", type=_FILE, help="TOML or JSON file: column -> field, or ignore.")
@click.option("--dry-run", is_flag=True, help="Show what would be loaded, and load nothing. Needs no engines.")
@click.option(
    "--add/--replace",
    "adds",
    default=True,
    show_default=True,
    help="Add to all generations that receive writes, or make a new generation of this file alone live.",
)
@click.option("--shards", default=1, show_default=True, type=click.IntRange(1, 1024), help="With --replace.")
@click.option(
    "--replicas",
    type=click.IntRange(0, 8),
    help="With --replace: copies of each shard [default: 1, or 0 where there is only one node].",
)
@with_checks
def index_import(
    source: Path,
    mapping: Path | None,
    dry_run: bool,
    adds: bool,
    shards: int,
    replicas: int | None,
    **checks: Any,
) -> None:
    """Import a table of companies: CSV, XLSX, NDJSON or Parquet with any columns, one of them with domains.

    With --replace the new generation is verified first, by the options of `rebuild`.
    """
    from siteglass.ingest.imports.leads import open_import, preview
    from siteglass.platform.backends import Clock
    from siteglass.platform.progress import progress

    with ExitStack() as reading:
        advance_to = reading.enter_context(progress("Reading", source.stat().st_size, unit="bytes"))
        table = reading.enter_context(open_import(source, mapping, Clock().now_ms(), advance_to))
        if dry_run:
            result = preview(table)
        else:
            stored = run(lambda index: _enter(index, source, table.imported, adds=adds))
    if dry_run:
        _print_preview(table.mapping, result)
        return
    _print_ignored(table.mapping)
    if adds:
        load_stored(stored)
    else:
        _replace(stored, shards, replicas, checks)


async def _enter(index: Index, source: Path, imported: ImportedLeads, *, adds: bool) -> StoredFile:
    from siteglass.corpus.lead_store import imported_file
    from siteglass.index import generations
    from siteglass.index.entry import enter_store

    if adds:
        await generations.require_writable(index)  # before the store has the file: each import makes a new one
    (stored,) = await enter_store(index, [imported_file(source, index.settings.lead_store, imported)])
    return stored


def _replace(stored: StoredFile, shards: int, replicas: int | None, checks: dict[str, Any]) -> None:
    from siteglass.index import generations, rebuild

    tolerances, golden = read_checks(checks)
    shape = generations.Shape(shards, replicas)
    plan = rebuild.RebuildPlan(shape, promote=True, tolerances=tolerances, golden=golden)
    run_rebuild(lambda index: rebuild.rebuild(index, [stored.path], plan), "The import failed")


def _print_preview(mapping: ColumnMapping, result: Preview) -> None:
    from siteglass.ingest.imports.leads import lead_as_json

    click.echo(f"Columns (the domain is read from {mapping.columns_of('domain')}):")
    for place, target in mapping.targets.items():
        click.echo(f"  {mapping.columns[place]} -> {target}")
    for place, why in mapping.ignored.items():
        click.echo(f"  {mapping.columns[place] or f'(column {place + 1})'} is ignored: {why}")
    click.echo("First leads:")
    for lead in result.first:
        click.echo(f"  {lead_as_json(lead)}")
    click.echo(f"{result.leads} leads would be loaded; {result.rejects.count} values or rows would be rejected:")
    for (field, reason), count in result.rejects.reasons.most_common(_MAX_REASONS):
        click.echo(f"  {count} x {field or 'row'}: {reason}")
    if (more := len(result.rejects.reasons) - _MAX_REASONS) > 0:
        click.echo(f"  and {more} other reasons")


def _print_ignored(mapping: ColumnMapping) -> None:
    names = [mapping.columns[place] for place in mapping.ignored if mapping.columns[place]]
    if names:
        click.echo(f"Ignored columns: {', '.join(names)}. --dry-run shows why; --mapping FILE maps them.", err=True)
