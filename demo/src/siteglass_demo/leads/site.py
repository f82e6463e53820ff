"""Puts one made-up lead together: lead i of a seed depends on the seed and i alone."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from random import Random

from siteglass.corpus.lead import Lead
from siteglass.query.detected import detected_technologies
from siteglass.query.vocabulary import City
from siteglass_demo.leads import contacts, english, names, paths, quality
from siteglass_demo.leads.chance import Weighted, some
from siteglass_demo.leads.phrases import DESCRIPTIONS, SENTENCES, TITLES
from siteglass_demo.leads.places import Country, countries
from siteglass_demo.leads.stack import Stack, stack
from siteglass_demo.leads.trades import Trade, instead, trades

# A fixed day: what is generated must not change with the calendar. 2026-11-01T00:00:00Z.
EPOCH_MS = 1_793_491_200_000
_DAY_MS = 86_400_000
_OLDEST_DAYS = 548
# The index takes 250 words of a page.
_MOST_SENTENCES = 17
_TYPED_TRADES = 0.6

_COMPANY_FORMS = {
    "USA": "LLC; Inc.; Co.",
    "GBR": "Ltd",
    "CAN": "Inc.; Ltd.",
    "AUS": "Pty Ltd",
    "DEU": "GmbH; GmbH & Co. KG; e.K.",
    "AUT": "GmbH",
    "CHE": "AG; GmbH",
    "FRA": "SARL; SAS",
    "ESP": "S.L.",
    "ITA": "S.r.l.",
    "BRA": "Ltda",
    "MEX": "S.A. de C.V.",
    "ARG": "S.R.L.",
    "NLD": "B.V.",
    "POL": "sp. z o.o.",
    "SWE": "AB",
    "NOR": "AS",
    "DNK": "ApS",
    "FIN": "Oy",
    "JPN": "Co., Ltd.",
    "CHN": "Co., Ltd.",
    "IND": "Pvt. Ltd.",
    "SGP": "Pte. Ltd.",
}
_forms = {country: text.split("; ") for country, text in _COMPANY_FORMS.items()}
_ASIAN_FORMS = {"zh": ("有限公司", "集团", ""), "ja": ("株式会社", "工房", "")}
_ROMANCE = frozenset({"fr", "es", "pt", "it"})
_TRADELESS = frozenset({"SaaS", "Mobile App", "Enterprise", "Gaming", "Ecommerce", "Marketplace"})
_ENDINGS = {
    "SaaS": (Weighted.parse("com:58 io:22 ai:12 app:8"), 0.7),
    "Mobile App": (Weighted.parse("com:45 app:45 io:10"), 0.7),
    "Gaming": (Weighted.parse("com:60 games:28 gg:12"), 0.6),
    "Non-Profit": (Weighted.parse("org:92 ngo:8"), 0.7),
}
_PUBLIC_ENDINGS = {
    ("USA", "Government"): "gov",
    ("GBR", "Government"): "gov.uk",
    ("AUS", "Government"): "gov.au",
    ("USA", "Education"): "edu",
}


@cache
def _trades_by_country(code: str) -> Weighted[Trade]:
    """Trades, more of some kinds in some countries."""
    leaning = {
        "USA": {"SaaS": 1.4, "Realtor": 1.6, "Local Business": 1.15},
        "GBR": {"Agency": 1.4, "Financial Services": 1.3},
        "DEU": {"Manufacturer": 2.0, "Firm": 1.2},
        "ITA": {"Manufacturer": 1.5, "Hospitality": 1.9},
        "ESP": {"Hospitality": 1.8},
        "FRA": {"Hospitality": 1.3},
        "CHN": {"Manufacturer": 4.5, "SaaS": 0.6},
        "TWN": {"Manufacturer": 3.5},
        "IND": {"Agency": 1.9, "SaaS": 1.6, "Education": 1.7},
        "ISR": {"SaaS": 2.6},
        "JPN": {"Manufacturer": 1.8, "Gaming": 1.8},
    }.get(code, {})
    return Weighted((trade, trade.weight * leaning.get(trade.service_type, 1.0)) for trade in trades())


def _ending(rng: Random, country: Country, kind: str) -> str:
    public = _PUBLIC_ENDINGS.get((country.code, kind))
    if public and rng.random() < 0.45:
        return public
    if kind in _ENDINGS and rng.random() < _ENDINGS[kind][1]:
        return _ENDINGS[kind][0].pick(rng.random())
    return country.endings.pick(rng.random())


def _name(rng: Random, trade: Trade, country: Country, language: str, words: tuple[str, str, str]) -> tuple[str, str]:
    """Business name and domain without its ending. The domain starts with both words and the tail, see `names`."""
    first, second, tail = words
    random = rng.random
    word = trade.word
    if language != "en" and language in ("de", "nl", *_ROMANCE):
        word = trade.label(language).split()[0].strip(",")
        word = word[:1].upper() + word[1:]
    spelled = names.ascii_word(word)
    joint = " & " if trade.service_type in ("Firm", "Consultant", "Financial Services") and random() < 0.6 else " "
    if random() < (0.6 if trade.service_type in _TRADELESS else 0.35):
        word = spelled = ""
    hyphen = "-" if random() < (0.4 if language == "de" else 0.12) else ""
    label = hyphen.join(filter(None, (names.ascii_word(first), names.ascii_word(second) + tail, spelled)))
    if language in ("ja", "zh") and random() < 0.8 and (own := names.native(first) + names.native(second)):
        return own + trade.label(language) + _ASIAN_FORMS[language][int(random() * 3)], label
    pair = f"{first}{joint}{second}" + (f" {tail.capitalize()}" if tail else "")
    name = f"{word} {pair}" if language in _ROMANCE else f"{pair} {word}"
    forms = _forms.get(country.code)
    if forms and random() < 0.22:
        name = f"{name.strip()} {forms[int(random() * len(forms))]}"
    return name.strip(), label


def _text(rng: Random, language: str, kind: str, values: dict[str, str]) -> str:
    random = rng.random
    if random() < 0.03:
        return ""
    pool = english.SENTENCES[kind] if language == "en" else SENTENCES[language]
    chosen = some(rng, pool, min(_MOST_SENTENCES, 4 + int((len(pool) - 3) * random())))
    return ("" if language in ("ja", "zh") else " ").join(chosen).format_map(values)


@dataclass(frozen=True, slots=True)
class Market:
    """What businesses of one kind and place have in common; everything else about them is drawn."""

    country: Country
    cities: Weighted[City]
    trade: Trade


def lead(rng: Random, tables: Stack, number: int, seed: int, market: Market | None = None) -> Lead:
    """Lead `number` of a seed. The generator is seeded again for each, so any slice can be created alone."""
    rng.seed(seed << 40 | number)
    random = rng.random
    country = countries().pick(random())
    trade = _trades_by_country(country.code).pick(random())
    if market:
        country, trade = market.country, market.trade
    # Not by the generator: all else that is drawn stays what it was before these trades came.
    other = instead().get(trade.word)
    if other and not market and _share(number, seed, 1) < other.weight:
        trade = other
    kind = trade.service_type
    language = country.languages.pick(random())
    cities = market.cities if market else country.cities
    city = cities.pick(random()) if cities else None
    words = names.pair(number, seed, country.culture)
    name, label = _name(rng, trade, country, language, words)
    domain = f"{label}.{_ending(rng, country, kind)}"
    technologies = tables.draw(rng, kind, country.code)
    known = random()
    if known < 0.10:
        technologies = []
    found = quality.draw(rng, kind, technologies)
    # Last, so that it changes nothing else: a made-up lead has only what could be detected on its pages.
    technologies = [name for name in technologies if name in detected_technologies()]
    pages = paths.draw(rng, kind, language)
    keywords = some(rng, trade.keywords, 2 + int(random() * 7))
    label_word = trade.label(language)
    place = city.name if city else country.code
    year = 2024 - int(random() ** 1.8 * 60)
    values = {"n": name, "c": place, "t": label_word, "T": label_word[:1].upper() + label_word[1:], "y": str(year)}
    values |= {"k": keywords[0], "l": keywords[1], "m": keywords[-1]}
    titles, descriptions = TITLES[language], DESCRIPTIONS[language]
    described = found.flags[6]
    addresses, personal = contacts.emails(rng, domain, language, country.culture, words[0], words[1])
    social_links, other_profiles = contacts.profiles(rng, kind, label.replace("-", ""))
    origin = f"{'http' if found.flags[0] is False else 'https'}://{'www.' if random() < 0.4 else ''}{domain}"
    crawled = EPOCH_MS - 1 - int(random() ** 2.2 * _OLDEST_DAYS * _DAY_MS)
    located, in_city = random() >= 0.05 or market is not None, random() >= 0.12 or market is not None
    changed = random()
    business_name = name if random() >= 0.04 else ""
    title = titles[int(random() * len(titles))].format_map(values)
    description = descriptions[int(random() * len(descriptions))].format_map(values) if described else ""
    text = _text(rng, language, kind, values)
    flags = dict(zip(quality.FLAGS, found.flags, strict=True))
    said = {"title": title, "description": description, "text": text}
    read_in = _trade_source(_share(number, seed, 2), flags["has_schema"], said, label_word)
    return Lead(
        domain=domain,
        crawled_at_ms=crawled,
        updated_at_ms=None if changed < 0.1 else crawled - int(max(0.0, changed - 0.5) * 180) * _DAY_MS,
        url=f"{origin}/",
        business_name=business_name,
        title=title,
        description=description,
        text=text,
        keywords=_keywords(random(), keywords, label_word, place, language),
        language=language if random() >= 0.03 or market else "",
        favicon=f"{origin}/favicon.ico" if random() < 0.8 else "",
        emails=addresses,
        emails_personal=personal,
        phones=contacts.phones(rng, country.phone),
        social_links=social_links,
        other_profiles=other_profiles,
        country=country.code if located else "",
        state=city.state if city and located and (in_city or random() < 0.5) else "",
        city=city.name if city and located and in_city else "",
        technologies=None if known < 0.06 else tuple(technologies),
        categories_uses=tables.categories_of(technologies),
        offers=_offers(random(), trade),
        service_type=kind if random() >= 0.03 else "",
        trades=trade.ids if read_in else (),
        trade_sources=dict.fromkeys(trade.ids, read_in) if read_in else {},
        pages=pages,
        links=tuple([origin + path for path in pages]),
        aliases=(),
        added=(),
        dropped=(),
        emails_detail=(),
        phones_detail=(),
        hidden_contacts=(),
        email_owner="own" if addresses else "",
        email_owner_confidence=_confidence(addresses, domain),
        phone_owner="",
        technologies_detail=(),
        score=found.score,
        spending=found.spending,
        load_time_ms=found.load_time_ms,
        **flags,
    )


def _confidence(addresses: tuple[str, ...], domain: str) -> int | None:
    """As ingest would say it: an address on the site's own domain is surely the owner's."""
    if not addresses:
        return None
    return 95 if addresses[0].endswith(f"@{domain}") else 85


def _share(number: int, seed: int, purpose: int) -> float:
    """A number from 0 to 1 for a lead and a purpose, beside the generator."""
    return zlib.crc32(f"{seed} {number} {purpose}".encode()) / 2**32


def _trade_source(number: float, has_schema: bool | None, said: dict[str, str], label: str) -> str:
    """Where the trade of a site was read: by its type, if it has one, or in the first text that names it, if any."""
    if has_schema and number < _TYPED_TRADES:
        return "schema.org"
    return next((where for where, text in said.items() if label.casefold() in text.casefold()), "")


def _keywords(number: float, keywords: list[str], label: str, place: str, language: str) -> tuple[str, ...]:
    if number < 0.12:
        return ()
    if language == "en":
        return tuple(dict.fromkeys([label, *keywords, f"{label} {place}"]))
    return tuple(dict.fromkeys([label, place, f"{label} {place}"]))


def _offers(number: float, trade: Trade) -> tuple[str, ...]:
    """Most of what the trade offers, in whole or its first half."""
    if number < 0.1:
        return ()
    return trade.offers if number < 0.75 else trade.offers[: (len(trade.offers) + 1) // 2]


def tables() -> Stack:
    """What `lead` draws from."""
    return stack()
