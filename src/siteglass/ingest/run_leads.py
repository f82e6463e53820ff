"""The leads of a run: pages of the facts store, merged in this process if they are few, in Spark if they are many."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import column_values
from siteglass.ingest.aliases import aliases_of_files, find_aliases
from siteglass.ingest.captures import newest_ms, numbered
from siteglass.ingest.content import PREVIOUS_SCHEMA, hashes_of_file
from siteglass.ingest.facts import FACTS_SCHEMA
from siteglass.ingest.grouped import listed
from siteglass.ingest.merge import RULES, MergeReport, merge
from siteglass.ingest.part_writer import Finishing
from siteglass.ingest.signals import NO_PAGE, signals
from siteglass.ingest.single_part import merge_ordered, parts_of
from siteglass.ingest.sources import PRECEDENCE, divided
from siteglass.ingest.store.facts_store import FactsStore
from siteglass.ingest.store.folding import current
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Raise it with every change of how pages become a lead: it is part of a run's name, so that they are merged again.
MERGE_VERSION = "2026.11.19.2"
MAX_ROWS_IN_PROCESS = 50_000
"""Spark needs ten seconds to start, in which one process merges several times as many."""
GONE = "gone.parquet"
_GONE: dict[str, pa.DataType] = {"domain": pa.string(), "version": pa.int64()}
GONE_SCHEMA: pa.Schema = pa.schema(_GONE)

Session = Callable[[], "AbstractContextManager[SparkSession]"]


@dataclass(frozen=True, slots=True)
class MergedRun:
    """Files of leads, and how many of their domains have none any more."""

    files: list[Path]
    report: MergeReport
    gone: int


def run_id(
    store: FactsStore,
    suppressed: SuppressionSnapshot | None,
    *,
    is_whole: bool,
    precedence: Sequence[str] = PRECEDENCE,
    excluded: frozenset[str] = frozenset(),
) -> str:
    """What the leads of a run depend on, in one name."""
    opted_out = sorted(suppressed.domains) + sorted(one.hex() for one in suppressed.hashes) if suppressed else []
    scope = ["all"] if is_whole else ["pending", *store.manifest.pending]
    parts = [MERGE_VERSION, *precedence, *scope, "", *store.manifest.tasks, "", *opted_out, "", *sorted(excluded)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def refused_domains(store: FactsStore, domains: Collection[str]) -> set[str]:
    """Those of these domains that are not leads, whatever records say: a home page that is parked, unlisted or leads
    elsewhere decides."""
    refused: set[str] = set()
    for captures in parts_of(map(current, store.pages(domains))):
        pages = divided(captures).pages
        if pages.num_rows:
            states = signals(pages, *numbered(pages))
            reasons = zip(listed(states, "domain"), listed(states, "dropped"), strict=True)
            refused.update(domain for domain, why in reasons if why not in ("", NO_PAGE))
    return refused


def merge_run(
    store: FactsStore,
    folder: Path,
    suppressed: SuppressionSnapshot | None,
    session: Session,
    *,
    is_whole: bool = False,
    rules: str = RULES,
    max_rows: int = MAX_ROWS_IN_PROCESS,
    precedence: Sequence[str] = PRECEDENCE,
    excluded: frozenset[str] = frozenset(),
) -> MergedRun:
    """Write the leads of all domains, or of those that have new facts, to a folder. `GONE` lists the other ones of
    these."""
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was interrupted
    leads = folder / "leads"
    leads.mkdir(parents=True)
    domains = None if is_whole else store.pending()
    pages = _Pages(map(current, store.pages(domains)))
    few = pages.first(max_rows)
    previous = store.previous(domains)
    if few is not None:
        aliases = find_aliases(lambda columns: [table.select(columns) for table in few])
        finishing = Finishing(leads.resolve(), rules, suppressed, store.shared(), aliases, precedence, excluded)
        report = merge_ordered(few, finishing, previous)
    else:
        facts, before = folder / "facts", folder / "previous"
        _write(facts, pages.all(), FACTS_SCHEMA)
        _write(before, [previous] if previous.num_rows else [], PREVIOUS_SCHEMA)
        with session() as spark:
            report = merge(
                spark,
                facts,
                leads,
                previous=before if previous.num_rows else None,
                suppressed=suppressed,
                shared=store.shared(),
                aliases=aliases_of_files(facts.glob("*.parquet")),
                rules=rules,
                precedence=precedence,
                excluded=excluded,
            )
        shutil.rmtree(facts)
        shutil.rmtree(before)
    files = sorted(leads.glob("*.parquet"))
    return MergedRun(files, report, 0 if is_whole else _write_gone(folder / GONE, files, pages.versions))


@dataclass(slots=True)
class _Pages:
    """Pages on their way to the merge. Notes the newest fact of each domain, which is the version of its deletion."""

    source: Iterator[pa.Table]
    versions: dict[str, int] = field(default_factory=dict)
    _held: list[pa.Table] = field(default_factory=list)

    def first(self, rows: int) -> list[pa.Table] | None:
        """All pages, if they are not more."""
        held = 0
        for table in self._noted():
            self._held.append(table)
            held += table.num_rows
            if held > rows:
                return None
        return self._held

    def all(self) -> Iterator[pa.Table]:
        """All pages, of which `first` has read too many."""
        return chain(self._held, self._noted())

    def _noted(self) -> Iterator[pa.Table]:
        for table in self.source:
            for domain, newest in zip(listed(table, "domain"), newest_ms(table).tolist(), strict=True):
                self.versions[domain] = max(newest, self.versions.get(domain, 0))
            yield table


def _write(folder: Path, tables: Iterator[pa.Table] | Sequence[pa.Table], schema: pa.Schema) -> None:
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table.cast(schema), folder / f"{number:05}.parquet", compression="lz4")


def _write_gone(path: Path, files: Sequence[Path], versions: dict[str, int]) -> int:
    leads = {domain for file in files for domain in column_values(pq.read_table(file, columns=["domain"]), "domain")}
    gone = sorted((domain, version) for domain, version in versions.items() if domain not in leads)
    columns = [pa.array([domain for domain, _ in gone], pa.string()), pa.array([at for _, at in gone], pa.int64())]
    pq.write_table(pa.table(columns, schema=GONE_SCHEMA), path)
    return len(gone)


def said_by(files: Sequence[Path]) -> pa.Table:
    """What leads of some files say, in the order of domains."""
    return pa.concat_tables([PREVIOUS_SCHEMA.empty_table(), *map(hashes_of_file, files)]).sort_by("domain")
