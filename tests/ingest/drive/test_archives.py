"""Archives: what a capture holds, what is passed over, and that no content stops the reading."""

from __future__ import annotations

import gzip
import random
import zlib
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # it has no types
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from siteglass.ingest import members
from siteglass.ingest.archives import MAX_URL_CHARS, Item, QuarantinedRecord, read_archive
from siteglass.ingest.capture import MAX_BODY_BYTES, Capture
from testing.warc_files import DATE_MS, Packing, answer, metadata, packed, record, response, write_warc

PAGE = b"<html><title>A page</title></html>"


def _read(tmp_path: Path, records: list[bytes], packing: Packing = "gzip") -> list[Item]:
    path = tmp_path / "some.warc.gz"
    write_warc(path, records, packing)
    return list(read_archive(path))


def _urls(items: list[Item]) -> list[str]:
    return [item.url for item in items if isinstance(item, Capture)]


def _told(items: list[Item]) -> list[tuple[int, str, str]]:
    return [(item.offset, item.url, item.reason) for item in items if isinstance(item, QuarantinedRecord)]


def _unread(items: list[Item]) -> list[tuple[int, int]]:
    return [(item.offset, item.unread_bytes) for item in items if isinstance(item, QuarantinedRecord)]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_a_capture_is_all_that_the_record_says(tmp_path: Path, packing: Packing) -> None:
    url = "https://one.example/"
    records = [
        record("warcinfo", "", b"software: test\r\n"),
        record("request", url, b"GET / HTTP/1.1\r\n\r\n"),
        response(url, PAGE, "Set-Cookie: a=1", "Set-Cookie: b=2", "X-Name: Müller"),
        metadata(url, 258),
        response("http://two.example/", PAGE, date="2026-10-01T12:00:00.250Z"),
    ]
    path = tmp_path / "some.warc.gz"
    offsets = write_warc(path, records, packing)

    read: list[int] = []
    first, second = read_archive(path, on_read=read.append)
    assert read == [*offsets[1:], path.stat().st_size]

    assert first == Capture(
        url=url,
        captured_at_ms=DATE_MS,
        status=200,
        headers=(("content-type", "text/html"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-name", "Müller")),
        body=PAGE,
        load_time_ms=258,
        archive="some.warc.gz",
        offset=offsets[2],
    )
    assert isinstance(second, Capture)
    assert (second.captured_at_ms, second.load_time_ms, second.offset) == (DATE_MS + 250, None, offsets[4])


def test_only_pages_robots_sitemaps_and_redirects_are_captures(tmp_path: Path) -> None:
    def of_type(path: str, kind: str, body: bytes = b"x") -> bytes:
        return record("response", f"http://a.example{path}", answer(body, kind=kind))

    items = _read(
        tmp_path,
        [
            of_type("/page", "text/html; charset=utf-8"),
            of_type("/x", "application/xhtml+xml"),
            of_type("/robots.txt", "text/plain"),
            of_type("/sitemap.xml", "application/xml"),
            of_type("/untyped", "", b" <!DOCTYPE html><p>"),
            record("response", "http://a.example/moved", answer(b"", "Location: /", status="301 Moved", kind="")),
            of_type("/picture", "image/png"),
            of_type("/feed.xml", "application/xml"),
            of_type("/untyped-data", "", b"\x00\x01"),
            record("response", "dns:a.example", b"1.2.3.4", content_type="text/dns"),
            record("resource", "http://a.example/file", PAGE, content_type="text/html"),
        ],
    )
    assert [url.removeprefix("http://a.example") for url in _urls(items)] == [
        *("/page", "/x", "/robots.txt", "/sitemap.xml", "/untyped", "/moved")
    ]
    assert _told(items) == []


_RAW_DEFLATE = zlib.compressobj(wbits=-15)
_CHUNKED = b"5\r\n<html\r\n%x;note=1\r\n%b\r\n0\r\n\r\n" % (len(PAGE) - 5, PAGE[5:])


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        (["Content-Encoding: gzip"], gzip.compress(PAGE, mtime=0)),
        (["Content-Encoding: br"], brotli.compress(PAGE)),
        (["Content-Encoding: deflate"], zlib.compress(PAGE)),
        (["Content-Encoding: deflate"], _RAW_DEFLATE.compress(PAGE) + _RAW_DEFLATE.flush()),
        (["Content-Encoding: zstd"], packed(PAGE, "zstd")),
        (["Content-Encoding: deflate, gzip"], gzip.compress(zlib.compress(PAGE), mtime=0)),
        (["Transfer-Encoding: chunked"], _CHUNKED),
        (["Transfer-Encoding: chunked"], PAGE),  # taken apart by who archived it
        (["Content-Encoding: gzip"], PAGE),
        (["Content-Encoding: br"], PAGE),
        (["Content-Encoding: mystery"], PAGE),
    ],
)
def test_bodies_come_without_their_encodings(tmp_path: Path, headers: list[str], sent: bytes) -> None:
    (item,) = _read(tmp_path, [response("http://a.example/", sent, *headers)])
    assert isinstance(item, Capture)
    assert item.body == PAGE


def test_a_body_is_cut_however_small_it_came(tmp_path: Path) -> None:
    bomb = gzip.compress(b"<p>" + b"0" * (MAX_BODY_BYTES * 3))
    (packed_small, large) = _read(
        tmp_path,
        [
            response("http://a.example/", bomb, "Content-Encoding: gzip"),
            response("http://b.example/", b"<p>" * (MAX_BODY_BYTES // 2)),
        ],
    )
    assert isinstance(packed_small, Capture)
    assert isinstance(large, Capture)
    assert len(packed_small.body) == len(large.body) == MAX_BODY_BYTES


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (record("response", "http://bad.example/", b"\x00\x01 no answer"), "no HTTP response"),
        (record("response", "http://bad.example/", answer(PAGE), date="yesterday"), "no date"),
        (record("response", "http://bad.example/", answer(PAGE), date="1969-01-01T00:00:00Z"), "no date"),
        (
            response("http://bad.example/", b"\x1f\x8b\x08\x00" + b"\xff" * 20, "Content-Encoding: gzip"),
            "content encoding",
        ),
        (response("http://bad.example/", b"\xff\x00\xff\xff", "Content-Encoding: br"), "content encoding"),
        (
            record("response", "http://bad.example/", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 50_000),
            "headers without end",
        ),
    ],
    ids=["answer", "date", "old date", "gzip", "brotli", "headers"],
)
def test_a_record_that_cannot_be_used_is_told_and_the_next_is_read(tmp_path: Path, bad: bytes, reason: str) -> None:
    good = response("http://good.example/", PAGE)
    items = _read(tmp_path, [good, bad, good])
    assert _urls(items) == ["http://good.example/"] * 2
    assert _told(items) == [(len(packed(good)), "http://bad.example/", reason)]


def test_an_address_that_is_too_long_is_told_and_cut(tmp_path: Path) -> None:
    (item,) = _read(tmp_path, [response("http://a.example/" + "x" * 5_000, PAGE)])
    assert isinstance(item, QuarantinedRecord)
    assert (item.reason, len(item.url)) == ("long address", MAX_URL_CHARS)


def _damaged(member: bytes, where: int, count: int = 12) -> bytes:
    return member[:where] + bytes(byte ^ 0xA5 for byte in member[where : where + count]) + member[where + count :]


def _noise(size: int, seed: int) -> bytes:
    """A body that packs badly, so that damage in the middle is damage of the body."""
    return b"<p>" + bytes(random.Random(seed).choices(range(32, 127), k=size))


@pytest.mark.parametrize("where", [0, 2, 40, 1_000, 100_000, -6])
def test_reading_ends_at_a_damaged_member(tmp_path: Path, where: int) -> None:
    """Where a damaged member ends is not known: a gzip member that is found later may be part of a page."""
    members = [packed(response(f"http://s{number}.example/", _noise(150_000, number))) for number in range(5)]
    place = where if where >= 0 else len(members[2]) + where
    members[2] = _damaged(members[2], place, 4 if where < 0 else 12)
    path = tmp_path / "some.warc.gz"
    path.write_bytes(b"".join(members))

    items = list(read_archive(path))

    assert _urls(items) == ["http://s0.example/", "http://s1.example/"]
    assert _unread(items) == [(len(members[0] + members[1]), len(b"".join(members[2:])))]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_reading_ends_at_what_is_not_a_record(tmp_path: Path, packing: Packing) -> None:
    good = [packed(response(f"http://s{number}.example/", PAGE), packing) for number in range(3)]
    path = tmp_path / "some.warc.gz"
    path.write_bytes(good[0] + b"some noise in between" + good[1] + good[2])
    items = list(read_archive(path))
    assert _urls(items) == ["http://s0.example/"]
    assert _told(items) == [(len(good[0]), "", "no record")]
    assert _unread(items) == [(len(good[0]), 21 + len(good[1]) + len(good[2]))]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_padding_after_the_last_record_is_not_damage(tmp_path: Path, packing: Packing) -> None:
    path = tmp_path / "some.warc.gz"
    path.write_bytes(packed(response("http://a.example/", PAGE), packing) + b"\0" * 5_000)
    items = list(read_archive(path))
    assert (_urls(items), len(items)) == (["http://a.example/"], 1)


@pytest.mark.parametrize(("packing", "read"), [("gzip", (0, 2, 3)), ("zstd", (0, 2, 3)), ("plain", (0,))])
@pytest.mark.parametrize("change", [30, -30, 10**9])
def test_a_wrong_length_costs_the_record_and_in_a_plain_file_all_after_it(
    tmp_path: Path, packing: Packing, read: tuple[int, ...], change: int
) -> None:
    """With one record to a member, the end of the member is proven, whatever the record says of itself."""
    good = [response(f"http://s{number}.example/", PAGE) for number in range(4)]
    length = len(answer(PAGE))
    good[1] = good[1].replace(b"Content-Length: %d" % length, b"Content-Length: %d" % (length + change))
    items = _read(tmp_path, good, packing)
    assert _urls(items) == [f"http://s{number}.example/" for number in read]
    assert [url for _, url, _ in _told(items)] == ["http://s1.example/"]
    unread = good[1:2] if len(read) > 1 else good[1:]
    assert _unread(items) == [(len(packed(good[0], packing)), sum(len(packed(one, packing)) for one in unread))]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_a_broken_first_record_ends_the_reading(tmp_path: Path, packing: Packing) -> None:
    """Nothing says yet that this archive has one record to a member."""
    records = [b"WARC/1.0\r\nno header\r\n\r\n", response("http://a.example/", PAGE)]
    items = _read(tmp_path, records, packing)
    assert _urls(items) == []
    assert [(offset, reason) for offset, _, reason in _told(items)] == [(0, "unreadable header")]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_a_file_that_ends_early_gives_what_is_whole(tmp_path: Path, packing: Packing) -> None:
    path = tmp_path / "some.warc.gz"
    records = [response(f"http://s{number}.example/", _noise(2_000, number)) for number in range(3)]
    offsets = write_warc(path, records, packing)
    whole = path.read_bytes()
    for end in (offsets[2] + 3, offsets[2] + 300, len(whole) - 40):
        path.write_bytes(whole[:end])
        items = list(read_archive(path))
        assert _urls(items) == ["http://s0.example/", "http://s1.example/"]
        assert len(_told(items)) == 1


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_member_that_unpacks_to_too_much_is_not_read(
    tmp_path: Path, packing: Packing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "MAX_MEMBER_BYTES", 1_000_000)
    good, bomb = response("http://a.example/", PAGE), response("http://b.example/", b"<p>" * 400_000)
    path = tmp_path / "some.warc.gz"
    offsets = write_warc(path, [good, bomb, good], packing)
    items = list(read_archive(path))
    assert _urls(items) == ["http://a.example/"]
    assert _told(items) == [(offsets[1], "", "unpacks to too much")]
    assert _unread(items) == [(offsets[1], path.stat().st_size - offsets[1])]


def test_an_empty_file_and_one_of_noise(tmp_path: Path) -> None:
    path = tmp_path / "some.warc.gz"
    path.write_bytes(b"")
    assert list(read_archive(path)) == []
    path.write_bytes(b"\x1f\x8b\x08 no archive at all" * 100)
    assert _told(list(read_archive(path))) == [(0, "", "damaged member")]
    assert _unread(list(read_archive(path))) == [(0, path.stat().st_size)]
    path.write_bytes(b"no archive at all")
    assert _told(list(read_archive(path))) == [(0, "", "no record")]


@hypothesis_settings(max_examples=60)
@given(data=st.data(), packing=st.sampled_from(["gzip", "zstd", "plain"]))
def test_no_damage_stops_the_reading(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, packing: Packing
) -> None:
    """Whatever bytes are overwritten: nothing is raised, and a record in front of the damage is always there."""
    path = tmp_path_factory.mktemp("damage") / "some.warc"
    offsets = write_warc(
        path, [response(f"http://s{number}.example/", _noise(300, number)) for number in range(6)], packing
    )
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=200))
    content[at : at + len(noise)] = noise
    path.write_bytes(content)
    urls = _urls(list(read_archive(path)))
    whole = sum(offset <= at for offset in offsets) - 1
    assert [f"http://s{number}.example/" for number in range(whole)] == urls[:whole]


def test_a_last_record_without_its_closing_lines_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "open.warc"
    records = [response("https://a.example/", PAGE), response("https://b.example/", PAGE)]
    path.write_bytes(b"".join(records).removesuffix(b"\r\n\r\n"))
    found = list(read_archive(path))
    assert [item.url for item in found if isinstance(item, Capture)] == ["https://a.example/", "https://b.example/"]
    assert len(found) == 2
