"""Twenty connections that send without end: a worker's memory hardly grows, and others are answered in time."""

from __future__ import annotations

import http.client
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from testing.outcomes import by_night, judge_times
from testing.service import ServiceProcess
from tests.server.hostile import KINDS
from tests.server.raw import connected, running

ROOT = Path(__file__).parents[2]
SECONDS = 2.0
MOST_GROWTH_BYTES = 20 * 1024 * 1024
P99_S = 0.1


@pytest.fixture(scope="module")
def process() -> Iterator[ServiceProcess]:
    """A separate service: what other tests left in memory does not count."""
    with running("hostile") as started:
        _ask(started.port, time.monotonic() + 1)  # what the first requests load is not growth
        yield started


@contextmanager
def _attack(port: int, seconds: float, *kinds: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.server.hostile", str(port), str(seconds), *kinds]
    attack = subprocess.Popen(command, cwd=ROOT)
    try:
        yield attack
    finally:
        attack.kill()
        attack.wait()


def _ask(port: int, until: float) -> list[float]:
    """Seconds that each request for /healthz takes, one after the other, on new and on kept connections."""
    taken = []
    while time.monotonic() < until:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        for _ in range(5):
            started = time.perf_counter()
            connection.request("GET", "/healthz")
            response = connection.getresponse()
            assert response.read() == b'{"status":"ok"}'
            taken.append(time.perf_counter() - started)
            time.sleep(0.01)
        connection.close()
    return taken


def _p99(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[98]


@pytest.mark.parametrize("kind", [*list(KINDS)[:2], *by_night(*list(KINDS)[2:])])
def test_memory(process: ServiceProcess, kind: str) -> None:
    worker = psutil.Process(process.pid())
    before = worker.memory_info().rss
    most = before
    with _attack(process.port, SECONDS, kind) as attack:
        while attack.poll() is None:
            most = max(most, worker.memory_info().rss)
            assert most - before <= MOST_GROWTH_BYTES
            time.sleep(0.01)
    assert attack.returncode == 0
    print(f"{kind}: {(most - before) / 1024 / 1024:.1f} MiB")


@pytest.mark.timing
def test_others_are_answered_in_time(process: ServiceProcess) -> None:
    with _attack(process.port, 6, *KINDS):
        time.sleep(0.5)
        taken = _ask(process.port, time.monotonic() + 5)
    judge_times(_p99(taken) < P99_S, f"p99 {_p99(taken) * 1e3:.1f} ms")


@pytest.mark.timing
def test_others_are_answered_in_time_beside_half_open_connections(process: ServiceProcess) -> None:
    with ExitStack() as stack:
        for number in range(300):
            connection = stack.enter_context(connected(process.port))
            connection.sendall(b"" if number % 2 else b"GET /healthz HTTP/1.1\r\nHost: te")
        taken = _ask(process.port, time.monotonic() + 12)  # they are closed meanwhile
    judge_times(_p99(taken) < P99_S, f"p99 {_p99(taken) * 1e3:.1f} ms")
