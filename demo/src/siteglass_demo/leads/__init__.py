"""Believable made-up leads: real places and technologies, invented businesses, shares skewed as the web's are.

The demo has such generated leads, and the companies of COMPANIES, which extraction read from made-up web pages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import msgspec

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import replacing, write_parquet
from siteglass.corpus.trade_rules import with_trades
from siteglass_demo.leads.names import capacity
from siteglass_demo.leads.site import EPOCH_MS, Market, lead, tables

__all__ = ["COMPANIES", "EPOCH_MS", "Market", "generate", "write_demo"]

COMPANIES = Path(__file__).with_name("companies.parquet")
"""Leads that `make demo-companies` reads from the pages of `siteglass_demo.sites`; their evidence is beside them."""
_PROGRESS_EVERY = 1_000


def generate(count: int, seed: int, start: int = 0, market: Market | None = None) -> Iterator[Lead]:
    """Leads `start` to `start + count`, from anywhere or of one market.

    Each depends on the seed, its own number and the market only. Domains do not repeat.
    """
    if not 0 <= start <= start + count <= capacity():
        raise ValueError(f"a seed has {capacity()} leads, numbers {start} to {start + count} were asked for")
    if not 0 <= seed < 2**32:
        raise ValueError("a seed is a number from 0 to 2^32 - 1")
    rng, drawn_from = Random(), tables()
    for number in range(start, start + count):
        # What the loader would read from a lead without trades is in it from the beginning.
        yield with_trades(lead(rng, drawn_from, number, seed, market))


def write_demo(
    path: Path,
    count: int,
    seed: int,
    on_progress: Callable[[int], None] | None = None,
    *,
    without: Collection[str] = (),
) -> int:
    """Write leads as Parquet or NDJSON, as the file's name ends; the number written.

    `on_progress` is called now and then with the number of leads that are done. Leads of the domains in `without` are
    left out, and others take their places.
    """
    others = (one for one in generate(count + len(without), seed) if one.domain not in without)
    leads = _reported(islice(others, count), on_progress)
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
