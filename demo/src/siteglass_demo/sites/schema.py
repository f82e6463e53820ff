"""What a page says in its head: JSON-LD and the tags of Open Graph, icons, robots."""

from __future__ import annotations

import json
from html import escape
from random import Random
from typing import Any

from siteglass.query.trades import trades
from siteglass_demo.leads.chance import Weighted
from siteglass_demo.sites import flaws
from siteglass_demo.sites.addresses import country_shown, state_shown, town_named
from siteglass_demo.sites.label import Site

_TYPES = {
    "Local Business": "LocalBusiness",
    "Healthcare": "MedicalBusiness",
    "Ecommerce": "Store",
    "Hospitality": "LodgingBusiness",
    "Realtor": "RealEstateAgent",
    "Firm": "LegalService",
    "Education": "EducationalOrganization",
    "Non-Profit": "NGO",
    "Government": "GovernmentOrganization",
    "Financial Services": "FinancialService",
}
_SHAPES = Weighted.parse("plain:55 graph:30 list:15")


def json_ld(rng: Random, site: Site, url: str) -> str:
    """The script with the site's data, empty if the site has none."""
    if not site.has_schema:
        return ""
    business: dict[str, Any] = {"@type": _type(rng, site), "name": site.business_name}
    business |= {"@id": f"{url}#business", "url": url}
    if site.geo_basis == "json_ld":
        street, town = site.address.split("\n")
        city = town_named(site.city, site.language)
        code = town.replace(city, "").strip(" ,").removeprefix(f"{site.state} ")
        address = {"@type": "PostalAddress", "streetAddress": street, "postalCode": code, "addressLocality": city}
        if site.state:
            address["addressRegion"] = state_shown(rng, site.country, site.state)
        business["address"] = address | {"addressCountry": country_shown(rng, site.country)}
    if emails := [email.value for email in site.emails if email.written == "json_ld"]:
        business["email"] = f"mailto:{emails[0]}" if rng.random() < 0.2 else emails[0]
    if numbers := [phone.shown for phone in site.phones if phone.written == "json_ld"]:
        if rng.random() < 0.4:
            business["contactPoint"] = {"@type": "ContactPoint", "telephone": numbers[0], "contactType": "sales"}
        else:
            business["telephone"] = numbers[0]
    if site.social_links and (site.layout == "react_shell" or rng.random() < 0.5):
        business["sameAs"] = list(site.social_links.values())
    website = {"@type": "WebSite", "@id": f"{url}#website", "url": url, "name": site.business_name}
    content: Any = {"@context": "https://schema.org", **business}
    shape = _SHAPES.pick(rng.random())
    if shape == "graph":
        content = {"@context": "https://schema.org", "@graph": [website, business]}
    elif shape == "list":
        content = [{"@context": "https://schema.org", **website}, content]
    text = json.dumps(
        content, ensure_ascii=not site.charset.startswith("utf"), indent=2 if rng.random() < 0.4 else None
    )
    # Only the quoting of "<" keeps a script from ending early.
    return f'<script type="application/ld+json">{text.replace("<", chr(92) + "u003c")}</script>'


def _type(rng: Random, site: Site) -> str:
    """The type of its trade, or as often the wider one of its kind of business."""
    if site.trades and rng.random() < 0.5 and (own := trades().trade(site.trades[0]).schema_org):
        return own
    return _TYPES.get(site.service_type, "Organization")


def head_tags(rng: Random, site: Site, url: str, title: str, charset: str) -> str:
    """The start of the head: title, description and what is around them."""
    tags = [f'<meta charset="{charset}">'] if charset and rng.random() < 0.7 else []
    if charset and not tags:
        tags.append(f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">')
    tags.append(f"<title>{escape(title, quote=False)}</title>")
    if site.responsive:
        tags.append('<meta name="viewport" content="width=device-width, initial-scale=1">')
    if site.description:
        tags.append(f'<meta name="description" content="{escape(site.description)}">')
    if site.keywords and rng.random() < 0.3:
        tags.append(f'<meta name="keywords" content="{escape(", ".join(site.keywords))}">')
    if site.noindex_by == "meta":
        tags.append('<meta name="robots" content="noindex, nofollow">')
    elif rng.random() < 0.4:
        tags.append('<meta name="robots" content="index, follow, max-image-preview:large">')
    if "Open Graph" in site.technologies:
        tags.append(f'<meta property="og:title" content="{escape(title)}"><meta property="og:type" content="website">')
        tags.append(f'<meta property="og:site_name" content="{escape(site.business_name)}">')
        tags.append(f'<meta property="og:url" content="{url}">')
    tags.append(f'<link rel="canonical" href="{flaws.canonical(site, url)}"><link rel="icon" href="/favicon.ico">')
    if flaws.BAD_HREFLANG in site.flaws:
        tags.append(f'<link rel="alternate" hreflang="{site.language}_{site.language}" href="/">')
    elif rng.random() < 0.15:
        # Other languages are a link away, and say nothing of this page.
        tags += [f'<link rel="alternate" hreflang="{other}" href="{url}?lang={other}">' for other in ("en", "fr", "zh")]
    return "\n".join(tags)
