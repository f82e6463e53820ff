"""`sgl search`, `sgl count`, `sgl interpret`, `sgl facets` and `sgl diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from siteglass_client.cli.failures import DOUBTFUL, Failure
from siteglass_client.cli.options import Saving, Session, common, read_select, saving, search_options, select_option
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
from siteglass_client.messages import Diagnosis, Facets, Note, Reading, Relaxation
from siteglass_client.plans import rows_path
from siteglass_client.search import Search

FORMS = ("csv", "jsonl", "parquet")
SHOWN_LEADS = 20
SHOWN_COLUMNS = ("domain", "business_name", "country", "city", "score", "emails")


@click.command()
@common
@saving(".csv, .jsonl or .parquet")
@search_options
@select_option
@click.option("--sort", metavar="ORDER", help="An order, such as domain.")
@click.option("--max-leads", type=click.IntRange(0), metavar="N", help="Take at most N leads.")
def search(
    session: Session,
    to: Saving,
    query: str | None,
    filters: dict[str, Any],
    wrapped_query: str | None,
    require: Sequence[str],
    strict: bool,
    select: list[str] | None,
    sort: str | None,
    max_leads: int | None,
) -> None:
    """Find leads; a lead with an email address costs a credit.

    With -o all leads go to a file, and an interrupted run goes on when it is repeated. Without it the first ones are
    shown on a terminal; in a pipe come all as JSON lines.
    """
    max_leads = shown_leads(session, to, max_leads)
    with session.connect() as client:
        walk = client.search(
            query,
            filters=filters,
            wrapped_query=wrapped_query,
            select=select,
            sort=sort,
            strict=strict,
            require=require,
            max_leads=max_leads,
            max_lead_credits=to.max_lead_credits,
            resume=to.resume_path,
        )
        run_search(session, to, walk, max_leads, select, strict=strict)


def shown_leads(session: Session, to: Saving, max_leads: int | None) -> int | None:
    """How many leads to take: without a limit and without a file, a terminal shows the first ones."""
    if to.output is not None:
        form_of(to.output, FORMS)  # a wrong name is refused before anything is sent
    elif session.for_people and max_leads is None and not to.dry_run:
        return SHOWN_LEADS
    return max_leads


def run_search(
    session: Session,
    to: Saving,
    walk: Search,
    max_leads: int | None,
    select: Sequence[str] | None,
    *,
    strict: bool = False,
) -> None:
    """Show the leads of a search, write them to a file, or only show their price; before that, how it was read."""
    reading = walk.interpret(strict=False)
    note(reading.summary)
    if to.dry_run:
        tell_price(session, walk.price(), "leads match", reading)
        return
    if strict and reading.summary != reading.read_back:
        raise Failure("Stopped by --strict before anything was spent. Change the words, or omit --strict.", DOUBTFUL)
    ask_before_spending(session, to, max_leads, walk.price, _doubt(reading))
    if to.output is not None:
        _write(session, to, walk, to.output, max_leads, reading)
        return
    with resumable(to, Path(), walk):
        _show(session, walk, list(select or SHOWN_COLUMNS))
    stop_at_cap(to, walk.stopped)


def _doubt(reading: Reading) -> str:
    """Why somebody should look at the reading first; empty if there is no reason."""
    return "This may not be what you meant: see what was not used above." if reading.needs_review else ""


def _write(session: Session, to: Saving, walk: Search, output: Path, max_leads: int | None, reading: Reading) -> None:
    form = form_of(output, FORMS)
    rows = rows_path(output) if form == "parquet" else output
    make_room(to, rows, walk.count)
    with resumable(to, rows, walk), progress_of(walk, max_leads) as bar:
        if form == "csv":
            done = walk.to_csv(output, on_page=bar.step)
        elif form == "jsonl":
            done = walk.to_jsonl(output, on_page=bar.step)
        else:
            done = walk.to_parquet(output, on_page=bar.step)
    finished(session, to, done, rows, "leads", reading)
    _explain_nothing(walk)


def _show(session: Session, walk: Search, columns: list[str]) -> None:
    if not session.for_people:
        for lead in walk:
            say_json(lead)
        _explain_nothing(walk)
        return
    leads = list(walk)
    if _explain_nothing(walk):
        return
    show_table(columns, ([lead.get(name) for name in columns] for lead in leads))
    price = counted(walk.credits_used, "lead credit")
    note(f"{len(leads):,} of {walk.total_results or 0:,} leads, {price}. All: -o leads.csv")


def _explain_nothing(walk: Search) -> bool:
    """Say what to do next if no lead matches; returns whether that is so."""
    if walk.total_results != 0:
        return False
    hint = f" {walk.hint}." if walk.hint else ""
    note(f"No leads match.{hint} Run `sgl diagnose` with the same search to see why.")
    return True


@click.command()
@common
@search_options
def count(
    session: Session,
    query: str | None,
    filters: dict[str, Any],
    wrapped_query: str | None,
    require: Sequence[str],
    strict: bool,
) -> None:
    """Count the leads that match. Free."""
    with session.connect() as client:
        search = client.search(query, filters=filters, wrapped_query=wrapped_query, strict=strict, require=require)
        click.echo(search.count())


@click.command()
@common
@search_options
def interpret(
    session: Session,
    query: str | None,
    filters: dict[str, Any],
    wrapped_query: str | None,
    require: Sequence[str],
    strict: bool,
) -> None:
    """Show how a search is interpreted, and how many leads match. Free."""
    with session.connect() as client:
        search = client.search(query, filters=filters, wrapped_query=wrapped_query, strict=strict, require=require)
        reading = search.interpret()
    if session.for_people:
        _show_reading(reading)
    else:
        say_json(reading)


def _show_reading(reading: Reading) -> None:
    click.echo(reading.summary)
    rows = [[each.directive, [words.text for words in each.words], each.rule] for each in reading.conditions]
    show_table(("directive", "words", "rule"), rows)
    for correction in reading.corrections:
        note(f"“{correction.text}”: read as {correction.to}.")
    for assumption in reading.assumptions:
        note(f"{_words(assumption)}: {assumption.message}")
    for unused in reading.unsupported:
        note(f"Not used: {_words(unused)}: {unused.message}")
    for on_conditions in reading.notes:
        note(on_conditions.message)
    if reading.ignored:
        note(f"Ignored: {', '.join(words.text for words in reading.ignored)}.")
    note(f"{reading.total_results:,} leads match.")


def _words(told: Note) -> str:
    return f"“{' … '.join(words.text for words in told.words)}”"


@click.command()
@common
@search_options
@click.option(
    "--facets",
    "names",
    multiple=True,
    metavar="NAMES",
    callback=read_select,
    help="Fields to count by, comma-separated, such as country,technologies; all if left out.",
)
@click.option("--size", type=click.IntRange(1), metavar="N", help="At most N values per field.")
def facets(
    session: Session,
    query: str | None,
    filters: dict[str, Any],
    wrapped_query: str | None,
    strict: bool,
    require: Sequence[str],
    names: list[str] | None,
    size: int | None,
) -> None:
    """Count the leads of a search by country, technology and so on, and price all of them. Free."""
    with session.connect() as client:
        walk = client.search(query, filters=filters, wrapped_query=wrapped_query, strict=strict, require=require)
        counts = walk.facets(names, size=size)
    if session.for_people:
        _show_facets(counts)
    else:
        say_json(counts)


def _show_facets(counts: Facets) -> None:
    rows = [
        [facet.facet, value.name, f"{'~' if facet.estimated else ''}{value.count:,}", value.get("lift")]
        for facet in counts.facets
        for value in facet.counts
    ]
    show_table(("field", "value", "leads", "times as frequent as usual"), rows)
    price = counted(counts.price.with_email, "lead credit")
    note(f"{counts.total_results:,} leads match. All of them cost {price}.")
    if paid := counts.price.get("already_paid"):
        note(f"You already paid for {counted(paid, 'lead')} of them: --exclude-list paid leaves them out.")


@click.command()
@common
@search_options
def diagnose(
    session: Session,
    query: str | None,
    filters: dict[str, Any],
    wrapped_query: str | None,
    strict: bool,
    require: Sequence[str],
) -> None:
    """Show why a search finds few leads or none, and which changes give results. Free."""
    with session.connect() as client:
        walk = client.search(query, filters=filters, wrapped_query=wrapped_query, strict=strict, require=require)
        diagnosis = walk.diagnose()
    if session.for_people:
        _show_diagnosis(diagnosis)
    else:
        say_json(diagnosis)


def _show_diagnosis(diagnosis: Diagnosis) -> None:
    rows = [[each.directive, each.matches, each.removes] for each in diagnosis.conditions]
    show_table(("condition", "leads that meet it", "leads that only it removes"), rows)
    for each in diagnosis.notes:
        note(each.message)
    for change in diagnosis.relaxations:
        note(f"{counted(change.total_results, 'lead')} {_change(change)}.")
    note(f"{diagnosis.total_results or 0:,} leads match now.")


def _change(change: Relaxation) -> str:
    """A change in words."""
    without = f"without {', '.join(change.drop)}" if change.drop else ""
    by = f"with {', '.join(each.by for each in change.replace)}" if change.replace else ""
    return " and ".join(filter(None, (by, without)))
