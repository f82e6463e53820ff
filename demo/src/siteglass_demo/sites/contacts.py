"""Draws how a site shows its addresses and numbers, and the look-alikes beside them."""

from __future__ import annotations

from random import Random

import msgspec

from siteglass.corpus.lead import Lead
from siteglass_demo.leads.chance import Weighted
from siteglass_demo.sites import phones
from siteglass_demo.sites.label import Email, Phone, PhoneWritten, Site, Written
from siteglass_demo.sites.plants import HOSTED, plantable

_WAYS: Weighted[Written] = Weighted(
    [
        ("mailto", 40),
        ("text", 20),
        ("entities", 10),
        ("at_dot", 8),
        ("cloudflare", 10),
        ("json_ld", 6),
        ("split_tags", 6),
    ]
)
_NUMBERS: Weighted[PhoneWritten] = Weighted([("tel", 45), ("text", 38), ("json_ld", 9), ("whatsapp", 8)])
# On every site, in forms, file names and scripts.
PLACEHOLDERS = ("you@example.com", "logo@2x.png", "name@domain.com", "jane.doe@example.org")
SENTRY_KEY = "8c4075d5481d476e945486754f783364@sentry.io"


def with_contacts(rng: Random, site: Site, lead: Lead) -> Site:
    """The site with e-mails, phones and what only looks like them."""
    site = msgspec.structs.replace(
        site, emails=_emails(rng, site, lead), not_emails=(*PLACEHOLDERS, SENTRY_KEY), phones=_phones(rng, site, lead)
    )
    if any(email.written == "cloudflare" for email in site.emails) and "Cloudflare" not in site.technologies:
        site = msgspec.structs.replace(site, technologies=plantable((*site.technologies, "Cloudflare")))
    if site.geo_basis == "phone" and not site.phones:
        # Nothing on the site shows the country.
        site = msgspec.structs.replace(site, country="", geo_basis="")
    if site.geo_basis in ("json_ld", "address", "cctld") and rng.random() < 0.25 and site.layout != "react_shell":
        fax = phones.draw_number(rng, site.country, lead.state, lead.city)
        if fax and fax not in [phone.value for phone in site.phones]:
            site = msgspec.structs.replace(site, not_phones=(fax,))
    return site


def _emails(rng: Random, site: Site, lead: Lead) -> tuple[Email, ...]:
    found: list[Email] = []
    for number, value in enumerate(lead.emails[:4]):
        local, _, at = value.partition("@")
        if at == lead.domain != site.domain:
            # Hosts of a platform receive no mail.
            at = "gmail.com" if "private_suffix" in site.hard else site.domain
            local = f"{local}.{lead.domain.split('.')[0][:20]}" if at == "gmail.com" else local
        way = _WAYS.pick(rng.random())
        if way == "cloudflare" and not HOSTED.isdisjoint(site.technologies):
            way = "mailto"
        if site.layout == "react_shell" or (way == "json_ld" and not site.has_schema):
            way = "json_ld" if site.has_schema else "mailto"
        if way == "json_ld" and any(one.written == "json_ld" for one in found):
            if site.layout == "react_shell":
                break
            way = "text"
        on_all = way == "json_ld" or (number == 0 and rng.random() < 0.6)
        found.append(Email(f"{local}@{at}", way, "all" if on_all else "contact"))
    return tuple(found)


def _phones(rng: Random, site: Site, lead: Lead) -> tuple[Phone, ...]:
    found: list[Phone] = []
    wanted = len(lead.phones) or (1 if site.geo_basis == "phone" else 0)
    for _ in range(wanted if lead.country else 0):
        value = phones.draw_number(rng, lead.country, lead.state, lead.city)
        if not value or any(phone.value == value for phone in found):
            continue
        way = _NUMBERS.pick(rng.random())
        if site.layout == "react_shell" or (way == "json_ld" and not site.has_schema):
            way = "json_ld" if site.has_schema else "tel"
        if way == "json_ld" and any(one.written == "json_ld" for one in found):
            if site.layout == "react_shell":
                break
            way = "text"
        # A link to WhatsApp holds all digits; so does one of `tel` here when nothing else shows the country.
        national = way != "whatsapp" and site.geo_basis in ("json_ld", "address", "cctld")
        form = phones.draw_form(rng, lead.country, national)
        found.append(Phone(value, phones.shown(rng, value, form, lead.country), way, form))
    return tuple(found)
