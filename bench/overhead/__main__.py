"""python -m bench.overhead --leads 500000 --searches 5000 --rounds 5 --keep"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from bench.common import stamped
from bench.overhead import measure, plots, report
from bench.overhead.world import build
from testing.progress import say

CHECKOUT = Path(__file__).parents[2]


async def run(leads: int, size: measure.Size) -> dict[str, Any]:
    """Build everything, measure, take everything down."""
    async with build(leads) as world:
        return await measure.run(world, size)


def keep(result: dict[str, Any], folder: Path) -> None:
    """Raw figures, plots and the generated part of the page, under the paths they have in the checkout."""
    path = folder / "bench/results/overhead.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    plots.draw(result["summary"], folder / "docs/images/performance")
    report.write_section(folder / "docs/performance.md", report.section(result))
    say(f"wrote {path}, and plots and tables under {folder / 'docs'}")


def main() -> None:
    defaults = measure.Size()
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description="What the service adds to OpenSearch")
    parser.add_argument("--leads", type=int, default=500_000)
    parser.add_argument("--searches", type=int, default=defaults.searches)
    parser.add_argument("--rounds", type=int, default=defaults.rounds)
    parser.add_argument("--seconds", type=float, default=defaults.seconds, help="for each figure on the service's side")
    parser.add_argument(
        "--keep", type=Path, nargs="?", const=CHECKOUT, metavar="FOLDER", help="write the results; to the checkout"
    )
    asked = parser.parse_args()
    size = measure.Size(searches=asked.searches, rounds=asked.rounds, seconds=asked.seconds)
    figures = asyncio.run(run(asked.leads, size))
    figures = {"leads": asked.leads, "summary": report.summary(figures["samples"]), **figures}
    result = stamped(figures, "make long-overhead")
    print(report.section(result))
    if asked.keep:
        keep(result, asked.keep)


if __name__ == "__main__":
    main()
