"""The new leads of a run as an account may see them before it pays: without contacts, by the plan's rule and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from siteglass.access.accounts import Preview
from siteglass.access.keys import Caller
from siteglass.errors import Unauthorized
from siteglass.leads import previews
from siteglass.leads.charging import find_offer
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.lists import BUILT_IN
from siteglass.leads.rows import LeadRow, preview_row
from siteglass.leads.watches.runs import Run
from siteglass.leads.watches.watches import Watch, search_new_leads
from siteglass.web.operations import MAX_LIMIT

_SELECT = (
    *("domain", "business_name", "title", "emails", "phones", "country", "state", "city", "technologies", "score"),
    *("trades", "service_type"),
)
_TERMS = """
SELECT a.plan, p.rate_per_s, p.burst, p.preview
FROM {schema}.accounts a JOIN {schema}.plans p ON p.name = a.plan WHERE a.id = $1
"""


@dataclass(frozen=True, slots=True)
class NewLeads:
    """The new leads of a run that are still there."""

    total: int
    shown: Sequence[LeadRow]


async def preview_run(leads: LeadEndpoints, watch: Watch, run: Run) -> NewLeads:
    """The first new leads of a run as they are now, without those that were opted out or stopped matching since.

    Raises BadRequest if a list or value of the search is gone.
    """
    if not run.new_leads:
        return NewLeads(0, ())
    postgres, account_id = leads.index.postgres, watch.account_id
    row = await postgres.fetchrow(_TERMS, account_id)
    if row is None:
        raise Unauthorized
    preview: Preview = "named" if watch.test else row["preview"]
    caller = Caller(account_id, 0, 0, frozenset(("search",)), row["plan"], row["rate_per_s"], row["burst"])
    # Without the built-in lists: they get the new leads as soon as these are bought, which hides none of them.
    exclude = tuple(name for name in watch.lists.exclude if name not in BUILT_IN)
    search = search_new_leads(watch.filters, exclude, run.list_name)
    body = {**search, "limit": MAX_LIMIT, "select": list(_SELECT)}
    now_s = leads.index.clock.now_ms() // 1000
    offer = await find_offer(leads.index.settings, lambda: leads.first_page(caller, body, now_s))
    page = orjson.loads(offer.body)
    records = page["results"]
    costly = [record["domain"] for record in records if record["emails"]]
    known = frozenset(costly)
    if preview != "off" and not watch.test:
        received = await leads.lists.received_among(account_id, costly)
        admitted = await previews.admit(postgres, account_id, [one for one in costly if one not in received])
        known = received | admitted.domains
    shown = [record for record in records if preview != "off" and (not record["emails"] or record["domain"] in known)]
    return NewLeads(page["total_results"], [preview_row(record, preview) for record in shown])
