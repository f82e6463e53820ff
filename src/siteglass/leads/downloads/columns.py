"""The columns of files: all fields of a lead, or those that an import of HubSpot or Salesforce expects.

A value that is unknown is an empty cell. Imports of both leave the existing value alone then, if they are set as the
guide says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from siteglass.corpus.lead import SOCIAL_NETWORKS
from siteglass.query.completion import display_name
from siteglass.query.vocabulary import vocabulary

Record: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = str | int | None

SELECT = (
    "domain", "business_name", "title", "description", "url", "emails", "phones", "language", "country", "state",
    "city", "trades", "service_type", "technologies", "categories_uses", "keywords", "score", "spending",
    "load_time_ms", "social_links", "not_secure", "not_responsive", "missing_sitemap", "missing_schema",
    "missing_robot", "missing_heading", "missing_description", "updated_at", "crawled_at", "emails_detail",
    "phones_detail",
)  # fmt: skip
"""The fields that a download buys: enough for every set of columns, so that a file can be made again with others."""

# Salesforce demands a last name of every lead, and writes this itself where it knows none.
NO_NAME = "[not provided]"
_SEPARATOR = re.compile(r"[-./\u2010-\u2015]")


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and the value of a lead under it."""

    heading: str
    value: Callable[[Record], Cell]


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """The columns of a file."""

    label: str
    hint: str
    columns: Sequence[Column]
    byte_order_mark: bool = True
    """Whether a CSV file starts with the mark by which Excel recognises UTF-8."""

    @property
    def headings(self) -> list[str]:
        return [column.heading for column in self.columns]

    def row(self, record: Record) -> list[Cell]:
        """The cells of a lead."""
        return [column.value(record) for column in self.columns]


def _field(name: str, heading: str = "") -> Column:
    def value(record: Record) -> Cell:
        found = record.get(name)
        if isinstance(found, bool):
            return "yes" if found else "no"
        return found if isinstance(found, int) else found or None

    return Column(heading or name, value)


def _joined(name: str, heading: str = "") -> Column:
    return Column(heading or name, lambda record: "; ".join(record.get(name) or ()) or None)


def _first(name: str, heading: str) -> Column:
    return Column(heading, lambda record: next(iter(record.get(name) or ()), None))


def _last_seen(name: str, heading: str) -> Column:
    """When the first address or number was last seen. Files of leads that were bought before have no details."""
    return Column(heading, lambda record: next((one["last_seen"] for one in record.get(name) or ()), None))


def phone_text(phone: str) -> str:
    """A number that a spreadsheet does not compute: +1-512-555-0100 would be shown as -1166."""
    return " ".join(_SEPARATOR.sub(" ", phone).split())


def _phones(record: Record) -> str | None:
    return "; ".join(map(phone_text, record.get("phones") or ())) or None


def _phone(record: Record) -> str | None:
    return next(map(phone_text, record.get("phones") or ()), None)


def _network(name: str, heading: str = "") -> Column:
    return Column(heading or name, lambda record: (record.get("social_links") or {}).get(name) or None)


def _name(record: Record) -> str:
    return str(record.get("business_name") or record.get("domain") or "")


def _country(record: Record) -> str | None:
    code = record.get("country")
    return display_name("country", code) if code else None


def _state(record: Record) -> str | None:
    country, state = record.get("country"), record.get("state")
    if not state:
        return None
    return vocabulary().states_of(country or "").get(state, state)


def trade_names(record: Record) -> str | None:
    """What the business is, in words."""
    return "; ".join(map(vocabulary().trade_name, record.get("trades") or ())) or None


def _website(record: Record) -> str | None:
    return record.get("url") or (f"https://{record['domain']}" if record.get("domain") else None)


SITEGLASS = ColumnSet(
    "All Siteglass fields",
    "Everything that we know about a lead, one column per field.",
    (
        _field("domain"),
        _field("business_name"),
        _first("emails", "email"),
        _last_seen("emails_detail", "email_last_seen"),
        Column("phone", _phone),
        _last_seen("phones_detail", "phone_last_seen"),
        _joined("emails", "all_emails"),
        Column("all_phones", _phones),
        Column("website", _website),
        Column("trades", trade_names),
        _field("service_type"),
        *map(_field, ("city", "state", "country", "language")),
        *map(_field, ("title", "description")),
        _joined("technologies"),
        _joined("categories_uses", "software_categories"),
        _joined("keywords"),
        _field("score", "seo_score"),
        _field("spending", "ad_spending_usd_a_month"),
        _field("load_time_ms"),
        *map(_network, SOCIAL_NETWORKS),
        *map(_field, ("not_secure", "not_responsive", "missing_sitemap", "missing_schema", "missing_robot")),
        *map(_field, ("missing_heading", "missing_description", "updated_at", "crawled_at")),
    ),
)
HUBSPOT = ColumnSet(
    "HubSpot companies",
    "Named as HubSpot names them. The domain is the key: a company that you have is updated, not added again.",
    (
        _field("domain", "Company Domain Name"),
        Column("Company name", _name),
        Column("Website URL", _website),
        Column("Phone Number", _phone),
        _first("emails", "Email"),
        _field("city", "City"),
        Column("State/Region", _state),
        Column("Country/Region", _country),
        _field("description", "Description"),
        _network("linkedin", "LinkedIn Company Page"),
        _network("facebook", "Facebook Company Page"),
    ),
)
SALESFORCE = ColumnSet(
    "Salesforce leads",
    "Named as Salesforce names them. The domain is in its own column, for your own field that is an external ID.",
    (
        _field("domain", "Domain"),
        Column("Company", _name),
        Column("Last Name", lambda _record: NO_NAME),
        _first("emails", "Email"),
        Column("Phone", _phone),
        Column("Website", _website),
        _field("city", "City"),
        Column("State/Province", _state),
        Column("Country", _country),
        _field("description", "Description"),
        Column("Lead Source", lambda _record: "Siteglass"),
    ),
    # Data Loader would take it for a part of the first heading.
    byte_order_mark=False,
)
COLUMN_SETS = {"siteglass": SITEGLASS, "hubspot": HUBSPOT, "salesforce": SALESFORCE}
