"""Random histories of a facts store: runs in any order, some of them killed, opt-outs, purges, compactions. The index
is a dictionary that takes writes and deletions by their versions, as OpenSearch does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.facts import FACTS_SCHEMA, ContactSighting, PageFacts, to_batch
from siteglass.ingest.run_leads import GONE, MergedRun, merge_run, said_by
from siteglass.ingest.store.facts_store import FactsStore, open_store
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.settings import Settings
from siteglass.suppression.values import Hasher, read_value
from testing.random_facts import START_MS, random_page

SECRET = "a secret of the tests that is long enough"
STAND_IN = "tests.ingest.stand_in_rules:RULES"
MIN_DOMAINS = 4
DOMAINS = tuple(f"site-{number}.example" for number in range(14))
DESIGNERS = ("studio@designer.example", "hello@agency.example")
Killed = Literal["", "while adding", "before the merge", "before the load", "in the load", "before it is settled"]
KILLED: tuple[Killed, ...] = (
    *("", "", "", ""),
    *("while adding", "before the merge", "before the load", "in the load", "before it is settled"),
)


def no_spark() -> Any:
    raise AssertionError("so few pages are merged without Spark")


def leads_in(files: list[Path]) -> list[Lead]:
    return [lead for path in files for _, group in read_parquet(path) for lead in group]


@dataclass
class FakeIndex:
    """Leads by domain. A deletion is remembered with its version."""

    leads: dict[str, Lead] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def write(self, lead: Lead) -> None:
        if lead.version >= self.versions.get(lead.domain, 0):
            self.leads[lead.domain] = lead
            self.versions[lead.domain] = lead.version

    def delete(self, domain: str, version: int) -> None:
        if version >= self.versions.get(domain, 0):
            self.leads.pop(domain, None)
            self.versions[domain] = version

    def screen(self, suppressed: SuppressionSnapshot) -> None:
        """As an opt-out does: at the versions that are there."""
        for domain, lead in list(self.leads.items()):
            kept = suppressed.lead(lead)
            if kept is None:
                del self.leads[domain]
            else:
                self.leads[domain] = kept


@dataclass
class History:
    """A store, an index, and what happens to them."""

    folder: Path
    chance: random.Random
    index: FakeIndex = field(default_factory=FakeIndex)
    listed: set[str] = field(default_factory=set)
    tasks: dict[str, Path] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)

    @contextmanager
    def store(self, name: str = "store") -> Iterator[FactsStore]:
        with open_store(self.folder / name, min_domains=MIN_DOMAINS, rows_at_once=self.chance.choice((3, 50))) as store:
            yield store

    @property
    def suppressed(self) -> SuppressionSnapshot:
        values = [read_value(value) for value in sorted(self.listed)]
        hasher = Hasher(Settings(suppression_secret=SECRET))
        domains = frozenset(value.text for value in values if value.kind == "domain")
        hashes = frozenset(one for value in values if value.kind != "domain" for one in hasher.all_of(value))
        return SuppressionSnapshot(domains, hashes, SECRET)

    def extract(self) -> dict[str, Path]:
        """An archive of some pages, crawled at any time: it may be older than those before."""
        name = f"task-{len(self.tasks):03}"
        start = self.chance.randrange(40)
        facts = [self._capture(start, number) for number in range(self.chance.choice((1, 3, 12)))]
        kept = [page for page in map(self.suppressed.page, facts) if page is not None]
        path = self.folder / f"{name}.parquet"
        pq.write_table(pa.Table.from_batches([to_batch(kept)], FACTS_SCHEMA), path)
        self.tasks[name] = path
        return {name: path}

    def _capture(self, start: int, number: int) -> PageFacts:
        page = random_page(self.chance, self.chance.choice(DOMAINS))
        kind = self.chance.choice((page.kind, page.kind, page.kind, "empty"))
        emails = page.emails
        if kind == "page" and self.chance.random() < 0.3:
            emails = (*emails, ContactSighting(self.chance.choice(DESIGNERS), "text"))
        other = self.chance.choice(DOMAINS)
        leads_on = page.is_home and kind in ("page", "redirect") and other != page.domain and self.chance.random() < 0.4
        return msgspec.structs.replace(
            page,
            kind=kind,
            status=self.chance.choice((404, 410, 500)) if kind == "failed" else 200,
            captured_at_ms=START_MS + (start + self.chance.randrange(4)) * 1_000,
            archive=f"archive-{len(self.tasks)}",
            offset=number,
            emails=emails,
            alias_of=other if leads_on else "",
            redirects_to=other if leads_on and kind == "redirect" else page.redirects_to,
        )

    def run(self, killed: Killed = "") -> None:
        """A run of the pipeline, or what is left of one that is killed."""
        self.events.append(f"run, killed {killed}" if killed else "run")
        tasks = self.extract()
        with self.store() as store:
            store.append(tasks)
            if killed == "while adding":
                return
            store.commit()
            if killed != "before the merge":
                self._merge_and_load(store, killed)

    def finish(self) -> None:
        """A last run, of all archives: what was killed is made good."""
        with self.store() as store:
            store.append(self.tasks)
            store.commit()
            self._merge_and_load(store, "")

    def _merge_and_load(self, store: FactsStore, killed: Killed) -> None:
        if not store.manifest.pending:
            return
        merged = self.merged(store)
        store.record_leads(said_by(merged.files))
        store.commit()
        if killed == "before the load":
            return
        writes: list[Callable[[], None]] = [partial(self.index.write, lead) for lead in leads_in(merged.files)]
        gone = pq.read_table(self.folder / "run" / GONE).to_pylist()
        writes += [partial(self.index.delete, row["domain"], row["version"]) for row in gone]
        for number, write in enumerate(writes):
            if killed == "in the load" and 2 * number > len(writes):
                return
            write()
        if killed != "before it is settled":
            store.settle(store.manifest.pending)
            store.commit()

    def merged(self, store: FactsStore, folder: str = "run", **options: Any) -> MergedRun:
        given: dict[str, Any] = {"rules": STAND_IN, **options}
        return merge_run(store, self.folder / folder, self.suppressed, no_spark, **given)

    def opt_out(self) -> None:
        shown = [email for lead in self.index.leads.values() for email in lead.emails]
        value = self.chance.choice([*DOMAINS, *DESIGNERS, *sorted(shown)])
        self.events.append(f"opt-out of {value}")
        self.listed.add(value)
        self.index.screen(self.suppressed)

    def compact(self) -> None:
        self.events.append("compaction")
        with self.store() as store:
            store.compact()
            store.commit()

    def purge(self) -> None:
        self.events.append("purge")
        with self.store() as store:
            store.purge(self.suppressed)
            store.commit()

    def rebuilt(self) -> dict[str, Lead]:
        """The leads of a rebuild from the store."""
        with self.store() as store:
            merged = self.merged(store, "rebuilt", is_whole=True)
        return {lead.domain: lead for lead in leads_in(merged.files)}
