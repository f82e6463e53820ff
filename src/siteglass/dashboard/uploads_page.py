"""Uploads: a file of domains, to be enriched or kept as a list."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms, chargeable
from siteglass.billing.credits import Billing
from siteglass.corpus.domains import candidates
from siteglass.corpus.tables import TableError
from siteglass.dashboard.explore.choosing import find_or_create
from siteglass.dashboard.explore.download import JOBS, MAX_TITLE_CHARS, TOO_MANY, UNREADABLE
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE, PageRefusal
from siteglass.errors import BadRequest, TooManyRequests, Unavailable
from siteglass.leads.downloads.enriching import find_price, pack_source
from siteglass.leads.downloads.jobs import Downloads, NewDownload, TooManyDownloads
from siteglass.leads.downloads.reading import AlreadyReading
from siteglass.leads.downloads.uploaded_table import MAX_FILE_BYTES, MAX_ROWS, UploadedTable, unpack
from siteglass.leads.downloads.uploads import KEPT_FOR, Uploads
from siteglass.leads.lists.lists import BUILT_IN, NAME
from siteglass.leads.operations import COUNTING_UNITS

UPLOADS = "/dashboard/downloads/uploads"
DOMAINS_AT_ONCE = 2_000
UPLOAD_UNITS = 10
"""Of the rate limit: reading a file takes as long as many searches."""
ROWS_PER_UNIT = 1_000
"""Finding the host of each row and its lead."""
BYTES_PER_UNIT = 2_000
"""Unpacking a kept table: a small one can have two million cells."""
TOO_FAST = PageRefusal(429, "Too many requests at once", "Nothing was charged. Wait a second, then reload the page.")
ONE_AT_A_TIME = PageRefusal(
    429,
    "Another file is being read",
    "This file was not kept. An account's files are read one after the other: upload it again in a few seconds.",
)


async def show(dashboard: Dashboard, visit: Visit, problem: str = "", status: int = 200) -> Response:
    """The form for a file."""
    return dashboard.page(
        visit,
        "uploads.html",
        status,
        problem=problem,
        max_rows=MAX_ROWS,
        max_megabytes=MAX_FILE_BYTES // 1024 // 1024,
        kept_hours=int(KEPT_FOR.total_seconds()) // 3600,
    )


async def receive(dashboard: Dashboard, visit: Visit) -> Response:
    """Read the file, keep its rows and go to what can be done with them."""
    file = visit.form.file
    if file is None or not file.content:
        return await show(dashboard, visit, "Choose a CSV or XLSX file first.", 422)
    terms = await _terms(dashboard, visit)
    try:
        await dashboard.take_units(visit, terms.caller, UPLOAD_UNITS)
        packed = await dashboard.table_reader.read(visit.who.account_id, visit.request_id, file.content)
    except TooManyRequests:
        raise TOO_FAST from None
    except AlreadyReading:
        raise ONE_AT_A_TIME from None
    except TableError as error:
        return await show(dashboard, visit, str(error), 422)
    number = await Uploads(dashboard.backends.postgres).add(visit.who.account_id, file.name, packed)
    return see_other(f"{UPLOADS}/{number}")


@dataclass(frozen=True, slots=True)
class _Opened:
    """An upload, the host of each of its rows, and the terms of the person."""

    number: int
    name: str
    table: UploadedTable
    hosts: list[str]
    terms: BrowserTerms


async def _open(dashboard: Dashboard, visit: Visit) -> _Opened:
    """Unpack an upload. Takes the units that this and looking up its domains cost; raises PageRefusal."""
    number = visit.number("upload_id")
    found = await Uploads(dashboard.backends.postgres).find(visit.who.account_id, number)
    if found is None:
        raise NOT_THERE
    name, packed = found
    terms = await _terms(dashboard, visit)
    units = max(COUNTING_UNITS, min(UPLOAD_UNITS, len(packed) // BYTES_PER_UNIT))
    try:
        await dashboard.take_units(visit, terms.caller, units)
        # In a thread: a large table and its hosts take a third of a second, in which others are served.
        table = await asyncio.to_thread(unpack, packed)
        if (rest := -(-len(table.rows) // ROWS_PER_UNIT) - units) > 0:
            await dashboard.take_units(visit, terms.caller, rest)
    except TooManyRequests:
        raise TOO_FAST from None
    return _Opened(number, name, table, await asyncio.to_thread(lambda: table.domains), terms)


async def _terms(dashboard: Dashboard, visit: Visit) -> BrowserTerms:
    return await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)


async def choose(dashboard: Dashboard, visit: Visit, problem: str = "", status: int = 200) -> Response:
    """What is in an upload, what enriching it costs, and the form that keeps it as a list."""
    opened, price = await _open(dashboard, visit), None
    table = opened.table
    try:
        price = await find_price(dashboard.leads, dashboard.charger, opened.terms.caller, opened.hosts)
    except Unavailable:
        problem = problem or "The price could not be counted. Nothing was charged. Reload the page to try again."
    balance = await Billing(dashboard.backends.postgres).balance(visit.who.account_id)
    lists = [one.name for one in await dashboard.lists.stored(visit.who.account_id) if not one.built_in]
    return dashboard.page(
        visit,
        "upload.html",
        status,
        number=opened.number,
        name=opened.name,
        table=table,
        with_domain=sum(map(bool, opened.hosts)),
        column=_column_name(table),
        price=price,
        balance=balance,
        lists=lists,
        form_key=secrets.token_urlsafe(24),
        problem=problem,
        kept_hours=int(KEPT_FOR.total_seconds()) // 3600,
    )


def _column_name(table: UploadedTable) -> str:
    if table.headings is not None and table.column < len(table.headings) and table.headings[table.column]:
        return table.headings[table.column]
    return f"number {table.column + 1}"


async def enrich(dashboard: Dashboard, visit: Visit) -> Response:
    """Start the job that adds our columns, for at most the price on the button."""
    opened = await _open(dashboard, visit)
    form, who, postgres = visit.form, visit.who, dashboard.backends.postgres
    max_credits, form_key = form.number("price"), form.get("form")
    if max_credits is None or max_credits > MAX_ROWS or not 16 <= len(form_key) <= 64:
        raise UNREADABLE
    table, caller = opened.table, opened.terms.caller
    await chargeable(postgres, caller, who.person_id, who.name)
    price = await find_price(dashboard.leads, dashboard.charger, caller, opened.hosts)
    if not price.found:
        raise PageRefusal(409, "There is nothing to enrich", "Nothing was charged. None of these domains has a lead.")
    new = NewDownload(
        *(who.account_id, who.person_id, form_key, "enrich", opened.name[:MAX_TITLE_CHARS], ""),
        format="csv" if table.delimiter else "xlsx",
        columns="siteglass",
        wanted=price.found,
        max_credits=max_credits,
        source=pack_source(table, price.names),
    )
    try:
        await Downloads(postgres).create(new)
    except TooManyDownloads:
        raise TOO_MANY from None
    return see_other(JOBS)


async def keep(dashboard: Dashboard, visit: Visit) -> Response:
    """Add the domains to a list, which is made if there is none of that name."""
    name = visit.form.get("list").strip().lower().replace(" ", "-")
    if not NAME.fullmatch(name) or name in BUILT_IN:
        taken = " and ".join(f"“{one}”" for one in BUILT_IN)
        problem = f"Name of the list: use letters, digits, - and _, at most 63. {taken} are taken."
        return await choose(dashboard, visit, problem, 422)
    hosts = list(dict.fromkeys(filter(None, (await _open(dashboard, visit)).hosts)))
    try:
        list_ = await find_or_create(dashboard, visit.who.account_id, name)
        for start in range(0, len(hosts), DOMAINS_AT_ONCE):
            part = hosts[start : start + DOMAINS_AT_ONCE]
            list_, _added = await dashboard.lists.add(list_, [candidates(host) for host in part])
    except BadRequest as error:
        return await choose(dashboard, visit, error.message, 422)
    return see_other(f"{JOBS}?done=list-kept")


PAGES = (
    DeclaredPage("uploads", "GET", UPLOADS, show, role="member"),
    DeclaredPage("uploads.receive", "POST", UPLOADS, receive, role="member", max_file_bytes=MAX_FILE_BYTES),
    DeclaredPage("uploads.choose", "GET", UPLOADS + "/{upload_id}", choose, role="member"),
    DeclaredPage("uploads.enrich", "POST", UPLOADS + "/{upload_id}/enrich", enrich, role="member"),
    DeclaredPage("uploads.keep", "POST", UPLOADS + "/{upload_id}/keep", keep, role="member"),
)
