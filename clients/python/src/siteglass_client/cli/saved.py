"""`sgl saved`: searches under a name, to be run and counted again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from siteglass_client.cli.options import Saving, Session, common, saving, search_options, select_option
from siteglass_client.cli.searching import run_search, shown_leads
from siteglass_client.cli.terminal import counted, note, say_json, show_table


@click.group()
def saved() -> None:
    """Searches under a name: save one, count it again, run it again."""


@saved.command("show")
@common
def show(session: Session) -> None:
    """Show your saved searches, and those that others of the account share. Free."""
    with session.connect() as client:
        searches = client.saved_searches()
    if not session.for_people:
        say_json(searches)
        return
    rows = (
        [each.name, _conditions(each.search), "shared" if each.shared else "", each.last_total, each.created_at[:10]]
        for each in searches
    )
    show_table(("search", "conditions", "", "leads at the last count", "saved"), rows)


@saved.command("create")
@common
@click.argument("name")
@search_options
@select_option
@click.option("--sort", metavar="ORDER", help="An order, such as domain.")
@click.option("--shared", is_flag=True, help="Show it to all keys of the account.")
def create(
    session: Session,
    name: str,
    query: str | None,
    filters: dict[str, Any],
    wrapped_query: str | None,
    require: Sequence[str],
    strict: bool,
    select: list[str] | None,
    sort: str | None,
    shared: bool,
) -> None:
    """Save a search under a name. Free."""
    with session.connect() as client:
        search = client.search(
            query,
            filters=filters,
            wrapped_query=wrapped_query,
            select=select,
            sort=sort,
            strict=strict,
            require=require,
        )
        stored = search.save(name, shared=shared)
    if session.for_people:
        note(f"Saved as {stored.name}. Run it: sgl saved run {stored.name}")
    else:
        say_json(stored)


@saved.command("count")
@common
@click.argument("name")
def count(session: Session, name: str) -> None:
    """Count the leads that match now, next to the last count. Free."""
    with session.connect() as client:
        counts = client.count_saved_search(name)
    if not session.for_people:
        say_json(counts)
        return
    before = ""
    if counts.last_total is not None:
        more = counts.total_results - counts.last_total
        before = f" ({more:+,} since {str(counts.last_counted_at)[:10]})"
    note(f"{counted(counts.total_results, 'lead')}{before}.")


@saved.command("run")
@common
@saving(".csv, .jsonl or .parquet")
@click.argument("name")
@click.option("--max-leads", type=click.IntRange(0), metavar="N", help="Take at most N leads.")
def run(session: Session, to: Saving, name: str, max_leads: int | None) -> None:
    """Run a saved search; a lead with an email address costs a credit. See: sgl search --help"""
    max_leads = shown_leads(session, to, max_leads)
    with session.connect() as client:
        walk = client.saved_search(
            name, max_leads=max_leads, max_lead_credits=to.max_lead_credits, resume=to.resume_path
        )
        run_search(session, to, walk, max_leads, None)


@saved.command("delete")
@common
@click.argument("name")
def delete(session: Session, name: str) -> None:
    """Delete a saved search. Free."""
    with session.connect() as client:
        client.delete_saved_search(name)
    note(f"The saved search {name} is deleted.")


def _conditions(search: dict[str, Any]) -> str:
    """The body of a search in a cell."""
    shown = (f"{name}={_value(value)}" for name, value in search.items() if name not in ("query", "select", "sort"))
    return ", ".join(filter(None, (search.get("query"), *shown)))


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
