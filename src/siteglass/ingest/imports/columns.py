"""Which column of a table is which field of a lead: by its name, or as a mapping file says."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import msgspec

from siteglass.corpus.lead import SOCIAL_NETWORKS, Lead
from siteglass.corpus.tables import TableError

IGNORE: Final = "ignore"
"""In a mapping file: the column is left out, whatever its name says."""
LIST_FIELDS = frozenset(
    ("keywords", "emails", "phones", "other_profiles", "technologies", "categories_uses", "offers", "trades", "pages",
     "links", "aliases")
)  # fmt: skip
# The loader assigns numbers. The others are what a crawl found out, or follow from other fields.
_NOT_IMPORTED = frozenset(
    ("lead_no", "emails_personal", "email_owner", "email_owner_confidence", "phone_owner", "phone_owner_confidence",
     "emails_detail", "phones_detail", "technologies_detail", "hidden_contacts", "trade_sources", "added", "dropped")
)  # fmt: skip
FIELDS = tuple(field for field in Lead.__struct_fields__ if field not in _NOT_IMPORTED)

# Other names of fields, the surest first: of two columns for one value, the surer one is taken.
_OTHER_NAMES = {
    "domain": "company domain name, domain name, company domain, root domain, web domain, hostname, host, found domain",
    "url": "website, website url, company website, company url, web site, homepage, home page, webseite, web address, "
    "internetadresse, site url, site, web",
    "business_name": "company, company name, business, organization, organisation, organization name, account name, "
    "firma, firmenname, unternehmen, name",
    "emails": "email, e-mail, email address, e-mail address, all emails, company email, contact email, mail, e-mails",
    "phones": "phone, phone number, phone numbers, telephone, telephone number, tel, telefon, telefonnummer, "
    "all phones, company phone, mobile, mobile phone",
    "country": "country/region, country code, country name, land, billing country",
    "state": "state/region, state/province, province, bundesland, region, billing state",
    "city": "town, stadt, ort, locality, billing city",
    "language": "website language, lang, sprache",
    "title": "page title, website title",
    "description": "company description, meta description, about, beschreibung",
    "technologies": "technology, tech stack, web technologies",
    "categories_uses": "software categories",
    "trades": "trade, industry, industries, branche",
    "service_type": "business type",
    "score": "seo score",
    "spending": "ad spending",
    "crawled_at_ms": "crawled at, crawl time, crawled, last crawled",
    "updated_at_ms": "updated at",
    "first_seen_ms": "first seen",
}
_NETWORK_NAMES = ("{}", "{} url", "{} page", "{} profile", "{} company page", "{} link")
_NEGATED = {
    "not_secure": "secure",
    "not_responsive": "responsive",
    "missing_sitemap": "has_sitemap",
    "missing_schema": "has_schema",
    "missing_robot": "has_robots",
    "missing_heading": "has_heading",
    "missing_description": "has_description",
}
_PREFIX = "sg_"
"""Of the columns that enriching an uploaded table adds."""
_RANGES = frozenset(("sg_spending", "ad_spending_usd_a_month"))
"""Columns of downloads that have ranges where a lead has a number."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a column becomes: a field of a lead."""

    field: str
    network: str = ""
    """For `social_links`: the network of the profile."""
    negated: bool = False
    """Whether yes means no: `not_secure` is the opposite of `secure`."""

    @property
    def is_list(self) -> bool:
        return self.field in LIST_FIELDS

    def __str__(self) -> str:
        return f"{'not ' if self.negated else ''}{self.field}{f'.{self.network}' if self.network else ''}"


def _key(name: str) -> str:
    """Names that differ in case, blanks and signs only are the same."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _known_names() -> dict[str, tuple[Target, int]]:
    """Each known name with its target, and how sure it is: the lower, the surer."""
    known = {_key(field): (Target(field), 0) for field in FIELDS}
    known |= {_key(name): (Target(field, negated=True), 0) for name, field in _NEGATED.items()}
    for network in SOCIAL_NETWORKS:
        known |= {_key(name.format(network)): (Target("social_links", network), 0) for name in _NETWORK_NAMES}
    for field, names in _OTHER_NAMES.items():
        for place, name in enumerate(names.split(", "), 1):
            known.setdefault(_key(name), (Target(field), place))
    return known


_KNOWN = _known_names()


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """The columns of a table, which of them are read, and why the others are not."""

    columns: Sequence[str]
    targets: Mapping[int, Target]
    """By the place of the column."""
    ignored: Mapping[int, str]

    def columns_of(self, field: str) -> str:
        """The names of the columns that are read for a field."""
        if field == "domain" and not any(target.field == "domain" for target in self.targets.values()):
            field = "url"
        return " / ".join(self.columns[place] for place, target in self.targets.items() if target.field == field)


def map_columns(columns: Sequence[str], given: Mapping[str, str] | None = None) -> ColumnMapping:
    """What each column becomes; `given` is the content of a mapping file. Raises TableError."""
    wanted = _given_targets(columns, given or {})
    named: dict[int, tuple[Target, int]] = {}
    ignored: dict[int, str] = {}
    for place, column in enumerate(columns):
        if _key(column) in wanted:
            target = wanted[_key(column)]
            if target is None:
                ignored[place] = "the mapping says so"
            else:
                named[place] = (target, -1)
        elif column in _RANGES:
            ignored[place] = "it has ranges, not numbers"
        elif found := _KNOWN.get(_key(column.strip().lower().removeprefix(_PREFIX))):
            named[place] = found
        else:
            ignored[place] = "not the name of a field"
    targets: dict[int, Target] = {}
    taken: dict[Target, int] = {}
    for place, (target, _) in sorted(named.items(), key=lambda one: (one[1][1], one[0])):
        if not target.is_list and taken.setdefault(target, place) != place:
            ignored[place] = f"{target} is read from {columns[taken[target]]!r}"
        else:
            targets[place] = target
    if not any(target.field in ("domain", "url") for target in targets.values()):
        raise TableError(
            f"No column is known to have the domains. The columns are: {', '.join(map(repr, columns))}. Name one of "
            'them domain, or give a mapping file with a line such as "Company site" = "domain": --mapping FILE'
        )
    return ColumnMapping(columns, dict(sorted(targets.items())), dict(sorted(ignored.items())))


def _given_targets(columns: Sequence[str], given: Mapping[str, str]) -> dict[str, Target | None]:
    known_columns = {_key(column): column for column in columns}
    targets: dict[str, Target | None] = {}
    for column, name in given.items():
        if _key(column) not in known_columns:
            raise TableError(
                f"The mapping names the column {column!r}, which the table does not have. The columns are: "
                f"{', '.join(map(repr, columns))}."
            )
        if name == IGNORE:
            targets[_key(column)] = None
            continue
        found = _KNOWN.get(_key(name))
        if found is None:
            near = get_close_matches(name, (*FIELDS, *SOCIAL_NETWORKS), 1)
            hint = f" Did you mean {near[0]}?" if near else f" Fields: {', '.join(FIELDS)}."
            raise TableError(f"The mapping maps {column!r} to {name!r}, which is not a field of a lead.{hint}")
        targets[_key(column)] = found[0]
    return targets


def read_mapping(path: Path) -> dict[str, str]:
    """A mapping file, TOML or JSON by its name: column -> field. Raises TableError."""
    try:
        text = path.read_text("utf-8")
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return msgspec.convert(content, dict[str, str])
    except (ValueError, msgspec.ValidationError) as error:
        raise TableError(
            f'{path}: expected TOML lines such as "Company site" = "domain", or a JSON object of them: {error}'
        ) from None
