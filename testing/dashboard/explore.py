"""Leads that the tests of the Explore page find: dentists in Austin and what is around them."""

from __future__ import annotations

from siteglass.corpus.lead import Lead

CRAWLED_MS = 1_790_000_000_000
_NAMES = (
    "Alder", "Bluebonnet", "Cedar", "Dogwood", "Elm", "Fern", "Garden", "Hill Country", "Ivy", "Juniper", "Kestrel",
    "Lone Star", "Mesa", "Northside", "Oak", "Pecan", "Quarry", "Riverbend", "Sunrise", "Tarrytown", "Uptown", "Violet",
    "Willow", "Yaupon", "Zilker",
)  # fmt: skip
AUSTIN_WITH_EMAIL = 20
AUSTIN = len(_NAMES)
"""Dentists in Austin; every fifth has no email address."""


def explore_leads() -> list[Lead]:
    """Dentists in Austin and Dallas, and restaurants in Berlin."""
    return [*(_dentist(number, name, "Austin") for number, name in enumerate(_NAMES)), *_others()]


def _dentist(number: int, name: str, city: str) -> Lead:
    domain = f"{name.lower().replace(' ', '-')}-dental-{city.lower()}.com"
    has_email = number % 5 != 4
    # As many sites do.
    told = f", hello@{domain}, +1 512 555 {number:04}" if name == "Kestrel" else ""
    return Lead(
        domain=domain,
        crawled_at_ms=CRAWLED_MS,
        business_name=f"{name} Dental",
        title=f"{name} Dental: dentist in {city}{told}",
        description=f"{name} Dental looks after your teeth.",
        emails=(f"hello@{domain}",) if has_email else (),
        phones=(f"+1 512 555 {number:04}",),
        language="en",
        country="USA",
        state="TX",
        city=city,
        technologies=("WordPress", "Google Analytics", "jQuery") if number % 2 else ("Wix",),
        trades=("dentist",),
        trade_sources={"dentist": "title"},
        service_type="Healthcare",
        score=30 + number * 2,
    )


def _others() -> list[Lead]:
    dallas = [_dentist(number, name, "Dallas") for number, name in enumerate(_NAMES[:5])]
    berlin = [
        Lead(
            domain=f"{name.lower().replace(' ', '-')}-restaurant.de",
            crawled_at_ms=CRAWLED_MS,
            business_name=f"Restaurant {name}",
            emails=(f"info@{name.lower().replace(' ', '-')}-restaurant.de",),
            language="de",
            country="DEU",
            state="BE",
            city="Berlin",
            technologies=("Shopify",),
            trades=("restaurant",),
            score=50,
        )
        for name in _NAMES[:8]
    ]
    return [*dallas, *berlin]
