"""What shows the technologies of a lead, over several crawls. Pages of the release before have no marks."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.lead import TechnologyDetail
from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.assembly import facts_of
from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, TechnologyMark, to_batch
from siteglass.ingest.run_leads import merge_run
from siteglass.ingest.store.facts_store import open_store
from testing.random_facts import START_MS, plain_page
from tests.ingest.store.histories import no_spark

HOUR_MS = 3_600_000
MX = b"oak.example. 300 IN MX 10 aspmx.l.google.com.\n"


def _page(hours: int, path: str, *names: str, excerpt: str = "") -> PageFacts:
    """A page that shows some technologies, by marks with this excerpt."""
    marks = tuple(TechnologyMark(name, "script", "a.example", excerpt) for name in names if excerpt)
    at_ms = START_MS + hours * HOUR_MS
    return plain_page(
        "oak.example", path, captured_at_ms=at_ms, digest=f"{path} {hours}", technologies=names, marks=marks
    )


def _details(folder: Path, crawls: list[list[PageFacts]]) -> list[TechnologyDetail]:
    with open_store(folder / "store") as store:
        for number, pages in enumerate(crawls):
            path = folder / f"crawl-{number}.parquet"
            pq.write_table(pa.Table.from_batches([to_batch(pages)], FACTS_SCHEMA), path)
            store.append({path.stem: path})
            store.commit()
        run = merge_run(store, folder / "run", None, no_spark, is_whole=True)
    ((lead,),) = [leads for path in run.files for _, leads in read_parquet(path)]
    assert lead.social_links == {}
    assert [one["value"] for one in lead.technologies_detail] == list(lead.technologies or ())
    return [*lead.technologies_detail]


def _detail(value: str, page: str | None, hours: tuple[int, int], *marks: tuple[str, str, str]) -> TechnologyDetail:
    first_ms, last_ms = (START_MS + one * HOUR_MS for one in hours)
    made = tuple({"kind": kind, "rule": rule, "excerpt": excerpt} for kind, rule, excerpt in marks)
    return TechnologyDetail(value=value, marks=made, page=page, first_seen_ms=first_ms, last_seen_ms=last_ms)  # type: ignore[typeddict-item]  # kinds are texts


def test_the_newest_page_with_a_mark_and_the_times_of_all(tmp_path: Path) -> None:
    headers = (("content-type", "text/dns"),)
    dns = facts_of(Capture(url="dns:oak.example", captured_at_ms=START_MS, status=200, headers=headers, body=MX))
    crawls = [
        [_page(0, "/", "Drip", "Shopify"), _page(1, "/shop", "Drip", "Shopify", excerpt="//a.example/1"), dns],
        [_page(24, "/", "Drip", "Shopify", excerpt="//a.example/2"), _page(25, "/cart", "Drip")],
        [_page(48, "/", "Drip")],
    ]
    shop, page = "https://oak.example/shop", ("script", "a.example", "//a.example/1")
    assert _details(tmp_path, crawls) == [
        _detail("Drip", shop, (0, 48), page),  # newer pages show it, too, but have no mark
        _detail("Google Workspace", None, (0, 0), ("dns", "aspmx.l.google.com", "MX 10 aspmx.l.google.com.")),
    ]


def test_a_page_whose_address_may_hold_a_contact_is_not_named(tmp_path: Path) -> None:
    crawls = [[_page(0, "/", "Drip"), _page(1, "/call-030-901820", "Drip", excerpt="//a.example/1")]]
    assert _details(tmp_path, crawls) == [_detail("Drip", None, (0, 1), ("script", "a.example", "//a.example/1"))]
