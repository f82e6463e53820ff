"""One lead by its domain, at the price of a search: one lead credit if it has an address, otherwise nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from siteglass.billing.credits import Bill, Mark
from siteglass.leads.charging import Offer, Retry
from siteglass.leads.responses import SearchQuote


def single_offer(record: dict[str, Any], max_credits: int | None = None) -> Offer:
    """A lead that is ready and not yet paid for; with a cap, more is not charged.

    The response that is stored names the lead and nothing else: pages show the record as it is then.
    """
    domain = record["domain"]
    mark = Mark.CHARGED if record["emails"] else Mark.NO_ADDRESS

    def quote(api: int, lead: int) -> SearchQuote:
        return SearchQuote(dry_run=True, api_credits=api, lead_credits=lead, total_results=1)

    # In the form of a search, which is how stored responses are searched for values that are suppressed later.
    body = orjson.dumps({"filters": {}, "size": 1, "results": [{"domain": domain}]})
    return Offer(Bill("search", 0, [(domain, mark)], max_credits), body, quote, dry_run=False)


def single_retry(domain: str, price: int) -> Retry:
    """The key under which a lead is bought: for 24 hours, a button that is pressed again charges nothing.

    With the price, since a lead that was free without an address costs a credit once it has one.
    """
    digest = hashlib.sha256(f"lead {domain} {price}".encode())
    return Retry(f"lead-{digest.hexdigest()}", digest.digest())
