"""A progress bar with rate and time left, on standard error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows how much of the total is done; call what it gives with the number done so far."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(title, total=total, rate="")

        def advance_to(done: int) -> None:
            speed = shown.tasks[0].speed
            shown.update(task, completed=done, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance_to
