"""Lines about how far a long run is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

ITEM = TypeVar("ITEM")

SAY_EVERY_S = 2.0


def say(text: str) -> None:
    """Progress, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def counting(items: Iterable[ITEM], title: str, total: int) -> Iterator[ITEM]:
    """The items, with a line about how far it is every two seconds."""
    started = last = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - last >= SAY_EVERY_S:
            last = now
            rate = done / (now - started)
            say(f"{title}: {done:,} of {total:,}, {rate:,.0f}/s, {(total - done) / max(rate, 1):,.0f} s left")
        yield item
