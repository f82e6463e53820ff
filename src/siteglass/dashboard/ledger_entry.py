"""One ledger entry with all that belongs to its request: domain by domain, and what corrected it."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.billing.credits import Mark
from siteglass.billing.receipts import Entry, EntryFilter, entries, of_request
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit
from siteglass.dashboard.ledger import LEDGER
from siteglass.dashboard.refusals import NOT_THERE

# What a domain cost, as somebody asks who looks at a bill.
MARK_WORDS = {
    Mark.CHARGED: ("1 lead credit", "It has an email address."),
    Mark.NO_ADDRESS: ("free", "We have no email address for it."),
    Mark.NOT_FOUND: ("free", "We have no data for this domain."),
    Mark.PAID_BEFORE: ("free", "Your account already received it."),
}
# An enrichment is charged for what is found, with an address or without.
ENRICHED = ("1 lead credit", "We have data for this domain.")
BY_WORDS = {"key": "An API key", "person": "A person", "export": "An export", "operator": "Siteglass"}


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The entry; that of another account is not there."""
    seq, account_id = visit.number("seq"), visit.who.account_id
    postgres = dashboard.backends.postgres
    wanted = EntryFilter(limit=1, before=seq + 1)
    found = await entries(postgres, account_id, wanted)
    if not found or found[0].seq != seq:
        raise NOT_THERE
    entry = found[0]
    together: list[tuple[Entry, list[tuple[str, Mark]]]] = [(entry, [])]
    # Credits that expire have no request: their rows all say the same there.
    if entry.kind != "expire":
        together = await of_request(postgres, account_id, entry.request_id) or together
    domains = next((domains for one, domains in together if one.seq == seq), [])
    return dashboard.page(
        visit,
        "ledger_entry.html",
        entry=entry,
        domains=domains,
        counted=_counted(domains),
        others=[other for other, _ in together if other.seq != seq],
        marks={**MARK_WORDS, Mark.CHARGED: ENRICHED} if entry.operation == "enrich" else MARK_WORDS,
        by=BY_WORDS[entry.by],
    )


def _counted(domains: list[tuple[str, Mark]]) -> str:
    charged = sum(mark is Mark.CHARGED for _, mark in domains)
    return f"{charged:,} charged, {len(domains) - charged:,} free"


PAGES = (DeclaredPage("ledger.entry", "GET", LEDGER + "/{seq}", show),)
