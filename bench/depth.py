"""What a page costs at 90 % depth against page 2, forward and backward, in every order.

python -m bench.depth --leads 500000 --shards 1 4 --keep
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from typing import Any

from bench.common import bench_settings, demo_file, spread, tables, write_result
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.index import generations, pages
from siteglass.index.documents import SortKeys, facts, sort_keys
from siteglass.index.index import Index, open_index
from siteglass.index.load import load
from siteglass.platform.backends import open_backends
from siteglass.query.criteria import Criteria
from siteglass.query.cursor import Position
from siteglass.query.directives import parse
from siteglass.query.fields import SORTS
from testing.progress import say

LIMIT = 20
SAMPLES = 50
# A flag that two thirds have; an exclusion alone; a flag that goes with a good score, minus a technology.
SEARCHES: dict[str, Callable[[Lead], bool]] = {
    "@has_email": lambda lead: bool(lead.emails),
    "!@country(USA)": lambda lead: lead.country != "USA",
    "!@not_secure\n!@technology(Wix)": lambda lead: (
        "https:no" not in facts(lead) and "Wix" not in (lead.technologies or ())
    ),
}


def in_order(matching: list[tuple[Lead, SortKeys]], sort: str) -> list[tuple[int, str]]:
    """The keys of the leads as a walk meets them: those without a score last, also from the lowest score up."""
    order = pages.ORDERS[sort]
    made = sorted(((getattr(keys, order.key), lead.domain) for lead, keys in matching), reverse=order.descending)
    return sorted(made, key=lambda one: order.unknown_from is not None and one[0] >= order.unknown_from)


async def timed_page(live_index: Index, criteria: Criteria, sort: str, position: Position) -> float:
    """Milliseconds of a full page."""
    started = time.perf_counter()
    page = await pages.later_page(live_index, criteria, sort, LIMIT, position)
    took_ms = (time.perf_counter() - started) * 1000
    if len(page.hits) != LIMIT:
        raise RuntimeError(f"expected a full page, found {len(page.hits)}")
    return took_ms


def position_at(order: list[tuple[int, str]], at: int, *, backward: bool) -> Position:
    """Where a page begins, with the width of the one that begins there."""
    anchor, domain = order[at]
    other = order[at + LIMIT - 1][0]
    return Position(anchor, domain, backward, abs(other - anchor))


async def measure(live_index: Index, criteria: Criteria, sort: str, order: list[tuple[int, str]]) -> dict[str, Any]:
    deep = int(len(order) * 0.9)
    took: dict[str, list[float]] = {"page 2": [], "deep forward": [], "deep backward": []}
    for sample in range(SAMPLES + 10):
        # Other anchors each time, so that no page is simply remembered; the kinds alternate in one run.
        positions = {
            "page 2": position_at(order, LIMIT - 1 + sample, backward=False),
            "deep forward": position_at(order, deep + sample, backward=False),
            "deep backward": position_at(order, deep + sample, backward=True),
        }
        for kind, position in positions.items():
            ms = await timed_page(live_index, criteria, sort, position)
            if sample >= 10:
                took[kind].append(ms)
    figures = {kind: spread(values) for kind, values in took.items()}
    base = figures["page 2"]["median"]
    return {
        "matches": len(order),
        "milliseconds": figures,
        "forward ratio": round(figures["deep forward"]["median"] / base, 2),
        "backward ratio": round(figures["deep backward"]["median"] / base, 2),
    }


async def run(leads: int, shards: int) -> dict[str, Any]:
    """All searches in all orders on an index with so many shards."""
    path = demo_file(leads)
    settings = bench_settings(f"depth{shards}")
    figures: dict[str, Any] = {}
    async with open_backends(settings) as backends, tables(settings):
        live_index = open_index(backends)
        shape = generations.Shape(shards=shards, refresh_interval="-1", query_cache=False)
        name = await generations.create(live_index, shape)
        try:
            say(f"loading {leads} leads into {shards} shard(s)")
            await load(live_index, path, lambda _: None)
            await generations.promote(live_index, name)
            await asyncio.sleep(5)
            for text, holds in SEARCHES.items():
                matching = [(lead, sort_keys(lead)) for _, group in read_parquet(path) for lead in group if holds(lead)]
                if len(matching) * 2 < leads:
                    raise RuntimeError(f"{text} matches less than half")
                for sort in SORTS:
                    measured = await measure(live_index, parse(text), sort, in_order(matching, sort))
                    figures[f"{text.replace(chr(10), ' ')} | {sort}"] = measured
                    say(f"{shards} shard(s) {text!r} {sort}: {measured['forward ratio']} {measured['backward ratio']}")
        finally:
            await backends.opensearch.request("DELETE", f"/{name}", timeout_ms=60_000)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=500_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = {f"{shards} shard(s)": asyncio.run(run(asked.leads, shards)) for shards in asked.shards}
    write_result("depth", {"leads": asked.leads, **figures}, "make long-depth", keep=asked.keep)


if __name__ == "__main__":
    main()
