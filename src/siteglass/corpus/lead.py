"""Lead: the stored record of one website, defined once. Its truth lives in Parquet files, see `lead_files`.

Times are UTC in milliseconds; a fact that was never learned is None (or empty), never guessed.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

TRADE_SOURCES = ("schema.org", "title", "heading", "description", "text", "path")
MAX_TRADES = 3
SOCIAL_NETWORKS = ("facebook", "linkedin", "twitter", "instagram", "youtube", "tiktok", "pinterest")

# Hostile pages exist: one path of 33 kB must not grow a record without bound.
ShortText = Annotated[str, msgspec.Meta(max_length=512)]
LongText = Annotated[str, msgspec.Meta(max_length=20_000)]
Texts = Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=200)]


class Lead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One website as the crawl saw it last."""

    domain: Annotated[str, msgspec.Meta(max_length=253, pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)+$")]
    crawled_at_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)]
    updated_at_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None = None

    url: ShortText = ""
    business_name: ShortText = ""
    title: ShortText = ""
    description: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    text: LongText = ""
    keywords: Texts = ()
    language: Annotated[str, msgspec.Meta(max_length=2)] = ""
    favicon: ShortText = ""

    emails: Texts = ()
    """All addresses found, role addresses among them."""
    emails_personal: Texts = ()
    """Those of `emails` that are not role addresses."""
    phones: Texts = ()
    social_links: dict[str, ShortText] = {}
    """Keys among SOCIAL_NETWORKS, one profile each."""
    other_profiles: Texts = ()
    """Profiles on networks outside SOCIAL_NETWORKS."""

    country: Annotated[str, msgspec.Meta(max_length=3)] = ""
    state: Annotated[str, msgspec.Meta(max_length=6)] = ""
    """ISO 3166-2 code without the country."""
    city: ShortText = ""

    technologies: Texts | None = None
    """None: the technologies of the site were not read."""
    categories_uses: Texts = ()
    offers: Texts = ()
    service_type: ShortText = ""
    trades: Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=MAX_TRADES)] = ()
    """Ids of what the business is, see `query.trades`, the most certain first."""
    trade_sources: dict[str, ShortText] = {}
    """Where trades were read: id -> one of TRADE_SOURCES. A trade that was given with the record has none."""
    pages: Texts = ()
    links: Texts = ()

    score: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    spending: Annotated[int, msgspec.Meta(ge=0, lt=2**33)] | None = None
    """Estimated advertising spending, whole USD a month."""
    load_time_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | None = None

    secure: bool | None = None
    responsive: bool | None = None
    has_sitemap: bool | None = None
    has_schema: bool | None = None
    has_robots: bool | None = None
    has_heading: bool | None = None
    has_description: bool | None = None
