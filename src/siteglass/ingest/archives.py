"""WARC files to captures: gzip, zstd or plain. What cannot be read is told, and reading goes on behind it."""

from __future__ import annotations

import contextlib
import mmap
import re
import zlib
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from siteglass.ingest.capture import MAX_BODY_BYTES, Capture
from siteglass.ingest.http_answers import Answer, NoAnswer, plain_body, read_answer

MAX_URL_CHARS = 2_048
# Headers and the marks of chunks come on top of a body.
MAX_RECORD_BYTES = MAX_BODY_BYTES + 500_000
MAX_METADATA_BYTES = 64_000
MAX_TIME_MS = 2**42
MAX_LOAD_TIME_MS = 2**31

_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_XML_TYPES = ("text/xml", "application/xml")
_FETCH_TIME = re.compile(rb"^fetchTimeMs:[ \t]*(\d{1,10})[ \t]*\r?$", re.MULTILINE)
# How a record begins: a member of gzip, a frame of zstd, or its own first line.
_STARTS = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd|WARC/[01]\.\d+\r?\n")
_GZIP_MAGIC = b"\x1f\x8b\x08"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_FIRST_LINE = b"WARC/"
_PIECE_BYTES = 256 * 1024
_ANY = WarcRecordType.any_type


class Quarantined(msgspec.Struct, frozen=True, kw_only=True):
    """A record that could not be used, and why."""

    archive: str
    offset: int
    url: str
    reason: str
    """One of few, so that reasons can be counted."""


Item = Capture | Quarantined
Items = Iterator[Item]


def read_archive(path: Path, name: str = "") -> Items:
    """The captures of a WARC file that pages, robots.txt or sitemaps came with, in order; never raises for content.

    `name` stands in them as their archive, else the name of the file. Answers of other types are passed over.
    """
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from _Reading(file, data, name or path.name).items()


class _Reading:
    """A file that is being read. `_last` is where the record begins that was read last."""

    def __init__(self, file: BinaryIO, data: mmap.mmap, archive: str) -> None:
        self._file = file
        self._data = data
        self._archive = archive
        self._last, self._last_length, self._last_url = -1, 0, ""
        self._told = -2
        self._held: Capture | None = None  # until what follows it is known: a record may tell how long it took

    def items(self) -> Items:
        """All of it."""
        place: int | None = 0
        while place is not None:
            start = self._next_start(place)
            if start != place and not self._is_told(place):
                yield from self._tell(place, "no record")
            place = (yield from self._from(start)) if start is not None else None

    def _from(self, start: int) -> Generator[Item, None, int | None]:
        """What can be read from here on; the result is where to look for the next record, None at the end."""
        self._file.seek(start)
        self._last = start - 1
        # OSError and ValueError are what fastwarc raises for what it cannot read.
        with contextlib.suppress(OSError, ValueError):
            for record in ArchiveIterator(self._file, record_types=_ANY, parse_http=False):
                self._last, self._last_length = int(record.stream_pos), int(record.content_length)
                yield from self._of(record)
        if self._last < start:
            yield from self._tell(start, "unreadable record")
            return start + 1
        end = self._record_end(self._last)
        if end is None or (end < len(self._data) and self._held and b"\r\n\r\nWARC/1." in self._held.body):
            # The record itself is damaged, or took in what follows it because it says to be longer than it is.
            self._held = None
            yield from self._tell(self._last, "damaged record", self._last_url)
            return self._last + 1
        yield from self._let_go()
        return end if self._data[end : end + 1_000].strip(b"\0\r\n ") else None

    def _record_end(self, at: int) -> int | None:
        """Where the record behind this one should begin; None if it is not whole."""
        magic = self._data[at : at + 4]
        if magic.startswith(_GZIP_MAGIC):
            end = self._member_end(at)
        elif magic == _ZSTD_MAGIC:
            end = self._frame_end(at)
        else:
            content_end = self._data.find(b"\r\n\r\n", at) + 4 + self._last_length
            # Some writers leave out the two line ends behind the last record: it is whole all the same.
            end = min(content_end + 4, max(content_end, len(self._data)))
        return end if end is not None and end <= len(self._data) else None

    def _frame_end(self, at: int) -> int | None:
        """The end of a frame of zstd, by the sizes it names (RFC 8878, section 3.1.1)."""
        data = self._data
        if at + 5 > len(data):
            return None
        about = data[at + 4]
        is_single = bool(about & 0x20)
        place = at + 5 + (not is_single) + (0, 1, 2, 4)[about & 3] + (int(is_single), 2, 4, 8)[about >> 6]
        while place + 3 <= len(data):
            block = int.from_bytes(data[place : place + 3], "little")
            place += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
            if block & 1:
                return place + (4 if about & 4 else 0)
        return None

    def _member_end(self, at: int) -> int | None:
        member = zlib.decompressobj(31)
        place = at
        try:
            while not member.eof and place < len(self._data):
                member.decompress(self._data[place : place + _PIECE_BYTES])
                place = min(place + _PIECE_BYTES, len(self._data))
        except zlib.error:
            return None
        return place - len(member.unused_data) if member.eof else None

    def _next_start(self, at: int) -> int | None:
        """The next place where a record begins."""
        while found := _STARTS.search(self._data, at):
            at = found.start()
            if found[0] != _GZIP_MAGIC or self._begins_record(at):
                return at
            at += 1
        return None

    def _begins_record(self, at: int) -> bool:
        try:
            return zlib.decompressobj(31).decompress(self._data[at : at + 4_096], 5) == _FIRST_LINE
        except zlib.error:
            return False

    def _tell(self, offset: int, reason: str, url: str = "") -> Items:
        """A record is told once, though it may break in several ways."""
        if offset != self._told:
            self._told = offset
            yield Quarantined(archive=self._archive, offset=offset, url=url[:MAX_URL_CHARS], reason=reason)

    def _is_told(self, place: int) -> bool:
        """Whether this place lies in what was told last: behind the first byte of a record that could not be read."""
        return place == self._told + 1

    def _let_go(self) -> Items:
        held, self._held = self._held, None
        if held is not None:
            yield held

    def _of(self, record: WarcRecord) -> Items:
        if record.record_type == WarcRecordType.metadata:
            if self._held is not None and _target(record) == self._held.url:
                took_ms = _fetch_time_ms(record.reader.read(MAX_METADATA_BYTES))
                self._held = msgspec.structs.replace(self._held, load_time_ms=took_ms)
            return
        if record.record_type != WarcRecordType.response:
            return
        yield from self._let_go()
        self._last_url = url = _target(record)
        if url[:8].lower().startswith(("http://", "https://")):
            try:
                self._held = self._capture(record, url)
            except NoAnswer as error:
                yield from self._tell(self._last, str(error), url)

    def _capture(self, record: WarcRecord, url: str) -> Capture | None:
        """None: an answer of a type that says nothing here."""
        if len(url) > MAX_URL_CHARS:
            raise NoAnswer("long address")
        captured_at_ms = _time_ms(record.headers.get("WARC-Date") or "")
        message = record.reader.read(MAX_RECORD_BYTES)
        if len(message) < min(record.content_length, MAX_RECORD_BYTES):
            raise NoAnswer("cut short")
        answer = read_answer(message)
        if not _is_wanted(url, answer, record.headers.get("WARC-Identified-Payload-Type") or ""):
            return None
        return Capture(
            url=url,
            captured_at_ms=captured_at_ms,
            status=answer.status,
            headers=answer.headers,
            body=plain_body(answer),
            archive=self._archive,
            offset=self._last,
        )


def _target(record: Any) -> str:
    return (record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")


def _fetch_time_ms(content: bytes) -> int | None:
    found = _FETCH_TIME.search(content)
    took_ms = int(found[1]) if found else MAX_LOAD_TIME_MS
    return took_ms if took_ms < MAX_LOAD_TIME_MS else None


def _time_ms(text: str) -> int:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise NoAnswer("no date") from None
    ms = int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    if not 0 <= ms < MAX_TIME_MS:
        raise NoAnswer("no date")
    return ms


def _is_wanted(url: str, answer: Answer, identified: str) -> bool:
    """Pages, robots.txt, sitemaps; and whatever sends the reader on, for its target is what it says."""
    if 300 <= answer.status < 400 and answer.header("location"):
        return True
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return False
    if path == "/robots.txt":
        return True
    kind = (answer.header("content-type") or identified).partition(";")[0].strip().lower()
    if not kind:
        return answer.body[:256].lstrip(b"\xef\xbb\xbf \t\r\n")[:6].lower().startswith((b"<!doct", b"<html"))
    return kind in _PAGE_TYPES or ("sitemap" in path and (kind in _XML_TYPES or path.endswith((".xml", ".xml.gz"))))
