"""The page of a saved search that is watched, or can be: when it runs, whom it mails, and what its last runs found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms
from siteglass.dashboard.explore.saved import SEARCHES, reader_of
from siteglass.dashboard.forms import SHOWN_AS, Form, FormError
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.errors import BadRequest, NotFound, TooManyRequests
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.leads.requests import further_units
from siteglass.leads.searches.searches import SavedSearch
from siteglass.leads.watches.delivering import explore_path
from siteglass.leads.watches.endpoints import change_watch, create_watch
from siteglass.leads.watches.requests import read_watch_changes
from siteglass.leads.watches.runs import KEPT_FOR, Runs
from siteglass.leads.watches.schedule import EVERY, WEEKDAYS, time_zones
from siteglass.leads.watches.watches import MAX_CEILING, MAX_RECIPIENTS, Terms, Watch

_PATH = SEARCHES + "/{name}/watch"
_OUTCOMES = {
    "baseline": "First run: from here on, leads are new",
    "too_many": "Too many leads match: save a narrower search",
    "unreadable": "A list or value of the search is gone: remove the watch, and watch it again",
}


async def _found(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> tuple[SavedSearch, Watch | None]:
    """The search that the path names, and its watch; raises PageRefusal."""
    reader, name = reader_of(terms), visit.request.path_params["name"]
    try:
        saved = await dashboard.searches.find(reader, name)
    except NotFound:
        raise NOT_THERE from None
    try:
        return saved, await dashboard.watches.find(reader, name)
    except NotFound:
        return saved, None


async def _terms(dashboard: Dashboard, visit: Visit) -> BrowserTerms:
    return await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """When the search runs, and what the runs found."""
    saved, watch = await _found(dashboard, visit, await _terms(dashboard, visit))
    return await _page(dashboard, visit, saved, watch, _shown(visit, watch))


async def _page(
    dashboard: Dashboard,
    visit: Visit,
    saved: SavedSearch,
    watch: Watch | None,
    fields: Mapping[str, str],
    shown: Mapping[str, str] = MappingProxyType({}),
    problem: str = "",
) -> Response:
    settings = dashboard.backends.settings
    return dashboard.page(
        visit,
        "watch.html",
        422 if problem else 200,
        saved=saved,
        watch=watch,
        runs=[] if watch is None else await Runs(dashboard.backends.postgres).of_watch(watch),
        fields=fields,
        shown=shown or fields,
        problem=problem,
        outcomes=_OUTCOMES,
        explore_path=explore_path,
        every=EVERY,
        weekdays=WEEKDAYS,
        time_zones=time_zones(),
        sends_mails=bool(settings.mail_url),
        max_recipients=MAX_RECIPIENTS,
        max_ceiling=MAX_CEILING,
        kept_days=KEPT_FOR.days,
    )


def _shown(visit: Visit, watch: Watch | None) -> dict[str, str]:
    """The fields of the form."""
    terms = Terms(mail_to=(visit.who.email,)) if watch is None else watch.terms
    when = terms.schedule
    return {
        "every": when.every,
        "weekday": WEEKDAYS[when.weekday],
        "hour": str(when.hour),
        "time_zone": when.time_zone,
        "mail_to": ", ".join(terms.mail_to),
        "max_lead_credits": str(terms.max_lead_credits or ""),
        "add_to_list": terms.add_to_list,
        "paused": "1" if terms.paused else "",
    }


def _body(form: Form, before: Terms) -> dict[str, Any]:
    """What a person changed on the form, as the body of a request."""
    body: dict[str, Any] = {
        "every": form.get("every"),
        "weekday": form.get("weekday"),
        "hour": form.number("hour") if form.get("hour") else None,
        "time_zone": form.get("time_zone").strip(),
        "mail_to": _recipients(form, before),
        "add_to_list": form.get("add_to_list").strip(),
        "paused": form.get("paused") == "1",
    }
    return {name: value for name, value in body.items() if form.is_changed(name)}


def _recipients(form: Form, before: Terms) -> list[str] | None:
    """The recipients as they are by now, without those that were removed from the form and with those added to it."""
    if not form.all("mail_to"):
        return None  # a service that sends no email does not ask for them
    given, shown = _addresses(form.get("mail_to")), _addresses(form.get(f"{SHOWN_AS}mail_to"))
    stay = [one for one in before.mail_to if one in given or one not in shown]
    return [*stay, *(one for one in given if one not in shown)]


def _addresses(text: str) -> list[str]:
    return text.lower().replace(",", " ").split()


async def watch_search(dashboard: Dashboard, visit: Visit) -> Response:
    """Watch a search, or change how it is watched."""
    terms = await _terms(dashboard, visit)
    saved, watch = await _found(dashboard, visit, terms)
    try:
        before = Terms() if watch is None else watch.terms
        wanted = _with_ceiling(visit, read_watch_changes(_body(visit.form, before), before))
        if watch is None:
            await dashboard.take_units(visit, terms.caller, COUNTING_UNITS + further_units(saved.search))
            await create_watch(dashboard.leads, dashboard.watches, reader_of(terms), saved, wanted)
            done = "watch-set"
        else:
            after = await change_watch(dashboard.leads, dashboard.watches, watch, wanted, visit.who.person_id)
            done = "watch-changed" if after.buyer_id == wanted.buyer_id else "watch-buys-nothing"
    except (BadRequest, FormError, TooManyRequests) as error:
        now = _shown(visit, watch)
        fields = {name: visit.form.get(name) for name in now}
        shown = {name: visit.form.get(SHOWN_AS + name, value) for name, value in now.items()}
        return await _page(dashboard, visit, saved, watch, fields, shown, f"Not saved: {_message(error)}")
    return see_other(f"{SEARCHES}/{saved.name}/watch?done={done}")


def _with_ceiling(visit: Visit, terms: Terms) -> Terms:
    """The terms with the ceiling of the form. Credits are spent in the name of the person who set it last."""
    if not visit.form.is_changed("max_lead_credits"):
        return terms
    ceiling = visit.form.amount("max_lead_credits", label="At most per run", least=1)
    if ceiling is not None and ceiling > MAX_CEILING:
        raise FormError("max_lead_credits", f"At most per run: at most {MAX_CEILING:,}.")
    if ceiling == terms.max_lead_credits:
        return terms
    return replace(terms, max_lead_credits=ceiling, buyer_id=None if ceiling is None else visit.who.person_id)


def _message(error: BadRequest | FormError | TooManyRequests) -> str:
    return error.problems[0].message if isinstance(error, BadRequest) else str(error)


async def remove(dashboard: Dashboard, visit: Visit) -> Response:
    """Watch the search no longer."""
    _, watch = await _found(dashboard, visit, await _terms(dashboard, visit))
    if watch is None:
        raise NOT_THERE
    await dashboard.watches.delete(watch)
    return see_other(f"{SEARCHES}?done=watch-removed")


PAGES = (
    DeclaredPage("watch", "GET", _PATH, show),
    DeclaredPage("watch.set", "POST", _PATH, watch_search, role="member"),
    DeclaredPage("watch.remove", "POST", _PATH + "/remove", remove, role="member"),
)
