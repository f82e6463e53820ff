"""Profiles of a site's owner on networks, each address in one form. Links that share, post or sign in are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from siteglass.ingest.extract.networks import NETWORKS, Network
from siteglass.ingest.extract.page import MAX_URL_CHARS, Page

MAX_OTHER = 20
MAX_LOOKED_AT = 3_000

_HOST = re.compile(r"(?:https?:)?//([^/?#@]{1,100})", re.IGNORECASE)
# Hosts that lead to the same place: mobile, by language, by country.
_VARIANTS = re.compile(r"(?:www|m|mobile|web|touch|[a-z]{2}|[a-z]{2}[-_][a-z]{2}|business)\.(?=[^.]+\.)")


class Profiles(NamedTuple):
    """What was found."""

    social: dict[str, str]
    """By network, among lead.SOCIALNETWORKS; the first of each."""
    other: tuple[str, ...]
    """On further networks, at most MAX_OTHER."""


def profiles(page: Page) -> Profiles:
    """From links, then from `sameAs` of structured data."""
    social: dict[str, str] = {}
    other: dict[str, None] = {}
    for address in _addresses(page):
        found = _HOST.match(address)
        known = _network(found[1]) if found else None
        if not known or known.is_own(page.domain):
            continue
        profile = _profile(known, address)
        if not profile:
            continue
        if known.key:
            social.setdefault(known.key, profile)
        elif len(other) < MAX_OTHER:
            other.setdefault(profile)
    return Profiles(social, tuple(other))


@lru_cache(maxsize=4_096)
def _network(authority: str) -> Network | None:
    host = authority.lower().partition(":")[0]
    return NETWORKS.get(host) or NETWORKS.get(_VARIANTS.sub("", host, count=1))


def _addresses(page: Page) -> Iterator[str]:
    for link in page.links[:MAX_LOOKED_AT]:
        yield link.url
    for thing in page.json_ld:
        given = thing.get("sameAs")
        for one in given[:50] if isinstance(given, list) else (given,):
            if isinstance(one, str) and len(one) <= MAX_URL_CHARS:
                yield one.strip()


def _profile(network: Network, address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    path = parts.fragment if parts.fragment.startswith("!/") else parts.path
    steps = [unquote(step) for step in path.split("/") if step and step != "!"][:5]
    return network.spell(steps, parts.query)
