"""From a search to a file: how many leads, as what, and for how much at most."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

import orjson
from msgspec import UNSET
from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms, chargeable
from siteglass.billing.credits import Billing
from siteglass.dashboard.explore.address import DOWNLOAD, SORTS, ExploreSearch, write_clause
from siteglass.dashboard.explore.chips import clause_name
from siteglass.dashboard.explore.page import read_search
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, own_path, see_other
from siteglass.dashboard.refusals import PageRefusal
from siteglass.errors import BadRequest, SiteglassError
from siteglass.leads.downloads.columns import COLUMN_SETS, SELECT
from siteglass.leads.downloads.jobs import MAX_KEPT, Downloads, FileFormat, NewDownload, TooManyDownloads
from siteglass.leads.downloads.uploaded_table import MAX_ROWS
from siteglass.leads.facets import FacetsRequest
from siteglass.leads.operations import COUNTING_UNITS

JOBS = "/dashboard/downloads"
FORMATS = {"xlsx": "Excel (XLSX)", "csv": "CSV"}
MAX_TITLE_CHARS = 200
TOO_MANY = PageRefusal(
    409,
    "Your account keeps too many downloads",
    f"Nothing was charged. An account keeps at most {MAX_KEPT} downloads: delete one under Downloads, then try again.",
)
UNREADABLE = PageRefusal(422, "This form cannot be read", "Nothing was charged. Open the search again.")


@dataclass(frozen=True, slots=True)
class DownloadOffer:
    """What a download of a search would give, and what it costs at most."""

    total: int
    rows: int
    """How many leads were chosen."""
    price: int
    is_exact: bool
    """Whether the price is that of exactly these leads, and not only the highest possible one."""
    left_out: int
    balance: int

    @property
    def is_affordable(self) -> bool:
        return self.price <= self.balance


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The choices, and the price of what is chosen."""
    terms = await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)
    search = (await read_search(dashboard, visit, terms)).search
    if search.is_empty or search.after or search.bought:
        return see_other(search.path)
    offer, problem = None, ""
    try:
        await dashboard.take_units(visit, terms.caller, COUNTING_UNITS)
        offer = await _find_offer(dashboard, terms, search, visit.query.number("rows"))
    except SiteglassError as error:
        problem = error.message if isinstance(error, BadRequest) else "The price could not be counted. Try again."
    return dashboard.page(
        visit,
        "explore_download.html",
        search=search,
        title=_title(search),
        offer=offer,
        problem=problem,
        body=orjson.dumps({**search.filters, "sort": search.sort, "select": list(SELECT)}).decode(),
        form_key=secrets.token_urlsafe(24),
        file_format=_choice(visit.query.get("format"), FORMATS),
        columns=_choice(visit.query.get("columns"), COLUMN_SETS),
        format_choices=[(name, label, "") for name, label in FORMATS.items()],
        column_choices=[(name, chosen.label, chosen.hint) for name, chosen in COLUMN_SETS.items()],
        sort_label=SORTS[search.sort],
        write_clause=write_clause,
        contact=dashboard.backends.settings.sales_email,
        max_rows=MAX_ROWS,
        free_days=dashboard.backends.settings.received_free_days,
    )


def _choice(given: str, known: Mapping[str, object]) -> str:
    return given if given in known else next(iter(known))


def _title(search: ExploreSearch) -> str:
    """What people call the search: its words, or its conditions."""
    named = (*map(clause_name, search.criteria.conditions), *search.lists.only)
    return (search.words or ", ".join(named))[:MAX_TITLE_CHARS]


async def _find_offer(
    dashboard: Dashboard, terms: BrowserTerms, search: ExploreSearch, rows: int | None
) -> DownloadOffer:
    """Count what the search finds and how much of it costs something."""
    leads, caller = dashboard.leads, terms.caller
    wanted = leads.read(search.filters)
    counted, _total = await leads.count_values(caller, FacetsRequest(wanted.meaning, ("has_email",), 1, wanted.lists))
    total, price = counted.total_results, counted.price
    chosen = max(1, min(rows or total, total, MAX_ROWS))
    # Those with an address cost a credit, unless people get them again free of charge.
    free = 0 if price.already_paid is UNSET else price.already_paid
    costly = price.with_email - free
    # Of the first leads of many, nobody knows without reading them which these are: it is at most all.
    highest = chosen if price.estimated else min(chosen, costly)
    left_out = 0
    if not search.with_received:
        every = await leads.count(caller, leads.read(search.showing(with_received=True).filters))
        left_out = 0 if every.estimated else max(0, every.count - total)
    balance = await Billing(dashboard.backends.postgres).balance(caller.account_id)
    is_exact = not price.estimated and (chosen == total or costly == 0)
    return DownloadOffer(total, chosen, highest, is_exact, left_out, balance.lead)


async def start(dashboard: Dashboard, visit: Visit) -> Response:
    """Start the job that is on the screen, for at most the price of its button.

    The button may still say what a larger number costs. Of a larger number than it said, the price is shown first.
    """
    form, who, postgres = visit.form, visit.who, dashboard.backends.postgres
    rows, format_, columns, form_key = form.number("rows"), form.get("format"), form.get("columns"), form.get("form")
    back, again = own_path(form.get("back")), urlencode({"rows": rows or "", "format": format_, "columns": columns})
    said, price, left_out = form.number("said") or 0, form.number("price"), form.number("left_out")
    if not back.startswith(f"{DOWNLOAD}?"):
        raise UNREADABLE
    if rows and said < rows <= MAX_ROWS:
        return see_other(f"{back}&{again}")
    if (
        not (rows and rows <= min(said, MAX_ROWS) and price is not None and left_out is not None)
        or format_ not in FORMATS
        or columns not in COLUMN_SETS
        or not 16 <= len(form_key) <= 64
    ):
        raise UNREADABLE
    try:
        request = orjson.loads(form.get("body"))
        if not isinstance(request, dict):
            raise UNREADABLE
        # Whatever the form says: without all fields, or as a dry run, the job could not keep what it pays for.
        request |= {"select": list(SELECT), "dry_run": False}
        dashboard.leads.read(request)
    except (orjson.JSONDecodeError, BadRequest):
        raise UNREADABLE from None
    terms = await browser_terms(postgres, who.account_id, who.person_id)
    await chargeable(postgres, terms.caller, who.person_id, who.name)
    new = NewDownload(
        who.account_id,
        who.person_id,
        form_key,
        "search",
        form.get("title")[:MAX_TITLE_CHARS],
        orjson.dumps(request).decode(),
        cast("FileFormat", format_),
        columns,
        rows,
        min(price, rows),
        min(left_out, 2**31 - 1),
    )
    try:
        job = await Downloads(postgres).create(new)
    except TooManyDownloads:
        raise TOO_MANY from None
    # After a way back, another number of leads has a price that the form does not say.
    return see_other(JOBS if job.wanted == rows else f"{back}&{again}")


PAGES = (
    DeclaredPage("explore.download", "GET", DOWNLOAD, show, role="member"),
    DeclaredPage("explore.download.start", "POST", DOWNLOAD, start, role="member"),
)
