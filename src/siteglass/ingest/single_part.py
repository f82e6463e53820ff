"""The merge of few captures in this process, as one part and without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from siteglass.ingest.aliases import find_aliases
from siteglass.ingest.captures import CaptureCollector, believable, checked
from siteglass.ingest.content import PREVIOUS_SCHEMA
from siteglass.ingest.merge import RULES
from siteglass.ingest.part_writer import Finishing, PartReport
from siteglass.ingest.rules import rules_of


def merge_in_process(facts: Iterable[pa.Table], out: Path) -> PartReport:
    """Merge tables of page facts into one file of leads in the folder `out`, with its evidence; none without a lead.

    Their columns are those of FACTS_SCHEMA. All of it is in memory at once: some 100,000 pages are possible.
    """
    collector = CaptureCollector(rules_of(RULES).priority)
    for table in facts:
        collector.add(believable(checked(table, "facts")))
    captures = collector.captures()
    aliases = find_aliases(lambda columns: [captures.select(columns)])
    return Finishing(out, RULES, None, aliases).part(0, captures, PREVIOUS_SCHEMA.empty_table())
