"""How contacts look in HTML: six ways to hide an address and more, numbers as links and text, and the traps beside."""

from __future__ import annotations

from html import escape
from random import Random

from phonenumbers import PhoneNumberFormat, format_number, parse

from siteglass_demo.sites.addresses import country_named, is_of
from siteglass_demo.sites.label import Email, Phone, Site
from siteglass_demo.sites.words import DESIGNED_BY, WORDS

_AT_DOT = (("{} [at] {}", " [dot] "), ("{}(at){}", "."), ("{} [at] {}", "."), ("{} (at) {}", " (dot) "))
# country -> numbers of registers and taxes, # for a digit.
_REGISTERS = {
    "DEU": "USt-IdNr.: DE######### &middot; Amtsgericht HRB #####",
    "AUT": "UID: ATU######## &middot; FN ######x",
    "CHE": "CHE-###.###.### MWST",
    "GBR": "VAT No. GB######### &middot; Company No. ########",
    "FRA": "SIRET ### ### ### ##### &middot; TVA FR## #########",
    "ITA": "P. IVA ########### &middot; REA ##-######",
    "ESP": "CIF B########",
    "BRA": "CNPJ ##.###.###/0001-##",
    "AUS": "ABN ## ### ### ###",
    "USA": "EIN ##-####### &middot; License #######",
    "NLD": "KvK ######## &middot; BTW NL#########B01",
    "POL": "NIP ###-###-##-## &middot; REGON #########",
    "RUS": "ИНН ########## ОГРН #############",
}


def email_html(rng: Random, email: Email) -> str:
    """The address in the way its label says; empty for one that is only in JSON-LD."""
    value, random = email.value, rng.random
    local, _, host = value.partition("@")
    match email.written:
        case "mailto":
            subject = "?subject=Website" if random() < 0.2 else ""
            text = value if random() < 0.7 else "E-Mail"
            return f'<a href="mailto:{value}{subject}">{text}</a>'
        case "text":
            return value.capitalize() if random() < 0.15 else value
        case "entities":
            coded = "".join(f"&#{ord(c)};" if random() < 0.6 else f"&#x{ord(c):x};" for c in value)
            return f'<a href="&#109;&#97;&#105;&#108;to:{coded}">{coded}</a>' if random() < 0.4 else coded
        case "at_dot":
            shape, dot = _AT_DOT[int(random() * len(_AT_DOT))]
            return shape.format(local, host.replace(".", dot))
        case "cloudflare":
            return _cloudflare(int(random() * 254) + 1, value, random() < 0.3)
        case "split_tags":
            drawn = random()
            if drawn < 0.4:
                return f"<span>{local}</span><span>@</span><span>{host}</span>"
            if drawn < 0.7:
                return f"{local}<!-- no spam -->@<!-- please -->{host}"
            return f"<b>{local}</b>@{host.rpartition('.')[0]}<i>.</i>{host.rpartition('.')[2]}"
        case "json_ld":
            return ""


def _cloudflare(key: int, value: str, in_link: bool) -> str:
    """Cloudflare hides an address as its bytes, each combined with a key that comes first."""
    coded = f"{key:02x}" + "".join(f"{key ^ byte:02x}" for byte in value.encode())
    if in_link:
        return f'<a href="/cdn-cgi/l/email-protection#{coded}">E-Mail</a>'
    return (
        f'<a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="{coded}">[email&#160;protected]</a>'
    )


def phone_html(phone: Phone) -> str:
    """The number in the way its label says; empty for one that is only in JSON-LD."""
    match phone.written:
        case "tel":
            kept = "".join(c for c in phone.shown if c.isdigit()) if phone.form == "national" else phone.value
            return f'<a href="tel:{kept}">{phone.shown}</a>'
        case "text":
            return phone.shown
        case "whatsapp":
            return f'<a href="https://wa.me/{phone.value[1:]}">WhatsApp</a>'
        case "json_ld":
            return ""


def contact_lines(rng: Random, site: Site, page: str) -> list[str]:
    """Lines of the block of contacts on a page."""
    words = WORDS[site.language]
    lines = []
    if site.geo_basis == "address":
        lines.append("<br>".join(escape(part) for part in (site.business_name, *site.address.split("\n"))))
        # Americans seldom name their country; others do where the domain does not.
        share = 0.5 if site.country == "USA" else 0.3 if is_of(site.domain, site.country) else 1
        if rng.random() < share:
            lines.append(country_named(rng, site.country, site.language))
    lines += [f"{words['phone']}: {shown}" for phone in site.phones if (shown := phone_html(phone))]
    if site.not_phones and page in ("contact", "imprint"):
        lines.append(f"{words['fax']}: {fax_shown(site)}")
    listed = [email for email in site.emails if email.on == "all" or page in ("contact", "imprint")]
    lines += [f"{words['email']}: {shown}" for email in listed if (shown := email_html(rng, email))]
    if page == "imprint" or (page == "contact" and rng.random() < 0.5):
        lines.append(register(rng, site.country))
    if site.designer:
        lines.append(f'{DESIGNED_BY[site.language]} <a href="mailto:{site.designer}">{site.designer}</a>')
    return lines


def fax_shown(site: Site) -> str:
    """The fax number, always in its international form."""
    return format_number(parse(site.not_phones[0]), PhoneNumberFormat.INTERNATIONAL)


def register(rng: Random, country: str) -> str:
    """Numbers of registers: many digits and no phone among them."""
    pattern = _REGISTERS.get(country, "Reg. No. ########")
    return "".join(str(int(rng.random() * 10)) if mark == "#" else mark for mark in pattern.replace("&", "\0")).replace(
        "\0", "&"
    )
