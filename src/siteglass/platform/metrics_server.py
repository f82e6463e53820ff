"""Serves the metrics of all workers on a separate port, for the monitoring only; decision 0035.

Several workers write to files in a folder that they share, and the process that started them reads these files. With a
single worker there is only one process, whose metrics are in memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

from prometheus_client import REGISTRY, CollectorRegistry, Metric, start_http_server
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from siteglass.settings import Settings, SettingsError, variable

# The library reads it when it is imported, and so in each worker, not in the process that sets it.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
MAX_PORT = 65_535


@contextmanager
def serving_metrics(settings: Settings, *, setting: str = "metrics_port") -> Iterator[None]:
    """Serve metrics until the block ends, if a port is set. Workers that are started in the block share theirs."""
    if not (port := getattr(settings, setting)):
        yield
        return
    with ExitStack() as stack:
        registry = REGISTRY
        if settings.workers > 1:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="siteglass-metrics-")))
            os.environ[FOLDER_VARIABLE] = str(folder)
            registry = CollectorRegistry()
            registry.register(SharedMetrics(folder))
        stack.callback(_listen(settings.metrics_host, port, variable(setting), registry))
        yield


def _listen(host: str, port: int, name: str, registry: CollectorRegistry) -> Callable[[], None]:
    """Serve a registry in a thread; returns what ends it."""
    if not 0 < port <= MAX_PORT:
        raise SettingsError(f"{name} must be a number up to {MAX_PORT}.")
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise SettingsError(
            f"Cannot serve metrics on {host}:{port} ({error.strerror}). Stop the program that uses it, or set {name} "
            "to a free port."
        ) from None

    def end() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return end


class SharedMetrics(Collector):
    """The metrics of all workers together. Counts of workers that ended are kept: a counter never goes back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = MultiProcessCollector(None, path=str(folder))
        self._reading = Lock()

    def collect(self) -> Iterable[Metric]:
        """Read the files of all workers; those of ended workers become one first."""
        with self._reading:
            for pid in self._pids():
                if not _is_alive(pid):
                    self._retire(pid)
            return list(self._files.collect())

    def _pids(self) -> set[int]:
        return {int(path.stem.rpartition("_")[2]) for path in self._folder.glob("*_[0-9]*.db")}

    def _retire(self, pid: int) -> None:
        """Add what an ended worker counted to one file for all of them, and forget its gauges.

        Otherwise a worker that crashes again and again would fill the disk.
        """
        for kind in ("counter", "histogram"):
            own = self._folder / f"{kind}_{pid}.db"
            if not own.exists():
                continue
            ended = MmapedDict(str(self._folder / f"{kind}_ended.db"))
            for key, value, _, _ in MmapedDict.read_all_values_from_file(str(own)):
                ended.write_value(key, ended.read_value(key)[0] + value, 0.0)
            ended.close()
            own.unlink()
        mark_process_dead(pid, str(self._folder))


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):  # it belongs to somebody else, so it runs
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
