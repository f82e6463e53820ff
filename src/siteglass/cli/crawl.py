"""Operator commands that fetch web sites: a list of domains in, leads of the index out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from siteglass.cli.ingest import update_leads
from siteglass.settings import load_settings

if TYPE_CHECKING:
    from siteglass.crawl.counts import Counts
    from siteglass.crawl.frontier import Frontier, FrontierStatus
    from siteglass.ingest.pipeline import RunResult

_Result = TypeVar("_Result")
Command = Callable[..., None]
_DOMAINS = click.argument("domains", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_WORK = click.option(
    "--work",
    default=Path("var/crawl"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for archives, and for intermediate files of the leads.",
)
_STORE = click.option("--store", default="", help="Facts store  [default: store in the work folder]")
_WORKERS = click.option(
    "--workers", default=os.cpu_count() or 1, show_default="one per core", type=click.IntRange(1, 1024)
)
_PROMOTE = click.option("--promote", is_flag=True, help="Make a new generation live if verification succeeds.")


@click.group()
def crawl() -> None:
    """Fetch web sites and make leads of them."""


def with_store(command: Command) -> Command:
    """The options that say where facts go."""
    return _WORK(_STORE(command))


def with_places(command: Command) -> Command:
    """The options that say where archives, facts and leads go."""
    return with_store(_WORKERS(_PROMOTE(command)))


@crawl.command("run")
@_DOMAINS
@with_places
@click.option("--leads/--no-leads", default=True, help="Make leads of the pages, or only write archives.")
def crawl_run(domains: Path, work: Path, store: str, workers: int, leads: bool, promote: bool) -> None:
    """Fetch the sites in a file of domains, one per line, and update their leads in the live generation.

    Everything else that is due is fetched, too. After an interruption, running the command again continues.
    Pages that are in the facts store are asked for changes only; with --no-leads, all pages are fetched whole.
    """
    archives = fetch(work, store, _read(domains), leads=leads)
    if leads:
        make_leads(archives, work, store, workers, promote=promote)
    else:
        for path in archives:
            click.echo(str(path))


def fetch(
    work: Path, store: str, domains: frozenset[str], *, leads: bool = True, per_day: int | None = None
) -> list[Path]:
    """Visit these domains and all others that are due; the archives that no lead was made of yet."""
    import uvloop

    from siteglass.crawl.archive import ArchiveFailed, finished_archives
    from siteglass.crawl.crawler import crawl as run_crawl
    from siteglass.crawl.frontier import NO_STORE
    from siteglass.ingest.store.identity import store_identity
    from siteglass.ingest.store.manifest import StoreError
    from siteglass.platform.metrics_server import serving_metrics
    from siteglass.platform.progress import progress

    settings, folder = load_settings(), work / "archives"
    count = len(domains) or with_frontier(lambda frontier: frontier.status()).due
    count = min(count, per_day or count)
    try:
        identity = store_identity(store or str(work / "store"), settings) if leads else NO_STORE
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    single = replace(settings, workers=1)  # fetching takes one process
    with serving_metrics(single, setting="crawl_metrics_port"), progress("Fetching", count) as advance_to:

        def on_progress(now: Counts) -> None:
            advance_to(now.domains, now.progress())

        try:
            counts = uvloop.run(run_crawl(settings, folder, domains, on_progress, identity, per_day))
        except ArchiveFailed as error:
            raise click.ClickException(str(error)) from None
    click.echo(counts.text(), err=True)
    return finished_archives(folder)


def make_leads(archives: list[Path], work: Path, store: str, workers: int, *, promote: bool) -> None:
    """Update the leads of the sites in these archives, and decide when each site is visited next."""
    from siteglass.crawl.refresh import changes_of

    if not archives:
        return

    def plan(result: RunResult) -> None:
        changed_at = changes_of(result)
        with_frontier(lambda frontier: frontier.plan(changed_at))

    update_leads(archives, work, store, workers, promote=promote, loaded=plan)
    done = work / "archives" / "ingested"
    done.mkdir(exist_ok=True)
    for path in archives:
        path.rename(done / path.name)


@crawl.command("add")
@_DOMAINS
@click.option("--source", default="", help="Name of the list that the domains are from, which the frontier keeps.")
@click.option("--licence", default="", help="Licence of that list.")
def crawl_add(domains: Path, source: str, licence: str) -> None:
    """Add the domains in a file, one per line, to those that are due. `crawl run` fetches them.

    Domains that are due already, are being fetched, or want to be left alone for longer, stay as they are.
    """
    if licence and not source:
        raise click.UsageError("--licence needs --source: it is the licence of that list.")
    names = _read(domains)
    listed = (source, licence) if source else None
    added = with_frontier(lambda frontier: frontier.add(names, datetime.now(UTC), listed))
    click.echo(f"{added} of {len(names)} domains are due now; the others were due already, or asked for a pause.")


@crawl.command("status")
def crawl_status() -> None:
    """Show how many domains are known, due, being fetched, and failing."""
    found = with_frontier(lambda frontier: frontier.status())
    click.echo(
        f"{found.domains} domains, {found.visited} of them visited.\n"
        f"{found.failing} had no home page at their last visit.\n"
        f"{found.due} are due now, {found.leased} are being fetched. The next of the others: {next_visit(found)}.\n"
        f"{found.sent_today} requests today."
    )


@crawl.command("forget")
@click.argument("domain")
def crawl_forget(domain: str) -> None:
    """Delete what the frontier knows of a domain, so that it is not fetched again unless it is added again.

    Its archives, facts and lead stay. To have a domain neither fetched nor shown, use `siteglass suppress add`.
    """
    from siteglass.corpus.domains import NotAHost, normalise, registrable

    try:
        name = registrable(normalise(domain))
    except NotAHost as error:
        raise click.UsageError(f"DOMAIN: {domain[:100]!r} {error}.") from None
    if not with_frontier(lambda frontier: frontier.forget(name)):
        raise click.ClickException(f"{name} is not in the frontier. `siteglass crawl add` adds domains.")
    click.echo(f"{name} is forgotten. A fetcher that is visiting it stops when it next renews its lease.")


def next_visit(found: FrontierStatus) -> str:
    """When the next domain that is not due yet will be."""
    return "none" if found.next_at is None else f"{found.next_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _read(path: Path) -> frozenset[str]:
    """The registrable domains in a file."""
    from siteglass.corpus.domain_files import read_domains
    from siteglass.corpus.domains import registrable

    return frozenset(map(registrable, read_domains(path, "DOMAINS")))


async def on_frontier(work: Callable[[Frontier], Awaitable[_Result]]) -> _Result:
    """Run a function with the frontier of the settings."""
    from siteglass.crawl.frontier import Frontier

    frontier = await Frontier.open(load_settings())
    try:
        return await work(frontier)
    finally:
        await frontier.close()


def with_frontier(work: Callable[[Frontier], Awaitable[_Result]]) -> _Result:
    """The same, for commands."""
    return asyncio.run(on_frontier(work))
