"""Opted-out values out of the lead store: leads, their evidence, and lists of rejects.

Row groups keep their places, since documents name records by them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA, evidence_of
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import LEAD_SCHEMA, batch_of, open_parquet, read_row_group, replacing
from siteglass.corpus.lead_store import stored_paths
from siteglass.corpus.rejects import rejects_of
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot


def purge_lead_store(store: Path, suppressed: SuppressionSnapshot) -> int:
    """Remove what is on the list of opt-outs from the files of the lead store; how many had some."""
    return sum(_purge_file(path, suppressed) for path in stored_paths(store))


def _purge_file(path: Path, suppressed: SuppressionSnapshot) -> bool:
    """Evidence first: if the purge is interrupted, the leads still show that it is needed."""
    changed = _purge_rejects(rejects_of(path), suppressed)
    changed |= evidence_of(path).exists() and _purge_evidence(path, suppressed)
    if any(kept != leads for leads, kept in _groups(path, suppressed)):
        _rewrite_leads(path, suppressed)
        changed = True
    return changed


def _groups(path: Path, suppressed: SuppressionSnapshot) -> Iterator[tuple[list[Lead], list[Lead]]]:
    """The leads of each row group, and what is left of them."""
    with open_parquet(path) as file:
        for number in range(file.num_row_groups):
            leads = read_row_group(file, number)
            yield leads, [kept for lead in leads if (kept := suppressed.lead(lead)) is not None]


def _rewrite_leads(path: Path, suppressed: SuppressionSnapshot) -> None:
    marks = pq.read_metadata(path).metadata or {}
    was = path.stat()
    with replacing(path) as sink:
        with pq.ParquetWriter(sink, LEAD_SCHEMA, compression="zstd") as writer:
            for _, kept in _groups(path, suppressed):
                writer.write_batch(batch_of(kept), row_group_size=max(1, len(kept)))
            own = {key.decode(): value.decode() for key, value in marks.items() if key.startswith(b"siteglass.")}
            writer.add_key_value_metadata(own)
        # Of equal crawls a rebuild takes that of the newest file, and this one is not newer than it was.
        sink.flush()
        os.utime(sink.fileno(), ns=(was.st_atime_ns, was.st_mtime_ns))


def _purge_evidence(path: Path, suppressed: SuppressionSnapshot) -> bool:
    """The evidence of the values that leads still show, without listed values in the addresses of pages."""
    with pq.ParquetFile(evidence_of(path)) as file:
        before = [file.read_row_group(number, use_threads=False) for number in range(file.num_row_groups)]
    groups = zip(before, (kept for _, kept in _groups(path, suppressed)), strict=True)
    after = [_screened_evidence(table, kept, suppressed) for table, kept in groups]
    if all(one.equals(other) for one, other in zip(before, after, strict=True)):
        return False
    with replacing(evidence_of(path)) as sink, pq.ParquetWriter(sink, EVIDENCE_SCHEMA, compression="zstd") as writer:
        for table in after:
            writer.write_table(table, row_group_size=max(1, table.num_rows))
    return True


def _screened_evidence(table: pa.Table, leads: Sequence[Lead], suppressed: SuppressionSnapshot) -> pa.Table:
    shown = {(lead.domain, value) for lead in leads for value in (*lead.emails, *lead.phones)}
    phones = {lead.domain: lead.phones for lead in leads}
    rows = [row for row in table.to_pylist() if (row["domain"], row["value"]) in shown]
    for row in rows:
        row["page"] = suppressed.address(row["page"], phones[row["domain"]])
    return pa.Table.from_pylist(rows, EVIDENCE_SCHEMA)


def _purge_rejects(path: Path, suppressed: SuppressionSnapshot) -> bool:
    """Without the lines of a listed domain, or with a listed value."""
    if not path.exists():
        return False
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not _is_listed(msgspec.json.decode(line), suppressed)]
    if kept == lines:
        return False
    with replacing(path) as sink:
        sink.writelines(kept)
    return True


def _is_listed(reject: dict[str, object], suppressed: SuppressionSnapshot) -> bool:
    value = str(reject.get("value", ""))
    return suppressed.hides_domain(str(reject.get("domain", ""))) or suppressed.address(value, ()) != value
