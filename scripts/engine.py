"""One engine as a process: started once, waited for, stopped, killed. What differs is in `engine_<name>.py`."""

from __future__ import annotations

import os
import signal
import time
from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path

from engine_host import (
    POLL_S,
    EngineError,
    check_reachable,
    port_from_environment,
    port_is_free,
    say,
    spawn,
    tail,
    wait_until,
    works_inside,
)

HOST = "127.0.0.1"

# After a kill, an engine's port and shared memory stay taken until its last child has gone.
PORT_FREE_TIMEOUT_S = 2.0
START_RETRY_S = 10.0
STOP_TIMEOUT_S = 30.0


class Engine(ABC):
    """One engine: what to install, how to run it, how to tell that it answers."""

    name: str
    default_port: int
    start_timeout_s: float
    user: str  # whom it runs as when we are root

    def __init__(self, root: Path) -> None:
        self.root = root  # the folder of all engines
        self.folder = root / self.name
        self.pid_file = self.folder / "pid"
        self.log = self.folder / "log"
        self.port_setting = f"SITEGLASS_{self.name.upper()}_PORT"
        self.port = port_from_environment(self.port_setting, self.default_port)
        self.ports = {self.port_setting: self.port}

    @abstractmethod
    def install(self) -> None:
        """Bring programs, configuration and an empty data folder to where `command` expects them."""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def answers(self) -> bool: ...

    def environment(self) -> dict[str, str]:
        """All that the engine sees of the environment: it outlives us and needs none of our secrets."""
        return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": str(self.folder)}

    def make_ready(self) -> None:  # noqa: B027 -- most engines need nothing
        """What must be done once the engine answers and before others use it; may be done again."""

    def pid(self) -> int | None:
        """The pid of our running process, or None."""
        try:
            pid = int(self.pid_file.read_text())
        except (OSError, ValueError):
            return None
        return pid if works_inside(pid, self.folder) else None

    def start(self) -> None:
        if (pid := self.pid()) is not None:
            # It may be one that another `up` has just started.
            if wait_until(self.answers, self.start_timeout_s):
                self.make_ready()
                say(self.name, f"already running on {HOST}:{self.port}, pid {pid}")
                return
            raise EngineError(
                f"{self.name} runs as pid {pid} but does not answer on port {self.port}: run `make down`, "
                f"then `make up`; its log is {self.log}"
            )
        for setting, port in self.ports.items():
            if not wait_until(partial(port_is_free, HOST, port), PORT_FREE_TIMEOUT_S):
                raise EngineError(
                    f"port {port}, meant for {self.name}, is taken by another program: "
                    f"stop that program, or set {setting} to a free port"
                )
        check_reachable(self.root, self.user)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.install()
        since = time.monotonic()
        pid = self._launch()
        self.make_ready()
        say(self.name, f"answers on {HOST}:{self.port}, pid {pid}", since)

    def _launch(self) -> int:
        deadline = time.monotonic() + self.start_timeout_s
        retry_until = time.monotonic() + START_RETRY_S
        while time.monotonic() < deadline:
            process = spawn(self.command(), self.folder, self.user, self.environment(), self.log)
            self.pid_file.write_text(f"{process.pid}\n")
            while process.poll() is None and time.monotonic() < deadline:
                if self.answers():
                    return process.pid
                time.sleep(POLL_S)
            if time.monotonic() > retry_until:
                break
            time.sleep(0.5)
        raise EngineError(f"{self.name} did not start; the end of {self.log}:\n{tail(self.log)}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        pid = self.pid()
        if pid is None:
            self.pid_file.unlink(missing_ok=True)
            say(self.name, "not running")
            return
        since = time.monotonic()
        os.kill(pid, how)
        if not wait_until(lambda: self.pid() is None, STOP_TIMEOUT_S):
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: self.pid() is None, STOP_TIMEOUT_S)
        self.pid_file.unlink(missing_ok=True)
        say(self.name, "stopped", since)

    def kill(self) -> None:
        """End it without warning, as a crash would."""
        self.stop(signal.SIGKILL)
