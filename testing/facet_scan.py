"""A brute-force count of leads by the values of fields, written from the contract and without the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from siteglass.corpus.lead import Lead
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary
from testing.api_calls import LADDER, NETWORKS, spending_range


def _some(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _state(lead: Lead) -> tuple[str, ...]:
    alpha2 = vocabulary().country_alpha2(lead.country) if lead.country else None
    return (f"{alpha2}-{lead.state}",) if alpha2 and lead.state else ()


def _score_band(lead: Lead) -> tuple[str, ...]:
    if lead.score is None:
        return ()
    low = lead.score // 10 * 10
    return (f"{low}-{low + 9}" if low < 90 else "90+",)


def _month(lead: Lead) -> tuple[str, ...]:
    if not lead.crawled_at_ms:
        return ()
    return (f"{datetime.fromtimestamp(lead.crawled_at_ms / 1000, UTC):%Y-%m}",)


def _flag(holds: Callable[[Lead], bool]) -> Callable[[Lead], tuple[str, ...]]:
    return lambda lead: ("yes" if holds(lead) else "no",)


def _has_profile(network: str) -> Callable[[Lead], bool]:
    return lambda lead: network in lead.social_links


VALUES: dict[str, Callable[[Lead], Iterable[str]]] = {
    "language": lambda lead: _some(lead.language),
    "spending": lambda lead: _some(spending_range(lead.spending) or ""),
    "country": lambda lead: _some(lead.country),
    "state": _state,
    "city": lambda lead: _some(lead.city),
    "technologies": lambda lead: lead.technologies or (),
    "score": _score_band,
    "service_type": lambda lead: _some(lead.service_type),
    "trades": lambda lead: (one for trade in lead.trades for one in (trade, *trades().parents(trade))),
    "categories_uses": lambda lead: lead.categories_uses,
    "has_email": _flag(lambda lead: bool(lead.emails)),
    "has_phone": _flag(lambda lead: bool(lead.phones)),
    **{f"has_{network}": _flag(_has_profile(network)) for network in NETWORKS},
    "crawled_at": _month,
}
IN_ORDER = {"spending": LADDER, "score": [*(f"{low}-{low + 9}" for low in range(0, 90, 10)), "90+"]}
"""Values that are not shown by their counts."""


def counted(field: str, leads: Iterable[Lead]) -> Counter[str]:
    """How many leads have each value; a lead with several counts for each."""
    counts: Counter[str] = Counter()
    for lead in leads:
        counts.update(set(VALUES[field](lead)))
    return counts
