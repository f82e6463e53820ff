"""What a lead page says about a business: trades and where they were read, the score as reasons, ad spending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from siteglass.dashboard.explore.technology_lines import TechnologyLine, technology_lines
from siteglass.ingest.score import MAX_LOAD_TIME_MS
from siteglass.ingest.spending import NETWORKS, TAG_MANAGERS
from siteglass.query.completion import display_name
from siteglass.query.vocabulary import vocabulary

_TRADE_SOURCES = {
    "schema.org": "read in structured data",
    "title": "read in the page title",
    "heading": "read in a heading",
    "description": "read in the page description",
    "text": "read in the text",
    "path": "read in the address of a page",
}
# Checks of the score whose result is recorded.
_REASONS = {
    "not_secure": "no HTTPS",
    "not_responsive": "not mobile-friendly",
    "missing_description": "no meta description",
    "missing_heading": "no main heading",
    "missing_schema": "no structured data",
    "missing_sitemap": "no sitemap",
}
_BEST_SCORE = 100


@dataclass(frozen=True, slots=True)
class LeadFacts:
    """Facts in words."""

    trades: list[tuple[str, str]]
    """Name, and where it was read."""
    score: str
    spending: str
    technologies: list[TechnologyLine]
    language: str
    profiles: list[tuple[str, str]]
    """Network and URL."""


def lead_facts(record: Mapping[str, Any]) -> LeadFacts:
    """The facts of a stored record."""
    sources = record["trade_sources"] or {}
    return LeadFacts(
        [(vocabulary().trade_name(one), _TRADE_SOURCES.get(sources.get(one, ""), "")) for one in record["trades"]],
        score_words(record),
        spending_words(record),
        technology_lines(record),
        display_name("language", record["language"]) if record["language"] else "",
        [(network.capitalize(), url) for network, url in record["social_links"].items() if url.startswith("https://")],
    )


def score_words(record: Mapping[str, Any]) -> str:
    """44 of 100: no meta description, not mobile-friendly."""
    if record["score"] is None:
        return "Not known: the home page was not read"
    reasons = [words for field, words in _REASONS.items() if record[field]]
    load_time_ms = record["load_time_ms"]
    if load_time_ms is not None and load_time_ms > MAX_LOAD_TIME_MS:
        reasons.append(f"slow ({load_time_ms / 1000:.1f} s)")
    if record["score"] == _BEST_SCORE:
        reasons = ["passes all checks"]
    return f"{record['score']} of 100" + (f": {', '.join(reasons)}" if reasons else "")


def spending_words(record: Mapping[str, Any]) -> str:
    """Ad tags: Google Ads, Facebook Pixel. Rough estimate 500–1,000 USD a month."""
    tags = [name for name in record["technologies"] if name in NETWORKS]
    found = f"Ad tags: {', '.join(tags)}. " if tags else ""
    estimate = record["e"]["spending"]
    if estimate is None:
        if TAG_MANAGERS.isdisjoint(record["technologies"]):
            return f"{found}Not known"
        return "Not known: a tag manager was found, which may load ad tags"
    if estimate == 0:
        return "No ad tags found"
    return f"{found}Rough estimate {_range(record['spending'])} USD a month"


def _range(text: str) -> str:
    """500-999 as 500–999, 10000+ as 10,000 or more."""
    low, _, high = text.rstrip("+").partition("-")
    return f"{int(low):,}–{int(high):,}" if high else f"{int(low):,} or more"
