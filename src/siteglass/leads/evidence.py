"""Operation: where and when each address, number and technology of a lead was seen, for an account that paid for it.

Free: the account has paid, and HTTP libraries repeat a GET by themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from siteglass.access.keys import Caller
from siteglass.billing.paid import has_paid
from siteglass.corpus.domains import NotAHost, candidates
from siteglass.corpus.evidence_files import MAX_SIGHTINGS, Sighting, read_evidence
from siteglass.corpus.lead_files import LeadFileError
from siteglass.errors import BadRequest, Forbidden, NotFound, Problem, Unavailable, repeated
from siteglass.index.index import Index
from siteglass.index.lookup import look_up, look_up_sites
from siteglass.index.technology_details import technology_details
from siteglass.suppression.filter import SuppressionFilter
from siteglass.suppression.pages import page_filter

KINDS = {"email": "emails", "phone": "phones"}
"""What evidence is kept of, and the field of a lead that shows it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The values that the lead shows now, each with its sightings, the newest first."""

    domain: str
    values: dict[str, list[tuple[str, list[Sighting]]]]
    """By field, in the order of the lead."""
    technologies: list[dict[str, Any]] = field(default_factory=list)
    """As `technologies_detail` shows them."""


async def evidence(index: Index, hidden: SuppressionFilter, caller: Caller, asked: str) -> Evidence:
    """Of the lead that an enrichment of this domain would find. Raises BadRequest, NotFound or Forbidden."""
    record = await find_lead(index, hidden, asked)
    if not await has_paid(index.postgres, caller.account_id, record["domain"]):
        raise Forbidden(unpaid=candidates(asked)[0])  # which lead an alias leads to is part of what is paid for
    return await read_sightings(index, record)


async def evidence_of(index: Index, hidden: SuppressionFilter, asked: str) -> Evidence:
    """The same for every caller."""
    return await read_sightings(index, await find_lead(index, hidden, asked))


async def find_lead(index: Index, hidden: SuppressionFilter, asked: str) -> dict[str, Any]:
    """The stored record that an enrichment of this domain would find. Raises BadRequest, NotFound or Unavailable."""
    try:
        hosts = candidates(asked)
    except NotAHost as error:
        raise BadRequest([Problem("domain", f"{repeated(asked)} {error}")]) from None
    await hidden.require_fresh()
    found = await look_up_sites(index, [hosts])
    shown = {domain: kept for domain, record in found.records.items() if (kept := hidden.shown(record)) is not None}
    looked_up = found.shown(hidden, shown)
    if looked_up.failed:
        raise Unavailable("the look-up failed")
    stored = looked_up.stored(hosts)
    if stored is None:
        raise NotFound(asked, missing="lead")
    return looked_up.records[stored]


async def find_leads(index: Index, hidden: SuppressionFilter, domains: Sequence[str]) -> list[dict[str, Any]]:
    """The records of these leads in their order, as they are today; without those that are gone or opted out."""
    await hidden.require_fresh()
    found = await look_up(index, domains)
    if found.failed:
        raise Unavailable("the look-up failed")
    shown = {domain: hidden.shown(record) for domain, record in found.records.items()}
    return [record for domain in domains if (record := shown.get(domain)) is not None]


async def read_sightings(index: Index, record: dict[str, Any]) -> Evidence:
    """Where the values of a record were seen."""
    domain = record["domain"]
    try:
        seen = await asyncio.to_thread(read_evidence, index.settings.lead_store, record["src"], domain)
    except LeadFileError as error:
        raise Unavailable(f"the evidence cannot be read: {error}") from error
    return Evidence(domain, told(record, seen), technology_details(record))


def told(record: dict[str, Any], seen: Sequence[Sighting]) -> dict[str, list[tuple[str, list[Sighting]]]]:
    """The contacts of a record, with where they were seen. Suppressed contacts are not in the record, and so not
    returned.

    Nor is a page whose own address holds such a value.
    """
    others = {one.value for one in seen if one.kind == "phone"}.difference(record["phones"])
    hides = page_filter(record["emails"], others)
    by_value: dict[tuple[str, str], list[Sighting]] = {}
    for one in sorted(seen, key=lambda one: (-one.last_seen_ms, one.page, one.method)):
        if not hides(one.page):
            by_value.setdefault((one.kind, one.value), []).append(one)
    return {
        name: [(value, by_value.get((kind, value), [])[:MAX_SIGHTINGS]) for value in record[name]]
        for kind, name in KINDS.items()
    }
