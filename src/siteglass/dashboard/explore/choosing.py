"""What people do with leads that they ticked, and with leads that they bought: get, download, list, leave out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlencode

from starlette.responses import Response

from siteglass.access.browsing import browser_terms
from siteglass.corpus.domains import NotAHost, candidates
from siteglass.dashboard.downloads import file_answer
from siteglass.dashboard.explore.address import EXPLORE
from siteglass.dashboard.explore.buying import charge_visitor, not_bought
from siteglass.dashboard.explore.download import FORMATS, UNREADABLE
from siteglass.dashboard.explore.results import find_bought
from siteglass.dashboard.explore.saved import name_of
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, own_path, see_other
from siteglass.dashboard.refusals import NOT_THERE, PageRefusal
from siteglass.errors import BadRequest, NotFound, TooManyRequests
from siteglass.index.cards import shown_record
from siteglass.leads.charging import Offer
from siteglass.leads.contact_details import shown_field
from siteglass.leads.downloads.columns import COLUMN_SETS, SELECT
from siteglass.leads.downloads.jobs import FileFormat
from siteglass.leads.evidence import find_leads
from siteglass.leads.lists.lists import BUILT_IN, DOWNLOADED, DomainList
from siteglass.leads.single import leads_offer, leads_retry
from siteglass.web.operations import MAX_LIMIT

CHOSEN = f"{EXPLORE}/chosen"
BOUGHT_FILE = f"{EXPLORE}/bought"
LEFT_OUT = "left-out"
"""The list of leads that people leave out by ticking them."""
MAX_BYTES = 40_000
_CONTACTS = ("emails", "phones", "emails_detail", "phones_detail")


async def act(dashboard: Dashboard, visit: Visit) -> Response:
    """Do what the button says with the ticked leads, or with those of a purchase."""
    form, action = visit.form, visit.form.get("do")
    back = own_path(form.get("back"))
    if not back.startswith(EXPLORE):
        raise UNREADABLE
    if action in ("get", "download"):
        request = await _buy(dashboard, visit)
        if action == "get":
            return see_other(f"{back}{'&' if '?' in back else '?'}bought={request}")
        return see_other(f"{BOUGHT_FILE}?{urlencode({'bought': request, 'format': form.get('format')})}")
    if action not in ("list", "leave-out"):
        raise UNREADABLE
    name = LEFT_OUT if action == "leave-out" else name_of(form.get("list"))
    await _keep(dashboard, visit, name, await _listable(dashboard, visit))
    if action == "leave-out":
        return see_other(f"{back}{'&' if '?' in back else '?'}exclude={LEFT_OUT}")
    return see_other(f"/dashboard/lists/{name}?done=list-kept")


def _ticked(visit: Visit) -> list[str]:
    domains = list(dict.fromkeys(visit.form.all("lead")))
    if not 1 <= len(domains) <= MAX_LIMIT:
        message = f"Nothing was charged or changed. Go back and tick 1 to {MAX_LIMIT} leads."
        raise PageRefusal(422, "No leads are ticked", message)
    return domains


async def _buy(dashboard: Dashboard, visit: Visit) -> str:
    """Charge for the ticked leads, at most at the price of the button. Returns the request that was charged."""
    domains, price = _ticked(visit), visit.form.number("price")
    if price is None:
        raise UNREADABLE
    cap = min(price, len(domains))

    async def find() -> Offer:
        try:
            return leads_offer(await find_leads(dashboard.leads.index, dashboard.leads.suppression, domains), cap)
        except NotAHost:
            raise UNREADABLE from None

    return await charge_visitor(dashboard, visit, leads_retry(domains, cap), lambda _caller: find)


async def _listable(dashboard: Dashboard, visit: Visit) -> list[str]:
    """The leads for a list: those of a purchase, or ticked ones as far as the plan shows what they are."""
    who, postgres = visit.who, dashboard.backends.postgres
    if request := visit.form.get("bought"):
        _charge, domains = await find_bought(postgres, who.account_id, request)
    else:
        domains = _ticked(visit)
        terms = await browser_terms(postgres, who.account_id, who.person_id)
        if terms.preview != "named":
            received = await dashboard.leads.lists.received_among(who.account_id, domains)
            domains = [domain for domain in domains if domain in received]
    if not domains:
        message = "Nothing was changed. With your plan, only leads that your account received can be put on a list."
        raise PageRefusal(422, "These leads can't be put on a list", message)
    return domains


async def _keep(dashboard: Dashboard, visit: Visit, name: str, domains: Sequence[str]) -> None:
    """Add leads to a list of the account, which is made if there is none of that name."""
    if not name or name in BUILT_IN:
        message = "Nothing was changed. Use 1 to 63 letters or digits, and not the name of a built-in list."
        raise PageRefusal(422, "This can't be the name of a list", message)
    account_id = visit.who.account_id
    try:
        hosts = [candidates(domain) for domain in domains]
        terms = await browser_terms(dashboard.backends.postgres, account_id, visit.who.person_id)
        await dashboard.take_units(visit, terms.caller, 1)
        await dashboard.lists.add(await find_or_create(dashboard, account_id, name), hosts)
    except NotAHost:
        raise UNREADABLE from None
    except TooManyRequests:
        raise PageRefusal(429, "Too many requests at once", "Nothing was changed. Go back and try again.") from None
    except BadRequest as error:
        raise PageRefusal(422, "Nothing was added to the list", error.message) from None


async def find_or_create(dashboard: Dashboard, account_id: int, name: str) -> DomainList:
    """The list of this name; raises BadRequest if the account has too many."""
    with suppress(NotFound):
        return await dashboard.lists.find(account_id, name)
    try:
        return await dashboard.lists.create(account_id, name)
    except BadRequest as error:
        with suppress(NotFound):  # somebody else created it in between
            return await dashboard.lists.find(account_id, name)
        raise error from None


async def send_file(dashboard: Dashboard, visit: Visit) -> Response:
    """The leads of a purchase as a file: today's records, without contacts that are no longer free."""
    postgres, account_id = dashboard.backends.postgres, visit.who.account_id
    format_, columns = visit.query.get("format") or "csv", visit.query.get("columns") or next(iter(COLUMN_SETS))
    request = visit.query.get("bought")
    charge, domains = await find_bought(postgres, account_id, request) if request else (None, [])
    if charge is None or format_ not in FORMATS or columns not in COLUMN_SETS:
        raise NOT_THERE
    terms = await browser_terms(postgres, account_id, visit.who.person_id)
    try:
        await dashboard.take_units(visit, terms.caller, 1)
    except TooManyRequests as error:
        raise not_bought(error, visit.unit) from error
    records = await find_leads(dashboard.leads.index, dashboard.leads.suppression, domains)
    costly = [record["domain"] for record in records if record["emails"]]
    free = await dashboard.charger.free_leads(terms.caller, costly, frozenset())
    rows = [_row(record, with_contacts=not record["emails"] or record["domain"] in free) for record in records]
    chosen = cast("FileFormat", format_)
    media_type, pieces = await dashboard.download_files.open_records(rows, chosen, columns)
    await dashboard.lists.add(await dashboard.lists.find(account_id, DOWNLOADED), [(domain,) for domain in domains])
    kind = "" if columns == "siteglass" else f"-{columns}"
    return await file_answer(pieces, f"siteglass-leads-{charge.seq}{kind}.{format_}", media_type)


def _row(record: dict[str, Any], *, with_contacts: bool) -> dict[str, Any]:
    shown = shown_record(record)
    row = {name: shown_field(shown, name) for name in SELECT}
    return row if with_contacts else row | {name: [] for name in _CONTACTS}


PAGES = (
    DeclaredPage("explore.chosen", "POST", CHOSEN, act, role="member", max_bytes=MAX_BYTES),
    DeclaredPage("explore.bought", "GET", BOUGHT_FILE, send_file, role="member"),
)
