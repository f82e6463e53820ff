"""Operator commands that fetch web sites: a list of domains in, leads of the index out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from siteglass.cli.ingest import ingest_run
from siteglass.settings import load_settings


@click.group()
def crawl() -> None:
    """Fetch web sites and make leads of them."""


@crawl.command("run")
@click.argument("domains", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--work",
    default=Path("var/crawl"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for archives, and for intermediate files of the leads.",
)
@click.option("--store", default="", help="Facts store  [default: store in the work folder]")
@click.option("--workers", default=os.cpu_count() or 1, show_default="one per core", type=click.IntRange(1, 1024))
@click.option("--leads/--no-leads", default=True, help="Make leads of the pages, or only write archives.")
@click.option("--promote", is_flag=True, help="Make a new generation live if verification succeeds.")
@click.pass_context
def crawl_run(
    context: click.Context, domains: Path, work: Path, store: str, workers: int, leads: bool, promote: bool
) -> None:
    """Fetch the sites in a file of domains, one per line, and update their leads in the live generation.

    Everything else that is due is fetched, too. After an interruption, running the command again continues.
    """
    import uvloop

    from siteglass.corpus.domains import registrable
    from siteglass.crawl.archive import finished_archives
    from siteglass.crawl.crawler import crawl as run_crawl
    from siteglass.crawl.refusals import read_domains
    from siteglass.platform.progress import progress

    settings, folder = load_settings(), work / "archives"
    names = frozenset(map(registrable, read_domains(domains, "DOMAINS")))
    with progress("Fetching", len(names)) as advance_to:
        counts = uvloop.run(run_crawl(settings, folder, names, lambda so_far: advance_to(so_far.domains)))
    click.echo(counts.text(), err=True)
    archives = finished_archives(folder)
    if not leads or not archives:
        for path in archives:
            click.echo(str(path))
        return
    context.invoke(ingest_run, archives=tuple(archives), work=work, store=store, workers=workers, promote=promote)
    done = folder / "ingested"
    done.mkdir(exist_ok=True)
    for path in archives:
        path.rename(done / path.name)
