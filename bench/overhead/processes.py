"""CPU time of the processes that take part, each with its children."""

from __future__ import annotations

import contextlib
import time
from urllib.parse import urlsplit

import psutil

from siteglass.settings import Settings


def engine_pids(settings: Settings) -> dict[str, int]:
    """The engines' processes, found by the ports they listen on, however they were started."""
    urls = {
        "opensearch": settings.opensearch_urls[0],
        "postgres": settings.postgres_dsn,
        "redis": settings.redis_url,
    }
    return {name: _listener(_port(url)) for name, url in urls.items()}


def _backend_pids(settings: Settings, service: int) -> list[int]:
    """PostgreSQL's processes that serve the connections of one process of the service."""
    port = _port(settings.postgres_dsn)
    ours, theirs = set(), {}
    for connection in psutil.net_connections("tcp"):
        if connection.raddr and connection.raddr.port == port and connection.pid == service:
            ours.add(connection.laddr)
        elif connection.laddr and connection.laddr.port == port and connection.pid:
            theirs[connection.raddr] = connection.pid
    return [pid for address, pid in theirs.items() if address in ours]


def _port(url: str) -> int:
    port = urlsplit(url).port
    if port is None:
        raise RuntimeError(f"{url} must say its port: that is how the engine's process is found")
    return port


def _listener(port: int) -> int:
    found = [
        connection.pid
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
    ]
    pids = [pid for pid in found if pid]
    if not pids:
        raise RuntimeError(f"no process of this machine that we may look at listens on port {port}")
    return min(pids)  # a parent is older than its children


def own_cpu_s(pid: int) -> float:
    """CPU seconds of all threads of a process; Linux gives every process such a clock, finer than /proc does."""
    with contextlib.suppress(OSError):  # it has ended: its time is among those that its parent has reaped
        return time.clock_gettime((~pid << 3) | 2)
    return 0.0


def _cpu_s(pid: int) -> float:
    """CPU seconds that a process, its living children and those it has reaped have used."""
    root = psutil.Process(pid)
    reaped = root.cpu_times()
    living = sum(own_cpu_s(process.pid) for process in (root, *root.children(recursive=True)))
    return living + reaped.children_user + reaped.children_system


class CpuMeter:
    """CPU of processes between two readings."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        self._last: dict[str, float] = {}
        self.lap()

    def lap(self) -> dict[str, float]:
        """Seconds of CPU since the last call, by name."""
        now = {name: _cpu_s(pid) for name, pid in self._pids.items()}
        spent = {name: seconds - self._last.get(name, 0.0) for name, seconds in now.items()}
        self._last = now
        return spent


class BackendMeter:
    """CPU of PostgreSQL's backends that serve one process, between two readings; some may be new at the second."""

    def __init__(self, settings: Settings, service: int) -> None:
        self._settings = settings
        self._service = service
        self._last: dict[int, float] = {}
        self.lap()

    def lap(self) -> float:
        """Seconds of CPU since the last call."""
        now = {pid: own_cpu_s(pid) for pid in _backend_pids(self._settings, self._service)}
        spent = sum(seconds - self._last.get(pid, 0.0) for pid, seconds in now.items())
        self._last = now
        return spent
