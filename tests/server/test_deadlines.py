"""Connections that send, read or do nothing are closed in time; those between requests stay open for load balancers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from siteglass.settings import Settings
from siteglass.web.server import BoundedProtocol, Bounds, server_options
from testing.service import API_KEY, ServiceProcess, serving, settings_for
from tests.server.raw import HEALTH, POST, check_error, connected, read_reply, read_to_end, replies

HALF_OPEN = 300
GONE_WITHIN_S = 15.0
PARTS = (b"", b"GET /healthz HTTP/1.1\r\nHost: te", b"\r\n")


@contextmanager
def short(**bounds: float) -> Iterator[int]:
    """The port of a service with shorter times."""
    made = Bounds(**{"max_connections": 100, "max_body_bytes": 65_536, **bounds})  # type: ignore[arg-type]
    with serving(settings_for("server"), http=partial(BoundedProtocol, bounds=made)) as client:
        yield client.base_url.port or 0


def test_half_open_connections_are_closed(service: ServiceProcess) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(connected(service.port)) for _ in range(HALF_OPEN)]
        for number, connection in enumerate(opened):
            connection.sendall(PARTS[number % len(PARTS)])
        started = time.monotonic()
        trickling = opened[1 :: len(PARTS)]
        while (waited := time.monotonic() - started) < 8:  # a byte now and then is not progress
            for connection in trickling:
                connection.sendall(b"s")
            time.sleep(min(2, 8 - waited))
        for number, connection in enumerate(opened):
            connection.settimeout(max(0.01, started + GONE_WITHIN_S - time.monotonic()))
            found = replies(read_to_end(connection))
            # Nobody has asked for anything on a connection that sent nothing: it is closed without a word.
            assert [reply.status for reply in found] == ([400] if number % len(PARTS) else [])
            for reply in found:
                check_error(reply, 400, "INVALID_REQUEST", "headers: not received within 10 s")


def test_idle_connections_stay_open(service: ServiceProcess) -> None:
    with connected(service.port) as connection:
        connection.sendall(HEALTH)
        read_reply(connection)
        time.sleep(6.5)  # uvicorn's own default is 5 s
        connection.sendall(HEALTH)
        assert read_reply(connection).status == 200


def test_they_stay_open_longer_than_load_balancers_keep_them() -> None:
    bounds: Bounds = server_options(Settings())["http"].keywords["bounds"]
    assert bounds.keep_alive_s >= 75


def test_idle_connections_are_closed_in_the_end() -> None:
    with short(keep_alive_s=1.5) as port, connected(port) as connection:
        connection.sendall(HEALTH)
        read_reply(connection)
        time.sleep(1)
        connection.sendall(HEALTH)
        read_reply(connection)
        started = time.monotonic()
        assert read_to_end(connection) == b""
        assert 1.3 < time.monotonic() - started < 5


def test_a_byte_does_not_keep_an_idle_connection() -> None:
    with short(head_s=1) as port, connected(port) as connection:
        connection.sendall(HEALTH)
        read_reply(connection)
        connection.sendall(b"\r\n")
        (reply,) = replies(read_to_end(connection))
        check_error(reply, 400, "INVALID_REQUEST", "headers: not received within 1 s")


@pytest.mark.parametrize("head", [b"Content-Length: 10\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
def test_a_body_that_does_not_arrive(head: bytes) -> None:
    key = f"X-API-Key: {API_KEY}\r\n".encode()
    with short(body_s=1) as port, connected(port) as connection:
        connection.sendall(POST + key + head)
        (reply,) = replies(read_to_end(connection))
        check_error(reply, 400, "INVALID_REQUEST", "body: not received within 1 s")


def test_a_body_that_nobody_reads_does_not_keep_the_connection() -> None:
    with short(body_s=1) as port, connected(port) as connection:
        connection.sendall(POST + b"Content-Length: 10\r\n\r\n{")
        (reply,) = replies(read_to_end(connection))
        assert reply.status == 401


def test_a_client_that_does_not_read() -> None:
    with short(write_s=1) as port, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(("127.0.0.1", port))
        connection.settimeout(10)
        request = HEALTH.replace(b"/healthz", b"/openapi.json")
        assert _is_closed_while_asking(connection, request)


def _is_closed_while_asking(connection: socket.socket, request: bytes) -> bool:
    try:
        for _ in range(200):  # the system alone buffers some four megabytes of responses
            connection.sendall(request)
            time.sleep(0.05)
    except ConnectionError:
        return True
    return False


def test_a_client_that_reads_slowly_gets_everything(service: ServiceProcess) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(("127.0.0.1", service.port))
        connection.settimeout(10)
        connection.sendall(
            HEALTH.replace(b"/healthz", b"/openapi.json").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        )
        time.sleep(2)
        (reply,) = replies(read_to_end(connection))
        assert reply.json()["openapi"]
