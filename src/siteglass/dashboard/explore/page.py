"""The Explore page. Opening an address shows a search and never spends; only the form of its button does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import orjson
from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms, chargeable
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
from siteglass.dashboard.explore.chips import make_chips
from siteglass.dashboard.explore.notes import SearchHint, make_hints
from siteglass.dashboard.explore.results import Results, Wanted, failed, find_results
from siteglass.dashboard.explore.values import Panel, count_panel
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, own_path, see_other
from siteglass.dashboard.refusals import NOT_ALLOWED, PageRefusal
from siteglass.errors import (
    BadRequest,
    CreditCapExceeded,
    IdempotencyInProgress,
    InsufficientCredits,
    SiteglassError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from siteglass.leads.lists.lists import PAID
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.query.body import Meaning
from siteglass.query.criteria import Criteria
from siteglass.query.directives import MAX_TEXT_CHARS, print_condition
from siteglass.query.filters import directive_can_say
from siteglass.query.natural import MAX_QUERY_CHARS
from siteglass.web.guard import Call

EXAMPLES = (
    "dentists in Austin without online booking",
    "Shopify stores in Germany with an SEO score below 60",
    "restaurants in London that use WordPress, with a phone number",
)


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
    reading = await read_search(dashboard, visit)
    if visit.wants_part and visit.query.get("part") == "facets":
        return await _show_facets(dashboard, visit, terms, reading.search)
    return await _show(dashboard, visit, terms, reading)


async def read_search(dashboard: Dashboard, visit: Visit) -> Reading:
    """The search of the address."""
    now_ms, words, meaning, problem = dashboard.leads.index.clock.now_ms(), words_of(visit.query), None, ""
    if len(words) > MAX_QUERY_CHARS:
        problem = f"Use at most {MAX_QUERY_CHARS:,} characters; the search has {len(words):,}."
    elif words:
        try:
            meaning = (await dashboard.leads.read({"query": words})).meaning
        except BadRequest as error:
            problem = error.message
    search, unreadable = apply_changes(meaning, visit.query, now_ms)
    return Reading(search, meaning, problem, len(unreadable))


async def _show(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, reading: Reading, problem: str = "", status: int = 200
) -> Response:
    search = reading.search
    results = await _find(dashboard, visit, terms, search)
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
    hints = make_hints(search, reading.meaning)
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
        examples=await _count_examples(dashboard, terms) if results.state == "start" else (),
        text="\n".join(print_condition(one) for one in search.criteria.conditions if directive_can_say(one)),
        max_text_chars=MAX_TEXT_CHARS,
        max_query_chars=MAX_QUERY_CHARS,
        sorts=SORTS,
        counts=COUNTS,
        write_clause=write_clause,
        contact=dashboard.backends.settings.sales_email,
    )


async def _find(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch) -> Results:
    if not search.criteria.conditions and not search.after:
        return Results("empty" if search.words else "start")
    try:
        await take_units(dashboard, visit, terms, 1)
        return await find_results(dashboard.leads, dashboard.charger, terms, search)
    except SiteglassError as error:
        return failed(error)


async def take_units(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, units: int) -> None:
    """Take from the rate limit of the account, which people share with its keys."""
    await dashboard.leads.guard.take(terms.caller, Call(visit.request_id), min(units, terms.caller.burst))


async def _count_examples(dashboard: Dashboard, terms: BrowserTerms) -> list[tuple[str, int | None]]:
    """Searches to begin with, and how many leads each finds now; None if that is not known in time."""
    leads = dashboard.leads

    async def total(words: str) -> int:
        wanted = await leads.read({"query": words, "exclude_lists": [PAID]})
        return (await leads.count(terms.caller, wanted)).count

    found = await asyncio.gather(*map(total, EXAMPLES), return_exceptions=True)
    totals = [None if isinstance(one, BaseException) else one for one in found]
    return list(zip(EXAMPLES, totals, strict=True))


async def _show_facets(dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch) -> Response:
    panel, problem = await _count_facets(dashboard, visit, terms, search)
    return dashboard.page(visit, "explore_facets.html", panel=panel, problem=problem, search=search)


async def _count_facets(
    dashboard: Dashboard, visit: Visit, terms: BrowserTerms, search: ExploreSearch
) -> tuple[Panel | None, str]:
    """The facets, or why there are none."""
    try:
        await take_units(dashboard, visit, terms, COUNTING_UNITS)
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


async def buy(dashboard: Dashboard, visit: Visit) -> Response:
    """Charge for the page that the button named, at most at its price; then show it."""
    form, who = visit.form, visit.who
    price, back = form.number("price"), own_path(form.get("back"))
    try:
        body = orjson.loads(form.get("body"))
    except orjson.JSONDecodeError:
        body = None
    if price is None or not isinstance(body, dict) or not back.startswith(EXPLORE):
        raise PageRefusal(422, "This form cannot be read", "Nothing was charged. Open the search again.")
    postgres = dashboard.backends.postgres
    terms = await browser_terms(postgres, who.account_id, who.person_id)
    caller = await chargeable(postgres, terms.caller, who.person_id, who.name)
    wanted = Wanted(body, form.get("after"))
    try:
        await take_units(dashboard, visit, terms, 1)
        find = wanted.find(dashboard.leads, caller, price)
        await dashboard.charger.charge_once(find, caller, visit.request_id, wanted.retry)
    except Unauthorized:
        raise NOT_ALLOWED from None
    except SiteglassError as error:
        raise _not_bought(error) from error
    return see_other(back)


def _not_bought(error: SiteglassError) -> PageRefusal:
    """Why nothing was charged, or that nobody knows yet."""
    match error:
        case InsufficientCredits():
            message = "Nothing was charged. Your account has too few lead credits. Go back and get fewer leads."
            return PageRefusal(402, "Not enough credits", message)
        case CreditCapExceeded():
            message = (
                "Nothing was charged. The price has risen, or a daily cap is reached. Go back and reload the page."
            )
            return PageRefusal(402, "This costs more than the button said", message)
        case IdempotencyInProgress():
            message = "Nothing is charged twice. Go back to the search in a few seconds: it shows the leads once paid."
            return PageRefusal(409, "This purchase is already being made", message)
        case Unavailable():
            message = "Go back and press the button again. The same page is charged once, whatever happened."
            return PageRefusal(503, "We don't know yet whether this was charged", message)
        case TooManyRequests():
            return PageRefusal(429, "Too many searches at once", "Nothing was charged. Go back and try again.")
    return PageRefusal(422, "This page cannot be bought", f"Nothing was charged. {error.message}")


PAGES = (
    DeclaredPage("explore", "GET", EXPLORE, show),
    DeclaredPage("explore.buy", "POST", f"{EXPLORE}/buy", buy, role="member"),
)
