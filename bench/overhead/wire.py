"""HTTP as bytes: requests made once and sent as they are to either side, and just enough reading of the answers."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import orjson

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LARGEST_HEAD_BYTES = 1 << 20
OK = b"HTTP/1.1 200 "
UNFILLED_KEY = b"<a key that no other request has>"
"""The load generator writes a new Idempotency-Key here each time it sends the request."""


class Refused(RuntimeError):
    """A request was answered with something else than 200."""


class Address(NamedTuple):
    """Where one side listens."""

    host: str
    port: int

    @classmethod
    def of_url(cls, url: str) -> Self:
        """Host and port of an URL."""
        parts = urlsplit(url)
        return cls(parts.hostname or "127.0.0.1", parts.port or 80)


def post(address: Address, path: str, key: str, body: dict[str, Any] | None) -> bytes:
    """A caller's request to the service."""
    raw = b"" if body is None else orjson.dumps(body)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nAccept: */*\r\nX-API-Key: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    )
    return head.encode() + raw


def with_idempotency_key(request: bytes) -> bytes:
    """The same request, with an Idempotency-Key that the load generator fills in."""
    return request.replace(b"\r\nAccept:", b"\r\nIdempotency-Key: " + UNFILLED_KEY + b"\r\nAccept:", 1)


async def read_message(reader: asyncio.StreamReader, *, has_body: bool = True) -> tuple[bytes, bytes]:
    """Head and body of the next request or answer; none here comes in chunks."""
    head = await reader.readuntil(HEAD_END)
    if not has_body:
        return head, b""
    if b"\r\ntransfer-encoding:" in head.lower():
        raise RuntimeError(f"this reader needs a length: {head!r}")
    length = LENGTH.search(head)
    return head, await reader.readexactly(int(length[1])) if length else b""


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close a connection, which the other side may have closed before."""
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


class Connection:
    """A kept connection for one exchange after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, address: Address) -> Self:
        """Connect."""
        return cls(*await asyncio.open_connection(*address, limit=LARGEST_HEAD_BYTES))

    async def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Send a request; the answer's head and body."""
        self._writer.write(request)
        await self._writer.drain()
        # The answer to HEAD has the length of a body, but not the body.
        return await read_message(self._reader, has_body=not request.startswith(b"HEAD "))

    async def ask(self, request: bytes) -> Any:
        """Send a request; the answer's JSON. Raises Refused for anything but 200."""
        head, body = await self.exchange(request)
        if not head.startswith(OK):
            raise Refused(f"{request[:300]!r} was answered with {head + body[:500]!r}")
        return orjson.loads(body)

    async def close(self) -> None:
        """Hang up."""
        await hang_up(self._writer)
