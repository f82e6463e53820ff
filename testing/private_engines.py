"""Engines of a test's own, to stop, kill and freeze without harming the tests beside it."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import engines
from engine_host import engines_root
from testing.ports import free_port


@contextlib.contextmanager
def environment(changes: dict[str, str]) -> Iterator[None]:
    """Variables changed for a while."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


KINDS: dict[str, Callable[[Path], engines.Engine]] = {
    "opensearch": engines.OpenSearch,
    "postgres": engines.Postgres,
    "redis": engines.Redis,
}


_numbers = itertools.count()


def link_unpacked(engine: engines.OpenSearch) -> None:
    """Give an engine its programs. Unpacking takes long; links to what is already there do not."""
    unpacked = engines_root() / "opensearch" / engine.home.name
    skip = shutil.ignore_patterns("logs")
    shutil.copytree(unpacked, engine.home, copy_function=os.link, symlinks=True, ignore=skip)


class PrivateEngines:
    """Starts an engine when it is first asked for; `close` ends all of them."""

    def __init__(self) -> None:
        self._folder: Path = engines_root() / f"private-{os.getpid()}-{next(_numbers)}"
        self._running: dict[str, engines.Engine] = {}

    def get(self, name: str) -> engines.Engine:
        """The engine, running."""
        if name not in self._running:
            ports = {f"SITEGLASS_{name.upper()}_PORT": str(free_port())}
            if name == "opensearch":
                ports["SITEGLASS_OPENSEARCH_TRANSPORT_PORT"] = str(free_port())
            self._folder.mkdir(parents=True, exist_ok=True)
            with environment(ports):
                engine = KINDS[name](self._folder)
            if isinstance(engine, engines.OpenSearch):
                link_unpacked(engine)
            self._running[name] = engine
        self.start(name)
        return self._running[name]

    def start(self, name: str) -> None:
        """Start it again after a test has stopped it."""
        if self._running[name].pid() is None:
            with environment({"ENGINE_HEAP": "512m"}):
                self._running[name].start()

    def close(self) -> None:
        """Kill what was started and delete its data."""
        for engine in self._running.values():
            engine.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
