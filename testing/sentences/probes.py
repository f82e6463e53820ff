"""Probes over all values: US states and cities as people type them, groups with and/or, denials and amounts.

    python -m testing.sentences.probes [--failures 10]

Each probe is a sentence and the directives it means. A probe of a denial or an amount counts as reversed if the reading
holds a condition with the wrong sign, or the opposite comparison.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import cycle, product
from typing import NamedTuple

from siteglass.query.vocabulary import City, vocabulary
from testing.sentences.meaning import Atom, atoms
from testing.sentences.score import SETS, read_set, service

CITIES = 88
TRADES = ("plumbers", "dentists", "roofers", "florists", "electricians")
TRADE_IDS = {
    "plumbers": "plumber", "dentists": "dentist", "roofers": "roofer", "florists": "florist",
    "electricians": "electrician",
}  # fmt: skip


class Probe(NamedTuple):
    """A sentence and what it means."""

    query: str
    gold: tuple[str, ...]


def _american_cities() -> list[City]:
    """The cities of the USA, the most populous first."""
    return [city for city in vocabulary().cities() if city.country == "USA"]


def _states() -> dict[str, City]:
    """The fifty states by code, each with its most populous city."""
    known = vocabulary().states_of("USA")
    largest: dict[str, City] = {}
    for city in _american_cities():
        if city.state in known and city.state != "DC":
            largest.setdefault(city.state, city)
    outer = ("AS", "GU", "MP", "PR", "UM", "VI")
    return {code: city for code, city in sorted(largest.items()) if code not in outer}


def city_and_state() -> Iterator[Probe]:
    """ "plumbers houston tx"."""
    for trade, (code, city) in zip(cycle(TRADES), _states().items()):
        gold = (f"@trade({TRADE_IDS[trade]})", "@country(USA)", f"@state({code})", f'@city("{city.name}")')
        yield Probe(f"{trade} {city.name} {code}".lower(), gold)


def _alone(code: str) -> tuple[str, str]:
    """What a code without a city means; "LA" is Los Angeles."""
    return "@country(USA)", '@city("Los Angeles")' if code == "LA" else f"@state({code})"


def in_state() -> Iterator[Probe]:
    """ "plumbers in tx"."""
    for trade, code in zip(cycle(TRADES), _states()):
        yield Probe(f"{trade} in {code.lower()}", (f"@trade({TRADE_IDS[trade]})", *_alone(code)))


def state_at_end() -> Iterator[Probe]:
    """ "plumbers tx with a phone number"."""
    for trade, code in zip(cycle(TRADES), _states()):
        gold = (f"@trade({TRADE_IDS[trade]})", *_alone(code), "@has_phone")
        yield Probe(f"{trade} {code.lower()} with a phone number", gold)


def capital_codes() -> Iterator[Probe]:
    """ "plumbers in TX"."""
    for trade, code in zip(cycle(TRADES), _states()):
        yield Probe(f"{trade} in {code}", (f"@trade({TRADE_IDS[trade]})", *_alone(code)))


def large_cities() -> Iterator[Probe]:
    """ "dentists miami"."""
    for trade, city in zip(cycle(TRADES), _american_cities()[:CITIES]):
        gold = (f"@trade({TRADE_IDS[trade]})", "@country(USA)", f'@city("{city.name}")')
        yield Probe(f"{trade} {city.name.lower()}", gold)


_DENIALS = ("without", "with no", "that don't have", "that do not have", "lacking", "that have no", "w/o", "missing")
_THINGS = {
    "a phone number": "!@has_phone", "a Facebook page": "!@has_facebook", "a LinkedIn profile": "!@has_linkedin",
    "an email address": "!@has_email", "a sitemap": "@missing_sitemap", "https": "@not_secure",
    "a meta description": "@missing_description", "headings": "@missing_heading", "a CRM": "@lacks(crm)",
    "analytics": "@lacks(analytics)", "live chat": "@lacks(customer_support)", "Klaviyo": "!@technology(Klaviyo)",
}  # fmt: skip
_TOOLS = {"CRM": "@lacks(crm)", "analytics": "@lacks(analytics)", "live chat": "@lacks(customer_support)"}
_DESCRIBED = ("an advanced", "a fancy", "any modern", "a proper", "a dedicated")
_QUALITIES = {"secure": "@not_secure", "mobile friendly": "@not_responsive"}
_AFFIRMED = {
    "must have an Instagram": "@has_instagram", "YouTube channel required": "@has_youtube",
    "but with Stripe": "@technology(Stripe)", "using HubSpot": "@technology(HubSpot)",
}  # fmt: skip
_COMPARISONS = {
    "over": ">", "more than": ">", "above": ">", "at least": ">=", "under": "<", "less than": "<", "below": "<",
    "at most": "<=", "no more than": "<=", "up to": "<=", "not more than": "<=", "exceeding": ">",
}  # fmt: skip
_COUNTED = {
    "shops spending {} $4,000 a month on ads": "@spends({}4000)", "shops with an SEO score {} 60": "@score({}60)",
    "shops that load in {} 3 seconds": "@load_time({}3000)", "shops with ad spend {} 4k": "@spends({}4000)",
}  # fmt: skip
_PAIRS = (
    ("over {a} and under {b}", ">", "<"), ("above {a} but below {b}", ">", "<"), ("under {b} and over {a}", ">", "<"),
    ("at least {a} and at most {b}", ">=", "<="), ("more than {a}, less than {b}", ">", "<"),
    ("not over {b} and not under {a}", ">=", "<="),
)  # fmt: skip


_SUMS = ((1000, 10000), (2500, 7500), (500, 900), (3000, 50000), (100, 250), (4000, 6000), (1500, 2000), (50, 75))
_SCORES = ((20, 60), (30, 80), (45, 55), (10, 15), (65, 70), (5, 40))


def groups() -> Iterator[Probe]:
    """Things joined by and, or, either, both, neither."""
    for labelled in read_set(SETS / "groups.jsonl"):
        yield Probe(labelled.query, labelled.gold)


def denials_and_amounts() -> Iterator[Probe]:
    """Denials before one thing, two things and a wish; comparisons, alone and in pairs."""
    shop = "@service_type(Ecommerce)"
    for denial, (thing, gold) in product(_DENIALS, _THINGS.items()):
        yield Probe(f"shops {denial} {thing}", (shop, gold))
    for denial, (thing, gold), (wish, other) in product(
        ("without", "with no", "that don't have"), _THINGS.items(), _AFFIRMED.items()
    ):
        yield Probe(f"shops {denial} {thing}, {wish}", (shop, gold, other))
    for (first, gold), (second, other) in product(_THINGS.items(), _THINGS.items()):
        if first != second:
            yield Probe(f"shops missing {first} and {second}", (shop, gold, other))
    for denial, adjective, (thing, gold) in product(_DENIALS[:4], _DESCRIBED, _TOOLS.items()):
        yield Probe(f"shops {denial} {adjective} {thing}", (shop, gold))
    for (first, gold), (second, other) in product(_QUALITIES.items(), _QUALITIES.items()):
        if first != second:
            yield Probe(f"shops that aren't {first} or {second}", (shop, f"@any[ {gold} | {other} ]"))
    for (words, sign), (template, gold) in product(_COMPARISONS.items(), _COUNTED.items()):
        yield Probe(template.format(words), (shop, gold.format(sign)))
    for (words, low, high), (start, end) in product(_PAIRS, _SUMS):
        text = words.format(a=f"${start:,}", b=f"${end:,}")
        yield Probe(f"shops spending {text} a month on ads", (shop, f"@spends({low}{start})", f"@spends({high}{end})"))
    for (words, low, high), (start, end) in product(_PAIRS, _SCORES):
        text = words.format(a=start, b=end)
        yield Probe(f"shops with an SEO score {text}", (shop, f"@score({low}{start})", f"@score({high}{end})"))


def is_reversed(found: set[Atom], wanted: set[Atom]) -> bool:
    """Whether a condition is there with the wrong sign or the opposite comparison."""
    flipped = any(atom._replace(negated=not atom.negated) in wanted for atom in found - wanted)
    used = {value for atom in found if atom.field == "categories_uses" for value in atom.values}
    lacking = {value for atom in wanted if atom.field == "lacks" for value in atom.values}
    return flipped or bool(used & lacking) or any(_opposite(atom, wanted) for atom in found - wanted)


def _opposite(atom: Atom, wanted: set[Atom]) -> bool:
    """ "..1000" where "1000.." is meant, of the same field."""
    if atom.field not in ("spending", "score", "load_time_ms"):
        return False
    sides = {_side(value) for value in atom.values}
    meant = {_side(value) for other in wanted if other.field == atom.field for value in other.values}
    return bool(meant) and sides.isdisjoint(meant)


def _side(value: str) -> str:
    low, _, high = value.strip("<>").partition("..")
    return "both" if low and high else "low" if low else "high"


FAMILIES: dict[str, Callable[[], Iterator[Probe]]] = {
    "city and state": city_and_state, "in state": in_state, "state at end": state_at_end,
    "capital codes": capital_codes, "large cities": large_cities, "groups": groups,
    "denials and amounts": denials_and_amounts,
}  # fmt: skip


def main() -> None:
    """Score every family of probes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", type=int, default=0, help="show so many probes of each family that failed")
    options = parser.parse_args()
    for name, family in FAMILIES.items():
        failed: list[tuple[Probe, tuple[str, ...]]] = []
        backwards = count = 0
        for probe in family():
            count += 1
            lines = tuple(service(probe.query))
            found, wanted = atoms(lines), atoms(probe.gold)
            if found != wanted:
                failed.append((probe, lines))
                backwards += is_reversed(found, wanted)
        print(f"{name:20} {count - len(failed):4} of {count:4} right, {backwards} reversed")
        for probe, lines in failed[: options.failures]:
            print(f"    {probe.query}\n      wanted {' '.join(probe.gold)}\n      got    {' '.join(lines)}")


if __name__ == "__main__":
    main()
