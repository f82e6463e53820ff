"""Normalise a domain name: from what callers write (URL, host, www., IDN) to the names leads are stored under."""

from __future__ import annotations

import functools
import ipaddress
import re

import idna
from publicsuffixlist import PublicSuffixList

MAX_INPUT_CHARS = 2_048

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# A host as it is stored, and as most callers send it. One that ends in a digit may be an IP address.
_STORED_HOST = re.compile(rf"(?:{_LABEL.pattern}\.)+{_LABEL.pattern}(?<![0-9])")
MAX_HOST_CHARS = 253
# Also as people mistype it: `http:/a.com`, `https//a.com`, `//a.com`, `http://https://a.com`.
_SCHEME = re.compile(r"^(?:(?:[a-z][a-z0-9+.-]*://|https?(?:[:;]|(?=[/\\]))|:?//)[/\\]*)+", re.IGNORECASE)

# The domain of an address at these says nothing about a company.
_MAIL_PROVIDERS = frozenset(
    (
        *(
            "gmail.com",
            "googlemail.com",
            "yahoo.com",
            "hotmail.com",
            "outlook.com",
            "live.com",
            "icloud.com",
            "aol.com",
        ),
        *("gmx.de", "gmx.net", "web.de", "t-online.de", "me.com", "msn.com", "proton.me", "protonmail.com"),
    )
)


class NotAHost(ValueError):
    """The text is not a host name: blank, an IP address, a single label, or malformed."""


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(only_icann=False)


@functools.cache
def _icann_suffixes() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True, accept_unknown=False)


def _host_part(text: str) -> str:
    """Cut scheme, credentials, port, path, query and fragment off."""
    rest = _SCHEME.sub("", text.strip())
    rest = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    rest = rest.rsplit("@", 1)[-1]
    if rest.count(":") > 1:  # an IPv6 address, in brackets if a port follows
        return rest.partition("]")[0].removeprefix("[")
    host, _, port = rest.partition(":")
    if port and not port.isdigit():
        raise NotAHost("is not a host name")
    return host.rstrip(".")


def _is_ip_address(host: str) -> bool:
    # Asking `ipaddress` about each name would be a third of the time of an enrichment of 100.
    if ":" not in host and not host[-1].isdigit():
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def normalise(text: str) -> str:
    """The host a text names, in lower-case ASCII; raises NotAHost with the reason."""
    if len(text) <= MAX_HOST_CHARS and _STORED_HOST.fullmatch(text):
        return text
    if not text.strip():
        raise NotAHost("is blank")
    if len(text) > MAX_INPUT_CHARS:
        raise NotAHost(f"has more than {MAX_INPUT_CHARS} characters")
    host = _host_part(text)
    if not host:
        raise NotAHost("names no host such as example.com")
    if _is_ip_address(host):
        raise NotAHost("is an IP address, not a domain")
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            raise NotAHost("is not a host name") from None
    host = host.lower()
    labels = host.split(".")
    if len(host) > MAX_HOST_CHARS or not all(_LABEL.fullmatch(label) for label in labels):
        raise NotAHost("is not a host name")
    if len(labels) < 2:
        raise NotAHost("is a single label, not a domain such as example.com")
    if labels[-1].isdigit():
        raise NotAHost("is an IP address, not a domain")
    return host


def registrable(host: str) -> str:
    """The registrable domain of a normalised host; the host itself where there is none."""
    if host.count(".") == 1:
        return host  # nothing shorter can be registered
    return _suffixes().privatesuffix(host) or host


def is_suffix(host: str) -> bool:
    """Whether names below a normalised host belong to many owners, as those of co.uk or github.io do."""
    return bool(_suffixes().publicsuffix(host) == host)


def is_of_the_internet(host: str) -> bool:
    """Whether a normalised host ends in a suffix of the public DNS. Hosts of private networks do not."""
    return _icann_suffixes().publicsuffix(host) is not None


def candidates(text: str) -> tuple[str, ...]:
    """Names to look a lead up under, best first: as given, without `www.`, then as registrable domain."""
    host = normalise(text)
    bare = host.removeprefix("www.")
    names = (host, bare if "." in bare else host, registrable(host))
    return tuple(dict.fromkeys(names))


def website_host(text: str) -> str:
    """The host of the internet that a cell of a table names, as a website or by an email address; raises NotAHost."""
    text = text.strip().strip("<>")
    is_mail = "@" in text and "/" not in text
    host = normalise(text.rpartition("<")[2] if is_mail else text)
    if not is_of_the_internet(host):
        raise NotAHost("does not end in a suffix of the internet such as .com")
    if is_mail and host in _MAIL_PROVIDERS:
        raise NotAHost("is an address at a mail provider, which does not name a company")
    return host
