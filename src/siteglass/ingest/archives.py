"""WARC files to captures: gzip, zstd or plain. Reading ends at damage, unless the next record's start is proven.

What is not read is reported with its place and size. See `records` for what counts as a proof.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from siteglass.ingest.capture import Capture
from siteglass.ingest.http_responses import Answer, NotAnHttpResponse, plain_body, read_answer
from siteglass.ingest.members import Damaged, read_member
from siteglass.ingest.records import Record, read_records

MAX_URL_CHARS = 2_048
MAX_METADATA_BYTES = 64_000
MAX_TIME_MS = 2**42
MAX_LOAD_TIME_MS = 2**31

_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_XML_TYPES = ("text/xml", "application/xml")
_FETCH_TIME = re.compile(rb"^fetchTimeMs:[ \t]*(\d{1,10})[ \t]*\r?$", re.MULTILINE)
# What may follow the last record: some disks and tools fill files up.
_NO_PADDING = re.compile(rb"[^\0\r\n ]")


class QuarantinedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that could not be used, or a part of an archive that was not read, and why."""

    archive: str
    offset: int
    url: str
    reason: str
    """One of few, so that reasons can be counted."""
    unread_bytes: int = 0
    """Bytes of the file, from `offset` on, that were not read because of damage; 0 for a record that was read."""


Item = Capture | QuarantinedRecord
Items = Iterator[Item]


def read_archive(path: Path, name: str = "") -> Items:
    """The captures of a WARC file that pages, robots.txt or sitemaps came with, in order; never raises for content.

    `name` stands in them as their archive, else the name of the file. Answers of other types are passed over.
    """
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from _Reading(data, name or path.name).items()


class _Reading:
    """A file that is being read."""

    def __init__(self, data: mmap.mmap, archive: str) -> None:
        self._data = data
        self._archive = archive
        self._held: Capture | None = None  # until what follows it is known: a record may tell how long it took

    def items(self) -> Items:
        """All of it, up to damage after which nothing is proven."""
        place = 0
        # Whether every member so far contained exactly one record. Only then does the end of a member also end a broken
        # record. In files that are packed in blocks, the next member may begin inside a page.
        one_each = False
        while place < len(self._data) and _NO_PADDING.search(self._data, place):
            start, end, may_continue = place, len(self._data), False
            try:
                member = read_member(self._data, start)
                end, may_continue = member.end, member.is_checked and one_each
                count = 0
                for record in read_records(member):
                    count += 1
                    yield from self._of(record)
                if count:  # some writers end files with an empty member
                    one_each = count == 1 and (one_each or start == 0)
            except Damaged as damage:
                end = end if may_continue else len(self._data)
                offset = start if damage.offset is None else damage.offset
                if _NO_PADDING.search(self._data, offset):
                    yield self._quarantined(offset, damage.reason, damage.url, end - offset)
            place = end
        yield from self._let_go()

    def _quarantined(self, offset: int, reason: str, url: str, unread_bytes: int = 0) -> QuarantinedRecord:
        return QuarantinedRecord(
            archive=self._archive, offset=offset, url=url[:MAX_URL_CHARS], reason=reason, unread_bytes=unread_bytes
        )

    def _let_go(self) -> Items:
        held, self._held = self._held, None
        if held is not None:
            yield held

    def _of(self, record: Record) -> Items:
        if record.kind == "metadata":
            if self._held is not None and record.url == self._held.url:
                took_ms = _fetch_time_ms(record.block[:MAX_METADATA_BYTES])
                self._held = msgspec.structs.replace(self._held, load_time_ms=took_ms)
            return
        if record.kind != "response":
            return
        yield from self._let_go()
        if record.url[:8].lower().startswith(("http://", "https://")):
            try:
                self._held = self._capture(record)
            except NotAnHttpResponse as error:
                yield self._quarantined(record.offset, str(error), record.url)

    def _capture(self, record: Record) -> Capture | None:
        """None: an answer of a type that says nothing here."""
        if len(record.url) > MAX_URL_CHARS:
            raise NotAnHttpResponse("long address")
        captured_at_ms = _time_ms(record.headers.get("warc-date", ""))
        answer = read_answer(record.block)
        if not _is_wanted(record.url, answer, record.headers.get("warc-identified-payload-type", "")):
            return None
        return Capture(
            url=record.url,
            captured_at_ms=captured_at_ms,
            status=answer.status,
            headers=answer.headers,
            body=plain_body(answer),
            archive=self._archive,
            offset=record.offset,
        )


def _fetch_time_ms(content: bytes) -> int | None:
    found = _FETCH_TIME.search(content)
    took_ms = int(found[1]) if found else MAX_LOAD_TIME_MS
    return took_ms if took_ms < MAX_LOAD_TIME_MS else None


def _time_ms(text: str) -> int:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise NotAnHttpResponse("no date") from None
    ms = int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    if not 0 <= ms < MAX_TIME_MS:
        raise NotAnHttpResponse("no date")
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
