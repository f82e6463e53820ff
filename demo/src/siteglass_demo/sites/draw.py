"""Draws the label of a site from a demo lead: what the site of such a business says, and the hard cases it carries."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import idna
import msgspec

from siteglass.corpus.lead import Lead
from siteglass.query.vocabulary import vocabulary
from siteglass_demo.leads import generate
from siteglass_demo.leads.chance import Weighted
from siteglass_demo.leads.english import SENTENCES as ENGLISH
from siteglass_demo.leads.phrases import DESCRIPTIONS, SENTENCES
from siteglass_demo.sites import charsets, contacts
from siteglass_demo.sites.addresses import country_of, draw_street, is_of, town, town_named
from siteglass_demo.sites.label import GeoBasis, Kind, Site
from siteglass_demo.sites.plants import PLATFORMS, plantable, platform
from siteglass_demo.sites.words import SPOKEN, TEXTS

_KINDS: Weighted[Kind] = Weighted(
    [("normal", 85), ("parked", 4), ("soft_404", 3), ("redirect", 3), ("noindex", 3), ("empty", 2)]
)
_OWN_LAYOUTS = Weighted.parse("bootstrap:30 plain:20 table:18 imprint:12 modern:20 react_shell:8")
# Shares in percent; a site may carry several.
_HARD = {
    "http_to_https": 25,
    "duplicate": 6,
    "revisit": 6,
    "not_modified": 4,
    "error_404": 8,
    "error_500": 4,
    "truncated": 4,
    "spam": 2,
    "html_robots": 3,
}
_IDN_WORDS = {
    "de": "büro",
    "fr": "café",
    "es": "españa",
    "sv": "malmö",
    "pl": "łódź",
    "ja": "日本",
    "zh": "中国",
    "ru": "россия",
    "tr": "türkiye",
    "ko": "한국",
}
# Platform -> suffix of its hosts, share in percent of its sites there.
_PRIVATE_SUFFIXES = {"Shopify": ("myshopify.com", 20), "Webflow": ("webflow.io", 12), "Blogger": ("blogspot.com", 100)}
_GITHUB_PERCENT, _BLOGGER_PERCENT = 5, 4


def draw_sites(count: int, seed: int) -> Iterator[Site]:
    """Sites 0 to count of a seed; each depends on the seed and its number only."""
    rng = Random()
    for number, lead in enumerate(generate(count, seed)):
        rng.seed(f"site {seed} {number}")
        yield draw_site(rng, number, lead, _KINDS.pick(rng.random()))


def draw_site(rng: Random, number: int, lead: Lead, kind: Kind, *, shows_town: bool = False) -> Site:
    """The site of a business, of a kind. With `shows_town` it always says in which town the business is."""
    random = rng.random
    technologies = _technologies(random() * 100, lead)
    hard = [name for name, share in _HARD.items() if random() * 100 < share]
    domain, own = _domain(rng, lead, technologies, hard)
    https = lead.secure is not False or own != "own"
    host = f"www.{domain}" if own == "own" and random() < 0.45 else domain
    if not https and "http_to_https" in hard:
        hard.remove("http_to_https")
    if host != domain and random() < 0.5:
        hard.append("apex_to_www")
    bare = Site(
        number=number,
        domain=domain,
        host=host,
        kind=kind,
        captured_at_ms=lead.crawled_at_ms // 1000 * 1000,
        load_time_ms=lead.load_time_ms or 400 + int(random() * 3_000),
        https=https,
        hard=tuple(hard),
    )
    if kind == "redirect":
        return msgspec.structs.replace(bare, redirects_to=f"new-{lead.domain}", hard=())
    if kind not in ("normal", "noindex"):
        return msgspec.structs.replace(bare, hard=())
    if kind == "noindex":
        bare = msgspec.structs.replace(bare, noindex_by="meta" if random() < 0.6 else "header")
    return _business(rng, bare, lead, technologies, shows_town)


def _technologies(percent: float, lead: Lead) -> tuple[str, ...]:
    """What the lead uses; some of those without a platform are guests of one that costs nothing."""
    found = plantable(lead.technologies or ())
    if platform(found) or percent >= _GITHUB_PERCENT + _BLOGGER_PERCENT:
        return found
    return plantable((*found, "GitHub Pages" if percent < _GITHUB_PERCENT else "Blogger"))


def _domain(rng: Random, lead: Lead, technologies: tuple[str, ...], hard: list[str]) -> tuple[str, str]:
    """The site's domain, and whose it is: its own, or a host of its platform."""
    label, _, ending = lead.domain.partition(".")
    drawn = rng.random()
    if drawn < 0.02:
        hard.append("idn")
        word = f"{label}-{_IDN_WORDS.get(lead.language, 'café')}"
        return f"{idna.encode(word).decode()}.{ending}", "own"
    suffix, percent = _PRIVATE_SUFFIXES.get(platform(technologies), ("", 0))
    if "GitHub Pages" in technologies:
        suffix, percent = "github.io", 100
    if suffix and (drawn - 0.02) * 100 < percent:
        hard.append("private_suffix")
        return f"{label}.{suffix}", "platform"
    return lead.domain, "own"


def _business(rng: Random, bare: Site, lead: Lead, technologies: tuple[str, ...], shows_town: bool) -> Site:
    random = rng.random
    layout = PLATFORMS.get(platform(technologies)) or _OWN_LAYOUTS.pick(random())
    if own := {"bootstrap": "Bootstrap", "react_shell": "React"}.get(layout):
        technologies = tuple(dict.fromkeys((*technologies, own)))
    if not bare.https:
        technologies = tuple(name for name in technologies if name != "HSTS")
    # What runs in the browser only is seen through its data: without any there would be nothing to find.
    has_schema = layout == "react_shell" or bool(lead.has_schema)
    name = lead.business_name or lead.domain.split(".")[0].replace("-", " ").title()
    language, title, description, sentences = _texts(rng, lead, name)
    has_description = lead.has_description is not False
    robots = _robots(rng, lead, bare.hard)
    if robots["has_robots"] is None:
        bare = msgspec.structs.replace(bare, hard=tuple(name for name in bare.hard if name != "html_robots"))
    declared = language if random() < 0.85 else ""
    if language != "en" and random() < 0.04:
        declared = "en"
    site = msgspec.structs.replace(
        bare,
        layout=layout,
        business_name=name,
        title=title,
        description=description if has_description else "",
        sentences=sentences,
        keywords=lead.keywords,
        service_type=lead.service_type,
        trades=lead.trades,
        offers=lead.offers,
        language=language,
        declared_language=declared,
        social_links={network: _possible(network, link) for network, link in lead.social_links.items()},
        technologies=technologies,
        responsive=layout != "table" and lead.responsive is not False,
        has_schema=has_schema,
        has_heading=layout != "react_shell" and lead.has_heading is not False,
        has_description=has_description,
        **robots,
    )
    site = _place(rng, site, lead, shows_town)
    site = contacts.with_contacts(rng, site, lead)
    return charsets.with_charset(rng, site)


def _possible(network: str, link: str) -> str:
    """A profile whose name is no longer than its network allows."""
    base, _, handle = link.rpartition("/")
    return f"{base}/{handle[:15]}" if network == "twitter" else link


def _texts(rng: Random, lead: Lead, name: str) -> tuple[str, str, str, tuple[str, ...]]:
    """Language, title, description and sentences: those of the lead, and more of its language."""
    place = town_named(lead.city, lead.language or "en") or (
        vocabulary().country_name(lead.country) if lead.country else "town"
    )
    words = lead.keywords or ("services", "consulting", "support")
    year = str(1970 + int(rng.random() * 54))
    trade = words[0]
    values = {"n": name, "c": place, "t": trade, "T": trade[:1].upper() + trade[1:], "y": year}
    values |= {"k": words[1 % len(words)], "l": words[2 % len(words)], "m": words[-1]}
    spoken = SPOKEN.get(lead.country)
    if spoken and rng.random() < 0.7:
        title, description, *texts = (text.format_map(values) for text in TEXTS[spoken])
        return spoken, title, description, tuple(texts)
    language = lead.language or "en"
    pool = ENGLISH[lead.service_type or "Local Business"] if language == "en" else SENTENCES[language]
    texts = [text.format_map(values) for text in rng.sample(pool, len(pool))]
    description = lead.description or rng.choice(DESCRIPTIONS[language]).format_map(values)
    # A lead whose language was not learned may speak any: then its own words are left out.
    own = [lead.text] if lead.text and lead.language else []
    title = lead.title if lead.language else f"{name} | {values['T']}"
    description = description if lead.language else rng.choice(DESCRIPTIONS["en"]).format_map(values)
    return language, title, description, tuple(own + texts)


def _robots(rng: Random, lead: Lead, hard: tuple[str, ...]) -> dict[str, bool | None]:
    """What captures of /robots.txt and /sitemap.xml tell; a third of the sites was not asked for them."""
    if rng.random() < 0.3:
        return {"has_robots": None, "has_sitemap": True if lead.has_sitemap and rng.random() < 0.3 else None}
    has_robots = lead.has_robots is not False and "html_robots" not in hard
    return {"has_robots": has_robots, "has_sitemap": bool(lead.has_sitemap) if rng.random() < 0.7 else None}


def _place(rng: Random, site: Site, lead: Lead, shows_town: bool) -> Site:
    random = rng.random
    shown = f"{site.title} {site.description} {' '.join(site.sentences)}"
    named = {lead.city, town_named(lead.city, site.language)} - {""}
    in_text = lead.city if any(name in shown for name in named) else ""
    if not lead.country:
        if country := country_of(site.domain):
            return msgspec.structs.replace(site, country=country, geo_basis="cctld", city_in_text=in_text)
        return msgspec.structs.replace(site, city_in_text=in_text)
    basis: GeoBasis = "cctld" if is_of(site.domain, lead.country) else "phone"
    if lead.city and site.has_schema and random() < 0.55:
        basis = "json_ld"
    elif lead.city and site.layout != "react_shell" and (random() < 0.6 or shows_town):
        basis = "address"
    elif lead.city and shows_town:
        basis = "json_ld"
    if basis not in ("json_ld", "address"):
        return msgspec.structs.replace(site, country=lead.country, geo_basis=basis, city_in_text=in_text)
    street, code = draw_street(rng, lead.country, lead.state, lead.city)
    return msgspec.structs.replace(
        site,
        country=lead.country,
        state=lead.state,
        city=lead.city,
        geo_basis=basis,
        city_in_text=in_text,
        address=f"{street}\n{town(lead.country, lead.state, town_named(lead.city, site.language), code)}",
    )
