"""The last step of the merge, in workers of Spark: captures of a part to its files of leads and of evidence.

What asks tables of Python is done here, a column at a time: order of addresses, categories, score, spending. No address
is in a lead without evidence: it is taken from there, and looked for once more before anything is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.evidence_files import write_evidence
from siteglass.corpus.lead_files import LEAD_SCHEMA, ROW_GROUP_SIZE, batch_of, leads_of, replacing, unknown_column
from siteglass.corpus.trade_rules import Candidate, decide
from siteglass.ingest.aliases import NO_ALIASES, Aliases, with_aliases
from siteglass.ingest.contact_details import contact_details, hidden_contacts
from siteglass.ingest.content import PREVIOUS_SCHEMA, content_hashes
from siteglass.ingest.domain_summaries import MAX_VALUES, together
from siteglass.ingest.evidence_rows import (
    Contacts,
    addresses_screened,
    contacts_of,
    evidence,
    in_order,
    shown_evidence,
)
from siteglass.ingest.facts import NAMED
from siteglass.ingest.grouped import listed
from siteglass.ingest.ownership import Owner, owners_of
from siteglass.ingest.rules import Rules, rules_of
from siteglass.ingest.service_types import SiteTexts, service_type
from siteglass.ingest.signals import NO_PAGE
from siteglass.ingest.sources import PRECEDENCE, divided, with_records
from siteglass.ingest.store.shared_values import SHARED_OWNER, SharedValues, is_shared
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.query.vocabulary import vocabulary
from siteglass.suppression.redaction import names

MAX_CATEGORIES = 200
MAX_SPENDING = 2**33


class PartReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a part."""

    leads: int
    evidence: int
    unchanged: int
    dropped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Finishing:
    """How captures become leads; goes to workers as it is."""

    out: Path
    rules: str
    suppressed: SuppressionSnapshot | None
    shared: SharedValues = frozenset()
    """Values that many domains show: they are nobody's own."""
    aliases: Aliases = NO_ALIASES
    precedence: Sequence[str] = PRECEDENCE
    """Which source is believed first."""
    excluded: frozenset[str] = frozenset()
    """Domains that are not leads, whatever says so, with all that belong to them."""

    def part(self, number: int, captures: pa.Table, previous: pa.Table) -> PartReport:
        """Write the leads of a part and their evidence, in the order of domains; no file if there is no lead."""
        rules = rules_of(self.rules)
        pages, records = divided(captures)
        rows, sightings, why_dropped = together(pages, rules.priority, self.aliases.mirrors)
        rows = with_aliases(rows, self.aliases)
        seen = evidence(rows.column("domain"), sightings)
        contacts = contacts_of(seen)
        owners = owners_of(listed(rows, "domain"), listed(rows, "business_name"), sightings, rules.owners)
        owners |= {one: SHARED_OWNER for one in owners if is_shared(*one, self.shared)}
        leads = leads_of_rows(rows, sightings, rules, seen, contacts, owners)
        # Where no page says anything, a record may. A home page that is parked, unlisted or leads elsewhere decides.
        refused = {domain for domain, why in why_dropped.items() if why != NO_PAGE}
        leads, given = with_records(leads, records, refused, self.precedence)
        seen = in_order(pa.concat_tables([seen, given]))
        dropped = Counter(why for domain, why in why_dropped.items() if domain in refused or domain not in records)
        if self.excluded:
            leads, dropped["excluded"] = _without(leads, self.excluded)
        if self.suppressed is not None:
            leads, dropped["suppressed"] = _screened(leads, self.suppressed)
        leads, unchanged = _dated(leads, previous)
        found = shown_evidence(seen, leads)
        if self.suppressed is not None:
            found = addresses_screened(found, contacts, self.suppressed)
        if leads.num_rows:
            self._write(self.out / f"part-{number:05}.parquet", leads, found)
        return PartReport(leads=leads.num_rows, evidence=found.num_rows, unchanged=unchanged, dropped=dict(dropped))

    def _write(self, path: Path, leads: pa.RecordBatch, found: pa.Table) -> None:
        with replacing(path) as sink, pq.ParquetWriter(sink, LEAD_SCHEMA, compression="zstd") as writer:
            writer.write_batch(leads, row_group_size=ROW_GROUP_SIZE)
        write_evidence(path, found)


def leads_of_rows(
    rows: pa.Table,
    sightings: pa.Table,
    rules: Rules,
    seen: pa.Table,
    contacts: Contacts,
    owners: Mapping[tuple[str, str, str], Owner],
) -> pa.RecordBatch:
    """Rows in the columns of a lead, those made here among them. What is someone else's is left out. `seen` is the
    evidence for all `contacts`."""

    def shown(domain: str, kind: str) -> dict[str, int]:
        counted = contacts.get((domain, kind), {})
        return {value: pages for value, pages in counted.items() if owners[domain, kind, value].is_shown}

    domains: list[str] = listed(rows, "domain")
    is_generic = _generic(rows, sightings, rules)
    emails = [_in_order(domain, shown(domain, "email"), is_generic, rules) for domain in domains]
    phones = [_most_seen(shown(domain, "phone")) for domain in domains]
    # Without a home page nothing found does not mean that there is nothing.
    technologies = [
        some if some or has_home else None
        for some, has_home in zip(*(listed(rows, name) for name in ("technologies", "has_home")), strict=True)
    ]
    countries = listed(rows, "country")
    candidates = [[Candidate(**one) for one in some] for some in listed(rows, "trade_candidates")]
    trades = [decide(some) for some in candidates]
    texts = map(SiteTexts, *(listed(rows, name) for name in ("business_name", "title", "description", "pages")))
    checks = map(_checks, *(listed(rows, name) for name in ("audits", "robots_audits", "has_sitemap")))
    made: dict[str, list[Any]] = {
        "updated_at_ms": listed(rows, "newest_at_ms"),
        "emails": emails,
        "emails_personal": [
            [one for one in some if not is_generic(domain, one)] for domain, some in zip(domains, emails, strict=True)
        ],
        "phones": phones,
        **_owners_of_best("email", domains, emails, owners),
        **_owners_of_best("phone", domains, phones, owners),
        **contact_details(domains, emails, phones, seen, contacts, owners),
        "hidden_contacts": [
            [*hidden, *details]
            for hidden, details in zip(
                hidden_contacts(domains, contacts, owners), listed(rows, "technologies_detail"), strict=True
            )
        ],
        "technologies": technologies,
        "service_type": [
            service_type(stated, used or (), [one.trade for one in some], perhaps, said)
            for stated, used, some, perhaps, said in zip(
                listed(rows, "service_type"), technologies, trades, candidates, texts, strict=True
            )
        ],
        "trades": [[one.trade for one in some] for some in trades],
        "trade_sources": [[(one.trade, one.source) for one in some] for some in trades],
        "categories_uses": [_categories(some or ()) for some in technologies],
        "score": [rules.score(some) if some else None for some in checks],
        "spending": [_spending(rules, some, country) for some, country in zip(technologies, countries, strict=True)],
    }
    columns = [
        pa.array(made[field.name], field.type) if field.name in made else _column(rows, field) for field in LEAD_SCHEMA
    ]
    return pa.record_batch(columns, schema=LEAD_SCHEMA)


def _owners_of_best(
    kind: str, domains: list[str], values: list[list[str]], owners: Mapping[tuple[str, str, str], Owner]
) -> dict[str, list[Any]]:
    """The owner of the first value of each lead."""
    best = [owners[domain, kind, some[0]] if some else None for domain, some in zip(domains, values, strict=True)]
    return {
        f"{kind}_owner": [owner.owner if owner else "" for owner in best],
        f"{kind}_owner_confidence": [owner.confidence if owner else None for owner in best],
    }


def _column(rows: pa.Table, field: pa.Field[Any]) -> Any:
    """What pages say of a field; some fields they say nothing of."""
    if field.name not in rows.schema.names:
        return unknown_column(field, rows.num_rows)
    return _as(rows.column(field.name), field.type)


def _checks(
    home: list[tuple[str, bool]] | None, robots: list[tuple[str, bool]] | None, has_sitemap: bool | None
) -> dict[str, bool]:
    """Those of the home page, and what robots.txt and sitemap say of the whole site; none without a home page."""
    if not home:
        return {}
    # In this order: what robots.txt forbids, no page can allow.
    checks = dict((*home, *(robots or ())))
    return checks if has_sitemap is None else {**checks, "sitemap": has_sitemap}


def _as(column: Any, kind: pa.DataType) -> Any:
    """A column in the type of a lead's: the same but for what may be null inside of lists."""
    column = column.combine_chunks()
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(column.offsets, column.values, type=kind)
    return column.cast(kind)


def _generic(rows: pa.Table, sightings: pa.Table, rules: Rules) -> Callable[[str, str], bool]:
    """Whether an address of a domain is generic. A page that names the person speaks for the whole site."""
    columns = (listed(sightings, name) for name in ("lead", "value", "label"))
    domains = listed(rows, "domain")
    named = {(domains[lead], value) for lead, value, label in zip(*columns, strict=True) if label == NAMED}
    names = dict(zip(domains, listed(rows, "business_name"), strict=True))
    return cache(lambda domain, value: rules.kind(value, names[domain], (domain, value) in named).is_generic)


def _in_order(domain: str, seen: Mapping[str, int], is_generic: Callable[[str, str], bool], rules: Rules) -> list[str]:
    """On the domain those that are not generic, then generic ones; others; those of providers for everybody."""

    def place(address: str) -> tuple[int, int, str]:
        host = address.rpartition("@")[2]
        if host == domain or host.endswith("." + domain):
            group = 1 if is_generic(domain, address) else 0
        else:
            group = 3 if rules.is_free_mail(address) else 2
        return group, -seen[address], address

    return sorted(seen, key=place)[:MAX_VALUES]


def _most_seen(seen: Mapping[str, int]) -> list[str]:
    return sorted(seen, key=lambda value: (-seen[value], value))[:MAX_VALUES]


@cache
def _of_technology(technology: str) -> tuple[str, ...]:
    return vocabulary().categories_of(technology)


def _categories(technologies: Sequence[str]) -> list[str]:
    return sorted({category for one in technologies for category in _of_technology(one)})[:MAX_CATEGORIES]


def _spending(rules: Rules, technologies: Sequence[str] | None, country: str) -> int | None:
    spent = rules.spending(technologies, country)
    return None if spent is None else min(spent, MAX_SPENDING - 1)


def _without(leads: pa.RecordBatch, excluded: frozenset[str]) -> tuple[pa.RecordBatch, int]:
    """Without the leads of these domains and of those that belong to them, and how many these were."""
    kept = [excluded.isdisjoint(names(domain)) for domain in listed(leads, "domain")]
    return leads.filter(pa.array(kept, pa.bool_())), kept.count(False)


def _screened(leads: pa.RecordBatch, suppressed: SuppressionSnapshot) -> tuple[pa.RecordBatch, int]:
    """Without what is listed, and how many leads went whole."""
    given = leads_of(pa.Table.from_batches([leads]))
    kept = [(lead, suppressed.lead(lead)) for lead in given]
    if all(before is after for before, after in kept):
        return leads, 0
    left = [after for _, after in kept if after is not None]
    return batch_of(left), len(given) - len(left)


def _dated(leads: pa.RecordBatch, previous: pa.Table) -> tuple[pa.RecordBatch, int]:
    """With the time of the last change: the one before, where the run before said the same; how many those are."""
    if not previous.num_rows:
        return leads, 0
    columns = (listed(previous, name) for name in PREVIOUS_SCHEMA.names)
    before = {domain: (hashed, at_ms) for domain, hashed, at_ms in zip(*columns, strict=True)}
    domains, updated = listed(leads, "domain"), listed(leads, "updated_at_ms")
    same = 0
    for row, (domain, hashed) in enumerate(zip(domains, content_hashes(leads), strict=True)):
        if domain in before and before[domain][0] == hashed:
            same += 1
            updated[row] = before[domain][1]
    place = LEAD_SCHEMA.get_field_index("updated_at_ms")
    return leads.set_column(place, LEAD_SCHEMA.field(place), pa.array(updated, pa.int64())), same
