"""The companies of the demo: sites of businesses by market, then of some from anywhere. Always the same ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import msgspec

from siteglass.corpus.lead import Lead
from siteglass.query.vocabulary import vocabulary
from siteglass_demo.leads import Market, generate
from siteglass_demo.leads.chance import Weighted
from siteglass_demo.leads.places import country_of, weighted
from siteglass_demo.leads.trades import Trade, trades
from siteglass_demo.sites.addresses import town_named
from siteglass_demo.sites.draw import draw_site
from siteglass_demo.sites.flaws import FLAWS, draw_flaws
from siteglass_demo.sites.label import Site
from siteglass_demo.sites.markets import BIG_SPENDING, BOOKING, ELSEWHERE, SEGMENTS, Segment
from siteglass_demo.sites.plants import PLATFORMS
from siteglass_demo.sites.services import sentences, services
from siteglass_demo.sites.words import DESIGNED_BY

SEED = 26
"""Not the seed of the generated leads of the demo: their names would be the same."""
COUNT = sum(segment.count for segment in SEGMENTS) + ELSEWHERE

_SHARE = re.compile(r"\s*([^:]+?):(\d+)")
_SLOW_MS = (5_200, 11_000)
_MIN_SENTENCES, _MAX_SENTENCES = 6, 14
_DESIGNERS = (
    "hello@norstead-pixelworks.com",
    "studio@kedmere-weblabs.com",
    "info@silberhain-webkontor.de",
    "web@valmontelle-agence.fr",
    "info@rossetti-webofficina.it",
    "hola@miranares-estudio.es",
)
_DESIGNED_PERCENT = 14
_ROLES = {"fr": "contact", "es": "contacto"}
_NEGLECTED_STACKS = Weighted.parse("Apache:40 Joomla:30 Nginx:30")


def draw_companies() -> Iterator[Site]:
    """All sites, in the order of the segments."""
    number = 0
    for segment in SEGMENTS:
        words = segment.trades.split()
        markets = [_market(segment, _trade(word)) for word in words]
        for place in range(segment.count):
            yield _company(number, segment, markets[place % len(words)])
            number += 1
    for lead in generate(ELSEWHERE, SEED, start=number):
        rng = Random(f"company {SEED} {number}")
        yield _flawed(rng, draw_site(rng, number, lead, "normal"), lead)
        number += 1


def _trade(word: str) -> Trade:
    return next(trade for trade in trades() if trade.word == word)


def _market(segment: Segment, trade: Trade) -> Market:
    cities = [
        city
        for city in vocabulary().cities()
        if city.country == segment.country and segment.place in ("", city.name, city.state)
    ]
    if segment.place and segment.place not in {city.state for city in cities}:
        # Of towns with the same name the largest is meant.
        cities = [max(cities, key=lambda city: city.population)]
    return Market(country_of(segment.country), weighted(cities), trade)


def _company(number: int, segment: Segment, market: Market) -> Site:
    rng = Random(f"company {SEED} {number}")
    (lead,) = generate(1, SEED, start=number, market=market)
    neglected = _holds(rng, segment.neglected)
    lead = _localised(_worded(rng, lead, market.trade))
    lead = msgspec.structs.replace(
        lead,
        service_type=market.trade.service_type,
        trades=market.trade.ids,
        technologies=_technologies(rng, lead, segment, market.trade.word, neglected),
        emails=lead.emails or _emails(rng, lead, segment),
        load_time_ms=int(rng.uniform(*_SLOW_MS)) if _holds(rng, segment.slow) or neglected else lead.load_time_ms,
    )
    if _holds(rng, segment.linkedin):
        page = f"https://www.linkedin.com/company/{lead.domain.split('.')[0]}"
        lead = msgspec.structs.replace(lead, social_links={**lead.social_links, "linkedin": page})
    if neglected:
        lead = msgspec.structs.replace(
            lead, secure=False, responsive=False, has_schema=False, has_description=False, has_sitemap=False,
            has_robots=True, has_heading=rng.random() < 0.4,
        )  # fmt: skip
    site = draw_site(rng, number, lead, "normal", shows_town=True)
    designer = rng.choice(_DESIGNERS) if site.language in DESIGNED_BY and _holds(rng, _DESIGNED_PERCENT) else ""
    # Else all businesses of a kind would say the same.
    said = site.sentences[: _MIN_SENTENCES + int(rng.random() * (_MAX_SENTENCES - _MIN_SENTENCES))]
    site = msgspec.structs.replace(site, sentences=said, designer=designer)
    return msgspec.structs.replace(site, flaws=FLAWS) if neglected else _flawed(rng, site, lead)


def _holds(rng: Random, percent: int) -> bool:
    return rng.random() * 100 < percent


def _flawed(rng: Random, site: Site, lead: Lead) -> Site:
    return msgspec.structs.replace(site, flaws=draw_flaws(rng, lead.score))


def _worded(rng: Random, lead: Lead, trade: Trade) -> Lead:
    """With what the business offers, in the language of its pages."""
    offered = services(trade.word, lead.language, trade.keywords)
    if not offered:
        return lead
    some = tuple(rng.sample(offered, min(len(offered), 3 + int(rng.random() * 3))))
    said = sentences(rng, lead.language, trade.service_type, some)
    words = tuple(dict.fromkeys((trade.label(lead.language), *some)))
    # The description is drawn with the rest of the page, so that both name the same year.
    return msgspec.structs.replace(lead, keywords=words, text=" ".join(said), description="")


def _localised(lead: Lead) -> Lead:
    """With its town named as pages in its language name it."""
    own = town_named(lead.city, lead.language)
    if own == lead.city:
        return lead
    return msgspec.structs.replace(
        lead,
        title=lead.title.replace(lead.city, own),
        description=lead.description.replace(lead.city, own),
        text=lead.text.replace(lead.city, own),
    )


def _technologies(rng: Random, lead: Lead, segment: Segment, word: str, neglected: bool) -> tuple[str, ...]:
    """Those of the lead, with the platforms and ad networks of its segment and the booking widgets of its trade."""
    if neglected:
        return (_NEGLECTED_STACKS.pick(rng.random()), "PHP", "jQuery")
    used = vocabulary().technologies()
    names = [name for name in lead.technologies or () if "booking_calendar" not in used[name]]
    if segment.platforms:
        names = [name for name in names if name not in PLATFORMS]
        names.insert(0, _pick(rng, segment.platforms))
    share, widgets = BOOKING.get(word, (0, {}))
    if _holds(rng, share) and (some := widgets.get(segment.country) or widgets.get("")):
        names.append(_pick(rng, some))
    if _holds(rng, segment.big_spenders):
        names += [name for name, percent in _shares(BIG_SPENDING) if _holds(rng, percent)]
    return tuple(dict.fromkeys(names))


def _shares(text: str) -> list[tuple[str, int]]:
    """Read `A name:30 Another:5`."""
    return [(name.strip(), int(percent)) for name, percent in _SHARE.findall(text)]


def _pick(rng: Random, text: str) -> str:
    return Weighted(_shares(text)).pick(rng.random())


def _emails(rng: Random, lead: Lead, segment: Segment) -> tuple[str, ...]:
    """An address for a business that was drawn without one, so often that as many have one as the segment says."""
    missing, drawn = 100 - segment.with_email, 35
    return () if _holds(rng, missing * 100 // drawn) else (f"{_ROLES.get(lead.language, 'info')}@{lead.domain}",)
