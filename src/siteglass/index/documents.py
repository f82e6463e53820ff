"""A lead as an index document: its record, its card and rest, and the keys by which it is found and ordered. Pure."""

from __future__ import annotations

import functools
import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

import orjson

from siteglass.corpus.lead import ContactDetail, Lead, ShownOwner
from siteglass.index.cards import doc_value, encode_card, encode_rest, shown_record
from siteglass.index.technology_details import checked_details
from siteglass.query.compounds import parts_of_texts
from siteglass.query.facets import bands
from siteglass.query.fields import ASKED
from siteglass.query.trades import trades
from siteglass.query.values import moment_text
from siteglass.query.vocabulary import vocabulary

MAX_CONTENT_WORDS = 250
# Scripts without blanks between words have no word count to cut at.
MAX_CONTENT_CHARS = 2_500

RANK_HASH_BITS = 46
SPENDING_LIMIT, SPENDING_HASH_BITS = 2**33, 29
CRAWLED_LIMIT, CRAWLED_HASH_BITS = 2**42, 20
BUCKETS = 1024

_SHOWN_OWNERS = frozenset(get_args(ShownOwner))
# A Parquet file may say anything, but no value of someone else may be shown.
_HIDDEN_CONTACT = re.compile(r"(?:email|phone) [a-z_]{1,30}", re.ASCII)
_LADDER_STEPS = ASKED["spending"].ask.bands
_LADDER = bands("spending")


class SortKeys(NamedTuple):
    """Leading sort keys: the value, best first, then bits of the domain's hash, so that ties are shuffled."""

    rank: int
    spending_rank: int
    crawled_rank: int
    domain_rank: int
    """The first eight characters as a number, in the same order: the engine can skip by numbers, not by names."""
    bucket: int


def sort_keys(lead: Lead) -> SortKeys:
    """The keys of a lead; a missing value comes last."""
    digest = int.from_bytes(hashlib.blake2b(lead.domain.encode(), digest_size=8).digest())
    score = -1 if lead.score is None else lead.score
    spending = -1 if lead.spending is None else lead.spending
    return SortKeys(
        ((100 - score) << RANK_HASH_BITS) + (digest >> (64 - RANK_HASH_BITS)),
        ((SPENDING_LIMIT - spending) << SPENDING_HASH_BITS) + (digest >> (64 - SPENDING_HASH_BITS)),
        ((CRAWLED_LIMIT - lead.crawled_at_ms) << CRAWLED_HASH_BITS) + (digest >> (64 - CRAWLED_HASH_BITS)),
        int.from_bytes(lead.domain.encode()[:8].ljust(8, b"\0")) >> 1,
        digest % BUCKETS,
    )


def spending_range(spending: int | None) -> str | None:
    """The step of the ladder that contains a sum; it can be sent back as the `spending` filter."""
    return None if spending is None else _LADDER[bisect_right(_LADDER_STEPS, spending) - 1].text


@functools.cache
def _place(country: str) -> tuple[str | None, str | None, str]:
    """Region, subregion and alpha-2 code of a country."""
    words = vocabulary()
    return words.region_of(country), words.subregion_of(country), words.country_alpha2(country) or ""


def _missing(there: bool | None) -> bool | None:
    return None if there is None else not there


def facts(lead: Lead) -> list[str]:
    """All that is known as yes or no; what is absent is unknown."""
    known = [
        f"{name}:{'yes' if there else 'no'}"
        for name, there in (
            ("https", lead.secure),
            ("responsive", lead.responsive),
            ("sitemap", lead.has_sitemap),
            ("schema", lead.has_schema),
            ("robots", lead.has_robots),
            ("heading", lead.has_heading),
            ("description", lead.has_description),
        )
        if there is not None
    ]
    known.extend(f"{network}:yes" for network in lead.social_links)
    if lead.emails:
        known.append("email:yes")
    if lead.emails_personal:
        known.append("email_personal:yes")
    if lead.phones:
        known.append("phone:yes")
    if lead.technologies is not None:
        known.append("tech:known")
    return known


def trade_tree(ids: Iterable[str]) -> list[str]:
    """The trades and all wider ones, so that a search for a wider trade is one term."""
    known = trades()
    return list(dict.fromkeys(one for trade in ids for one in (trade, *known.parents(trade))))


def _content(lead: Lead) -> list[str]:
    text = lead.text[:MAX_CONTENT_CHARS]
    if text.count(" ") >= MAX_CONTENT_WORDS:
        text = " ".join(text.split()[:MAX_CONTENT_WORDS])
    return [part for part in (lead.title, lead.business_name, lead.description, *lead.keywords, text) if part]


def _details(details: Sequence[ContactDetail], values: Sequence[str]) -> list[ContactDetail]:
    """Details of what the lead shows. Single values of a Parquet file are not checked when it is read, so an owner may
    be any text."""
    return [one for one in details if one["value"] in values and one["owner"] in _SHOWN_OWNERS]


def _optional(lead: Lead) -> dict[str, Any]:
    """What many leads have nothing of."""
    return {
        "lead_no": lead.lead_no,
        "first_seen": None if lead.first_seen_ms is None else moment_text(lead.first_seen_ms),
        "newest_at": moment_text(lead.version) if lead.version != lead.crawled_at_ms else None,
        "aliases": lead.aliases,
        "email_owner": lead.email_owner,
        "email_owner_confidence": lead.email_owner_confidence,
        "phone_owner": lead.phone_owner,
        "phone_owner_confidence": lead.phone_owner_confidence,
        "emails_detail": _details(lead.emails_detail, lead.emails),
        "phones_detail": _details(lead.phones_detail, lead.phones),
        "technologies_detail": checked_details(lead.technologies_detail, lead.technologies or ()),
        "hidden_contacts": [one for one in lead.hidden_contacts if _HIDDEN_CONTACT.fullmatch(one)],
        "added": lead.added,
        "dropped": lead.dropped,
    }


def document(lead: Lead, source: str, contacts: Sequence[str] = ()) -> dict[str, Any]:
    """The document of a lead; `source` is the position of its Parquet record, `contacts` the keys by which an opt-out
    finds it."""
    keys = sort_keys(lead)
    region, subregion, alpha2 = _place(lead.country) if lead.country else (None, None, "")
    content = _content(lead)
    made: dict[str, Any] = {
        "domain": lead.domain,
        "business_name": lead.business_name,
        "title": lead.title,
        "description": lead.description,
        "emails": lead.emails,
        "phones": lead.phones,
        "language": lead.language,
        "spending": spending_range(lead.spending),
        "country": lead.country,
        "state": lead.state,
        "city": lead.city,
        "technologies": lead.technologies or (),
        "links": lead.links,
        "score": lead.score,
        "social_links": lead.social_links,
        "crawled_at": moment_text(lead.crawled_at_ms) if lead.crawled_at_ms else None,
        "favicon": lead.favicon,
        "url": lead.url,
        "keywords": lead.keywords,
        "pages": lead.pages,
        "service_type": lead.service_type,
        "trades": lead.trades,
        "trade_sources": lead.trade_sources,
        "categories_uses": lead.categories_uses,
        "offers": lead.offers,
        "load_time_ms": lead.load_time_ms,
        "not_secure": _missing(lead.secure),
        "not_responsive": _missing(lead.responsive),
        "missing_sitemap": _missing(lead.has_sitemap),
        "missing_schema": _missing(lead.has_schema),
        "missing_robot": _missing(lead.has_robots),
        "missing_heading": _missing(lead.has_heading),
        "missing_description": _missing(lead.has_description),
        "updated_at": None if lead.updated_at_ms is None else moment_text(lead.updated_at_ms),
        "emails_personal": lead.emails_personal,
        "e": {
            "spending": lead.spending,
            "social_accounts": [
                *(f"{network}:{url}" for network, url in lead.social_links.items()),
                *lead.other_profiles,
            ],
        },
        "src": source,
        "contacts": contacts,
        "content": content,
        "facts": facts(lead),
        "trade_tree": trade_tree(lead.trades),
        "rank": keys.rank,
        "spending_rank": keys.spending_rank,
        "crawled_rank": keys.crawled_rank,
        "domain_rank": keys.domain_rank,
        "bucket": keys.bucket,
    }
    if parts := parts_of_texts(content, lead.language):
        made["parts"] = parts
    # A field that is missing takes no space.
    made.update({name: value for name, value in _optional(lead).items() if value not in (None, "", (), [])})
    shown = shown_record(made)
    made["card"], made["rest"] = doc_value(encode_card(shown)), doc_value(encode_rest(shown))
    if region:
        made["region"] = region
    if subregion:
        made["subregion"] = subregion
    if alpha2 and lead.state:
        made["subdivision"] = f"{alpha2}-{lead.state}"
    return made


def bulk_lines(lead: Lead, source: str, contacts: Sequence[str] = (), *, equal_wins: bool = True) -> bytes:
    """The two lines of `_bulk` that write a lead; a newer crawl wins, and an equal one unless the caller says
    otherwise."""
    return _action("index", lead.domain, lead.version, equal_wins=equal_wins) + orjson.dumps(
        document(lead, source, contacts), option=orjson.OPT_APPEND_NEWLINE
    )


def bulk_delete_line(domain: str, version: int) -> bytes:
    """The line of `_bulk` that deletes a lead, unless a newer crawl is there."""
    return _action("delete", domain, version)


def _action(name: str, domain: str, version: int, *, equal_wins: bool = True) -> bytes:
    version_type = "external_gte" if equal_wins else "external"
    action = {name: {"_id": domain, "version": version, "version_type": version_type}}
    return orjson.dumps(action, option=orjson.OPT_APPEND_NEWLINE)
