"""Operator commands on single generations of the index: create, load, drop, status. The others: generations.py."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from siteglass.settings import load_settings

if TYPE_CHECKING:
    from siteglass.corpus.lead_store import StoredFile
    from siteglass.index.generations import Generation
    from siteglass.index.index import Index
    from siteglass.index.load import LoadReport

Result = TypeVar("Result")

REPLICAS = click.option(
    "--replicas",
    type=click.IntRange(0, 8),
    help="Copies of each shard [default: 1, or 0 where there is only one node].",
)


@click.group("index")
def index_commands() -> None:
    """Create, fill, verify, promote, roll back and drop index generations."""


def run(action: Callable[[Index], Awaitable[Result]]) -> Result:
    """Run an operation on the live index of the settings."""
    from siteglass.index.index import open_index
    from siteglass.platform.backends import open_backends

    async def inside() -> Result:
        async with open_backends(load_settings()) as backends:
            return await action(open_index(backends))

    return asyncio.run(inside())


@index_commands.command("create")
@click.option("--shards", default=1, show_default=True, type=click.IntRange(1, 1024))
@REPLICAS
@click.option("--codec", default="default", show_default=True, type=click.Choice(["default", "best_compression"]))
@click.option(
    "--refresh-interval", default="1s", show_default=True, help="How soon writes become visible; -1 while filling."
)
@click.option("--source", default="", help="Source of the leads, stored with the generation.")
def index_create(shards: int, replicas: int | None, codec: str, refresh_interval: str, source: str) -> None:
    """Create a new, empty generation that receives writes, and print its name."""
    from siteglass.index import generations

    shape = generations.Shape(shards, replicas, codec, refresh_interval)
    click.echo(run(lambda index: generations.create(index, shape, source)))


@index_commands.command("settings")
@click.option("--apply", "applies", is_flag=True, help="Set those that differ; they stay over restarts.")
def index_settings(applies: bool) -> None:
    """Compare the settings of the OpenSearch cluster with those that the service needs. Exits with 1 if some differ."""
    from siteglass.index import cluster_settings

    async def action(index: Index) -> list[cluster_settings.ClusterSetting]:
        if applies:
            await cluster_settings.apply(index)
        return await cluster_settings.compare(index)

    found = run(action)
    for one in found:
        mark, wanted = ("ok", "") if one.ok else ("DIFFERS", f", but {one.expected} is needed")
        click.echo(f"{mark:8}{one.name} = {one.found}{wanted}")
    if not all(one.ok for one in found):
        click.echo("Set them: siteglass index settings --apply", err=True)
        sys.exit(1)


@index_commands.command("test-leads")
def index_test_leads() -> None:
    """Create the index for test keys, a fixed set of made-up leads. Running it again replaces the index."""
    from siteglass.leads import sandbox

    count = run(lambda index: sandbox.build(index))
    click.echo(f"{count} leads for test keys.")


@index_commands.command("load")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def index_load(source: Path) -> None:
    """Write the leads of an NDJSON or Parquet file to all generations that receive writes."""
    from siteglass.index.entry import enter_store
    from siteglass.index.rebuild import LEAD_FILES

    if source.suffix not in LEAD_FILES:
        other = " `siteglass index import` reads other tables." if source.suffix in (".csv", ".xlsx") else ""
        raise click.BadParameter(f"{source}: lead files must be named {' or '.join(LEAD_FILES)}.{other}")

    async def action(index: Index) -> StoredFile:
        (stored,) = await enter_store(index, [source])
        return stored

    load_stored(run(action))


def load_stored(stored: StoredFile) -> None:
    """Write the leads of a file of the lead store to all generations that receive writes, and report."""
    from siteglass.corpus.lead_files import count_leads
    from siteglass.index import load as loading
    from siteglass.platform.progress import progress

    async def action(index: Index) -> LoadReport:
        with progress("Loading", count_leads(stored.path)) as advance_to:
            return await loading.load(index, stored.path, lambda so_far: advance_to(so_far.read))

    loaded = run(action)
    price = f"{loaded.document_bytes / max(loaded.read, 1):.0f} bytes sent per document"
    print_load_report(loaded, read="leads read", older="older", price=price)
    print_rejects([stored])
    if loaded.failed:
        sys.exit(1)


def print_load_report(loaded: LoadReport, *, read: str, older: str, price: str) -> None:
    """What became of leads, and what that took; `older` says which ones gave way to what was there."""
    click.echo(
        f"{loaded.read} {read}; {loaded.written} written, {loaded.older} {older} than what was there, "
        f"{loaded.suppressed} suppressed, {loaded.too_old} too old, {loaded.failed} failed; {price}"
    )
    for reason in loaded.reasons:
        click.echo(f"  {reason}", err=True)


def print_rejects(files: Sequence[StoredFile]) -> None:
    """How many values and lines were not loaded, and where they are listed."""
    rejected = [file for file in files if file.rejected]
    if rejected:
        count = sum(file.rejected for file in rejected)
        listed = rejected[0].rejects if len(rejected) == 1 else rejected[0].rejects.with_name("*.rejects.ndjson")
        click.echo(f"{count} values or lines were rejected and left out; see {listed}", err=True)


@index_commands.command("drop")
@click.argument("name")
def index_drop(name: str) -> None:
    """Delete a generation that is not live."""
    from siteglass.index import generations

    run(lambda index: generations.drop(index, name))
    click.echo(f"{name} was dropped")


@index_commands.command("status")
def index_status() -> None:
    """List the generations."""
    from siteglass.index import generations

    found = run(generations.status)
    if not found:
        click.echo("No generation yet. Make one: siteglass index create")
    for g in found:
        states = (
            ("unfinished", g.unfinished),
            ("previous", g.previous),
            ("live", g.live),
            ("writes", g.takes_writes),
        )
        marks = " ".join(mark for mark, there in states if there)
        size = (
            f"{g.documents} leads, {g.size_bytes / 1e6:.1f} MB, {g.size_bytes / max(g.documents, 1):.0f} bytes per lead"
        )
        click.echo(f"{g.name}  {g.health}  {size}  schema {g.schema_version}  {_promoted(g)}{marks}")


def _promoted(generation: Generation) -> str:
    if generation.promoted_at_ms is None:
        return ""
    at = datetime.fromtimestamp(generation.promoted_at_ms / 1000, UTC)
    forced = f" by force: {generation.forced}" if generation.forced else ""
    return f"promoted {at:%Y-%m-%d %H:%M:%S}{forced}  "
