"""Evidence of the leads of a part: one row for each value, page and method; and what leads take from it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA
from siteglass.ingest.grouped import ASCENDING, DESCENDING, Order, listed, pc
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot

Contacts = dict[tuple[str, str], dict[str, int]]
"""Domain and kind -> values, and on how many pages each was seen."""

_KEY = ["lead", "kind", "value", "page", "method"]


class NoEvidence(Exception):
    """A lead has an address or a phone that no page was found to show: a fault of the merge, nothing is written."""


def evidence(domains: Any, sightings: pa.Table) -> pa.Table:
    """Sightings, see `together`, in the form of a file of evidence and in its order."""
    # Equal rows of a group differ in their position: the newest first, so that it is kept.
    by_key: list[Order] = [(name, ASCENDING) for name in _KEY]
    order: list[Order] = [("last_seen_ms", DESCENDING), ("archive", ASCENDING), ("offset", ASCENDING)]
    sightings = sightings.sort_by([*by_key, *order])
    found = sightings.group_by(_KEY, use_threads=False).aggregate(
        [("first_seen_ms", "min"), ("last_seen_ms", "max"), ("archive", "first"), ("offset", "first")]
    )
    found = found.sort_by(by_key)
    names = ("first_seen_ms_min", "last_seen_ms_max", "archive_first", "offset_first")
    values: list[Any] = [domains.take(found.column("lead")), *(found.column(name) for name in (*_KEY[1:], *names))]
    columns = [one.cast(field.type) for one, field in zip(values, EVIDENCE_SCHEMA, strict=True)]
    return pa.table(columns, schema=EVIDENCE_SCHEMA)


def in_order(found: pa.Table) -> pa.Table:
    """Evidence in the order of its file."""
    return found.sort_by([(name, ASCENDING) for name in ("domain", "kind", "value", "page", "method")])


def contacts_of(found: pa.Table) -> Contacts:
    """What evidence holds, shown or not."""
    contacts: Contacts = {}
    columns = (listed(found, name) for name in ("domain", "kind", "value", "page"))
    for domain, kind, value, _ in dict.fromkeys(zip(*columns, strict=True)):
        values = contacts.setdefault((domain, kind), {})
        values[value] = values.get(value, 0) + 1
    return contacts


def addresses_screened(found: pa.Table, contacts: Contacts, suppressed: SuppressionSnapshot) -> pa.Table:
    """Cut and not left out: what the page showed, besides, is evidence for others. All numbers of a domain count, also
    those that are not shown: an address of a page may hold one."""
    pages = list(zip(listed(found, "domain"), listed(found, "page"), strict=True))
    cut = {page: suppressed.address(page[1], [*contacts.get((page[0], "phone"), ())]) for page in dict.fromkeys(pages)}
    if all(page[1] == url for page, url in cut.items()):
        return found
    place = EVIDENCE_SCHEMA.get_field_index("page")
    return found.set_column(place, EVIDENCE_SCHEMA.field(place), pa.array([cut[page] for page in pages], pa.string()))


def shown_evidence(found: pa.Table, leads: pa.RecordBatch) -> pa.Table:
    """The evidence for exactly the values that leads show; raises NoEvidence if some is missing."""
    domains = listed(leads, "domain")
    shown = {
        f"{domain} {kind} {value}"
        for kind, name in (("email", "emails"), ("phone", "phones"))
        for domain, values in zip(domains, listed(leads, name), strict=True)
        for value in values
    }
    columns: list[Any] = [found.column(name) for name in ("domain", "kind", "value")]
    keys: Any = pc.binary_join_element_wise(*columns, " ")
    if missing := shown.difference(keys.to_pylist()):
        raise NoEvidence(f"{len(missing)} values without evidence, one of them in a lead of {min(missing).split()[0]}")
    return found.filter(pc.is_in(keys, pa.array(sorted(shown), pa.string())))
