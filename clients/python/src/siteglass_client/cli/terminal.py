"""What is shown: tables for people, JSON for programs, and the progress of a walk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import TextWrapper
from typing import Any, Protocol

import click
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from siteglass_client.answers import Batch, Page

MAX_WHOLE = 48
"""Characters of a first column that are not wrapped."""
BORDERS = " │ "
"""Beside each column of a table."""


def for_people(as_json: bool) -> bool:
    """Whether somebody reads the output."""
    return not as_json and sys.stdout.isatty()


class ReaderGone(Exception):
    """Whoever read the output has enough, as `head` does."""


def say_json(value: Any) -> None:
    """One JSON value on one line."""
    try:
        click.echo(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except BrokenPipeError:  # click would end the program as a failure
        raise ReaderGone from None


def note(text: str) -> None:
    """A line for people, beside the output."""
    click.echo(text, err=True)


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table; cells are shown as they are, never read as markup.

    On a terminal that is too narrow for it, each row becomes lines of a name and a value.
    """
    cells = [[_shown(value) for value in row] for row in rows]
    console = Console()
    widths = _widths(columns, cells, console.width - len(BORDERS) * len(columns) - 1)
    if widths is None:
        _show_lines(columns, cells, console.width)
        return
    table = Table()
    for column, width in zip(columns, widths, strict=True):
        # Folded, not cut: an address without its end is useless.
        table.add_column(column, width=width, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _widths(columns: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """A width for each column, which breaks no word such as an address; None if there is no room for that."""
    by_column = [[column, *(row[place] for row in cells)] for place, column in enumerate(columns)]
    whole = [max(map(cell_len, texts)) for texts in by_column]
    widths = [max(cell_len(word) for text in texts for word in text.split(" ")) for texts in by_column]
    # The first column is what a row is about, and is what people copy.
    widths[0] = min(whole[0], MAX_WHOLE)
    if sum(widths) > room:
        return None
    for place, width in enumerate(whole):
        widths[place] += min(max(0, width - widths[place]), room - sum(widths))
    return widths


def _show_lines(columns: Sequence[str], cells: Iterable[Sequence[str]], width: int) -> None:
    widest = max(map(cell_len, columns[1:]))
    lines = TextWrapper(width, subsequent_indent=" " * (widest + 4), break_long_words=False, break_on_hyphens=False)
    for first, *rest in cells:
        click.echo(first)
        for name, value in zip(columns[1:], rest, strict=True):
            if value:
                click.echo(lines.fill(f"  {name:<{widest}}  {value}"))


def _shown(value: Any) -> str:
    """A value for people, without control characters for the terminal: the texts come from third-party websites."""
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return "".join(each if each.isprintable() else " " for each in text)


class Told(Protocol):
    """A run that reports its progress."""

    @property
    def rows_done(self) -> int: ...
    @property
    def credits_used(self) -> int: ...


class Bar:
    """The progress of a run on stderr; nothing is shown if that is not a terminal."""

    def __init__(self, progress: Progress, walk: Told, most_rows: int | None) -> None:
        self._progress = progress
        self._walk = walk
        self._most_rows = most_rows
        self._task = progress.add_task("", total=most_rows, of="", rate="", spent=0, left="?")
        self._first_rows: int | None = None

    def step(self, step: Page | Batch) -> None:
        """A page or a batch came."""
        done = self._walk.rows_done
        if self._first_rows is None:  # what earlier runs brought says nothing about the speed of this one
            self._first_rows = done - len(step.rows)
        elapsed_s = self._progress.tasks[0].elapsed or 0.0
        total = self._most_rows
        if isinstance(step, Page):
            total = step.total_results if total is None else min(total, step.total_results)
        rate = (done - self._first_rows) / elapsed_s if elapsed_s > 0 else 0.0
        left = step.credits.lead_left
        self._progress.update(
            self._task,
            completed=done,
            total=total,
            of="" if total is None else f" of {total:,}",
            rate=f"{rate:,.0f}/s",
            spent=self._walk.credits_used,
            left="?" if left is None else f"{left:,}",
        )


@contextmanager
def progress_of(walk: Told, most_rows: int | None) -> Iterator[Bar]:
    """Shows the progress of a run."""
    progress = Progress(
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:,}{task.fields[of]}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[spent]:,} credits spent, {task.fields[left]} left"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    with progress:
        yield Bar(progress, walk, most_rows)
