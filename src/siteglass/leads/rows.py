"""Leads as rows of a table: in full once they are paid for, before that only what the plan's preview shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from siteglass.access.accounts import Preview
from siteglass.query.completion import display_name
from siteglass.query.vocabulary import vocabulary
from siteglass.suppression.redaction import without_contacts

TECHNOLOGIES_SHOWN = 2


@dataclass(frozen=True, slots=True)
class LeadRow:
    """A lead. A masked one has no name, domain, title or contact."""

    kind: str
    """What the business is, such as Dentist."""
    place: str
    technologies: str
    score: int | None
    contacts: str
    """How many there are, in words."""
    name: str = ""
    domain: str = ""
    title: str = ""
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    paid_at: datetime | None = None
    """When the account paid for it last, if it did."""
    cost: int = 0
    """The lead credits that getting it takes."""
    is_counted_out: bool = False
    """Whether it came after the leads of today: the row has only what the search itself says."""


def unseen_row(says: str) -> LeadRow:
    """A lead that costs a credit, of which only what the search says may be shown."""
    return LeadRow(says, "", "", None, "With email", cost=1, is_counted_out=True)


def preview_row(record: Mapping[str, Any], preview: Preview, paid_at: datetime | None = None) -> LeadRow:
    """A lead without its contacts, which sites also write into their titles and names."""
    named: dict[str, Any] = {}
    if preview == "named":
        title, name = without_contacts(record["title"]), without_contacts(str(record["business_name"]))
        named = {"name": name.strip() or record["domain"], "domain": record["domain"], "title": title}
    return LeadRow(**_facts(record), **named, paid_at=paid_at, cost=1)


def bought_row(record: Mapping[str, Any], paid_at: datetime | None = None) -> LeadRow:
    """A lead with its contacts."""
    return LeadRow(
        **_facts(record),
        name=_name(record),
        domain=record["domain"],
        title=record["title"],
        emails=tuple(record["emails"]),
        phones=tuple(record["phones"]),
        paid_at=paid_at,
    )


def _facts(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": _kind(record),
        "place": _place(record),
        "technologies": _technologies(record["technologies"]),
        "score": record["score"],
        "contacts": _contacts(len(record["emails"]), len(record["phones"])),
    }


def _name(record: Mapping[str, Any]) -> str:
    return str(record["business_name"] or record["domain"])


def _kind(record: Mapping[str, Any]) -> str:
    if record["trades"]:
        return vocabulary().trade_name(record["trades"][0])
    return str(record["service_type"] or "Business")


def _place(record: Mapping[str, Any]) -> str:
    """Austin, TX for what is in the United States; Berlin, Germany for the rest."""
    country = record["country"]
    if country == "USA":
        parts = [record["city"], record["state"] or "US"]
    else:
        parts = [record["city"] or record["state"], display_name("country", country) if country else ""]
    return ", ".join(part for part in parts if part)


def _technologies(names: list[str]) -> str:
    shown, more = names[:TECHNOLOGIES_SHOWN], len(names) - TECHNOLOGIES_SHOWN
    return f"{', '.join(shown)}{f' +{more}' if more > 0 else ''}"


def _contacts(emails: int, phones: int) -> str:
    parts = [f"{emails} email{'s' if emails > 1 else ''}" if emails else "No email"]
    if phones:
        parts.append(f"{phones} phone{'s' if phones > 1 else ''}")
    if not emails:
        parts.append("free")
    return " · ".join(parts)
