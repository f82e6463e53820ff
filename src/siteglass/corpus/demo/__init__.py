"""Believable made-up leads: real places and technologies, invented businesses, shares skewed as the web's are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec

from siteglass.corpus.demo.names import capacity
from siteglass.corpus.demo.site import EPOCH_MS, lead, tables
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import replacing, write_parquet
from siteglass.corpus.trade_rules import with_trades

__all__ = ["EPOCH_MS", "generate", "write_demo"]

_PROGRESS_EVERY = 1_000


def generate(count: int, seed: int, start: int = 0) -> Iterator[Lead]:
    """Leads `start` to `start + count`. Each depends on the seed and its own number only; domains do not repeat."""
    if not 0 <= start <= start + count <= capacity():
        raise ValueError(f"a seed has {capacity()} leads, numbers {start} to {start + count} were asked for")
    if not 0 <= seed < 2**32:
        raise ValueError("a seed is a number from 0 to 2^32 - 1")
    rng, drawn_from = Random(), tables()  # noqa: S311 - repeatable, not secret
    for number in range(start, start + count):
        # What the loader would read from a lead without trades is in it from the beginning.
        yield with_trades(lead(rng, drawn_from, number, seed))


def write_demo(path: Path, count: int, seed: int, on_progress: Callable[[int], None] | None = None) -> int:
    """Write leads as Parquet or NDJSON, as the file's name ends; the number written.

    `on_progress` is told now and then how many are done.
    """
    leads = _reported(generate(count, seed), on_progress)
    if path.suffix == ".parquet":
        return write_parquet(path, leads)
    if path.suffix != ".ndjson":
        raise ValueError(f"{path}: a file of leads ends in .parquet or .ndjson")
    encode = msgspec.json.Encoder().encode
    written = 0
    with replacing(path) as sink:
        for one in leads:
            sink.write(encode(one) + b"\n")
            written += 1
    return written


def _reported(leads: Iterator[Lead], on_progress: Callable[[int], None] | None) -> Iterator[Lead]:
    done = 0
    for done, one in enumerate(leads, 1):
        yield one
        if on_progress and done % _PROGRESS_EVERY == 0:
            on_progress(done)
    if on_progress and done % _PROGRESS_EVERY:
        on_progress(done)
