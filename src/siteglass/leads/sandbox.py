"""The sandbox: what a key that begins with `sg_test_` gets. It finds a fixed set of made-up leads and is free of
charge. Every outcome can be requested: by some words as the whole `query` of a search, or by some domains of an
enrichment.

Everything else is the service as it is: the same reading of searches, the same engine, the same limits.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.billing.credits import Balances, Bill, Mark, Receipt
from siteglass.corpus.domains import NotAHost, candidates
from siteglass.corpus.evidence_files import Sighting
from siteglass.corpus.lead import ContactDetail, Lead, TechnologyDetail
from siteglass.corpus.lead_files import read_parquet, write_parquet
from siteglass.errors import (
    CreditCapExceeded,
    InsufficientCredits,
    Internal,
    SiteglassError,
    TooManyRequests,
    Unavailable,
)
from siteglass.index import generations
from siteglass.index.compile import Extra
from siteglass.index.index import Index
from siteglass.index.load import load
from siteglass.leads.charging import Offer, Work, dry_run_response, find_offer, paid_response, read_retry
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.enrich import EnrichmentResult, enrich, failed
from siteglass.leads.evidence import Evidence, evidence_of
from siteglass.leads.facets import FacetsRequest
from siteglass.leads.requests import further_units
from siteglass.settings import Settings
from siteglass.web.guard import Call, Handler
from siteglass.web.requests import read_json

BALANCE = 1_000_000
"""What a test account has, of both kinds, before every request."""
GENERATED = Path(__file__).with_name("sandbox_leads.parquet")
"""Made-up leads, from `make sandbox-leads`."""
SLOW_S = 3.0
RETRY_AFTER_S = 2

_CRAWLED_AT_MS = 1_790_000_000_000
FIRST_SEEN_MS = _CRAWLED_AT_MS - 30 * 24 * 3_600_000
# The words begin so; what follows is an error code, or what happens.
START = "test:"
ERRORS: Mapping[str, Callable[[], SiteglassError]] = {
    "INSUFFICIENT_CREDITS": lambda: InsufficientCredits(need_api=0, need_lead=10, balance_api=0, balance_lead=3),
    "CREDIT_CAP_EXCEEDED": lambda: CreditCapExceeded("the key's daily lead cap leaves", need=10, left=3),
    "TOO_MANY_REQUESTS": lambda: TooManyRequests(RETRY_AFTER_S),
    "UNAVAILABLE": lambda: Unavailable("asked for by a test key", RETRY_AFTER_S),
    "INTERNAL": Internal,
}
SLOW = "SLOW"
EXPIRED_CURSOR = "CURSOR_EXPIRED"

# Domains of an enrichment; what is not here and not among the leads is not found.
FOUND, ALIAS, NO_ADDRESS = "found.example", "alias.example", "no-address.example"
SLOW_DOMAIN, ERROR_DOMAIN, NOT_FOUND = "slow.example", "error.example", "not-found.example"


def leads() -> Iterator[Lead]:
    """All of them, the same every time."""
    return map(_with_details, _leads())


def _leads() -> Iterator[Lead]:
    known = Lead(
        domain=FOUND,
        crawled_at_ms=_CRAWLED_AT_MS,
        title="A site that is always found",
        emails=(f"hello@{FOUND}", f"jo@{FOUND}"),
        emails_personal=(f"jo@{FOUND}",),
        phones=("+1 555 0100",),
        country="USA",
    )
    yield replace(known, aliases=(ALIAS,))
    known = replace(known, emails=(), emails_personal=())
    yield replace(known, domain=SLOW_DOMAIN, title="A site that takes its time", emails=(f"hello@{SLOW_DOMAIN}",))
    yield replace(known, domain=ERROR_DOMAIN, title="A site whose look-up fails", emails=(f"hello@{ERROR_DOMAIN}",))
    yield replace(known, domain=NO_ADDRESS, title="A site without an address")
    for _, generated in read_parquet(GENERATED):
        yield from generated


def _with_details(lead: Lead) -> Lead:
    """As if the business's own page had shown each value, see `made_up_evidence`."""

    def details(values: Iterable[str]) -> tuple[ContactDetail, ...]:
        page = _contact_page(lead.domain)
        return tuple(
            ContactDetail(
                value=value,
                owner="own",
                confidence=90,
                page=page,
                crawled_at_ms=_CRAWLED_AT_MS,
                first_seen_ms=FIRST_SEEN_MS,
                last_seen_ms=_CRAWLED_AT_MS,
            )
            for value in values
        )

    technologies = tuple(
        TechnologyDetail(
            value=name,
            marks=({"kind": "generator", "rule": name, "excerpt": name},),
            page=f"https://{lead.domain}/",
            first_seen_ms=FIRST_SEEN_MS,
            last_seen_ms=_CRAWLED_AT_MS,
        )
        for name in lead.technologies or ()
    )
    return replace(
        lead,
        emails_detail=details(lead.emails),
        phones_detail=details(lead.phones),
        technologies_detail=technologies,
    )


def _contact_page(domain: str) -> str:
    return f"https://{domain}/contact"


async def build(live: Index) -> int:
    """An index of these leads beside the live one, in place of the one before; how many there are."""
    index = live.sandbox()
    before = await generations.status(index)
    name = await generations.create(index, generations.Shape(), source="test mode")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "leads.parquet"
        # They are not in the lead store, and always the same: so are their numbers.
        write_parquet(path, (replace(lead, lead_no=number) for number, lead in enumerate(leads(), 1)))
        loaded = await load(index, path, lambda _: None, only=name)
    await generations.promote(index, name)
    for older in before:
        await generations.drop(index, older.name)
    return loaded.written


def made_up_evidence(found: Evidence) -> Evidence:
    """Evidence of made-up leads: each value on a page of its site, a month long."""
    pattern = Sighting(
        domain=found.domain,
        kind="email",
        value="",
        page=_contact_page(found.domain),
        method="mailto",
        first_seen_ms=FIRST_SEEN_MS,
        last_seen_ms=_CRAWLED_AT_MS,
    )
    emails = [(value, [replace(pattern, value=value)]) for value, _ in found.values["emails"]]
    phones = [
        (value, [replace(pattern, kind="phone", value=value, method="tel")]) for value, _ in found.values["phones"]
    ]
    return Evidence(found.domain, {"emails": emails, "phones": phones}, found.technologies)


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


class SandboxCharger:
    """Computes prices and charges nothing. Responses are not kept either: the same request finds the same again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def charged(self, work: Work, *, may_be_empty: bool = False) -> Handler:
        """A handler that finds a response and returns it with what it would have cost."""

        async def handler(request: Request, caller: Caller, call: Call) -> Response:
            body = await read_json(request, self._settings.max_body_bytes, may_be_empty=may_be_empty)
            read_retry(request, body)  # an invalid key is refused here as well
            offer = await find_offer(self._settings, partial(work, request, caller, call, body))
            if offer.dry_run:
                return dry_run_response(offer, receipt(dataclasses.replace(offer.bill, max_lead=None)))
            return paid_response(offer, receipt(offer.bill))

        return handler


class SandboxEndpoints(LeadEndpoints):
    """The operations over the made-up leads, with every outcome on request."""

    async def search(self, _request: Request, caller: Caller, call: Call, body: dict[str, Any]) -> Offer:
        """The first page of a search. A `query` such as `test:UNAVAILABLE` asks for an outcome instead."""
        await self.guard.take_rest(caller, call, 1 + further_units(body))
        wanted = body.get("query")
        now_s = self.index.clock.now_ms() // 1000
        if not isinstance(wanted, str) or not wanted.startswith(START):
            return await self.first_page(caller, body, now_s)
        word = wanted.removeprefix(START).strip().upper()
        if word in ERRORS:
            raise ERRORS[word]()
        if word == SLOW:
            await asyncio.sleep(SLOW_S)
        if word not in (SLOW, EXPIRED_CURSOR):
            return await self.first_page(caller, body, now_s)
        without_word = {name: value for name, value in body.items() if name != "query"}
        return await self.first_page(caller, without_word, 0 if word == EXPIRED_CURSOR else now_s)

    def cursor_holder(self, caller: Caller) -> str:
        """The scope of a cursor: test keys of the account, not its live keys."""
        return f"test {caller.account_id}"

    async def find_domains(self, domains: list[str], select: tuple[str, ...]) -> EnrichmentResult:
        """An item for every domain, with the outcomes that some domains ask for."""
        hosts = {domain: _host(domain) for domain in domains}
        if SLOW_DOMAIN in hosts.values():
            await asyncio.sleep(SLOW_S)
        found = await enrich(self.index, self.suppression, domains, select)
        items = [failed(item.domain) if hosts[item.domain] == ERROR_DOMAIN else item for item in found.items]
        marks = [(domain, mark) for domain, mark in found.marks if domain != ERROR_DOMAIN]
        stored = {domain: lead for domain, lead in found.stored.items() if hosts[domain] != ERROR_DOMAIN}
        return EnrichmentResult(items, marks, stored)

    async def _find_few(self, _caller: Caller, _wanted: FacetsRequest, _listed: tuple[Extra, ...]) -> list[str]:
        """None: whoever has a test key may see all made-up leads."""
        return []

    async def find_evidence(self, _caller: Caller, domain: str) -> Evidence:
        """Evidence of any made-up lead: test accounts pay for none."""
        return made_up_evidence(await evidence_of(self.index, self.suppression, domain))
