"""The page of one lead. Opening it never spends: without a payment that still counts, it shows a price and a button."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from starlette.responses import Response

from siteglass.access.browsing import BrowserTerms, browser_terms
from siteglass.billing.paid import paid_times
from siteglass.dashboard.explore.address import EXPLORE
from siteglass.dashboard.explore.buying import charge_visitor
from siteglass.dashboard.explore.contacts import ContactLine, contact_lines, hidden_lines
from siteglass.dashboard.explore.lead_facts import LeadFacts, lead_facts
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, came_from, see_other
from siteglass.dashboard.refusals import PageRefusal
from siteglass.errors import BadRequest, NotFound, TooManyRequests, Unavailable
from siteglass.leads import previews
from siteglass.leads.charging import Offer
from siteglass.leads.evidence import find_lead, read_sightings
from siteglass.leads.reports import (
    MAX_COMMENT_CHARS,
    MAX_PER_DAY,
    REASONS,
    WrongValue,
    record_report,
    reported_values,
    value_hash,
)
from siteglass.leads.rows import LeadRow, bought_row, preview_row
from siteglass.leads.single import leads_offer, leads_retry
from siteglass.suppression.values import Hasher

LEAD = "/dashboard/leads/{domain}"
NO_LEAD = PageRefusal(
    404, "No lead for this domain", "We know no such business, or may not show it. Search for others."
)


@dataclass(frozen=True, slots=True)
class LeadView:
    """What somebody sees of a lead: all of it because that is free, all but contacts because it must be paid for again,
    or a preview."""

    state: Literal["open", "closed", "preview"]
    domain: str
    """As the address of the page names it, until the lead is paid for."""
    row: LeadRow | None
    """None: the plan has no preview, or the account has seen its new leads of today."""
    paid_at: datetime | None = None
    facts: LeadFacts | None = None
    contacts: tuple[ContactLine, ...] = ()
    hidden: Sequence[str] = ()
    """What is not shown because it is someone else's, a sentence each."""
    imported: datetime | None = None
    """The date of a record that was not read from web pages."""
    price: int = 0
    balance: int = 0


def lead_path(domain: str) -> str:
    """The address of a lead's page."""
    return LEAD.replace("{domain}", quote(domain, safe=""))


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The lead, as far as the account may see it free of charge."""
    terms, view = await _open(dashboard, visit)
    before = came_from(visit.request)
    return dashboard.page(
        visit,
        "lead.html",
        view=view,
        terms=terms,
        path=visit.path,
        reasons=REASONS,
        max_comment_chars=MAX_COMMENT_CHARS,
        back=before if before.startswith(EXPLORE) else EXPLORE,
        contact=dashboard.backends.settings.sales_email,
    )


async def _open(dashboard: Dashboard, visit: Visit) -> tuple[BrowserTerms, LeadView]:
    """What the visitor sees of the lead; raises PageRefusal or Unavailable."""
    terms = await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)
    try:
        await dashboard.take_units(visit, terms.caller, 1)
        async with asyncio.timeout(dashboard.backends.settings.request_timeout_ms / 1000):
            return terms, await _view(dashboard, visit, terms)
    except TimeoutError as error:
        raise Unavailable("the lead was not read before the request's deadline") from error
    except TooManyRequests:
        message = "Nothing was charged. Wait a second, then reload the page."
        raise PageRefusal(429, "Too many pages at once", message) from None


async def _find(dashboard: Dashboard, asked: str) -> dict[str, Any]:
    try:
        return await find_lead(dashboard.leads.index, dashboard.leads.suppression, asked)
    except (BadRequest, NotFound):
        raise NO_LEAD from None


async def _view(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> LeadView:
    asked, caller, index = visit.request.path_params["domain"], terms.caller, dashboard.leads.index
    record = await _find(dashboard, asked)
    domain = record["domain"]
    paid_at = (await paid_times(index.postgres, caller.account_id, [domain])).get(domain)
    offer = leads_offer([record])
    offered = await dashboard.charger.quote(caller, offer.bill)
    if not offered.lead:
        evidence = await read_sightings(index, record)
        lines = await _marked(dashboard, visit, domain, contact_lines(record, evidence))
        has_sources = any(line.seen for line in lines)
        return LeadView(
            "open",
            domain,
            bought_row(record, paid_at),
            paid_at,
            lead_facts(record),
            lines,
            hidden_lines(record),
            None if has_sources or not record["crawled_at"] else datetime.fromisoformat(record["crawled_at"]),
        )
    price, balance = offered.lead, offered.balances.lead
    if paid_at or await dashboard.leads.lists.received_among(caller.account_id, [domain]):
        named = preview_row(record, "named", paid_at)
        return LeadView("closed", domain, named, paid_at, lead_facts(record), price=price, balance=balance)
    return LeadView("preview", asked, await _preview(dashboard, terms, record), price=price, balance=balance)


async def _marked(
    dashboard: Dashboard, visit: Visit, domain: str, lines: Sequence[ContactLine]
) -> tuple[ContactLine, ...]:
    """The lines, each with whether the visitor reported it."""
    postgres, who = dashboard.backends.postgres, visit.who
    reported = await reported_values(postgres, who.account_id, who.person_id, domain)
    if not reported:
        return tuple(lines)
    hasher = Hasher(dashboard.backends.settings)
    return tuple(replace(line, is_reported=value_hash(hasher, line.kind, line.value) in reported) for line in lines)


async def _preview(dashboard: Dashboard, terms: BrowserTerms, record: dict[str, Any]) -> LeadRow | None:
    """What the plan shows of a lead that costs something; it counts as one of the leads of today."""
    if terms.preview == "off":
        return None
    admitted = await previews.admit(dashboard.backends.postgres, terms.caller.account_id, [record["domain"]])
    return preview_row(record, terms.preview) if admitted.domains else None


async def buy(dashboard: Dashboard, visit: Visit) -> Response:
    """Charge for the lead, at most at the price of the button; then show it."""
    domain = (await _find(dashboard, visit.request.path_params["domain"]))["domain"]
    price = visit.form.number("price")
    if price is None:
        raise PageRefusal(422, "This form cannot be read", "Nothing was charged. Open the lead again.")

    async def find() -> Offer:
        return leads_offer([await _find(dashboard, domain)], price)

    await charge_visitor(dashboard, visit, leads_retry([domain], price), lambda _caller: find)
    return see_other(lead_path(domain))


async def report(dashboard: Dashboard, visit: Visit) -> Response:
    """Record that a value is wrong, which the lead shows to this account now."""
    form, who, postgres = visit.form, visit.who, dashboard.backends.postgres
    _terms, view = await _open(dashboard, visit)
    line = next((one for one in view.contacts if (one.kind, one.value) == (form.get("kind"), form.get("value"))), None)
    if line is None:
        message = "Nothing was recorded. The lead no longer shows this value: open its page again."
        raise PageRefusal(404, "This value is not shown any more", message)
    comment = " ".join(form.get("comment").split())
    if form.get("reason") not in REASONS or len(comment) > MAX_COMMENT_CHARS:
        message = f"Nothing was recorded. Choose a reason, and use at most {MAX_COMMENT_CHARS} characters."
        raise PageRefusal(422, "This report cannot be read", message)
    wrong = WrongValue(view.domain, line.kind, line.value, form.get("reason"), comment)
    outcome = await record_report(postgres, Hasher(dashboard.backends.settings), who.account_id, who.person_id, wrong)
    if outcome == "too many":
        message = f"Nothing was recorded. People of your account can report {MAX_PER_DAY} values in 24 hours."
        raise PageRefusal(429, "Too many reports today", message)
    done = "reported" if outcome == "recorded" else "report-known"
    return see_other(f"{lead_path(view.domain)}?done={done}")


PAGES = (
    DeclaredPage("lead", "GET", LEAD, show),
    DeclaredPage("lead.buy", "POST", LEAD + "/buy", buy, role="member"),
    DeclaredPage("lead.report", "POST", LEAD + "/report", report, role="member"),
)
