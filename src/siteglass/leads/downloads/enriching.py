"""Enriching an uploaded table: which of its domains have a lead, what they cost, and the table with our columns."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import orjson

from siteglass.access.keys import Caller
from siteglass.billing.credits import Bill, Mark
from siteglass.leads.charging import AccountCharger
from siteglass.leads.downloads.columns import COLUMN_SETS, Cell, Column, ColumnSet, Record, phone_text, trade_names
from siteglass.leads.downloads.sheets import csv_cell, csv_lines
from siteglass.leads.downloads.uploaded_table import UploadedTable
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.enrich import without_address
from siteglass.web.operations import MAX_LIMIT

LOOK_UP_AT_ONCE = 500
ROWS_AT_ONCE = 500
ENRICH_SELECT = (
    "domain", "title", "url", "description", "emails", "phones", "language", "spending", "country", "state", "city",
    "technologies", "score", "updated_at", "crawled_at", "business_name", "trades", "social_links",
)  # fmt: skip
"""The fields that an enrichment buys: enough for every set of columns."""
_FIELDS = ENRICH_SELECT[1:15]
_LISTS = ("emails", "technologies")


@dataclass(frozen=True, slots=True)
class EnrichmentPrice:
    """What enriching a table costs, and the lead of each row."""

    names: list[str]
    """The domain of the lead of each row; empty where there is none."""
    found: int
    """Different leads."""
    lead_credits: int
    api_credits: int


async def find_price(
    leads: LeadEndpoints, charger: AccountCharger, caller: Caller, hosts: Sequence[str]
) -> EnrichmentPrice:
    """Look the host of each row up, and count what would be charged now."""
    stored: dict[str, str] = {}
    no_address: set[str] = set()
    wanted = list(dict.fromkeys(filter(None, hosts)))
    for start in range(0, len(wanted), LOOK_UP_AT_ONCE):
        enriched = await leads.find_domains(wanted[start : start + LOOK_UP_AT_ONCE], ("emails",))
        stored |= enriched.stored
        no_address |= without_address(enriched)
    names = [stored.get(host, "") for host in hosts]
    found = list(dict.fromkeys(filter(None, names)))
    marks = [(domain, Mark.CHARGED) for domain in found]
    bill = Bill("enrich", -(-len(found) // MAX_LIMIT), marks, without_address=no_address)
    quote = await charger.quote(caller, bill)
    return EnrichmentPrice(names, len(found), quote.lead, quote.api)


def pack_source(table: UploadedTable, names: Sequence[str]) -> bytes:
    """What the job of an enrichment keeps: the table, and the lead of each row."""
    return zlib.compress(orjson.dumps([list(names), table]), 1)


def unpack_source(source: bytes) -> tuple[UploadedTable, list[str]]:
    """The table and the lead of each row."""
    names, table = orjson.loads(zlib.decompress(source))
    return UploadedTable(**table), names


def found_domains(source: bytes) -> list[str]:
    """The leads that the job of an enrichment buys, in the order of the rows."""
    return list(dict.fromkeys(filter(None, unpack_source(source)[1])))


def _field_column(field: str) -> Column:
    return Column(f"sg_{field}", lambda record: _cell(record, field))


_OURS = ColumnSet(
    "",
    "",
    (
        Column("sg_found_domain", lambda record: record["domain"]),
        Column("sg_business_name", lambda record: record.get("business_name") or None),
        Column("sg_email", lambda record: next(iter(record.get("emails") or ()), None)),
        Column("sg_trades", trade_names),
        *map(_field_column, _FIELDS),
    ),
)


@dataclass(frozen=True, slots=True)
class EnrichedTable:
    """A table as it was uploaded, with our columns after its own."""

    table: UploadedTable
    names: Sequence[str]
    data: Mapping[str, Record]
    """What was paid for, by domain."""
    columns: str = "siteglass"

    @property
    def chosen(self) -> ColumnSet:
        """Our columns: named as ours, or as an import expects them."""
        return _OURS if self.columns == "siteglass" else COLUMN_SETS[self.columns]

    @property
    def width(self) -> int:
        return max(map(len, [*self.table.rows, self.table.headings or []]))

    @property
    def headings(self) -> list[str]:
        own = self.table.headings or [f"column_{place + 1}" for place in range(self.width)]
        own = [*own, *[""] * (self.width - len(own))]
        ours = []
        for name in ("sg_status", *self.chosen.headings):
            number = 2
            free = name
            while free in own:
                free, number = f"{name}_{number}", number + 1
            ours.append(free)
        return [*own, *ours]

    def rows(self) -> Iterator[tuple[list[str], list[Cell]]]:
        """The cells of each row: its own, and ours."""
        hosts = self.table.domains
        for row, host, name in zip(self.table.rows, hosts, self.names, strict=True):
            record = self.data.get(name) if name else None
            own = [*row, *[""] * (self.width - len(row))]
            if record is None:
                status = "" if not host else "not found" if not name else "not bought"
                yield own, [status or None, *[None] * len(self.chosen.columns)]
            else:
                yield own, ["found", *self.chosen.row(record)]

    async def csv_pieces(self) -> AsyncIterator[bytes]:
        """The table as CSV with its own delimiter. Whoever wrote its cells, no spreadsheet computes them."""
        delimiter = self.table.delimiter or ","
        yield csv_lines([list(map(csv_cell, self.headings))], delimiter, start=self.chosen.byte_order_mark)
        rows = self.rows()
        while part := list(islice(rows, ROWS_AT_ONCE)):
            yield csv_lines((list(map(csv_cell, [*own, *ours])) for own, ours in part), delimiter)

    async def pages(self) -> AsyncIterator[Sequence[Sequence[Cell]]]:
        """The rows for a workbook."""
        rows = self.rows()
        while part := list(islice(rows, ROWS_AT_ONCE)):
            yield [[*own, *ours] for own, ours in part]


def _cell(record: Record, field: str) -> Cell:
    value = record.get(field)
    if field == "phones":
        return "; ".join(map(phone_text, value or ())) or None
    if field in _LISTS:
        return "; ".join(value or ()) or None
    return value if isinstance(value, int) else value or None
