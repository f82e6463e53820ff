"""An answer that was kept for a retry, without what was suppressed since.

The list itself is asked: a worker holds only what is newer than the oldest generation, and an answer may be older.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from siteglass.corpus.domains import NotAHost, candidates
from siteglass.leads.enrich import not_found
from siteglass.platform.backends import Backends
from siteglass.suppression.entries import ListedValues, among, hashes_on
from siteglass.suppression.redaction import changes, hashes, names
from siteglass.suppression.values import Hasher

Record = dict[str, Any]


async def without_suppressed(backends: Backends, body: bytes, domains: Sequence[str]) -> bytes | None:
    """The answer without what is listed now, None if nothing of it is; `domains` are those of its ledger row."""
    envelope = orjson.loads(body)
    hasher = Hasher(backends.settings)
    results: list[Record] = envelope["results"]
    # Records of a search are in the order of the ledger row, and need not contain their domain.
    of_search = "filters" in envelope
    named = [(domain,) for domain in domains] if of_search else _names_of(results, domains)
    shown = results if of_search else [item.get("data", {}) for item in results]
    every = {name for some in named for domain in some for name in names(domain)}
    listed = await among(
        backends.postgres, every, {hashed for record in shown for hashed in hashes(record.get, hasher)}
    )
    # A record that shows a text and not the phones does not tell which of its numbers is one of them.
    listed = ListedValues(listed.domains, listed.hashes | await hashes_on(backends.postgres, every))
    if not listed:
        return None
    # Texts are scanned for everything that numbers in them may mean: other requests continue meanwhile.
    after = await asyncio.to_thread(_envelope_without, envelope, named, listed, hasher, of_search=of_search)
    return None if after == envelope else orjson.dumps(after)


def _envelope_without(
    envelope: Record, named: Sequence[Sequence[str]], listed: ListedValues, hasher: Hasher, *, of_search: bool
) -> Record:
    items = zip(envelope["results"], named, strict=True)
    if not of_search:
        return {**envelope, "results": [_redacted_item(item, some, listed, hasher) for item, some in items]}
    kept = [_redacted(record, listed, hasher) for record, some in items if not _is_listed(some, listed)]
    return {**envelope, "size": len(kept), "results": kept}


def _names_of(items: Sequence[Record], domains: Sequence[str]) -> list[tuple[str, ...]]:
    """The names under which each item of an enrichment may be listed: those it may have been found under, and the
    lead's own if it was found by an alias. Which lead that is, an item without `domain` does not say: any of those that
    no other item names."""
    asked = [_asked(item) for item in items]
    stored = set(domains)
    others = tuple(stored.difference(*asked))

    def of_lead(item: Record, some: tuple[str, ...]) -> tuple[str, ...]:
        if item["status"] != "success":
            return ()
        if "domain" in item["data"]:
            return (item["data"]["domain"],)
        return others if stored.isdisjoint(some) else ()

    return [(*some, *of_lead(item, some)) for item, some in zip(items, asked, strict=True)]


def _asked(item: Record) -> tuple[str, ...]:
    """The names that an item of an enrichment may have been found under."""
    try:
        return candidates(item["domain"])
    except NotAHost:
        return ()


def _is_listed(some: Sequence[str], listed: ListedValues) -> bool:
    return any(not listed.domains.isdisjoint(names(domain)) for domain in some)


def _redacted(record: Record, listed: ListedValues, hasher: Hasher) -> Record:
    return {**record, **changes(record.get, listed.hashes, hasher)}


def _redacted_item(item: Record, some: Sequence[str], listed: ListedValues, hasher: Hasher) -> Record:
    if item["status"] != "success":
        return item
    if _is_listed(some, listed):
        gone: Record = msgspec.to_builtins(not_found(item["domain"]))
        return gone
    return {**item, "data": _redacted(item["data"], listed, hasher)}
