"""Operator commands that keep leads fresh: due sites are fetched again, within a budget for each day."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from siteglass.cli.crawl import fetch, make_leads, next_visit, with_frontier, with_places
from siteglass.cli.index import run
from siteglass.settings import Settings, load_settings, variable


@click.group()
def refresh() -> None:
    """Keep leads fresh."""


@refresh.command("run")
@with_places
def refresh_run(work: Path, store: str, workers: int, promote: bool) -> None:
    """Fetch the sites that are due, the longest due first, and update their leads in the live generation.

    Ends when none is due, or when the domains of the day are used up. One runs at a time, on all machines. After an
    interruption, running it again continues. Then each site is due after half as many days if its lead changed, and
    after half as many days more if not: 7 to 180.
    """
    settings = load_settings()
    with _alone(settings):
        archives = fetch(work, store, frozenset(), per_day=settings.refresh_domains_per_day or None)
        make_leads(archives, work, store, workers, promote=promote)


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Holds the lease in a thread: the steps have event loops that come and go."""
    from siteglass.crawl.refresh import AlreadyRunning, alone

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    lease = alone(settings)
    try:
        asyncio.run_coroutine_threadsafe(lease.__aenter__(), loop).result()
        with ExitStack() as leaving:
            leaving.push(lambda *raised: asyncio.run_coroutine_threadsafe(lease.__aexit__(*raised), loop).result())
            yield
    except AlreadyRunning as error:
        raise click.ClickException(str(error)) from None
    finally:
        loop.call_soon_threadsafe(loop.stop)


@refresh.command("status")
def refresh_status() -> None:
    """Show how old leads are, how many sites are due, and what was fetched today."""
    from siteglass.crawl.refresh import ages

    most = load_settings().refresh_domains_per_day
    found, days = with_frontier(lambda frontier: frontier.status()), run(ages)
    shown = ", ".join(f"{percent} % at most {age:.1f} days" for percent, age in days.items())
    left = f"{max(0, most - found.visited_today):,} of {most:,} domains are left" if most else "there is no limit"
    click.echo(
        f"Age of leads: {shown or 'there are none'}.\n"
        f"{found.due:,} domains are due, {found.new:,} of them were never visited. "
        f"The next of the others: {next_visit(found)}.\n"
        f"Today: {found.visited_today:,} domains and {found.sent_today:,} requests; {left} "
        f"({variable('refresh_domains_per_day')})."
    )
