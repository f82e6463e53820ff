"""Flaws that an SEO audit finds: which a site has, and how its pages show them."""

from __future__ import annotations

from random import Random

from siteglass_demo.sites.label import Site
from siteglass_demo.sites.words import WORDS, path

NO_ALT = "no_alt"
SCRIPT_LINKS = "script_links"
EMPTY_LINKS = "empty_links"
RELATIVE_CANONICAL = "relative_canonical"
BAD_HREFLANG = "bad_hreflang"
BAD_ROBOTS = "bad_robots"
FLAWS = (NO_ALT, SCRIPT_LINKS, EMPTY_LINKS, RELATIVE_CANONICAL, BAD_HREFLANG, BAD_ROBOTS)
# A score at or above which a site has none of them.
_CLEAN_SCORE = 75
_MAX_SHARE = 0.7


def draw_flaws(rng: Random, score: int | None) -> tuple[str, ...]:
    """The flaws of a site that somebody looks after: the fewer, the better its score."""
    share = min(_MAX_SHARE, max(0.0, 1 - (60 if score is None else score) / _CLEAN_SCORE))
    return tuple(name for name in FLAWS if rng.random() < share)


def canonical(site: Site, url: str) -> str:
    """The address that a page names as its own."""
    return "index.html" if RELATIVE_CANONICAL in site.flaws else url


def extra_links(site: Site) -> list[tuple[str, str]]:
    """Links of the menu that lead nowhere or say nothing, as (address, text)."""
    links = []
    if SCRIPT_LINKS in site.flaws:
        links.append(("javascript:void(0)", "Menu"))
    if EMPTY_LINKS in site.flaws:
        links.append((path(site.language, "products"), WORDS[site.language]["more"]))
    return links


def picture(site: Site) -> str:
    """A picture without a text for those who cannot see it; "" if the site has none such."""
    return '<img src="/images/banner.jpg" width="960" height="240">' if NO_ALT in site.flaws else ""


def broken_robots() -> str:
    """What a parser of robots.txt cannot read."""
    return "User agent *\nDisalow /admin\n"
