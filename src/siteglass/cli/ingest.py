"""Operator commands that make leads of web pages: archives in, leads of the index out."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from siteglass.cli.generations import KEEP, print_checks, read_checks, run_rebuild, with_checks
from siteglass.cli.index import print_load_report, print_rejects, run
from siteglass.settings import load_settings

if TYPE_CHECKING:
    from siteglass.index.golden import GoldenSet
    from siteglass.index.index import Index
    from siteglass.index.rebuild import RebuildReport
    from siteglass.index.updates import UpdateReport
    from siteglass.index.verification import Tolerances
    from siteglass.ingest.pipeline import RunOrder, RunResult
    from siteglass.ingest.suppression_snapshot import SuppressionSnapshot

_WORK = click.option(
    "--work",
    default=Path("var/ingest"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for intermediate files; keep it, so that no archive is read twice.",
)
_STORE = click.option(
    "--store",
    default="",
    help="Folder of the facts store, or an address such as s3://BUCKET/FOLDER  [default: store in the work folder]",
)
_WORKERS = click.option(
    "--workers", default=os.cpu_count() or 1, show_default="one per core", type=click.IntRange(1, 1024)
)
_LOAD = click.option("--load/--no-load", default=True, help="Load the leads, or only write their files.")


@click.group()
def ingest() -> None:
    """Turn web pages into leads."""


@ingest.command("run")
@click.argument("archives", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_WORK
@_STORE
@click.option("--driver", default="pool", show_default=True, type=click.Choice(["pool", "spark"]), help="Who extracts.")
@_WORKERS
@_LOAD
@click.option(
    "--replace",
    "replaces",
    is_flag=True,
    help="Build a new generation of these archives alone, and forget what the store has from others.",
)
@click.option("--promote", is_flag=True, help="Make a new generation live if verification succeeds.")
@KEEP
@with_checks
def ingest_run(
    archives: tuple[Path, ...],
    work: Path,
    store: str,
    driver: Literal["pool", "spark"],
    workers: int,
    load: bool,
    replaces: bool,
    promote: bool,
    keep: int,
    **checks: Any,
) -> None:
    """Add the pages in WARC files to the facts store, and update the leads of their domains in the live generation.

    The first run, and one with --replace, builds a new generation; promote it with --promote. Running the command again
    after an interruption continues where it stopped.
    """
    from siteglass.ingest.pipeline import RunOrder

    is_whole = replaces or (load and run(_live) is None)
    order = RunOrder(archives, work, driver, workers, read_suppressed(load), store=store, replaces=replaces)
    order = replace(order, is_whole=is_whole, settings=load_settings())
    _build(order, load, _Loading(promote, keep, *read_checks(checks)))


def update_leads(
    archives: Sequence[Path],
    work: Path,
    store: str,
    workers: int,
    *,
    promote: bool,
    loaded: Callable[[RunResult], None],
) -> None:
    """Put archives of the crawler into the facts store, and their leads into the index.

    `loaded` gets the result once they are there. Until it has returned, the next run loads them again.
    """
    from siteglass.index.verification import Tolerances
    from siteglass.ingest.pipeline import RunOrder

    is_whole = run(_live) is None
    order = RunOrder(archives, work, "pool", workers, read_suppressed(True), store=store, is_whole=is_whole)
    _build(replace(order, settings=load_settings()), True, _Loading(promote, 1, Tolerances(), None, loaded))


def update_leads_of(order: RunOrder, checks: dict[str, Any]) -> None:
    """Put the records of an order into the facts store, and update the leads of the live generation."""
    _build(order, True, _Loading(False, 1, *read_checks(checks)))


@ingest.command("rebuild")
@_WORK
@_STORE
@_WORKERS
@_LOAD
@click.option("--promote", is_flag=True, help="Make the new generation live if verification succeeds.")
@KEEP
@with_checks
def ingest_rebuild(work: Path, store: str, workers: int, load: bool, promote: bool, keep: int, **checks: Any) -> None:
    """Build a new generation of all domains in the facts store, without reading an archive."""
    from siteglass.ingest.pipeline import RunOrder

    order = RunOrder(
        (), work, "pool", workers, read_suppressed(load), store=store, is_whole=True, settings=load_settings()
    )
    _build(order, load, _Loading(promote, keep, *read_checks(checks)))


@ingest.command("compact")
@_WORK
@_STORE
def ingest_compact(work: Path, store: str) -> None:
    """Put the deltas of the facts store into its base, so that runs read fewer files. Leads stay the same."""
    from siteglass.ingest import pipeline

    try:
        deltas = pipeline.compact(pipeline.RunOrder((), work, store=store, settings=load_settings()))
    except pipeline.RunFailed as error:
        _fail("The compaction failed", error)
    click.echo(f"{deltas} deltas are in the base now.")


@ingest.command("purge")
@_WORK
@_STORE
@_WORKERS
@_LOAD
@with_checks
def ingest_purge(work: Path, store: str, workers: int, load: bool, **checks: Any) -> None:
    """Remove opted-out values from the facts store, facts of archives, old runs and the lead store.

    Updates the leads that change. Reads all facts; the archives themselves are not changed. Run it once for each work
    folder: imports, places, `crawl run` and `refresh run` use var/crawl by default.
    """
    from siteglass.ingest import pipeline

    suppressed = run(_listed)
    order = pipeline.RunOrder((), work, "pool", workers, suppressed, store=store, settings=load_settings())
    try:
        done = pipeline.purge_files(order)
    except pipeline.RunFailed as error:
        _fail("The purge failed", error)
    lead_files = run(lambda index: _purge_lead_store(index, suppressed))
    click.echo(
        f"Removed opted-out values of {done.domains} domains from the facts store, from {done.tasks} files of facts "
        f"and from {lead_files} files of the lead store. Deleted {done.runs} folders of runs and {done.rejects} lists "
        "of rejects."
    )
    if load and run(_live) is not None:
        _build(order, True, _Loading(False, 1, *read_checks(checks)))


def _build(order: RunOrder, load: bool, loading: _Loading) -> None:
    from siteglass.ingest import pipeline

    try:
        result = pipeline.build(order, loading if load else None)
    except pipeline.RunFailed as error:
        _fail("The run failed", error)
    if result is None:
        click.echo("There are no new facts: the leads are up to date.", err=True)
    elif not load:
        _print_report(result)
        click.echo(str(result.leads))


def _fail(what: str, error: Exception) -> NoReturn:
    click.echo(f"{what}: {error}", err=True)
    sys.exit(1)


def _print_report(result: RunResult) -> None:
    from siteglass.ingest.pipeline import REPORT
    from siteglass.ingest.report import report_text

    click.echo(report_text(result.report), err=True)
    click.echo(f"report: {result.folder / REPORT}", err=True)


class _Loading:
    """Gets the leads of a run into the index: all of the store as a new generation, others into the live one."""

    def __init__(
        self,
        promote: bool,
        keep: int,
        tolerances: Tolerances,
        golden: GoldenSet | None,
        loaded: Callable[[RunResult], None] = lambda _: None,
    ) -> None:
        self._promote, self._keep = promote, keep
        self._tolerances, self._golden = tolerances, golden
        self._loaded = loaded

    def __call__(self, result: RunResult) -> None:
        _print_report(result)
        if result.is_whole:
            run_rebuild(lambda index: self._rebuild(index, result), "The leads could not be loaded")
        else:
            self._update(result)
        self._loaded(result)

    async def _rebuild(self, index: Index, result: RunResult) -> RebuildReport:
        from siteglass.index import generations
        from siteglass.index import rebuild as rebuilding

        for one in await generations.status(index):
            if one.unfinished and one.source == str(result.leads):  # of a run that was killed while it loaded
                await generations.drop(index, one.name)
        shape = generations.Shape(replicas=None)
        plan = rebuilding.RebuildPlan(
            shape, True, self._promote, None, self._keep, False, self._tolerances, self._golden
        )
        return await rebuilding.rebuild(index, [result.leads], plan)

    def _update(self, result: RunResult) -> None:
        from siteglass.index.generations import GenerationError
        from siteglass.index.updates import update

        async def action(index: Index) -> UpdateReport:
            return await update(index, sorted(result.leads.glob("*.parquet")), result.gone(), self._tolerances)

        try:
            done = run(action)
        except GenerationError as error:
            _fail("The leads could not be loaded", error)
        print_checks(done.report)
        price = f"{done.loaded.deleted} deleted"
        print_load_report(done.loaded, read="leads read", older="older", price=price)
        print_rejects(done.files)
        if not done.report.ok or done.loaded.failed:
            click.echo("Not all leads were loaded. Run the command again: it loads them again.", err=True)
            sys.exit(1)


async def _purge_lead_store(index: Index, suppressed: SuppressionSnapshot) -> int:
    from siteglass.index.entry import only_writer
    from siteglass.ingest.purge_leads import purge_lead_store

    store = index.settings.lead_store
    if not store.is_dir():
        return 0
    async with only_writer(store):
        return await asyncio.to_thread(purge_lead_store, store, suppressed)


async def _live(index: Index) -> str | None:
    from siteglass.index import generations

    return await generations.live(index)


def read_suppressed(load: bool) -> SuppressionSnapshot | None:
    """The list of opt-outs. A run that only writes files does without a database: what is loaded is checked again."""
    from siteglass.errors import Unavailable

    if not load and not load_settings().suppression_secret:
        return None
    try:
        return run(_listed)
    except Unavailable as error:
        if load:
            raise
        click.echo(
            f"The list of opt-outs cannot be read ({error.reason}), so the files may contain opted-out values. These "
            "are left out when the leads are loaded.",
            err=True,
        )
        return None


async def _listed(index: Index) -> SuppressionSnapshot:
    from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
    from siteglass.suppression.entries import all_listed, require_secret
    from siteglass.suppression.values import Hasher

    await require_secret(index.postgres, Hasher(index.settings))
    listed = await all_listed(index.postgres)
    return SuppressionSnapshot(listed.domains, listed.hashes, index.settings.suppression_secret)
