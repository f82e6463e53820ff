"""The SEO score of a site: the weighted share of its checks that it passes. Open table, no state, no other input.

The first block follows the SEO audits of Lighthouse, done on the source without a browser; the second is ours.
docs/guides/computed-fields.md explains the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Scores of different versions do not compare; a test pins the table of each version.
SCORE_VERSION = "2026.11.1"

LIGHTHOUSE_WEIGHTS: Mapping[str, int] = MappingProxyType(
    {
        # As much as is needed to keep a site that must not be listed below 70, as Lighthouse does.
        "is-crawlable": 600,
        "document-title": 100,
        "meta-description": 100,
        "http-status-code": 100,
        "link-text": 100,
        "crawlable-anchors": 100,
        "robots-txt": 100,
        "image-alt": 100,
        "hreflang": 100,
        "canonical": 100,
    }
)
OWN_WEIGHTS: Mapping[str, int] = MappingProxyType(
    {"https": 100, "viewport": 100, "load-time": 100, "heading": 50, "structured-data": 50, "sitemap": 50}
)
WEIGHTS: Mapping[str, int] = MappingProxyType({**LIGHTHOUSE_WEIGHTS, **OWN_WEIGHTS})
"""Check: its weight. The sum over checks that a site passes, divided by the sum over those that apply."""

MAX_LOAD_TIME_MS = 1_000
"""What the check load-time allows."""


def score(audits: Mapping[str, bool]) -> int | None:
    """0 to 100, halves rounded up; None if no check applies. Unknown names are an error."""
    total = sum(WEIGHTS[name] for name in audits)
    passed = sum(WEIGHTS[name] for name, passes in audits.items() if passes)
    return (200 * passed + total) // (2 * total) if total else None
