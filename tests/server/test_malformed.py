"""What is not HTTP/1.1, or too large to be read, gets one of our error bodies."""

from __future__ import annotations

import time
from contextlib import ExitStack

import pytest

from siteglass.settings import Settings
from testing.service import API_KEY, ServiceProcess, serving, settings_for
from tests.server.raw import CHUNKED, HEALTH, POST, ask, check_error, connected, read_reply, running

GET = b"GET /healthz HTTP/1.1\r\nHost: test\r\n"
MALFORMED = {
    "method": (b"FETCH /healthz HTTP/1.1\r\n\r\n", "invalid method"),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "invalid method"),
    "version": (b"GET /healthz HTTP/9.9\r\n\r\n", "invalid http version"),
    "nul in the path": (b"GET /\x00 HTTP/1.1\r\nHost: test\r\n\r\n", "invalid char in url path"),
    "bytes in the path": (b"GET /\xff\xfe HTTP/1.1\r\nHost: test\r\n\r\n", "invalid char in url path"),
    "connect": (b"CONNECT example.com:80 HTTP/1.1\r\nHost: test\r\n\r\n", "the URL cannot be read"),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", "expected one Host, found none"),
    "two hosts": (GET + b"Host: other\r\n\r\n", "expected one Host, found 2"),
    "header name": (GET + b"Bad Name: x\r\n\r\n", "invalid header token"),
    "header value": (GET + b"Name: a\x00b\r\n\r\n", "invalid header value"),
    "content-length": (POST + b"Content-Length: ten\r\n\r\n", "content-length"),
    "two lengths": (POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "content-length"),
    "two framings": (POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer-encoding"),
    "chunk size": (CHUNKED + b"zz\r\n", "chunk size"),
    "chunk end": (CHUNKED + b"1\r\nabc", "expected"),
    "upgrade with a body": (GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}", "Upgrade"),
}
TOO_LARGE = {
    "one header": (GET + b"Name: " + b"a" * 60_000, "at most 32768 bytes"),
    "headers": (GET + b"".join(b"Name-%d: %s\r\n" % (one, b"a" * 1_000) for one in range(60)), "at most 32768 bytes"),
    "number of headers": (GET + b"a:b\r\n" * 200, "at most 100"),
    "url": (b"GET /" + b"a" * 60_000, "at most 32768 bytes"),
    "line ends": (b"\r\n" * 30_000, "at most 32768 bytes"),
    "chunk extension": (CHUNKED + b"1;" + b"a" * 60_000, "chunk extensions"),
}


@pytest.mark.promise("errors.no_framework")
@pytest.mark.parametrize("case", [*MALFORMED, *TOO_LARGE])
def test_the_body_is_ours(service: ServiceProcess, case: str) -> None:
    sent, said = (MALFORMED | TOO_LARGE)[case]
    (reply,) = ask(service.port, sent)
    check_error(reply, 400, "INVALID_REQUEST", said)
    assert reply.headers["connection"] == "close"


def test_a_health_check_of_http_1_0_needs_no_host(service: ServiceProcess) -> None:
    (reply,) = ask(service.port, b"GET /healthz HTTP/1.0\r\n\r\n")
    assert reply.status == 200


@pytest.mark.parametrize("case", ["method", "chunk size", "headers"])
def test_byte_by_byte(service: ServiceProcess, case: str) -> None:
    sent, said = (MALFORMED | TOO_LARGE)[case]
    # To a path that reads the body first: elsewhere the answer to the missing key may come before the bad chunk.
    sent = sent.replace(b"/v1/leads/search", b"/v1/opt-out")
    size = max(1, len(sent) // 1_000)
    (reply,) = ask(service.port, *(sent[start : start + size] for start in range(0, len(sent), size)))
    check_error(reply, 400, "INVALID_REQUEST", said)


def test_every_worker_has_the_bounds() -> None:
    with running("server", workers=2) as process:
        for _ in range(8):
            (reply,) = ask(process.port, MALFORMED["method"][0])
            check_error(reply, 400, "INVALID_REQUEST", "invalid method")


def test_the_service_of_the_tests_has_them_too() -> None:
    with serving(settings_for("server")) as client:
        (reply,) = ask(client.base_url.port or 0, TOO_LARGE["url"][0])
    check_error(reply, 400, "INVALID_REQUEST", "at most 32768 bytes")


def test_what_is_large_but_allowed(service: ServiceProcess) -> None:
    headers = b"".join(b"Name-%d: %s\r\n" % (one, b"a" * 320) for one in range(90))
    (reply,) = ask(service.port, GET + headers + b"Connection: close\r\n\r\n")
    assert reply.status == 200


def test_an_upgrade_without_a_body_is_ignored(service: ServiceProcess) -> None:
    for protocol in (b"h2c", b"websocket"):
        upgrade = GET + b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\n\r\n"
        found = ask(service.port, upgrade + GET + b"Connection: close\r\n\r\n")
        assert [reply.status for reply in found] == [200, 200]


def test_a_trailer_is_not_a_header(service: ServiceProcess) -> None:
    key = b"X-API-Key: " + API_KEY.encode() + b"\r\n"
    (reply,) = ask(
        service.port, POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + key + b"\r\n"
    )
    assert reply.status == 401


def test_requests_before_a_malformed_one_are_answered(service: ServiceProcess) -> None:
    found = ask(service.port, HEALTH + HEALTH + MALFORMED["method"][0])
    assert [reply.status for reply in found] == [200, 200]
    assert found[1].headers["connection"] == "close"


def test_of_many_pipelined_requests_the_first_are_answered(service: ServiceProcess) -> None:
    found = ask(service.port, HEALTH * 500)
    assert {reply.status for reply in found} == {200}
    assert 1 < len(found) < 500
    assert found[-1].headers["connection"] == "close"


def test_a_body_that_nobody_reads(service: ServiceProcess) -> None:
    # Without a key the body is not read: the response comes at once, the rest is discarded, up to a bound.
    found = ask(service.port, CHUNKED, *[b"10000\r\n" + b"a" * 65_536 + b"\r\n"] * 200)
    assert [reply.status for reply in found] == [401]
    with connected(service.port) as connection:
        connection.sendall(POST + b"Content-Length: 200000\r\n\r\n" + b"a" * 200_000 + HEALTH)
        assert read_reply(connection).status == 401


@pytest.mark.promise("setting.max_connections")
def test_the_maximum_of_connections() -> None:
    with running("server", max_connections=5) as process, ExitStack() as stack:
        time.sleep(0.5)  # until the connection that asked whether it runs is closed
        opened = [stack.enter_context(connected(process.port)) for _ in range(5)]
        for connection in opened:
            connection.sendall(HEALTH)
            assert read_reply(connection).status == 200
        (reply,) = ask(process.port, HEALTH)
        check_error(reply, 503, "UNAVAILABLE", "Try again in 1 s")
        assert reply.headers["retry-after"] == "1"
        opened[0].sendall(HEALTH)
        assert read_reply(opened[0]).status == 200
        opened[1].close()
        time.sleep(2.5)  # the refused one lingers
        assert ask(process.port, GET + b"Connection: close\r\n\r\n")[0].status == 200


def test_the_default_leaves_room_for_other_files() -> None:
    # 1,024 is what many systems allow a process to open; the engines need some.
    assert 500 <= Settings().max_connections <= 900
