"""The pages of lists: all of them, and one with its domains. People paste domains; the API and downloads add others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.responses import Response

from siteglass.access.browsing import browser_terms
from siteglass.dashboard.downloads import file_answer
from siteglass.dashboard.explore.saved import MAX_NAME_CHARS, NAME_RULE, name_of
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE, PageRefusal
from siteglass.errors import BadRequest, NotFound, Problem, TooManyRequests
from siteglass.leads.lists.lists import BUILT_IN, DOWNLOADED, MAX_LIST_DOMAINS, PAID, RECEIVED, DomainList
from siteglass.leads.lists.operations import DOMAINS_PER_UNIT
from siteglass.leads.lists.requests import MAX_DOMAINS_SENT, ReadDomains, read_domains

LISTS = "/dashboard/lists"
ONE = LISTS + "/{name}"
PAGE_DOMAINS = 100
FILE_DOMAINS = 5_000
MAX_PASTED = 10_000
MAX_PASTED_BYTES = 1_000_000
"""Ten thousand long domains, with their line breaks encoded."""
INVALID_SHOWN = 5
PURPOSES = {
    DOWNLOADED: "Leads that people of your account have downloaded.",
    PAID: "Leads that your account has paid for.",
    RECEIVED: "Leads that your account has received. Searches in Explore leave them out unless you include them.",
}
_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class ListRow:
    """A list, and how many of its domains have a lead."""

    list: DomainList
    leads: int

    @property
    def unknown(self) -> int:
        """Domains without a lead so far."""
        return self.list.domains - self.leads


async def _row(dashboard: Dashboard, list_: DomainList) -> ListRow:
    return ListRow(list_, len(await dashboard.lists.bitmap(list_.id, list_.revision)))


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """All lists, and the form for a new one."""
    return await _all(dashboard, visit)


async def _all(dashboard: Dashboard, visit: Visit, problem: str = "") -> Response:
    rows = [await _row(dashboard, one) for one in await dashboard.lists.of_account(visit.who.account_id)]
    return dashboard.page(
        visit,
        "lists.html",
        422 if problem else 200,
        built_in=[row for row in rows if row.list.built_in],
        purposes=PURPOSES,
        own=[row for row in rows if not row.list.built_in],
        problem=problem,
        name=visit.form.get("name"),
        pasted=visit.form.get("domains"),
        max_name_chars=MAX_NAME_CHARS,
        max_pasted=MAX_PASTED,
    )


async def create(dashboard: Dashboard, visit: Visit) -> Response:
    """A new list, with the pasted domains."""
    name = name_of(visit.form.get("name"))
    try:
        if not name:
            raise BadRequest([Problem("name", NAME_RULE)])
        if name in BUILT_IN:
            raise BadRequest([Problem("name", f"{name} is a built-in list; choose another name")])
        pasted = await _pasted(visit)
        await _take(dashboard, visit, pasted)
        if name in {one.name for one in await dashboard.lists.stored(visit.who.account_id)}:
            raise BadRequest([Problem("name", f"there is a list {name} already; open it to add domains")])
        made = await dashboard.lists.create(visit.who.account_id, name)
    except BadRequest as error:
        return await _all(dashboard, visit, f"Not created: {error.problems[0].message}")
    answer = await _change(dashboard, visit, made, pasted, "add")
    # What is not a domain is named once, on the page that comes as the answer.
    return answer if pasted.invalid else see_other(f"{LISTS}/{name}?done=list-created")


async def _pasted(visit: Visit) -> ReadDomains:
    """The domains that somebody pasted, one per line or with commas; raises BadRequest if they are too many."""
    texts = [text for text in _BETWEEN.split(visit.form.get("domains")) if text]
    if len(texts) > MAX_PASTED:
        message = f"paste at most {MAX_PASTED:,} domains at once, these are {len(texts):,}"
        raise BadRequest([Problem("domains", message)])
    return await asyncio.to_thread(read_domains, texts)


async def _take(dashboard: Dashboard, visit: Visit, pasted: ReadDomains) -> None:
    """Take from the rate limit what the API takes for as many domains."""
    terms = await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)
    count = len(pasted.hosts) + len(pasted.invalid)
    try:
        await dashboard.take_units(visit, terms.caller, max(1, -(-count // DOMAINS_PER_UNIT)))
    except TooManyRequests as error:
        message = "Nothing was changed. Go back, wait a few seconds, and try again."
        raise PageRefusal(429, "Too many requests at once", message) from error


async def _found(dashboard: Dashboard, visit: Visit) -> DomainList:
    """The list that the path names; raises PageRefusal."""
    try:
        return await dashboard.lists.find(visit.who.account_id, visit.request.path_params["name"])
    except NotFound:
        raise NOT_THERE from None


async def _own(dashboard: Dashboard, visit: Visit) -> DomainList:
    """The same, if people may change it."""
    list_ = await _found(dashboard, visit)
    if list_.built_in:
        message = f"Siteglass fills the list {list_.name}. Create another list for your domains."
        raise PageRefusal(422, "This list can't be changed", message)
    return list_


async def show_one(dashboard: Dashboard, visit: Visit) -> Response:
    """A list with a page of its domains."""
    return await _one(dashboard, visit, await _found(dashboard, visit))


async def _one(dashboard: Dashboard, visit: Visit, list_: DomainList, report: str = "", problem: str = "") -> Response:
    after = visit.query.get("after")
    domains = await dashboard.lists.domains(list_, after, PAGE_DOMAINS + 1)
    return dashboard.page(
        visit,
        "list.html",
        422 if problem else 200,
        row=await _row(dashboard, list_),
        purposes=PURPOSES,
        domains=domains[:PAGE_DOMAINS],
        has_more=len(domains) > PAGE_DOMAINS,
        is_first=not after,
        report=report,
        problem=problem,
        pasted=visit.form.get("domains") if problem else "",
        max_pasted=MAX_PASTED,
    )


async def change(dashboard: Dashboard, visit: Visit) -> Response:
    """Add the pasted domains, or remove them."""
    list_ = await _own(dashboard, visit)
    try:
        pasted = await _pasted(visit)
        if not pasted.hosts and not pasted.invalid:
            raise BadRequest([Problem("domains", "paste one domain per line")])
    except BadRequest as error:
        return await _one(dashboard, visit, list_, problem=f"Nothing was changed: {error.problems[0].message}.")
    await _take(dashboard, visit, pasted)
    return await _change(dashboard, visit, list_, pasted, visit.form.get("action"))


async def _change(dashboard: Dashboard, visit: Visit, list_: DomainList, pasted: ReadDomains, action: str) -> Response:
    if action == "add" and list_.domains + len(pasted.hosts) > MAX_LIST_DOMAINS:
        problem = f"Nothing was added: a list has at most {MAX_LIST_DOMAINS:,} domains. Use another list for the rest."
        return await _one(dashboard, visit, list_, problem=problem)
    work = dashboard.lists.add if action == "add" else dashboard.lists.remove
    changed = 0
    for start in range(0, len(pasted.hosts), MAX_DOMAINS_SENT):
        list_, part = await work(list_, pasted.hosts[start : start + MAX_DOMAINS_SENT])
        changed += part
    return await _one(dashboard, visit, list_, _report(pasted, changed, action))


def _report(pasted: ReadDomains, changed: int, action: str) -> str:
    """What became of the pasted domains, in words."""
    rest = len(pasted.hosts) - changed
    parts = [f"{_domains(changed)} {'added' if action == 'add' else 'removed'}."]
    if rest:
        parts.append(f"{rest:,} {'were' if rest > 1 else 'was'} {'already' if action == 'add' else 'not'} on the list.")
    if pasted.invalid:
        texts = ", ".join(f"“{text[:60]}”" for text, _why in pasted.invalid[:INVALID_SHOWN])
        more = len(pasted.invalid) - INVALID_SHOWN
        parts.append(f"Not a domain: {texts}{f' and {more:,} more' if more > 0 else ''}.")
    return " ".join(parts)


def _domains(count: int) -> str:
    return f"{count:,} domain{'' if count == 1 else 's'}"


async def delete(dashboard: Dashboard, visit: Visit) -> Response:
    """Delete a list with its domains."""
    await dashboard.lists.delete(await _own(dashboard, visit))
    return see_other(f"{LISTS}?done=list-deleted")


async def download(dashboard: Dashboard, visit: Visit) -> Response:
    """All domains as a text file, one per line."""
    list_ = await _found(dashboard, visit)

    async def pieces() -> AsyncIterator[bytes]:
        after = ""
        while domains := await dashboard.lists.domains(list_, after, FILE_DOMAINS):
            after = domains[-1]
            yield "".join(f"{domain}\n" for domain in domains).encode()

    return await file_answer(pieces(), f"siteglass-list-{list_.name}.txt", "text/plain; charset=utf-8")


PAGES = (
    DeclaredPage("lists", "GET", LISTS, show),
    DeclaredPage("list.create", "POST", LISTS, create, role="member", max_bytes=MAX_PASTED_BYTES),
    DeclaredPage("list", "GET", ONE, show_one),
    DeclaredPage("list.change", "POST", ONE, change, role="member", max_bytes=MAX_PASTED_BYTES),
    DeclaredPage("list.delete", "POST", ONE + "/delete", delete, role="member"),
    DeclaredPage("list.file", "GET", ONE + "/domains.txt", download),
)
