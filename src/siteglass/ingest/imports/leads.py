"""The rows of a table as leads, and what is left out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from siteglass.corpus.address_kinds import kind_of
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import batch_of, leads_of
from siteglass.corpus.rejects import Rejects
from siteglass.corpus.tables import TableError
from siteglass.corpus.value_checks import check_values
from siteglass.ingest.imports.cells import CellError, clean, read_cell, read_host, read_text, within_maximum
from siteglass.ingest.imports.columns import ColumnMapping, Target, map_columns, read_mapping
from siteglass.ingest.imports.sources import Row, Source, open_source
from siteglass.ingest.sources import NEVER_MS, SourceRecord, known_fields, with_phones_and_state

PREVIEW_LEADS = 5
_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class TableImport:
    """A table on its way to leads."""

    mapping: ColumnMapping
    source: Source
    rejects: Rejects
    records: Iterator[SourceRecord]
    """They can be read once."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would load."""

    first: list[Lead]
    leads: int
    rejects: Rejects


@contextmanager
def open_import(
    path: Path, mapping_file: Path | None, now_ms: int, on_progress: Callable[[int], None], licence: str = ""
) -> Iterator[TableImport]:
    """A table whose records are read while this is open; raises TableError. Progress is in bytes of the file."""
    given = read_mapping(mapping_file) if mapping_file else None
    with open_source(path) as source:
        mapping = map_columns(source.columns, given)
        rejects = Rejects(source.place, mapping.columns_of)
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        rows = _RowReader(mapping, now_ms, rejects).read(source, on_progress)
        records = (
            SourceRecord("import", path.name, f"imported from {path.name} on {day}", licence, now_ms, lead)
            for lead in _checked(rows, rejects)
        )
        yield TableImport(mapping, source, rejects, records)


def _checked(rows: Iterator[tuple[int, Lead]], rejects: Rejects) -> Iterator[Lead]:
    """Leads with the values that searches use. One that a lead cannot have costs its row, and not the import."""
    while group := list(islice(rows, _ROWS_AT_ONCE)):
        batch = pa.Table.from_batches([batch_of([lead for _, lead in group])])
        places = [place for place, _ in group]
        leads = map(with_phones_and_state, leads_of(check_values(batch, places, rejects)))
        for place, lead in zip(places, leads, strict=True):
            try:
                msgspec.convert(known_fields(lead), Lead)
            except msgspec.ValidationError as error:
                rejects.add(place, lead.domain, "", "", str(error), None)
            else:
                yield lead


def preview(table: TableImport) -> Preview:
    """Read the whole table as an import would, and load nothing."""
    first = [one.lead for one in islice(table.records, PREVIEW_LEADS)]
    return Preview(first, len(first) + sum(1 for _ in table.records), table.rejects)


def lead_as_json(lead: Lead) -> str:
    """What is known of a lead, as a line of a file of leads has it."""
    known = known_fields(lead)
    if known["crawled_at_ms"] == NEVER_MS:
        del known["crawled_at_ms"]
    return msgspec.json.encode(known).decode()


class _RowReader:
    """Reads rows, and remembers their domains: a second row of a domain would replace the first."""

    def __init__(self, mapping: ColumnMapping, now_ms: int, rejects: Rejects) -> None:
        self._mapping = mapping
        self._now_ms = now_ms
        self._rejects = rejects
        self._domains: set[str] = set()
        places = {str(target): place for place, target in mapping.targets.items() if not target.is_list}
        # If a row has no domain, its website names one.
        self._domain_places = [places[name] for name in ("domain", "url") if name in places]
        self._crawled_place = places.get("crawled_at_ms")

    def read(self, source: Source, on_progress: Callable[[int], None]) -> Iterator[tuple[int, Lead]]:
        """The place of each row that is a lead, and the lead."""
        number = 0
        for number, row in enumerate(source.rows, 1):
            if number % _ROWS_AT_ONCE == 0:
                on_progress(source.position())
            lead = self._lead(row)
            if lead is not None:
                yield row.place, lead
        if not number:
            raise TableError("the table has no rows.")
        on_progress(source.total_bytes)

    def _lead(self, row: Row) -> Lead | None:
        columns = self._mapping.columns
        if row.problem:
            self._rejects.add(row.place, "", "", str(row.cells[0]), row.problem, None)
            return None
        if any(row.cells[len(columns) :]):
            reason = f"has {len(row.cells)} cells, but there are {len(columns)} columns"
            self._rejects.add(row.place, "", "", str(row.cells[len(columns)]), reason, None)
            return None
        cells = [*row.cells, *[None] * (len(columns) - len(row.cells))]
        domain = self._domain(row.place, cells)
        crawled_at_ms = self._crawled_at_ms(row.place, domain, cells) if domain else None
        if domain is None or crawled_at_ms is None:
            return None
        self._domains.add(domain)
        return Lead(**self._values(row.place, domain, cells), domain=domain, crawled_at_ms=crawled_at_ms)

    def _domain(self, place: int, cells: list[Any]) -> str | None:
        """The domain of a row; None if it has none, or an earlier row has the same."""
        filled = (column for column in self._domain_places if cells[column] not in (None, ""))
        column = next(filled, self._domain_places[0])
        value = "" if cells[column] is None else str(cells[column])
        try:
            text = clean(value)
            if not text:
                raise CellError("has no domain")
            domain = read_host(text)
            if domain in self._domains:
                raise CellError("an earlier row has the same domain")
        except CellError as error:
            self._rejects.add(place, "", "domain", value, str(error), None, column=self._mapping.columns[column])
            return None
        return domain

    def _crawled_at_ms(self, place: int, domain: str, cells: list[Any]) -> int | None:
        """When the row says that the site was crawled, NEVER_MS if it does not. None if it says what is not a time."""
        if self._crawled_place is None:
            return NEVER_MS
        cell = cells[self._crawled_place]
        try:
            text = "" if cell is None else clean(cell)
            return read_text(Target("crawled_at_ms"), text, self._now_ms) if text else NEVER_MS
        except CellError as error:
            self._rejects.add(place, domain, "crawled_at_ms", str(cell), str(error), None)
            return None

    def _values(self, place: int, domain: str, cells: list[Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for position, target in self._mapping.targets.items():
            if target.field in ("domain", "crawled_at_ms"):
                continue
            reject = self._reject(place, domain, target, self._mapping.columns[position])
            value = read_cell(target, cells[position], self._now_ms, reject)
            if value is None:
                continue
            if target.network:
                values.setdefault("social_links", {})[target.network] = value
            elif isinstance(value, dict):
                values["social_links"] = {**value, **values.get("social_links", {})}
            elif target.is_list:
                values[target.field] = within_maximum(target, (*values.get(target.field, ()), *value), reject)
            else:
                values[target.field] = value
        if "emails" in values:
            name = values.get("business_name", "")
            values["emails_personal"] = tuple(one for one in values["emails"] if not kind_of(one, name).is_generic)
        return values

    def _reject(self, place: int, domain: str, target: Target, column: str) -> Callable[[str, str], None]:
        return lambda value, reason: self._rejects.add(place, domain, target.field, value, reason, None, column=column)
