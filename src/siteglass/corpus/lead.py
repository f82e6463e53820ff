"""Lead: the stored record of one website, defined once. Its truth lives in Parquet files, see `lead_files`.

Times are UTC in milliseconds; a fact that was never learned is None (or empty), never guessed.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

import msgspec

TRADE_SOURCES = ("schema.org", "title", "heading", "description", "text", "path")
MAX_TRADES = 3
SOCIAL_NETWORKS = ("facebook", "linkedin", "twitter", "instagram", "youtube", "tiktok", "pinterest")

# Hostile pages exist: one path of 33 kB must not grow a record without bound.
ShortText = Annotated[str, msgspec.Meta(max_length=512)]
LongText = Annotated[str, msgspec.Meta(max_length=20_000)]
Texts = Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=200)]
Numbers = Annotated[tuple[Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)], ...], msgspec.Meta(max_length=200)]
Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]
ShownOwner = Literal["own", "affiliate", "unknown"]
"""Whose a value is that leads show. What is someone else's is not shown."""


class ContactDetail(TypedDict):
    """What is known of an address or a number of a lead. A dictionary, as in files, documents and responses, so that
    opt-outs are applied to all of them by the same code."""

    value: ShortText
    owner: ShownOwner
    confidence: Percent | None
    """Confidence in the owner."""
    page: ShortText | None
    """URL of the page that showed the value last."""
    crawled_at_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None
    """When that page was crawled."""
    first_seen_ms: NotRequired[Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None]
    """When a page that shows the value first showed it."""
    last_seen_ms: NotRequired[Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None]
    """When a page was last crawled that showed it."""


Details = Annotated[tuple[ContactDetail, ...], msgspec.Meta(max_length=200)]

MarkKind = Literal[
    "script", "link", "image", "frame", "form", "media", "inline_script", "comment", "element", "generator", "header",
    "cookie", "host", "dns", "implied",
]  # fmt: skip
MAX_EXCERPT_BYTES = 80


class Mark(TypedDict):
    """By what a technology was recognised on a page."""

    kind: MarkKind
    """`script` to `media`: the address of such an element. `host`: the name of the website's own host. `implied`: it
    comes with another technology."""
    rule: ShortText
    """What was looked for: a host, a pattern, a selector, the name of a header or a cookie. For `implied`: the other
    technology."""
    excerpt: Annotated[str, msgspec.Meta(max_length=MAX_EXCERPT_BYTES)]
    """Where it was found, as the page writes it, without addresses and phone numbers."""


class TechnologyDetail(TypedDict):
    """What shows that a lead uses a technology."""

    value: ShortText
    marks: Annotated[tuple[Mark, ...], msgspec.Meta(max_length=3)]
    page: ShortText | None
    """URL of the page that has the marks."""
    first_seen_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None
    """When a page that shows the technology first showed it."""
    last_seen_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None
    """When a page was last crawled that showed it."""


TechnologyDetails = Annotated[tuple[TechnologyDetail, ...], msgspec.Meta(max_length=200)]


class Lead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One website as the crawl saw it last."""

    domain: Annotated[str, msgspec.Meta(max_length=253, pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)+$")]
    crawled_at_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)]
    """0: the website was never fetched, and is known from an import or a place. Not null, so that the release before
    reads the file."""
    updated_at_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None = None
    first_seen_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None = None
    """When the website was first seen. The loader keeps the earliest time that the record and the lead store know."""
    newest_fact_ms: Annotated[int, msgspec.Meta(ge=0, lt=2**42)] | None = None
    """When the newest page of the website was crawled or found to be gone, or another source said something;
    `crawled_at_ms` if it is not given."""
    lead_no: Annotated[int, msgspec.Meta(ge=1, lt=2**31)] | None = None
    """The number of the domain, which never changes. The loader assigns it; a number in a file outside the lead store
    is ignored."""

    url: ShortText = ""
    business_name: ShortText = ""
    title: ShortText = ""
    description: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    text: LongText = ""
    keywords: Texts = ()
    language: ShortText = ""
    """ISO 639-1 code. The loader also accepts names."""
    favicon: ShortText = ""

    emails: Texts = ()
    """All addresses found, role addresses among them."""
    emails_personal: Texts = ()
    """Those of `emails` that are not generic: neither of a role nor shared."""
    phones: Texts = ()
    social_links: dict[str, ShortText] = {}
    """Keys among SOCIAL_NETWORKS, one profile each."""
    other_profiles: Texts = ()
    """Profiles on networks outside SOCIAL_NETWORKS."""
    email_owner: ShortText = ""
    """Class of the owner of the best address."""
    email_owner_confidence: Percent | None = None
    phone_owner: ShortText = ""
    """Class of the owner of the best number."""
    phone_owner_confidence: Percent | None = None
    emails_detail: Details = ()
    """Of values of `emails`; of an address that is not here, nothing is known."""
    phones_detail: Details = ()
    """Of values of `phones`, as in `emails_detail`."""
    hidden_contacts: Texts = ()
    """An entry such as "email designer" for each address or number on the pages that is someone else's: its kind and
    whose it is. The values themselves are not part of a lead."""

    country: ShortText = ""
    """ISO 3166-1 alpha-3 code. The loader also accepts alpha-2 codes and names."""
    state: ShortText = ""
    """ISO 3166-2 code without the country. The loader also accepts codes with the country, and names."""
    city: ShortText = ""

    technologies: Texts | None = None
    """None: the technologies of the site were not read."""
    technologies_detail: TechnologyDetails = ()
    """Of values of `technologies`; of one that is not here, nothing is known. In Parquet files they are entries of
    `hidden_contacts`."""
    categories_uses: Texts = ()
    offers: Texts = ()
    service_type: ShortText = ""
    trades: Annotated[tuple[ShortText, ...], msgspec.Meta(max_length=MAX_TRADES)] = ()
    """Ids of what the business is, see `query.trades`, the most certain first."""
    trade_sources: dict[str, ShortText] = {}
    """Where trades were read: id -> one of TRADE_SOURCES. A trade that was given with the record has none."""
    pages: Texts = ()
    links: Texts = ()
    aliases: Texts = ()
    """Other domains that lead to this website. An enrichment finds the lead by them; searches do not show them."""
    added: Numbers = ()
    """Technologies that the website began to use: line in `technology_numbers.txt` × 65,536 + days since 1970."""
    dropped: Numbers = ()
    """Technologies that the website stopped using, as in `added`."""

    score: Percent | None = None
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

    @property
    def version(self) -> int:
        """Of two records of a domain, the one with the higher version stays in the index. Leads expire by it, too."""
        return max(self.crawled_at_ms, self.newest_fact_ms or 0)
