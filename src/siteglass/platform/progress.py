"""What long commands show on standard error: a bar with rate and time left, or that they are still at it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Literal


@contextlib.contextmanager
def progress(title: str, total: int, unit: Literal["", "bytes"] = "") -> Iterator[Callable[[int], None]]:
    """Shows how much of the total is done; call what it gives with the number done so far."""
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
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(title, total=total, rate="")

        def advance_to(done: int) -> None:
            speed = shown.tasks[0].speed
            rate = decimal(int(speed or 0)) if unit else f"{speed or 0:,.0f}"
            shown.update(task, completed=done, rate=f"{rate}/s" if speed else "")

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
