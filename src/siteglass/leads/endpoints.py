"""Search, pages, interpretation, facets, diagnosis, enrichment, evidence and known values over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.billing.credits import Bill
from siteglass.errors import Unavailable
from siteglass.index.compile import Extra, Query
from siteglass.index.counting import Total
from siteglass.index.facets import BaseCounter
from siteglass.index.index import Index
from siteglass.index.value_counts import ValueCounter
from siteglass.leads import diagnose, enrich, evidence, facets, interpret, previews, search
from siteglass.leads.charging import Offer, Work
from siteglass.leads.diagnose import Diagnosis
from siteglass.leads.enrich import EnrichmentResult
from siteglass.leads.evidence import Evidence
from siteglass.leads.facets import FacetsRequest, FacetsResponse
from siteglass.leads.language_model import LanguageModel
from siteglass.leads.lists.selection import ListFilter, ListNames
from siteglass.leads.operations import (
    COUNTING_UNITS,
    DIAGNOSE,
    DOMAINS_PER_UNIT,
    ENRICH,
    EVIDENCE,
    FACETS,
    INTERPRET,
    PAGE,
    SEARCH,
    VALUES,
)
from siteglass.leads.requests import EnrichRequest, Spending, further_units, read_enrich, read_page, read_search
from siteglass.leads.responses import (
    EnrichQuote,
    EnrichResponse,
    Interpretation,
    SearchQuote,
    evidence_response,
    interpret_response,
    search_response,
    total_headers,
    values_response,
)
from siteglass.leads.search import SearchPage, SearchRequest
from siteglass.leads.values import VALUES_HEADERS, read_values
from siteglass.platform.tracing import span
from siteglass.query import completion
from siteglass.query.body import Meaning
from siteglass.query.cursor import CursorSealer
from siteglass.query.suggested import ModelReading
from siteglass.suppression.filter import SuppressionFilter
from siteglass.web.guard import Call, Guard, Handler
from siteglass.web.operations import Operation
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import read_json
from siteglass.web.responses import encode, json_response

Wanted = TypeVar("Wanted")
Read = Callable[[dict[str, Any], int], Wanted]

# What facets wait for the lists `paid` and `received`. Reading a long ledger continues with the next request.
_PAID_TIMEOUT_S = 0.5


class Charger(Protocol):
    """Makes a handler of work that is charged: `Charging`, or the sandbox's, which only computes prices."""

    def charged(self, work: Work, *, may_be_empty: bool = False) -> Handler: ...


@dataclass(frozen=True, slots=True)
class LeadEndpoints:
    """The operations over one index. Subclassed by the sandbox, for what test keys meet."""

    index: Index
    sealer: CursorSealer
    suppression: SuppressionFilter
    guard: Guard
    till: Charger
    value_counter: ValueCounter
    base_counter: BaseCounter
    lists: ListFilter
    language_model: LanguageModel | None = None
    """Asked about sentences that the rules cannot read, where one is configured."""

    def handlers(self) -> dict[Operation, Handler]:
        """The handler of each operation."""
        return {
            SEARCH: self.till.charged(self.search),
            PAGE: self.till.charged(self.page, may_be_empty=True),
            INTERPRET: self.interpret,
            FACETS: self.facets,
            DIAGNOSE: self.diagnose,
            ENRICH: self.till.charged(self.enrich),
            EVIDENCE: self.evidence,
            VALUES: self.values,
        }

    async def search(self, _request: Request, caller: Caller, call: Call, body: dict[str, Any]) -> Offer:
        """The first page of a search."""
        await self.guard.take_rest(caller, call, 1 + further_units(body))
        return await self.first_page(caller, body, sealed_s=self.index.clock.now_ms() // 1000)

    async def first_page(
        self, caller: Caller, body: dict[str, Any], sealed_s: int, total_wait_s: float | None = None
    ) -> Offer:
        """The first page; its cursors count as made at `sealed_s`. It waits for the total until that is known, or this
        long."""
        now_ms = self.index.clock.now_ms()
        with span("query"):
            wanted, spending = read_search(body, now_ms)
            interpret.refuse_if_empty(wanted.meaning)
        page = await search.first_page(
            self.index, self.suppression, self.lists, caller.account_id, wanted, total_wait_s
        )
        explained = interpret.interpretation_of(wanted.meaning) if wanted.explain else None
        headers = interpret.note_headers(wanted.meaning)
        if page.total == 0:
            listed = await self.lists.queries(caller.account_id, page.lists)
            headers |= await diagnose.hint_headers(self.index, wanted.meaning, listed)
        return self._offer("search", caller, page, spending, sealed_s, explained, headers)

    async def _read(self, caller: Caller, call: Call, body: dict[str, Any], read: Read[Wanted]) -> Wanted:
        """What an operation that counts asks for; takes its units.

        What is wrong with a body comes before its price. Only a long `query` is paid before it is read.
        """
        now_ms, further = self.index.clock.now_ms(), further_units(body)
        if further:
            await self.guard.take_rest(caller, call, COUNTING_UNITS + further)
        wanted = read(body, now_ms)
        if not further:
            await self.guard.take_rest(caller, call, COUNTING_UNITS)
        return wanted

    async def page(self, request: Request, caller: Caller, _call: Call, body: dict[str, Any]) -> Offer:
        """The page that the cursor in the path stands for."""
        return await self.later_page(caller, request.path_params["cursor"], body)

    async def later_page(self, caller: Caller, cursor: str, body: dict[str, Any]) -> Offer:
        """The page that a cursor stands for."""
        now_s = self.index.clock.now_ms() // 1000
        with span("query"):
            here = self.sealer.open(cursor, self.cursor_holder(caller), now_s)
            limit, spending = read_page(body, here.limit)
        page = await search.later_page(
            self.index, self.suppression, self.lists, caller.account_id, replace(here, limit=limit)
        )
        return self._offer("page", caller, page, spending, now_s)

    def cursor_holder(self, caller: Caller) -> str:
        """The scope of a cursor: every key of the account."""
        return str(caller.account_id)

    def _offer(
        self,
        operation: Literal["search", "page"],
        caller: Caller,
        page: SearchPage,
        spending: Spending,
        sealed_s: int,
        explained: Interpretation | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Offer:
        def quote(api: int, lead: int) -> SearchQuote:
            return SearchQuote(dry_run=True, api_credits=api, lead_credits=lead, total_results=page.total)

        body = search_response(page, self.sealer, self.cursor_holder(caller), sealed_s, explained)
        return Offer(
            Bill(operation, 0, page.marks, spending.max_lead_credits, page.lists.exclude, page.lists.only),
            encode(body),
            quote,
            spending.dry_run,
            {**headers, **total_headers(page.total_error)},
        )

    async def interpret(self, request: Request, caller: Caller, call: Call) -> Response:
        """What a search means, without running it."""
        body = await read_json(request, self.index.settings.max_body_bytes)
        wanted, _spending = await self._read(caller, call, body, read_search)
        meaning = wanted.meaning
        total, offered = await asyncio.gather(self.count(caller, wanted), self.ask_model(meaning))
        notes = interpret.note_headers(meaning)
        reading = interpret_response(interpret.interpretation_of(meaning, offered), total.count)
        return json_response(reading, headers={**notes, **total_headers(total.error)})

    async def count(self, caller: Caller, wanted: SearchRequest) -> Total:
        """How many leads match a search."""
        return await interpret.count(self.index, wanted.meaning, await self._listed(caller, wanted.lists))

    def read(self, body: dict[str, Any]) -> SearchRequest:
        """What the body of a search asks for."""
        wanted, _spending = read_search(body, self.index.clock.now_ms())
        return wanted

    async def _listed(self, caller: Caller, names: ListNames) -> tuple[Extra, ...]:
        """What the engine filters by for these lists."""
        _selection, queries = await self.lists.select(caller.account_id, names)
        return queries

    async def facets(self, request: Request, caller: Caller, call: Call) -> Response:
        """How many leads of a search have which values."""
        body = await read_json(request, self.index.settings.max_body_bytes)
        wanted = await self._read(caller, call, body, facets.read_facets)
        interpret.refuse_if_empty(wanted.meaning)
        shown, total = await self.count_values(caller, wanted)
        notes = interpret.note_headers(wanted.meaning)
        return json_response(shown, headers={**notes, **total_headers(total.error)})

    async def count_values(self, caller: Caller, wanted: FacetsRequest) -> tuple[FacetsResponse, Total]:
        """The values of the facets with their counts, and how many leads match."""
        listed, paid = await self._listed(caller, wanted.lists), await self._paid(caller)
        counts, base = await facets.count(self.index, self.suppression, self.base_counter, wanted, listed, paid)
        few = await self._find_few(caller, wanted, listed)
        admitted = await previews.admit(self.index.postgres, caller.account_id, few, all_or_none=True)
        if len(admitted.domains) < len(few):
            return facets.withheld_response(counts, len(few), admitted.per_day), counts.total
        # In a thread: names of cities are many, and the first look at them takes long.
        return await asyncio.to_thread(facets.facets_response, wanted, counts, base), counts.total

    async def _find_few(self, caller: Caller, wanted: FacetsRequest, listed: tuple[Extra, ...]) -> list[str]:
        """The leads that the values would describe one by one, and that the account has not received."""
        try:
            async with asyncio.timeout(_PAID_TIMEOUT_S):
                received = await self.lists.received(caller.account_id)
        except (TimeoutError, Unavailable):
            received = None  # then all of them count
        return await facets.find_few(self.index, wanted, listed, received)

    async def _paid(self, caller: Caller) -> Query | None:
        """Finds the leads that the account paid for, or those that cost a person nothing again; None if reading its
        ledger takes long, or fails."""
        try:
            async with asyncio.timeout(_PAID_TIMEOUT_S):
                if caller.person_id is not None:
                    return await self.lists.free(caller.account_id, self.index.settings.received_free_days)
                return await self.lists.paid(caller.account_id)
        except (TimeoutError, Unavailable):
            return None

    async def diagnose(self, request: Request, caller: Caller, call: Call) -> Response:
        """Why a search finds few leads or none."""
        body = await read_json(request, self.index.settings.max_body_bytes)
        wanted, _spending = await self._read(caller, call, body, read_search)
        interpret.refuse_if_empty(wanted.meaning)
        diagnosis = await self.find_diagnosis(caller, wanted)
        notes = interpret.note_headers(wanted.meaning)
        return json_response(diagnose.diagnose_response(wanted.meaning, diagnosis, wanted.lists), headers=notes)

    async def find_diagnosis(self, caller: Caller, wanted: SearchRequest) -> Diagnosis:
        """What each condition of a search does, and the smallest changes that give it results."""
        listed = await self._listed(caller, wanted.lists)
        return await diagnose.diagnose(self.index, self.suppression, wanted.meaning, listed)

    async def ask_model(self, meaning: Meaning) -> ModelReading | None:
        """What a language model makes of a doubtful sentence, where one is configured; to be offered, not searched."""
        return None if self.language_model is None else await interpret.ask_model(self.language_model, meaning)

    async def enrich(self, _request: Request, caller: Caller, call: Call, body: dict[str, Any]) -> Offer:
        """Stored data of domains, in the order of the request."""
        with span("query"):
            wanted = read_enrich(body, self.index.settings.max_enrich_domains)
        await self.guard.take_rest(caller, call, -(-len(wanted.domains) // DOMAINS_PER_UNIT))
        return await self.find_enrichment(caller, wanted)

    async def find_enrichment(self, caller: Caller, wanted: EnrichRequest, *, is_whole: bool = False) -> Offer:
        """Stored data of domains, and what it is to cost; raises Unavailable if it must be whole and is not."""
        enriched = await self.find_domains(wanted.domains, wanted.select)
        if is_whole and enriched.is_partial:
            raise Unavailable("the look-up of some domains failed")
        # API keys pay for each lead that is found. For people, one that they received is free while it has no address.
        free_of_address = frozenset[str]() if caller.person_id is None else enrich.without_address(enriched)
        cap = wanted.spending.max_lead_credits
        bill = Bill("enrich", 1, enriched.marks, cap, without_address=free_of_address)
        on_lists: dict[str, int] = {}
        if wanted.spending.dry_run:
            on_lists = await self.lists.counts(caller.account_id, [domain for domain, _ in enriched.marks])

        def quote(api: int, lead: int) -> EnrichQuote:
            return EnrichQuote(
                dry_run=True, api_credits=api, lead_credits=lead, found=len(bill.leads), on_lists=on_lists
            )

        return Offer(bill, encode(EnrichResponse(results=enriched.items)), quote, wanted.spending.dry_run)

    async def find_domains(self, domains: list[str], select: tuple[str, ...]) -> EnrichmentResult:
        """An item for every domain."""
        return await enrich.enrich(self.index, self.suppression, domains, select)

    async def evidence(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Show where and when each address and number of a lead was seen."""
        read_no_parameters(request.query_params)
        try:
            async with asyncio.timeout(self.index.settings.request_timeout_ms / 1000):
                found = await self.find_evidence(caller, request.path_params["domain"])
        except TimeoutError as error:
            raise Unavailable("the evidence was not read before the request's deadline") from error
        return json_response(evidence_response(found))

    async def find_evidence(self, caller: Caller, domain: str) -> Evidence:
        """The evidence of a lead that the account has paid for."""
        return await evidence.evidence(self.index, self.suppression, caller, domain)

    async def values(self, request: Request, _caller: Caller, _call: Call) -> Response:
        """Known values of a field that complete a text."""
        wanted = read_values(request.path_params["field"], request.query_params)
        popularity = await self.value_counter.popularity(wanted.field, wanted.kind)
        # In a thread, since the first request of a kind sorts its keys.
        values, more = await asyncio.to_thread(
            completion.complete, wanted.kind, wanted.text, wanted.limit, wanted.country, popularity
        )
        return json_response(values_response(wanted, values, more), headers=VALUES_HEADERS)
