"""What a job would cost now. Many domains are estimated from a sample: looking all of them up takes too long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from siteglass.access.keys import Caller
from siteglass.billing.credits import Bill, Mark
from siteglass.leads.charging import AccountCharger
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.jobs.requests import JobRequest
from siteglass.leads.jobs.responses import JobQuote
from siteglass.leads.search import SearchRequest

MAX_LOOKED_UP = 2_000
_LOOK_UP_AT_ONCE = 500
_PICKED = ("domain",)


async def enrichment_price(
    leads: LeadEndpoints, charger: AccountCharger, caller: Caller, domains: Sequence[str]
) -> JobQuote:
    """The price of enriching these domains, exact up to MAX_LOOKED_UP of them."""
    # The same sample each time, so that asking again does not change the price.
    picking = random.Random(0)  # noqa: S311 - not a secret
    sample = domains if len(domains) <= MAX_LOOKED_UP else picking.sample(domains, MAX_LOOKED_UP)
    marks: dict[str, Mark] = {}
    for start in range(0, len(sample), _LOOK_UP_AT_ONCE):
        found = await leads.find_domains(list(sample[start : start + _LOOK_UP_AT_ONCE]), _PICKED)
        marks |= dict(found.marks)
    bill = Bill("enrich", 1, list(marks.items()))
    price = await charger.quote(caller, bill)
    share = len(domains) / len(sample)
    return JobQuote(
        dry_run=True,
        api_credits=price.api,
        lead_credits=round(price.lead * share),
        total=len(domains),
        found=round(len(bill.leads) * share),
        estimated=len(sample) < len(domains),
    )


async def search_price(leads: LeadEndpoints, caller: Caller, wanted: JobRequest, search: SearchRequest) -> JobQuote:
    """The price of the leads of a search: a credit for each that has an address, at most."""
    body = wanted.search or {}
    # The filter may replace what a sentence says about addresses; `strict` would refuse that.
    with_email = leads.read({**body, "has_email": True, "strict": False})
    no_email = body.get("has_email") is False
    every, costly = await asyncio.gather(leads.count(caller, search), leads.count(caller, with_email))
    total = min(every.count, wanted.max_leads)
    return JobQuote(
        dry_run=True,
        api_credits=0,
        lead_credits=0 if no_email else min(total, costly.count),
        total=total,
        found=every.count,
        estimated=every.estimated or costly.estimated,
    )
