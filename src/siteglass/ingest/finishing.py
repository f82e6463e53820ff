"""The last step of the merge, in workers of Spark: merged rows to the files of leads and of evidence.

What asks tables of Python is done here, a column at a time: order of addresses, categories, score, spending. No address
is in a lead without evidence: it is taken from there, and looked for once more before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from siteglass.ingest.content import content_hashes
from siteglass.ingest.merge_sql import MAX_VALUES
from siteglass.ingest.rules import Rules, rules_of
from siteglass.ingest.suppressed import Suppressed
from siteglass.lead_files import LEAD_SCHEMA, ROW_GROUP_SIZE, batch_of, leads_of, replacing
from siteglass.query.vocabulary import vocabulary

MAX_CATEGORIES = 200
MAX_SPENDING = 2**33

EVIDENCE_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in (
            *((name, pa.string()) for name in ("domain", "kind", "value", "url", "method")),
            *((name, pa.int64()) for name in ("first_seen_ms", "last_seen_ms")),
            ("archive", pa.string()),
            ("offset", pa.int64()),
            ("count", pa.int64()),
        )
    ]
)
_KEY = ["row", "kind", "value", "url", "method"]
_VALUE = ("domain", "kind", "value")


class NoEvidence(Exception):
    """A lead has an address or a phone that no page was found to show: a fault of the merge, nothing is written."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a part."""

    leads: int = 0
    evidence: int = 0
    unchanged: int = 0
    suppressed: int = 0


@dataclass(frozen=True, slots=True)
class Finishing:
    """How rows become leads; goes to workers as it is."""

    out: Path
    rules: str
    suppressed: Suppressed | None

    def part(self, number: int, batches: Iterator[pa.RecordBatch]) -> Finished:
        """Write the files of a part, its rows sorted by domain; none if it has no rows."""
        done = Finished()
        leads = _Part(self.out / "leads" / f"part-{number:05}.parquet", LEAD_SCHEMA)
        evidence = _Part(self.out / "evidence" / f"part-{number:05}.parquet", EVIDENCE_SCHEMA)
        for batch in batches:
            if batch.num_rows:
                lead_rows, evidence_rows, counted = self._finished(batch)
                leads.add(lead_rows)
                evidence.add(evidence_rows)
                done = _sum(done, counted)
        evidence.write()
        leads.write()
        return done

    def _finished(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.Table, Finished]:
        rules = rules_of(self.rules)
        found = _evidence(batch)
        leads = _leads(batch, rules, found)
        hidden = 0
        if self.suppressed is not None:
            leads, hidden = _screened(leads, self.suppressed)
        leads, unchanged = _dated(leads, batch)
        seen = found
        found = shown_evidence(seen, leads)
        if self.suppressed is not None:
            found = _addresses_screened(found, _numbers(seen), self.suppressed)
        return (
            leads,
            found,
            Finished(leads=leads.num_rows, evidence=found.num_rows, unchanged=unchanged, suppressed=hidden),
        )


def _sum(one: Finished, other: Finished) -> Finished:
    return Finished(**{name: getattr(one, name) + getattr(other, name) for name in Finished.__struct_fields__})


class _Part:
    """A Parquet file that is written at its end, so that a part without rows makes none."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path, self._schema = path, schema
        self._batches: list[pa.RecordBatch] = []

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        self._batches += rows.to_batches() if isinstance(rows, pa.Table) else [rows]

    def write(self) -> None:
        table = pa.Table.from_batches(self._batches, self._schema)
        if table.num_rows:
            with replacing(self._path) as sink, pq.ParquetWriter(sink, self._schema, compression="zstd") as writer:
                writer.write_table(table, row_group_size=ROW_GROUP_SIZE)


def _evidence(batch: pa.RecordBatch) -> pa.Table:
    """Sightings of a batch, one row for each value, page and method; `row` is that of its lead."""
    sightings: Any = batch.column("sightings")
    columns = sightings.flatten().flatten()
    names = [field.name for field in sightings.type.value_type]
    table: Any = pa.table([sightings.value_parent_indices(), *columns], names=["row", *names])
    # Equal rows of a group differ in where they lie: the newest first, so that it is the one that is kept.
    order = [("last_seen_ms", "descending"), ("archive", "ascending"), ("at", "ascending")]
    table = table.sort_by([*((name, "ascending") for name in _KEY), *order])
    grouped = table.group_by(_KEY, use_threads=False).aggregate(
        [("first_seen_ms", "min"), ("last_seen_ms", "max"), ("archive", "first"), ("at", "first"), ("captures", "sum")]
    )
    domains: Any = batch.column("domain").take(grouped.column("row").combine_chunks())
    values: list[Any] = [domains, *(grouped.column(name) for name in _KEY[1:])]
    values += [grouped.column(name) for name in ("first_seen_ms_min", "last_seen_ms_max", "archive_first", "at_first")]
    values.append(grouped.column("captures_sum"))
    columns = [column.cast(field.type) for column, field in zip(values, EVIDENCE_SCHEMA, strict=True)]
    found = pa.table(columns, schema=EVIDENCE_SCHEMA)
    return found.sort_by([(name, "ascending") for name in ("domain", "kind", "value", "url", "method")])


def _contacts(found: pa.Table) -> dict[tuple[str, str], dict[str, int]]:
    """Domain and kind -> values, and on how many pages each was seen."""
    contacts: dict[tuple[str, str], dict[str, int]] = {}
    columns = (found.column(name).to_pylist() for name in ("domain", "kind", "value", "url"))
    for domain, kind, value, _ in dict.fromkeys(zip(*columns, strict=True)):
        values = contacts.setdefault((domain, kind), {})
        values[value] = values.get(value, 0) + 1
    return contacts


def _leads(batch: pa.RecordBatch, rules: Rules, found: pa.Table) -> pa.RecordBatch:
    """Rows in the columns of a lead, those made here among them."""
    contacts = _contacts(found)
    domains: list[str] = _list(batch, "domain")
    emails = [_in_order(domain, contacts.get((domain, "email"), {}), rules) for domain in domains]
    # Without a home page nothing found does not mean that there is nothing.
    technologies = [
        some if some or has_home else None
        for some, has_home in zip(*(_list(batch, name) for name in ("technologies", "has_home")), strict=True)
    ]
    countries = _list(batch, "country")
    checks = map(_checks, *(_list(batch, name) for name in ("audits", "robots_audits", "has_sitemap")))
    made: dict[str, list[Any]] = {
        "updated_at_ms": _list(batch, "newest_at_ms"),
        "emails": emails,
        "emails_personal": [[one for one in some if not rules.is_role(one)] for some in emails],
        "phones": [_most_seen(contacts.get((domain, "phone"), {})) for domain in domains],
        "technologies": technologies,
        "categories_uses": [_categories(some or ()) for some in technologies],
        "score": [rules.score(some) if some else None for some in checks],
        "spending": [_spending(rules, some, country) for some, country in zip(technologies, countries, strict=True)],
        "social_links": [[(one["key"], one["value"]) for one in some] for some in _list(batch, "social_links")],
    }
    columns = [
        pa.array(made[field.name], field.type) if field.name in made else _as(batch.column(field.name), field.type)
        for field in LEAD_SCHEMA
    ]
    return pa.record_batch(columns, schema=LEAD_SCHEMA)


def _checks(
    home: list[dict[str, Any]] | None, robots: list[dict[str, Any]] | None, has_sitemap: bool | None
) -> dict[str, bool]:
    """Those of the home page, and what robots.txt and sitemap say of the whole site; none without a home page."""
    if not home:
        return {}
    # In this order: what robots.txt forbids, no page can allow.
    checks = {one["key"]: one["value"] for one in (*home, *(robots or ()))}
    return checks if has_sitemap is None else {**checks, "sitemap": has_sitemap}


def _list(batch: pa.RecordBatch | pa.Table, name: str) -> list[Any]:
    return batch.column(name).to_pylist()


def _as(column: Any, kind: pa.DataType) -> Any:
    """A column of Spark's in the type of ours: the same but for what may be null inside of lists."""
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(column.offsets, column.values.cast(pa.string()), type=kind)
    return column.cast(kind)


def _in_order(domain: str, seen: Mapping[str, int], rules: Rules) -> list[str]:
    """On the domain those of persons, then of roles; others; those of providers for everybody."""

    def place(address: str) -> tuple[int, int, str]:
        host = address.rpartition("@")[2]
        if host == domain or host.endswith("." + domain):
            group = 1 if rules.is_role(address) else 0
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


def _screened(leads: pa.RecordBatch, suppressed: Suppressed) -> tuple[pa.RecordBatch, int]:
    """Without what is listed, and how many leads went whole."""
    given = leads_of(pa.Table.from_batches([leads]))
    kept = [(lead, suppressed.lead(lead)) for lead in given]
    if all(before is after for before, after in kept):
        return leads, 0
    left = [after for _, after in kept if after is not None]
    return batch_of(left), len(given) - len(left)


def _numbers(found: pa.Table) -> dict[str, list[str]]:
    """Domain -> its numbers, also those that are not shown: an address of a page may hold one."""
    numbers: dict[str, list[str]] = {}
    for domain, kind, value in dict.fromkeys(zip(*(_list(found, name) for name in _VALUE), strict=True)):
        if kind == "phone":
            numbers.setdefault(domain, []).append(value)
    return numbers


def _addresses_screened(found: pa.Table, numbers: Mapping[str, Sequence[str]], suppressed: Suppressed) -> pa.Table:
    """Cut and not left out: what the page showed, besides, is evidence for others."""
    pages = list(zip(_list(found, "domain"), _list(found, "url"), strict=True))
    cut = {page: suppressed.address(page[1], numbers.get(page[0], ())) for page in dict.fromkeys(pages)}
    if all(page[1] == url for page, url in cut.items()):
        return found
    place = EVIDENCE_SCHEMA.get_field_index("url")
    return found.set_column(place, EVIDENCE_SCHEMA.field(place), pa.array([cut[page] for page in pages], pa.string()))


def _dated(leads: pa.RecordBatch, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
    """With the time of the last change: the one before, where the run before said the same; how many those are."""
    if "previous_hash" not in batch.schema.names:
        return leads, 0
    columns = (_list(batch, name) for name in ("domain", "previous_hash", "previous_updated_at_ms"))
    before = {domain: (hashed, at_ms) for domain, hashed, at_ms in zip(*columns, strict=True) if hashed is not None}
    domains, updated = _list(leads, "domain"), _list(leads, "updated_at_ms")
    same = 0
    for row, (domain, hashed) in enumerate(zip(domains, content_hashes(leads), strict=True)):
        if domain in before and before[domain][0] == hashed:
            same += 1
            updated[row] = before[domain][1]
    place = LEAD_SCHEMA.get_field_index("updated_at_ms")
    return leads.set_column(place, LEAD_SCHEMA.field(place), pa.array(updated, pa.int64())), same


def shown_evidence(found: pa.Table, leads: pa.RecordBatch) -> pa.Table:
    """The evidence for what leads show, and for nothing else; raises NoEvidence if some is missing."""
    domains = _list(leads, "domain")
    shown = {
        f"{domain} {kind} {value}"
        for kind, name in (("email", "emails"), ("phone", "phones"))
        for domain, values in zip(domains, _list(leads, name), strict=True)
        for value in values
    }
    columns: list[Any] = [found.column(name) for name in ("domain", "kind", "value")]
    keys: Any = pc.binary_join_element_wise(*columns, " ")
    if missing := shown.difference(keys.to_pylist()):
        raise NoEvidence(f"{len(missing)} values without evidence, one of a lead of {min(missing).split()[0]}")
    return found.filter(pc.is_in(keys, pa.array(sorted(shown), pa.string())))
