"""haproxy on loopback, before several processes of the service: it sends requests to those that say they are ready."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from engine_host import apt_install
from testing.ports import free_port

HAPROXY = Path("/usr/sbin/haproxy")
# How often it asks for /readyz, and how many answers in a row it takes to believe a no. A service must drain for
# longer than both together.
CHECK_EVERY_MS, NOES = 200, 2

_CONFIGURATION = """
global
    stats socket {folder}/admin level admin
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    # A check that is merely slow, on a busy machine, is not a no.
    timeout check 10s
    # Whatever a restart breaks must be seen: no request is sent twice.
    retries 0
frontend all
    bind 127.0.0.1:{port}
    default_backend services
backend services
    balance roundrobin
    option httpchk GET /readyz
    default-server check inter {every}ms fall {noes} rise 1
{servers}
"""


class Haproxy:
    """The process, in a folder of the test."""

    def __init__(self, folder: Path, ports: Sequence[int]) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        servers = "\n".join(f"    server s{port} 127.0.0.1:{port}" for port in ports)
        self._file = folder / "haproxy.cfg"
        self._file.write_text(
            _CONFIGURATION.format(folder=folder, port=self._port, every=CHECK_EVERY_MS, noes=NOES, servers=servers)
        )
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        apt_install(HAPROXY, "haproxy")
        with (self._folder / "haproxy.log").open("wb") as log:
            self._process = subprocess.Popen([str(HAPROXY), "-f", str(self._file)], stdout=log, stderr=log)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def wait_until_up(self, port: int, within_s: float = 120) -> None:
        """Wait until it sends requests to this service."""
        deadline = time.monotonic() + within_s
        while not self._is_up(port):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the service at port {port} is not ready")
            time.sleep(0.05)

    def _is_up(self, port: int) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as admin:
                admin.connect(str(self._folder / "admin"))
                admin.sendall(b"show stat\n")
                rows = admin.makefile().read().splitlines()
        except OSError:
            return False
        # proxy, server, …, and the 18th column is the state
        return any(row.split(",")[1:2] == [f"s{port}"] and row.split(",")[17] == "UP" for row in rows)
