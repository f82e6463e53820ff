"""Operator commands on suppression: add, import, replay, check, list. No address is ever printed or kept."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from siteglass.cli.accounts import actor
from siteglass.cli.index import run
from siteglass.settings import SettingsError, load_settings, variable

if TYPE_CHECKING:
    from siteglass.index.index import Index
    from siteglass.privacy.opt_out import Outcome
    from siteglass.suppression.entries import Entry
    from siteglass.suppression.values import Value

MAX_LINE_CHARS = 4_096
MOST_TOLD = 5

_reason = click.option("--reason", required=True, help="The reason, for the audit log. Must not contain contact data.")


@click.group()
def suppress() -> None:
    """Manage opt-outs: domains, addresses and phones that are never shown or charged."""


@suppress.command("add")
@click.argument("values", metavar="VALUE...", nargs=-1, required=True)
@_reason
def suppress_add(values: tuple[str, ...], reason: str) -> None:
    """Suppress domains, addresses or phones: add them to the opt-out list and remove them from every generation.

    A hash is written as email:sha256:HEX or phone:sha256:HEX.
    """
    _tell(_suppress(_read_all(values), reason))


def _read_all(texts: tuple[str, ...]) -> list[Value]:
    from siteglass.suppression.values import NotAValue, read_value

    try:
        return [read_value(text) for text in texts]
    except NotAValue as error:
        raise click.BadParameter(str(error)) from None


@suppress.command("import")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_reason
def suppress_import(source: Path, reason: str) -> None:
    """Suppress the values in a file: one per line, or CSV with the value in the first column and an optional header.

    What cannot be read is told by line and stops nothing; run again, it does no harm.
    """
    read: list[Value] = []
    wrong: list[int] = []
    for number, value in _read_values(source):
        if value is None:
            wrong.append(number)
        else:
            read.append(value)
    if read:
        _tell(_suppress(read, reason))
    if wrong:
        shown = ", ".join(map(str, wrong[:MOST_TOLD])) + (", …" if len(wrong) > MOST_TOLD else "")
        click.echo(f"{len(wrong)} lines are not a domain, address, phone or hash: {shown}", err=True)
    if wrong or not read:
        sys.exit(1)


def _read_values(source: Path) -> Iterator[tuple[int, Value | None]]:
    """The values of a file with the numbers of their lines; None for one that cannot be read."""
    from siteglass.suppression.values import NotAValue, read_value

    with source.open(encoding="utf-8-sig", errors="replace") as lines:
        number = 0
        while line := lines.readline(MAX_LINE_CHARS):
            number += 1
            while not line.endswith("\n") and (rest := lines.readline(MAX_LINE_CHARS)):
                line = line[:MAX_LINE_CHARS] + rest[-1:]  # anything longer than the longest value is not a value
            text = _first_column(line)
            if not text or text.startswith("#"):
                continue
            try:
                yield number, read_value(text)
            except NotAValue:
                if number > 1 or not text.replace("_", "").isalpha():  # the first may be the name of the column
                    yield number, None


def _first_column(line: str) -> str:
    """Each line by itself: a quotation mark that is never closed must not swallow those that follow."""
    try:
        row = next(csv.reader([line]), [""])
    except csv.Error:
        return line.strip()
    return row[0].strip() if row else ""


def _suppress(values: list[Value], reason: str) -> Outcome:
    from siteglass.platform.progress import progress
    from siteglass.privacy import opt_out

    with progress("Suppressing", len(values)) as advance_to:
        return run(
            lambda index: opt_out.suppress(
                index,
                values,
                reason=reason,
                actor=actor(),
                patience_s=opt_out.PATIENCE_S,
                on_progress=lambda told: advance_to(told.given),
            )
        )


def _tell(outcome: Outcome) -> None:
    click.echo(
        f"{outcome.given} values, {outcome.added} of them new; {len(outcome.domains)} leads had one: "
        f"{outcome.written} documents rewritten, {outcome.deleted} deleted. Responses change within 60 s."
    )
    if outcome.without_record:
        click.echo(f"{outcome.without_record} of them deleted because their record is not in the lead store.", err=True)
    for reason in outcome.reasons:
        click.echo(f"  {reason}", err=True)
    if outcome.failed:
        click.echo(f"{outcome.failed} documents could not be written. Run the command again.", err=True)
        sys.exit(1)


@suppress.command("replay")
@click.argument("sources", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def suppress_replay(sources: tuple[Path, ...]) -> None:
    """Suppress again what journals have and the opt-out list lacks, after PostgreSQL was restored from a backup.

    SOURCES are journals of all machines; by default, the one of SITEGLASS_OPT_OUT_JOURNAL. Safe to repeat.
    """
    from siteglass.privacy import opt_out

    settings = load_settings()
    if not sources and not settings.opt_out_journal:
        raise SettingsError(f"{variable('opt_out_journal')} is not set: name the journals to replay.")
    paths = sources or (Path(settings.opt_out_journal),)
    total, outcome = run(lambda index: opt_out.replay(index, paths, actor=actor()))
    click.echo(f"{total} entries read; {outcome.added} were missing from the list.")
    _tell(outcome)


@suppress.command("check")
@click.argument("values", metavar="VALUE...", nargs=-1, required=True)
def suppress_check(values: tuple[str, ...]) -> None:
    """Show for each value whether it is suppressed, since when and why; exit code 1 if one is not."""
    from siteglass.suppression import entries
    from siteglass.suppression.values import Hasher

    hasher, read = Hasher(load_settings()), _read_all(values)

    async def look(index: Index) -> list[Entry | None]:
        return [await entries.find(index.postgres, hasher, value) for value in read]

    found = run(look)
    for text, entry in zip(values, found, strict=True):
        click.echo(f"{text}: not suppressed" if entry is None else f"{text}: {_told(entry)}")
    if None in found:
        sys.exit(1)


@suppress.command("list")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1_000))
@click.option("--before", type=click.DateTime(), help="Only entries before this time (UTC).")
def suppress_list(limit: int, before: datetime | None) -> None:
    """List the newest entries; for addresses and phones only the start of their hash is shown."""
    from siteglass.suppression import entries

    until = None if before is None else before.replace(tzinfo=UTC)
    found = run(lambda index: entries.newest(index.postgres, limit, until))
    if not found:
        click.echo("Nothing is suppressed.")
    for entry in found:
        click.echo(f"{entry.kind.value:<6}  {entry.shown}  {_told(entry)}")


def _told(entry: Entry) -> str:
    return f"suppressed since {entry.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC by {entry.actor}: {entry.reason}"
