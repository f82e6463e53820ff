"""Which charset a site is written in, and how truly its pages say so."""

from __future__ import annotations

from random import Random

import msgspec

from siteglass_demo.leads.chance import Weighted
from siteglass_demo.sites.label import Declared, Site

_WEST = ("windows-1252", "iso-8859-1")
_BY_LANGUAGE = {
    **dict.fromkeys(("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "fi"), _WEST),
    **dict.fromkeys(("pl", "cs"), ("iso-8859-2",)),
    **dict.fromkeys(("ru", "uk"), ("windows-1251",)),
    "ja": ("shift_jis", "euc-jp"),
    "zh": ("gb18030",),
    "ko": ("euc-kr",),
    "tr": ("windows-1254",),
    "ar": ("windows-1256",),
}
_OLD_LAYOUTS = frozenset({"table", "plain", "imprint", "bootstrap", "modern", "joomla", "drupal"})
_DECLARED: Weighted[Declared] = Weighted([("header", 30), ("meta", 28), ("both", 30), ("wrong", 6), ("missing", 6)])


def with_charset(rng: Random, site: Site) -> Site:
    """The site in UTF-8 mostly, else in what its language was written in before."""
    charset = "utf-8"
    drawn, legacy = rng.random(), _BY_LANGUAGE.get(site.language, _WEST)
    # Old charsets live on in small sites, longest where the alphabet is not the Latin one.
    share = 0.1 if site.language == "en" else 0.25 if legacy == _WEST else 0.6
    if drawn < share and site.layout in _OLD_LAYOUTS:
        charset = rng.choice(legacy)
    elif drawn > 0.985:
        charset = "utf-16"
    declared = _DECLARED.pick(rng.random())
    return msgspec.structs.replace(site, charset=charset, charset_declared=declared)


def declarations(site: Site) -> tuple[str, str]:
    """The charset as the header and the page name it, "" where they do not."""
    name = site.charset
    if site.charset_declared == "wrong":
        # The server's default is what everyone forgets.
        other = "iso-8859-1" if name == "utf-8" else "utf-8"
        return other, name
    header = name if site.charset_declared in ("header", "both") else ""
    meta = name if site.charset_declared in ("meta", "both") else ""
    return header, meta


def encoded(site: Site, html: str) -> bytes:
    """The page's bytes; letters the charset lacks become entities, as editors write them."""
    if site.charset == "utf-16":
        return b"\xff\xfe" + html.encode("utf-16-le")
    if site.charset == "utf-8":
        return html.encode()
    codec = "cp932" if site.charset == "shift_jis" else site.charset
    return html.encode(codec, "xmlcharrefreplace")
