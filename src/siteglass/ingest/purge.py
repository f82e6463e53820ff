"""Opted-out values out of all files below a work folder: the facts store, facts of tasks, old runs, and rejects.

Archives keep the pages as they were crawled. Later runs leave the values out when they read them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from siteglass.corpus.domains import NotAHost, normalise
from siteglass.corpus.lead_files import replacing
from siteglass.corpus.rejects import REJECTS_SUFFIX
from siteglass.ingest.archives import QuarantinedRecord
from siteglass.ingest.store.facts_store import FactsStore
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.ingest.tasks import UnusedRecords, read_facts, revisits_in, sweep, write_facts


class PurgeReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was rewritten or deleted."""

    domains: int
    """Domains of which the store had opted-out values."""
    tasks: int
    """Files of tasks that had some."""
    runs: int
    """Folders of runs, which are deleted whole: their leads are in the index."""
    rejects: int
    """Lists of what imports left out, which are deleted whole: values that cannot be read cannot be compared."""


def purge(store: FactsStore, work: Path, suppressed: SuppressionSnapshot) -> PurgeReport:
    """Remove what is on the list of opt-outs. Can be repeated; an interrupted one leaves files that can be read."""
    domains = store.purge(suppressed)
    store.commit()
    sweep(work / "facts")
    facts = sorted((work / "facts").glob("*.parquet"))
    quarantined = sorted((work / "facts").glob("*.quarantine.ndjson"))
    tasks = sum(_purge_task(path, suppressed) for path in facts)
    tasks += sum(_purge_quarantine(path, suppressed) for path in quarantined)
    runs = [path for path in (work / "runs").glob("*") if path.is_dir()]
    for run in runs:
        shutil.rmtree(run)
    rejects = list(work.glob(f"*{REJECTS_SUFFIX}"))
    for path in rejects:
        path.unlink()
    return PurgeReport(domains=domains, tasks=tasks, runs=len(runs), rejects=len(rejects))


def _purge_task(path: Path, suppressed: SuppressionSnapshot) -> bool:
    if all(page == suppressed.page(page) for page in read_facts(path)):
        return False
    with replacing(path) as sink:
        kept = (left for page in read_facts(path) if (left := suppressed.page(page)) is not None)
        write_facts(sink, kept, UnusedRecords(revisits=revisits_in(path)))
    return True


def _purge_quarantine(path: Path, suppressed: SuppressionSnapshot) -> bool:
    """Addresses of pages that could not be read may hold a value, too."""
    before = [msgspec.json.decode(line, type=QuarantinedRecord) for line in path.read_bytes().splitlines()]
    after = [_screened(record, suppressed) for record in before]
    if after == before:
        return False
    with replacing(path) as sink:
        sink.write(b"".join(msgspec.json.encode(record) + b"\n" for record in after))
    return True


def _screened(record: QuarantinedRecord, suppressed: SuppressionSnapshot) -> QuarantinedRecord:
    """The place stays: the report of the task counts it."""
    if not record.url:
        return record
    try:
        is_hidden = suppressed.hides_domain(normalise(record.url))
    except NotAHost:
        is_hidden = False
    return msgspec.structs.replace(record, url="" if is_hidden else suppressed.address(record.url, ()))
