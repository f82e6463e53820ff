"""The tools: what an agent is told about each, and which part of the package answers it."""

from __future__ import annotations

from typing import cast

import anyio

from siteglass_client.async_client import AsyncSiteglass
from siteglass_client.async_search import AsyncSearch
from siteglass_client.calls import Filters
from siteglass_client.errors import SiteglassError
from siteglass_client.mcp.arguments import (
    DEFAULT_TOKENS,
    CompanyColumns,
    Country,
    Cursor,
    Directives,
    Domains,
    FieldName,
    FilterMap,
    LeadColumns,
    MaxCredits,
    MaxLeads,
    MaxTokens,
    Query,
    SameFilters,
    Sort,
    Strict,
    Text,
    ValueLimit,
)
from siteglass_client.mcp.asking import account_told, interpreted, known_values
from siteglass_client.mcp.enriching import Enriching
from siteglass_client.mcp.models import (
    AccountAnswer,
    CountAnswer,
    EnrichAnswer,
    InterpretAnswer,
    SearchAnswer,
    ValuesAnswer,
)
from siteglass_client.mcp.places import Places
from siteglass_client.mcp.searching import Asked, Searching
from siteglass_client.mcp.till import Till


class Tools:
    """All tools of one server; they share its client, its credits and its cursors."""

    def __init__(self, client: AsyncSiteglass, max_credits: int | None, deadline_s: float) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._till = Till(client._send, max_credits)  # the walks of this package are given it in the same way
        places = Places()
        self._searching = Searching(client, self._till, places, deadline_s)
        self._enriching = Enriching(client, self._till, places, deadline_s)

    def _meant(self, query: Query, filters: SameFilters, directives: Directives, strict: bool) -> AsyncSearch:
        if Asked(query, filters, directives, None, strict, None).is_empty:
            raise SiteglassError("Say what to search for: query, filters or directives. Nothing was sent.")
        given = cast(Filters, filters)
        return self._client.search(query, filters=given, wrapped_query=directives, strict=strict)

    async def interpret(
        self,
        query: Query = None,
        filters: SameFilters = None,
        directives: Directives = None,
        strict: Strict = False,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> InterpretAnswer:
        """What a search means: each condition with the words that say it, words that were not understood, the same
        search as directives, and how many leads match. Use it before the first `search` with a sentence. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return interpreted(await self._meant(query, filters, directives, strict).interpret(), max_tokens)

    async def count(
        self,
        query: Query = None,
        filters: SameFilters = None,
        directives: Directives = None,
        strict: Strict = False,
    ) -> CountAnswer:
        """How many leads match, and nothing else. Use it to compare searches or to narrow one down. Free."""
        with anyio.fail_after(self._deadline_s):
            return CountAnswer(total_results=await self._meant(query, filters, directives, strict).count())

    async def search(
        self,
        query: Query = None,
        filters: FilterMap = None,
        directives: Directives = None,
        sort: Sort = None,
        strict: Strict = False,
        columns: LeadColumns = None,
        max_credits: MaxCredits = 0,
        max_leads: MaxLeads = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
        cursor: Cursor = None,
    ) -> SearchAnswer:
        """Find websites and the contact details they publish. Costs one lead credit for each lead shown that has an
        e-mail address; leads without one are free. Without max_credits it buys nothing and tells the price: ask the
        user before you spend. An answer holds as many leads as fit into max_tokens; go on with `next` as cursor. The
        same call again within a day gives the same answer and costs nothing. Columns without a value are left out.
        """
        asked = Asked(query, filters, directives, sort, strict, columns)
        return await self._searching.answer(asked, max_credits, max_leads, max_tokens, cursor)

    async def enrich(
        self,
        domains: Domains = None,
        columns: CompanyColumns = None,
        max_credits: MaxCredits = 0,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
        cursor: Cursor = None,
    ) -> EnrichAnswer:
        """What is known of websites whose domains you have. A call costs one API credit, and one lead credit for each
        domain found. Without max_credits it buys nothing and tells the price: ask the user before you spend. If it
        would cost more than max_credits, nothing is bought. Items that do not fit into max_tokens are paid with the
        others and come for nothing with `next` as cursor. The same call again within a day costs nothing.
        """
        return await self._enriching.answer(domains, columns, max_credits, max_tokens, cursor)

    async def values(
        self,
        field: FieldName,
        text: Text = "",
        country: Country = None,
        limit: ValueLimit = 20,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> ValuesAnswer:
        """Values that a filter takes and that complete a text, such as technologies that begin with shop. Use it before
        you write filters or directives, so that names are spelled as the service knows them. Free.
        """
        with anyio.fail_after(self._deadline_s):
            return known_values(await self._client.values(field, text, country=country, limit=limit), max_tokens)

    async def account(self) -> AccountAnswer:
        """Balances, prices, limits, and what this server spent and may spend. Use it before you spend much. Free."""
        with anyio.fail_after(self._deadline_s):
            return account_told(await self._client.account(), self._till)
