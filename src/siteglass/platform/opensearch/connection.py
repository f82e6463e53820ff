"""One kept HTTP/1.1 connection to a node, with one request at a time on it.

No gzip is asked for: it costs the engine up to 0.9 ms per page.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from base64 import b64encode
from dataclasses import dataclass
from typing import Self, cast
from urllib.parse import quote, unquote, urlsplit

import httptools

MAX_RESPONSE_BYTES = 256 * 1024 * 1024


class ConnectionFailed(Exception):
    """The connection could not be made, broke, or carried something other than HTTP."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a node listens, and what every request to it carries."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    prefix: str
    headers: bytes

    @classmethod
    def parse(cls, url: str, tls: ssl.SSLContext | None) -> Self:
        """Read a URL such as `https://user:password@node:9200`; raises ValueError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an http URL: {parts.scheme}://{parts.hostname}")
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        headers = f"Host: {host}:{port}\r\nAccept-Encoding: identity\r\n"
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            headers += f"Authorization: Basic {b64encode(login).decode()}\r\n"
        return cls(parts.hostname, port, tls if secure else None, parts.path.rstrip("/"), headers.encode("latin-1"))

    def request(self, method: str, path: str, params: dict[str, str], body: bytes | None, *, ndjson: bool) -> bytes:
        """The bytes of a request."""
        query = f"?{'&'.join([f'{name}={_quoted(value)}' for name, value in params.items()])}" if params else ""
        head = f"{method} {self.prefix}{path}{query} HTTP/1.1\r\n".encode("ascii") + self.headers
        if body is None:
            return head + b"\r\n"
        kind = b"x-ndjson" if ndjson else b"json"
        return b"%bContent-Type: application/%b\r\nContent-Length: %d\r\n\r\n%b" % (head, kind, len(body), body)


@functools.lru_cache(1_000)
def _quoted(value: str) -> str:
    """The value of a parameter. Nearly all are the same in every request."""
    return quote(value, safe="")


def with_header(request: bytes, name: str, value: str) -> bytes:
    """The bytes of a request with one more header."""
    first_line, rest = request.split(b"\r\n", 1)
    return b"%b\r\n%b: %b\r\n%b" % (first_line, name.encode("ascii"), value.encode("ascii"), rest)


class Connection(asyncio.Protocol):
    """A kept connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._parts: list[bytes] = []
        self._size = 0

    @classmethod
    async def open(cls, address: Address) -> Self:
        """A new connection; raises ConnectionFailed."""
        loop = asyncio.get_running_loop()
        try:
            _, made = await loop.create_connection(cls, address.host, address.port, ssl=address.tls)
        except OSError as error:
            raise ConnectionFailed(type(error).__name__) from error
        return made

    @property
    def usable(self) -> bool:
        """Whether another request can be sent on it."""
        return self._transport is not None and not self._transport.is_closing() and self._answer is None

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer; raises ConnectionFailed. Whoever stops waiting ends the connection."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectionFailed("it was closed")
        self._answer = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(request)
        try:
            return await self._answer
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it; a request that waits fails."""
        if self._transport is not None:
            self._transport.abort()

    # --- called by asyncio -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._fail(type(exc).__name__ if exc else "the node closed the connection")

    def data_received(self, data: bytes) -> None:
        if self._parser is None or self._answer is None:
            self.close()  # nothing was asked
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(f"not HTTP: {type(error).__name__}")
            self.close()

    # --- called by the parser ----------------------------------------------------------------------

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > MAX_RESPONSE_BYTES:
            self._fail(f"an answer of more than {MAX_RESPONSE_BYTES:,} bytes")
            self.close()
            return
        self._parts.append(body)

    def on_message_complete(self) -> None:
        parser, answer, body = self._parser, self._answer, b"".join(self._parts)
        self._answer, self._parts, self._size = None, [], 0
        if parser is None or answer is None or answer.done():
            return
        if not parser.should_keep_alive():
            self.close()
        answer.set_result((parser.get_status_code(), body))

    def _fail(self, problem: str) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(ConnectionFailed(problem))
