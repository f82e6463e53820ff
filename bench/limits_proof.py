"""The rate limit at full size, as JSON: traces against the definition, outages of every kind, speed.

    python -m bench.limits_proof [--traces 200000] [--redis-traces 2000] [--rounds 3] [--out figures.json]

Starts its own Redis (redis-server must be installed); fails if anything promised did not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from siteglass.access.limits import Policy
from testing.limits.comparison import Tally, compare_local, compare_shared
from testing.limits.redis_faults import FAULTS, OwnRedis, open_worker, outage, percentile, until

CHUNK = 5_000
POLICIES = (Policy(10, 20), Policy(60, 20), Policy(100, 50))


def _timed(run: Callable[[], Tally]) -> dict[str, Any]:
    started = time.perf_counter()
    tally = run()
    return {**asdict(tally), "seconds": round(time.perf_counter() - started, 1)}


def local_traces(count: int) -> Tally:
    """Spread over the cores; each trace is made from its number."""
    total = Tally()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        starts = range(0, count, CHUNK)
        for part in pool.map(compare_local, starts, [min(CHUNK, count - start) for start in starts]):
            total.traces += part.traces
            total.requests += part.requests
            total.admitted += part.admitted
            total.different += part.different
    return total


async def speed(port: int, seconds: float = 5, pace_per_s: int = 1_000) -> dict[str, Any]:
    """What a decision in Redis takes at a steady pace, and the most that 16 clients of one worker get."""
    worker = open_worker(port, "speed")
    policy = Policy(1_000_000, 1_000_000)
    took: list[float] = []
    # On a machine without time to spare, answers of Redis come late and the worker leaves it: those are not its speed.
    local = 0

    async def one() -> None:
        nonlocal local
        started = time.perf_counter()
        verdict = await worker.take("acme", "key-1", policy, policy)
        took.append((time.perf_counter() - started) * 1e3)
        local += verdict.local

    async def worker_back() -> None:
        nonlocal local
        local += 1
        await until(lambda: worker.on_redis, 5)

    async def many(until_s: float) -> int:
        count = 0
        while time.perf_counter() < until_s:
            if (await worker.take("acme", "key-1", policy, policy)).local:
                await worker_back()
            else:
                count += 1
        return count

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(int(seconds * pace_per_s)):
            group.create_task(one())
            await asyncio.sleep(max(started + number / pace_per_s - time.perf_counter(), 0))
    end = time.perf_counter() + seconds
    done = sum(await asyncio.gather(*(many(end) for _ in range(16))))
    await worker.close()
    return {
        "pace_per_s": pace_per_s,
        "p50_ms": round(percentile(took, 0.5), 3),
        "p99_ms": round(percentile(took, 0.99), 3),
        "most_per_s": round(done / seconds),
        "local": local,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=200_000)
    parser.add_argument("--redis-traces", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3, help="outages of each kind and policy")
    parser.add_argument("--out", type=Path, help="where the figures go; else to the terminal")
    options = parser.parse_args()
    figures: dict[str, Any] = {"cores": os.cpu_count(), "load": os.getloadavg()}
    figures["traces"] = _timed(lambda: local_traces(options.traces))
    with OwnRedis() as redis:
        url = f"redis://127.0.0.1:{redis.port}/0"
        figures["redis_traces"] = _timed(
            lambda: asyncio.run(compare_shared(url, "proof", options.traces, options.redis_traces))
        )
        figures["speed"] = asyncio.run(speed(redis.port))
    outages = [
        asyncio.run(outage(fault, policy, workers))
        for fault in FAULTS
        for policy, workers in zip(POLICIES, (1, 3, 4), strict=True)
        for _ in range(options.rounds)
    ]
    broken = [promise for one in outages for promise in one.broken()]
    broken += [name for name in ("traces", "redis_traces") if figures[name]["different"]]
    figures |= {"outages": [asdict(one) for one in outages], "broken": broken}
    text = json.dumps(figures, indent=2)
    if options.out:
        options.out.write_text(text + "\n")
    else:
        print(text)
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
