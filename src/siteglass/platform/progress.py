"""What long commands show on standard error: a bar with rate and time left, or that they are still at it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal, Protocol


class ShowProgress(Protocol):
    """Takes how much is done, and a text to show beside it."""

    def __call__(self, done: int, detail: str = "") -> None: ...


@contextlib.contextmanager
def progress(title: str, total: int, unit: Literal["", "bytes"] = "") -> Iterator[ShowProgress]:
    """Shows how much of the total is done; call what it gives with the number done so far, and with what else there is
    to say."""
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn() if unit else MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(title, total=total, rate="", detail="")

        def advance_to(done: int, detail: str = "") -> None:
            speed = shown.tasks[0].speed
            rate = decimal(int(speed or 0)) if unit else f"{speed or 0:,.0f}"
            shown.update(task, completed=done, rate=f"{rate}/s" if speed else "", detail=detail)

        yield advance_to


@contextlib.contextmanager
def working(title: str) -> Iterator[None]:
    """Shows for how long something runs whose end cannot be foretold."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        shown.add_task(title, total=None)
        yield
