"""Operator command: a table of companies into the index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from siteglass.cli.crawl import with_store
from siteglass.cli.generations import read_checks, run_rebuild, with_checks
from siteglass.cli.index import run
from siteglass.cli.ingest import read_suppressed, update_leads_of
from siteglass.settings import load_settings

if TYPE_CHECKING:
    from siteglass.corpus.rejects import Rejects
    from siteglass.index.index import Index
    from siteglass.ingest.imports.columns import ColumnMapping
    from siteglass.ingest.imports.leads import Preview, TableImport
    from siteglass.ingest.pipeline import RunOrder

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_MAX_REASONS = 20


@click.command("import")
@click.argument("source", type=_FILE)
@click.option("--mapping", type=_FILE, help="TOML or JSON file: column -> field, or ignore.")
@click.option("--licence", default="", help="Licence of the data; details and evidence show it.")
@with_store
@click.option("--dry-run", is_flag=True, help="Show what would be loaded, and load nothing. Needs no engines.")
@click.option(
    "--add/--replace",
    "adds",
    default=True,
    show_default=True,
    help="Add to the leads of the live generation, or make a new generation of this file alone live.",
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
    licence: str,
    work: Path,
    store: str,
    dry_run: bool,
    adds: bool,
    shards: int,
    replicas: int | None,
    **checks: Any,
) -> None:
    """Import a table of companies: CSV, XLSX, NDJSON or Parquet with any columns, one of them with domains.

    Its rows go into the facts store, by default that of `refresh run`: they fill what the websites leave open. With
    --replace the new generation is verified first, by the options of `rebuild`.
    """
    from siteglass.ingest.imports.leads import open_import, preview
    from siteglass.ingest.pipeline import RunOrder
    from siteglass.platform.backends import Clock
    from siteglass.platform.progress import progress

    with ExitStack() as reading:
        advance_to = reading.enter_context(progress("Reading", source.stat().st_size, unit="bytes"))
        table = reading.enter_context(open_import(source, mapping, Clock().now_ms(), advance_to, licence))
        if dry_run:
            result = preview(table)
        else:
            if adds:
                run(_require_live)  # before the store has the table
            order = RunOrder((), work, suppressed=read_suppressed(True), store=store, settings=load_settings())
            order = _stored(table, source, order, adds=adds)
    if dry_run:
        _print_preview(table.mapping, result)
        return
    _print_ignored(table.mapping)
    _print_rejects(table.rejects, source, work)
    if adds:
        update_leads_of(order, checks)
    else:
        _replace(order, shards, replicas, checks)


async def _require_live(index: Index) -> None:
    from siteglass.index import generations

    if await generations.live(index) is None:
        raise generations.GenerationError(
            "No generation is live. Make one of this table: siteglass index import --replace"
        )


def _stored(table: TableImport, source: Path, order: RunOrder, *, adds: bool) -> RunOrder:
    """A run that makes leads of the table, whose rows are in a file of records. If it `adds` to them, leads that were
    loaded from files are there, too: what they say must stay."""
    from siteglass.corpus.tables import TableError
    from siteglass.ingest.imports.loaded import loaded_leads
    from siteglass.ingest.sources import SourceRecord
    from siteglass.ingest.store.facts_store import open_store
    from siteglass.ingest.tasks import write_records

    domains: list[str] = []

    def read() -> Iterator[SourceRecord]:
        for record in table.records:
            domains.append(record.lead.domain)
            yield record
        if adds:
            with open_store(order.store_address, order.settings) as store:
                yield from loaded_leads(store, order.settings.lead_store, domains)

    path = write_records(order.work / "facts", read(), order.suppressed)
    if not domains:
        rejects = table.rejects
        raise TableError(f"{source}: none of its {rejects.count} {rejects.place}s is a lead. {rejects.first_reason()}")
    return replace(order, records=(path,))


def _replace(order: RunOrder, shards: int, replicas: int | None, checks: dict[str, Any]) -> None:
    """A new generation of the table alone. The facts store gets it, too: the next crawl of its sites needs it."""
    from siteglass.index import generations, rebuild
    from siteglass.ingest.pipeline import RunFailed, RunResult, add_records, alone, build
    from siteglass.ingest.store.manifest import StoreError

    tolerances, golden = read_checks(checks)
    plan = rebuild.RebuildPlan(generations.Shape(shards, replicas), promote=True, tolerances=tolerances, golden=golden)

    def load(result: RunResult) -> None:
        run_rebuild(lambda index: rebuild.rebuild(index, [result.leads], plan), "The import failed")

    runs = order.work / "runs"
    try:
        # Among the folders of runs, which a purge deletes: one that is left over after a crash has contacts, too.
        with alone(order.work):
            runs.mkdir(exist_ok=True)
            with TemporaryDirectory(dir=runs) as folder:
                records = (_records_of_leads(order, Path(folder)),)
                build(replace(order, work=Path(folder), store="", is_whole=True, records=records), load)
        add_records(order)
    except (RunFailed, StoreError) as error:
        raise click.ClickException(str(error)) from error


def _records_of_leads(order: RunOrder, folder: Path) -> Path:
    """The records of an order, without those of domains that are not leads: only pages say so, and the build of the
    table alone has none."""
    from siteglass.ingest.pipeline import RunFailed
    from siteglass.ingest.run_leads import refused_domains
    from siteglass.ingest.sources import record_of
    from siteglass.ingest.store.facts_store import open_store
    from siteglass.ingest.tasks import read_facts, write_records

    (path,) = order.records
    domains = {row.domain for row in read_facts(path)}
    with open_store(order.store_address, order.settings) as store:
        refused = refused_domains(store, domains)
    if refused:
        why = "are left out: their home page is parked, leads to another site or asks not to be listed."
        click.echo(f"{len(refused)} of {len(domains)} domains {why}", err=True)
    if refused == domains:
        raise RunFailed("No row of the table can be a lead.")
    kept = (one for row in read_facts(path) if row.domain not in refused and (one := record_of(row)))
    return write_records(folder / "facts", kept, None)


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


def _print_rejects(rejects: Rejects, source: Path, work: Path) -> None:
    """How many values and rows were left out, and where they are listed."""
    from siteglass.corpus.rejects import REJECTS_SUFFIX

    path = work / f"{source.stem}{REJECTS_SUFFIX}"
    rejects.write(path)
    if rejects.count:
        click.echo(f"{rejects.count} values or {rejects.place}s were rejected and left out; see {path}", err=True)


def _print_ignored(mapping: ColumnMapping) -> None:
    names = [mapping.columns[place] for place in mapping.ignored if mapping.columns[place]]
    if names:
        click.echo(f"Ignored columns: {', '.join(names)}. --dry-run shows why; --mapping FILE maps them.", err=True)
