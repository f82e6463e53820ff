"""The tools: a description of each for agents, and the part of the package that answers it."""

from __future__ import annotations

from typing import cast

import anyio

from siteglass_client.async_client import AsyncSiteglass
from siteglass_client.async_search import AsyncSearch
from siteglass_client.errors import NotFound, SiteglassError
from siteglass_client.filters import Filters
from siteglass_client.mcp.arguments import (
    DEFAULT_TOKENS,
    CompanyFields,
    Country,
    Cursor,
    Domains,
    Every,
    FacetNames,
    FacetSize,
    FieldName,
    FilterMap,
    Hour,
    LeadFields,
    ListDomains,
    ListName,
    MaxCredits,
    MaxLeads,
    MaxTokens,
    Query,
    SameFilters,
    SearchName,
    Shared,
    Sort,
    Strict,
    Text,
    TimeZone,
    ValueLimit,
    Weekday,
    WrappedQuery,
)
from siteglass_client.mcp.asking import account_told, diagnosed, facets_counted, interpreted, known_values
from siteglass_client.mcp.enriching import Enriching
from siteglass_client.mcp.keeping import (
    list_changed,
    lists_shown,
    runs_shown,
    saved_counted,
    saved_shown,
    watch_shown,
    watches_shown,
)
from siteglass_client.mcp.models import (
    AccountAnswer,
    CountAnswer,
    DiagnoseAnswer,
    EnrichAnswer,
    FacetsAnswer,
    InterpretAnswer,
    KeptWatch,
    ListAnswer,
    ListsAnswer,
    RunsAnswer,
    SaveAnswer,
    SavedAnswer,
    SavedCountAnswer,
    SearchAnswer,
    ValuesAnswer,
    WatchesAnswer,
)
from siteglass_client.mcp.searching import Asked, Searching
from siteglass_client.mcp.sessions import Session
from siteglass_client.mcp.till import Till
from siteglass_client.messages import ListChange


class Tools:
    """All tools of one session; they share its client, its credits and its cursors."""

    def __init__(self, client: AsyncSiteglass, session: Session, deadline_s: float) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._till = Till(client._send, session)  # the walks of this package are given it in the same way
        self._searching = Searching(client, self._till, deadline_s)
        self._enriching = Enriching(client, self._till, deadline_s)

    def _meant(self, query: Query, filters: SameFilters, wrapped_query: WrappedQuery, strict: bool) -> AsyncSearch:
        if Asked(query, filters, wrapped_query, None, strict, None).is_empty:
            raise SiteglassError("Say what to search for: query, filters or wrapped_query. Nothing was sent.")
        given = cast(Filters, filters)
        return self._client.search(query, filters=given, wrapped_query=wrapped_query, strict=strict)

    async def interpret(
        self,
        query: Query = None,
        filters: SameFilters = None,
        wrapped_query: WrappedQuery = None,
        strict: Strict = False,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> InterpretAnswer:
        """Show how a search is interpreted: each condition with the words that it comes from, words that were not
        understood, the search as directives, and how many leads match. Use it before the first `search` with a
        sentence. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return interpreted(await self._meant(query, filters, wrapped_query, strict).interpret(), max_tokens)

    async def count(
        self,
        query: Query = None,
        filters: SameFilters = None,
        wrapped_query: WrappedQuery = None,
        strict: Strict = False,
    ) -> CountAnswer:
        """Count the leads that match. Use it to compare searches or to narrow one down. Free."""
        with anyio.fail_after(self._deadline_s):
            return CountAnswer(total_results=await self._meant(query, filters, wrapped_query, strict).count())

    async def facets(
        self,
        query: Query = None,
        filters: SameFilters = None,
        wrapped_query: WrappedQuery = None,
        strict: Strict = False,
        facets: FacetNames = None,
        size: FacetSize = 5,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> FacetsAnswer:
        """Count the leads of a search by country, technology, trade and other fields, and price all of them. Use it to
        describe a market or to narrow a search down. A field's counts ignore the search's conditions on that field.
        Free.
        """
        with anyio.fail_after(self._deadline_s):
            counts = await self._meant(query, filters, wrapped_query, strict).facets(facets, size=size)
            return facets_counted(counts, max_tokens)

    async def diagnose(
        self,
        query: Query = None,
        filters: SameFilters = None,
        wrapped_query: WrappedQuery = None,
        strict: Strict = False,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> DiagnoseAnswer:
        """Show why a search finds few leads or none: what each condition removes, and the smallest changes that give
        results. Use it when a search or count returns 0. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return diagnosed(await self._meant(query, filters, wrapped_query, strict).diagnose(), max_tokens)

    async def search(
        self,
        query: Query = None,
        filters: FilterMap = None,
        wrapped_query: WrappedQuery = None,
        sort: Sort = None,
        strict: Strict = False,
        select: LeadFields = None,
        max_lead_credits: MaxCredits = 0,
        max_leads: MaxLeads = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
        cursor: Cursor = None,
    ) -> SearchAnswer:
        """Find websites and the contact details that they publish. Costs one lead credit for each lead shown that has
        an email address; leads without one are free. Without max_lead_credits it buys nothing and returns the price:
        ask the user before you spend. A response has as many leads as fit into max_tokens; continue with `next` as
        cursor. Repeating a call within a day returns the same response free of charge. Fields without a value are
        left out.
        """
        asked = Asked(query, filters, wrapped_query, sort, strict, select)
        return await self._searching.answer(asked, max_lead_credits, max_leads, max_tokens, cursor)

    async def enrich(
        self,
        domains: Domains = None,
        select: CompanyFields = None,
        max_lead_credits: MaxCredits = 0,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
        cursor: Cursor = None,
    ) -> EnrichAnswer:
        """Look up websites by domain. A call costs one API credit, plus one lead credit for each domain found.
        Without max_lead_credits it buys nothing and returns the price: ask the user before you spend. If it would
        cost more than max_lead_credits, nothing is bought. Items that do not fit into max_tokens are paid with the
        others and are free with `next` as cursor. Repeating a call within a day is free.
        """
        return await self._enriching.answer(domains, select, max_lead_credits, max_tokens, cursor)

    async def lists(self, max_tokens: MaxTokens = DEFAULT_TOKENS) -> ListsAnswer:
        """Show the lists of domains of the account. A search leaves leads out with exclude_lists in its filters, and is
        limited to lists with only_lists. The list `paid` has what the account has paid for: exclude it to pay for no
        lead twice. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return lists_shown(await self._client.lists(), max_tokens)

    async def change_list(self, name: ListName, add: ListDomains = None, remove: ListDomains = None) -> ListAnswer:
        """Add domains to a list, or remove some, such as customers that searches should leave out. A list that does not
        exist is created. Changes apply at once. Free.
        """
        if not add and not remove:
            raise SiteglassError("Say which domains to add or to remove. Nothing was sent.")
        with anyio.fail_after(self._deadline_s):
            added = await self._added(name, add) if add else None
            return list_changed(added, await self._client.remove_from_list(name, remove) if remove else None)

    async def _added(self, name: str, domains: list[str]) -> ListChange:
        try:
            return await self._client.add_to_list(name, domains)
        except NotFound:
            await self._client.create_list(name)
            return await self._client.add_to_list(name, domains)

    async def saved_searches(self, max_tokens: MaxTokens = DEFAULT_TOKENS) -> SavedAnswer:
        """Show the searches that this key saved, and those that other keys of the account share. To run one, pass its
        query, filters and wrapped_query to `search`. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return saved_shown(await self._client.saved_searches(), max_tokens)

    async def save_search(
        self,
        name: SearchName,
        query: Query = None,
        filters: SameFilters = None,
        wrapped_query: WrappedQuery = None,
        strict: Strict = False,
        shared: Shared = False,
    ) -> SaveAnswer:
        """Save a search under a name, to count and run it again later. Free."""
        with anyio.fail_after(self._deadline_s):
            saved = await self._meant(query, filters, wrapped_query, strict).save(name, shared=shared)
            return SaveAnswer(name=saved.name, shared=saved.shared)

    async def count_saved_search(self, name: SearchName) -> SavedCountAnswer:
        """Count the leads that match a saved search now, next to the last count, and store the new count. Free."""
        with anyio.fail_after(self._deadline_s):
            return saved_counted(await self._client.count_saved_search(name))

    async def watches(self, max_tokens: MaxTokens = DEFAULT_TOKENS) -> WatchesAnswer:
        """Show the saved searches that run every day or week and report new leads. Free."""
        with anyio.fail_after(self._deadline_s):
            return watches_shown(await self._client.watches(), max_tokens)

    async def watch_search(
        self,
        name: SearchName,
        every: Every = "week",
        weekday: Weekday = "monday",
        hour: Hour = 8,
        time_zone: TimeZone = "UTC",
    ) -> KeptWatch:
        """Run a saved search every day or week, and report the leads that no earlier run found. The first run only
        notes what matches now. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return watch_shown(
                await self._client.create_watch(name, every=every, weekday=weekday, hour=hour, time_zone=time_zone)
            )

    async def watch_runs(self, name: SearchName, max_tokens: MaxTokens = DEFAULT_TOKENS) -> RunsAnswer:
        """Show the runs of a watch with their counts. To get the new leads of a run, pass its list to `search` in
        only_lists. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return runs_shown(await self._client.watch_runs(name), max_tokens)

    async def values(
        self,
        field: FieldName,
        text: Text = "",
        country: Country = None,
        limit: ValueLimit = 20,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> ValuesAnswer:
        """List known values of a filter that complete a text, such as technologies that start with shop. Use it before
        you write filters or directives, to get names exactly as the service knows them. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return known_values(await self._client.values(field, text, country=country, limit=limit), max_tokens)

    async def account(self) -> AccountAnswer:
        """Show balances, prices, limits, and what this server has spent and may spend. Use it before you spend much.
        Free."""
        with anyio.fail_after(self._deadline_s):
            return account_told(await self._client.account(), self._till)
