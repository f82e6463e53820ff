"""Where a run takes place: its own Redis and, behind toxiproxy, its own PostgreSQL; and the methods that break them."""

from __future__ import annotations

import contextlib
import io
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import psutil

from testing.private_engines import PrivateEngines
from tests.proof.faults import Fault
from tests.proof.history import Progress
from tests.proof.toxiproxy import Toxiproxy

POLL_S = 0.02
STALL_S = 60.0
SAY_EVERY_S = 2.0


class Worker(Protocol):
    """A process under test, of either level."""

    def start(self) -> None: ...
    def kill(self) -> None: ...
    def pid(self) -> int | None:
        """None once it has done all it had to do."""


class Stalled(Exception):
    """The run does not get on: something hangs, or a fault did not heal."""


def _signal(processes: Sequence[psutil.Process], what: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(what)


def _family(pid: int) -> list[psutil.Process]:
    parent = psutil.Process(pid)
    return [parent, *parent.children(recursive=True)]


def _ended(process: psutil.Process) -> bool:
    """Whether it runs no more; that nobody has asked for its exit code yet does not matter."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class Arena:
    """The engines, and what was done to them."""

    def __init__(self, engines: PrivateEngines, proxy: Toxiproxy, say: Callable[[str], None]) -> None:
        self._engines = engines
        self._proxy = proxy
        self._say = say
        with contextlib.redirect_stdout(io.StringIO()):
            self._ports = {name: engines.get(name).port for name in ("postgres", "redis")}
        self._behind_proxy = proxy.add("postgres", self._ports["postgres"])
        self.done: list[Fault] = []

    @property
    def direct_dsn(self) -> str:
        """PostgreSQL without the proxy: to set up, and to look afterwards."""
        return f"postgresql://siteglass@127.0.0.1:{self._ports['postgres']}/siteglass"

    @property
    def dsn(self) -> str:
        return f"postgresql://siteglass@127.0.0.1:{self._behind_proxy}/siteglass"

    @property
    def superuser_dsn(self) -> str:
        return self.direct_dsn.replace("siteglass@", "postgres@")

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self._ports['redis']}/0"

    def _pid(self, name: str) -> int:
        pid = self._engines.get(name).pid()
        assert pid is not None
        return pid

    def kill(self, name: str) -> None:
        """kill -9 of all its processes at once, and a new start on the same data."""
        engine, family = self._engines.get(name), _family(self._pid(name))
        _signal(family, signal.SIGKILL)
        # A start fails as long as one of them still holds the shared memory.
        while engine.pid() is not None or not all(map(_ended, family[1:])):
            time.sleep(0.01)
        with contextlib.redirect_stdout(io.StringIO()):
            self._engines.start(name)

    def freeze(self, pid: int, seconds: float) -> None:
        """Stop all processes of a family, and let them continue later."""
        family = _family(pid)
        _signal(family, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            _signal(family, signal.SIGCONT)

    def apply(self, fault: Fault, workers: Sequence[Worker]) -> None:
        """Do it, and heal it."""
        verb, engine = fault.what.split()
        if engine == "worker":
            # The one that was meant, or the next that still has something to do.
            turn = [*workers[fault.target :], *workers[: fault.target]]
            worker, pid = next((worker, pid) for worker in turn if (pid := worker.pid()) is not None)
            if verb == "kill":
                worker.kill()
                worker.start()
            else:
                self.freeze(pid, fault.seconds)
        elif verb == "kill":
            self.kill(engine)
        elif verb == "freeze":
            self.freeze(self._pid(engine), fault.seconds)
        elif verb == "break":
            self._proxy.break_connections(engine, fault.how, fault.size)
            try:
                time.sleep(fault.seconds)
            finally:
                self._proxy.mend(engine)
        else:
            self._proxy.cut(engine)
        self.done.append(fault)

    def run(
        self,
        title: str,
        workers: Sequence[Worker],
        clients: Sequence[Worker],
        faults: Sequence[Fault],
        progress: Progress,
        charges: int,
        hold: Path | None = None,
    ) -> None:
        """Apply each fault to the workers when it is due, and wait until the clients have done their part.

        At the ledger level the workers are their own clients. All were started before. Clients of `hold` go on until
        that file is gone, which is when the last fault was applied: none can be through before it on a fast machine."""
        started = said = moved = time.monotonic()
        before, waiting = 0, list(faults)
        while any(client.pid() is not None for client in clients):
            now, count = time.monotonic(), progress.look()
            if hold is not None and not waiting:
                hold.unlink(missing_ok=True)
            if count != before:
                before, moved = count, now
            if now - moved > STALL_S:
                raise Stalled(f"{title}: no charge for {STALL_S:.0f} s, {count} of {charges} done")
            if now - said > SAY_EVERY_S:
                said = now
                self._say(
                    f"{title}: {count:,} of {charges:,} charges, {len(waiting)} faults to come, {now - started:.0f} s"
                )
            if waiting and count >= waiting[0].after_charges:
                fault = waiting.pop(0)
                time.sleep(fault.wait_s)
                self.apply(fault, workers)
            else:
                time.sleep(POLL_S)
        if waiting:
            raise Stalled(f"{title}: ended before {len(waiting)} faults were due")


@contextlib.contextmanager
def arena(say: Callable[[str], None]) -> Iterator[Arena]:
    """Its own engines, ended with their data afterwards."""
    engines = PrivateEngines()
    try:
        with Toxiproxy() as proxy:
            yield Arena(engines, proxy, say)
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            engines.close()
