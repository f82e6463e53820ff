"""Where the service listens, seen from outside: whether the port is free, which program answers there, which proxies
are in front of it. Also which household a caller's address belongs to."""

from __future__ import annotations

import ipaddress
import json
import socket
from typing import Literal
from urllib.parse import urlsplit

from siteglass.platform.addresses import read_address
from siteglass.settings import Settings, SettingsError, variable

ANSWER_TIMEOUT_S = 2
MAX_PORT = 65_535

Listener = Literal["nobody", "siteglass", "siteglass, not ready", "another program"]


def url(settings: Settings) -> str:
    """The address that callers on this machine use."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)  # noqa: S104 - is not bound here
    return f"http://{host}:{settings.port}"


def public_url(settings: Settings) -> str:
    """The address that people use, where links in mails lead; never what a request says of itself."""
    return settings.public_url.rstrip("/") or url(settings)


def origin_of(address: str) -> str:
    """Scheme, host and port of an address as browsers spell them: lower case, and no port that goes without saying."""
    parts = urlsplit(address)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    if default is None or not parts.hostname:
        raise SettingsError(f"{variable('public_url')}: expected a URL such as https://app.example.com.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if parts.port in (None, default) else f":{parts.port}")


def household(address: str, ipv6_bits: int = 64) -> str:
    """The household of a caller's address: for IPv6 its network, with fewer bits its site; "None" if the text is not an
    address."""
    if (read := read_address(address)) is None:
        return "None"
    return str(ipaddress.ip_network((read, ipv6_bits), strict=False)) if read.version == 6 else str(read)


def trusted_proxies(settings: Settings) -> list[str]:
    """The proxies whose word on a caller's address counts; raises SettingsError for what would never match one."""
    for proxy in settings.trusted_proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError:
            raise SettingsError(
                f"{variable('trusted_proxies')}: {proxy!r} is neither an address nor a network such as 10.0.0.0/8."
            ) from None
    return list(settings.trusted_proxies)


def require_free_port(settings: Settings) -> None:
    """Raise SettingsError if the service could not listen."""
    if not 0 <= settings.port <= MAX_PORT:  # the system would take it modulo 65536
        raise SettingsError(f"{variable('port')} must be a number up to {MAX_PORT}, found {settings.port}.")
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise SettingsError(f"{variable('host')}: cannot resolve {settings.host}:{settings.port}.") from None
    family, kind, protocol, _, where = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections do not count
        try:
            probe.bind(where)
        except OSError as error:
            raise SettingsError(
                f"Cannot listen on {settings.host}:{settings.port} ({error.strerror}). Stop the program that uses it, "
                f"or set {variable('port')} to a free port."
            ) from None


async def listener(settings: Settings) -> Listener:
    """The program that uses the port."""
    try:
        require_free_port(settings)
    except SettingsError:
        if await _answered(settings, "/healthz") != "ok":
            return "another program"
        return "siteglass" if await _answered(settings, "/readyz") == "ready" else "siteglass, not ready"
    return "nobody"


async def _answered(settings: Settings, path: str) -> str | None:
    """The `status` of an answer that can be ours: it carries a request id, which few other programs send."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url(settings) + path) as answer:
            if "X-Request-Id" not in answer.headers:
                return None
            return str(json.loads(await answer.content.read(1_000))["status"])
    except (aiohttp.ClientError, OSError, ValueError, KeyError, TypeError):
        return None
