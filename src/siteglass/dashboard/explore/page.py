"""The Explore page. Opening an address shows a search and never spends; only the form of its button does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms
from siteglass.billing.credits import Billing
from siteglass.dashboard.explore.address import (
    COUNTS,
    EXPLORE,
    SORTS,
    ExploreSearch,
    apply_changes,
    read_clauses,
    words_of,
    write_clause,
)
from siteglass.dashboard.explore.buying import charge_visitor, not_bought
from siteglass.dashboard.explore.chips import make_chips
from siteglass.dashboard.explore.notes import SearchHint, make_hints
from siteglass.dashboard.explore.results import Results, Wanted, count_results, failed, find_results
from siteglass.dashboard.explore.saved import MAX_NAME_CHARS, NAME_RULE, body_of, name_of, owner_of, reader_of
from siteglass.dashboard.explore.start import find_start
from siteglass.dashboard.explore.values import Panel, count_panel
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, own_path, see_other
from siteglass.dashboard.refusals import PageRefusal
from siteglass.dashboard.rendering import html_answer
from siteglass.errors import BadRequest, NotFound, Problem, SiteglassError, TooManyRequests
from siteglass.leads.lists.lists import BUILT_IN, RUN_PREFIX, DomainList
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.query.body import Meaning
from siteglass.query.criteria import Criteria
from siteglass.query.directives import MAX_TEXT_CHARS, print_condition
from siteglass.query.filters import directive_can_say
from siteglass.query.natural import MAX_QUERY_CHARS, units_of
from siteglass.query.suggested import ModelReading


@dataclass(frozen=True, slots=True)
class Reading:
    """The search of an address, how its words were read, and what could not be."""

    search: ExploreSearch
    meaning: Meaning | None
    problem: str = ""
    unreadable: int = 0


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The search of the address; or its facets, which the page loads by itself."""
    terms = await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)
    if visit.query.get("text"):
        return await _show_text(dashboard, visit, terms)
    reading = await read_search(dashboard, visit, terms)
    if visit.wants_part and visit.query.get("part") == "facets":
        return await _show_facets(dashboard, visit, terms, reading.search)
    if visit.wants_part and visit.query.get("part") == "total":
        return await _show_total(dashboard, visit, terms, reading.search)
    if visit.wants_part and visit.query.get("part") == "count":
        return await _count_now(dashboard, visit, terms, reading.search)
    return await _show(dashboard, visit, terms, reading)


async def read_search(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> Reading:
    """The search of the address. Long words take units of the rate limit before they are read."""
    now_ms, words, meaning, problem = dashboard.leads.index.clock.now_ms(), words_of(visit.query), None, ""
    if len(words) > MAX_QUERY_CHARS:
        problem = f"Use at most {MAX_QUERY_CHARS:,} characters; the search has {len(words):,}."
    elif words:
        try:
            if (further := units_of(words) - 1) > 0:
                await dashboard.take_units(visit, terms.caller, further)
            meaning = dashboard.leads.read({"query": words}).meaning
        except (BadRequest, TooManyRequests) as error:
            problem = error.message
    search, unreadable = apply_changes(meaning, visit.query, now_ms)
    return Reading(search, meaning, problem, len(unreadable))


async def _offered(dashboard: Dashboard, meaning: Meaning | None) -> ModelReading | None:
    return None if meaning is None else await dashboard.leads.ask_model(meaning)


async def _show(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, reading: Reading, problem: str = "", status: int = 200
) -> Response:
    search = reading.search
    lists = await dashboard.lists.stored(visit.who.account_id)
    results, offered = await asyncio.gather(
        _find(dashboard, visit, terms, search, lists), _offered(dashboard, reading.meaning)
    )
    if visit.query.get("saved"):
        await _note_count(dashboard, visit, terms, results)
    balance = results.balance
    if results.state not in ("found", "none", "bought"):
        billing = Billing(dashboard.backends.postgres)
        balance = (await billing.balance(terms.caller.account_id)).lead
    # htmx shows pages with status 200 only.
    if results.state == "failed" and not visit.wants_part:
        status = results.status
    panel, panel_problem = None, ""
    if visit.query.get("facets") == "1":  # browsers without JavaScript ask for them like this
        panel, panel_problem = await _count_facets(dashboard, visit, terms, search)
    hints = make_hints(search, reading.meaning, offered)
    if reading.unreadable:
        hints.append(SearchHint("A part of this address is not a condition, and was left out.", warns=True))
    return dashboard.page(
        visit,
        "explore.html",
        status,
        search=search,
        results=results,
        panel=panel,
        panel_problem=panel_problem,
        terms=terms,
        chips=make_chips(search, reading.meaning),
        hints=hints,
        problem=problem or reading.problem,
        balance=balance,
        start=await find_start(dashboard, visit, terms) if results.state == "start" else None,
        text="\n".join(print_condition(one) for one in search.criteria.conditions if directive_can_say(one)),
        max_text_chars=MAX_TEXT_CHARS,
        max_query_chars=MAX_QUERY_CHARS,
        sorts=SORTS,
        counts=COUNTS,
        write_clause=write_clause,
        lists=lists,
        save_name=visit.form.get("name") or name_of(search.words),
        save_shared=visit.form.get("shared"),
        max_name_chars=MAX_NAME_CHARS,
        contact=dashboard.backends.settings.sales_email,
        free_days=dashboard.backends.settings.received_free_days,
    )


async def _find(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch, lists: Sequence[DomainList]
) -> Results:
    if search.is_empty:
        return Results("empty" if search.words else "start")
    known = {*BUILT_IN, *(one.name for one in lists)}
    named = (*search.lists.exclude, *search.lists.only)
    if runs := {name for name in named if name.startswith(RUN_PREFIX)}:
        known |= {one.name for one in await dashboard.lists.of_runs(visit.who.account_id, names=runs)}
    deleted = [name for name in named if name not in known]
    if deleted:
        message = f"There is no list {deleted[0]}: it may have been deleted. Remove it from the search."
        return Results("failed", message=message, status=422, next_path=search.listing(deleted[0], "").path)
    try:
        await dashboard.take_units(visit, terms.caller, 1)
        return await find_results(dashboard.leads, dashboard.charger, terms, search)
    except SiteglassError as error:
        return failed(error)


async def _show_total(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch) -> Response:
    """What the page says of all leads of its search, which it loads if counting takes long."""
    try:
        await dashboard.take_units(visit, terms.caller, COUNTING_UNITS)
        results = await count_results(dashboard.leads, terms.caller, search)
    except SiteglassError:
        return Response(status_code=204)  # the page keeps what it has
    if visit.query.get("saved"):
        await _note_count(dashboard, visit, terms, results)
    return dashboard.page(visit, "explore_total.html", results=results, search=search)


async def _count_now(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch) -> Response:
    """How many leads a search finds now, for the list of recent searches; nothing if that is not known."""
    try:
        await dashboard.take_units(visit, terms.caller, COUNTING_UNITS)
        total = await dashboard.leads.count(terms.caller, dashboard.leads.read(search.filters))
    except SiteglassError:
        return html_answer("", visit.nonce)
    return html_answer("" if total.estimated else str(total.count), visit.nonce)


async def _show_facets(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch) -> Response:
    panel, problem = await _count_facets(dashboard, visit, terms, search)
    return dashboard.page(visit, "explore_facets.html", panel=panel, problem=problem, search=search)


async def _count_facets(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch
) -> tuple[Panel | None, str]:
    """The facets, or why there are none."""
    try:
        await dashboard.take_units(visit, terms.caller, COUNTING_UNITS)
        return await count_panel(dashboard.leads, terms.caller, search, visit.query.get("whole")), ""
    except TooManyRequests:
        return None, "Too many searches at once. Wait a second, then try again."
    except SiteglassError:
        return None, "Filters are unavailable. Nothing was charged."


async def _show_text(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> Response:
    """Search for conditions that were written as directive text."""
    text = visit.query.get("text")
    clauses, unreadable = read_clauses([text[: MAX_TEXT_CHARS + 1]], dashboard.leads.index.clock.now_ms())
    search = ExploreSearch("", Criteria(), Criteria()).changed(clauses)
    if not unreadable:
        return see_other(search.path)
    problem = "This text is not a search. Write one condition per line, such as @technology(Shopify)."
    return await _show(dashboard, visit, terms, Reading(search, None), problem, 200 if visit.wants_part else 422)


async def _note_count(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, results: Results) -> None:
    """Store how many leads a saved search finds now that somebody opens it: later counts are compared with this one."""
    if results.state not in ("found", "none") or results.estimated:
        return
    try:
        saved = await dashboard.searches.find(reader_of(terms), visit.query.get("saved"))
    except NotFound:
        return
    await dashboard.searches.note_count(saved, results.total)


async def save(dashboard: Dashboard, visit: Visit) -> Response:
    """Save the search of the address under a name."""
    terms = await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)
    reading, name = await read_search(dashboard, visit, terms), name_of(visit.form.get("name"))
    search = reading.search.showing()
    try:
        await dashboard.take_units(visit, terms.caller, COUNTING_UNITS)
        if not name or search.is_empty:
            raise BadRequest([Problem("name", NAME_RULE if not name else "Describe the leads first.")])
        owner, body = await owner_of(dashboard, visit, terms), body_of(search)
        total = await dashboard.leads.count(terms.caller, dashboard.leads.read(body))
        saved = await dashboard.searches.save(owner, name, body, shared=visit.form.get("shared") == "1")
    except BadRequest as error:
        return await _show(dashboard, visit, terms, reading, f"Not saved: {error.problems[0].message}", 422)
    except TooManyRequests as error:
        raise not_bought(error, visit.unit) from error
    await dashboard.searches.note_count(saved, total.count)
    return see_other(f"{search.path}&done=search-saved")


async def buy(dashboard: Dashboard, visit: Visit) -> Response:
    """Charge for the page that the button named, at most at its price; then show it."""
    form = visit.form
    price, back = form.number("price"), own_path(form.get("back"))
    try:
        body = orjson.loads(form.get("body"))
    except orjson.JSONDecodeError:
        body = None
    if price is None or not isinstance(body, dict) or not back.startswith(EXPLORE):
        raise PageRefusal(422, "This form cannot be read", "Nothing was charged. Open the search again.")
    wanted = Wanted(body, form.get("after"), "" if price else form.get("free"))
    request = await charge_visitor(
        dashboard, visit, wanted.retry, lambda caller: wanted.find(dashboard.leads, caller, price)
    )
    return see_other(f"{back}&bought={request}")


PAGES = (
    DeclaredPage("explore", "GET", EXPLORE, show),
    DeclaredPage("explore.save", "POST", EXPLORE, save, role="member"),
    DeclaredPage("explore.buy", "POST", f"{EXPLORE}/buy", buy, role="member"),
)
