"""Leads by their domains, at the price of a search: one lead credit for each that has an address, otherwise nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson

from siteglass.billing.credits import Bill, Mark
from siteglass.leads.charging import Offer, Retry
from siteglass.leads.responses import SearchQuote


def leads_offer(records: Sequence[dict[str, Any]], max_credits: int | None = None) -> Offer:
    """Leads that are ready and not yet paid for; with a cap, more is not charged.

    The response that is stored names the leads and nothing else: pages show the records as they are then.
    """
    marks = [(record["domain"], Mark.CHARGED if record["emails"] else Mark.NO_ADDRESS) for record in records]

    def quote(api: int, lead: int) -> SearchQuote:
        return SearchQuote(dry_run=True, api_credits=api, lead_credits=lead, total_results=len(marks))

    # In the form of a search, which is how stored responses are searched for values that are suppressed later.
    results = [{"domain": domain} for domain, _mark in marks]
    body = orjson.dumps({"filters": {}, "size": len(results), "results": results})
    return Offer(Bill("search", 0, marks, max_credits), body, quote, dry_run=False)


def leads_retry(domains: Sequence[str], price: int) -> Retry:
    """The key under which leads are bought: for 24 hours, a button that is pressed again charges nothing.

    With the price, since a lead that was free without an address costs a credit once it has one.
    """
    digest = hashlib.sha256(f"lead {' '.join(domains)} {price}".encode())
    return Retry(f"lead-{digest.hexdigest()}", digest.digest())
