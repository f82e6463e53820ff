"""How well made-up sites are made and what they spend: one hidden quality moves all of it together."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log2
from random import Random

from siteglass_demo.leads.software import ADVERTISING, PACE

FLAGS = ("secure", "responsive", "has_sitemap", "has_schema", "has_robots", "has_heading", "has_description")
# Log-odds at quality 0, weight of the quality, points of the score.
_FLAGS = ((2.3, 1.1, 11), (1.9, 1.0, 6), (0.5, 0.9, 6), (-0.5, 0.9, 6), (1.0, 0.7, 2), (1.2, 0.5, 3), (0.9, 0.7, 5))
_SITEMAP, _SCHEMA = FLAGS.index("has_sitemap"), FLAGS.index("has_schema")
_UNKNOWN_SHARE = (0.02, 0.05, 0.05, 0.06, 0.05, 0.06, 0.05)

_KIND_QUALITY = {
    "SaaS": 0.6,
    "Agency": 0.45,
    "Enterprise": 0.6,
    "Publisher": 0.4,
    "Ecommerce": 0.2,
    "Marketplace": 0.3,
    "Mobile App": 0.2,
    "Local Business": -0.35,
    "Manufacturer": -0.3,
    "Hospitality": -0.2,
    "Government": -0.1,
}
# Median monthly spending of a site with one advertising tag.
_KIND_SPENDING = {
    "SaaS": 2_600,
    "Ecommerce": 1_500,
    "Enterprise": 14_000,
    "Financial Services": 1_800,
    "Marketplace": 3_000,
}
_SEO_PLUGINS = frozenset({"Yoast SEO", "RankMath SEO"})


@dataclass(slots=True)
class Quality:
    """What an audit of the site found; None where it found nothing out."""

    flags: list[bool | None]
    load_time_ms: int | None
    score: int | None
    spending: int | None


def draw(rng: Random, kind: str, technologies: list[str]) -> Quality:
    """The findings for a site of a kind with its technologies."""
    random, gauss = rng.random, rng.gauss
    quality = gauss(0, 1) + _KIND_QUALITY.get(kind, 0.0)
    plugin = not _SEO_PLUGINS.isdisjoint(technologies)
    points, load = 30.0 + 6 * quality + gauss(0, 6), exp(gauss(7.65, 0.48) - 0.15 * quality)
    for name in technologies:
        if name in PACE:
            more, factor = PACE[name]
            points += more
            load *= factor
    flags: list[bool | None] = []
    for number, ((odds, weight, worth), unknown) in enumerate(zip(_FLAGS, _UNKNOWN_SHARE, strict=True)):
        if plugin and number in (_SITEMAP, _SCHEMA):
            odds += 1.6
        holds = random() < 1 / (1 + exp(-odds - weight * quality))
        points += worth if holds else 0
        flags.append(None if random() < unknown else holds)
    points -= 5 * log2(load / 1_800)
    if random() < 0.02:
        # The page was read but not audited.
        return Quality([flags[0]] + [None] * (len(FLAGS) - 1), None, None, _spending(rng, kind, technologies, quality))
    return Quality(
        flags,
        None if random() < 0.04 else min(int(load), 90_000),
        None if random() < 0.03 else max(0, min(100, round(points))),
        _spending(rng, kind, technologies, quality),
    )


def _spending(rng: Random, kind: str, technologies: list[str], quality: float) -> int | None:
    if rng.random() < 0.08:
        return None
    tags = len(ADVERTISING.intersection(technologies))
    if not tags:
        return 0 if rng.random() < 0.88 else int(rng.lognormvariate(4.6, 1.0))
    if rng.random() < 0.15:
        # The tag is there, the campaign is over.
        return 0
    median = _KIND_SPENDING.get(kind, 450) * (0.4 + 0.6 * tags)
    return min(int(median * exp(rng.gauss(0.25 * quality, 1.25))), 5_000_000)
