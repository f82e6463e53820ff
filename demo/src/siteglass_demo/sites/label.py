"""Site: what is true of a made-up web site, to hold found facts against; Served: one answer of its server."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["normal", "parked", "soft_404", "redirect", "noindex", "empty"]
Written = Literal["mailto", "text", "entities", "at_dot", "cloudflare", "json_ld", "split_tags"]
PhoneWritten = Literal["tel", "text", "json_ld", "whatsapp"]
PhoneForm = Literal["national", "international", "international_zero"]
Declared = Literal["header", "meta", "both", "wrong", "missing"]
GeoBasis = Literal["", "json_ld", "address", "cctld", "phone"]


class Email(msgspec.Struct, frozen=True):
    """An address of the site and the one way it is written there."""

    value: str
    written: Written
    on: Literal["all", "contact"]
    """On all pages (the footer), or on the contact page only."""


class Phone(msgspec.Struct, frozen=True):
    """A number of the site, valid in its country."""

    value: str
    """E.164."""
    shown: str
    """As a reader sees it."""
    written: PhoneWritten
    form: PhoneForm
    """international_zero: `+49 (0)30 ...`."""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One site. Facts of sites that are parked, gone, empty or moved are empty: nothing of a business is served.

    A flag is None where the captures do not tell.
    """

    number: int
    domain: str
    """The registrable domain, in ASCII; hosts under private suffixes are separate domains."""
    host: str
    """Where its pages are served, `domain` or a host in it."""
    kind: Kind
    redirects_to: str = ""
    noindex_by: Literal["", "meta", "header"] = ""
    layout: str = ""
    captured_at_ms: int
    load_time_ms: int
    damaged: bool = False
    """A record of the site was broken when it was written: not all of the label can be found."""

    business_name: str = ""
    title: str = ""
    description: str = ""
    sentences: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    service_type: str = ""
    trades: tuple[str, ...] = ()
    """What the business is; its pages need not say it."""
    offers: tuple[str, ...] = ()
    language: str = ""
    declared_language: str = ""
    """The page's `lang`; "" if it has none. A few are wrong."""

    emails: tuple[Email, ...] = ()
    phones: tuple[Phone, ...] = ()
    social_links: dict[str, str] = {}
    technologies: tuple[str, ...] = ()
    """Those with their own trace in pages or headers, by the vocabulary's names; not what they only imply."""
    not_emails: tuple[str, ...] = ()
    """Written on the site and no contact of it: placeholders, file names, keys."""
    designer: str = ""
    """The address of whoever made the site, which its pages show; not a contact of the business."""
    not_phones: tuple[str, ...] = ()
    """E.164 of fax numbers."""

    country: str = ""
    state: str = ""
    city: str = ""
    """State and city only where JSON-LD or an address says them."""
    geo_basis: GeoBasis = ""
    """The strongest sign of the place."""
    city_in_text: str = ""
    """The true city where sentences or the title name it, whatever the basis."""
    address: str = ""
    """Street and postal code as written."""

    https: bool | None = None
    responsive: bool | None = None
    has_schema: bool | None = None
    has_heading: bool | None = None
    has_description: bool | None = None
    has_sitemap: bool | None = None
    has_robots: bool | None = None

    flaws: tuple[str, ...] = ()
    """What an SEO audit finds wrong with its pages, by the names in `flaws`; missing parts have flags above."""

    charset: str = "utf-8"
    charset_declared: Declared = "both"
    hard: tuple[str, ...] = ()
    """Hard cases the site carries, by the names in `draw`."""


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """One capture: the body as the reader should get it, and how it is on the wire."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    """As sent, without those that tell of encodings and length."""
    body: bytes
    captured_at_ms: int
    load_time_ms: int
    content_encoding: Literal["", "gzip", "br", "deflate"] = ""
    chunked: bool = False
    decoded: bool = False
    """The archive holds the body without its encoding, as Common Crawl's do."""
    revisit: bool = False
    """Seen before with the same body: the archive holds no body, `body` is empty."""
    truncated: bool = False
    """The archive cut the body; `body` is what is left."""
