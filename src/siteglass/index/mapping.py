"""The shape of an index generation: settings and mapping, derived from the catalogue.

`dynamic` is strict: a field that is not here is an error, not a guess. What is only filtered on is left out of
`_source`; what is only shown is stored there and not indexed.
"""

from __future__ import annotations

from typing import Any

from siteglass.query.field import Kind
from siteglass.query.fields import FIELDS

SCHEMA_VERSION = 8
# Before 3 there are no trades to search by. Since 4 there are details of contacts, since 5 whose contacts were hidden:
# older leads are shown without. Since 6 there are cards: without them, records are read from `_source`. Since 7 the
# time of the newest fact is there: older leads expire by the time of their crawl. Since 8 there are details of
# technologies, and parts of compound words.
OLDEST_READABLE_SCHEMA = 3

# A path of 33 kB from a hostile page must not reject the document; Lucene's own limit is 32,766 bytes.
IGNORE_ABOVE = 512

ANALYSIS: dict[str, Any] = {
    "normalizer": {"folded": {"type": "custom", "filter": ["lowercase", "asciifolding"]}},
    "filter": {"minimal_english": {"type": "stemmer", "language": "minimal_english"}},
    "analyzer": {
        "content": {
            "type": "custom",
            "tokenizer": "standard",
            "filter": ["cjk_width", "lowercase", "asciifolding", "cjk_bigram", "minimal_english"],
        }
    },
}

_SHOWN_ONLY = {"type": "keyword", "index": False, "doc_values": False}
_FACETED = {
    "technologies",
    "categories_uses",
    "offers",
    "service_type",
    "country",
    "state",
    "city",
    "language",
    # A search for keywords asks `content`; facets count them as they are.
    "keywords",
}

# Indexed and never shown.
FILTER_ONLY: dict[str, dict[str, Any]] = {
    "content": {"type": "text", "analyzer": "content", "norms": False},
    # Of compound words: see `query.compounds`. Where they are does not matter, since no phrase is searched in them.
    "parts": {"type": "text", "analyzer": "content", "norms": False, "index_options": "docs"},
    "facts": {"type": "keyword"},
    "contacts": {"type": "keyword", "doc_values": False},
    "subdivision": {"type": "keyword", "doc_values": False},
    "trade_tree": {"type": "keyword"},
    "region": {"type": "keyword"},
    "subregion": {"type": "keyword", "doc_values": False},
    "rank": {"type": "long"},
    "spending_rank": {"type": "long"},
    "crawled_rank": {"type": "long"},
    "domain_rank": {"type": "long"},
    "bucket": {"type": "short"},
    "lead_no": {"type": "integer"},
    "added": {"type": "long"},
    "dropped": {"type": "long"},
    "newest_at": {"type": "date", "doc_values": False},
}

# The record as responses contain it: see `cards`.
CARDS: dict[str, dict[str, Any]] = {
    "card": {"type": "binary", "doc_values": True},
    "rest": {"type": "binary", "doc_values": True},
}

# Fields that came after OLDEST_READABLE_SCHEMA. A generation of an older schema gets them before it is written to.
ADDED_FIELDS = (
    "emails_detail",
    "phones_detail",
    "technologies_detail",
    "hidden_contacts",
    *CARDS,
    "newest_at",
    "parts",
)

# Stored with the record: the confidence is searched, look-ups find leads by aliases, and the page of a lead says what
# was hidden. The others are for what comes next. No response shows them yet.
_PREPARED: dict[str, dict[str, Any]] = {
    "first_seen": {"type": "date", "doc_values": False},
    "aliases": {"type": "keyword", "ignore_above": IGNORE_ABOVE, "doc_values": False},
    "email_owner": {"type": "keyword"},
    "email_owner_confidence": {"type": "byte", "doc_values": False},
    "phone_owner": {"type": "keyword"},
    "phone_owner_confidence": {"type": "byte", "doc_values": False},
    "hidden_contacts": dict(_SHOWN_ONLY),
}


def _keyword(name: str) -> dict[str, Any]:
    return {
        "type": "keyword",
        "normalizer": "folded",
        "ignore_above": IGNORE_ABOVE,
        "doc_values": name in _FACETED,
    }


def properties() -> dict[str, Any]:
    """The mapping's fields: those of the catalogue, then those only for the engine."""
    mapped: dict[str, Any] = {}
    for field in FIELDS:
        if field.show is None or field.show.search is None:
            continue
        kind = field.ask.kind if field.ask else None
        if field.show.type in ("profiles", "texts_by_name", "email_details", "phone_details", "technology_details"):
            mapped[field.name] = {"type": "object", "enabled": False}
        elif field.show.type == "boolean":
            mapped[field.name] = {"type": "boolean", "index": False, "doc_values": False}
        elif kind in (Kind.TERM, Kind.PATH) or field.name in _FACETED:
            mapped[field.name] = _keyword(field.name)
        elif kind is Kind.NUMBER and field.show.type == "integer":
            # Wide enough for every number a condition may name: a bound past the type is refused by the engine.
            mapped[field.name] = {"type": "long", "doc_values": False}
        elif kind is Kind.TIME:
            mapped[field.name] = {"type": "date", "doc_values": False}
        else:
            mapped[field.name] = dict(_SHOWN_ONLY)
    # The look-up key of documents, and the tie-breaker of every order.
    mapped["domain"] = {"type": "keyword"}
    mapped["emails_personal"] = dict(_SHOWN_ONLY)
    mapped["e"] = {
        "properties": {"spending": {"type": "long", "doc_values": False}, "social_accounts": dict(_SHOWN_ONLY)}
    }
    mapped["src"] = dict(_SHOWN_ONLY)
    return {**mapped, **_PREPARED, **CARDS, **FILTER_ONLY}


def index_body(
    *, shards: int, replicas: int, codec: str, refresh_interval: str, build: str, source: str, query_cache: bool = True
) -> dict[str, Any]:
    """The body that creates an index generation."""
    return {
        "settings": {
            "index": {
                "number_of_shards": shards,
                "number_of_replicas": replicas,
                "codec": codec,
                "refresh_interval": refresh_interval,
                "sort.field": ["rank", "domain"],
                "sort.order": ["asc", "asc"],
                "queries.cache.enabled": query_cache,
            },
            "analysis": ANALYSIS,
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {"schema_version": SCHEMA_VERSION, "build": build, "source": source},
            "_source": {"excludes": sorted({*CARDS, *FILTER_ONLY})},
            "properties": properties(),
        },
    }
