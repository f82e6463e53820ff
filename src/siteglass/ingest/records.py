"""Records of a member of an archive. A record counts only where something else than its own length proves its end.

A page may hold bytes that look like a record of another domain. With a wrong length, reading would continue inside the
page. So records are never searched for: each must begin where the previous one provably ends. Proof is the
end of a member whose checksum holds, or a digest of the record's content. A revisit needs neither: it holds the HTTP
headers alone, which end at their first empty line.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from siteglass.ingest.capture import MAX_BODY_BYTES
from siteglass.ingest.members import PIECE_BYTES, Damaged, Member

# Headers and the marks of chunks come on top of a body.
MAX_BLOCK_BYTES = MAX_BODY_BYTES + 500_000
MAX_HEADER_BYTES = 128_000
# A record ends with two line ends; some writers add more at the end of a member.
MAX_CLOSING_BYTES = 16

_FIRST_LINE = re.compile(rb"WARC/[01]\.\d+\r\n")
_LENGTH = re.compile(r"\d{1,15}")
_CLOSING = b"\r\n\r\n"
# Written by the crawler alone: no page can put a record into them.
_OF_THE_CRAWLER = ("warcinfo", "request")
# Not md5: two contents with the same one are made within seconds.
_DIGESTS = ("sha1", "sha256", "sha512")
# Those that change what is read, or for whom: a second one may come from a page.
_ONCE = frozenset(
    (
        *("warc-type", "warc-target-uri", "warc-date", "content-length", "warc-block-digest", "warc-payload-digest"),
        *("warc-record-id", "warc-refers-to", "warc-page-digest"),
    )
)


class Record(NamedTuple):
    """A record whose place is proven; names of headers in lower case."""

    offset: int
    """Where in the file it starts; of a compressed one, where its member does."""
    end: int
    """Where in the file it ends; inside of a compressed member, about where."""
    kind: str
    headers: dict[str, str]
    block: bytes
    """Its content, at most MAX_BLOCK_BYTES."""

    @property
    def url(self) -> str:
        """The address that it is about."""
        return _target(self.headers)


def read_records(member: Member) -> Iterator[Record]:
    """The records of a member, in order; raises Damaged at the first one that is not whole or not proven."""
    with member.open() as stream:
        place = 0
        while place < member.size:
            offset = member.start + place if member.is_plain else member.start
            try:
                head_bytes, headers = _read_head(stream)
                block, place = _read_block(stream, member, place + head_bytes, headers)
            except Damaged as damage:
                damage.offset = offset
                raise
            end = member.start + (member.end - member.start) * place // member.size
            yield Record(offset, end, headers["warc-type"].lower(), headers, block)


def _target(headers: dict[str, str]) -> str:
    return headers.get("warc-target-uri", "").removeprefix("<").removesuffix(">")


def _read_head(stream: BinaryIO) -> tuple[int, dict[str, str]]:
    """The length of a record's head, and its headers."""
    first = stream.readline(MAX_HEADER_BYTES)
    if not _FIRST_LINE.fullmatch(first):
        raise Damaged("no record")
    size, headers, name = len(first), dict[str, str](), ""
    while True:
        line = stream.readline(MAX_HEADER_BYTES - size)
        size += len(line)
        if not line.endswith(b"\r\n"):
            raise Damaged("unreadable header", _target(headers))
        if line == b"\r\n":
            break
        text = _text(line)
        if text[0] in " \t" and name:  # the standard lets a long value continue on the next line
            headers[name] += f" {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        name = name.strip().lower()
        if not colon or not name or (name in headers and name in _ONCE):
            raise Damaged("unreadable header", _target(headers))
        headers[name] = value.strip()
    if "warc-type" not in headers or not _LENGTH.fullmatch(headers.get("content-length", "")):
        raise Damaged("unreadable header", _target(headers))
    return size, headers


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _read_block(stream: BinaryIO, member: Member, place: int, headers: dict[str, str]) -> tuple[bytes, int]:
    """The content that starts here, and where the next record does; raises Damaged unless its end is proven."""
    length, url = int(headers["content-length"]), _target(headers)
    rest = member.size - place - length
    if rest < 0:
        raise Damaged("longer than its container", url)
    ends_member = member.is_checked and rest <= MAX_CLOSING_BYTES
    digest = None if ends_member else _Digest.of(headers, url)
    block = stream.read(min(length, MAX_BLOCK_BYTES))
    if digest:
        digest.begin(block)
    left = length - len(block)
    while left:
        piece = stream.read(min(left, PIECE_BYTES))
        left -= len(piece)
        if digest:
            digest.add(piece)
    closing = stream.read(rest if ends_member else min(rest, len(_CLOSING)))
    # Some writers leave out the line ends after the last record.
    is_closed = not closing.strip(b"\r\n") if ends_member else closing in (_CLOSING, b"")
    if not is_closed:
        raise Damaged("not closed", url)
    if digest and not digest.fits():
        raise Damaged("digest does not match", url)
    is_proven = ends_member or digest is not None or headers["warc-type"].lower() in _OF_THE_CRAWLER
    if not is_proven and (len(block) < length or not _is_head(block)):
        raise Damaged("no digest", url)
    return block, place + length + len(closing)


def _is_head(block: bytes) -> bool:
    """Whether a block is nothing but HTTP headers. No server can put an empty line into those: only one length fits."""
    return not block or (block.endswith(_CLOSING) and block.index(_CLOSING) == len(block) - len(_CLOSING))


class _Digest:
    """A digest that a record carries, of all its content or of what follows the HTTP headers."""

    def __init__(self, algorithm: str, expected: str, *, of_payload: bool) -> None:
        self._hash = hashlib.new(algorithm, usedforsecurity=False)
        self._expected = expected
        self._of_payload = of_payload

    @classmethod
    def of(cls, headers: dict[str, str], url: str) -> _Digest | None:
        """None: no page can speak in such a record, or it is a revisit, whose content is yet to be looked at. Raises
        Damaged if it needs a digest and has none."""
        kind = headers["warc-type"].lower()
        names = ["warc-block-digest", *(["warc-payload-digest"] if kind == "response" else [])]
        for name in names:
            algorithm, colon, expected = headers.get(name, "").partition(":")
            algorithm = algorithm.strip().lower().replace("-", "")
            if colon and algorithm in _DIGESTS:
                return cls(algorithm, expected.strip(), of_payload=name != names[0])
        if kind in _OF_THE_CRAWLER or kind == "revisit":
            return None
        raise Damaged("no digest", url)

    def begin(self, block: bytes) -> None:
        """The first piece, which holds all HTTP headers."""
        self._hash.update(block.partition(_CLOSING)[2] if self._of_payload else block)

    def add(self, piece: bytes) -> None:
        self._hash.update(piece)

    def fits(self) -> bool:
        """Whether it is the one expected: in base32, as most write it, or hexadecimal."""
        found = self._hash.digest()
        expected = self._expected.rstrip("=")
        return expected.upper() == base64.b32encode(found).decode().rstrip("=") or expected.lower() == found.hex()
