"""Operator commands that make leads of web pages: archives in, a generation out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from siteglass.cli.generations import read_checks, run_rebuild, with_checks
from siteglass.cli.index import run

if TYPE_CHECKING:
    from siteglass.index.index import Index
    from siteglass.index.rebuild import RebuildReport
    from siteglass.ingest.suppression_snapshot import SuppressionSnapshot


@click.group()
def ingest() -> None:
    """Turn web pages into leads."""


@ingest.command("run")
@click.argument("archives", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--work",
    default=Path("var/ingest"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for intermediate files; keep it, so that no archive is read twice.",
)
@click.option("--driver", default="pool", show_default=True, type=click.Choice(["pool", "spark"]), help="Who extracts.")
@click.option("--workers", default=os.cpu_count() or 1, show_default="one per core", type=click.IntRange(1, 1024))
@click.option("--load/--no-load", default=True, help="Build a generation from the leads, or only write their files.")
@click.option("--promote", is_flag=True, help="Make the generation live if verification succeeds.")
@click.option("--keep", default=1, show_default=True, type=click.IntRange(0, 100), help="Older generations to keep.")
@with_checks
def ingest_run(
    archives: tuple[Path, ...],
    work: Path,
    driver: Literal["pool", "spark"],
    workers: int,
    load: bool,
    promote: bool,
    keep: int,
    **checks: Any,
) -> None:
    """Turn the pages in WARC files into leads: extract, merge, load a new generation, verify and promote it.

    Running it again after an interruption continues where it stopped.
    """
    from siteglass.ingest import pipeline
    from siteglass.ingest.report import spelled

    tolerances, golden = read_checks(checks)
    suppressed = run(_suppressed)
    try:
        built = pipeline.build(pipeline.RunOrder(archives, work, driver, workers, suppressed))
    except pipeline.RunFailed as error:
        click.echo(f"The run failed: {error}", err=True)
        sys.exit(1)
    click.echo(spelled(built.report), err=True)
    click.echo(f"report: {built.folder / pipeline.REPORT}", err=True)
    if not load:
        click.echo(str(built.leads))
        return

    async def action(index: Index) -> RebuildReport:
        from siteglass.index import generations
        from siteglass.index import rebuild as rebuilding

        for one in await generations.status(index):
            if one.unfinished and one.source == str(built.leads):  # of a run that was killed while it loaded
                await generations.drop(index, one.name)
        shape = generations.Shape(replicas=None)
        plan = rebuilding.RebuildPlan(shape, True, promote, None, keep, False, tolerances, golden)
        return await rebuilding.rebuild(index, [built.leads], plan)

    run_rebuild(action, "The leads could not be loaded")


async def _suppressed(index: Index) -> SuppressionSnapshot:
    from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
    from siteglass.suppression.entries import all_listed, require_secret
    from siteglass.suppression.values import Hasher

    await require_secret(index.postgres, Hasher(index.settings))
    listed = await all_listed(index.postgres)
    return SuppressionSnapshot(listed.domains, listed.hashes, index.settings.suppression_secret)
