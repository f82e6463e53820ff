"""The report of a run: what was read, what could not be used, what became leads, and how full their fields are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from siteglass.corpus.lead_files import LEAD_SCHEMA, open_parquet, read_row_group
from siteglass.ingest.archives import QuarantinedRecord
from siteglass.ingest.run_leads import MergedRun
from siteglass.ingest.tasks import Summary

SAMPLES = 5
SHOWN = 20
_SAMPLED = ("domain", "business_name", "language", "country", "city", "emails", "phones", "technologies", "score")


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Kept beside the leads of a run as JSON."""

    run: str
    archives: int
    pages: int
    quarantined: dict[str, int]
    """Records that could not be used, and damage, by reason; the files of quarantine name each."""
    unread_bytes: int
    """Bytes of the archives that were not read because of damage."""
    damage: list[QuarantinedRecord]
    """Where, the first places only; the files of quarantine name all."""
    revisits: int
    """Visits that found a page as it was before, and whose page is neither in their archive nor in the facts store."""
    parked: dict[str, str]
    """Archives that were given up, and why."""
    leads: int
    unchanged: int
    gone: int
    """Domains with new facts that are not leads, or not any more."""
    dropped: dict[str, int]
    """Domains that are not leads, by reason."""
    sightings: int
    empty_percent: dict[str, float]
    """Leads without a value, by field."""
    samples: list[dict[str, Any]]
    seconds: dict[str, float]


def report_of(
    run: str, summary: Summary, merged: MergedRun, seconds: dict[str, float], unknown_visits: int = 0
) -> Report:
    """The report of a run; `unknown_visits` found a page as it was that the facts store does not have."""
    empty, leads = _empty(merged.files)
    return Report(
        run=run,
        archives=len(summary.tasks),
        pages=summary.pages,
        quarantined=summary.quarantined,
        unread_bytes=summary.unread_bytes,
        damage=summary.damage,
        revisits=summary.revisits + unknown_visits,
        parked={one.archive: one.reason for one in summary.parked},
        leads=leads,
        unchanged=merged.report.unchanged,
        gone=merged.gone,
        dropped=merged.report.dropped,
        sightings=merged.report.evidence,
        empty_percent={name: round(100 * empty[name] / max(1, leads), 1) for name in LEAD_SCHEMA.names},
        samples=_samples(merged.files),
        seconds={step: round(took, 1) for step, took in seconds.items()},
    )


def _empty(files: Sequence[Path]) -> tuple[Counter[str], int]:
    """How many leads have nothing in a field, and how many there are."""
    empty: Counter[str] = Counter()
    leads = 0
    for path in files:
        with open_parquet(path) as file:
            for number in range(file.num_row_groups):
                table = file.read_row_group(number)
                leads += table.num_rows
                for field in LEAD_SCHEMA:
                    empty[field.name] += _count_empty(table.column(field.name).combine_chunks())
    return empty, leads


def _count_empty(column: pa.Array[Any]) -> int:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        texts: Any = column.cast(pa.string())
        lengths: Any = pc.binary_length(texts)
    elif isinstance(column, pa.MapArray):  # never null, and without a separate function
        lengths = pc.list_value_length(pa.ListArray.from_arrays(column.offsets, column.keys))
    elif pa.types.is_list(kind):
        lengths = pc.list_value_length(column)
    else:
        return int(column.null_count)
    filled = pc.sum(pc.greater(lengths.fill_null(0), pa.scalar(0)).cast(pa.int64())).as_py() or 0
    return len(column) - int(filled)


def _samples(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Leads of the first file, far apart: to see with one's own eyes that they are what they should be."""
    for path in files:
        with open_parquet(path) as file:
            if file.num_row_groups:
                leads = read_row_group(file, 0)
                step = max(1, len(leads) // SAMPLES)
                return [{name: getattr(lead, name) for name in _SAMPLED} for lead in leads[::step][:SAMPLES]]
    return []


def report_text(report: Report) -> str:
    """The report as an operator reads it."""
    lines = [
        f"run {report.run}: {report.pages:,} pages of {report.archives:,} archives, {report.leads:,} leads "
        f"({report.unchanged:,} as before), {report.sightings:,} sightings of contacts",
        "seconds: " + ", ".join(f"{step} {took:g}" for step, took in report.seconds.items()),
        _counts("in quarantine", report.quarantined),
        *damage_lines(report.unread_bytes, report.damage),
        f"revisits without their page: {report.revisits:,}",
        _counts("rejected domains", report.dropped),
        *(f"given up: {archive}: {reason}" for archive, reason in report.parked.items()),
        "empty fields, % of leads:",
    ]
    pairs = [f"{name} {share:g}" for name, share in report.empty_percent.items() if share]
    lines += ["  " + ", ".join(pairs[start : start + 8]) for start in range(0, len(pairs), 8)]
    lines.append("samples:")
    lines += ["  " + " | ".join(_short(value) for value in sample.values()) for sample in report.samples]
    return "\n".join(lines)


def damage_lines(unread_bytes: int, damage: Sequence[QuarantinedRecord]) -> list[str]:
    """What was not read because of damage, and where; nothing if all was read."""
    if not unread_bytes:
        return []
    return [
        f"not read because of damage: {unread_bytes:,} bytes, first:",
        *(f"  {one.archive} at {one.offset:,}: {one.unread_bytes:,} bytes, {one.reason}" for one in damage),
    ]


def _counts(title: str, counts: dict[str, int]) -> str:
    most = sorted(counts.items(), key=lambda one: -one[1])
    told = ", ".join(f"{reason} {count:,}" for reason, count in most[:SHOWN])
    return f"{title}: {told or 'none'}" + (f", and {len(most) - SHOWN} others" if len(most) > SHOWN else "")


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value if value is not None else "")
    return text if len(text) <= 40 else text[:39] + "…"
