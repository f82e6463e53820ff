"""An earlier crawl of the home pages of some made-up sites, from before they added, dropped or exchanged a tool."""

from __future__ import annotations

from random import Random

import msgspec

from siteglass_demo.sites.label import Served, Site
from siteglass_demo.sites.plants import PLATFORMS, plantable, platform
from siteglass_demo.sites.serve import serve

# Tools that do the same.
_FAMILIES = (
    ("Klaviyo", "MailChimp"),
    ("HubSpot", "Intercom", "Tawk.to", "Zendesk"),
    ("Hotjar", "Microsoft Clarity"),
)
# Shares in percent. Of the sites with one tool of a family, some added it; of these, some had another one before.
_ADDED, _SWITCHED = 25, 50
# Of the sites without one, some dropped one. Of the shops on Shopify, some came from WooCommerce.
_DROPPED, _MOVED = 3, 12
_MIN_DAYS, _MAX_DAYS = 14, 75
_DAY_MS = 86_400_000


def used_before(site: Site) -> tuple[str, ...]:
    """What the site used when it was crawled for the first time; of most sites the same as now."""
    rng = _chance(site)
    before = list(site.technologies)
    for family in _FAMILIES:
        used = [name for name in family if name in before]
        other = rng.choice([name for name in family if name not in used] or family)
        added, switched, dropped = (rng.random() * 100 < share for share in (_ADDED, _SWITCHED, _DROPPED))
        if len(used) == 1 and added:
            before.remove(used[0])
        if (len(used) == 1 and added and switched) or (not used and dropped):
            before.append(other)
    if "Shopify" in before and "private_suffix" not in site.hard and rng.random() * 100 < _MOVED:
        before[before.index("Shopify")] = "WooCommerce"
        return plantable(tuple(before))
    return tuple(before)


def home_page_before(site: Site) -> Served | None:
    """The home page as the first crawl found it; None: the site was crawled once."""
    technologies = used_before(site)
    if technologies == site.technologies:
        return None
    days = _MIN_DAYS + int(_chance(site).random() * (_MAX_DAYS - _MIN_DAYS))
    before = msgspec.structs.replace(
        site,
        technologies=technologies,
        layout=PLATFORMS.get(platform(technologies)) or site.layout,
        captured_at_ms=site.captured_at_ms - days * _DAY_MS,
        hard=(),
    )
    return serve(before)[0]


def after_change(site: Site) -> Site:
    """The site after its owner renamed it, and added a chat or dropped it."""
    chat = "Intercom"
    others = tuple(name for name in site.technologies if name != chat)
    technologies = others if chat in site.technologies else plantable((*others, chat))
    name = f"New {site.business_name}"
    return msgspec.structs.replace(site, business_name=name, title=f"{name}: {site.title}", technologies=technologies)


def _chance(site: Site) -> Random:
    return Random(f"before {site.number} {site.domain}")
