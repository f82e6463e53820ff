"""Networks that a key may be used from: read as an operator writes them, and asked about a caller's address. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from siteglass.access.accounts import AccountError
from siteglass.platform.addresses import Address

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_NETWORKS = 100

# The part of IPv6 that stands for IPv4.
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")


def read_networks(given: Iterable[str]) -> tuple[Network, ...]:
    """Each network once, in order; raises AccountError for anything that is not a network."""
    networks = {_read_network(text) for text in given}
    if not 1 <= len(networks) <= MAX_NETWORKS:
        raise AccountError(f"A list of networks must have 1 to {MAX_NETWORKS} entries, not {len(networks)}.")
    return tuple(sorted(networks, key=lambda network: (network.version, network)))


def _read_network(text: str) -> Network:
    wrong = f"{text!r} is not a network. Use an IP address, or a network such as 203.0.113.0/24 or 2001:db8::/32."
    try:
        given = ipaddress.ip_interface(text)
    except ValueError:
        raise AccountError(wrong) from None
    if "%" in text:  # the zone of an address means something on one machine only
        raise AccountError(wrong)
    network = given.network
    if given.ip != network.network_address:
        # Who writes 203.0.113.7/24 may mean one address or 256 of them: not ours to choose.
        raise AccountError(f"{wrong} Its network is {network}.")
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        start = network.network_address.ipv4_mapped
        return ipaddress.IPv4Network(f"{start}/{network.prefixlen - _MAPPED.prefixlen}")
    return network


def is_among(address: Address | None, networks: Sequence[Network]) -> bool:
    """Whether one of the networks has this address."""
    return address is not None and any(address in network for network in networks)
