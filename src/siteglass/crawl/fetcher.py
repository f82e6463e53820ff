"""One GET: resolved, guarded, allowed by the gate, limited in bytes and time. Follows no redirect and decodes nothing.

aiohttp resends a request by itself when a kept connection turns out to be closed. It resends through `send`, where the
gate is asked, so each request on the wire has its own permission.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from itertools import chain, zip_longest
from typing import Any
from weakref import WeakValueDictionary

import aiohttp
import dns.asyncresolver
import dns.exception
import dns.name
import dns.resolver
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult

from siteglass.crawl.gate import MAX_HELD_MS, address_key
from siteglass.crawl.results import DnsRecords, KnownPage, NoAnswer, Response
from siteglass.platform.outgoing import ForbiddenAddressError, Guard
from siteglass.privacy.control import open_control
from siteglass.settings import Settings

CONNECT_TIMEOUT_S = 10
READ_TIMEOUT_S = 15
DNS_TIMEOUT_S = 5
MAX_ADDRESSES = 4
MAX_KNOWN_NAMES = 20_000
# Of one kind, in what DNS says of a domain.
MAX_RECORDS = 32
MAX_RECORD_CHARS = 2_000
# As long as a visit, whatever DNS says: names are looked up for each request.
DNS_LIFE_S = 120
# Hundreds of leases can end at the same moment, and a resolver drops questions that come all at once.
LOOK_UPS_AT_ONCE = 100
# No answer, or none that the resolver could get: this says nothing about the name.
_NOT_ANSWERED = (dns.exception.Timeout, dns.resolver.NoNameservers, OSError)
# Hundreds of sites may share an address. The others wait without a connection.
CONNECTIONS_PER_ADDRESS = 2
MAX_HEADERS = 200
MAX_HEADER_BYTES = 32_768
KEEP_ALIVE_S = 10
MAX_CAUSES = 8

Turn = Callable[[str], Awaitable[None]]
"""Asks the gate about an address, records the request, returns when it may be sent."""


class NotFetched(Exception):
    """There is no answer, and why."""

    def __init__(self, reason: NoAnswer, *, may_pass: bool = False) -> None:
        super().__init__(reason.name)
        self.reason = reason
        self.may_pass = may_pass
        """Whether the site may have nothing to do with it."""

    @property
    def is_silence(self) -> bool:
        """Whether nobody answered, neither the site nor DNS: as if we had no uplink."""
        return self.may_pass or self.reason in (NoAnswer.CONNECTION, NoAnswer.TOO_SLOW)


class _Sending:
    """The request of a task: how it gets its turn, and what became of it."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.address = ""
        self.at_ms = 0
        self.started = 0.0
        self.on_sent: Callable[[], None] = lambda: None


_SENDING: ContextVar[_Sending] = ContextVar("sending")


class _GatedRequest(aiohttp.ClientRequest):
    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        """Called once there is a connection, after TCP and TLS, and again for each resend."""
        sending = _SENDING.get()
        sending.address = conn.transport.get_extra_info("peername")[0]
        await sending.turn(sending.address)
        sending.at_ms, sending.started = time.time_ns() // 1_000_000, time.monotonic()
        sending.on_sent()
        return await super().send(conn)


class _Resolver(AbstractResolver):
    """Names to addresses and ports. Every address is checked again when it is connected to."""

    def __init__(self, settings: Settings) -> None:
        self._ports = {80: settings.crawl_http_port, 443: settings.crawl_https_port}
        self._resolver = open_control(settings).make_resolver()
        self._known: dict[str, tuple[float, list[str]]] = {}
        self._partly_known: set[str] = set()  # DNS did not answer for the other kind of address
        self._look_ups = asyncio.Semaphore(LOOK_UPS_AT_ONCE)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._addresses(host)
        return [
            {
                "hostname": host,
                "host": address,
                "port": self._ports.get(port, port),
                "family": socket.AF_INET if ipaddress.ip_address(address).version == 4 else socket.AF_INET6,
                "proto": socket.IPPROTO_TCP,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in addresses
        ]

    async def _addresses(self, host: str) -> list[str]:
        until, addresses = self._known.get(host, (0.0, []))
        if time.monotonic() > until:
            async with self._look_ups:
                kinds = await asyncio.gather(self._of_kind(host, "AAAA"), self._of_kind(host, "A"))
            # Taken in turns, so that many addresses of one kind leave a place for the other.
            found = chain.from_iterable(zip_longest(*(texts for texts, _ in kinds)))
            addresses = [address for address in found if address is not None][:MAX_ADDRESSES]
            if not addresses:
                # "No such name" holds for both kinds; a failure for one of them leaves open whether it has an address.
                errors = [error for _, error in kinds if error is not None]
                decisive = min(errors, key=lambda error: isinstance(error, _NOT_ANSWERED), default=None)
                raise OSError(f"no address of {host}") from decisive
            self.forget(host)
            if len(self._known) >= MAX_KNOWN_NAMES:
                self.forget(next(iter(self._known)))  # the oldest
            if any(isinstance(error, _NOT_ANSWERED) for _, error in kinds):
                self._partly_known.add(host)
            self._known[host] = (time.monotonic() + DNS_LIFE_S, addresses)
        return addresses

    def forget(self, host: str) -> None:
        """Ask DNS for a host again when it is needed next."""
        self._known.pop(host, None)
        self._partly_known.discard(host)

    def forget_part(self, host: str) -> bool:
        """Whether a host may have addresses that DNS did not return; it is asked for them again."""
        is_part = host in self._partly_known
        if is_part:
            self.forget(host)
        return is_part

    async def _of_kind(self, host: str, kind: str) -> tuple[list[str], Exception | None]:
        """The addresses of one kind, or why there are none. Servers exist that fail for AAAA and answer for A."""
        try:
            answer = await self._resolver.resolve(
                host, kind, search=False, lifetime=DNS_TIMEOUT_S, raise_on_no_answer=False
            )
        except (dns.exception.DNSException, OSError) as error:
            return [], error
        return [record.address for record in answer.rrset or ()], None

    async def look_up(self, domain: str) -> DnsRecords | None:
        """What DNS says of a domain, and where its `www.` leads; None if it says nothing."""
        asked_at_ms = time.time_ns() // 1_000_000
        questions = [*((domain, kind) for kind in ("A", "AAAA", "MX", "TXT", "NS")), (f"www.{domain}", "CNAME")]
        answers = await asyncio.gather(*(self._records(*question) for question in questions))
        lines = [line for answer in answers for line in answer]
        if not lines:
            return None
        return DnsRecords(domain, _server(self._resolver), asked_at_ms, "\n".join(lines))

    async def _records(self, name: str, kind: str) -> list[str]:
        try:
            answer = await self._resolver.resolve(
                dns.name.from_text(name), kind, search=False, lifetime=DNS_TIMEOUT_S, raise_on_no_answer=False
            )
        except (dns.exception.DNSException, OSError):
            return []
        text = "" if answer.rrset is None else answer.rrset.to_text()
        return [line for line in text.split("\n")[:MAX_RECORDS] if 0 < len(line) <= MAX_RECORD_CHARS]

    async def close(self) -> None:
        """Nothing is held."""


def _server(resolver: dns.asyncresolver.Resolver) -> str:
    """The address of the first server that is asked; "" if it is not asked by address."""
    server = next(iter(resolver.nameservers), "")
    return server if isinstance(server, str) else str(getattr(server, "address", ""))


class Fetcher:
    """One session for all sites; at most `connections` at once."""

    def __init__(self, settings: Settings, user_agent: str, connections: int) -> None:
        self._max_bytes = settings.crawl_page_bytes
        self._timeout_s = settings.crawl_timeout_ms / 1000
        self._resolver = _Resolver(settings)
        self._near: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._make_socket = Guard(settings.outgoing_allowed).socket_factory()
        connector = aiohttp.TCPConnector(
            resolver=self._resolver,
            socket_factory=self._make_socket,
            limit=connections,
            use_dns_cache=False,
            keepalive_timeout=KEEP_ALIVE_S,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            request_class=_GatedRequest,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=READ_TIMEOUT_S),
            headers={
                "User-Agent": user_agent,
                "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
                "Accept-Encoding": "gzip, deflate, br",
            },
            max_headers=MAX_HEADERS,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()

    @asynccontextmanager
    async def near(self, url: str) -> AsyncIterator[None]:
        """The turn to connect to the address that a site has; raises NotFetched if DNS knows none."""
        parsed = yarl.URL(url)
        try:
            addresses = await self._resolver.resolve(parsed.raw_host or "", parsed.port or 0)
        except OSError as error:
            raise NotFetched(NoAnswer.NAME, may_pass=isinstance(error.__cause__, _NOT_ANSWERED)) from error
        near = self._near.setdefault(address_key(addresses[0]["host"]), asyncio.Semaphore(CONNECTIONS_PER_ADDRESS))
        async with near:
            yield

    async def look_up(self, domain: str) -> DnsRecords | None:
        """What DNS says of a domain, and where its `www.` leads."""
        return await self._resolver.look_up(domain)

    async def reaches(self, origin: yarl.URL) -> bool:
        """Whether a name is known and one of its addresses can be connected to; nothing is requested."""
        self._resolver.forget(origin.raw_host or "")
        try:
            addresses = await self._resolver.resolve(origin.raw_host or "", origin.port or 0)
        except OSError:
            return False
        # The first ones are of IPv6, which we may not have.
        for address in addresses:
            if await self._connects(address):
                return True
        return False

    async def _connects(self, address: ResolveResult) -> bool:
        target = (address["host"], address["port"])
        try:
            with self._make_socket((address["family"], socket.SOCK_STREAM, address["proto"], "", target)) as made:
                made.setblocking(False)
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    await asyncio.get_running_loop().sock_connect(made, target)
        except OSError:  # TimeoutError is one
            return False
        return True

    async def get(self, url: str, turn: Turn, *, known: KnownPage | None = None, least_bytes: int = 0) -> Response:
        """The answer, its body cut at the limit, of which `least_bytes` are read in any case; raises NotFetched, and
        NotYet of the gate. Of a page that is known, only a change is asked for."""
        sending = _Sending(turn)
        max_bytes = max(self._max_bytes, least_bytes)
        context = _SENDING.set(sending)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S + MAX_HELD_MS / 1000) as deadline:
                sending.on_sent = lambda: deadline.reschedule(asyncio.get_running_loop().time() + self._timeout_s)
                return await self._get(url, sending, _conditions(known), max_bytes)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The other kind of address, for which DNS failed, may be the one that we can reach.
            may_pass = not sending.at_ms and self._resolver.forget_part(yarl.URL(url).raw_host or "")
            raise NotFetched(_reason(error), may_pass=may_pass) from error
        finally:
            _SENDING.reset(context)

    async def _get(self, url: str, sending: _Sending, conditions: dict[str, str], max_bytes: int) -> Response:
        address = yarl.URL(url, encoded=True)
        async with self._session.get(address, headers=conditions, allow_redirects=False) as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > max_bytes:
                    response.close()  # the rest of a body without end is not read
                    break
            return Response(
                url=url,
                address=sending.address,
                sent_at_ms=sending.at_ms,
                took_ms=int((time.monotonic() - sending.started) * 1000),
                status=response.status,
                head=_head(response),
                headers=tuple(
                    (name.decode("latin-1").lower(), value.decode("utf-8", "replace").strip())
                    for name, value in response.raw_headers
                ),
                body=bytes(body[:max_bytes]),
                is_cut=len(body) > max_bytes,
            )


def _conditions(known: KnownPage | None) -> dict[str, str]:
    if known is None:
        return {}
    fields = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
    return {name: value for name, value in fields.items() if value}


def _head(response: aiohttp.ClientResponse) -> bytes:
    """Status line and headers as sent. aiohttp has put chunks together, so their header gets another name, as in the
    archives of Common Crawl."""
    reason = (response.reason or "").encode("latin-1", "replace")
    lines = [b"HTTP/1.1 %d %s" % (response.status, reason)]
    for name, value in response.raw_headers:
        prefix = b"X-Crawl-" if name.lower() == b"transfer-encoding" else b""
        lines.append(prefix + name + b": " + value)
    return b"\r\n".join([*lines, b"", b""])


def _reason(error: BaseException) -> NoAnswer:
    """What kind of failure it was; aiohttp's errors have the original one as a cause or context."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < MAX_CAUSES:
        chain += (cause, *getattr(cause, "exceptions", ()))
        cause = cause.__cause__ or cause.__context__
    kinds: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], NoAnswer], ...] = (
        (ForbiddenAddressError, NoAnswer.REFUSED_ADDRESS),
        (aiohttp.ClientConnectorDNSError, NoAnswer.NAME),
        ((ssl.SSLError, ssl.CertificateError), NoAnswer.TLS),
        (TimeoutError, NoAnswer.TOO_SLOW),
        ((aiohttp.ClientPayloadError, aiohttp.ClientResponseError, ValueError), NoAnswer.NOT_HTTP),
    )
    for kind, reason in kinds:
        if any(isinstance(found, kind) for found in chain):
            return reason
    return NoAnswer.CONNECTION
