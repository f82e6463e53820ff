"""Real archives through the real task: the sample WARC files of pywb, whole and broken, of several writers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from siteglass.ingest.archives import QuarantinedRecord
from siteglass.ingest.tasks import Plan, TaskSummary, run_task

Rows = list[tuple[str, str, str]]

EXAMPLE = "Example Domain"
EXAMPLE_PAGE = ("page", "http://example.com/", EXAMPLE)
EXAMPLE_AND_REDIRECT = [
    ("page", "http://example.com?example=1", EXAMPLE),
    ("redirect", "http://www.iana.org/domains/example", ""),
]
EXAMPLE_TWICE_AND_REDIRECT = [EXAMPLE_AND_REDIRECT[0], *EXAMPLE_AND_REDIRECT]
# Of each archive but the large one: kind, address and title of what is captured, and what is told aside, by place.
EXPECTED: dict[str, tuple[Rows, dict[int, str]]] = {
    "dupes.warc.gz": (
        [
            ("page", "http://example.com", EXAMPLE),
            ("redirect", "http://iana.org", ""),
            ("page", "http://example.com", EXAMPLE),  # found again
        ],
        {},
    ),
    # All records in one member of gzip.
    "example-bad.warc.gz.bad": (EXAMPLE_AND_REDIRECT, {}),
    # Not compressed, and one line end is missing: after a revisit without headers, and after a request.
    "example-extra.warc": ([("page", "http://example.com?example=2", EXAMPLE)], {2701: "not closed"}),
    "example-url-agnostic-orig.warc.gz": ([("page", "http://example.iana.org/", EXAMPLE)], {}),
    "example-url-agnostic-revisit.warc.gz": ([], {}),
    "example-wget-1-14.warc.gz": ([EXAMPLE_PAGE], {}),
    "example-wpull.warc.gz": ([EXAMPLE_PAGE], {}),
    "example.warc": (EXAMPLE_TWICE_AND_REDIRECT[:2], {4061: "not closed"}),
    "example.warc.gz": (EXAMPLE_TWICE_AND_REDIRECT, {}),
    "example2.warc.gz": ([EXAMPLE_PAGE], {}),
    # A resource and not an answer.
    "httpbin-resource.warc.gz": ([], {}),
    # Every line ends with two carriage returns.
    "missing-status-text.warc": ([], {0: "no record"}),
    # Answers in JSON.
    "post-test.warc.gz": ([], {}),
}
LARGE = "iana.warc.gz"
# All revisits, those of a page that is in the archive, and those of another page. The others are of scripts, styles and
# pictures.
REVISITS = {
    LARGE: (123, 0, 0),
    "dupes.warc.gz": (9, 1, 1),
    "example.warc.gz": (1, 1, 0),
    "example-url-agnostic-revisit.warc.gz": (1, 0, 1),
}
LARGE_PAGES = {
    "http://www.iana.org/": "Internet Assigned Numbers Authority",
    "http://www.iana.org/about": "IANA — About the Internet Assigned Numbers Authority",
    "http://www.iana.org/domains": "IANA — Domain Name Services",
    "http://www.iana.org/domains/arpa": "IANA — .ARPA Zone Database",
    "http://www.iana.org/domains/idn-tables": "IANA — Repository of IDN Practices",
    "http://www.iana.org/domains/int": "IANA — Intergovernmental Treaty (.INT) Domains",
    "http://www.iana.org/domains/reserved": "IANA — IANA-managed Reserved Domains",
    "http://www.iana.org/domains/root": "IANA — Root Zone Management",
    "http://www.iana.org/domains/root/db": "IANA — Root Zone Database",
    "http://www.iana.org/domains/root/servers": "IANA — Root Servers",
    "http://www.iana.org/numbers": "IANA — Number Resources",
    "http://www.iana.org/performance/ietf-draft-status": "IANA — Status of IETF Internet Drafts",
    "http://www.iana.org/performance/ietf-statistics": "IANA — IETF Statistics Reporting",
    "http://www.iana.org/protocols": "IANA — Protocol Registries",
    "http://www.iana.org/time-zones": "IANA — Time Zone Database",
    "https://www.iana.org/dnssec": "IANA — DNSSEC Information",
}
LARGE_REDIRECTS = {
    "http://www.iana.org/about/performance/ietf-draft-status",
    "http://www.iana.org/about/performance/ietf-statistics",
    "http://www.iana.org/dnssec",
    "http://www.iana.org/domains/root/db/",
}


class _Run(msgspec.Struct):
    """What the tasks left in a folder."""

    folder: Path
    summaries: dict[str, TaskSummary]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return pq.read_table(self.folder / f"{self.summaries[name].task_id}.parquet").to_pylist()

    def told(self, name: str) -> list[QuarantinedRecord]:
        path = self.folder / f"{self.summaries[name].task_id}.quarantine.ndjson"
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [msgspec.json.decode(line, type=QuarantinedRecord) for line in lines]

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}


def _run(warcs: Path, folder: Path) -> _Run:
    plan = Plan(folder=folder)
    return _Run(folder, {path.name: run_task(path, plan) for path in sorted(warcs.iterdir())})


@pytest.fixture(scope="module")
def done(warcs: Path, tmp_path_factory: pytest.TempPathFactory) -> _Run:
    return _run(warcs, tmp_path_factory.mktemp("facts"))


def test_every_archive_has_its_file_and_each_broken_one_a_second(done: _Run) -> None:
    assert set(done.summaries) == {LARGE, *EXPECTED}
    facts = {f"{task.task_id}.parquet" for task in done.summaries.values()}
    aside = {f"{done.summaries[name].task_id}.quarantine.ndjson" for name, (_, told) in EXPECTED.items() if told}
    assert set(done.files()) == facts | aside
    assert (len(facts), len(aside)) == (14, 3)


@pytest.mark.parametrize("name", EXPECTED)
def test_captures_and_what_is_told_aside(done: _Run, name: str) -> None:
    captured, told = EXPECTED[name]
    assert [(row["kind"], row["url"], row["title"]) for row in done.rows(name)] == captured
    assert {one.offset: one.reason for one in done.told(name)} == told
    assert done.summaries[name].records == len(captured) + len(told)


def test_the_large_archive_has_every_page_and_no_file_of_another_kind(done: _Run) -> None:
    rows = done.rows(LARGE)
    assert len(rows) == done.summaries[LARGE].records == 20
    assert {row["domain"] for row in rows} == {"iana.org"}
    pages = [row for row in rows if row["kind"] == "page"]
    assert {row["url"]: row["title"] for row in pages} == LARGE_PAGES
    assert {row["language"] for row in pages} == {"en"}
    assert {row["url"] for row in rows if row["kind"] == "redirect"} == LARGE_REDIRECTS
    assert [row["url"] for row in pages if row["is_home"]] == ["http://www.iana.org/"]
    emails = {row["path"]: [one["value"] for one in row["emails"]] for row in pages if row["emails"]}
    assert emails == {"/time-zones": ["tz@iana.org"]}


@pytest.mark.parametrize("name", REVISITS)
def test_revisits_are_captures_where_their_page_is_in_the_archive(done: _Run, warcs: Path, name: str) -> None:
    with (warcs / name).open("rb") as file:
        records = ArchiveIterator(file, record_types=WarcRecordType.revisit, parse_http=False)
        revisits = {int(record.stream_pos) for record in records}
    captured = [row for row in done.rows(name) if row["offset"] in revisits]
    assert (len(revisits), len(captured), done.summaries[name].revisits) == REVISITS[name]
    for row in captured:
        (first, *_) = (one for one in done.rows(name) if one["url"] == row["url"])
        assert (first["digest"], first["title"]) == (row["digest"], row["title"])
        assert first["captured_at_ms"] < row["captured_at_ms"]


def test_running_again_gives_the_same_bytes(done: _Run, warcs: Path, tmp_path: Path) -> None:
    assert _run(warcs, tmp_path / "again").files() == done.files()
    before = done.files()
    assert all(task.was_done for task in _run(warcs, done.folder).summaries.values())
    assert done.files() == before
