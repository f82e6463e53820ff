"""Looks whether somebody controls a domain: a token in its DNS, or on its site. Fetches from public addresses only.

A stranger chooses the domain, so without care this would be a way into our network. Names are resolved here, only
addresses that `platform/outgoing.py` permits are connected to, and not the name but the checked address.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import dns.asyncresolver
import dns.exception
import dns.name
import dns.nameserver
import dns.rdatatype
import dns.resolver
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult

from siteglass.errors import Unavailable
from siteglass.platform.outgoing import Address, ForbiddenAddressError, Guard
from siteglass.settings import Settings, SettingsError, variable

DEADLINE_S = 5.0
DNS_DEADLINE_S = 3.0
MAX_AT_ONCE = 8
MAX_BYTES = 1_024
MAX_ADDRESSES = 8
MAX_RECORDS = 64
HTTPS_PORT = 443
DNS_PORT = 53
DNS_LABEL = "_siteglass"
PATH = "/.well-known/siteglass.txt"

# An address has no such name: the last label of one would begin with a digit.
_NAME = re.compile(r"([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class ControlCheck:
    """What was found at one place."""

    place: str
    proven: bool
    found: str


class _NoAddress(OSError):
    """DNS names no address that may be connected to."""

    def __init__(self) -> None:
        # One text for no response, no address and an internal address: the caller must not learn what only our DNS
        # knows.
        super().__init__("no public address")


class _Addresses(AbstractResolver):
    """Names to addresses that may be connected to."""

    def __init__(self, control: Control) -> None:
        self._control = control

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
                "proto": socket.IPPROTO_TCP,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in await self._control.addresses(host)
        ]

    async def close(self) -> None:
        """Nothing is held."""


class Control:
    """Looks at DNS and at the site of a domain, a few at once; one per worker."""

    def __init__(
        self,
        dns_servers: Sequence[tuple[str, int]],
        guard: Guard,
        http_port: int,
        https_port: int = HTTPS_PORT,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._dns_servers = dns_servers
        self._guard = guard
        self._ports = {"http": http_port, "https": https_port}
        self._tls = tls
        self._resolver: dns.asyncresolver.Resolver | None = None
        self._at_once = asyncio.Semaphore(MAX_AT_ONCE)

    async def look(self, domain: str, token: str) -> list[ControlCheck]:
        """What is at each place; raises Unavailable if too many look already, and never for what strangers do."""
        if not is_name(domain):
            raise ValueError("not the name of a domain")  # an address would be connected to without being looked up
        try:
            async with asyncio.timeout(DEADLINE_S):
                await self._at_once.acquire()
        except TimeoutError:
            raise Unavailable("too many proofs of control are being checked at once", has_price=False) from None
        in_dns, http, https = places(domain)
        try:
            looks = (
                _in_time(f"DNS, TXT record of {in_dns}", self._found_in_dns(in_dns, token)),
                _in_time(http, self._found_on_site("http", domain, token)),
                _in_time(https, self._found_on_site("https", domain, token)),
            )
            return list(await asyncio.gather(*looks))
        finally:
            self._at_once.release()

    async def _found_in_dns(self, name: str, token: str) -> str | None:
        """What is there instead of the token; None if it is the token."""
        records = (await self._asked(name, dns.rdatatype.TXT))[:MAX_RECORDS]
        texts = (b"".join(record.strings).strip() for record in records)
        return None if token.encode() in texts else "no TXT record with the token"

    async def _found_on_site(self, scheme: str, domain: str, token: str) -> str | None:
        """What is there instead of the token; None if it is the token. Says nothing of what the site sent."""
        url = yarl.URL.build(scheme=scheme, host=domain, port=self._ports[scheme], path=PATH)
        connector = aiohttp.TCPConnector(
            resolver=_Addresses(self),
            socket_factory=self._guard.socket_factory(),
            use_dns_cache=False,
            force_close=True,
            ssl=self._tls or True,
        )
        # No proxy of the environment, no cookies, nothing unpacked, nobody followed to another place.
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "siteglass-opt-out"},
        ) as session:
            try:
                async with session.get(url, allow_redirects=False) as response:
                    if response.status != 200:
                        return f"a response with status {response.status}"
                    body = b""
                    while len(body) < MAX_BYTES and (piece := await response.content.read(MAX_BYTES - len(body))):
                        body += piece
            except _NoAddress as error:
                return str(error)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                cause = error.__cause__ if isinstance(error, aiohttp.ClientConnectorDNSError) else error
                return str(cause) if isinstance(cause, _NoAddress) else f"no response ({type(error).__name__})"
        lines = (line.strip() for line in body.splitlines())
        return None if token.encode() in lines else "a response without the token"

    async def addresses(self, host: str) -> list[Address]:
        """The addresses of a name that may be connected to; raises _NoAddress if there are none."""
        kinds = (dns.rdatatype.A, dns.rdatatype.AAAA)
        answers = await asyncio.gather(*(self._asked(host, kind) for kind in kinds))
        allowed = []
        for address in [record.address for answer in answers for record in answer[:MAX_ADDRESSES]]:
            with contextlib.suppress(ForbiddenAddressError):
                self._guard.check(address)
                allowed.append(ipaddress.ip_address(address))
        if not allowed:
            raise _NoAddress
        return allowed

    async def _asked(self, name: str, kind: dns.rdatatype.RdataType) -> list[Any]:
        """The records of a name; none if there are none, or if DNS does not say."""
        try:
            resolver = self._resolver = self._resolver or self.make_resolver()
            answer = await resolver.resolve(
                dns.name.from_text(name), kind, search=False, lifetime=DNS_DEADLINE_S, raise_on_no_answer=False
            )
        except (dns.exception.DNSException, OSError):  # servers that know of no IPv6 spoil nothing
            return []
        return list(answer.rrset or ())

    def make_resolver(self) -> dns.asyncresolver.Resolver:
        """A resolver that asks the DNS servers of the settings."""
        resolver = dns.asyncresolver.Resolver(configure=not self._dns_servers)
        if self._dns_servers:
            resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in self._dns_servers]
        return resolver


def is_name(domain: str) -> bool:
    """Whether a text is a name to resolve, and not an address in any notation."""
    return _NAME.fullmatch(domain) is not None


def places(domain: str) -> tuple[str, str, str]:
    """Where a token is looked for: the name of a TXT record, and two addresses of the site."""
    return f"{DNS_LABEL}.{domain}", f"http://{domain}{PATH}", f"https://{domain}{PATH}"


async def _in_time(place: str, looking: Awaitable[str | None]) -> ControlCheck:
    try:
        async with asyncio.timeout(DEADLINE_S):
            found = await looking
    except TimeoutError:
        found = f"no response within {DEADLINE_S:g} s"
    return ControlCheck(place, found is None, found or "the token")


def open_control(settings: Settings) -> Control:
    """What looks with these settings; raises SettingsError."""
    return Control(
        [_server(text) for text in settings.dns_servers],
        Guard(settings.opt_out_networks, setting="opt_out_networks"),
        settings.opt_out_http_port,
    )


def _server(text: str) -> tuple[str, int]:
    """Address and port of a DNS server: 192.0.2.53, 192.0.2.53:5353, 2001:db8::53 or [2001:db8::53]:5353."""
    bare = text.count(":") > 1 and "[" not in text
    try:
        place = urlsplit(f"//[{text}]" if bare else f"//{text}")
        return str(ipaddress.ip_address(place.hostname or "")), place.port or DNS_PORT
    except ValueError:
        raise SettingsError(f"{variable('dns_servers')}: {text!r} is not an address such as 192.0.2.53:53.") from None
