"""The tool `search`: pages as large as the tokens, the credits and the caller allow, one after another.

A page of n leads costs at most n lead credits. No page has more leads than credits are left, so no cap can be exceeded.
Leads that do not fit wait for the next call, so everything that is paid for can be shown. That is rare,
because pages are sized by the largest lead so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import anyio

from siteglass_client.answers import Page, read_page
from siteglass_client.async_client import AsyncSiteglass
from siteglass_client.calls import MAX_LIMIT, SEARCH_PATH, post, search_body
from siteglass_client.errors import PayloadTooLarge, PaymentRequired, SiteglassError
from siteglass_client.filters import Filters
from siteglass_client.mcp.arguments import LEADS_SHOWN
from siteglass_client.mcp.failures import told
from siteglass_client.mcp.models import Credits, Price, SearchAnswer, Stop
from siteglass_client.mcp.sessions import NOT_KEPT, CeilingReached, Place, Sum, kept
from siteglass_client.mcp.sheets import Sheet
from siteglass_client.mcp.sizes import cut
from siteglass_client.mcp.till import Bought, Till, digest_of
from siteglass_client.walk import with_explanation

MAX_REQUESTS = 8
"""Of one answer; most need two or three."""
FAILURE_BYTES = 300
READING_BYTES = 600


@dataclass(frozen=True)
class Asked:
    """What says which leads are meant."""

    query: str | None
    filters: Mapping[str, Any] | None
    wrapped_query: str | None
    sort: str | None
    strict: bool
    select: Sequence[str] | None

    @property
    def is_empty(self) -> bool:
        """The service would take it for all leads there are, and that is seldom what somebody wants to pay for."""
        return not ((self.query and self.query.strip()) or self.filters or self.wrapped_query)

    @property
    def shown(self) -> list[str]:
        return list(dict.fromkeys(["domain", *(self.select or LEADS_SHOWN)]))

    @property
    def priced_as(self) -> str:
        """What has the same price, whatever the fields and the order."""
        return digest_of(SEARCH_PATH, replace(self, select=None, sort=None).body())

    def body(self) -> dict[str, Any]:
        filters = cast(Filters, self.filters)
        return search_body(self.query, filters, self.wrapped_query, self.shown, self.sort, self.strict)


@dataclass
class Walk:
    """An answer under way."""

    sheet: Sheet
    place: Place
    credits_left: int
    leads_left: int
    used: Sum = field(default_factory=Sum)
    earlier: int = 0
    """Lead credits that leads of this answer have cost in an earlier one."""
    last: Page | None = None
    reading: str | None = None
    """How the search was interpreted, if this answer has its first page."""
    notes: int = 0
    trouble: SiteglassError | TimeoutError | None = None

    def show(self) -> Stop | None:
        """Moves waiting leads into the response; returns why it has to end, if it has."""
        waiting = list(self.place.waiting)
        while waiting and self.leads_left and self.sheet.add(waiting[0]):
            waiting.pop(0)
            self.leads_left -= 1
        self.place = replace(self.place, waiting=waiting)
        if waiting and self.leads_left:
            return "max_tokens"
        if not waiting and self.place.path is None:
            return "end"
        return None if self.leads_left else "max_leads"

    def page_body(self, size: int) -> dict[str, Any]:
        """What asks for the next page."""
        return {**(with_explanation(self.place.asked) if self.place.path == SEARCH_PATH else {}), "limit": size}

    def took(self, bought: Bought) -> None:
        page = read_page(bought.answer)
        self.last = page
        if self.place.path == SEARCH_PATH:  # the first page
            self.notes = page.notes
            self.reading = str(cut(page.reading.summary, READING_BYTES)) if page.reading else None
        self.used += bought.cost
        self.earlier += bought.worth.lead - bought.cost.lead
        # Also if it is free now: otherwise the same call would later continue where it stopped before, and pay for
        # that.
        self.credits_left -= bought.worth.lead
        self.place = replace(
            self.place, waiting=page.leads, path=page.next, total_results=page.total_results, source=bought.call
        )


class Searching:
    """Answers calls of the tool."""

    def __init__(self, client: AsyncSiteglass, till: Till, deadline_s: float) -> None:
        self._client = client
        self._till = till
        self._session = till.session
        self._deadline_s = deadline_s

    async def answer(
        self, asked: Asked, max_lead_credits: int, max_leads: int | None, max_tokens: int, cursor: str | None
    ) -> SearchAnswer:
        """Leads, or the price if nothing may be spent."""
        ends_s = anyio.current_time() + self._deadline_s
        place = await self._place(asked, cursor)
        sheet = Sheet(place.columns, max_tokens)
        walk = Walk(sheet, place, max_lead_credits, max_leads or MAX_LIMIT)
        stopped = walk.show()
        first = max_lead_credits > 0 and cursor is None and not self._session.knows_price(asked.priced_as)
        if (max_lead_credits == 0 or first) and not sheet.rows and stopped is None:
            with anyio.fail_after(self._deadline_s):
                return await self._price(asked, place, max_leads, sheet)
        requests = 0
        while stopped is None:
            requests += 1
            stopped = await self._step(walk, ends_s) if requests <= MAX_REQUESTS else "max_tokens"
        return await self._told(walk, stopped)

    async def _place(self, asked: Asked, cursor: str | None) -> Place:
        if cursor is None:
            if asked.is_empty:
                raise SiteglassError("Say what to search for: query, filters or wrapped_query. Nothing was sent.")
            self._session.require_room(body := asked.body())
            return Place("search", body, asked.shown, (), SEARCH_PATH)
        place = await self._session.find(cursor, "search", lambda answer: read_page(answer).leads)
        repeated = {name: value for name, value in asked.body().items() if name != "select" or asked.select}
        if any(place.asked.get(name) != value for name, value in repeated.items()):
            raise SiteglassError(
                "cursor: it belongs to another search or other fields. Omit those to continue with it, or omit "
                "cursor to start a new search. Nothing was sent."
            )
        return place

    async def _step(self, walk: Walk, ends_s: float) -> Stop | None:
        """Gets one more page; returns why there is none."""
        fitting = walk.sheet.fitting()
        if fitting == 0:
            return "max_tokens"
        if walk.credits_left == 0:
            return "max_lead_credits"
        wanted = min(fitting, walk.leads_left, walk.credits_left, MAX_LIMIT)
        size = self._till.allowed(cast(str, walk.place.path), walk.page_body, wanted)
        if size == 0:
            return "session_ceiling"
        try:
            with anyio.fail_after(max(0.0, ends_s - anyio.current_time())):
                await self._page(walk, size)
        except CeilingReached:
            return "session_ceiling"
        except (SiteglassError, TimeoutError) as error:
            if not walk.sheet.rows:
                raise
            walk.trouble = error  # what was paid for is shown all the same
            return "failure"
        return walk.show()

    async def _page(self, walk: Walk, size: int) -> None:
        """A page of this size, or of half of it where the account or the service has less room than that."""
        while True:
            try:
                bought = await self._till.buy(cast(str, walk.place.path), walk.page_body(size), Sum(lead=size))
            except (PaymentRequired, PayloadTooLarge):
                if size == 1:
                    raise
                size //= 2
                continue
            walk.took(bought)
            return

    async def _price(self, asked: Asked, place: Place, max_leads: int | None, sheet: Sheet) -> SearchAnswer:
        if place.path == SEARCH_PATH:
            search = self._client.search(
                asked.query,
                filters=cast(Filters, asked.filters),
                wrapped_query=asked.wrapped_query,
                sort=asked.sort,
                strict=asked.strict,
                max_leads=max_leads,
            )
            quote, reading = await search.price(), str(cut((await search.interpret()).summary, READING_BYTES))
            price = Price(lead_credits=quote.lead_credits, api_credits=0, exact=quote.exact)
            await self._session.note_price(asked.priced_as)
            total, meant = quote.total_results, f"the first {max_leads}" if max_leads else "all of them"
        else:
            size, reading = max_leads or sheet.fitting(), None
            answer = await self._till.ask(post(cast(str, place.path), {"limit": size, "dry_run": True}))
            price = Price(lead_credits=answer.body["lead_credits"], api_credits=0, exact=True)
            total, meant = answer.body["total_results"], f"the next {size}"
        return SearchAnswer(
            stopped="price",
            credits=self._credits(Sum(), None),
            price=price,
            reading=reading,
            total_results=total,
            leads=[],
            next=None if place.path == SEARCH_PATH else await self._session.keep(place),
            say=_NOTHING
            if total == 0
            else f"Nothing was spent. {total} leads match; {meant} cost {price.lead_credits} lead credits. To get "
            "leads, call search again with max_lead_credits.",
        )

    def _credits(self, used: Sum, page: Page | None) -> Credits:
        return Credits(
            lead_used=used.lead,
            api_used=used.api,
            lead_left=None if page is None else page.credits.lead_left,
            api_left=None if page is None else page.credits.api_left,
            session_lead_left=self._till.lead_left,
        )

    async def _told(self, walk: Walk, stopped: Stop) -> SearchAnswer:
        more = stopped != "end"
        found_nothing = walk.last is not None and walk.last.total_results == 0
        name = await kept(self._session, walk.place) if more else None
        end = _NOTHING if found_nothing else _NEXT[stopped].format(session=self._session)
        if more and name is None:
            end = NOT_KEPT
        said = [end, _earlier(walk.earlier), _note(walk.notes), self._trouble(walk.trouble)]
        return SearchAnswer(
            stopped=stopped,
            credits=self._credits(walk.used, walk.last),
            reading=walk.reading,
            values_cut=walk.sheet.values_cut,
            waiting=len(walk.place.waiting),
            next=name,
            say=" ".join(filter(None, said)),
            total_results=walk.place.total_results,
            leads=walk.sheet.rows,
        )

    def _trouble(self, error: SiteglassError | TimeoutError | None) -> str:
        return "" if error is None else str(cut(told(error, self._deadline_s), FAILURE_BYTES))


_NOTHING = "No leads match. Call diagnose with the same arguments to see why, and what would match."
_NEXT: dict[Stop, str] = {
    "end": "These are the last leads of the search.",
    "max_tokens": "The response is full. To continue, call search with cursor and max_lead_credits.",
    "max_leads": "To continue, call search with cursor and max_lead_credits.",
    "max_lead_credits": "max_lead_credits is used up. To continue, call search with cursor and max_lead_credits.",
    "session_ceiling": "The budget of this {session.kind} ({session.raised_by}) is used up; only the user can raise "
    "it.",
    "failure": "The next page failed; the leads here are complete. To continue, call search with cursor and "
    "max_lead_credits.",
}


def _earlier(credits: int) -> str:
    return (
        f"{credits} lead credits were already paid for these leads within the last day, and were not charged again."
        if credits
        else ""
    )


def _note(notes: int) -> str:
    return f"{notes} parts of the sentence are doubtful: see reading." if notes else ""
