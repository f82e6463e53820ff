"""Toxiproxy on loopback: ports that lead to an engine, and can break what passes."""

from __future__ import annotations

import subprocess
import time
from typing import Self

import httpx

import go_tools
from testing.ports import free_port

# What the size of a fault is called; that of the others is a timeout.
_SIZES = {"limit_data": "bytes", "latency": "latency", "slow_close": "delay"}
# What a broken connection looks like from the client's side. `limit_data` ends it after so many bytes, in the middle of
# an answer or of a commit's confirmation. `timeout` swallows everything. `reset_peer` is a reset.
BREAKS = ("reset_peer", "limit_data", "timeout")


class Toxiproxy:
    """The process; only what it forwards is ever touched."""

    def __init__(self) -> None:
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._api = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", trust_env=False, timeout=10)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [str(go_tools.toxiproxy()), "-host", "127.0.0.1", "-port", str(self._port)],
            env={"LOG_LEVEL": "fatal"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while True:
            try:
                self._api.get("/version")
                return self
            except httpx.TransportError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError("toxiproxy did not start") from None
                time.sleep(0.02)

    def __exit__(self, *_: object) -> None:
        self._api.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def add(self, name: str, port: int) -> int:
        """A port that leads to another one."""
        listen = free_port()
        self._api.post(
            "/proxies", json={"name": name, "listen": f"127.0.0.1:{listen}", "upstream": f"127.0.0.1:{port}"}
        ).raise_for_status()
        return listen

    def break_connections(self, name: str, how: str, size: int) -> None:
        """All connections from now on, until `mend`; `size` is in bytes or milliseconds."""
        attributes = {_SIZES.get(how, "timeout"): 0 if how == "timeout" else size}
        body = {"name": "fault", "type": how, "stream": "downstream", "attributes": attributes}
        self._api.post(f"/proxies/{name}/toxics", json=body).raise_for_status()

    def mend(self, name: str) -> None:
        """Let everything through again."""
        self._api.delete(f"/proxies/{name}/toxics/fault").raise_for_status()

    def cut(self, name: str) -> None:
        """End all connections at once; new ones are taken."""
        for enabled in (False, True):
            self._api.post(f"/proxies/{name}", json={"enabled": enabled}).raise_for_status()
