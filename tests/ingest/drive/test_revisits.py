"""Revisits: a page found again has its facts and the time of the new visit; without its page a visit is counted."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from siteglass.ingest import archives
from siteglass.ingest.archives import Item, QuarantinedRecord, UnresolvedRevisit, read_archive
from siteglass.ingest.capture import Capture
from siteglass.ingest.tasks import Plan, run_task
from testing.warc_files import (
    DATE_MS,
    Packing,
    answer,
    metadata,
    packed,
    payload_digest,
    record,
    response,
    revisit,
    write_warc,
)

URL = "https://one.example/"
PAGE = b"<html><title>A page</title></html>"
FOUND = answer(PAGE, "X-Visit: first")
DIGEST = payload_digest(FOUND)
HEAD = answer(b"", "X-Visit: second")
LATER = "2026-10-08T12:00:00Z"
WEEK_MS = 7 * 86_400_000
PACKINGS: list[Packing] = ["gzip", "zstd", "plain"]


def _first(*fields: str, block: bytes = FOUND) -> bytes:
    return record("response", URL, block, fields=fields)


def _read(tmp_path: Path, records: list[bytes], packing: Packing = "gzip") -> list[Item]:
    path = tmp_path / "some.warc.gz"
    write_warc(path, records, packing)
    return list(read_archive(path))


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_page_found_again_is_a_capture_at_the_new_time(tmp_path: Path, packing: Packing) -> None:
    other = response("https://other.example/", PAGE * 2)
    records = [_first(DIGEST), other, revisit(URL, HEAD, DIGEST, date=LATER), metadata(URL, 77)]
    path = tmp_path / "some.warc.gz"
    offsets = write_warc(path, records, packing)
    first, _, again = read_archive(path)
    assert isinstance(first, Capture)
    assert (first.captured_at_ms, first.header("x-visit")) == (DATE_MS, "first")
    assert again == Capture(
        url=URL,
        captured_at_ms=DATE_MS + WEEK_MS,
        status=200,
        headers=(("content-type", "text/html"), ("x-visit", "second")),
        body=PAGE,
        load_time_ms=77,
        archive="some.warc.gz",
        offset=offsets[2],
    )


def test_the_record_that_a_revisit_names_comes_before_the_digest(tmp_path: Path) -> None:
    other = record("response", URL, answer(b"<html>other"), fields=["WARC-Record-ID: <urn:uuid:2>", DIGEST])
    named = revisit(URL, b"", "WARC-Refers-To: <urn:uuid:1>", DIGEST, date=LATER)
    *_, again = _read(tmp_path, [_first("WARC-Record-ID: <urn:uuid:1>"), other, named])
    assert isinstance(again, Capture)
    assert (again.body, again.header("x-visit")) == (PAGE, "first")


def test_a_body_is_decoded_as_it_was_stored(tmp_path: Path) -> None:
    """The headers of the second visit describe an answer that is not stored."""
    block = answer(gzip.compress(PAGE, mtime=0), "Content-Encoding: gzip")
    again = revisit(URL, answer(b"", "Content-Encoding: br"), payload_digest(block), date=LATER)
    _, found = _read(tmp_path, [_first(payload_digest(block), block=block), again])
    assert isinstance(found, Capture)
    assert found.body == PAGE


def test_not_modified_keeps_status_and_headers_of_the_page(tmp_path: Path) -> None:
    visit = answer(b"", status="304 Not Modified", kind="")
    again = revisit(URL, visit, "WARC-Refers-To: <urn:uuid:1>", date=LATER)
    _, found = _read(tmp_path, [_first("WARC-Record-ID: <urn:uuid:1>"), again])
    assert isinstance(found, Capture)
    assert (found.status, found.header("x-visit"), found.captured_at_ms) == (200, "first", DATE_MS + WEEK_MS)


def test_a_page_that_forbids_indexing_since_says_so(tmp_path: Path) -> None:
    again = revisit(URL, answer(b"", "X-Robots-Tag: noindex"), DIGEST, date=LATER)
    write_warc(tmp_path / "some.warc.gz", [_first(DIGEST), again])
    summary = run_task(tmp_path / "some.warc.gz", Plan(folder=tmp_path / "facts"))
    rows = pq.read_table(tmp_path / "facts" / f"{summary.task_id}.parquet").to_pylist()
    assert [(row["captured_at_ms"], row["noindex"], row["title"]) for row in rows] == [
        (DATE_MS, False, "A page"),
        (DATE_MS + WEEK_MS, True, "A page"),
    ]
    assert rows[0]["digest"] == rows[1]["digest"]


def test_without_its_page_a_visit_is_counted_unless_it_is_of_another_kind(tmp_path: Path) -> None:
    records = [
        revisit(URL, HEAD, DIGEST),  # its page comes later
        _first(DIGEST),
        revisit(URL, b"", "WARC-Payload-Digest: sha1:OTHER"),
        revisit("https://one.example/logo", answer(b"", kind="image/png"), "WARC-Payload-Digest: sha1:OTHER"),
        revisit("https://two.example/", answer(b"", "Location: /en", status="301 Moved"), "WARC-Refers-To: <x>"),
        revisit(URL, HEAD, DIGEST, date="yesterday"),
        revisit("dns:one.example", b""),
    ]
    write_warc(tmp_path / "some.warc.gz", records)
    items = list(read_archive(tmp_path / "some.warc.gz"))
    assert [(type(item), item.url) for item in items] == [
        (UnresolvedRevisit, URL),
        (Capture, URL),
        (UnresolvedRevisit, URL),
        (Capture, "https://two.example/"),
        (QuarantinedRecord, URL),
    ]
    summary = run_task(tmp_path / "some.warc.gz", Plan(folder=tmp_path / "facts"))
    assert (summary.pages, summary.revisits, summary.quarantined) == (2, 2, {"no date": 1})
    assert run_task(tmp_path / "some.warc.gz", Plan(folder=tmp_path / "facts")).revisits == 2


def test_only_so_many_pages_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_KNOWN_PAGES", 1)
    blocks = [answer(b"<html>%d" % number) for number in range(4)]
    pages = [record("response", URL, block, fields=[payload_digest(block)]) for block in blocks]
    again = [revisit(URL, HEAD, payload_digest(block), date=LATER) for block in blocks]
    items = _read(tmp_path, pages + again)
    assert [type(item) for item in items[4:]] == [Capture, Capture, UnresolvedRevisit, UnresolvedRevisit]


def test_in_a_file_gzipped_as_a_whole_pages_are_read_and_revisits_counted(tmp_path: Path) -> None:
    """A page in the middle of a member is not looked for again."""
    path = tmp_path / "some.warc.gz"
    info = record("warcinfo", "", b"software: test\r\n", with_digest=False)
    pages = [_first(DIGEST), response("https://two.example/", PAGE), revisit(URL, HEAD, DIGEST), _first(DIGEST)]
    records = [info, *pages]
    path.write_bytes(packed(b"".join(records)))
    read: list[int] = []
    items = list(read_archive(path, on_read=read.append))
    assert [(type(item), item.url) for item in items] == [
        *[(Capture, URL), (Capture, "https://two.example/"), (UnresolvedRevisit, URL), (Capture, URL)]
    ]
    assert read == sorted(set(read))
    assert read[-1] == path.stat().st_size


FAKE = response("http://victim.example/", b"fake")
FAKE_LINES = FAKE.replace(b"\r\n\r\n", b"\r\n").removesuffix(b"\r\n") + b"\r\n\r\n"


def _urls_with(tmp_path: Path, again: bytes, packing: str) -> list[str]:
    path = tmp_path / "some.warc.gz"
    content = _first(DIGEST) + again + response("http://after.example/")
    path.write_bytes(content if packing == "plain" else packed(content))
    return [item.url for item in read_archive(path) if isinstance(item, Capture)]


@pytest.mark.parametrize("packing", ["plain", "one member"])
def test_headers_prove_where_a_revisit_ends_whatever_its_length_says(tmp_path: Path, packing: str) -> None:
    """A server can send the lines of a record as headers, but no empty line."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + FAKE_LINES
    written = revisit(URL, head, DIGEST)
    assert _urls_with(tmp_path, written, packing) == [URL, URL, "http://after.example/"]
    for length in (*range(len(head)), *range(len(head) + 1, len(head) + 400)):
        changed = written.replace(b"Content-Length: %d" % len(head), b"Content-Length: %d" % length, 1)
        assert set(_urls_with(tmp_path, changed, packing)) == {URL}, length


@pytest.mark.parametrize("packing", ["plain", "one member"])
@pytest.mark.parametrize(
    "block", [answer(FAKE), answer(b"\r\n\r\n" + FAKE), b"\r\n\r\n" + FAKE, b"\r\n\r\n\r\n\r\n", b"x\r\n", b"x"]
)
def test_a_revisit_that_holds_more_than_headers_needs_a_digest(tmp_path: Path, packing: str, block: bytes) -> None:
    assert _urls_with(tmp_path, revisit(URL, block, DIGEST), packing) == [URL]
    with_digest = record("revisit", URL, answer(FAKE), fields=[DIGEST])
    assert _urls_with(tmp_path, with_digest, packing) == [URL, URL, "http://after.example/"]
