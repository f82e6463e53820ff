"""Visits that found a page as it was, in another archive than the page: the facts store has what the page says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from siteglass.ingest.facts import page_digest
from siteglass.ingest.store.facts_store import open_store
from siteglass.ingest.tasks import Plan, run_task
from testing.warc_files import DATE_MS, answer, record, response, revisit, write_warc

WEEK_MS = 7 * 86_400_000
LATER = "2026-10-08T12:00:00Z"
PAGE = b"<html><title>Oak House</title><body><p>Tables of oak. hello@oak-house.org</p></body></html>"
DNS = b"20261001120000\noak.example. 300 IN A 192.0.2.1\noak.example. 300 IN MX 1 ASPMX.L.GOOGLE.COM.\n"


def _again(path: str, page: bytes, *headers: str) -> bytes:
    block = answer(b"", *headers, status="304 Not Modified", kind="")
    return revisit(f"https://oak.example{path}", block, f"WARC-Page-Digest: {page_digest(page)}", date=LATER)


def _extracted(folder: Path, name: str, records: list[bytes]) -> dict[str, Path]:
    archive = folder / f"{name}.warc.gz"
    write_warc(archive, records)
    summary = run_task(archive, Plan(folder=folder / "facts"))
    assert summary.quarantined == {}
    return {summary.task_id: folder / "facts" / f"{summary.task_id}.parquet"}


@pytest.mark.parametrize("at_once", [False, True])
def test_an_unchanged_page_says_the_same_at_its_new_time(tmp_path: Path, at_once: bool) -> None:
    home, team, old = (response(f"https://oak.example{path}", PAGE) for path in ("/", "/team", "/old"))
    dns = record("response", "dns:oak.example", DNS, content_type="text/dns")
    first = _extracted(tmp_path, "first", [home, team, old, dns])
    visits = [_again("/", PAGE), _again("/team", PAGE, "X-Robots-Tag: siteglassbot: noindex"), _again("/old", b"other")]
    second = _extracted(tmp_path, "second", [*visits, response("https://oak.example/new", b"", status="304 x")])
    rows: dict[str, Any] = {}
    with open_store(tmp_path / "store") as store:
        for tasks in [{**first, **second}] if at_once else [first, second]:
            store.append(tasks)
            store.commit()
        assert store.unknown_visits == 1
        for table in store.pages():
            rows |= {row["url"].removeprefix("https://oak.example"): row for row in table.to_pylist()}
    assert {path: row["captured_at_ms"] - DATE_MS for path, row in rows.items()} == {
        "/": WEEK_MS,
        "/team": WEEK_MS,
        "/old": 0,
        "dns:oak.example": 0,
    }
    page = rows["/"]
    assert (page["title"], page["kind"], page["status"], page["noindex"]) == ("Oak House", "page", 200, False)
    assert (page["archive"], page["digest"]) == ("second.warc.gz", page_digest(PAGE))
    assert (page["first_captured_ms"], page["last_captured_ms"]) == (DATE_MS, DATE_MS + WEEK_MS)
    seen = [(one["value"], one["first_ms"], one["last_ms"]) for one in page["seen"] if one["kind"] == "email"]
    assert seen == [("hello@oak-house.org", DATE_MS, DATE_MS + WEEK_MS)]
    assert rows["/team"]["noindex"]
    assert rows["dns:oak.example"]["technologies"] == ["Google Workspace"]
