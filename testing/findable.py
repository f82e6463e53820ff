"""A stand-in for the dentists of a country: places in the layout of Overture, sites for the made-up web, and traps that
must not be fetched. Which dentists can be found is decided here, before anything is read."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from testing.overture import DENTISTS, TRAPS, made_places

# As places name a city: as leads name it, and the start of its phone numbers.
CITIES = {
    "Wien": ("Vienna", "+43151"),
    "Graz": ("Graz", "+433168"),
    "Linz": ("Linz", "+437327"),
    "Salzburg": ("Salzburg", "+436628"),
    "Innsbruck": ("Innsbruck", "+435125"),
    "Villach": ("Villach", "+4342422"),
    "Dornbirn": ("Dornbirn", "+4355722"),
}
SURNAMES = ("Huber", "Gruber", "Wagner", "Steiner", "Moser", "Mayer", "Hofer", "Leitner", "Berger", "Fuchs", "Eder")
# Of the dentists, so many have a site that is there.
LIVE = 0.8
OPTED_OUT, EXCLUDED, NOINDEX, FORBIDDING, INTERNAL, PLATFORM = TRAP_KINDS = (
    "opted out",
    "excluded",
    "noindex",
    "forbids",
    "internal",
    "platform",
)
_PAGE = """<html lang="de"><head><title>{name}</title><meta name="description" content="Zahnarzt in {city}">{head}
</head><body><h1>{name}</h1><p>Ihre Zahnarztpraxis in {city}: Kontrolle, Mundhygiene, Implantate und Zahnspangen.</p>
{body}</body></html>"""
_IMPRINT = "<h2>Impressum</h2><p>{name}<br>Hauptplatz 1<br>{city}</p><p>Telefon: <a href='tel:{phone}'>{phone}</a></p>"


@dataclass(frozen=True, slots=True)
class Dentist:
    """One who can be found, and what the lead must say."""

    name: str
    city: str
    phone: str
    licence: str


@dataclass(slots=True)
class StandIn:
    """All of it."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """Places."""
    pages: dict[str, str] = field(default_factory=dict)
    """By host and path. Hosts that are not here do not exist."""
    findable: dict[str, Dentist] = field(default_factory=dict)
    """By domain."""
    traps: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in TRAP_KINDS})
    """Hosts by what is wrong with them."""
    others: set[str] = field(default_factory=set)
    """Hosts of places in other countries, and of other trades."""


def stand_in(places: int, traps: int, seed: int = 1) -> StandIn:
    """So many places in three countries, so many of them traps that dentists are meant by, and some of other kinds."""
    choice, found = random.Random(seed), StandIn()
    for number, place in enumerate(made_places(places - traps, "taxonomy", seed)):
        row = place.row
        if place.country == "AT" and place.category in DENTISTS and place.domain:
            row = _dentist(found, number, place.domain, place.row, place.licence, choice)
        elif place.domain:
            _serve(found, found.others, row["websites"])
        else:
            _serve(found, found.traps[PLATFORM], row["websites"])
        found.rows.append(row)
    pattern = next(row for row in found.rows if row["addresses"][0]["country"] == "AT" and row["websites"])
    for number in range(traps):
        found.rows.append(_trap(found, number, {**pattern, "id": f"trap-{number}"}))
    return found


def _dentist(
    found: StandIn, number: int, domain: str, row: Mapping[str, Any], licence: str, choice: random.Random
) -> dict[str, Any]:
    local = choice.choice(list(CITIES))
    city, code = CITIES[local]
    name = f"Zahnarztpraxis {choice.choice(SURNAMES)} und {choice.choice(SURNAMES)}"
    phone = f"{code}{number:05}"
    if choice.random() < LIVE:
        found.findable[domain] = Dentist(name, city, phone, licence)
        found.pages |= _site(domain, name, local, phone, number % 3)
    address = {"freeform": "Hauptplatz 1", "locality": local, "postcode": None, "region": None, "country": "AT"}
    return {**row, "names": {"primary": name}, "phones": [phone], "addresses": [address]}


def _site(domain: str, name: str, city: str, phone: str, kind: int) -> dict[str, str]:
    """The site itself says it, in structured data or in an imprint, or leaves it to the place."""
    if kind == 0:
        address = {"@type": "PostalAddress", "addressLocality": city, "addressCountry": "AT"}
        data = {"@context": "https://schema.org", "@type": "Dentist", "name": name, "telephone": phone}
        head = f'<script type="application/ld+json">{json.dumps({**data, "address": address})}</script>'
        return {f"{domain}/": _PAGE.format(name=name, city=city, head=head, body="")}
    if kind == 1:
        body = "<a href='/impressum'>Impressum</a>"
        imprint = _IMPRINT.format(name=name, city=city, phone=phone)
        return {
            f"{domain}/": _PAGE.format(name=name, city=city, head="", body=body),
            f"{domain}/impressum": _PAGE.format(name=name, city=city, head="", body=imprint),
        }
    return {f"{domain}/": _PAGE.format(name=name, city=city, head="", body="")}


def _trap(found: StandIn, number: int, row: dict[str, Any]) -> dict[str, Any]:
    kind = TRAP_KINDS[number % len(TRAP_KINDS)]
    host, websites = f"trap-{number}.at", [f"https://trap-{number}.at/"]
    head = '<meta name="robots" content="noindex">' if kind == NOINDEX else ""
    if kind == PLATFORM:
        websites = [text.format(number) for text in TRAPS[number // len(TRAP_KINDS) % 7] if text]
        _serve(found, found.traps[kind], websites)
    else:
        found.traps[kind].add(host)
        found.pages[f"{host}/"] = _PAGE.format(name="Falle", city="Wien", head=head, body="")
    if kind == FORBIDDING:
        found.pages[f"{host}/robots.txt"] = "User-agent: *\nDisallow: /\n"
    return {**row, "websites": websites}


def _serve(found: StandIn, hosts: set[str], websites: Sequence[str | None] | None) -> None:
    """Sites that are there, so that a request to them would be noticed."""
    for text in websites or ():
        host = urlsplit(text or "").hostname or ""
        if "." in host and not host.startswith("127."):
            for name in (host, host.removeprefix("www.")):
                hosts.add(name)
                found.pages[f"{name}/"] = "<html><title>Trap</title></html>"
