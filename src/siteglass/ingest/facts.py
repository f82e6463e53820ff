"""PageFacts: what one capture says about its domain; the row between extraction and merge, kept as Parquet."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec
import pyarrow as pa

from siteglass.corpus.lead import MarkKind

# Raise it with every change of what extraction finds: it is part of a task's name, so that pages are read again.
EXTRACTOR_VERSION = "2026.11.20.2"

# What DNS says is of the kind robots, with an address that begins with "dns:". The release before reads no new kinds.
Kind = Literal["page", "parked", "soft_404", "empty", "failed", "redirect", "robots", "sitemap"]
"""page: a document that may speak for its domain. empty: one that says nothing. failed: a status of 400 and more.
redirect: see `redirects_to`."""

GeoBasis = Literal["", "json_ld", "address", "phone", "cctld", "gazetteer", "language"]


NAMED = "named"
"""The label of an address that seems to be that of a person whom the page names."""


def page_digest(body: bytes) -> str:
    """What names a body without its encodings, see `PageFacts.digest`."""
    return hashlib.sha256(body).hexdigest()[:16]


class ContactSighting(msgspec.Struct, frozen=True):
    """A contact, and how it was found: the evidence for it, together with page and time."""

    value: str
    """An e-mail address in lower case, or a phone number as E.164."""
    method: str
    """E-mails: mailto, text, obfuscated, cloudflare, json_ld, field, script. Phones: tel, whatsapp, json_ld, text."""
    group: int = -1
    """Values of a page with the same number belong together, see `extract.surroundings`; -1: not known."""
    party: str = ""
    """The kind of someone else that the page names for it: designer, regulator, host and so on; "" for none."""
    block: str = ""
    """Where on the page: footer, aside, quote, code, or ""."""
    label: str = ""
    """Of a phone: phone or fax, as the words before it say. Of an address: NAMED, or ""."""
    given: str = ""
    """Of a phone: as the page writes it, where it names no country. `value` is then the reading for the country that
    the page seems to be from, or the digits alone; the merge reads it for the country of the domain."""


class NameSighting(msgspec.Struct, frozen=True):
    """What a page says somewhere, and may be the name of the site's owner, see `extract.names`."""

    name: str
    source: str
    """json_ld, site_name, copyright, imprint, logo, title, page_title, heading, text, profile or place."""


class TechnologyMark(msgspec.Struct, frozen=True):
    """By what a technology was recognised on a page: the evidence for it, together with page and time."""

    technology: str
    kind: MarkKind
    rule: str
    """What was looked for, as the rules write it. For "implied": the technology that it comes with."""
    excerpt: str
    """Where it was found, as the page writes it: at most MAX_EXCERPT_BYTES, without addresses and phone numbers."""


class TradeSighting(msgspec.Struct, frozen=True):
    """A trade that the page names for its site, see `corpus.trade_rules`."""

    trade: str
    source: str
    """One of TRADE_SOURCES."""
    points: int


class SeenValue(msgspec.Struct, frozen=True):
    """A value that captures of a page showed, and when: the history that the facts store keeps."""

    kind: Literal["email", "phone", "technology"]
    value: str
    first_ms: int
    last_ms: int


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one capture. None: it does not say. A flag is known or None, never guessed."""

    domain: str
    """The registrable domain, private suffixes counted as such."""
    url: str
    path: str
    """Lower case, no query, no trailing slash but that of "/"."""
    is_home: bool
    kind: Kind
    captured_at_ms: int
    archive: str
    offset: int
    digest: str
    """SHA-256 of the body, the first 16 hexadecimal digits: equal pages of a domain count once."""
    redirects_to: str = ""
    """The registrable domain of the target, where that is another one."""
    alias_of: str = ""
    """Of a home page: the registrable domain of another site to whose home page it redirects, or that it names as
    canonical."""
    noindex: bool = False
    """The page, or its answer, asks not to be listed."""
    status: int = 0
    """Of HTTP. 0: not known."""

    title: str = ""
    description: str = ""
    business_name: str = ""
    """As this page alone says it. The merge reads `names` of all pages."""
    name_basis: Literal["", "json_ld", "og_site_name", "title", "repeated", "domain"] = ""
    names: tuple[NameSighting, ...] = ()
    text: str = ""
    keywords: tuple[str, ...] = ()
    language: str = ""
    favicon: str = ""

    emails: tuple[ContactSighting, ...] = ()
    phones: tuple[ContactSighting, ...] = ()
    social_links: dict[str, str] = {}
    other_profiles: tuple[str, ...] = ()

    country: str = ""
    state: str = ""
    city: str = ""
    geo_basis: GeoBasis = ""

    technologies: tuple[str, ...] = ()
    marks: tuple[TechnologyMark, ...] = ()
    """One for each of `technologies`. Pages of an earlier release have none."""
    offers: tuple[str, ...] = ()
    service_types: tuple[str, ...] = ()
    """Most likely first."""
    trades: tuple[TradeSighting, ...] = ()
    pages: tuple[str, ...] = ()
    """Paths of the same host that the page links to, key pages first."""
    links: tuple[str, ...] = ()
    """Absolute addresses that the page links to, on other hosts too."""

    secure: bool | None = None
    responsive: bool | None = None
    has_schema: bool | None = None
    has_heading: bool | None = None
    has_description: bool | None = None
    has_robots: bool | None = None
    """Known from a capture of /robots.txt only."""
    has_sitemap: bool | None = None
    """Known from a capture of /robots.txt that names one, or of a sitemap."""
    load_time_ms: int | None = None
    audits: dict[str, bool] = {}
    """Checks of the SEO score that this page passes or fails; one that does not apply is absent."""

    # What the facts store knows of earlier and later captures of the same address; extraction leaves it empty.
    missed_at_ms: tuple[int, ...] = ()
    """Newer attempts to fetch the page that failed, the newest first, see `store.folding`."""
    first_captured_ms: int | None = None
    last_captured_ms: int | None = None
    seen: tuple[SeenValue, ...] = ()


_FOUND = pa.list_(
    pa.struct(
        [
            pa.field(name, pa.int32() if name == "group" else pa.string(), False)
            for name in ContactSighting.__struct_fields__
        ]
    )
)
_TRADES = pa.list_(
    pa.struct(
        [
            pa.field("trade", pa.string(), False),
            pa.field("source", pa.string(), False),
            pa.field("points", pa.int64(), False),
        ]
    )
)
SEEN: Any = pa.list_(
    pa.struct(
        [
            pa.field("kind", pa.string(), False),
            pa.field("value", pa.string(), False),
            pa.field("first_ms", pa.int64(), False),
            pa.field("last_ms", pa.int64(), False),
        ]
    )
)
_TEXTS = pa.list_(pa.string())
_COLUMNS: dict[str, pa.DataType] = {
    "captured_at_ms": pa.int64(),
    "offset": pa.int64(),
    "load_time_ms": pa.int64(),
    "status": pa.int64(),
    "missed_at_ms": pa.list_(pa.int64()),
    "first_captured_ms": pa.int64(),
    "last_captured_ms": pa.int64(),
    "seen": SEEN,
    "emails": _FOUND,
    "phones": _FOUND,
    "trades": _TRADES,
    "social_links": pa.map_(pa.string(), pa.string()),
    "audits": pa.map_(pa.string(), pa.bool_()),
    **dict.fromkeys(
        ("keywords", "other_profiles", "technologies", "offers", "service_types", "pages", "links"), _TEXTS
    ),
    **dict.fromkeys(("is_home", "noindex", "secure", "responsive"), pa.bool_()),
    **dict.fromkeys(("has_schema", "has_heading", "has_description", "has_robots", "has_sitemap"), pa.bool_()),
}
_ADDED = ("marks", "names")
FACTS_SCHEMA: pa.Schema = pa.schema(
    [pa.field(name, _COLUMNS.get(name, pa.string())) for name in PageFacts.__struct_fields__ if name not in _ADDED]
)
MARK, NAME = "mark:", "name:"
"""Marks and names are entries of the column `social_links`, whose keys start so. The release before refuses files with
a column that it does not know, but skips a network that it does not know."""


def to_batch(rows: list[PageFacts]) -> pa.RecordBatch:
    """Facts as a batch of Arrow, their columns as FACTS_SCHEMA names them."""
    columns: list[pa.Array[Any]] = []
    for field in FACTS_SCHEMA:
        values: list[Any] = [getattr(row, field.name) for row in rows]
        if field.name == "social_links":
            values = [{**row.social_links, **_packed(row)} for row in rows]
        if field.type in (_FOUND, _TRADES, SEEN):
            values = [[msgspec.structs.asdict(one) for one in found] for found in values]
        elif pa.types.is_map(field.type):
            values = [sorted(value.items()) for value in values]
        columns.append(pa.array(values, type=field.type))
    return pa.record_batch(columns, schema=FACTS_SCHEMA)


def from_table(table: pa.Table) -> list[PageFacts]:
    """The facts of a table whose columns are those of FACTS_SCHEMA."""
    maps = [field.name for field in FACTS_SCHEMA if pa.types.is_map(field.type)]
    rows = table.to_pylist()
    for row in rows:
        row.update({name: dict(row[name]) for name in maps})
        links = row["social_links"]
        marks = [name for name in links if name.startswith(MARK)]
        row["marks"] = [(name.removeprefix(MARK), *msgspec.json.decode(links.pop(name))) for name in marks]
        row["marks"] = [dict(zip(TechnologyMark.__struct_fields__, one, strict=True)) for one in row["marks"]]
        named = sorted(name for name in links if name.startswith(NAME))
        row["names"] = [{"name": links.pop(key), "source": source_of(key)} for key in named]
    return msgspec.convert(rows, list[PageFacts])


def _packed(row: PageFacts) -> dict[str, str]:
    marks = {
        MARK + one.technology: msgspec.json.encode((one.kind, one.rule, one.excerpt)).decode() for one in row.marks
    }
    # Numbered, because their order counts.
    return marks | {f"{NAME}{number:03}:{one.source}": one.name for number, one in enumerate(row.names)}


def source_of(key: str) -> str:
    """Where a name was found, by the key under which it is packed."""
    return key.rpartition(":")[2]
