"""Operation 1: a page of leads, and what it is to cost. `query` and `index` explain the steps."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import Raw, Struct

from siteglass.billing.credits import Mark
from siteglass.index import pages
from siteglass.index.cards import rebuild_record, search_object, select_fields
from siteglass.index.hits import Hit
from siteglass.index.index import Index
from siteglass.leads.contact_details import shown_field
from siteglass.leads.lists.selection import NO_NAMES, ListFilter, ListNames, ListSelection
from siteglass.query.body import Meaning, read_meaning
from siteglass.query.cursor import Continuation, Position
from siteglass.query.fields import SEARCH_DEFAULT
from siteglass.suppression.filter import SuppressionFilter
from siteglass.web.responses import encode


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A first page, as it was asked for."""

    meaning: Meaning
    limit: int
    select: tuple[str, ...] | None
    sort: str
    explain: bool = False
    """Whether the response shows how the search was interpreted."""
    lists: ListNames = NO_NAMES


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A serialized page, with the paths to its neighbours and the mark of each lead; shown when it is paid."""

    result_id: str
    total: int
    total_error: int | None
    records: Sequence[Raw | Struct]
    """As the response contains them, to be encoded."""
    filters: dict[str, Any]
    next: Continuation | None
    previous: Continuation | None
    marks: list[tuple[str, Mark]]
    lists: ListSelection


async def first_page(
    index: Index,
    hidden: SuppressionFilter,
    lists: ListFilter,
    account_id: int,
    request: SearchRequest,
    total_wait_s: float | None = None,
) -> SearchPage:
    """Run a new search; `total_wait_s` as in `pages.first_page`."""
    await hidden.require_fresh()
    selection, listed = await lists.select(account_id, request.lists)
    records = pages.records_with(request.select or ())
    criteria, sort, limit = request.meaning.criteria, request.sort, request.limit
    found, total = await pages.first_page(
        index, criteria, sort, limit, listed, records=records, total_wait_s=total_wait_s
    )
    here = Continuation(
        {**request.meaning.filters, **request.lists.sent},
        request.select,
        request.sort,
        request.limit,
        Position(0, ""),
        total.count,
        total.error,
        str(uuid.uuid4()),
        selection.exclude,
        selection.only,
    )
    unwanted = await _unwanted(lists, selection, found)
    return _search_page(here, request.meaning, found, hidden, unwanted, backward=False, first=True)


async def later_page(
    index: Index, hidden: SuppressionFilter, lists: ListFilter, account_id: int, here: Continuation
) -> SearchPage:
    """Run the page that a cursor stands for; the newest state of its lists applies."""
    await hidden.require_fresh()
    meaning = read_meaning(here.filters, index.clock.now_ms())
    selection = ListSelection(here.exclude_lists, here.only_lists)
    listed = await lists.queries(account_id, selection)
    records = pages.records_with(here.select or ())
    found = await pages.later_page(
        index, meaning.criteria, here.sort, here.limit, here.position, listed, records=records
    )
    unwanted = await _unwanted(lists, selection, found)
    return _search_page(here, meaning, found, hidden, unwanted, backward=here.position.backward, first=False)


async def _unwanted(lists: ListFilter, selection: ListSelection, found: pages.HitPage) -> frozenset[str]:
    """The domains of a page that its lists keep out: leads that are so new that no bitmap has them."""
    return await lists.unwanted(selection, [hit.domain for hit in found.hits])


def _search_page(
    here: Continuation,
    meaning: Meaning,
    found: pages.HitPage,
    hidden: SuppressionFilter,
    unwanted: frozenset[str],
    *,
    backward: bool,
    first: bool,
) -> SearchPage:
    # The page that the caller comes from exists; the next one exists if the engine found a lead after this page.
    has_next = found.more if not backward else True
    has_previous = found.more if backward else not first
    width = found.width(here.sort, here.limit)
    following = preceding = None
    if has_next:
        following = replace(here, position=_start_of_next(here.position, found, backward=False, width=width))
    if has_previous:
        preceding = replace(here, position=_start_of_next(here.position, found, backward=True, width=width))
    # What must not be shown is neither shown nor charged; the way to the neighbours goes by all that was found.
    wanted = [hit for hit in found.hits if hit.domain not in unwanted] if unwanted else found.hits
    records, marks = shown_page(wanted, hidden, here.select, only_personal=meaning.criteria.hides_generic_emails())
    return SearchPage(
        here.result_id,
        here.total,
        here.total_error,
        records,
        here.filters,
        following,
        preceding,
        marks,
        ListSelection(here.exclude_lists, here.only_lists),
    )


def _start_of_next(here: Position, found: pages.HitPage, *, backward: bool, width: int) -> Position:
    """Where the neighbour starts; on a page that has become empty, where this one did."""
    if not found.hits:
        return replace(here, backward=backward)
    edge = found.hits[0] if backward else found.hits[-1]
    return Position(edge.key, edge.domain, backward, width)


def shown_page(
    hits: Sequence[Hit], hidden: SuppressionFilter, select: tuple[str, ...] | None, *, only_personal: bool
) -> tuple[Sequence[Raw | Struct], list[tuple[str, Mark]]]:
    """The records that may be shown, and the mark of each. A lead that has an address is charged, whatever `select`
    says.

    Most are the bytes that the index has. One that is not shown as it is stored is rebuilt.
    """
    objects: list[bytes] = []
    marks: list[tuple[str, Mark]] = []
    for hit in hits:
        has_email = hit.card.has_email
        if only_personal or hidden.may_change(hit.domain, hit.card.country):
            record = hidden.shown(rebuild_record(hit.card, hit.rest))
            if record is None:
                continue
            if only_personal:
                record["emails"] = record["emails_personal"]
            has_email = bool(record["emails"])
            objects.append(encode({name: shown_field(record, name) for name in select or SEARCH_DEFAULT}))
        else:
            objects.append(search_object(hit.card, hit.rest))
        marks.append((hit.domain, Mark.CHARGED if has_email else Mark.NO_ADDRESS))
    if select is None:
        return list(map(Raw, objects)), marks
    return select_fields(objects, select), marks
