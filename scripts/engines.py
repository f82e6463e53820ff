"""Run OpenSearch, PostgreSQL and Redis for development and tests, as plain processes on loopback.

    engines.py up | down | status | restart NAME

`up` installs what is missing, starts what does not run and waits until all three answer; `down`
stops what `up` started. Both may be run twice. Tests take one from `engines()` to stop, kill or start.
Only the standard library: this runs before anything is installed. What an engine keeps (data, log,
pid file) is in one folder per engine; `engine_host.py` has all that is not about one engine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path

from engine_host import (
    ENGINES_USER,
    POLL_S,
    EngineError,
    apt_install,
    as_user,
    check_reachable,
    engines_root,
    fetch,
    give,
    java_home,
    locked,
    make_root,
    port_from_environment,
    port_is_free,
    run,
    say,
    spawn,
    tail,
    wait_until,
    works_inside,
)

OPENSEARCH_VERSION = "3.6.0"
# Maven coordinates and the sha256 of the file, so that no mirror can hand us something else.
OPENSEARCH_ZIP = (
    f"org.opensearch.distribution.integ-test-zip:opensearch:{OPENSEARCH_VERSION}:zip",
    "a91faa1dc1cadc78cb278b4f63847e19e1627a4e9de698e14e7efc14ee37b286",
)
KNN_ZIP = (
    f"org.opensearch.plugin:opensearch-knn:{OPENSEARCH_VERSION}.0:zip",
    "ac392ca28a39b3bf290648a422ef30cb149dda2963a9d7feb26060e932341c9a",
)
MIN_JDK = 21
POSTGRES_BIN = Path("/usr/lib/postgresql/15/bin")
REDIS_SERVER = Path("/usr/bin/redis-server")
# The database and the role that owns it, in psql's language: PostgreSQL has no CREATE … IF NOT EXISTS
# for either. CREATEDB is for tests that want a database of their own.
MAKE_DATABASE = r"""
SELECT 'CREATE ROLE siteglass LOGIN CREATEDB'
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'siteglass') \gexec
SELECT 'CREATE DATABASE siteglass OWNER siteglass'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'siteglass') \gexec
"""
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


class OpenSearch(Engine):
    name = "opensearch"
    default_port = 19200
    start_timeout_s = 180
    user = ENGINES_USER

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.home = self.folder / f"opensearch-{OPENSEARCH_VERSION}"
        self.config = self.folder / "config"
        setting = "SITEGLASS_OPENSEARCH_TRANSPORT_PORT"
        self.transport_port = port_from_environment(setting, 19300)
        self.ports[setting] = self.transport_port

    def install(self) -> None:
        java_home(MIN_JDK)  # fails before the download where there is none
        if not self.home.exists():
            self._unpack()
        self.config.mkdir(exist_ok=True)
        for name in ("jvm.options", "log4j2.properties"):
            shutil.copyfile(self.home / "config" / name, self.config / name)
        (self.config / "opensearch.yml").write_text(
            "# Written by scripts/engines.py at every start.\n"
            + "".join(f"{key}: {json.dumps(value)}\n" for key, value in self._settings().items())
        )
        for folder in (self.config, self.home / "logs", self.folder / "data", self.folder / "tmp"):
            give(folder, self.user)

    def _settings(self) -> dict[str, object]:
        return {
            "cluster.name": "siteglass-development",
            "node.name": "development-1",
            "path.data": str(self.folder / "data"),
            "path.logs": str(self.home / "logs"),
            "network.host": HOST,
            "http.port": self.port,
            "transport.port": self.transport_port,
            "discovery.type": "single-node",
            # A misspelt index name must be an error, not a new index with guessed types.
            "action.auto_create_index": False,
            # Part of an answer is a wrong answer, and no search may run for ever.
            "search.default_allow_partial_results": False,
            "search.default_search_timeout": "10s",
            "search_backpressure.mode": "enforced",
            # A developer's disk is often fuller than a server's may be.
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }

    def _unpack(self) -> None:
        downloads = self.folder / "download"
        distribution, plugin = (fetch(*artifact, downloads) for artifact in (OPENSEARCH_ZIP, KNN_ZIP))
        since = time.monotonic()
        # Unpacked aside and renamed when complete: an interrupted `up` leaves no half engine.
        aside = self.folder / "unpacking"
        shutil.rmtree(aside, ignore_errors=True)
        with zipfile.ZipFile(distribution) as archive:
            archive.extractall(aside)
        home = aside / self.home.name
        for program in (home / "bin").iterdir():
            program.chmod(0o755)
        run(
            [str(home / "bin/opensearch-plugin"), "install", "--batch", plugin.as_uri()],
            env=self.environment() | {"OPENSEARCH_PATH_CONF": str(home / "config")},
        )
        home.rename(self.home)
        shutil.rmtree(aside)
        shutil.rmtree(downloads)  # Maven's local repository still has them
        say(self.name, f"unpacked {OPENSEARCH_VERSION} with k-NN", since)

    def environment(self) -> dict[str, str]:
        heap = os.environ.get("ENGINE_HEAP", "1g")
        return super().environment() | {
            "OPENSEARCH_JAVA_HOME": str(java_home(MIN_JDK)),
            "OPENSEARCH_JAVA_OPTS": f"-Xms{heap} -Xmx{heap}",
            "OPENSEARCH_PATH_CONF": str(self.config),
            "OPENSEARCH_TMPDIR": str(self.folder / "tmp"),
        }

    def command(self) -> list[str]:
        return [str(self.home / "bin/opensearch")]

    def answers(self) -> bool:
        return self._get("/", timeout_s=2)

    def make_ready(self) -> None:
        # Let the shards of existing indices come back. A broken index of someone's must not
        # keep the engine down, so the answer is not looked at.
        self._get("/_cluster/health?wait_for_status=yellow&timeout=30s", timeout_s=35)

    def _get(self, path: str, timeout_s: float) -> bool:
        # No proxy, whatever the environment says: this is loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://{HOST}:{self.port}{path}", timeout=timeout_s) as response:
                return bool(response.status == 200)
        except OSError:
            return False


class Postgres(Engine):
    name = "postgres"
    default_port = 15432
    start_timeout_s = 60
    user = "postgres"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.data = self.folder / "data"

    def install(self) -> None:
        apt_install(POSTGRES_BIN / "postgres", "postgresql-15")
        if (self.data / "PG_VERSION").exists():
            return
        since = time.monotonic()
        aside = self.folder / "initialising"
        shutil.rmtree(aside, ignore_errors=True)
        give(aside, self.user)
        run(
            [
                *(str(POSTGRES_BIN / "initdb"), "--pgdata", str(aside), "--username", "postgres"),
                *("--encoding", "UTF8", "--locale", "C.UTF-8", "--data-checksums", "--auth", "trust"),
            ],
            env=self.environment(),
            cwd=aside,
            **as_user(self.user),
        )
        aside.rename(self.data)
        say(self.name, "made an empty data folder", since)

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            "max_connections": 200,
            # What a charge has taken must survive a crash, in tests as in production.
            "fsync": "on",
            "synchronous_commit": "on",
            "unix_socket_directories": self._socket_folder(),
        }
        options = [option for key, value in settings.items() for option in ("-c", f"{key}={value}")]
        return [str(POSTGRES_BIN / "postgres"), "-D", str(self.data), *options]

    def _socket_folder(self) -> str:
        # The system cuts socket names at 107 bytes; a deep checkout does without a socket.
        return str(self.data) if len(os.fsencode(self.data)) < 85 else ""

    def answers(self) -> bool:
        return self._sql("SELECT 1").returncode == 0

    def make_ready(self) -> None:
        made = self._sql(MAKE_DATABASE)
        if made.returncode != 0:
            raise EngineError(f"the database could not be made: {made.stderr}")

    def _sql(self, text: str) -> subprocess.CompletedProcess[str]:
        address = ["--host", HOST, "--port", str(self.port), "--username", "postgres"]
        return subprocess.run(
            [str(POSTGRES_BIN / "psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", *address],
            input=text,
            env=self.environment() | {"PGCONNECT_TIMEOUT": "2"},
            capture_output=True,
            text=True,
            check=False,
        )

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        # SIGTERM lets PostgreSQL wait for its clients to leave; SIGINT is its quick, clean way.
        super().stop(signal.SIGINT if how is signal.SIGTERM else how)


class Redis(Engine):
    name = "redis"
    default_port = 16379
    start_timeout_s = 30
    user = ENGINES_USER

    def install(self) -> None:
        apt_install(REDIS_SERVER, "redis-server")
        give(self.folder / "work", self.user)

    def command(self) -> list[str]:
        settings = {
            "bind": HOST,
            "port": str(self.port),
            "dir": str(self.folder / "work"),
            # It holds only what may be lost, and says so when it is full instead of forgetting.
            "save": "",
            "appendonly": "no",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",
        }
        return [str(REDIS_SERVER), *(word for k, v in settings.items() for word in (f"--{k}", v))]

    def answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def engines() -> dict[str, Engine]:
    root = engines_root()
    return {kind.name: kind(root) for kind in (OpenSearch, Postgres, Redis)}


# --- commands -------------------------------------------------------------------------------------


def up() -> None:
    root = engines_root()
    make_root(root)
    say("folder", str(root))
    with locked(root / "lock"), concurrent.futures.ThreadPoolExecutor() as pool:
        starts = [pool.submit(engine.start) for engine in engines().values()]
        problems = [str(problem) for start in starts if (problem := start.exception())]
    if problems:
        raise EngineError("\n".join(problems))


def down() -> None:
    root = engines_root()
    if not root.exists():
        say("engines", "none were started here")
        return
    with locked(root / "lock"), concurrent.futures.ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda engine: engine.stop(), engines().values()):
            pass


def restart(name: str) -> None:
    root = engines_root()
    make_root(root)
    with locked(root / "lock"):
        engine = engines()[name]
        engine.stop()
        engine.start()


def status() -> bool:
    """Print a line for each engine; whether all of them answer."""
    all_answer = True
    for engine in engines().values():
        pid = engine.pid()
        answers = pid is not None and engine.answers()
        state = "answers" if answers else "stopped" if pid is None else "runs, does not answer"
        say(engine.name, f"{state}, {HOST}:{engine.port}" + (f", pid {pid}" if pid else ""))
        all_answer = all_answer and answers
    say("folder", str(engines_root()))
    return all_answer


def main() -> int:
    parser = argparse.ArgumentParser(description="Run OpenSearch, PostgreSQL and Redis on loopback.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start what does not run, wait until all answer")
    commands.add_parser("down", help="stop what `up` started")
    commands.add_parser("status", help="say what runs; exits with 1 unless all three answer")
    again = commands.add_parser("restart", help="stop and start one engine")
    again.add_argument("engine", choices=[kind.name for kind in (OpenSearch, Postgres, Redis)])
    arguments = parser.parse_args()
    os.umask(0o022)  # the engines' users must be able to read what we write
    try:
        match arguments.command:
            case "up":
                up()
            case "down":
                down()
            case "restart":
                restart(arguments.engine)
            case _:
                return 0 if status() else 1
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
