"""Saved searches over HTTP."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.leads.charging import Offer
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.leads.requests import further_units, read_page
from siteglass.leads.responses import total_headers
from siteglass.leads.searches.operations import COUNT_SEARCH, DELETE_SEARCH, RUN_SEARCH, SAVE_SEARCH, SEARCHES
from siteglass.leads.searches.requests import read_saved_search
from siteglass.leads.searches.responses import SearchDeletedResponse, count_response, searches_response, show
from siteglass.leads.searches.searches import SavedSearches
from siteglass.web.guard import Call, Handler
from siteglass.web.operations import MAX_LIMIT, Operation
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import read_json
from siteglass.web.responses import json_response


class SearchEndpoints:
    """The operations on saved searches of one dataset, which `leads` runs."""

    def __init__(self, searches: SavedSearches, leads: LeadEndpoints) -> None:
        self._searches = searches
        self._leads = leads
        self._index = leads.index

    def handlers(self) -> dict[Operation, Handler]:
        """The handler of each operation."""
        return {
            SEARCHES: self.searches,
            SAVE_SEARCH: self.save,
            DELETE_SEARCH: self.delete,
            COUNT_SEARCH: self.count,
            RUN_SEARCH: self._leads.till.charged(self.run, may_be_empty=True),
        }

    async def searches(self, request: Request, caller: Caller, _call: Call) -> Response:
        """All saved searches that the key sees."""
        read_no_parameters(request.query_params)
        return json_response(searches_response(await self._searches.seen(caller), caller))

    async def save(self, request: Request, caller: Caller, call: Call) -> Response:
        """Save a search."""
        body = await read_json(request, self._index.settings.max_body_bytes)
        if isinstance(search := body.get("search"), dict):
            await self._leads.guard.take_rest(caller, call, 1 + further_units(search))
        wanted = read_saved_search(body, self._index.clock.now_ms())
        saved = await self._searches.save(caller, wanted.name, wanted.search, shared=wanted.shared)
        return json_response(show(saved, caller))

    async def delete(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Delete a saved search."""
        read_no_parameters(request.query_params)
        saved = await self._searches.find(caller, request.path_params["name"])
        await self._searches.delete(saved)
        return json_response(SearchDeletedResponse(deleted=saved.name))

    async def count(self, request: Request, caller: Caller, call: Call) -> Response:
        """How many leads match now, and at the last count."""
        read_no_parameters(request.query_params)
        saved = await self._searches.find(caller, request.path_params["name"])
        await self._leads.guard.take_rest(caller, call, COUNTING_UNITS + further_units(saved.search))
        total = await self._leads.count(caller, self._leads.read(saved.search))
        await self._searches.note_count(saved, total.count)
        return json_response(count_response(saved, total.count), headers=total_headers(total.error))

    async def run(self, request: Request, caller: Caller, call: Call, body: dict[str, Any]) -> Offer:
        """The first page of a saved search."""
        read_page(body, MAX_LIMIT)
        saved = await self._searches.find(caller, request.path_params["name"])
        return await self._leads.search(request, caller, call, {**saved.search, **body})
