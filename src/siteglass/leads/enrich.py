"""Operation 2: domains to items, one each, in the order of the request, and what they are to cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from siteglass.billing.credits import Mark
from siteglass.corpus.domains import NotAHost, candidates
from siteglass.index.index import Index
from siteglass.index.lookup import LookupResult, look_up_sites
from siteglass.leads.contact_details import shown_field
from siteglass.leads.responses import EnrichFailed, EnrichFound, EnrichItem, EnrichNotFound
from siteglass.suppression.filter import SuppressionFilter

# Fields that enrichment formats differently from search are stored next to the record.
_OWN = ("spending", "social_accounts")


@dataclass(frozen=True, slots=True)
class EnrichmentResult:
    """The items, and the mark of each lead among them; shown when they are paid."""

    items: list[EnrichItem]
    marks: list[tuple[str, Mark]]


async def enrich(
    index: Index, hidden: SuppressionFilter, domains: Sequence[str], select: Sequence[str]
) -> EnrichmentResult:
    """An item for every domain sent, after one look-up for all. A name that only leads to the website of a lead, an
    alias, is answered with that lead."""
    await hidden.require_fresh()
    wanted: dict[str, tuple[str, ...] | NotAHost] = {}
    for domain in domains:
        try:
            wanted[domain] = candidates(domain)
        except NotAHost as error:
            wanted[domain] = error
    sites = [found for found in wanted.values() if not isinstance(found, NotAHost)]
    looked_up = (await look_up_sites(index, sites)).shown(hidden)
    items = [_item(domain, wanted[domain], looked_up, select) for domain in domains]
    return EnrichmentResult(items, _marks(wanted, looked_up))


def _marks(wanted: dict[str, tuple[str, ...] | NotAHost], looked_up: LookupResult) -> list[tuple[str, Mark]]:
    """Each stored domain that was found is charged once, however often it was asked for."""
    marks: dict[str, Mark] = {}
    for hosts in wanted.values():
        if not isinstance(hosts, NotAHost):
            stored = looked_up.stored(hosts)
            if stored:
                marks[stored] = Mark.CHARGED
            elif stored is None:
                marks.setdefault(hosts[0], Mark.NOT_FOUND)
    return list(marks.items())


def not_found(domain: str) -> EnrichNotFound:
    """The item of a domain that there is no lead of, or none that may be shown."""
    return EnrichNotFound(domain=domain, message=f"No data found for {domain}")


def failed(domain: str) -> EnrichFailed:
    """The item of a domain that could not be looked up."""
    message = "Looking up this domain failed and was not charged. Send it again in a new request."
    return EnrichFailed(domain=domain, message=message)


def _item(
    domain: str, wanted: tuple[str, ...] | NotAHost, looked_up: LookupResult, select: Sequence[str]
) -> EnrichItem:
    if isinstance(wanted, NotAHost):
        return EnrichFailed(domain=domain, message=f"{domain!r} {wanted}")
    stored = looked_up.stored(wanted)
    if stored is None:
        return not_found(domain)
    if not stored:
        return failed(domain)
    return EnrichFound(domain=domain, data=_data(looked_up.records[stored], select))


def _data(record: dict[str, Any], select: Sequence[str]) -> dict[str, Any]:
    own = record["e"]
    return {name: own[name] if name in _OWN else shown_field(record, name) for name in select}
