"""What a page of alternatives costs compared with a separate search per branch, and how it grows with depth.

python -m bench.alternatives --leads 500000 --keep
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from bench.common import bench_settings, demo_file, spread, tables, write_result
from bench.depth import LIMIT, SAMPLES, in_order, position_at, timed_page
from siteglass.corpus.lead_files import read_parquet
from siteglass.index import generations
from siteglass.index.documents import SortKeys, sort_keys
from siteglass.index.index import Index, open_index
from siteglass.index.load import load
from siteglass.platform.backends import open_backends
from siteglass.query.criteria import AnyOf, Criteria, criteria
from siteglass.query.directives import parse
from testing.progress import say
from testing.reference_scan import matching

SORT = "-score"
WARM_UP = 10
MAX_RATIO = 1.5
# Four branches each: one condition, conjunctions, a place bound to its parent, and branches that exclude.
SEARCHES = (
    "@any[ @lacks(analytics) | @not_secure | @has_phone | @score(<30) ]",
    "@any[ @country(USA) @has_email | @country(DEU) @technology(WordPress) | @country(GBR) @has_phone | "
    "@country(FRA) @not_responsive ]",
    "@any[ @country(USA) @state(CA) | @country(USA) @state(TX) @has_email | @country(GBR) @state(ENG) | "
    "@country(DEU) @state(BY) ]",
    "@any[ !@has_phone !@has_email | !@country(USA) @missing_sitemap | @spends(>1000) !@technology(Wix) | "
    "@load_time(>3000) ]",
)


def branches_of(made: Criteria) -> list[Criteria]:
    """Each branch of the only clause as a separate search."""
    (clause,) = made.conditions
    if not isinstance(clause, AnyOf) or len(clause.branches) != 4:
        raise ValueError("expected one clause with four branches")
    return [criteria(branch) for branch in clause.branches]


async def measure(live_index: Index, text: str, leads: list[tuple[Any, SortKeys]]) -> dict[str, Any]:
    """Milliseconds of a page of the whole search and of each branch, shallow and deep, one after the other."""
    whole = parse(text)
    orders = {}
    for made in (whole, *branches_of(whole)):
        hits = {lead.domain for lead in matching(made, [lead for lead, _ in leads])}
        orders[made] = in_order([(lead, keys) for lead, keys in leads if lead.domain in hits], SORT)
    took: dict[tuple[Criteria, str], list[float]] = {}
    for sample in range(SAMPLES + WARM_UP):
        for made, order in orders.items():
            # Other anchors each time, so that no page is simply remembered.
            for kind, at in (("page 2", LIMIT - 1), ("deep", int((len(order) - LIMIT - SAMPLES - WARM_UP) * 0.9))):
                position = position_at(order, at + sample, backward=False)
                ms = await timed_page(live_index, made, SORT, position)
                if sample >= WARM_UP:
                    took.setdefault((made, kind), []).append(ms)
    figures = {kind: spread(took[whole, kind]) for kind in ("page 2", "deep")}
    sums = {
        kind: round(sum(spread(took[made, kind])["median"] for made in orders if made != whole), 3) for kind in figures
    }
    return {
        "matches": [len(order) for order in orders.values()],
        "milliseconds": figures,
        "sum of branches": sums,
        "ratio": {kind: round(figures[kind]["median"] / sums[kind], 2) for kind in figures},
        "depth ratio": round(figures["deep"]["median"] / figures["page 2"]["median"], 2),
    }


async def run(leads: int, searches: tuple[str, ...] = SEARCHES) -> dict[str, Any]:
    """All searches on an index of so many leads."""
    path = demo_file(leads)
    settings = bench_settings("alternatives")
    figures: dict[str, Any] = {}
    async with open_backends(settings) as backends, tables(settings):
        live_index = open_index(backends)
        name = await generations.create(live_index, generations.Shape(refresh_interval="-1", query_cache=False))
        try:
            say(f"loading {leads} leads")
            await load(live_index, path, lambda _: None)
            await generations.promote(live_index, name)
            await asyncio.sleep(5)
            ranked = [(lead, sort_keys(lead)) for _, group in read_parquet(path) for lead in group]
            for text in searches:
                figures[text] = await measure(live_index, text, ranked)
                say(f"{text}: {figures[text]['ratio']}, depth {figures[text]['depth ratio']}")
        finally:
            await backends.opensearch.request("DELETE", f"/{name}", timeout_ms=60_000)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=500_000)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(run(asked.leads))
    worst = max(ratio for figure in figures.values() for ratio in figure["ratio"].values())
    result = {"leads": asked.leads, "worst ratio": worst, "ratio allowed": MAX_RATIO, **figures}
    write_result("alternatives", result, "make long-alternatives", keep=asked.keep)


if __name__ == "__main__":
    main()
