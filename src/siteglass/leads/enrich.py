"""Operation 2: domains to items, one each, in the order of the request, and what they are to cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from msgspec import Raw, Struct

from siteglass.billing.credits import Mark
from siteglass.corpus.domains import NotAHost, candidates
from siteglass.index.cards import (
    ENRICH_OWN,
    enrichment_object,
    needs_source,
    rebuild_record,
    select_fields,
    shown_record,
)
from siteglass.index.hits import Hit, NoCards, ShardsFailed
from siteglass.index.index import Index
from siteglass.index.lookup import LookupResult, TooManyHolders, look_up_cards, look_up_sites
from siteglass.leads.contact_details import shown_field
from siteglass.leads.responses import EnrichFailed, EnrichFound, EnrichItem, EnrichNotFound
from siteglass.suppression.filter import SuppressionFilter

# From so many names on, one search that reads cards is faster than a look-up by ids.
CARDS_FROM = 20

Data = dict[str, Any] | Struct


@dataclass(frozen=True, slots=True)
class EnrichmentResult:
    """The items, and the mark of each lead among them; shown when they are paid."""

    items: list[EnrichItem]
    marks: list[tuple[str, Mark]]
    stored: dict[str, str]
    """The domain of the lead that each domain sent was answered with."""
    is_partial: bool = False
    """Whether the look-up of some domains failed."""


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
    looked_up = await _look_up(index, hidden, sites, tuple(select))
    items = [_item(domain, wanted[domain], looked_up) for domain in domains]
    stored = {domain: looked_up.stored(hosts) for domain, hosts in wanted.items() if not isinstance(hosts, NotAHost)}
    found = {domain: lead for domain, lead in stored.items() if lead}
    return EnrichmentResult(items, _marks(wanted, looked_up), found, is_partial="" in stored.values())


def without_address(enriched: EnrichmentResult) -> frozenset[str]:
    """The leads among these that have no address; `emails` must have been selected."""
    found = (item for item in enriched.items if isinstance(item, EnrichFound))
    return frozenset(enriched.stored[item.domain] for item in found if not _has_address(item.data))


def _has_address(data: Data) -> bool:
    emails = data["emails"] if isinstance(data, dict) else data.emails  # type: ignore[attr-defined]  # made by select
    return bytes(emails) != b"[]" if isinstance(emails, Raw) else bool(emails)


async def _look_up(
    index: Index, hidden: SuppressionFilter, sites: Sequence[Sequence[str]], select: tuple[str, ...]
) -> LookupResult[Data]:
    """The selected data of websites, without what must not be shown."""
    if len(sites) >= CARDS_FROM and not needs_source(select):
        try:
            found = await look_up_cards(index, sites)
        except (NoCards, ShardsFailed, TooManyHolders):
            pass  # looked up one by one, those that can be are
        else:
            return found.shown(hidden, data_of_hits(found.records.values(), hidden, select))
    stored = await look_up_sites(index, sites)
    return stored.shown(hidden, _data_of_records(map(shown_record, stored.records.values()), hidden, select))


def data_of_hits(hits: Iterable[Hit], hidden: SuppressionFilter, select: tuple[str, ...]) -> dict[str, Data]:
    """The selected data of the leads that may be shown. Most is taken from the bytes that the index has."""
    unchanged: dict[str, bytes] = {}
    rebuilt: list[dict[str, Any]] = []
    for hit in hits:
        if hit.rest is None:
            raise ValueError("an enrichment needs all fields of a lead")
        if hidden.may_change(hit.domain, hit.card.country):
            rebuilt.append(rebuild_record(hit.card, hit.rest))
        else:
            unchanged[hit.domain] = enrichment_object(hit.card, hit.rest)
    selected = select_fields(list(unchanged.values()), select)
    return {**dict(zip(unchanged, selected, strict=True)), **_data_of_records(rebuilt, hidden, select)}


def _data_of_records(
    records: Iterable[dict[str, Any]], hidden: SuppressionFilter, select: tuple[str, ...]
) -> dict[str, Data]:
    data: dict[str, Data] = {}
    for record in records:
        kept = hidden.shown(record)
        if kept is not None:
            own = kept["e"]
            data[kept["domain"]] = {
                name: own[name] if name in ENRICH_OWN else shown_field(kept, name) for name in select
            }
    return data


def _marks(wanted: dict[str, tuple[str, ...] | NotAHost], looked_up: LookupResult[Data]) -> list[tuple[str, Mark]]:
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


def _item(domain: str, wanted: tuple[str, ...] | NotAHost, looked_up: LookupResult[Data]) -> EnrichItem:
    if isinstance(wanted, NotAHost):
        return EnrichFailed(domain=domain, message=f"{domain!r} {wanted}")
    stored = looked_up.stored(wanted)
    if stored is None:
        return not_found(domain)
    if not stored:
        return failed(domain)
    return EnrichFound(domain=domain, data=cast("dict[str, Any]", looked_up.records[stored]))
