"""Lists in a search: which are excluded and which it is limited to, as a filter for the engine and as a last check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyroaring import BitMap

from siteglass.errors import BadRequest, Problem, Problems, repeated
from siteglass.index.compile import Query
from siteglass.index.lead_numbers import numbered_in
from siteglass.leads.lists.bitmaps import pack, union
from siteglass.leads.lists.lists import BUILT_IN, Lists
from siteglass.web.requests import nearest_name

MAX_SELECTED = 10
"""Lists that a search names, in both fields together."""


@dataclass(frozen=True, slots=True)
class ListNames:
    """Lists as a request names them."""

    exclude: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def sent(self) -> dict[str, list[str]]:
        """The fields of a body that say so."""
        fields = {"exclude_lists": list(self.exclude), "only_lists": list(self.only)}
        return {name: names for name, names in fields.items() if names}


NO_NAMES = ListNames()


@dataclass(frozen=True, slots=True)
class ListSelection:
    """Lists by their numbers: what a cursor carries."""

    exclude: tuple[int, ...] = ()
    only: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.exclude or self.only)


NO_LISTS = ListSelection()


class ListFilter:
    """What lists mean for searches of one dataset."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    async def select(self, account_id: int, names: ListNames) -> ListSelection:
        """The lists with these names; raises BadRequest if one does not exist."""
        if not names.exclude and not names.only:
            return NO_LISTS
        known = {one.name: one.id for one in await self._lists.stored(account_id)}
        if any(name in BUILT_IN and name not in known for name in (*names.exclude, *names.only)):
            known = {one.name: one.id for one in await self._lists.of_account(account_id)}
        problems = Problems()
        for field, sent in names.sent.items():
            for name in sent:
                if name not in known:
                    near = nearest_name(name, list(known))
                    hint = f"did you mean {near}?" if near else "GET /v1/lists returns the lists of the account"
                    problems.append(Problem(field, f"there is no list {repeated(name)}; {hint}", nearest=near))
        if problems:
            raise BadRequest(problems)
        return ListSelection(tuple(known[name] for name in names.exclude), tuple(known[name] for name in names.only))

    async def queries(self, account_id: int, selection: ListSelection) -> tuple[Query, ...]:
        """What the engine filters by, from the newest state of the lists. Raises BadRequest if one was deleted."""
        if not selection:
            return ()
        selected = {*selection.exclude, *selection.only}
        known = {one.id: one for one in await self._lists.stored(account_id)}
        if any(list_.built_in for list_id, list_ in known.items() if list_id in selected):
            known = {one.id: one for one in await self._lists.of_account(account_id)}
        if not selected <= known.keys():
            message = "a list of this search was deleted; start the search again without it"
            raise BadRequest([Problem("exclude_lists" if selection.exclude else "only_lists", message)])

        async def numbers(list_ids: Sequence[int]) -> BitMap:
            return union([await self._lists.bitmap(list_id, known[list_id].revision) for list_id in list_ids])

        excluded = await numbers(selection.exclude)
        if not selection.only:
            return ({"bool": {"must_not": [numbered_in(pack(excluded))]}},) if excluded else ()
        wanted = await numbers(selection.only) - excluded
        return (numbered_in(pack(wanted)) if wanted else {"match_none": {}},)

    async def unwanted(self, selection: ListSelection, domains: Sequence[str]) -> frozenset[str]:
        """The domains among these that the lists keep out, by their rows: the bitmaps lack leads that are new."""
        return await self._lists.unwanted(selection.exclude, selection.only, domains) if selection else frozenset()

    async def counts(self, account_id: int, domains: Sequence[str]) -> dict[str, int]:
        """How many of these domains are on each list; lists without any are left out."""
        return await self._lists.counts(account_id, domains)
