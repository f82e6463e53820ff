"""How the service listens: uvicorn's options, and a protocol that bounds what a stranger can make a worker hold.

uvicorn limits neither the size of headers nor the time that a request takes to arrive; see decision 0015. Every
connection has a deadline, which is checked once a second: a request only pays for setting a number.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import time
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from siteglass.errors import BadRequest, PayloadTooLarge, Problem, SiteglassError, Unavailable
from siteglass.platform.logs import new_request_id
from siteglass.platform.metrics import CONNECTIONS, record_response
from siteglass.settings import Settings
from siteglass.web.address import trusted_proxies
from siteglass.web.draining import STATE_KEY
from siteglass.web.responses import error_response

log = logging.getLogger("siteglass.server")

CHECK_EVERY_S = 1.0
# A larger read is parsed in pieces of this size, so that a bound is noticed before all of it is stored.
PIECE_BYTES = 16_384
# A client that sends a body over the limit may finish it and read the 413, up to this multiple of the limit. Chunks of
# one byte, which are legal, take six times their content.
SENT_PER_BODY_BYTE = 64
# A refused connection stays open for so long, unread. If it were closed with unread bytes, the system would reset it,
# and the client would lose the response. A hostile client could also open the next one immediately.
LINGER_S = 1.0
SMALL_PART_BYTES = 256
# What the system holds of a connection until we read it, and so what one read can bring. The system's own default grows
# to megabytes; twenty such reads in a row would delay everybody else.
RECEIVE_BUFFER_BYTES = 65_536
# So many connections beyond the maximum are refused with a response; further ones are reset.
REFUSED_AT_ONCE = 100

_BODY_HEADERS = (b"content-length", b"transfer-encoding")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one connection may use. Operators set the number of connections and the size of bodies, not the others."""

    max_connections: int
    max_body_bytes: int
    max_head_bytes: int = 32_768
    """Request line and headers together. Our longest URL, that of a cursor, has 6 kB."""
    max_headers: int = 100
    max_small_parts: int = 1_000
    """Chunks of one body below SMALL_PART_BYTES, and trailers: each costs a call, however small it is."""
    head_s: float = 10.0
    """From the first byte of a request, or from the start of the connection, to the end of the headers."""
    body_s: float = 30.0
    """From the end of the headers to the end of the body."""
    write_s: float = 30.0
    """For a client to read what fills the write buffer."""
    keep_alive_s: float = 90.0
    """Between requests. Load balancers keep idle connections for 60 to 75 s: if we closed one first, a request that is
    already on its way would become a 502."""
    max_pipelined: int = 16
    """Requests that wait on one connection while an earlier one is answered."""


def server_options(settings: Settings) -> dict[str, Any]:
    """The options of uvicorn, the same for `siteglass serve` and for tests."""
    bounds = Bounds(max_connections=settings.max_connections, max_body_bytes=settings.max_body_bytes)
    return {
        "http": partial(BoundedProtocol, bounds=bounds),
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": 10,
        # A new worker answers once it has imported the package. On a busy machine that takes longer than uvicorn's 5 s,
        # and the worker would be killed and started again for ever.
        "timeout_worker_healthcheck": 30,
        "forwarded_allow_ips": trusted_proxies(settings),
    }


class _Phase(Enum):
    """What the connection is receiving."""

    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    REFUSED = auto()
    """Further bytes are discarded."""


# Names of the module: those of an Enum are slow to look up, and it is done for every header.
_IDLE, _HEAD, _BODY, _REFUSED = _Phase


class BoundedProtocol(HttpToolsProtocol):
    """A connection that is closed when it takes too much memory or time, with our error body where it can be read."""

    def __init__(self, *arguments: Any, bounds: Bounds, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._bounds = bounds
        self._phase = _IDLE
        self._now = self.loop.time()
        self._deadline = self._now + bounds.head_s
        self._write_deadline = math.inf
        self._timer: asyncio.TimerHandle | None = None
        # Received since the last part of a body or the last end of a section: what the parser may be storing.
        self._section_bytes = 0
        # Received since the request began or, after its headers, since the body began.
        self._sent_bytes = 0
        self._small_parts = 0
        self._hosts = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        CONNECTIONS.set(len(self.connections))
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        excess = len(self.connections) - self._bounds.max_connections
        if excess > REFUSED_AT_ONCE:
            transport.abort()
            return
        self._timer = self.loop.call_later(CHECK_EVERY_S, self._check)
        if excess > 0:
            self._refuse(Unavailable(f"all {self._bounds.max_connections} connections are in use"))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)
        CONNECTIONS.set(len(self.connections))

    # --- what arrives -----------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._phase is _REFUSED:
            return
        self._now = self.loop.time()
        if self._phase is _IDLE:
            self._begin_head()
        try:
            for start in range(0, len(data), PIECE_BYTES):
                self._feed(data[start : start + PIECE_BYTES])
        except SiteglassError as error:
            self._refuse(error)
        except httptools.HttpParserError as error:
            raised = error.__context__  # by a callback below
            self._refuse(raised if isinstance(raised, SiteglassError) else _malformed(error))

    def _feed(self, piece: bytes) -> None:
        self._section_bytes += len(piece)
        self._sent_bytes += len(piece)
        while piece:
            try:
                self.parser.feed_data(piece)
                break
            except httptools.HttpParserUpgrade as upgrade:
                # Only HTTP/1.1 is supported. The request, which has no body, is answered as if it did not ask for
                # another protocol, and what follows is the next request.
                piece = piece[upgrade.args[0] :]
        bounds = self._bounds
        if self._section_bytes > bounds.max_head_bytes:
            what = "chunk extensions and trailers" if self._phase is _BODY else "request line and headers"
            raise BadRequest([Problem("headers", f"{what} may have at most {bounds.max_head_bytes} bytes; send less")])
        if self._sent_bytes > bounds.max_body_bytes * SENT_PER_BODY_BYTE and self._phase is _BODY:
            raise PayloadTooLarge(bounds.max_body_bytes)

    def _begin_head(self) -> None:
        self._phase = _HEAD
        self._section_bytes = self._sent_bytes = self._hosts = 0
        self._deadline = self._now + self._bounds.head_s

    def on_message_begin(self) -> None:
        if self._phase is _IDLE:  # a pipelined request: it came in the same read as the one before
            self._begin_head()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._phase is _BODY:
            # A trailer. uvicorn would add it to the headers, which were read and checked already.
            self._count_small_part()
            return
        if len(self.headers) >= self._bounds.max_headers:
            raise BadRequest([Problem("headers", f"there may be at most {self._bounds.max_headers}; send fewer")])
        # As in uvicorn; a separate call for every header would be most of the cost of the bounds.
        name, value = name.lower(), value.strip(b" \t")  # blanks around a value are not part of it (RFC 9110, 5.5)
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        elif name == b"host":
            self._hosts += 1
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        # What is between us and the client could take another host than we do (RFC 9112, 3.2).
        if self._hosts != 1 and (self._hosts or self.parser.get_http_version() != "1.0"):
            found = "none" if not self._hosts else str(self._hosts)
            raise BadRequest(
                [Problem("headers", f"expected one Host, found {found}; send the name of the service once")]
            )
        if len(self.pipeline) >= self._bounds.max_pipelined:
            raise BadRequest([Problem("request", "too many pipelined requests on one connection; wait for responses")])
        if self.parser.should_upgrade() and any(
            name in _BODY_HEADERS and value != b"0" for name, value in self.headers
        ):
            # The parser would skip the body, and take it for the next request.
            raise BadRequest([Problem("headers", "Upgrade is not supported; send the request without it, as HTTP/1.1")])
        super().on_headers_complete()
        drain = self.app_state.get(STATE_KEY)
        if drain is not None and drain.begun:
            self.cycle.keep_alive = False  # the caller's next request is for another worker
        self._phase = _BODY
        self._section_bytes = self._sent_bytes = self._small_parts = 0
        self._deadline = self._now + self._bounds.body_s

    def on_body(self, body: bytes) -> None:
        self._section_bytes = 0
        if len(body) < SMALL_PART_BYTES:
            self._count_small_part()
        super().on_body(body)

    def _count_small_part(self) -> None:
        self._small_parts += 1
        if self._small_parts > (most := self._bounds.max_small_parts):
            small = f"more than {most} parts of less than {SMALL_PART_BYTES} bytes"
            raise BadRequest([Problem("body", f"sent in {small}; send larger chunks")])

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._phase = _IDLE
        # While the request is answered, its own timeouts hold. A response may be complete before its request is.
        self._deadline = self._now + self._bounds.keep_alive_s if self.cycle.response_complete else math.inf

    # --- what is answered -------------------------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        # Not uvicorn's own: its timer for idle connections is cancelled by any byte, and not set again after a body
        # that outlasts its response.
        self.server_state.total_requests += 1
        self._now = self.loop.time()
        if self.transport.is_closing():
            self._deadline = self._now + self._bounds.write_s
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            if self._phase is _BODY:  # its time begins now: reading was paused
                self._deadline = self._now + self._bounds.body_s
        elif self._phase is _IDLE:
            self._deadline = self._now + self._bounds.keep_alive_s
        elif self._phase is _HEAD:
            self._deadline = self._now + self._bounds.head_s

    def pause_writing(self) -> None:
        self._write_deadline = self.loop.time() + self._bounds.write_s
        super().pause_writing()

    def resume_writing(self) -> None:
        self._write_deadline = math.inf
        super().resume_writing()

    # --- what is refused --------------------------------------------------------------------------------------------

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, whatever uvicorn's types say
        return cycle is not None and not cycle.response_complete

    def _check(self) -> None:
        self._timer = self.loop.call_later(CHECK_EVERY_S, self._check)
        self._now = self.loop.time()
        if self._now >= self._write_deadline:
            self.transport.abort()
        elif self._now >= self._deadline:
            self._expire()

    def _expire(self) -> None:
        bounds = self._bounds
        if self._phase is _REFUSED or self.transport.is_closing():
            self.transport.abort()
        elif self._phase is _IDLE:
            # Silently: browsers open connections in advance, and would take an error for the response to a request.
            self._deadline = self._now + LINGER_S
            self.transport.close()
        elif self.pipeline or (self._phase is _HEAD and self._is_answering()):
            self._deadline = math.inf  # reading may be paused; the time begins when the requests before are answered
        elif self._phase is _HEAD:
            self._refuse(BadRequest([Problem("headers", f"not received within {bounds.head_s:g} s; send them faster")]))
        else:
            self._refuse(BadRequest([Problem("body", f"not received within {bounds.body_s:g} s; send it faster")]))

    def _refuse(self, error: SiteglassError) -> None:
        """Answer with the error if the client can tell what it belongs to, and close the connection."""
        in_body = self._phase is _BODY
        self._phase = _REFUSED
        self._deadline = self.loop.time() + LINGER_S
        self.flow.pause_reading()
        if in_body and (self.pipeline or self.cycle.response_started):
            return  # the response has begun, or is not next in line: nothing can be written for this request
        if self._is_answering() and not in_body:
            # The client would take the error for the response to an earlier request. That one is the last to come.
            self.cycle.keep_alive = False
            self._deadline = math.inf
            return
        if in_body:
            self.cycle.disconnected = True  # its handler stops waiting for the body, and its response is dropped
            self.cycle.message_event.set()
        self._send_error(error)

    def _send_error(self, error: SiteglassError) -> None:
        request_id = new_request_id()
        if isinstance(error, Unavailable):
            log.warning("unavailable", extra={"request_id": request_id, "reason": error.reason})
        response = error_response(error)
        response.headers.update({"X-Request-Id": request_id, "Connection": "close"})
        lines = [STATUS_LINE[error.status]]
        for name, value in (*self.server_state.default_headers, *response.raw_headers):
            lines += (name, b": ", value, b"\r\n")
        self.transport.write(b"".join((*lines, b"\r\n", response.body)))
        self.transport.write_eof()
        record_response(log, "connection", request_id, error.status, time.perf_counter())


def _malformed(error: httptools.HttpParserError) -> BadRequest:
    """What the parser says about a request; of our callbacks only the reading of the URL fails."""
    url = isinstance(error, httptools.HttpParserCallbackError)
    reason = "the URL cannot be read" if url else str(error).lower()
    return BadRequest([Problem("request", f"not valid HTTP/1.1: {reason}; check the request as it is sent")])
