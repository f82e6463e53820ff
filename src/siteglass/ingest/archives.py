"""WARC files to captures: gzip, zstd or plain. Reading ends at damage, unless the next record's start is proven.

What is not read is reported with its place and size. See `records` for what counts as a proof.

A revisit is a visit that found a page as it was before, and was stored without it. If the page is earlier in the same
archive, the visit becomes a capture of that page at its own time. If the record names the page's digest, as our crawler
writes it, the facts store finds the page. Otherwise it is reported.

Of what DNS said, MX records become facts.
"""

from __future__ import annotations

import contextlib
import mmap
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from siteglass.ingest.capture import Capture
from siteglass.ingest.http_responses import Answer, NotAnHttpResponse, plain_body, read_answer
from siteglass.ingest.members import Damaged, Member, read_member
from siteglass.ingest.records import MAX_BLOCK_BYTES, Record, read_records

NOT_MODIFIED = 304
MAX_URL_CHARS = 2_048
MAX_METADATA_BYTES = 64_000
MAX_DNS_BYTES = 64_000
MAX_TIME_MS = 2**42
MAX_LOAD_TIME_MS = 2**31
# Pages of an archive that later revisits are resolved to; an archive of a gigabyte has some 50,000.
MAX_KNOWN_PAGES = 200_000

_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_XML_TYPES = ("text/xml", "application/xml")
_PAGE_DIGEST = re.compile(r"[0-9a-f]{16}")
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


class UnresolvedRevisit(msgspec.Struct, frozen=True, kw_only=True):
    """A visit that found a page as it was before. The archive does not have that page, so it has no facts."""

    archive: str
    offset: int
    url: str


Item = Capture | QuarantinedRecord | UnresolvedRevisit
Items = Iterator[Item]
OnRead = Callable[[int], None]


def read_archive(path: Path, name: str = "", on_read: OnRead = lambda _bytes: None) -> Items:
    """The captures of a WARC file that pages, robots.txt or sitemaps came with, in order; never raises for content.

    Their archive is `name`, else the name of the file. Answers of other types are ignored. `on_read`
    is called after each record with the number of bytes of the file that are read.
    """
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from _Reading(data, name or path.name, on_read).items()


class _Reading:
    """A file that is being read."""

    def __init__(self, data: mmap.mmap, archive: str, on_read: OnRead) -> None:
        self._data = data
        self._archive = archive
        self._on_read = on_read
        self._pages = _KnownPages(data)
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
                    if self._held is not None and record.kind == "response" and (count == 1 or member.is_plain):
                        self._pages.add(member, record)
                    self._on_read(record.end)
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
        if record.kind not in ("response", "revisit"):
            return
        yield from self._let_go()
        if record.url.startswith("dns:") and record.kind == "response" and b" MX " in record.block:
            with contextlib.suppress(NotAnHttpResponse):  # it has no date
                yield self._bare(record, status=0, body=record.block[:MAX_DNS_BYTES])
        if record.url[:8].lower().startswith(("http://", "https://")):
            try:
                if record.kind == "response":
                    answer = read_answer(record.block)
                    self._held = self._capture(record, answer, answer)
                else:
                    yield from self._revisited(record)
            except NotAnHttpResponse as error:
                yield self._quarantined(record.offset, str(error), record.url)

    def _revisited(self, record: Record) -> Items:
        """Holds the page that was found again, with the headers of this visit."""
        visit = read_answer(record.block) if record.block else None
        page = self._pages.find(record)
        if page is not None:
            # "Not modified" is what the server answers to the crawler; the page itself still has its earlier status.
            self._held = self._capture(record, page if visit is None or visit.status == NOT_MODIFIED else visit, page)
        elif visit is not None and _PAGE_DIGEST.fullmatch(digest := record.headers.get("warc-page-digest", "")):
            self._held = self._bare(record, status=NOT_MODIFIED, headers=visit.headers, page_digest=digest)
        elif visit is not None and _is_redirect(visit):
            self._held = self._capture(record, visit, visit)  # all that counts is in its headers
        elif visit is None or visit.status == NOT_MODIFIED or _is_wanted(record.url, visit, ""):
            yield UnresolvedRevisit(archive=self._archive, offset=record.offset, url=record.url[:MAX_URL_CHARS])

    def _bare(self, record: Record, **fields: Any) -> Capture:
        """What has no page and no type; raises NotAnHttpResponse."""
        if len(record.url) > MAX_URL_CHARS:
            raise NotAnHttpResponse("long address")
        at_ms = _time_ms(record.headers.get("warc-date", ""))
        return Capture(url=record.url, captured_at_ms=at_ms, archive=self._archive, offset=record.offset, **fields)

    def _capture(self, record: Record, answer: Answer, page: Answer) -> Capture | None:
        """An answer with the body of `page`. None: one of a type that says nothing here."""
        if len(record.url) > MAX_URL_CHARS:
            raise NotAnHttpResponse("long address")
        captured_at_ms = _time_ms(record.headers.get("warc-date", ""))
        identified = record.headers.get("warc-identified-payload-type", "")
        if not _is_wanted(record.url, answer._replace(body=page.body), identified):
            return None
        return Capture(
            url=record.url,
            captured_at_ms=captured_at_ms,
            status=answer.status,
            headers=answer.headers,
            body=plain_body(page),
            archive=self._archive,
            offset=record.offset,
        )


class _KnownPages:
    """Where in the file the pages are that a revisit may mean. They are read again, not kept."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._offsets: dict[str, int] = {}

    def add(self, member: Member, record: Record) -> None:
        """Note a page that is found where its member starts. One that takes long to read again is left out."""
        is_small = member.is_plain or member.kept is not None
        if is_small and len(record.block) < MAX_BLOCK_BYTES and len(self._offsets) < 2 * MAX_KNOWN_PAGES:
            for name in ("warc-record-id", "warc-payload-digest"):
                if key := record.headers.get(name):
                    self._offsets[key] = record.offset

    def find(self, revisit: Record) -> Answer | None:
        """The answer that a revisit names by its record, or by the digest of its payload."""
        for name in ("warc-refers-to", "warc-payload-digest"):
            offset = self._offsets.get(revisit.headers.get(name, ""))
            if offset is not None:
                return read_answer(next(read_records(read_member(self._data, offset))).block)
        return None


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


def _is_redirect(answer: Answer) -> bool:
    return 300 <= answer.status < 400 and bool(answer.header("location"))


def _is_wanted(url: str, answer: Answer, identified: str) -> bool:
    """Pages, robots.txt, sitemaps; and whatever sends the reader on, for its target is what it says."""
    if _is_redirect(answer):
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
