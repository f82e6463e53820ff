"""`sgl enrich`: what is known of the domains of a file, joined to its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from siteglass_client.answers import Quote
from siteglass_client.calls import MAX_DOMAINS
from siteglass_client.cli.domain_files import DomainFile, read_domains
from siteglass_client.cli.jobs import enrich_as_job
from siteglass_client.cli.joining import FORMS, Joined
from siteglass_client.cli.options import Saving, Session, common, saving, select_option
from siteglass_client.cli.saving import (
    ask_before_spending,
    finished,
    form_of,
    make_room,
    resumable,
    stop_at_cap,
    tell_price,
)
from siteglass_client.cli.terminal import counted, note, progress_of, say_json, show_table
from siteglass_client.plans import COMPANY_COLUMNS
from siteglass_client.search import Enrichment


@click.command()
@common
@saving(".csv, .jsonl or .parquet")
@click.argument("source", type=click.Path(allow_dash=True, path_type=Path))
@click.option("--column", metavar="NAME", help="The column with domains, websites or email addresses.")
@select_option
@click.option("--job", "as_job", is_flag=True, help="As one job of the service: up to 100,000 domains, one API credit.")
def enrich(
    session: Session, to: Saving, source: Path, column: str | None, select: list[str] | None, as_job: bool
) -> None:
    """Enrich a file: add what is known about its domains.

    The file is a table (CSV) or a plain list. All rows and columns stay, in their order; what is known is added in
    columns that start with sg_. A batch of 100 domains costs an API credit, each domain found a lead credit. With
    --job, all of them cost one API credit; the job continues if you interrupt the command.
    """
    if to.output is not None:
        form_of(to.output, FORMS)
        if to.output.exists() and source.exists() and to.output.samefile(source):
            raise click.UsageError("-o must name a different file than the input.")
    file = read_domains(source, column)
    note(file.where)
    shown = list(COMPANY_COLUMNS) if select is None else [name for name in select if name != "domain"]
    # The domain under which something is known may be another than that of the row.
    fields = None if select is None else ["domain", *shown]
    with session.connect() as client:
        if as_job:
            enrich_as_job(session, to, client, file, fields, shown)
            return
        walk = client.enrich(
            [domain for domain in file.domains if domain],
            select=fields,
            max_lead_credits=to.max_lead_credits,
            resume=to.resume_path,
        )
        if to.dry_run:
            tell_price(session, walk.price(), f"of {len(walk):,} domains found")
            return
        # The dry run would take a request per batch.
        most = Quote(len(walk), -(-len(walk) // MAX_DOMAINS), len(walk), exact=False)
        ask_before_spending(session, to, len(walk), lambda: most)
        if to.output is not None:
            _write(session, to, walk, file, to.output, shown, client.account)
        else:
            with resumable(to, Path(), walk):
                _show(session, walk)
            stop_at_cap(to, walk.stopped)


def _write(
    session: Session,
    to: Saving,
    walk: Enrichment,
    file: DomainFile,
    output: Path,
    shown: list[str],
    check: Callable[[], object],
) -> None:
    """Items are gathered beside the output, which is there whole or not at all."""
    gathered = output.with_name(output.name + ".items.jsonl")
    make_room(to, gathered, check)
    with resumable(to, gathered, walk):
        with progress_of(walk, len(walk)) as bar:
            done = walk.to_jsonl(gathered, on_page=bar.step)
        Joined(file, gathered, shown).write(output)
    finished(session, to, replace(done, path=output, rows=len(file.rows)), gathered, "rows")


def _show(session: Session, walk: Enrichment) -> None:
    if not session.for_people:
        for item in walk:
            say_json(item)
        return
    columns = ("title", "country", "emails")
    rows = [[item.domain, item.status, *(item.get("data", {}).get(name) for name in columns)] for item in walk]
    show_table(("domain", "status", *columns), rows)
    note(f"{counted(walk.credits_used, 'lead credit')}, {counted(walk.api_credits_used, 'API credit')}.")
