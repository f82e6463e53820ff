"""What a search in the browser finds: counts, rows and the price of a page; or why there is nothing to show."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

import orjson
from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms
from siteglass.access.keys import Caller
from siteglass.billing.credits import Bill, Mark
from siteglass.billing.paid import paid_times
from siteglass.billing.receipts import Entry, of_request
from siteglass.dashboard.explore.address import ExploreSearch
from siteglass.dashboard.explore.chips import clause_name, only_country, search_says
from siteglass.errors import CursorExpired, InvalidCursor, SiteglassError, TooManyRequests, Unavailable
from siteglass.leads import previews
from siteglass.leads.charging import (
    FIRST_REQUEST_HEADER,
    AccountCharger,
    FindOffer,
    FreeBefore,
    Offer,
    Retry,
    find_offer,
)
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.evidence import find_leads
from siteglass.leads.responses import ERROR_HEADER, ESTIMATED_HEADER
from siteglass.leads.rows import LeadRow, bought_row, preview_row, unseen_row
from siteglass.platform.postgres import Postgres
from siteglass.query.relaxations import Relaxation

# How long leads that are ready wait for their number. Where it takes longer, the page loads it by itself.
TOTAL_WAIT_S = 0.05


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A change that gives an empty search results."""

    text: str
    total: int
    action: str
    path: str


@dataclass(frozen=True, slots=True)
class Price:
    """What some leads cost now."""

    leads: int
    credits: int


@dataclass(frozen=True, slots=True)
class Results:
    """What the page shows under the chips."""

    state: Literal["start", "empty", "none", "found", "bought", "failed"]
    total: int = 0
    estimated: bool = False
    is_counting: bool = False
    """Whether the total is the least that is known, or the received leads are not known yet."""
    received: int = 0
    """Leads of the search that are left out, because the account has received them."""
    rows: Sequence[LeadRow] = ()
    counted_out: int = 0
    """Rows that come after the leads that the account may see today."""
    price: Price | None = None
    affordable: Price | None = None
    """The largest part of the page that the balance and the daily cap pay for, if they don't pay for all of it."""
    balance: int = 0
    spendable: int = 0
    """What of the balance the person can spend today."""
    body: str = ""
    """The request that the price is for, as the form sends it back."""
    free: str = ""
    """What the page shows, if it costs nothing."""
    next_path: str = ""
    receipt: str = ""
    """The request whose ledger entry shows what was charged."""
    charged: int = 0
    relaxed: Sequence[Relaxed] = ()
    message: str = ""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of leads that can be bought: the request for it, and what makes two requests the same."""

    body: dict[str, Any]
    after: str
    free: str = ""
    """What a page that costs nothing shows. Its leads may be left out later, so its address shows others then."""

    @property
    def retry(self) -> Retry:
        """The key under which it is bought: for 24 hours, the same page of an account is charged once."""
        request = orjson.dumps([self.body, self.after] + [self.free] * bool(self.free), option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(request)
        return Retry(f"explore-{digest.hexdigest()}", digest.digest())

    def find(self, leads: LeadEndpoints, caller: Caller, max_credits: int | None = None) -> FindOffer:
        """What finds the page; with a cap, more is not charged."""
        cap = {} if max_credits is None else {"max_lead_credits": max_credits}
        if self.after:
            return partial(leads.later_page, caller, self.after, cap)
        now_s = leads.index.clock.now_ms() // 1000
        wait_s = TOTAL_WAIT_S if max_credits is None else None
        return partial(leads.first_page, caller, {**self.body, **cap}, now_s, wait_s)


def wanted_page(search: ExploreSearch) -> Wanted:
    """The page that a search shows."""
    return Wanted({}, search.after) if search.after else Wanted(search.body, "")


async def find_results(
    leads: LeadEndpoints, charger: AccountCharger, terms: BrowserTerms, search: ExploreSearch
) -> Results:
    """Run a search that has conditions. Raises SiteglassError."""
    caller, wanted = terms.caller, wanted_page(search)
    stored = await charger.find_earlier(caller, wanted.retry)
    # Another purchase from this page, of some of its leads, is shown by itself.
    if isinstance(stored, Response) and search.bought in ("", stored.headers[FIRST_REQUEST_HEADER]):
        return _stored(search, orjson.loads(stored.body), dict(stored.headers))
    if search.bought:
        return await _bought(leads, charger, caller, search)
    settings = leads.index.settings
    try:
        offer = await find_offer(settings, wanted.find(leads, caller))
    except (InvalidCursor, CursorExpired):
        message = "The link to this page has expired. Start again from the first page of the search."
        return Results("failed", message=message, status=404, next_path=replace(search, after="").path)
    page = orjson.loads(offer.body)
    total, estimated = page["total_results"], ESTIMATED_HEADER in offer.headers
    quote, received = await asyncio.gather(
        charger.quote(caller, offer.bill), _received_so_far(leads, caller, search, total, estimated=estimated)
    )
    common = {
        "total": total,
        "estimated": estimated,
        "is_counting": received is None or offer.headers.get(ERROR_HEADER) == "unknown",
        "received": received or 0,
    }
    common |= {"balance": quote.balances.lead, "body": orjson.dumps(wanted.body).decode()}
    if not page["results"]:
        relaxed = () if search.after or page["total_results"] else await _relax(leads, caller, search)
        return Results("none", **common, relaxed=relaxed)
    free = ""
    if not quote.lead:
        free = hashlib.sha256(" ".join(record["domain"] for record in page["results"]).encode()).hexdigest()
        before = await charger.find_earlier(caller, replace(wanted, free=free).retry)
        if isinstance(before, FreeBefore):
            shown = await _bought(leads, charger, caller, replace(search, bought=before.request_id))
            return replace(shown, next_path=_next_path(search, page))
    rows = await _preview(leads, charger, terms, search, page["results"])
    price, spendable = Price(len(page["results"]), quote.lead), terms.spendable(quote.balances.lead)
    return Results(
        "found",
        **common,
        free=free,
        rows=rows,
        counted_out=sum(row.is_counted_out for row in rows),
        price=price,
        spendable=spendable,
        affordable=None if price.credits <= spendable else _affordable(offer, spendable),
    )


async def _bought(leads: LeadEndpoints, charger: AccountCharger, caller: Caller, search: ExploreSearch) -> Results:
    """The leads of an earlier purchase as they are today, by the ledger."""
    postgres = leads.index.postgres
    charge, returned = await find_bought(postgres, caller.account_id, search.bought)
    search = search.showing()
    if charge is None:
        message = "There is no purchase of this address in your ledger."
        return Results("failed", message=message, status=404, next_path=search.path)
    records = await find_leads(leads.index, leads.suppression, returned)
    return Results(
        "bought",
        rows=await _rows(leads, charger, caller, records),
        balance=(await charger.quote(caller, Bill("search", 0, []))).balances.lead,
        next_path="" if search.is_empty else search.path,
        receipt=charge.request_id,
        charged=-charge.lead,
    )


async def find_bought(postgres: Postgres, account_id: int, request_id: str) -> tuple[Entry | None, list[str]]:
    """The charge of a request, and the leads that it returned; None if the account has no such charge."""
    found = await of_request(postgres, account_id, request_id)
    charge, marks = next(((entry, domains) for entry, domains in found if entry.kind == "charge"), (None, []))
    return charge, [domain for domain, mark in marks if mark is not Mark.NOT_FOUND]


def _stored(search: ExploreSearch, page: dict[str, Any], headers: dict[str, str]) -> Results:
    """The page as it was bought, as long as its response is stored."""
    return Results(
        "bought",
        total=page["total_results"],
        rows=[bought_row(record) for record in page["results"]],
        balance=int(headers["x-credits-lead-remaining"]),
        next_path=_next_path(search, page),
        receipt=headers["idempotency-request-id"],
        charged=int(headers["x-credits-lead-used"]),
    )


def _next_path(search: ExploreSearch, page: dict[str, Any]) -> str:
    next_cursor = (page["next"] or "").rpartition("/")[2]
    return replace(search, after=next_cursor, bought="").path if next_cursor else ""


async def count_results(leads: LeadEndpoints, caller: Caller, search: ExploreSearch) -> Results:
    """How many leads a search finds, without the leads. Raises SiteglassError."""
    total = await leads.count(caller, leads.read(search.filters))
    received = await _count_received(leads, caller, search, total.count, estimated=total.estimated)
    return Results("found", total.count, total.estimated, received=received)


async def _received_so_far(
    leads: LeadEndpoints, caller: Caller, search: ExploreSearch, total: int, *, estimated: bool
) -> int | None:
    """As `_count_received`; None if that is not known soon."""
    try:
        async with asyncio.timeout(TOTAL_WAIT_S):
            return await _count_received(leads, caller, search, total, estimated=estimated)
    except (TimeoutError, Unavailable):
        return None


async def _count_received(
    leads: LeadEndpoints, caller: Caller, search: ExploreSearch, total: int, *, estimated: bool
) -> int:
    """How many leads the search would find in addition, if it did not leave out those that were received."""
    if search.with_received or search.after or estimated:
        return 0
    every = await leads.count(caller, leads.read(replace(search, with_received=True).filters))
    return 0 if every.estimated else max(0, every.count - total)


async def _preview(
    leads: LeadEndpoints,
    charger: AccountCharger,
    terms: BrowserTerms,
    search: ExploreSearch,
    records: Sequence[dict[str, Any]],
) -> Sequence[LeadRow]:
    """What costs nothing in full; of the rest what the plan shows, as far as the account may see new leads today."""
    if terms.preview == "off":
        return []
    postgres, account_id = leads.index.postgres, terms.caller.account_id
    costly = [record["domain"] for record in records if record["emails"]]
    received = free = frozenset[str]()
    paid: dict[str, datetime] = {}
    if not search.leaves_out_received:
        received = await leads.lists.received_among(account_id, costly)
        free = await charger.free_leads(terms.caller, costly, frozenset())
        paid = await paid_times(postgres, account_id, costly)
    new = [domain for domain in costly if domain not in received]
    admitted = (await previews.admit(postgres, account_id, new)).domains
    says = search_says(search)

    def row(record: dict[str, Any]) -> LeadRow:
        domain = record["domain"]
        if not record["emails"] or domain in free:
            return bought_row(record, paid.get(domain))
        if domain in received:
            return preview_row(record, "named", paid.get(domain))
        return preview_row(record, terms.preview) if domain in admitted else unseen_row(says)

    return list(map(row, records))


async def _rows(
    leads: LeadEndpoints, charger: AccountCharger, caller: Caller, records: Sequence[dict[str, Any]]
) -> list[LeadRow]:
    """Leads that were received, with their contacts where showing them is free now."""
    costly = [record["domain"] for record in records if record["emails"]]
    free = await charger.free_leads(caller, costly, frozenset())
    paid = await paid_times(leads.index.postgres, caller.account_id, costly)
    return [
        bought_row(record, paid.get(record["domain"]))
        if not record["emails"] or record["domain"] in free
        else preview_row(record, "named", paid.get(record["domain"]))
        for record in records
    ]


def _affordable(offer: Offer, balance: int) -> Price | None:
    """The first leads of a page that the balance pays for, if it pays for one; none of them counts as paid before."""
    count = charged = 0
    for _domain, mark in offer.bill.domains:
        charged += mark is Mark.CHARGED
        if charged > balance:
            break
        count += 1
    return Price(count, min(charged, balance)) if count else None


async def _relax(leads: LeadEndpoints, caller: Caller, search: ExploreSearch) -> list[Relaxed]:
    try:
        diagnosis = await leads.find_diagnosis(caller, leads.read(search.filters))
    except Unavailable:
        return []
    return [_relaxed(search, change, total) for change, _criteria, total in diagnosis.found]


def _relaxed(search: ExploreSearch, change: Relaxation, total: int) -> Relaxed:
    path = search.changed(change.apply(search.criteria).conditions).path
    country = only_country(search.criteria.plain)
    if change.replaced and not change.dropped:
        texts = [
            f"{clause_name(one.by, country)} instead of {clause_name(one.condition, country)}"
            for one in change.replaced
        ]
        return Relaxed(", ".join(texts), total, "Replace", path)
    dropped = sorted(clause_name(one, country) for one in change.dropped)
    return Relaxed(f"Without {', '.join(dropped)}", total, "Remove", path)


def failed(error: SiteglassError) -> Results:
    """Nothing could be found, and nothing was charged."""
    if isinstance(error, Unavailable):
        return Results("failed", message="Search is unavailable. Nothing was charged.", status=503)
    if isinstance(error, TooManyRequests):
        return Results("failed", message="Too many searches at once. Wait a second, then try again.", status=429)
    return Results("failed", message=error.message, status=422)
