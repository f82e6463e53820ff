"""The merge of few captures in this process, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from siteglass.ingest.aliases import find_aliases
from siteglass.ingest.captures import CaptureCollector, believable, checked
from siteglass.ingest.content import PREVIOUS_SCHEMA
from siteglass.ingest.grouped import column, pc
from siteglass.ingest.merge import RULES, MergeReport, summed
from siteglass.ingest.part_writer import Finishing, PartReport
from siteglass.ingest.rules import rules_of

PART_ROWS = 20_000


def merge_in_process(facts: Iterable[pa.Table], out: Path) -> PartReport:
    """Merge tables of page facts into one file of leads in the folder `out`, with its evidence; none without a lead.

    Their columns are those of FACTS_SCHEMA. All of it is in memory at once: some 100,000 pages are possible.
    """
    collector = CaptureCollector(rules_of(RULES).priority)
    for table in facts:
        collector.add(believable(checked(table, "facts")))
    captures = collector.captures()
    aliases = find_aliases(lambda columns: [captures.select(columns)])
    return Finishing(out, RULES, None, aliases=aliases).part(0, captures, PREVIOUS_SCHEMA.empty_table())


def merge_ordered(
    pages: Iterable[pa.Table], finishing: Finishing, previous: pa.Table, part_rows: int = PART_ROWS
) -> MergeReport:
    """Merge pages that come in the order of domains, a part after the other: some thousand are in memory at a time.
    `previous` is what the leads said before, see `content.PREVIOUS_SCHEMA`."""
    reports = []
    for number, captures in enumerate(parts_of(pages, finishing.rules, part_rows)):
        names = pc.unique(column(captures, "domain"))
        said = previous.filter(pc.is_in(previous.column("domain"), value_set=names))
        reports.append(finishing.part(number, captures, said))
    return summed(reports)


def parts_of(pages: Iterable[pa.Table], rules: str = RULES, part_rows: int = PART_ROWS) -> Iterator[pa.Table]:
    """All captures of some domains at a time. Of a domain with very many, few have their content."""
    priority = rules_of(rules).priority
    collector, rows, last = CaptureCollector(priority), 0, ""
    for table in pages:
        first = column(table, "domain")[0].as_py()
        if rows >= part_rows and first != last:
            yield collector.captures()
            collector, rows = CaptureCollector(priority), 0
        domains = column(table, "domain")
        last = domains[-1].as_py()
        collector.add(table)
        rows += table.num_rows
    if rows:
        yield collector.captures()
