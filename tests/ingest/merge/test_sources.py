"""Leads of pages, imports and places equal a plain reading of the precedence, and nothing crawled is lost."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

import msgspec
import pyarrow as pa

from siteglass.corpus.evidence_files import read_evidence
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet, record_place
from siteglass.ingest.content import PREVIOUS_SCHEMA
from siteglass.ingest.domain_summaries import together
from siteglass.ingest.facts import FACTS_SCHEMA, ContactSighting, PageFacts, to_batch
from siteglass.ingest.part_writer import Finishing
from siteglass.ingest.pipeline import RunOrder, build
from siteglass.ingest.sources import PRECEDENCE, SourceRecord, record_of, row_of, with_phones_and_state
from siteglass.ingest.store.facts_store import open_store
from siteglass.ingest.store.folding import fold
from siteglass.ingest.tasks import UnusedRecords, write_facts, write_records
from siteglass.settings import Settings
from testing.random_facts import START_MS, plain_page, random_page
from tests.ingest.store.histories import STAND_IN, History

MIXTURES = 200
FIELDS = (
    "business_name", "title", "description", "text", "keywords", "language", "emails", "phones", "technologies",
    "offers", "trades", "score", "spending", "secure", "has_robots",
)  # fmt: skip


def merged(folder: Path, rows: Sequence[PageFacts], precedence: Sequence[str] = PRECEDENCE) -> dict[str, Lead]:
    """The leads of these rows, which come in any order and are folded as the store does."""
    folder.mkdir()
    captures = fold(pa.Table.from_batches([to_batch([*rows])], FACTS_SCHEMA))
    Finishing(folder, STAND_IN, None, precedence=precedence).part(0, captures, PREVIOUS_SCHEMA.empty_table())
    return {lead.domain: lead for path in folder.glob("*.parquet") for _, group in read_parquet(path) for lead in group}


def record(chance: random.Random, domain: str, source: Literal["site", "import", "place"]) -> SourceRecord:
    """A record that says some things and leaves others open."""
    said: dict[str, Any] = {
        "business_name": f"{source} name",
        "description": f"{source} text {chance.random()}",
        "keywords": (source, "more"),
        "emails": (f"{source}@{domain}", f"{chance.randrange(3)}@free.example"),
        "phones": (f"+49301234{chance.randrange(9)}",),
        "social_links": {"facebook": f"https://facebook.com/{source}", "youtube": "https://youtube.com/x"},
        "technologies": ("Shopify",),
        "trades": ("dentist",),
        "score": chance.randrange(100),
        "spending": chance.randrange(9),
        "secure": chance.random() < 0.5,
        "has_robots": True,
    }
    kept = {name: value for name, value in said.items() if chance.random() < 0.5}
    place: dict[str, Any] = {
        "country": chance.choice(("", "DEU", "USA")),
        "state": chance.choice(("", "BE")),
        "city": "Berlin",
    }
    at_ms = START_MS + chance.randrange(9_000)
    # A site's words are from a crawl; a table may say when its sites were crawled; a place was never fetched.
    crawled = {"site": at_ms, "import": chance.choice((0, 0, at_ms - 5_000)), "place": 0}[source]
    return SourceRecord(
        source,
        chance.choice("ab") if source != "site" else "loaded",
        f"from {source}",
        chance.choice(("", "CC0-1.0")),
        at_ms,
        Lead(domain=domain, crawled_at_ms=crawled, **kept, **(place if chance.random() < 0.5 else {})),
    )


def plainly(site: Lead | None, records: Sequence[SourceRecord], precedence: Sequence[str]) -> dict[str, Any]:
    """What a lead must say, one field after the other."""
    newest: dict[tuple[str, str], SourceRecord] = {}
    for one in records:
        known = newest.get((one.source, one.id))
        if known is None or one.at_ms > known.at_ms:
            newest[one.source, one.id] = one
    loaded = newest.pop(("site", "loaded"), None)
    if loaded and (site is None or site.crawled_at_ms < loaded.lead.crawled_at_ms):
        site = loaded.lead
    leads: list[Lead] = []
    for source in precedence:
        if source == "site":
            leads += [site] if site else []
        else:
            own = [one for one in newest.values() if one.source == source]
            leads += [one.lead for one in sorted(own, key=lambda one: (-one.at_ms, one.id))]
    expected: dict[str, Any] = {}
    for name in FIELDS:
        nothing = (None,) if name == "technologies" else (None, "", ())
        expected[name] = next((v for lead in leads if (v := getattr(lead, name)) not in nothing), None)
    country = expected["country"] = next((lead.country for lead in leads if lead.country), "")
    near = [lead for lead in leads if lead.country in ("", country)]
    state = expected["state"] = next((lead.state for lead in near if lead.state), "")
    expected["city"] = next((lead.city for lead in near if lead.city and lead.state in ("", state)), "")
    expected["social_links"] = {k: v for lead in reversed(leads) for k, v in lead.social_links.items()}
    crawls = [site] if site else leads
    expected["crawled_at_ms"] = next((lead.crawled_at_ms for lead in crawls if lead.crawled_at_ms), 0)
    expected["version"] = max([site.version if site else 0, *(one.at_ms for one in newest.values())])
    return expected


def test_mixtures_equal_a_plain_reading(tmp_path: Path) -> None:
    chance = random.Random(7)
    pages: dict[str, list[PageFacts]] = {}
    records: dict[str, list[SourceRecord]] = {}
    for number in range(MIXTURES):
        domain = f"mix-{number}.example"
        kind = chance.choice(("page", "page", "page", "failed", "parked", "noindex", "nothing"))
        more = [random_page(chance, domain) for _ in range(3)] if chance.random() < 0.5 else []
        home = plain_page(domain, kind="page" if kind == "noindex" else kind, noindex=kind == "noindex")
        pages[domain] = [] if kind == "nothing" else [home, *more]
        records[domain] = [
            record(chance, domain, source) for source in ("import", "place") for _ in range(chance.randrange(4))
        ]
        if chance.random() < 0.3:
            records[domain].append(record(chance, domain, "site"))
    site_rows = [page for several in pages.values() for page in several]
    rows = [*site_rows, *(row_of(one) for several in records.values() for one in several)]
    chance.shuffle(rows)
    sites = merged(tmp_path / "sites", site_rows)
    captures = fold(pa.Table.from_batches([to_batch(site_rows)], FACTS_SCHEMA))
    dropped = together(captures, lambda _: 0).dropped
    refused = {domain for domain, why in dropped.items() if why != "no_page"}
    assert {"parked", "noindex", "no_page"} <= set(dropped.values())
    for precedence in permutations(PRECEDENCE):
        leads = merged(tmp_path / "-".join(precedence), rows, precedence)
        assert set(leads) == {*sites, *(domain for domain, several in records.items() if several)} - refused
        for domain, lead in leads.items():
            expected = plainly(sites.get(domain), records[domain], precedence)
            found = {name: getattr(lead, name) for name in expected}
            assert {name: value for name, value in found.items() if value not in (None, "", ())} == {
                name: value for name, value in expected.items() if value not in (None, "", ())
            }, domain


PLACE = SourceRecord(
    "place", "08f1", "Overture, 2026-10", "CDLA-Permissive-2.0 (meta)", START_MS + 5,
    Lead(domain="zahn.at", crawled_at_ms=0, business_name="Zahn", phones=("+4315120000",), country="AUT", city="Wien"),
)  # fmt: skip
LIST = SourceRecord(
    "import", "crm.csv", "imported from crm.csv on 2026-11-17", "", START_MS + 9,
    Lead(domain="zahn.at", crawled_at_ms=0, emails=("jo@zahn.at",)),
)  # fmt: skip


def test_what_a_site_leaves_open_says_where_it_is_from(tmp_path: Path) -> None:
    page = plain_page("zahn.at", emails=(ContactSighting("info@zahn.at", "mailto"),))
    (lead,) = merged(tmp_path / "out", [page, row_of(PLACE), row_of(LIST)]).values()
    assert (lead.emails, lead.phones, lead.city) == (("info@zahn.at",), ("+4315120000",), "Wien")
    (detail,) = lead.phones_detail
    assert (detail["page"], detail["owner"]) == ("Overture, 2026-10, CDLA-Permissive-2.0 (meta)", "unknown")
    seen = read_evidence(tmp_path / "out", record_place(tmp_path / "part-00000.parquet", 0), "zahn.at")
    assert [(one.value, one.page, one.method) for one in seen] == [
        ("info@zahn.at", "https://zahn.at/", "mailto"),
        ("+4315120000", "Overture, 2026-10, CDLA-Permissive-2.0 (meta)", "place"),
    ]


def test_fields_that_a_later_release_adds_are_read_over() -> None:
    row = row_of(PLACE)
    assert record_of(msgspec.structs.replace(row, text=row.text.replace('"domain"', '"mood":"good","domain"'))) == PLACE


def test_excluded_domains_are_leads_of_no_source(tmp_path: Path) -> None:
    """The list is part of the run's name: after a change, leads are made again."""
    page, other = plain_page("shop.zahn.at"), plain_page("arzt.at")
    facts = tmp_path / "pages.parquet"
    with facts.open("wb") as sink:
        write_facts(sink, iter((page, other)), UnusedRecords())
    records = write_records(tmp_path / "facts", (PLACE, LIST), None)
    listed = tmp_path / "excluded.txt"
    order = RunOrder(
        (), tmp_path, is_whole=True, settings=Settings(crawl_excluded=str(listed)), records=(records, facts)
    )
    for text, expected, dropped in (("zahn.at\n", 1, {"excluded": 2}), ("", 3, {}), ("zahn.at\n", 1, {"excluded": 2})):
        listed.write_text(text)
        result = build(order)
        assert result is not None
        assert (result.report.leads, result.report.dropped) == (expected, dropped)


def test_opt_outs_and_purges_cover_records(tmp_path: Path) -> None:
    history = History(tmp_path, random.Random(1))
    history.listed = {"+4315120000", "gone.at"}
    gone = msgspec.structs.replace(LIST, lead=Lead(domain="gone.at", crawled_at_ms=0, emails=("a@gone.at",)))
    rows = [row_of(one) for one in (PLACE, LIST, gone)]
    screened = [history.suppressed.page(row) for row in rows]
    assert screened[1:] == [rows[1], None]
    assert screened[0] is not None
    assert "+4315120000" not in screened[0].text
    assert '"Zahn"' in screened[0].text
    path = write_records(tmp_path, (PLACE, LIST, gone), None)
    with open_store(tmp_path / "store") as store:
        store.append({path.stem: path})
        assert store.purge(history.suppressed) == 2
        store.commit()
    content = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*.parquet"))
    with open_store(tmp_path / "store") as store:
        left = [text for table in store.pages() for text in table.column("text").to_pylist()]
    assert len(left) == 2
    assert not any("+4315120000" in str(text) or "gone.at" in str(text) for text in left)
    assert b"a@gone.at" not in content


def test_numbers_and_states_follow_from_country_and_city() -> None:
    lead = Lead(domain="a.at", crawled_at_ms=0, country="AUT", city="Wien", phones=("01 5120000", "12"))
    filled = with_phones_and_state(lead)
    assert (filled.phones, filled.state) == (("+4315120000", "12"), "9")
    assert with_phones_and_state(msgspec.structs.replace(lead, city="Neustadt", country="DEU")).state == ""
