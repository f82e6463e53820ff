"""`sgl watch`: saved searches that run again and report what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from siteglass_client.cli.options import Session, common
from siteglass_client.cli.terminal import counted, note, say_json, show_table
from siteglass_client.messages import Watch

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TERMS = (
    click.option("--every", type=click.Choice(("day", "week")), help="How often it runs."),
    click.option("--weekday", type=click.Choice(_DAYS), help="The day of a weekly watch."),
    click.option("--hour", type=click.IntRange(0, 23), metavar="N", help="The hour at which it runs, 0 to 23."),
    click.option("--time-zone", metavar="ZONE", help="The time zone of the hour, such as Europe/Berlin."),
    click.option("--mail-to", metavar="ADDRESS", multiple=True, help="A person to email the new leads to; repeatable."),
)


def _terms(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_TERMS):
        command = option(command)
    return command


@click.group()
def watch() -> None:
    """Saved searches that run every day or week and report new leads. Free."""


@watch.command("show")
@common
def show(session: Session) -> None:
    """Show the watches on searches that your key sees."""
    with session.connect() as client:
        watches = client.watches()
    if not session.for_people:
        say_json(watches)
        return
    rows = ([each.search, _when(each), str(each.last_run_at or "")[:16], ", ".join(each.mail_to)] for each in watches)
    show_table(("search", "runs", "last run", "mails to"), rows)


@watch.command("create")
@common
@click.argument("search")
@_terms
def create(session: Session, search: str, mail_to: Sequence[str], **terms: Any) -> None:
    """Watch a saved search. The first run, a few seconds later, only notes what matches now."""
    with session.connect() as client:
        created = client.create_watch(search, mail_to=mail_to or None, **terms)
    _report(session, created)


@watch.command("change")
@common
@click.argument("name")
@_terms
@click.option("--no-mail", is_flag=True, help="Mail nobody.")
@click.option("--pause/--resume", "paused", default=None, help="Stop running it, or run it again.")
def change(session: Session, name: str, mail_to: Sequence[str], no_mail: bool, **terms: Any) -> None:
    """Change what is given, and keep the rest."""
    with session.connect() as client:
        changed = client.change_watch(name, mail_to=[] if no_mail else mail_to or None, **terms)
    _report(session, changed)


@watch.command("runs")
@common
@click.argument("name")
def runs(session: Session, name: str) -> None:
    """Show the runs of the last 30 days, the newest first."""
    with session.connect() as client:
        found = client.watch_runs(name)
    if not session.for_people:
        say_json(found)
        return
    rows = ([each.run, each.ran_at[:16], each.outcome, each.matches, each.new_leads, each.list] for each in found)
    show_table(("run", "at", "outcome", "matches", "new leads", "list"), rows)


@watch.command("leads")
@common
@click.argument("name")
@click.argument("run", type=int)
def leads(session: Session, name: str, run: int) -> None:
    """Show the first new leads of a run, without contacts. To get them: sgl search --only-list LIST"""
    with session.connect() as client:
        found = client.watch_run(name, run)
    if not session.for_people:
        say_json(found)
        return
    rows = (
        [each.business_name or each.domain, each.domain, each.kind, each.place, each.contacts] for each in found.leads
    )
    show_table(("lead", "domain", "what", "where", "contacts"), rows)
    if found.more:
        note(f"{counted(found.more, 'more lead')} not shown here.")


@watch.command("delete")
@common
@click.argument("name")
def delete(session: Session, name: str) -> None:
    """Delete a watch with its runs. The saved search stays."""
    with session.connect() as client:
        client.delete_watch(name)
    note(f"The watch on {name} is deleted.")


def _report(session: Session, watch: Watch) -> None:
    if session.for_people:
        note(f"{watch.search} runs {_when(watch)}. See what is new: sgl watch runs {watch.search}")
    else:
        say_json(watch)


def _when(watch: Watch) -> str:
    if watch.paused:
        return "never: it is paused"
    day = f"every {watch.weekday}" if watch.weekday else "every day"
    return f"{day} at {watch.hour}:00 ({watch.time_zone})"
