"""What facets cost, and what a list of domains adds to a search.

python -m bench.before_paying --leads 500000 --listed 100000 --searches 600 --keep
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq

from bench.common import FOLDER, SEED, demo_file, spread, write_result
from bench.overhead.mix import Mix
from bench.overhead.world import World, build, serving
from siteglass.leads.lists.requests import MAX_DOMAINS_SENT
from testing.progress import say

FACETS, SEARCH, LISTS = "/v1/leads/facets", "/v1/leads/search", "/v1/lists"
LIST = "listed"
WARM_UP = 20
MATCH_ALL_TIMES = 15
LISTS_WAIT_S = 120
AIMS = {"facets, median ms": 150, "match-all facets, median ms": 300, "search with the list, times without": 1.2}


def numbered_file(leads: int) -> Path:
    """Demo leads with numbers, which the lead store would give them."""
    path = FOLDER / f"numbered-{leads}-{SEED}.parquet"
    if not path.exists():
        table = pq.read_table(demo_file(leads))
        # Lists of the same domains have numbers all over the index, as in real use.
        numbers = list(range(1, table.num_rows + 1))
        random.Random(SEED).shuffle(numbers)
        place = table.schema.get_field_index("lead_no")
        field = table.schema.field(place)
        pq.write_table(table.set_column(place, field, pa.array(numbers, field.type)), path, row_group_size=10_000)
    return path


def bodies(world: World) -> Iterator[dict[str, Any]]:
    """First pages of the seeded mix, each once."""
    seen: set[str] = set()
    for search in Mix(world.sample, SEED).searches():
        if str(search.body) not in seen:
            seen.add(str(search.body))
            yield search.body


def timed(client: httpx.Client, path: str, body: dict[str, Any]) -> tuple[float, Any]:
    """Milliseconds of a request, and its answer."""
    started = time.perf_counter()
    response = client.post(path, json=body)
    took_ms = (time.perf_counter() - started) * 1e3
    if response.status_code != httpx.codes.OK:
        raise RuntimeError(f"{path} {body}: {response.status_code} {response.text}")
    return took_ms, response.json()


def is_sampled(answer: dict[str, Any]) -> bool:
    """Whether a count of a response is an estimate."""
    return any(facet["estimated"] for facet in answer["facets"])


def measure_facets(client: httpx.Client, searches: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All facets of each search, once; all facets of all leads, several times."""
    wait_for_base(client)
    for body in searches[:WARM_UP]:
        timed(client, FACETS, body)
    answers = [timed(client, FACETS, body) for body in searches[WARM_UP:]]
    # Other sizes each time, so that the engine does not answer from its cache.
    whole = [timed(client, FACETS, {"size": size}) for size in range(10, 10 + MATCH_ALL_TIMES)]
    return {
        "searches": len(answers),
        "milliseconds": tail([took for took, _ in answers]),
        "share of sampled answers": share([is_sampled(answer) for _, answer in answers]),
        "match-all": {
            "milliseconds": tail([took for took, _ in whole]),
            "share of sampled answers": share([is_sampled(answer) for _, answer in whole]),
        },
    }


def wait_for_base(client: httpx.Client) -> None:
    """Each worker first counts all leads, for the lift; the first requests run beside that."""
    deadline = time.monotonic() + LISTS_WAIT_S
    while time.monotonic() < deadline:
        _, answer = timed(client, FACETS, {"country": "USA", "facets": ["state"]})
        if any("lift" in value for value in answer["facets"][0]["counts"]):
            return
        time.sleep(1)
    raise RuntimeError("the counts over all leads did not come")


def fill_list(client: httpx.Client, domains: Sequence[str]) -> None:
    """A list of these domains."""
    timed(client, LISTS, {"name": LIST})
    for start in range(0, len(domains), MAX_DOMAINS_SENT):
        timed(client, f"{LISTS}/{LIST}/domains", {"domains": domains[start : start + MAX_DOMAINS_SENT]})


def measure_list(client: httpx.Client, searches: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Each search with and without the list, one after the other, the first one in turn."""
    took: dict[str, list[float]] = {"without": [], "excluded": []}
    ratios = []
    for number, body in enumerate(searches):
        forms = [("without", body), ("excluded", {**body, "exclude_lists": [LIST]})]
        one = {}
        for name, sent in forms if number % 2 else forms[::-1]:
            one[name], _ = timed(client, SEARCH, sent)
        if number >= WARM_UP:
            ratios.append(one["excluded"] / one["without"])
            for name, ms in one.items():
                took[name].append(ms)
    return {
        "searches": len(ratios),
        "milliseconds": {name: tail(values) for name, values in took.items()},
        "ratio of the medians": round(statistics.median(took["excluded"]) / statistics.median(took["without"]), 2),
        "median of the ratios": round(statistics.median(ratios), 2),
    }


def tail(values: list[float]) -> dict[str, float]:
    """Quartiles, and the slowest of twenty."""
    return {**spread(values), "p95": round(sorted(values)[len(values) * 19 // 20], 3)}


def share(flags: Sequence[bool]) -> float:
    """How many are true."""
    return round(sum(flags) / len(flags), 3)


async def run(leads: int, listed: int, searches: int) -> dict[str, Any]:
    """Everything on one index, which is gone afterwards."""
    path = numbered_file(leads)
    domains = [str(domain) for domain in pq.read_table(path, columns=["domain"])["domain"].to_pylist()]
    chosen = random.Random(SEED).sample(domains, listed)
    async with build(leads, path) as world, serving(world.settings) as service:
        return await asyncio.to_thread(measure, world, f"http://127.0.0.1:{service.address.port}", chosen, searches)


def measure(world: World, base_url: str, listed: Sequence[str], searches: int) -> dict[str, Any]:
    """All figures from one running service."""
    drawn = list(itertools.islice(bodies(world), searches + WARM_UP))
    headers = {"X-API-Key": world.key}
    with httpx.Client(base_url=base_url, headers=headers, timeout=60, trust_env=False) as client:
        facets = measure_facets(client, drawn)
        say(f"facets: {facets}")
        fill_list(client, listed)
        lists = measure_list(client, drawn)
        say(f"list: {lists}")
    return {"facets": facets, f"list of {len(listed)} domains": lists}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=500_000)
    parser.add_argument("--listed", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=600)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    figures = asyncio.run(run(asked.leads, asked.listed, asked.searches))
    result = {"leads": asked.leads, "aims": AIMS, **figures}
    size = f"--leads {asked.leads} --listed {asked.listed} --searches {asked.searches}"
    write_result("before_paying", result, f"python -m bench.before_paying {size}", keep=asked.keep)


if __name__ == "__main__":
    main()
