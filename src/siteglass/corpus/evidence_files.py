"""Evidence files: where and when each address and number of a lead was seen. Each is a Parquet file next to a lead
file, with the same name but another extension. Both have the same number of row groups: row group N has the evidence
for the leads in row group N."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, Self

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import LeadFileError, open_parquet, place_parts, replacing

# Not `.parquet`: folders of leads are read by that name.
SUFFIX = ".evidence"
# No more pages than this are listed for a value: they are enough to show where it was found.
MAX_SIGHTINGS = 20
IMPORT_METHOD, PLACE_METHOD = "import", "place"
"""The methods of values that the operator imported, or that a place of a map has. Its page says which, and when."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A value as one page showed it, in one way."""

    domain: str
    kind: Literal["email", "phone"]
    value: str
    page: str
    method: str
    first_seen_ms: int
    last_seen_ms: int
    archive: str = ""
    """The file that holds the newest capture, and where in it: for those who have to prove it."""
    offset: int = 0


EVIDENCE_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field(name, pa.int64() if name.endswith("_ms") or name == "offset" else pa.string(), nullable=False)
        for name in Sighting.__struct_fields__
    ]
)


def evidence_of(leads: Path) -> Path:
    """The file of evidence that belongs to a file of leads; it need not be there."""
    return leads.with_suffix(SUFFIX)


class EvidenceWriter:
    """Writes the evidence of a file of leads that is written at the same time, a row group for each of the leads'."""

    def __init__(self, leads: Path) -> None:
        self._writer = pq.ParquetWriter(evidence_of(leads), EVIDENCE_SCHEMA, compression="zstd")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._writer.close()

    def write_group(self, sightings: Iterable[Sighting]) -> None:
        """The evidence of the leads of one row group."""
        table = pa.Table.from_pylist([msgspec.structs.asdict(one) for one in sightings], EVIDENCE_SCHEMA)
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))


def write_evidence(leads: Path, sightings: pa.Table) -> None:
    """Write the evidence of a file of leads, all of it at once; rows keep their order within a row group.

    Raises LeadFileError if it does not have these columns, or is of a domain that the file does not hold.
    """
    if sightings.schema.names != EVIDENCE_SCHEMA.names:
        raise LeadFileError(f"evidence for {leads}: expected the columns {', '.join(EVIDENCE_SCHEMA.names)}")
    sightings = sightings.cast(EVIDENCE_SCHEMA)
    count = 0
    with (
        open_parquet(leads) as file,
        replacing(evidence_of(leads)) as sink,
        pq.ParquetWriter(sink, EVIDENCE_SCHEMA, compression="zstd") as writer,
    ):
        for number in range(file.num_row_groups):
            domains = file.read_row_group(number, columns=["domain"]).column("domain")
            group = sightings.filter(pc.is_in(sightings.column("domain"), domains.combine_chunks()))
            writer.write_table(group, row_group_size=max(1, group.num_rows))
            count += group.num_rows
        if count != sightings.num_rows:
            raise LeadFileError(
                f"{leads}: {sightings.num_rows - count} evidence rows belong to leads that are not in it"
            )


def read_evidence(store: Path, place: str, domain: str) -> list[Sighting]:
    """The sightings for the lead whose record is at a place, see `lead_files.record_place`; empty without a file."""
    name, row_group = place_parts(place)
    path = evidence_of(store / name)
    try:
        with pq.ParquetFile(path) as file:
            if file.schema_arrow != EVIDENCE_SCHEMA:
                expected = ", ".join(EVIDENCE_SCHEMA.names)
                raise LeadFileError(f"{path}: not an evidence file: expected the columns {expected}")
            if row_group >= file.num_row_groups:
                raise LeadFileError(f"{path.name} has no row group {row_group}")
            table = file.read_row_group(row_group, use_threads=False)
        found = table.filter(pc.is_in(table.column("domain"), pa.array([domain], pa.string())))
        return list(_sightings(found))
    except FileNotFoundError:
        return []
    except (OSError, pa.ArrowException, msgspec.ValidationError) as error:
        raise LeadFileError(f"{path}: not an evidence file: {error}") from None


def _sightings(table: pa.Table) -> Iterator[Sighting]:
    for row in table.to_pylist():
        yield msgspec.convert(row, Sighting)
