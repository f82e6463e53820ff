"""FactsStore: pages of all crawls by domain, in a base and the deltas of runs since it was written.

STORE/manifest.json      names the files that count; others are left over from an interrupted command and are deleted
STORE/base/*.parquet     pages in the order of domains
STORE/deltas/*/*.parquet the same for each run since
STORE/values, shared, links, leads, pending: see `Manifest`
"""

from __future__ import annotations

import fcntl
import hashlib
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.content import PREVIOUS_SCHEMA
from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, from_table, to_batch
from siteglass.ingest.grouped import column, listed, pc
from siteglass.ingest.store.alias_links import LINKS_SCHEMA, distinct_links, links_of, with_linked
from siteglass.ingest.store.files import KeyRange, SortedFile, StoreFiles
from siteglass.ingest.store.folding import fold
from siteglass.ingest.store.manifest import Manifest, StoreError, read_manifest, write_manifest
from siteglass.ingest.store.shared_values import (
    MIN_DOMAINS,
    PAIRS_SCHEMA,
    SharedValues,
    distinct,
    over_threshold,
    pairs_of,
)
from siteglass.ingest.store.sorting import ROWS_AT_ONCE, folded_files
from siteglass.ingest.store.unchanged import visits_in
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.settings import Settings

NO_SETTINGS = Settings()
_DOMAINS: pa.Schema = pa.schema([pa.field("domain", pa.string())])
_SHARED: pa.Schema = pa.schema([pa.field("value", pa.int64())])


@contextmanager
def open_store(
    address: str | Path,
    settings: Settings = NO_SETTINGS,
    *,
    min_domains: int = MIN_DOMAINS,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Iterator[FactsStore]:
    """The store at an address, for one writer at a time; `settings` say where S3 is. Raises StoreError."""
    with ExitStack() as stack:
        try:
            files = StoreFiles(str(address), settings)
            if files.is_local:
                _lock(stack, Path(address))
            # Without this, a run would read all archives before it fails.
            if bucket := files.missing_bucket:
                raise StoreError(
                    f"There is no bucket {bucket} that these keys may see. Make it, or check the keys, or name another "
                    "one: --store"
                )
            store = FactsStore(files, read_manifest(files), min_domains, rows_at_once)
            store.sweep()
        except (OSError, ValueError) as error:
            raise StoreError(f"The store {address} cannot be used: {error}") from error
        yield store


def _lock(stack: ExitStack, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lock = stack.enter_context((folder / "lock").open("w"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(f"Another command is using the store {folder}. Wait until it ends.") from None


class FactsStore:
    """A store that is open. Changes count from `commit` on."""

    def __init__(self, files: StoreFiles, manifest: Manifest, min_domains: int, rows_at_once: int) -> None:
        self.manifest = manifest
        self._files = files
        self._min_domains = min_domains
        self._rows_at_once = rows_at_once
        self.unknown_visits = 0
        """Visits appended since it was opened that found a page as it was, which the store does not have."""

    def commit(self) -> None:
        """Let what was changed count, and delete what does not any more."""
        self.manifest = write_manifest(self._files, self.manifest)
        self.sweep()

    def sweep(self) -> None:
        """Delete files that do not count."""
        self._files.sweep(self.manifest.names)

    def clear(self) -> None:
        """Forget all pages. What leads said stays, so that leads that say the same keep their time."""
        self.manifest = Manifest(number=self.manifest.number, leads=self.manifest.leads)

    # What is in it

    @property
    def is_empty(self) -> bool:
        """Whether it has no page."""
        return not self.manifest.facts

    def pages(self, domains: Collection[str] | None = None) -> Iterator[pa.Table]:
        """Pages of all domains or of some, folded, in the order of their keys. Some thousand come at once, so that
        those of a domain may be in several tables."""
        ordered = None if domains is None else sorted(domains)
        with ExitStack() as stack:
            opened = [stack.enter_context(self._files.open(name)) for name in self.manifest.facts]
            for within in self._ranges(opened):
                wanted = None if ordered is None else within.among(ordered)
                if wanted is not None and not wanted:
                    continue
                tables = [table for file in opened for table in file.read(within, wanted)]
                if tables:
                    yield fold(pa.concat_tables(tables))

    def _ranges(self, opened: Sequence[SortedFile]) -> Iterator[KeyRange]:
        """Ranges with some thousand rows each; all rows of a page are in one."""
        groups = sorted((group.first, group.rows) for file in opened for group in file.groups)
        start, rows = "", 0
        for first, count in groups:
            if rows and rows + count > self._rows_at_once and first > start:
                yield KeyRange(start, first)
                start, rows = first, 0
            rows += count
        yield KeyRange(start, None)

    def pending(self) -> list[str]:
        """Domains whose leads are to be merged and loaded, in order."""
        return sorted({domain for table in self._tables(self.manifest.pending) for domain in listed(table, "domain")})

    def shared(self) -> SharedValues:
        """Values that many domains show."""
        return frozenset(value for table in self._tables(self.manifest.shared) for value in listed(table, "value"))

    def previous(self, domains: Collection[str] | None = None) -> pa.Table:
        """What the leads of all domains or of some said when they were last merged, in the order of domains."""
        wanted = None if domains is None else sorted(domains)
        found = PREVIOUS_SCHEMA.empty_table()
        for name in reversed(self.manifest.leads):
            older = pa.concat_tables([PREVIOUS_SCHEMA.empty_table(), *self._tables([name], wanted)])
            is_known = pc.is_in(older.column("domain"), value_set=column(found, "domain"))
            found = pa.concat_tables([found, older.filter(pc.invert(is_known))])
        return found.sort_by("domain")

    def _links(self) -> pa.Table:
        """Which domains ever led to which."""
        return pa.concat_tables([LINKS_SCHEMA.empty_table(), *self._tables(self.manifest.links)])

    def _tables(self, names: Iterable[str], domains: Sequence[str] | None = None) -> Iterator[pa.Table]:
        for name in names:
            with self._files.open(name) as file:
                yield from file.read(domains=domains)

    # Changes

    def append(self, tasks: Mapping[str, Path]) -> int:
        """Add the facts of archives that are not in it, by the names of their tasks; how many archives those are. Their
        domains are pending then, those of values that so many domains show now that they are nobody's own, and all that
        are linked with these."""
        known = set(self.manifest.tasks)
        new = {task: path for task, path in tasks.items() if task not in known}
        if not new:
            return 0
        digest = hashlib.sha256("\n".join(sorted(new)).encode()).hexdigest()[:16]
        name = f"{self.manifest.number:06}-{digest}"
        pairs, domains = [PAIRS_SCHEMA.empty_table()], set[str]()
        links = [LINKS_SCHEMA.empty_table()]
        with (
            self._with_unchanged(sorted(new.values())) as paths,
            self._files.writer(f"deltas/{name}", "facts", FACTS_SCHEMA) as writer,
        ):
            for pages in folded_files(paths, self._rows_at_once):
                writer.write(pages)
                pairs.append(pairs_of(pages))
                links.append(links_of(pages))
                domains.update(listed(pages, "domain"))
        values = self._files.write("values", name, distinct(pa.concat_tables(pairs)))
        crossing = self._crossing(values)
        domains.update(listed(crossing, "domain"))
        domains = with_linked(domains, pa.concat_tables([self._links(), *links]))
        keys = pc.unique(crossing.column("value"))
        self.manifest = msgspec.structs.replace(
            self.manifest,
            deltas={**self.manifest.deltas, name: writer.names},
            values=[*self.manifest.values, *values],
            shared=[*self.manifest.shared, *self._files.write("shared", name, pa.table([keys], schema=_SHARED))],
            links=[*self.manifest.links, *self._files.write("links", name, distinct_links(pa.concat_tables(links)))],
            pending=[*self.manifest.pending, *self._write_domains(name, domains)],
            tasks=[*self.manifest.tasks, *sorted(new)],
        )
        return len(new)

    @contextmanager
    def _with_unchanged(self, paths: list[Path]) -> Iterator[list[Path]]:
        """Files of facts, and one more with the rows of visits that found a page as it was, see `unchanged`."""
        visits = visits_in(paths)
        if not visits.rows.num_rows:
            yield paths
            return
        found, rest = visits.with_pages(self.pages(visits.domains))
        if rest.rows.num_rows:
            more, rest = rest.with_pages(folded_files(paths, self._rows_at_once))
            found += more
        self.unknown_visits += rest.rows.num_rows
        with tempfile.TemporaryDirectory(prefix=".sorting-", dir=paths[0].parent) as folder:
            path = Path(folder) / "unchanged.parquet"
            pq.write_table(pa.concat_tables([FACTS_SCHEMA.empty_table(), *found]), path)
            yield [*paths, path]

    def _crossing(self, values: Sequence[str]) -> pa.Table:
        """Pairs of the values that are over the threshold with these files, and were not before."""
        added = pa.concat_tables([PAIRS_SCHEMA.empty_table(), *self._tables(values)])
        keys = pc.unique(added.column("value"))
        old = self.shared()
        keys = keys.filter(pc.invert(pc.is_in(keys, value_set=pa.array(sorted(old), pa.int64()))))
        some = [
            table.filter(pc.is_in(table.column("value"), value_set=keys))
            for table in self._tables([*self.manifest.values, *values])
        ]
        return over_threshold(pa.concat_tables([PAIRS_SCHEMA.empty_table(), *some]), self._min_domains)

    def _write_domains(self, name: str, domains: Collection[str]) -> list[str]:
        return self._files.write("pending", name, pa.table([pa.array(sorted(domains), pa.string())], schema=_DOMAINS))

    def record_leads(self, said: pa.Table) -> None:
        """Keep what leads say, see `content.PREVIOUS_SCHEMA`; domains are in order."""
        names = self._files.write("leads", f"{self.manifest.number:06}", said)
        self.manifest = msgspec.structs.replace(self.manifest, leads=[*self.manifest.leads, *names])

    def settle(self, pending: Collection[str]) -> None:
        """The leads of the domains in these files of `Manifest.pending` are merged and loaded."""
        rest = [name for name in self.manifest.pending if name not in pending]
        self.manifest = msgspec.structs.replace(self.manifest, pending=rest)

    def compact(self) -> None:
        """Put base and deltas together to a new base. What is known stays the same."""
        name = f"{self.manifest.number:06}"
        with self._files.writer("base", name, FACTS_SCHEMA) as base:
            for pages in self.pages():
                base.write(pages)
        pairs = pa.concat_tables([PAIRS_SCHEMA.empty_table(), *self._tables(self.manifest.values)])
        shared = pa.table([pa.array(sorted(self.shared()), pa.int64())], schema=_SHARED)
        self.manifest = msgspec.structs.replace(
            self.manifest,
            base=base.names,
            deltas={},
            values=self._files.write("values", name, distinct(pairs)),
            shared=self._files.write("shared", name, shared),
            links=self._files.write("links", name, distinct_links(self._links())),
            leads=self._files.write("leads", name, self.previous()),
            pending=self._write_domains(name, self.pending()),
        )

    def purge(self, suppressed: SuppressionSnapshot) -> int:
        """Compact, and leave out what is on the list of opt-outs; how many domains that changes. Their leads, those of
        domains that shared a value with so many of them, and of all that are linked with these, are pending then."""
        name = f"{self.manifest.number:06}"
        changed, pairs, links = set[str](), [PAIRS_SCHEMA.empty_table()], [LINKS_SCHEMA.empty_table()]
        # A page whose address contained a value has another one now, and another place in the order: in another file.
        moved: list[PageFacts] = []
        with self._files.writer("base", name, FACTS_SCHEMA) as base:
            for pages in self.pages():
                kept = _screened(pages, suppressed, changed, moved)
                base.write(kept)
                pairs.append(pairs_of(kept))
                links.append(links_of(kept))
        others = fold(_table(moved))
        links.append(links_of(others))
        every = distinct(pa.concat_tables([*pairs, pairs_of(others)]))
        over = over_threshold(every, self._min_domains)
        keys = frozenset[int](listed(over, "value"))
        below = pa.array(sorted(self.shared() - keys), pa.int64())
        touched = {*changed, *self.pending(), *listed(every.filter(pc.is_in(every.column("value"), below)), "domain")}
        touched = with_linked(touched, self._links())
        said = self.previous()
        shown = [not suppressed.hides_domain(domain) for domain in listed(said, "domain")]
        self.manifest = msgspec.structs.replace(
            self.manifest,
            base=[*base.names, *self._files.write("base", f"{name}-moved", others)],
            deltas={},
            values=self._files.write("values", name, every),
            shared=self._files.write("shared", name, pa.table([pa.array(sorted(keys), pa.int64())], schema=_SHARED)),
            links=self._files.write("links", name, distinct_links(pa.concat_tables(links))),
            leads=self._files.write("leads", name, said.filter(pa.array(shown, pa.bool_()))),
            pending=self._write_domains(name, {one for one in touched if not suppressed.hides_domain(one)}),
        )
        return len(changed)


def _screened(pages: pa.Table, suppressed: SuppressionSnapshot, changed: set[str], moved: list[PageFacts]) -> pa.Table:
    """Pages without what is listed. Adds the domains of those that had some, and those with another address apart."""
    before = from_table(pages)
    after = [suppressed.page(page) for page in before]
    if after == before:
        return pages
    kept: list[PageFacts] = []
    for page, screened in zip(before, after, strict=True):
        if screened != page:
            changed.add(page.domain)
        if screened is not None:
            (kept if screened.url == page.url else moved).append(screened)
    return _table(kept)


def _table(pages: list[PageFacts]) -> pa.Table:
    return pa.Table.from_batches([to_batch(pages)], FACTS_SCHEMA)
