"""After an opt-out and a purge, nothing of it is left in any file of the work folder, however it is compressed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.archives import QuarantinedRecord
from siteglass.ingest.facts import (
    FACTS_SCHEMA,
    ContactSighting,
    NameSighting,
    PageFacts,
    TechnologyMark,
    from_table,
    to_batch,
)
from siteglass.ingest.purge import purge
from siteglass.ingest.run_leads import merge_run, said_by
from siteglass.ingest.store.facts_store import FactsStore, open_store
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.settings import Settings
from siteglass.suppression.values import Hasher, read_value
from testing.random_facts import START_MS, plain_page, random_page
from tests.ingest.store.histories import SECRET, STAND_IN, History, leads_in, no_spark

ADDRESS, PHONE, DOMAIN = "jane.doe@shop.example", "+4930901820", "opted-out.example"
OTHERS = ("site-1.example", "site-2.example")


def _suppressed() -> SuppressionSnapshot:
    hasher = Hasher(Settings(suppression_secret=SECRET))
    hashes = {one for value in (ADDRESS, PHONE) for one in hasher.all_of(read_value(value))}
    return SuppressionSnapshot(frozenset({DOMAIN}), frozenset(hashes), SECRET)


def _page(domain: str, path: str, at: int, **values: Any) -> PageFacts:
    given = {"status": 200, "captured_at_ms": START_MS + at, "offset": at, "digest": f"{len(path)} {at}"}
    return plain_page(domain, path, **(given | values))


def _crawl(work: Path, number: int) -> dict[str, Path]:
    """Pages that show the values as contacts, in texts, in their addresses and, of an older capture, in the history."""
    chance = random.Random(number)
    shows = {
        "text": f"Write to {ADDRESS} or call {PHONE}.",
        "emails": (ContactSighting(ADDRESS, "mailto"), ContactSighting("info@shop.example", "text")),
        "phones": (ContactSighting(PHONE, "tel"),),
        "names": (NameSighting("A Shop", "logo"), NameSighting(ADDRESS, "site_name"), NameSighting(PHONE, "json_ld")),
        "technologies": ("Klaviyo", "Shopify"),
        "marks": (
            TechnologyMark("Klaviyo", "inline_script", "klaviyo", f"klaviyo('{ADDRESS}')"),
            TechnologyMark("Shopify", "script", "cdn.shopify.com", "https://cdn.shopify.com/"),
        ),
    }
    pages = [
        _page("shop.example", "/", number, **(shows if number == 0 else {"text": "They are not here any more."})),
        _page("shop.example", "/contact", number, **shows),
        _page("shop.example", f"/mail/{ADDRESS}", number, text="A page of an address."),
        _page(DOMAIN, "/", number, text="A shop that does not want to be listed."),
        *(random_page(chance, chance.choice(OTHERS)) for _ in range(6)),
    ]
    path = work / "facts" / f"task-{number}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([to_batch(pages)], FACTS_SCHEMA), path)
    failed = [f"https://shop.example/{ADDRESS}", f"https://{DOMAIN}/broken", ""]
    lines = [QuarantinedRecord(archive="some.warc.gz", offset=1, url=url, reason="cut short") for url in failed]
    quarantine = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    (work / "facts" / f"task-{number}.quarantine.ndjson").write_bytes(quarantine)
    return {f"task-{number}": path}


def _scan(folder: Path) -> dict[str, set[str]]:
    """The files below a folder that hold a value, unpacked."""
    found: dict[str, set[str]] = {ADDRESS: set(), PHONE: set(), DOMAIN: set()}
    for path in folder.rglob("*"):
        if path.is_file():
            is_table = path.read_bytes()[:4] == b"PAR1"
            text = str(pq.read_table(path).to_pylist()) if is_table else path.read_text()
            for value in found:
                if value in text:
                    found[value].add(path.relative_to(folder).parts[0])
    return found


def _run(store: FactsStore, work: Path, number: int) -> None:
    store.append(_crawl(work, number))
    store.commit()
    merged = merge_run(store, work / "runs" / f"{number}", None, no_spark, rules=STAND_IN)
    store.record_leads(said_by(merged.files))
    store.commit()


def test_nothing_is_left(tmp_path: Path) -> None:
    work = tmp_path / "work"
    suppressed = _suppressed()
    with open_store(work / "store") as store:
        _run(store, work, 0)
        store.compact()
        store.commit()
        _run(store, work, 1)
        assert _scan(work) == {value: {"store", "facts", "runs"} for value in (ADDRESS, PHONE, DOMAIN)}
        before = [page for table in store.pages() for page in from_table(table)]
        store.settle(store.manifest.pending)
        store.commit()

        # What an import leaves: its list of rejects and, after a crash, files that were half written.
        rejects = work / "companies.rejects.ndjson"
        rejects.write_text(f'{{"line": 2, "field": "emails", "value": "{ADDRESS} or {PHONE} at {DOMAIN}"}}\n')
        (work / "facts/.records.7.tmp").write_text(f"{ADDRESS} {PHONE} {DOMAIN}")

        report = purge(store, work, suppressed)

        assert (report.domains, report.tasks, report.runs, report.rejects) == (2, 4, 2, 1)
        assert _scan(work) == {ADDRESS: set(), PHONE: set(), DOMAIN: set()}
        after = [page for table in store.pages() for page in from_table(table)]
        screened = [kept for page in before if (kept := suppressed.page(page)) is not None]
        assert after == sorted(screened, key=lambda page: (page.domain, page.url))
        (contact,) = [page for page in after if (page.domain, page.path) == ("shop.example", "/contact")]
        assert contact.names == (NameSighting("A Shop", "logo"),)
        assert [mark.technology for mark in contact.marks] == ["Shopify"]
        assert [page for page in after if page.domain in OTHERS] == [page for page in before if page.domain in OTHERS]
        assert store.pending() == ["shop.example"]
        again = purge(store, work, suppressed)
        assert (again.domains, again.tasks, again.runs) == (0, 0, 0)


def test_history_of_a_value_is_in_the_store_until_it_is_purged(tmp_path: Path) -> None:
    """The newest capture of the home page does not show the address any more; when it did is known."""
    work = tmp_path / "work"
    with open_store(work / "store") as store:
        for number in range(2):
            store.append(_crawl(work, number))
            store.commit()
        (home,) = [page for table in store.pages(["shop.example"]) for page in from_table(table) if page.is_home]
        assert home.emails == ()
        seen = {(one.kind, one.value): (one.first_ms, one.last_ms) for one in home.seen}
        assert seen["email", ADDRESS] == seen["phone", PHONE] == (START_MS, START_MS)
        assert (home.first_captured_ms, home.last_captured_ms) == (START_MS, START_MS + 1)
        store.purge(_suppressed())
        (home,) = [page for table in store.pages(["shop.example"]) for page in from_table(table) if page.is_home]
        assert [one.value for one in home.seen if one.kind != "technology"] == ["info@shop.example"]


def test_leads_that_a_purge_changes_are_merged_again(tmp_path: Path) -> None:
    history = History(tmp_path, random.Random(1))
    history.tasks |= _crawl(tmp_path, 0)
    history.finish()
    assert ADDRESS in history.index.leads["shop.example"].emails
    history.listed |= {ADDRESS, DOMAIN}
    history.index.screen(history.suppressed)
    history.purge()
    history.finish()
    with history.store() as store:
        leads = leads_in(history.merged(store, "rebuilt", is_whole=True).files)
    assert {lead.domain for lead in leads} == set(history.index.leads)
    assert {lead.emails for lead in leads} == {lead.emails for lead in history.index.leads.values()}
