"""Details of the addresses and numbers that leads show: the owner, and the page that showed each of them last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from siteglass.ingest.domain_summaries import MAX_SHORT_CHARS, MAX_VALUES
from siteglass.ingest.evidence_rows import Contacts
from siteglass.ingest.grouped import ASCENDING, DESCENDING, listed
from siteglass.ingest.ownership import Owner
from siteglass.suppression.pages import page_filter

_Pages = dict[tuple[str, str, str], list[tuple[str, int]]]
"""Domain, kind and value -> pages with the time of their newest capture."""


def contact_details(
    domains: Sequence[str],
    emails: Sequence[Sequence[str]],
    phones: Sequence[Sequence[str]],
    found: pa.Table,
    contacts: Contacts,
    owners: Mapping[tuple[str, str, str], Owner],
) -> dict[str, list[Any]]:
    """The columns of details, see `ContactDetail`, for leads that show these values; `found` is their evidence."""
    pages = _newest_first(found)
    columns: dict[str, list[Any]] = {"emails_detail": [], "phones_detail": []}
    for domain, own_emails, own_phones in zip(domains, emails, phones, strict=True):
        hides = page_filter(own_emails, contacts.get((domain, "phone"), {}).keys() - {*own_phones})
        for kind, values in (("email", own_emails), ("phone", own_phones)):
            details = []
            for value in values:
                owner = owners[domain, kind, value]
                seen = (one for one in pages[domain, kind, value] if not hides(one[0]))
                page, crawled_at_ms = next(seen, (None, None))
                details.append(
                    {
                        "value": value,
                        "owner": owner.owner,
                        "confidence": owner.confidence,
                        "page": page,
                        "crawled_at_ms": crawled_at_ms,
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


def _newest_first(found: pa.Table) -> _Pages:
    """In the order in which the evidence of a lead is returned."""
    ordered = found.sort_by([("last_seen_ms", DESCENDING), ("page", ASCENDING)])
    pages: _Pages = {}
    names = ("domain", "kind", "value", "page", "last_seen_ms")
    for domain, kind, value, page, seen_ms in zip(*(listed(ordered, name) for name in names), strict=True):
        seen = pages.setdefault((domain, kind, value), [])
        if len(page) <= MAX_SHORT_CHARS:
            seen.append((page, seen_ms))
    return pages
