"""The page of saved searches: how many leads each finds now, and since somebody last opened it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms
from siteglass.access.own_keys import key_names
from siteglass.dashboard.explore.chips import make_chips
from siteglass.dashboard.explore.saved import (
    MAX_NAME_CHARS,
    NAME_RULE,
    SEARCHES,
    name_of,
    path_of,
    reader_of,
    search_of,
)
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.errors import BadRequest, NotFound, Problem, SiteglassError, TooManyRequests
from siteglass.index.counting import Total
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.leads.searches.searches import SavedSearch

PAGE_SEARCHES = 20
COUNTS_AT_ONCE = 4
ONE = SEARCHES + "/{name}"


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A saved search, and what it finds now."""

    saved: SavedSearch
    is_own: bool
    owner: str
    path: str
    """Where it is opened; empty if it can't be."""
    says: str
    """What it searches for, in words."""
    total: Total | None
    problem: str = ""

    @property
    def change(self) -> int | None:
        """How many leads more than when somebody last opened it; None if that is not known."""
        if self.total is None or self.total.estimated or self.saved.total is None:
            return None
        return self.total.count - self.saved.total


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The searches that somebody owns, and those that others share."""
    return await _page(dashboard, visit, await _terms(dashboard, visit))


async def _terms(dashboard: Dashboard, visit: Visit) -> BrowserTerms:
    return await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)


async def _page(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, problem: str = "", about: str = ""
) -> Response:
    number = visit.query.number("page") or 1
    seen = await dashboard.searches.seen(reader_of(terms))
    shown = seen[(number - 1) * PAGE_SEARCHES : number * PAGE_SEARCHES]
    if not shown and number > 1:
        raise NOT_THERE
    may_count, busy = True, ""
    try:
        if shown:
            await dashboard.take_units(visit, terms.caller, COUNTING_UNITS * len(shown))
    except TooManyRequests:
        may_count, busy = False, "Too many searches at once: the counts are missing. Reload the page in a few seconds."
    return dashboard.page(
        visit,
        "saved_searches.html",
        422 if problem else 200,
        rows=await find_rows(dashboard, visit, terms, shown, may_count=may_count),
        number=number,
        has_next=len(seen) > number * PAGE_SEARCHES,
        busy=busy,
        problem=problem,
        about=about,
        watches={watch.name: watch for watch in await dashboard.watches.seen(reader_of(terms))},
        max_name_chars=MAX_NAME_CHARS,
    )


async def find_rows(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, shown: Sequence[SavedSearch], *, may_count: bool
) -> list[SavedRow]:
    """These searches, with what each finds now."""
    own_key = reader_of(terms).family_id
    names = await key_names(dashboard.backends.postgres, visit.who.account_id, {saved.owner_key_id for saved in shown})
    turn = asyncio.Semaphore(COUNTS_AT_ONCE)

    async def row(saved: SavedSearch) -> SavedRow:
        is_own = saved.owner_key_id == own_key
        owner = "You" if is_own else names.get(saved.owner_key_id, "").removesuffix(" (browser)")
        try:
            wanted = dashboard.leads.read(saved.search)
            search = search_of(saved.search, dashboard.leads.index.clock.now_ms())
            path, says = path_of(saved.name, search), " · ".join(chip.name for chip in make_chips(search, None))
        except SiteglassError:
            problem = "This search can no longer be read. Delete it, and save it again."
            return SavedRow(saved, is_own, owner, "", "", None, problem)
        try:
            async with turn:
                total = await dashboard.leads.count(terms.caller, wanted) if may_count else None
        except BadRequest:
            return SavedRow(saved, is_own, owner, path, says, None, "A list of this search was deleted.")
        except SiteglassError:
            return SavedRow(saved, is_own, owner, path, says, None, "Counting is unavailable. Try again in a moment.")
        return SavedRow(saved, is_own, owner, path, says, total)

    return await asyncio.gather(*map(row, shown))


async def _found(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> SavedSearch:
    """The search that the path names, if this person sees it; raises PageRefusal."""
    try:
        return await dashboard.searches.find(reader_of(terms), visit.request.path_params["name"])
    except NotFound:
        raise NOT_THERE from None


async def change(dashboard: Dashboard, visit: Visit) -> Response:
    """Rename a search. Only its owner decides whether others see it."""
    terms = await _terms(dashboard, visit)
    saved, name = await _found(dashboard, visit, terms), name_of(visit.form.get("name"))
    is_own = saved.owner_key_id == reader_of(terms).family_id
    shared = visit.form.get("shared") == "1" if is_own else saved.shared
    try:
        if not name:
            raise BadRequest([Problem("name", NAME_RULE)])
        await dashboard.searches.change(saved, name, shared=shared)
    except BadRequest as error:
        problem = f"Not changed: {error.problems[0].message}"
        return await _page(dashboard, visit, terms, problem, about=saved.name)
    return see_other(f"{SEARCHES}?done=search-changed")


async def delete(dashboard: Dashboard, visit: Visit) -> Response:
    """Delete a search."""
    terms = await _terms(dashboard, visit)
    await dashboard.searches.delete(await _found(dashboard, visit, terms))
    return see_other(f"{SEARCHES}?done=search-deleted")


PAGES = (
    DeclaredPage("searches", "GET", SEARCHES, show),
    DeclaredPage("search.change", "POST", ONE + "/change", change, role="member"),
    DeclaredPage("search.delete", "POST", ONE + "/delete", delete, role="member"),
)
