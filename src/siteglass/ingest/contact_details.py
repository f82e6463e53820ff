"""Details of the addresses and numbers that leads show: whose each is, the page that showed it last, and its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from siteglass.ingest.domain_summaries import MAX_SHORT_CHARS, MAX_VALUES
from siteglass.ingest.evidence_rows import Contacts
from siteglass.ingest.grouped import ASCENDING, DESCENDING, listed
from siteglass.ingest.ownership import Owner
from siteglass.suppression.pages import page_filter


@dataclass(slots=True)
class _SeenDays:
    """Where and when a value was seen."""

    pages: list[tuple[str, int]] = field(default_factory=list)
    """Addresses with the time of their newest capture, the newest first. Those that are too long are left out."""
    first_ms: int = 2**63 - 1
    last_ms: int = 0


def contact_details(
    domains: Sequence[str],
    emails: Sequence[Sequence[str]],
    phones: Sequence[Sequence[str]],
    found: pa.Table,
    contacts: Contacts,
    owners: Mapping[tuple[str, str, str], Owner],
) -> dict[str, list[Any]]:
    """The columns of details, see `ContactDetail`, for leads that show these values; `found` is their evidence."""
    sightings = _sightings(found)
    columns: dict[str, list[Any]] = {"emails_detail": [], "phones_detail": []}
    for domain, own_emails, own_phones in zip(domains, emails, phones, strict=True):
        hides = page_filter(own_emails, contacts.get((domain, "phone"), {}).keys() - {*own_phones})
        for kind, values in (("email", own_emails), ("phone", own_phones)):
            details = []
            for value in values:
                owner = owners[domain, kind, value]
                seen = sightings[domain, kind, value]
                page, crawled_at_ms = next((one for one in seen.pages if not hides(one[0])), (None, None))
                details.append(
                    {
                        "value": value,
                        "owner": owner.owner,
                        "confidence": owner.confidence,
                        "page": page,
                        "crawled_at_ms": crawled_at_ms,
                        "first_seen_ms": seen.first_ms,
                        "last_seen_ms": seen.last_ms,
                    }
                )
            columns[f"{kind}s_detail"].append(details)
    return columns


def hidden_contacts(
    domains: Sequence[str], contacts: Contacts, owners: Mapping[tuple[str, str, str], Owner]
) -> list[list[str]]:
    """The column of this name, see `Lead`, for leads of these domains."""

    def hidden(domain: str) -> list[str]:
        values = ((kind, value) for kind in ("email", "phone") for value in contacts.get((domain, kind), ()))
        found = ((kind, owners[domain, kind, value]) for kind, value in values)
        return sorted(f"{kind} {owner.party}" for kind, owner in found if not owner.is_shown)[:MAX_VALUES]

    return [hidden(domain) for domain in domains]


def _sightings(found: pa.Table) -> dict[tuple[str, str, str], _SeenDays]:
    """By domain, kind and value, in the order in which the evidence of a lead is returned."""
    ordered = found.sort_by([("last_seen_ms", DESCENDING), ("page", ASCENDING)])
    sightings: dict[tuple[str, str, str], _SeenDays] = {}
    names = ("domain", "kind", "value", "page", "first_seen_ms", "last_seen_ms")
    for domain, kind, value, page, first_ms, last_ms in zip(*(listed(ordered, name) for name in names), strict=True):
        seen = sightings.setdefault((domain, kind, value), _SeenDays())
        seen.first_ms, seen.last_ms = min(seen.first_ms, first_ms), max(seen.last_ms, last_ms)
        if len(page) <= MAX_SHORT_CHARS:
            seen.pages.append((page, last_ms))
    return sightings
