"""Files of evidence: where and when each address and number of a lead was seen. Parquet beside a file of leads, with
the same name but its end, and as many row groups: the evidence of a row group of leads lies in that of its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from siteglass.lead_files import LeadFileError, open_parquet, replacing

# Not `.parquet`: folders of leads are read by that name.
SUFFIX = ".evidence"
# No value is told of more pages: who wants to know where it stands has enough of these.
MAX_SIGHTINGS = 20


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


def write_evidence(leads: Path, sightings: Iterable[Sighting]) -> int:
    """Write the evidence of a file of leads, row group by row group; both are sorted by domain. The number written.

    Raises LeadFileError for sightings of a domain that the file does not hold, or in another order.
    """
    count = 0
    rest = iter(sightings)
    ahead = next(rest, None)
    with (
        open_parquet(leads) as file,
        replacing(evidence_of(leads)) as sink,
        pq.ParquetWriter(sink, EVIDENCE_SCHEMA, compression="zstd") as writer,
    ):
        for number in range(file.num_row_groups):
            domains = set(file.read_row_group(number, columns=["domain"]).column("domain").to_pylist())
            group: list[Sighting] = []
            while ahead is not None and ahead.domain in domains:
                group.append(ahead)
                ahead = next(rest, None)
            rows = [msgspec.structs.asdict(one) for one in group]
            writer.write_table(pa.Table.from_pylist(rows, EVIDENCE_SCHEMA), row_group_size=max(1, len(rows)))
            count += len(group)
    if ahead is not None:
        raise LeadFileError(f"{leads}: holds no lead {ahead.domain}, or evidence and leads are not in the same order")
    return count


def read_evidence(store: Path, place: str, domain: str) -> list[Sighting]:
    """What was seen of the lead whose record lies at a place, see `lead_files.record_place`; nothing without a file."""
    name, _, row_group = place.rpartition("#")
    path = evidence_of(store / Path(name).name)
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        return []
    except pa.ArrowInvalid as error:
        raise LeadFileError(f"{path}: no Parquet file: {error}") from None
    with file:
        if file.schema_arrow != EVIDENCE_SCHEMA:
            raise LeadFileError(f"{path}: no file of evidence: expected the columns {', '.join(EVIDENCE_SCHEMA.names)}")
        if not row_group.isdigit() or int(row_group) >= file.num_row_groups:
            raise LeadFileError(f"{path}: has no row group {row_group or place!r}")
        table = file.read_row_group(int(row_group), use_threads=False)
    found = table.filter(pc.is_in(table.column("domain"), pa.array([domain], pa.string())))
    return list(_sightings(found))


def _sightings(table: pa.Table) -> Iterator[Sighting]:
    for row in table.to_pylist():
        yield msgspec.convert(row, Sighting)
