"""Operator commands that say which sites to fetch: places of a map in, domains of the frontier out."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from siteglass.cli.crawl import with_store
from siteglass.cli.ingest import read_suppressed
from siteglass.settings import Settings, load_settings

if TYPE_CHECKING:
    from siteglass.crawl.places import FoundPlaces
    from siteglass.ingest.sources import SourceRecord

_ASKED_AT_ONCE = 10_000
_NEVER = datetime.min.replace(tzinfo=UTC)
# Of docs/guides/how-do-i-fill-it.md: pages of a site, requests with robots.txt and sitemap, bytes of a page.
_PAGES, _REQUESTS, _PAGE_BYTES = 5, 7, 95_000
_ANSWER_S = 1.0
"""How long an answer takes, beside the pause after it."""


@click.group()
def fill() -> None:
    """Find out which sites to fetch."""


@fill.command("places")
@click.option("--country", "countries", required=True, multiple=True, help="Country, such as AUT; may be repeated.")
@click.option("--trade", "names", required=True, multiple=True, help="Trade, such as dentist; may be repeated.")
@click.option("--from", "address", required=True, help="File, folder or s3://… with places of Overture (GeoParquet).")
@click.option("--source", default="", help="Name that the frontier keeps with each domain  [default: overture YYYY-MM]")
@with_store
@click.option("--anonymous", is_flag=True, help="Ask S3 without a key, which public buckets allow.")
@click.option("--dry-run", is_flag=True, help="Show what would be added and what fetching it takes; add nothing.")
def fill_places(
    countries: tuple[str, ...],
    names: tuple[str, ...],
    address: str,
    source: str,
    work: Path,
    store: str,
    anonymous: bool,
    dry_run: bool,
) -> None:
    """Add the websites of places to the frontier, from which `crawl run` and `refresh run` fetch.

    Domains that the frontier knows keep their time of the next visit. Name, phones, address and trade of each place go
    into the facts store: they fill what the website leaves open.
    """
    from siteglass.crawl.places import find_places, source_of
    from siteglass.platform.progress import working
    from siteglass.query.vocabulary import vocabulary

    settings = load_settings()
    codes = {vocabulary().country_alpha2(_resolved("country", text)) or "" for text in countries}
    wanted = {_resolved("trade", text) for text in names}
    found = find_places(address, settings, countries=codes, wanted=wanted, anonymous=anonymous)
    left_out = "".join(f"\n  {count:,}: {reason}" for reason, count in found.left_out.most_common())
    click.echo(f"{found.places:,} places. Left out:{left_out or ' none'}")
    with working("Asking the opt-out list" if dry_run else "Adding domains"):
        refused = asyncio.run(_take_out(found, settings))
        if not dry_run:
            # The facts first: domains without them would be fetched, and be leads that lack them.
            _add_facts(found, address, work, store, settings)
            new = asyncio.run(_add(found, settings, source or source_of(address)))
    click.echo(f"{refused:,} domains opted out or are excluded.")
    click.echo(_cost(len(found.licences), settings))
    if not dry_run:
        click.echo(f"{new:,} of them are new in the frontier: siteglass refresh run")


def _resolved(kind: Literal["country", "trade"], text: str) -> str:
    from siteglass.query.vocabulary import vocabulary

    values = vocabulary().resolve(kind, text)
    if len(values) != 1:
        near = ", ".join(values or vocabulary().nearest_several(kind, text, 3))
        raise click.UsageError(
            f"--{kind}: {text[:100]!r} is not one {kind}. {f'Did you mean: {near}? ' if near else ''}"
            "docs/reference/values.md lists them."
        )
    return values[0]


async def _take_out(found: FoundPlaces, settings: Settings) -> int:
    """Take out the domains that must not be fetched; how many those are."""
    from siteglass.crawl.refusals import Refusals
    from siteglass.platform.backends import open_backends

    async with open_backends(settings) as backends:
        refusals = Refusals(settings, backends.postgres)
        every, count = list(found.licences), 0
        for start in range(0, len(every), _ASKED_AT_ONCE):
            for domain in await refusals.among(every[start : start + _ASKED_AT_ONCE]):
                del found.licences[domain]
                count += 1
    return count


def _add_facts(found: FoundPlaces, address: str, work: Path, store: str, settings: Settings) -> None:
    from siteglass.crawl.places import records_of
    from siteglass.ingest.imports.loaded import loaded_leads
    from siteglass.ingest.pipeline import RunFailed, RunOrder, add_records
    from siteglass.ingest.store.facts_store import open_store
    from siteglass.ingest.store.manifest import StoreError
    from siteglass.ingest.tasks import write_records
    from siteglass.platform.backends import Clock

    order = RunOrder((), work, store=store, settings=settings)

    def read() -> Iterator[SourceRecord]:
        yield from records_of(found, address, Clock().now_ms())
        # The next run merges these domains: leads whose pages are not in the store would become bare places.
        with open_store(order.store_address, settings) as facts:
            yield from loaded_leads(facts, settings.lead_store, found.licences)

    try:
        path = write_records(work / "facts", read(), read_suppressed(True))
        add_records(replace(order, records=(path,)))
    except (RunFailed, StoreError) as error:
        raise click.ClickException(str(error)) from error


async def _add(found: FoundPlaces, settings: Settings, source: str) -> int:
    """Add the domains to the frontier; how many are new there."""
    from siteglass.crawl.frontier import Frontier

    listed: dict[str, list[str]] = defaultdict(list)
    for domain, licence in found.licences.items():
        listed[licence].append(domain)
    frontier = await Frontier.open(settings)
    try:
        new = [await frontier.add(domains, _NEVER, (source, licence)) for licence, domains in listed.items()]
        return sum(new)
    finally:
        await frontier.close()


def _cost(domains: int, settings: Settings) -> str:
    """What fetching them takes, with one crawler whose requests are as far apart as the settings say."""
    visit_s = _REQUESTS * (settings.crawl_domain_delay_ms / 1000 + _ANSWER_S)
    hours = ceil(domains / settings.crawl_domains_at_once) * visit_s / 3600
    pages = domains * _PAGES
    return (
        f"{domains:,} domains, some {pages:,} pages: {hours:,.1f} hours of fetching, "
        f"{pages * _PAGE_BYTES / 1e9:,.1f} GB of pages as sent."
    )
