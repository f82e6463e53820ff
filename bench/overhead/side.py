"""One checkout's side of a comparison. Its own code loads the leads, serves them and draws the requests.

    cd CHECKOUT && PYTHONPATH=.:src .venv/bin/python -P side.py '{"leads": 500000, …}'

`checkouts.py` starts it and describes the order. It is the only file here that also runs with the modules of an older
commit, so it imports nothing that commit 0559360 does not have. It prints one line of JSON for each step, and waits for
a line before it takes the next. When its input ends, it removes all that it made.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import bench.overhead.world
from bench.common import SEED, demo_file
from bench.overhead.mix import Mix
from bench.overhead.world import CREDITS, World, build, serving

# The packages of accounts have other names in each commit. `world` imports their modules under the same ones.
MODULES: Any = bench.overhead.world


async def main(order: dict[str, Any]) -> None:
    # Progress is printed too. It goes to the other output, so that this one has nothing but answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(values: dict[str, Any]) -> None:
        print(json.dumps(values), file=answers, flush=True)

    async def next_line() -> str:
        line: str = await asyncio.to_thread(sys.stdin.readline)
        return line.strip()

    given = [Path(order["file"])] if order["file"] else []
    async with build(order["leads"], *given) as world:
        keys = [world.key, *await _more_keys(world, order["accounts"] - 1)]
        if order["drawn"]:
            _draw(world, order)
        async with serving(world.settings) as service:
            file = str((given[0] if given else demo_file(order["leads"])).resolve())
            answer({"address": service.address, "pid": service.pid, "keys": keys, "file": file})
            if engine := await next_line():
                copied = dataclasses.replace(world.settings, opensearch_urls=(engine,))
                async with serving(copied) as copy:
                    answer({"address": copy.address})
                    await next_line()
            await next_line()


async def _more_keys(world: World, count: int) -> list[str]:
    """The keys of so many other accounts, each with credits for all that comes."""
    made = []
    async with MODULES.open_backends(world.settings) as backends:
        postgres, secrets = backends.postgres, world.settings.key_secrets
        for number in range(count):
            name = f"bench {number}"
            account = await MODULES.accounts.create_account(postgres, name, "bench", actor="bench")
            await MODULES.credits.grant(postgres, account, CREDITS, CREDITS, "bench", name)
            _, key = await MODULES.keys.create_key(postgres, secrets, account, name, actor="bench")
            made.append(key)
    return made


def _draw(world: World, order: dict[str, Any]) -> None:
    mix = Mix(world.sample, SEED)
    searches = itertools.islice(mix.searches(), order["searches"])
    drawn = {
        "searches": [dataclasses.asdict(search) for search in searches],
        "enrichments": {
            str(domains): list(itertools.islice(mix.enrichments(domains), order["enrichments_each"]))
            for domains in order["enrichments"]
        },
    }
    Path(order["drawn"]).write_text(json.dumps(drawn))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
