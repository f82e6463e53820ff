"""A web of broken and hostile servers on loopback. Each request is recorded with its time, so that a test can say how
long the shortest gap was, and that nothing forbidden was fetched.

The name of a host begins with what it does: `bomb-3.example` sends a gzip bomb. `KINDS` has all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from testing.loopback_servers import Names

# Every robots.txt that can be read forbids this; each home page links to a contact page in it.
FORBIDDEN = "/private/"
ROBOTS = f"User-agent: *\nDisallow: {FORBIDDEN}\n"
LINKS = "".join(f'<a href="{path}">{path[1:]}</a> ' for path in (f"{FORBIDDEN}contact", "/imprint", "/about", "/team"))
HOME = f"<html lang='en'><head><title>A house</title></head><body><p>We build houses.</p>{LINKS}</body></html>"
SLOW_S = 0.1
CRAWL_DELAY_S = 1
# Zeros that gzip makes a thousandth of.
BOMB = gzip.compress(bytes(100_000_000))
_TRICKLE_S = 0.2


@dataclass(frozen=True)
class Request:
    """One that a server received."""

    at: float
    host: str
    address: str
    path: str

    @property
    def domain(self) -> str:
        """The registrable domain: its last two labels, in this web."""
        return ".".join(self.host.split(".")[-2:])


@dataclass
class Exchange:
    """What a kind of host answers with."""

    request: Request
    port: int
    writer: asyncio.StreamWriter

    async def send(self, body: str | bytes = b"", status: int = 200, **headers: str) -> None:
        """A whole response, after which the connection stays."""
        content = body.encode() if isinstance(body, str) else body
        fields = {"Content-Type": "text/html", "Content-Length": str(len(content)), **headers}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        await self.raw(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + content)

    async def raw(self, data: bytes) -> None:
        """Bytes as they are; raises ConnectionError once the client has gone."""
        self.writer.write(data)
        await self.writer.drain()


Behaviour: TypeAlias = Callable[[Exchange], Awaitable[None]]


async def plain(exchange: Exchange) -> None:
    """A site as it should be."""
    path = exchange.request.path
    if path == "/robots.txt":
        await exchange.send(ROBOTS, Content_Type="text/plain")
    elif path == "/sitemap.xml":
        await exchange.send("<urlset></urlset>", Content_Type="application/xml")
    else:
        await exchange.send(HOME)


async def slow(exchange: Exchange) -> None:
    await asyncio.sleep(SLOW_S)
    await plain(exchange)


async def delayed(exchange: Exchange) -> None:
    if exchange.request.path == "/robots.txt":
        await exchange.send(f"{ROBOTS}Crawl-delay: {CRAWL_DELAY_S}\n", Content_Type="text/plain")
    else:
        await plain(exchange)


async def endless_body(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\n\r\n")
    while True:
        await exchange.raw(b"<p>more</p>" * 2_000)


async def endless_headers(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 X\r\n")
    for number in range(10_000_000):
        await exchange.raw(b"X-%d: more\r\n" % number * 50)


async def tarpit(exchange: Exchange) -> None:
    while True:
        await exchange.raw(b"H" if exchange.request.path == "/robots.txt" else b"")
        await asyncio.sleep(_TRICKLE_S)


async def bomb(exchange: Exchange) -> None:
    await exchange.send(BOMB, Content_Encoding="gzip")


async def loop(exchange: Exchange) -> None:
    await exchange.send(status=302, Location="/a" if exchange.request.path == "/" else "/")


async def chain(exchange: Exchange) -> None:
    """Robots.txt too redirects without end, which allows everything: RFC 9309, 2.3.1.2."""
    await exchange.send(status=301, Location=exchange.request.path + "x")


async def calendar(exchange: Exchange) -> None:
    """Each page links to the next month, as the contact page."""
    links = "".join(f'<a href="/contact/{time.time_ns() + number}">Contact</a>' for number in range(200))
    await exchange.send(f"<html><body>{links}</body></html>")


async def wildcard(exchange: Exchange) -> None:
    """Any name below it leads here, and each page links to new names."""
    links = "".join(
        f'<a href="http://{word}{time.time_ns()}.{exchange.request.domain}/{word}">{word}</a>'
        for word in ("contact", "imprint", "about", "team", "shop", "booking")
    )
    await exchange.send(f"<html><body>{links}</body></html>")


async def unavailable(exchange: Exchange) -> None:
    await exchange.send("down", 503)


async def busy(exchange: Exchange) -> None:
    await exchange.send("slow down", 429, Retry_After="120")


async def dropped(exchange: Exchange) -> None:
    """The second request of a connection finds it closed, so clients send again by themselves."""
    await plain(exchange)
    raise ConnectionResetError


async def cut(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 X\r\nContent-Length: 100000\r\n\r\n" + HOME.encode())
    raise ConnectionResetError


async def garbled(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 X\r\nno colon here\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok")
    raise ConnectionResetError


async def inward(exchange: Exchange) -> None:
    """Leads into the network of the crawler."""
    await exchange.send(status=302, Location=f"http://inside.{exchange.request.domain}:{exchange.port}/")


# What the servers do, by kind; those of READABLE have a robots.txt as it should be.
READABLE: dict[str, Behaviour] = {
    "plain": plain,
    "crowd": plain,
    "tls": plain,
    "loop": loop,
    "calendar": calendar,
    "wildcard": wildcard,
    "cut": cut,
    "inward": inward,
}
KINDS: dict[str, Behaviour] = {
    **READABLE,
    "slow": slow,
    "delayed": delayed,
    "dropped": dropped,
    "body": endless_body,
    "headers": endless_headers,
    "tarpit": tarpit,
    "bomb": bomb,
    "chain": chain,
    "unavailable": unavailable,
    "busy": busy,
    "garbled": garbled,
}
# Only robots.txt may be requested of these: what it says is not known.
CLOSED = ("unavailable", "busy", "tarpit", "headers", "garbled")


@dataclass
class HostileWeb:
    """Hosts by name; those of the kind `crowd` share one address. `inside` is an address that nobody may connect to."""

    hosts: list[str]
    network: str
    port: int
    requests: list[Request] = field(default_factory=list)

    @property
    def inside(self) -> str:
        return f"{self.network.partition('.')[0]}.0.0.2"

    def address(self, host: str) -> str:
        """Where a host of the list leads."""
        number = self.hosts.index(host)
        return (
            f"{self.network}.0.1"
            if host.startswith("crowd")
            else f"{self.network}.{number // 250 + 1}.{number % 250 + 1}"
        )

    def tell(self, names: Names) -> None:
        """Put all hosts into DNS."""
        for host in self.hosts:
            names.say(host, "A", [self.address(host)])
            if host.startswith("wildcard"):
                names.say(f"*.{host}", "A", [self.address(host)])
            if host.startswith("inward"):
                names.say(f"inside.{host}", "A", [self.inside])

    def gaps(self, key: Callable[[Request], str]) -> dict[str, list[float]]:
        """Seconds between requests of the same domain or address, as the servers saw them."""
        times: defaultdict[str, list[float]] = defaultdict(list)
        for request in sorted(self.requests, key=lambda request: request.at):
            times[key(request)].append(request.at)
        return {name: [after - before for before, after in pairwise(at)] for name, at in times.items()}

    def forbidden(self) -> list[Request]:
        """Requests that should not have been sent."""
        return [
            request
            for request in self.requests
            if request.path.startswith(FORBIDDEN)
            or request.address == self.inside
            or (request.host.startswith(CLOSED) and not request.path.startswith("/robots.txt"))
        ]

    @contextmanager
    def serving(self, tls: ssl.SSLContext) -> Iterator[None]:
        """Listen meanwhile, in a thread. HTTPS is on the next port, and only of hosts of the kind `tls`."""
        started, ending = threading.Event(), asyncio.Event()
        loop = asyncio.new_event_loop()
        thread = threading.Thread(
            target=loop.run_until_complete, args=(self._serve(tls, started, ending),), daemon=True
        )
        thread.start()
        assert started.wait(60), "the hostile web did not start"
        try:
            yield
        finally:
            loop.call_soon_threadsafe(ending.set)
            thread.join(30)
            loop.close()

    async def _serve(self, tls: ssl.SSLContext, started: threading.Event, ending: asyncio.Event) -> None:
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    await self._answer(await reader.readuntil(b"\r\n\r\n"), writer)
            tasks.discard(task)
            writer.transport.abort()

        def addresses(hosts: Iterable[str]) -> list[str]:
            return sorted({self.address(host) for host in hosts})

        secure = addresses(host for host in self.hosts if host.startswith("tls"))
        servers = [await asyncio.start_server(connected, [*addresses(self.hosts), self.inside], self.port)]
        servers += [await asyncio.start_server(connected, secure, self.port + 1, ssl=tls)] if secure else []
        started.set()
        await ending.wait()
        for server in servers:
            server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        at = time.time()
        first, *lines = head.decode("latin-1").split("\r\n")
        host = next((line[5:].strip() for line in lines if line.lower().startswith("host:")), "").partition(":")[0]
        request = Request(at, host, writer.get_extra_info("sockname")[0], first.split(" ")[1])
        self.requests.append(request)
        kind = request.domain.partition("-")[0]
        behaviour = plain if kind in READABLE and request.path == "/robots.txt" else KINDS[kind]
        await behaviour(Exchange(request, self.port, writer))
