"""The addresses of callers."""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def read_address(text: str) -> Address | None:
    """The address of a caller; an IPv4 address mapped to IPv6 counts as IPv4. None if the text is not an address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
