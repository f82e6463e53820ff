"""Connections that send without end, from a separate process: `python -m tests.server.hostile PORT SECONDS KIND…`.

Nothing that they are answered is read. A connection that is closed is opened again.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import sys
import threading
import time

from tests.server.raw import CHUNKED, HEALTH, POST

CONNECTIONS = 20
HEAD = b"GET /healthz HTTP/1.1\r\nHost: test\r\n"
# What a connection begins with, and what it repeats.
KINDS = {
    "headers": (HEAD, b"Name: value\r\n" * 5_000),
    "short-headers": (HEAD, b"a:\r\n" * 15_000),
    "one-header": (HEAD + b"Name: ", b"a" * 65_536),
    "url": (b"GET /", b"a" * 65_536),
    "line-ends": (b"", b"\r\n" * 30_000),
    "chunks": (CHUNKED, b"10000\r\n" + b"a" * 65_536 + b"\r\n"),
    "small-chunks": (CHUNKED, b"1\r\na\r\n" * 10_000),
    "extension": (CHUNKED + b"1;", b"a" * 65_536),
    "trailer": (CHUNKED + b"0\r\nName: ", b"a" * 65_536),
    "trailers": (CHUNKED + b"0\r\n", b"Name: value\r\n" * 5_000),
    "long-body": (POST + b"Content-Length: 1000000000000\r\n\r\n", b"a" * 65_536),
    "pipelined": (b"", HEALTH * 2_000),
    "pipelined-bodies": (b"", (POST + b"Content-Length: 2\r\n\r\n{}") * 1_000),
}


def _send(port: int, kind: str, until: float) -> None:
    first, repeated = KINDS[kind]
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(first)
            while time.monotonic() < until:
                connection.sendall(repeated)


def main(port: int, seconds: float, kinds: list[str]) -> None:
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_send, args=(port, kind, until))
        for kind in itertools.islice(itertools.cycle(kinds), CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
