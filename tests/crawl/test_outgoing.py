"""The guard of outgoing connections: a real client never reaches an internal server, whatever leads to it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import ResolveResult

from siteglass.platform.outgoing import ForbiddenAddressError, Guard
from siteglass.settings import SettingsError
from testing.hostile_addresses import HOSTILE, PUBLIC
from testing.ports import free_port

# Where "the open internet" is in these tests: allowed, while all else on loopback is internal.
OPEN = "127.77.0.0/16"
OPEN_SITE, CLOSED_PORT = "127.77.0.1", "127.77.0.2"

# What DNS answers, in turn; the last answer again and again.
NAMES = {
    "site.example": [[OPEN_SITE]],
    "internal.example": [["127.0.0.1"]],
    "internal6.example": [["::1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "several.example": [[CLOSED_PORT, "127.0.0.1"]],
    "several6.example": [["::1", CLOSED_PORT]],
    "turned.example": [[OPEN_SITE], ["127.0.0.1"]],
    "xn--bcher-kva.example": [["127.0.0.1"]],
}

# URL, and whether a client without the guard would reach the internal server here; PORT is the port of that server.
# `/to?` on the open site redirects there.
TRICKS = {
    "loopback": ("http://127.0.0.1:PORT/", True),
    "another address of loopback": ("http://127.9.8.7:PORT/", True),
    "TLS": ("https://127.0.0.1:PORT/", True),
    "user": ("http://site.example@127.0.0.1:PORT/", True),
    "unspecified": ("http://0.0.0.0:PORT/", True),
    "decimal": ("http://2130706433:PORT/", False),
    "hexadecimal": ("http://0x7f000001:PORT/", True),
    "octal": ("http://0177.0.0.1:PORT/", False),
    "short": ("http://127.1:PORT/", False),
    "zero": ("http://0:PORT/", False),
    "localhost": ("http://localhost:PORT/", True),
    "full-width digits": ("http://１２７.０.０.１:PORT/", True),
    "circled digits": ("http://①②⑦.⓪.⓪.①:PORT/", True),
    "ideographic dots": ("http://127。0。0。1:PORT/", True),
    "IPv6 loopback": ("http://[::1]:PORT/", True),
    "IPv6 unspecified": ("http://[::]:PORT/", True),
    "mapped": ("http://[::ffff:127.0.0.1]:PORT/", True),
    "mapped, written out": ("http://[0:0:0:0:0:ffff:7f00:1]:PORT/", True),
    "compatible": ("http://[::127.0.0.1]:PORT/", False),
    "6to4": ("http://[2002:7f00:1::1]:PORT/", False),
    "NAT64": ("http://[64:ff9b::7f00:1]:PORT/", False),
    "local NAT64": ("http://[64:ff9b:1::7f00:1]:PORT/", False),
    "Teredo": ("http://[2001:0:7f00:1::]:PORT/", False),
    "ISATAP": ("http://[2a00:1450::200:5efe:7f00:1]:PORT/", False),
    "unique local": ("http://[fd00:ec2::254]:PORT/", False),
    "link-local with a zone": ("http://[fe80::1%25lo]:PORT/", False),
    "metadata": ("http://169.254.169.254:PORT/", False),
    "metadata in CGNAT": ("http://100.100.100.200:PORT/", False),
    "metadata at a public address": ("http://168.63.129.16:PORT/", False),
    "multicast": ("http://224.0.0.1:PORT/", False),
    "name": ("http://internal.example:PORT/", True),
    "name, IPv6": ("http://internal6.example:PORT/", True),
    "name, mapped": ("http://mapped.example:PORT/", True),
    "name in IDN": ("http://bücher.example:PORT/", True),
    "name, dot at its end": ("http://internal.example.:PORT/", True),
    "several addresses": ("http://several.example:PORT/", True),
    "several addresses of both kinds": ("http://several6.example:PORT/", True),
    "redirect": ("http://site.example:OPEN/to?http://127.0.0.1:PORT/", True),
    "redirect without scheme": ("http://site.example:OPEN/to?//127.0.0.1:PORT/", True),
    "redirect to a name": ("http://site.example:OPEN/to?http://internal.example:PORT/", True),
    "redirect to a mapped address": ("http://site.example:OPEN/to?http://[::ffff:7f00:1]:PORT/", True),
    "two redirects": ("http://site.example:OPEN/to?/to?http://127.0.0.1:PORT/", True),
}


class Names(aiohttp.ThreadedResolver):
    """DNS that answers as `NAMES` says, and the system's for other names."""

    def __init__(self) -> None:
        super().__init__()
        self._answers = {name: list(answers) for name, answers in NAMES.items()}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if not (answers := self._answers.get(host.rstrip("."))):
            return await super().resolve(host, port, family)
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        flags = socket.AI_NUMERICHOST
        return [
            ResolveResult(hostname=host, host=address, port=port, family=_family(address), proto=0, flags=flags)
            for address in addresses
        ]


def _family(address: str) -> int:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


@dataclass
class Network:
    """An internal server, an open site, and a client with a guard."""

    client: aiohttp.ClientSession
    port: int
    open_port: int
    reached: list[str] = field(default_factory=list)

    async def fetch(self, url: str) -> str | Exception:
        """The text, or why there is none."""
        self.reached.clear()
        url = url.replace("PORT", str(self.port)).replace("OPEN", str(self.open_port))
        try:
            async with self.client.get(url, ssl=False) as response:
                return await response.text()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return error


@asynccontextmanager
async def network(guard: Guard) -> AsyncIterator[Network]:
    """The open site is on one address of loopback, the internal server on others with another port."""
    reached: list[str] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(str(writer.get_extra_info("sockname")[0]))
        writer.close()

    async def redirect(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": request.query_string.replace("%3F", "?")})

    async def home(request: web.Request) -> web.Response:
        return web.Response(text="open")

    app = web.Application()
    app.add_routes([web.get("/to", redirect), web.get("/", home)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, OPEN_SITE, 0).start()
    internal = await asyncio.start_server(connected, ["127.0.0.1", "127.9.8.7", "::1"], port := free_port())
    connector = aiohttp.TCPConnector(
        resolver=Names(), socket_factory=guard.socket_factory(), use_dns_cache=False, force_close=True
    )
    try:
        async with aiohttp.ClientSession(connector=connector, trust_env=False) as client:
            yield Network(client, port, runner.addresses[0][1], reached)
    finally:
        internal.close()
        await runner.cleanup()


def test_every_trick_is_refused() -> None:
    async def attempt() -> None:
        async with network(Guard([OPEN])) as net:
            for trick, (url, _) in TRICKS.items():
                outcome = await net.fetch(url)
                assert not net.reached, trick
                if isinstance(outcome, aiohttp.ClientConnectorError):
                    assert "it is not a public address" in str(outcome.os_error), trick
                else:  # a notation that the client itself refuses
                    assert isinstance(outcome, aiohttp.InvalidURL), trick

    assert len(TRICKS) >= 30
    asyncio.run(attempt())


def test_without_the_guard_they_reach_the_internal_server() -> None:
    """Otherwise the test above would prove nothing."""

    async def attempt() -> None:
        async with network(Guard(["0.0.0.0/0", "::/0"])) as net:
            for trick, (url, is_real) in TRICKS.items():
                if is_real:
                    outcome = await net.fetch(url)
                    assert net.reached, (trick, outcome)

    asyncio.run(attempt())


def test_an_answer_of_dns_that_changes_after_the_look_up() -> None:
    async def attempt() -> None:
        async with network(Guard([OPEN])) as net:
            assert await net.fetch("http://turned.example:OPEN/") == "open"
            outcome = await net.fetch("http://turned.example:PORT/")
            assert isinstance(outcome, aiohttp.ClientConnectorError)
            assert isinstance(outcome.os_error, ForbiddenAddressError)
            assert not net.reached

    asyncio.run(attempt())


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def attempt() -> None:
        async with network(Guard([OPEN])) as net:
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{net.port}")
            assert await net.fetch("http://site.example:OPEN/") == "open"
            assert not net.reached

    asyncio.run(attempt())


@pytest.mark.parametrize("address", [*HOSTILE, "", "localhost", "2130706433", "127.1", "fe80::1%lo", "/run/a.sock"])
def test_an_internal_address(address: str) -> None:
    with pytest.raises(ForbiddenAddressError, match="not a public address"):
        Guard().check(address)


def test_public_and_allowed_addresses() -> None:
    guard = Guard(["127.1.0.0/16", "fd00::/8"])
    for address in [*PUBLIC, "127.1.2.3", "fd00::1"]:
        guard.check(address)
    for address in ["127.2.0.1", "::ffff:127.1.2.3", "fe80::1"]:
        with pytest.raises(ForbiddenAddressError):
            guard.check(address)


def test_networks_that_cannot_be_read() -> None:
    with pytest.raises(SettingsError, match="SITEGLASS_OUTGOING_ALLOWED: '10/33' is neither"):
        Guard(["10/33"])
