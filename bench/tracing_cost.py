"""What tracing costs a request: the functions that a search calls for it, without the work between them.

    python -m bench.tracing_cost

No engine is needed. `tests/api/test_traces.py` compares the steps with those of a real search. The clocks of the log
line are part of it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

from bench.common import RESULTS
from siteglass.platform.otlp import Collector
from siteglass.platform.tracing import TRACEPARENT, Tracing, span, timed_span
from testing.ports import free_port
from testing.traced_steps import STEPS

UNSAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
AIMS_US = {"off": 10, "unsampled": 30, "unsampled, with a traceparent": 30}


def search(tracing: Tracing, headers: dict[str, str]) -> None:
    """What the guard, the handler, the client of the engine and the charge call during one search."""
    trace = tracing.begin("search", headers.get(TRACEPARENT))
    with trace:
        for name in STEPS:
            with span(name):
                pass
        with timed_span("engine") as step:
            _ = step.traceparent
        with timed_span("charge"):
            pass
        _ = trace.traceparent
        trace.describe(200, request_id="0199f0a0-0000-7000-8000-000000000000", account_id=1, key_id=2)
    trace.log_fields()


def _microseconds(call: Callable[[], None], requests: int) -> float:
    started = time.process_time()
    for _ in range(requests):
        call()
    return (time.process_time() - started) / requests * 1e6


def measure(requests: int, rounds: int) -> dict[str, float]:
    """Microseconds of CPU for each kind of request: medians of the rounds, in which the kinds take turns."""
    # Nobody listens there; `start` is not called, so nothing is sent.
    off, on = Tracing(), Tracing(Collector(f"http://127.0.0.1:{free_port()}"), ratio=0.0)
    always = Tracing(Collector(f"http://127.0.0.1:{free_port()}"), ratio=1.0)
    kinds: dict[str, Callable[[], None]] = {
        "off": lambda: search(off, {}),
        "unsampled": lambda: search(on, {}),
        "unsampled, with a traceparent": lambda: search(on, {TRACEPARENT: UNSAMPLED}),
        "sampled, without sending": lambda: search(always, {}),
    }
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, call in kinds.items():
            taken[name].append(_microseconds(call, requests))
    return {name: round(statistics.median(values), 2) for name, values in taken.items()}


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=11)
    arguments.add_argument("--keep", action="store_true", help="write bench/results/tracing_cost.json")
    given = arguments.parse_args()
    command = f"python -m bench.tracing_cost --requests {given.requests} --rounds {given.rounds}"
    result = {"command": command, "us_per_request": measure(given.requests, given.rounds), "aims_us": AIMS_US}
    if given.keep:
        (RESULTS / "tracing_cost.json").write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
