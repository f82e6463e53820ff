"""Test mode: what a key that begins with `sg_test_` meets. A fixed set of made-up leads, no charge, and every outcome
on purpose: some words as the whole `query` of a search, some domains of an enrichment.

Everything else is the service as it is: the same reading of searches, the same engine, the same limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from siteglass.billing.credits import Balances, Bill, Mark, Receipt
from siteglass.corpus.demo import generate
from siteglass.corpus.domains import NotAHost, candidates
from siteglass.corpus.evidence_files import Sighting
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.errors import (
    CreditCapExceeded,
    InsufficientCredits,
    Internal,
    SiteglassError,
    TooManyRequests,
    Unavailable,
)
from siteglass.index import generations
from siteglass.index.load import load
from siteglass.index.names import Names
from siteglass.leads.enrich import Enriched, enrich, failed
from siteglass.leads.evidence import Evidence
from siteglass.platform.backends import Backends
from siteglass.suppression.hidden import Hidden

HEADER = "X-Test-Mode"
BALANCE = 1_000_000
"""What a test account has, of both kinds, before every request."""
LEADS, SEED = 1_000, 20
SLOW_S = 3.0
RETRY_AFTER_S = 2

_CRAWLED_AT_MS = 1_790_000_000_000

# The words begin so; what follows is an error code, or what happens.
START = "test:"
ERRORS: Mapping[str, Callable[[], SiteglassError]] = {
    "INSUFFICIENT_CREDITS": lambda: InsufficientCredits(need_api=0, need_lead=10, balance_api=0, balance_lead=3),
    "CREDIT_CAP_EXCEEDED": lambda: CreditCapExceeded("the daily lead cap of the key leaves", need=10, left=3),
    "TOO_MANY_REQUESTS": lambda: TooManyRequests(RETRY_AFTER_S),
    "UNAVAILABLE": lambda: Unavailable("asked for by a test key", RETRY_AFTER_S),
    "INTERNAL": Internal,
}
SLOW = "SLOW"
EXPIRED_CURSOR = "CURSOR_EXPIRED"

# Domains of an enrichment; what is not here and not among the leads is not found.
FOUND, NO_ADDRESS = "found.example", "no-address.example"
SLOW_DOMAIN, ERROR_DOMAIN, NOT_FOUND = "slow.example", "error.example", "not-found.example"


def names_of(prefix: str) -> Names:
    """The index of the leads of test mode."""
    return Names(prefix, "test")


def leads() -> Iterator[Lead]:
    """All of them, the same every time."""
    known = Lead(
        domain=FOUND,
        crawled_at_ms=_CRAWLED_AT_MS,
        title="A site that is always found",
        emails=(f"hello@{FOUND}", f"jo@{FOUND}"),
        phones=("+1 555 0100",),
        country="USA",
    )
    yield known
    yield replace(known, domain=SLOW_DOMAIN, title="A site that takes its time", emails=(f"hello@{SLOW_DOMAIN}",))
    yield replace(known, domain=ERROR_DOMAIN, title="A site whose look-up fails", emails=(f"hello@{ERROR_DOMAIN}",))
    yield replace(known, domain=NO_ADDRESS, title="A site without an address", emails=())
    yield from generate(LEADS, SEED)


async def build(backends: Backends) -> int:
    """An index of these leads in place of the one before; how many there are."""
    names = names_of(backends.settings.index_prefix)
    before = await generations.status(backends, names)
    name = await generations.create(backends, names, generations.Shape(), source="test mode")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "leads.parquet"
        write_parquet(path, leads())
        loaded = await load(backends, names, path, lambda _: None, only=name)
    await generations.promote(backends, names, name)
    for older in before:
        await generations.drop(backends, names, older.name)
    return loaded.written


async def meet(body: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """What a search asks for on purpose: raises its error, or waits. Returns the search without those words, and
    whether its cursors are to have expired."""
    asked = body.get("query")
    if not isinstance(asked, str) or not asked.startswith(START):
        return body, False
    word = asked.removeprefix(START).strip().upper()
    if word in ERRORS:
        raise ERRORS[word]()
    if word == SLOW:
        await asyncio.sleep(SLOW_S)
    if word not in (SLOW, EXPIRED_CURSOR):
        return body, False
    return {name: value for name, value in body.items() if name != "query"}, word == EXPIRED_CURSOR


async def enriched(backends: Backends, hidden: Hidden, domains: Sequence[str], select: Sequence[str]) -> Enriched:
    """An enrichment over these leads, with what some domains ask for."""
    names = names_of(backends.settings.index_prefix)
    wanted = {domain: _host(domain) for domain in domains}
    if SLOW_DOMAIN in wanted.values():
        await asyncio.sleep(SLOW_S)
    found = await enrich(backends, names, hidden, domains, select)
    items = [failed(item["domain"]) if wanted[item["domain"]] == ERROR_DOMAIN else item for item in found.items]
    return Enriched(items, [(domain, mark) for domain, mark in found.marks if domain != ERROR_DOMAIN])


def seen(found: Evidence) -> Evidence:
    """Evidence of made-up leads: each value on a page of its site, a month long."""
    pattern = Sighting(
        domain=found.domain,
        kind="email",
        value="",
        page=f"https://{found.domain}/contact",
        method="mailto",
        first_seen_ms=_CRAWLED_AT_MS - 30 * 24 * 3_600_000,
        last_seen_ms=_CRAWLED_AT_MS,
    )
    emails = [(value, [replace(pattern, value=value)]) for value, _ in found.values["emails"]]
    phones = [
        (value, [replace(pattern, kind="phone", value=value, method="tel")]) for value, _ in found.values["phones"]
    ]
    return Evidence(found.domain, {"emails": emails, "phones": phones})


def _host(domain: str) -> str:
    try:
        return candidates(domain)[0]
    except NotAHost:
        return ""


def receipt(bill: Bill) -> Receipt:
    """What an answer would have cost, and nothing written. Raises CreditCapExceeded as a charge does."""
    lead = sum(mark is Mark.CHARGED for _, mark in bill.domains)
    if bill.max_lead is not None and lead > bill.max_lead:
        raise CreditCapExceeded("`max_lead_credits` allows", need=lead, left=bill.max_lead)
    return Receipt(bill.api, lead, Balances(BALANCE - bill.api, BALANCE - lead, 0))
