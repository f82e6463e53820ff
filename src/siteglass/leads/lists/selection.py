"""Lists in a search: which are excluded and which it is limited to, as a filter for the engine and as a last check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyroaring import BitMap

from siteglass.errors import BadRequest, Problem, Problems, repeated
from siteglass.index.compile import Exclusion, Extra, Query
from siteglass.index.lead_numbers import numbered_in
from siteglass.leads.lists.bitmaps import pack, union
from siteglass.leads.lists.lists import BUILT_IN, PAID, RECEIVED, RUN_PREFIX, DomainList, Lists
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

    async def select(self, account_id: int, names: ListNames) -> tuple[ListSelection, tuple[Extra, ...]]:
        """The lists with these names, and what the engine filters by; raises BadRequest if one does not exist."""
        if not names.exclude and not names.only:
            return NO_LISTS, ()
        selected = {*names.exclude, *names.only}
        needed = selected & {*BUILT_IN}
        lists = await (self._lists.of_account(account_id, needed) if needed else self._lists.stored(account_id))
        if runs := {name for name in selected if name.startswith(RUN_PREFIX)}:
            lists += await self._lists.of_runs(account_id, names=runs)
        known = {list_.name: list_.id for list_ in lists}
        problems = Problems()
        for field, sent in names.sent.items():
            for name in sent:
                if name not in known:
                    near = nearest_name(name, list(known))
                    hint = f"did you mean {near}?" if near else "GET /v1/lists returns the lists of the account"
                    problems.append(Problem(field, f"there is no list {repeated(name)}; {hint}", nearest=near))
        if problems:
            raise BadRequest(problems)
        selection = ListSelection(
            tuple(map(known.__getitem__, names.exclude)), tuple(map(known.__getitem__, names.only))
        )
        return selection, await self._queries(selection, lists)

    async def queries(self, account_id: int, selection: ListSelection) -> tuple[Extra, ...]:
        """What the engine filters by, from the newest state of the lists. Raises BadRequest if one was deleted."""
        if not selection:
            return ()
        selected = {*selection.exclude, *selection.only}
        known = {one.id: one for one in await self._lists.stored(account_id)}
        if needed := {list_.name for list_id, list_ in known.items() if list_id in selected and list_.built_in}:
            known = {one.id: one for one in await self._lists.of_account(account_id, needed)}
        if missing := selected - known.keys():
            known |= {one.id: one for one in await self._lists.of_runs(account_id, ids=missing)}
        if not selected <= known.keys():
            message = "a list of this search was deleted; start the search again without it"
            raise BadRequest([Problem("exclude_lists" if selection.exclude else "only_lists", message)])
        return await self._queries(selection, known.values())

    async def _queries(self, selection: ListSelection, lists: Iterable[DomainList]) -> tuple[Extra, ...]:
        revisions = {list_.id: list_.revision for list_ in lists}

        async def numbers(list_ids: Sequence[int]) -> BitMap:
            return union([await self._lists.bitmap(list_id, revisions[list_id]) for list_id in list_ids])

        excluded = await numbers(selection.exclude)
        if not selection.only:
            return (Exclusion(numbered_in(pack(excluded))),) if excluded else ()
        wanted = await numbers(selection.only) - excluded
        return (numbered_in(pack(wanted)) if wanted else {"match_none": {}},)

    async def paid(self, account_id: int) -> Query:
        """Finds the leads that the account paid for. Raises Unavailable while a long ledger is read."""
        list_ = await self._lists.find(account_id, PAID)
        numbers = await self._lists.bitmap(list_.id, list_.revision)
        return numbered_in(pack(numbers)) if numbers else {"match_none": {}}

    async def free(self, account_id: int, days: int) -> Query:
        """Finds the leads that the account paid for within so many days. Raises Unavailable as above."""
        numbers = await self._lists.free_numbers(account_id, days)
        return numbered_in(pack(numbers)) if numbers else {"match_none": {}}

    async def received(self, account_id: int) -> Query | None:
        """Finds the leads that the account ever received; None: there are none. Raises Unavailable as above."""
        list_ = await self._lists.find(account_id, RECEIVED)
        numbers = await self._lists.bitmap(list_.id, list_.revision)
        return numbered_in(pack(numbers)) if numbers else None

    async def received_among(self, account_id: int, domains: Sequence[str]) -> frozenset[str]:
        """The domains among these that the account ever received. Raises Unavailable as above."""
        list_ = await self._lists.find(account_id, RECEIVED)
        return await self._lists.unwanted((list_.id,), (), domains)

    async def unwanted(self, selection: ListSelection, domains: Sequence[str]) -> frozenset[str]:
        """The domains among these that the lists keep out, by their rows: the bitmaps lack leads that are new."""
        return await self._lists.unwanted(selection.exclude, selection.only, domains) if selection else frozenset()

    async def counts(self, account_id: int, domains: Sequence[str]) -> dict[str, int]:
        """How many of these domains are on each list; lists without any are left out."""
        return await self._lists.counts(account_id, domains)
