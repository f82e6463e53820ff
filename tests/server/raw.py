"""Requests byte by byte, as no HTTP library sends them, and what comes back."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psutil

from testing.service import ServiceProcess, settings_for

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n"
POST = b"POST /v1/leads/search HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Reply:
    """One response."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@contextlib.contextmanager
def running(prefix: str, **changes: Any) -> Iterator[ServiceProcess]:
    """`siteglass serve` with these settings; its workers end with it."""
    process = ServiceProcess(settings_for(prefix, **changes))
    try:
        process.start(within_s=120)  # with worker processes it takes three times as long
        yield process
    finally:
        workers = psutil.Process(process.pid()).children(recursive=True)
        process.kill()
        for worker in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()


@contextlib.contextmanager
def connected(port: int, timeout_s: float = 10) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    """All that comes until the service closes the connection; raises TimeoutError if it does not."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            received += part
    return received


def replies(received: bytes) -> list[Reply]:
    """The responses in these bytes; each of the service's responses has its length."""
    parsed = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        status_line, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers["content-length"])
        parsed.append(Reply(int(status_line.split()[1]), headers, rest[:length]))
        received = rest[length:]
    return parsed


def read_reply(connection: socket.socket) -> Reply:
    """One response on a connection that stays open."""
    received = b""
    while b"\r\n\r\n" not in received or len(replies(received)[0].body) < int(
        replies(received)[0].headers["content-length"]
    ):
        part = connection.recv(65_536)
        assert part, f"closed after {received!r}"
        received += part
    return replies(received)[0]


def ask(port: int, *parts: bytes) -> list[Reply]:
    """Send the parts on one connection and read until the service closes it."""
    with connected(port) as connection:
        with contextlib.suppress(ConnectionError):  # refused before all was sent
            for part in parts:
                connection.sendall(part)
        return replies(read_to_end(connection))


def check_error(reply: Reply, status: int, code: str, said: str) -> None:
    """The reply is one of our error bodies, as any other."""
    assert reply.status == status
    assert reply.headers["content-type"] == "application/json"
    assert len(reply.headers["x-request-id"]) == 36
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["link"] == f'</docs/errors/{code}>; rel="help"'
    body = reply.json()
    assert list(body) == ["error", "message", "details"][: 3 if status == 400 else 2]
    assert body["error"] == code
    assert said in body["message"]
