"""The one guard of outgoing connections: it refuses every address that is not one of the open internet.

Strangers choose the sites that are crawled and the domains that are proven, so without care each fetch would be a way
into our network. The guard looks at the very address of a connection, when its socket is made. So it does not matter
how the address was written, whether a redirect led there, or whether DNS answered something else before:

    connector = aiohttp.TCPConnector(socket_factory=Guard(settings.outgoing_allowed).socket_factory())
    session = aiohttp.ClientSession(connector=connector, trust_env=False)

With `trust_env` or `proxy=` the guard would see only the address of the proxy, which then connects to anything. A
refused connection is an `aiohttp.ClientConnectorError`; of several addresses of a name, the permitted ones are tried.

Two kinds cannot be recognized: public addresses of the operator's machines, and the prefix of a NAT64 that a network
chose itself. Let a firewall refuse those.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from siteglass.settings import SettingsError, variable

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
# What asyncio connects to: family, kind, protocol, canonical name, and a socket address, which begins with the IP.
AddressInfo: TypeAlias = tuple[int, int, int, str, tuple[Any, ...]]

# What Python's `is_global` permits although it leads elsewhere, or may. Azure serves metadata at the first one. Others
# are for examples, or relay and translate IPv6 to IPv4: 6to4, and Teredo in 2001::/23.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        ("168.63.129.16", "192.88.99.0/24", "192.0.0.0/24", "2001::/23", "2002::/16", "2001:db8::/32", "3fff::/20"),
    )
)
# Global unicast. IPv4 that is mapped, compatible or translated by NAT64 is outside of it, and so is everything local.
_UNICAST = ipaddress.IPv6Network("2000::/3")
# The lower half of an ISATAP address: 0000:5efe or 0200:5efe, then IPv4. Two bits of it mean nothing here.
_ISATAP, _ISATAP_MASK = 0x00005EFE, 0xFCFFFFFF


class ForbiddenAddressError(OSError):
    """A connection to an address that is not public was refused."""

    def __init__(self, address: str) -> None:
        super().__init__(
            errno.EACCES,
            f"Refused to connect to {address}: it is not a public address. If it must be reached, add its network to "
            f"{variable('outgoing_allowed')}",
        )


class Guard:
    """Refuses connections to internal addresses, except to networks that are allowed."""

    def __init__(self, allowed: Sequence[str] = (), *, setting: str = "outgoing_allowed") -> None:
        self._allowed = [_network(text, setting) for text in allowed]

    def check(self, address: str) -> None:
        """Raise ForbiddenAddressError unless this IP address may be connected to."""
        try:
            found = ipaddress.ip_address(address)
        except ValueError:  # a name, a path, or a notation that only some libraries understand
            raise ForbiddenAddressError(address) from None
        if not (is_public(found) or any(found in network for network in self._allowed)):
            raise ForbiddenAddressError(address)

    def socket_factory(self) -> Callable[[AddressInfo], socket.socket]:
        """For `aiohttp.TCPConnector(socket_factory=...)`, which calls it for each address before it connects."""

        def guarded_socket(info: AddressInfo) -> socket.socket:
            family, kind, protocol, _, target = info
            self.check(str(target[0]))
            return socket.socket(family, kind, protocol)

        return guarded_socket


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet; IPv4 inside IPv6 never is, whichever IPv4 it is."""
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        is_isatap = (int(address) >> 32) & _ISATAP_MASK == _ISATAP
        if address not in _UNICAST or is_isatap:
            return False
    return not any(address in network for network in _NOT_PUBLIC)


def _network(text: str, setting: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise SettingsError(
            f"{variable(setting)}: {text!r} is neither an address nor a network such as 10.0.0.0/8."
        ) from None
