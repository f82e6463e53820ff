"""Leads that were loaded from files of leads, as records: an import takes nothing away from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from siteglass.corpus.lead_store import newest_leads
from siteglass.ingest.captures import newest_ms
from siteglass.ingest.grouped import listed
from siteglass.ingest.sources import NEVER_MS, SourceRecord, divided
from siteglass.ingest.store.facts_store import FactsStore

_DOMAINS_AT_ONCE = 100_000
"""The whole lead store is read for so many."""


def loaded_leads(store: FactsStore, lead_store: Path, domains: Collection[str]) -> Iterator[SourceRecord]:
    """Leads of the lead store whose crawl is newer than all that the facts store has of their domain.

    They were loaded from files of leads. Those that the release before imported are records of their imports: it gave
    them the time of the import as that of a crawl, which is in the name of the file.
    """
    ordered = sorted(domains)
    for start in range(0, len(ordered), _DOMAINS_AT_ONCE):
        some = ordered[start : start + _DOMAINS_AT_ONCE]
        crawled = _crawl_times(store, some)
        for path, lead in newest_leads(lead_store, some):
            if lead.crawled_at_ms <= crawled.get(lead.domain, NEVER_MS):
                continue
            name = path.stem.removesuffix(f"-{lead.crawled_at_ms}")
            if name == path.stem:
                yield SourceRecord("site", "loaded", "loaded from a file of leads", "", lead.version, lead)
            else:
                imported = msgspec.structs.replace(lead, crawled_at_ms=NEVER_MS)
                yield SourceRecord("import", name, f"imported from {name}", "", lead.version, imported)


def _crawl_times(store: FactsStore, domains: Collection[str]) -> dict[str, int]:
    """By domain, the newest time at which a page was fetched, or at which a record says that it was."""
    times: dict[str, int] = {}
    for table in store.pages(domains):
        pages, records = divided(table)
        said = [(domain, one.lead.crawled_at_ms) for domain, several in records.items() for one in several]
        for domain, at_ms in chain(zip(listed(pages, "domain"), newest_ms(pages).tolist(), strict=True), said):
            times[domain] = max(at_ms, times.get(domain, NEVER_MS))
    return times
