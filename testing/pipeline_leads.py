"""Leads that the pipeline makes of captures: extraction and the last step of the merge, in one process."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.assembly import ExtractFailed, NotHtml, facts_of
from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, to_batch
from siteglass.ingest.single_part import merge_in_process


def leads_by_domain(captures: Iterable[Capture]) -> dict[str, Lead]:
    """As `siteglass ingest run` makes them: each capture extracted, all merged as one part, the written file read."""
    facts: list[PageFacts] = []
    for capture in captures:
        try:
            facts.append(facts_of(capture))
        except NotHtml:
            continue
        except ExtractFailed as problem:
            print(f"Not scored: {capture.url}: {problem}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        merge_in_process([pa.Table.from_batches([to_batch(facts)], FACTS_SCHEMA)], Path(folder))
        groups = (group for path in Path(folder).glob("*.parquet") for _, group in read_parquet(path))
        return {lead.domain: lead for group in groups for lead in group}
