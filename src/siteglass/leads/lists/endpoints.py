"""Lists over HTTP."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.errors import BadRequest, Problem
from siteglass.leads.lists.lists import DomainList, Lists
from siteglass.leads.lists.operations import (
    ADD_TO_LIST,
    CREATE_LIST,
    DELETE_LIST,
    DOMAINS_PER_UNIT,
    LIST_DOMAINS,
    LISTS,
    REMOVE_FROM_LIST,
)
from siteglass.leads.lists.requests import ReadDomains, read_list_domains, read_new_list, read_page
from siteglass.leads.lists.responses import ListDeletedResponse, change_response, domains_response, lists_response
from siteglass.web.guard import Call, Guard, Handler
from siteglass.web.operations import Operation
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import read_json
from siteglass.web.responses import json_response


class ListEndpoints:
    """The operations on the lists of one dataset."""

    def __init__(self, lists: Lists, guard: Guard, max_body_bytes: int) -> None:
        self._lists = lists
        self._guard = guard
        self._max_body_bytes = max_body_bytes

    def handlers(self) -> dict[Operation, Handler]:
        """The handler of each operation."""
        return {
            LISTS: self.lists,
            CREATE_LIST: self.create,
            DELETE_LIST: self.delete,
            LIST_DOMAINS: self.domains,
            ADD_TO_LIST: self.add,
            REMOVE_FROM_LIST: self.remove,
        }

    async def lists(self, request: Request, caller: Caller, _call: Call) -> Response:
        """All lists of the account."""
        read_no_parameters(request.query_params)
        return json_response(lists_response(await self._lists.of_account(caller.account_id)))

    async def create(self, request: Request, caller: Caller, call: Call) -> Response:
        """A new list, with its first domains."""
        wanted = read_new_list(await read_json(request, self._max_body_bytes))
        await self._take_rest(caller, call, wanted.domains)
        created = await self._lists.create(caller.account_id, wanted.name)
        added = 0
        if wanted.domains.hosts:
            created, added = await self._lists.add(created, wanted.domains.hosts)
        return json_response(change_response(created, wanted.domains.invalid, added=added))

    async def delete(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Delete a list with its domains."""
        read_no_parameters(request.query_params)
        list_ = await self._own(request, caller)
        await self._lists.delete(list_)
        return json_response(ListDeletedResponse(deleted=list_.name))

    async def domains(self, request: Request, caller: Caller, _call: Call) -> Response:
        """A page of a list."""
        page = read_page(request.query_params)
        list_ = await self._lists.find(caller.account_id, request.path_params["name"])
        return json_response(
            domains_response(list_, page, await self._lists.domains(list_, page.after, page.limit + 1))
        )

    async def add(self, request: Request, caller: Caller, call: Call) -> Response:
        """Add domains to a list."""
        wanted = read_list_domains(await read_json(request, self._max_body_bytes))
        await self._take_rest(caller, call, wanted)
        changed, added = await self._lists.add(await self._own(request, caller), wanted.hosts)
        return json_response(change_response(changed, wanted.invalid, added=added))

    async def remove(self, request: Request, caller: Caller, call: Call) -> Response:
        """Remove domains from a list."""
        wanted = read_list_domains(await read_json(request, self._max_body_bytes))
        await self._take_rest(caller, call, wanted)
        changed, removed = await self._lists.remove(await self._own(request, caller), wanted.hosts)
        return json_response(change_response(changed, wanted.invalid, removed=removed))

    async def _own(self, request: Request, caller: Caller) -> DomainList:
        """The list of the path; raises BadRequest if it is built in."""
        list_ = await self._lists.find(caller.account_id, request.path_params["name"])
        if list_.built_in:
            message = f"the list {list_.name} is built in and can't be changed; create another list"
            raise BadRequest([Problem("name", message)])
        return list_

    async def _take_rest(self, caller: Caller, call: Call, wanted: ReadDomains) -> None:
        domains = len(wanted.hosts) + len(wanted.invalid)
        await self._guard.take_rest(caller, call, -(-domains // DOMAINS_PER_UNIT))
