"""Draws the software of one made-up site from the tables in `software`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from random import Random

from siteglass.query.vocabulary import vocabulary
from siteglass_demo.leads import software
from siteglass_demo.leads.chance import Weighted

_SHARE = re.compile(r"\s*([^:|]+?):([\d.]+)")
# Parts of one platform would be odd on another.
_ADD_ON = re.compile(
    r"Shopify|WooCommerce|\bWP|WordPress|Wix|Drupal|Magento|Joomla|Squarespace|Theme|Themonic", re.IGNORECASE
)
# A second system of these kinds beside the platform would be odd; elsewhere anything may turn up.
_PLATFORM_KINDS = frozenset({"cms", "website_builder", "ecommerce"})
_SPECIAL_KINDS = frozenset({"payments", "booking_calendar", "education", "healthcare", "real_estate", "legal_service"})


def _shares(text: str) -> list[tuple[str, float]]:
    return [(name, float(share)) for name, share in _SHARE.findall(text)]


def _named() -> frozenset[str]:
    tables = (software.COMPANIONS, software.PLATFORMS, software.LOCAL)
    inside = {name for table in tables for text in table.values() for name, _ in _shares(text)}
    inside |= {name for name, _ in _shares(software.SERVERS)}
    return frozenset(inside | set(software.COMPANIONS) | set(software.ADDED))


class Stack:
    """The tables, read once."""

    def __init__(self) -> None:
        known = vocabulary().technologies()
        self.categories = {name: frozenset(of) for name, of in known.items()}
        self._companions = {
            name: [(other, share / 100) for other, share in _shares(text)] for name, text in software.COMPANIONS.items()
        }
        self._platforms = {kind: Weighted(_shares(text)) for kind, text in software.PLATFORMS.items()}
        self._local = {
            country: [[(name, share / 100) for name, share in _shares(half)] for half in text.split("|")]
            for country, text in software.LOCAL.items()
        }
        self._added: dict[str, list[tuple[str, float]]] = {kind: [] for kind in software.PLATFORMS}
        for name, text in software.ADDED.items():
            usual, *special = text.split()
            own = dict(part.split(":") for part in special)
            for kind, listed in self._added.items():
                share = float(own.get(kind.replace(" ", "_"), usual)) / 100
                if share:
                    listed.append((name, share))
        self._servers = Weighted(_shares(software.SERVERS))
        rest = sorted(set(known) - _named(), key=lambda name: blake2b(name.encode()).digest())
        rest = [name for name in rest if not _ADD_ON.search(name)]
        self._tail = _zipf(n for n in rest if not self.categories[n] & (_PLATFORM_KINDS | _SPECIAL_KINDS))
        self._shop_tail = _zipf(
            n for n in rest if "ecommerce" in self.categories[n] and "cms" not in self.categories[n]
        )
        self._rare_platforms = _zipf(n for n in rest if "cms" in self.categories[n])

    def draw(self, rng: Random, kind: str, country: str) -> list[str]:
        """Software of a site of a kind in a country, the platform first."""
        random = rng.random
        platform = self._platform(random(), random(), random(), kind, country)
        found = dict.fromkeys((platform,) if platform else ())
        for name, share in self._companions.get(platform, ()):
            if random() < share:
                found[name] = None
        for name, share in self._added[kind]:
            if random() < share:
                found[name] = None
        if platform not in software.HOSTED and (server := self._servers.pick(random())) != "-" and "IIS" not in found:
            found[server] = None
        if kind == "Ecommerce" and random() < 0.3:
            found[self._shop_tail.pick(random())] = None
        while random() < 0.5:
            found[self._tail.pick(random())] = None
        return list(found)

    def _platform(self, local: float, usual: float, rare: float, kind: str, country: str) -> str:
        if country in self._local:
            for name, share in self._local[country][kind == "Ecommerce"]:
                if local < share:
                    return name
                local -= share
        name = self._platforms[kind].pick(usual)
        if name == "-":
            return self._rare_platforms.pick(rare * 2) if rare < 0.5 else ""
        return name

    def categories_of(self, technologies: list[str]) -> tuple[str, ...]:
        """All categories of the technologies, sorted."""
        return tuple(sorted(frozenset().union(*[self.categories[name] for name in technologies])))


def _zipf(names: Iterable[str]) -> Weighted[str]:
    return Weighted((name, 1 / (rank + 8) ** 1.05) for rank, name in enumerate(names))


@cache
def stack() -> Stack:
    """The one set of tables."""
    return Stack()
