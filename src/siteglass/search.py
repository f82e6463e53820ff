"""Operation 1: a page of leads for a caller. The order of steps; what they mean stands in `query` and `index`."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

from siteglass.accounts.credits import Mark, Operation, Receipt, charge
from siteglass.accounts.keys import Caller
from siteglass.backends import Backends
from siteglass.index import pages
from siteglass.index.names import Names
from siteglass.query.body import Meaning, read_meaning
from siteglass.query.cursor import Continuation, Position
from siteglass.query.fields import SEARCH_DEFAULT

ALWAYS_SHOWN = "crawled_at"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A first page, as it was asked for."""

    meaning: Meaning
    limit: int
    select: tuple[str, ...] | None
    sort: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page, spelled, with the way to its neighbours."""

    result_id: str
    total: int
    total_estimated: bool
    records: list[dict[str, Any]]
    filters: dict[str, Any]
    next: Continuation | None
    previous: Continuation | None
    receipt: Receipt


async def first_page(
    backends: Backends, names: Names, caller: Caller, request_id: str, request: SearchRequest
) -> SearchPage:
    """Run a new search, charge for it, and only then show it."""
    found, total = await pages.first_page(backends, names, request.meaning.criteria, request.sort, request.limit)
    here = Continuation(
        request.meaning.filters,
        request.select,
        request.sort,
        request.limit,
        Position(0, ""),
        total.count,
        total.estimated,
        str(uuid.uuid4()),
    )
    receipt = await _charge(backends, caller, "search", request_id, request.meaning, found)
    return _spelled(here, request.meaning, found, receipt, backward=False, first=True)


async def later_page(
    backends: Backends, names: Names, caller: Caller, request_id: str, here: Continuation
) -> SearchPage:
    """Run the page that a cursor stands for, charge for it, and only then show it."""
    meaning = read_meaning(here.filters, backends.clock.now_ms())
    found = await pages.later_page(backends, names, meaning.criteria, here.sort, here.limit, here.position)
    receipt = await _charge(backends, caller, "page", request_id, meaning, found)
    return _spelled(here, meaning, found, receipt, backward=here.position.backward, first=False)


async def _charge(
    backends: Backends, caller: Caller, operation: Operation, request_id: str, meaning: Meaning, found: pages.Page
) -> Receipt:
    """One lead credit for each lead that has an address, whatever `select` says."""
    shown = "emails_personal" if meaning.criteria.hides_generic_emails() else "emails"
    domains = [(hit.domain, Mark.CHARGED if hit.record[shown] else Mark.NO_ADDRESS) for hit in found.hits]
    lead = sum(mark is Mark.CHARGED for _, mark in domains)
    timeout_ms = backends.settings.charge_timeout_ms
    balances = await charge(backends.postgres, caller, operation, 0, lead, request_id, domains, timeout_ms=timeout_ms)
    return Receipt(0, lead, balances)


def _spelled(
    here: Continuation, meaning: Meaning, found: pages.Page, receipt: Receipt, *, backward: bool, first: bool
) -> SearchPage:
    # The neighbour one comes from exists; the one ahead exists if the engine saw a lead behind the page.
    has_next = found.more if not backward else True
    has_previous = found.more if backward else not first
    width = found.width(here.limit)
    following = preceding = None
    if has_next:
        following = replace(here, position=_behind(here.position, found, backward=False, width=width))
    if has_previous:
        preceding = replace(here, position=_behind(here.position, found, backward=True, width=width))
    return SearchPage(
        here.result_id,
        here.total,
        here.total_estimated,
        [spell(hit.record, here.select, meaning) for hit in found.hits],
        here.filters,
        following,
        preceding,
        receipt,
    )


def _behind(here: Position, found: pages.Page, *, backward: bool, width: int) -> Position:
    """Where the neighbour starts; on a page that has become empty, where this one did."""
    if not found.hits:
        return replace(here, backward=backward)
    edge = found.hits[0] if backward else found.hits[-1]
    return Position(edge.key, edge.domain, backward, width)


def spell(record: dict[str, Any], select: tuple[str, ...] | None, meaning: Meaning) -> dict[str, Any]:
    """The record as the caller asked to see it."""
    if meaning.criteria.hides_generic_emails():
        record = {**record, "emails": record["emails_personal"]}
    return {name: record[name] for name in (SEARCH_DEFAULT if select is None else select)}
