"""When addresses and numbers were first and last seen, over several crawls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.facts import FACTS_SCHEMA, ContactSighting, PageFacts, to_batch
from siteglass.ingest.run_leads import merge_run
from siteglass.ingest.store.facts_store import open_store
from testing.random_facts import START_MS, plain_page
from tests.ingest.store.histories import no_spark

HOUR_MS = 3_600_000


def _page(hours: int, path: str, *emails: str, phones: tuple[str, ...] = ()) -> PageFacts:
    return plain_page(
        "oak.example",
        path,
        captured_at_ms=START_MS + hours * HOUR_MS,
        digest=f"{path} {hours}",
        emails=tuple(ContactSighting(f"{name}@oak.example", "text") for name in emails),
        phones=tuple(ContactSighting(phone, "tel") for phone in phones),
    )


def _times(folder: Path, crawls: list[list[PageFacts]]) -> dict[str, tuple[Any, Any]]:
    """The hours when each value was first and last seen, after runs of these crawls in this order."""
    with open_store(folder / "store") as store:
        for number, pages in enumerate(crawls):
            path = folder / f"crawl-{number}.parquet"
            pq.write_table(pa.Table.from_batches([to_batch(pages)], FACTS_SCHEMA), path)
            store.append({path.stem: path})
            store.commit()
        run = merge_run(store, folder / "run", None, no_spark, is_whole=True)
    ((lead,),) = [leads for path in run.files for _, leads in read_parquet(path)]
    details = [*lead.emails_detail, *lead.phones_detail]
    assert [one["value"] for one in details] == [*lead.emails, *lead.phones]
    return {one["value"]: (_hours(one["first_seen_ms"]), _hours(one["last_seen_ms"])) for one in details}


def _hours(at_ms: int | None) -> int | None:
    return None if at_ms is None else (at_ms - START_MS) // HOUR_MS


def test_the_first_and_the_last_time_of_all_pages_that_show_a_value(tmp_path: Path) -> None:
    crawls = [
        [_page(0, "/", "jo"), _page(1, "/contact", "info", "old", phones=("+49301234567",))],
        [_page(24, "/", "jo", "info"), _page(25, "/contact", "info", phones=("+49301234567",))],
        [_page(48, "/", "jo", "new")],
    ]
    expected = {
        "jo@oak.example": (0, 48),
        "info@oak.example": (1, 25),  # the home page no longer shows it
        "new@oak.example": (48, 48),
        "+49301234567": (1, 25),
    }
    (tmp_path / "in-order").mkdir()
    assert _times(tmp_path / "in-order", crawls) == expected
    (tmp_path / "reversed").mkdir()
    assert _times(tmp_path / "reversed", crawls[::-1]) == expected
