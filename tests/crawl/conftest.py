"""A made-up web on loopback: pages by host and path, a DNS server that leads there, and a record of each request."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from siteglass.settings import Settings, environment_of
from testing.loopback_servers import Names, naming, running
from testing.ports import free_port
from testing.service import RUN_PREFIX, make_test_account, settings_for

SITEGLASS = Path(sys.executable).parent / "siteglass"


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0


NOT_FOUND = Answer(b"<html><title>Not found</title></html>", 404, {"Content-Type": "text/html"})


@dataclass(frozen=True)
class Request:
    at: float
    host: str
    path: str
    user_agent: str
    etag: str
    """That the page is to be sent only if it is another one."""


@dataclass
class Web:
    """What is served from now on, and what was requested."""

    names: Names
    port: int = 0
    pages: dict[tuple[str, str], Answer] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    listen: Callable[[str], AbstractContextManager[int]] = field(init=False)
    """Serve the same at another address of this machine, too."""

    def say(self, url: str, body: str = "", status: int = 200, delay_s: float = 0, **headers: str) -> None:
        """Serve this at host/path; the host is in DNS from now on."""
        host, _, path = url.partition("/")
        self.names.say(host, "A", ["127.0.0.1"])
        headers.setdefault("Content-Type", "text/html; charset=utf-8")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[host, f"/{path}"] = Answer(body.encode(), status, named, delay_s)

    def paths(self, host: str) -> list[str]:
        """What was requested of a host, in order."""
        return [request.path for request in self.requests if request.host == host]


@pytest.fixture
def web() -> Iterator[Web]:
    with naming() as names:
        made = Web(names)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                host = self.headers["Host"].partition(":")[0]
                etag = self.headers.get("If-None-Match", "")
                made.requests.append(Request(time.time(), host, self.path, self.headers["User-Agent"], etag))
                answer = made.pages.get((host, self.path), NOT_FOUND)
                if etag and etag == answer.headers.get("ETag"):
                    answer = Answer(b"", 304, {"ETag": etag})
                time.sleep(answer.delay_s)
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self) -> tuple[socket.socket, Any]:
                made.connections += 1
                return super().get_request()

            def handle_error(self, *_: Any) -> None:
                pass

        with running(Server(("127.0.0.1", 0), Handler)) as made.port:
            made.listen = lambda address: running(Server((address, made.port), Handler))
            yield made


@pytest.fixture
def crawl_settings(web: Web, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Settings]:
    """A frontier of the test's own, short delays, and the made-up web."""
    name = f"crawl_{zlib.crc32(request.node.nodeid.encode()):x}"
    settings = settings_for(
        name,
        lead_store=tmp_path / "leads",
        dns_servers=(f"127.0.0.1:{web.names.port}",),
        outgoing_allowed=("127.0.0.0/8",),
        crawl_http_port=web.port,
        crawl_https_port=free_port(),
        crawl_schema=f"{RUN_PREFIX}_{name}",
        crawl_contact="https://operator.example/crawler",
        crawl_domain_delay_ms=100,
        crawl_address_delay_ms=5,
    )
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    yield settings
    asyncio.run(drop_frontier(settings))


async def drop_frontier(settings: Settings) -> None:
    connection = await asyncpg.connect(settings.crawl_dsn, timeout=10)
    await connection.execute(f"DROP SCHEMA IF EXISTS {settings.crawl_schema} CASCADE")
    await connection.close()


def siteglass(settings: Settings, *words: str) -> str:
    """What a command printed, which must succeed."""
    done = subprocess.run(
        [str(SITEGLASS), *words],
        env={**os.environ, **environment_of(settings)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def start_crawl(
    settings: Settings, folder: Path, *domains: str, options: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    """`siteglass crawl run` as an operator runs it."""
    listed = folder / "domains.txt"
    listed.write_text("".join(f"{domain}\n" for domain in domains))
    return subprocess.Popen(
        [str(SITEGLASS), "crawl", "run", str(listed), "--work", str(folder / "work"), *options],
        env={**os.environ, **environment_of(settings)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_crawl(settings: Settings, folder: Path, *domains: str, options: tuple[str, ...] = ()) -> str:
    """The same to its end; what it printed."""
    process = start_crawl(settings, folder, *domains, options=options)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    return out + err
