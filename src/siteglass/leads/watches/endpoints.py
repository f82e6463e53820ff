"""Watches over HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.errors import BadRequest, NotFound, Problem, repeated
from siteglass.leads import interpret
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.lists import RUN_PREFIX
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.leads.requests import further_units, read_search
from siteglass.leads.searches.searches import SavedSearch, SavedSearches
from siteglass.leads.watches.operations import (
    CHANGE_WATCH,
    CREATE_WATCH,
    DELETE_WATCH,
    WATCH,
    WATCH_RUN,
    WATCH_RUNS,
    WATCHES,
)
from siteglass.leads.watches.previews import preview_run
from siteglass.leads.watches.requests import read_new_watch, read_watch_changes
from siteglass.leads.watches.responses import (
    WatchDeletedResponse,
    run_response,
    runs_response,
    show,
    watches_response,
)
from siteglass.leads.watches.runs import Runs
from siteglass.leads.watches.watches import MAX_MATCHES, Terms, Watch, Watches, search_new_leads
from siteglass.settings import Settings
from siteglass.web.guard import Call, Handler
from siteglass.web.operations import Operation
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import read_json
from siteglass.web.responses import json_response

_YEAR_MS = 366 * 86_400_000
_MAX_NUMBER_CHARS = 18


def _require_mail(settings: Settings, terms: Terms) -> None:
    """Raise BadRequest if the watch is to mail and the service sends no mail."""
    if terms.mail_to and not (settings.mail_url and settings.dashboard_secrets):
        raise BadRequest([Problem("mail_to", "this service sends no email; read the runs instead")])


async def create_watch(
    leads: LeadEndpoints, watches: Watches, caller: Caller, saved: SavedSearch, terms: Terms
) -> Watch:
    """Watch a saved search from now on; raises BadRequest if it can't be watched."""
    _require_mail(leads.index.settings, terms)
    wanted, now_ms = leads.read(saved.search), leads.index.clock.now_ms()
    said = wanted.meaning.said
    if said.fixed_at(now_ms) != said.fixed_at(now_ms + _YEAR_MS):
        message = (
            "the search has an age, such as @updated_within, and finds other leads on each day; save it with "
            "updated_after and a date"
        )
        raise BadRequest([Problem("search", message)])
    interpret.refuse_if_empty(wanted.meaning)
    total = await interpret.count(leads.index, wanted.meaning)
    if total.count - (total.error or 0) > MAX_MATCHES:
        message = (
            f"{total.count:,} leads match, and a watch may have {MAX_MATCHES:,} before its lists apply; save a "
            "narrower search"
        )
        raise BadRequest([Problem("search", message)])
    try:
        search = search_new_leads(wanted.meaning.filters, wanted.lists.exclude, RUN_PREFIX + "9" * 19)
        read_search({**search, "has_email": True}, now_ms)
    except BadRequest:
        message = "each run adds a list, for which this search has no room; save one with fewer conditions or lists"
        raise BadRequest([Problem("search", message)]) from None
    await leads.lists.select(caller.account_id, wanted.lists)
    await watches.create(caller, saved, wanted.meaning.filters, wanted.lists, terms)
    return await watches.find(caller, saved.name)


async def change_watch(
    leads: LeadEndpoints, watches: Watches, watch: Watch, terms: Terms, person_id: int | None
) -> Terms:
    """Change when a watch runs and what it does, and return the new terms; raises BadRequest.

    `person_id` is the person who changes it; None: a key does.
    """
    is_resumed = watch.terms.paused and not terms.paused
    is_more_often = (watch.terms.schedule.every, terms.schedule.every) == ("week", "day")
    if (is_resumed or is_more_often) and terms.buyer_id != person_id:
        # The person who set the ceiling agreed to it for the runs that there were to be, and pays for them.
        terms = replace(terms, max_lead_credits=None, buyer_id=None)
    if terms.mail_to != watch.terms.mail_to:
        _require_mail(leads.index.settings, terms)
    await watches.change(watch, terms, terms.schedule.next_after(datetime.now(UTC)))
    return terms


class WatchEndpoints:
    """The operations on the watches of one dataset."""

    def __init__(self, watches: Watches, runs: Runs, searches: SavedSearches, leads: LeadEndpoints) -> None:
        self._watches = watches
        self._runs = runs
        self._searches = searches
        self._leads = leads
        self._max_body_bytes = leads.index.settings.max_body_bytes

    def handlers(self) -> dict[Operation, Handler]:
        """The handler of each operation."""
        return {
            WATCHES: self.watches,
            CREATE_WATCH: self.create,
            WATCH: self.watch,
            CHANGE_WATCH: self.change,
            DELETE_WATCH: self.delete,
            WATCH_RUNS: self.runs,
            WATCH_RUN: self.run,
        }

    async def watches(self, request: Request, caller: Caller, _call: Call) -> Response:
        """All watches that the key sees."""
        read_no_parameters(request.query_params)
        return json_response(watches_response(await self._watches.seen(caller)))

    async def create(self, request: Request, caller: Caller, call: Call) -> Response:
        """Watch a saved search."""
        wanted = read_new_watch(await read_json(request, self._max_body_bytes))
        saved = await self._searches.find(caller, wanted.search)
        await self._leads.guard.take_rest(caller, call, COUNTING_UNITS + further_units(saved.search))
        return json_response(show(await create_watch(self._leads, self._watches, caller, saved, wanted.terms)))

    async def watch(self, request: Request, caller: Caller, _call: Call) -> Response:
        """A watch."""
        read_no_parameters(request.query_params)
        return json_response(show(await self._find(request, caller)))

    async def change(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Change a watch, or pause it."""
        body = await read_json(request, self._max_body_bytes)
        watch = await self._find(request, caller)
        terms = read_watch_changes(body, watch.terms)
        await change_watch(self._leads, self._watches, watch, terms, caller.person_id)
        return json_response(show(await self._find(request, caller)))

    async def delete(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Delete a watch."""
        read_no_parameters(request.query_params)
        watch = await self._find(request, caller)
        await self._watches.delete(watch)
        return json_response(WatchDeletedResponse(deleted=watch.name))

    async def runs(self, request: Request, caller: Caller, _call: Call) -> Response:
        """The runs of a watch."""
        read_no_parameters(request.query_params)
        watch = await self._find(request, caller)
        return json_response(runs_response(watch, await self._runs.of_watch(watch)))

    async def run(self, request: Request, caller: Caller, call: Call) -> Response:
        """A run with its new leads."""
        read_no_parameters(request.query_params)
        watch, number = await self._find(request, caller), request.path_params["run"]
        if not (number.isascii() and number.isdigit() and len(number) <= _MAX_NUMBER_CHARS):
            raise NotFound(repeated(number), missing="run")
        await self._leads.guard.take_rest(caller, call, COUNTING_UNITS)
        run = await self._runs.find(watch, int(number))
        return json_response(run_response(run, await preview_run(self._leads, watch, run)))

    async def _find(self, request: Request, caller: Caller) -> Watch:
        return await self._watches.find(caller, request.path_params["name"])
