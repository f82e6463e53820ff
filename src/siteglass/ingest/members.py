"""Members of an archive: gzip members, zstd frames or plain bytes. Nothing of a member is read before all of it is."""

from __future__ import annotations

import contextlib
import io
import mmap
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from fastwarc.stream_io import ZstdReader

from siteglass.ingest.capture import MAX_BODY_BYTES

GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
PIECE_BYTES = 256 * 1024
# Most members are small, and each piece is copied: the first ones are small, too.
FIRST_PIECE_BYTES = 4 * 1024
# The content of a member of at most this size is kept in memory; larger ones are unpacked a second time.
MAX_KEPT_BYTES = MAX_BODY_BYTES + 3_000_000
# A file that is gzipped as a whole is one member, and may be large. Nothing that unpacks to more than this is an
# archive: it would only keep a worker busy.
MAX_MEMBER_BYTES = 64 * 2**30
_HAS_CHECKSUM = 0x04


class Damaged(Exception):
    """Bytes that cannot be read, or that nothing proves to be a record; the message is the reason, one of few."""

    def __init__(self, reason: str, url: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.url = url
        self.offset: int | None = None
        """Where in the file the bytes start, if that is known better than by their member."""


@dataclass(frozen=True, slots=True)
class Member:
    """A part of an archive that was unpacked to its end."""

    data: mmap.mmap
    start: int
    end: int
    size: int
    """Of its content, in bytes."""
    is_checked: bool
    """A checksum of the compressor holds for all of it: these are the bytes that were written."""
    is_plain: bool = False
    """Not compressed: offsets in its content are offsets in the file."""
    kept: bytes | None = None

    def open(self) -> BinaryIO:
        """Its content, from the start."""
        if self.kept is not None:
            return io.BytesIO(self.kept)
        return cast(BinaryIO, io.BufferedReader(_Pieces(_unpacked(self.data, self.start)), PIECE_BYTES))


def read_member(data: mmap.mmap, start: int) -> Member:
    """The member that starts here; raises Damaged unless all of it can be unpacked and its checksum holds."""
    head = data[start : start + 5]
    if not head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        return Member(data, start, len(data), len(data) - start, is_checked=False, is_plain=True)
    pieces = _unpacked(data, start)
    kept: list[bytes] = []
    size = 0
    while True:
        try:
            piece = next(pieces)
        except StopIteration as done:
            end: int = done.value
            break
        size += len(piece)
        if size > MAX_MEMBER_BYTES:
            raise Damaged("unpacks to too much")
        if size <= MAX_KEPT_BYTES:
            kept.append(piece)
        else:
            kept.clear()
    # Gzip always ends with a checksum, a frame of zstd where its header says so.
    is_checked = head.startswith(GZIP_MAGIC) or bool(head[4] & _HAS_CHECKSUM)
    return Member(data, start, end, size, is_checked, kept=b"".join(kept) if size <= MAX_KEPT_BYTES else None)


def _unpacked(data: mmap.mmap, start: int) -> Generator[bytes, None, int]:
    """The content of a member in pieces; the result is where the member ends. Raises Damaged."""
    magic = data[start : start + 4]
    if magic.startswith(GZIP_MAGIC):
        return (yield from _inflated(data, start))
    if magic == ZSTD_MAGIC:
        return (yield from _unpacked_frame(data, start))
    for place in range(start, len(data), PIECE_BYTES):
        yield data[place : place + PIECE_BYTES]
    return len(data)


def _inflated(data: mmap.mmap, start: int) -> Generator[bytes, None, int]:
    member = zlib.decompressobj(31)
    place, count = start, FIRST_PIECE_BYTES
    while not member.eof:
        piece = member.unconsumed_tail
        if not piece:
            piece = data[place : place + count]
            place, count = place + len(piece), min(2 * count, PIECE_BYTES)
        if not piece:
            raise Damaged("cut short")
        try:
            yield member.decompress(piece, PIECE_BYTES)
        except zlib.error:
            raise Damaged("damaged member") from None
    return place - len(member.unused_data)


def _unpacked_frame(data: mmap.mmap, start: int) -> Generator[bytes, None, int]:
    end = _frame_end(data, start)
    if end is None or end > len(data):
        raise Damaged("cut short")
    window: Any = _Window(data, start, end)
    reader: Any = ZstdReader(window)
    while True:
        try:
            piece = bytes(reader.read(PIECE_BYTES))
        except OSError:  # what fastwarc raises for what it cannot read
            raise Damaged("damaged member") from None
        if not piece:
            return end
        yield piece


def _frame_end(data: mmap.mmap, at: int) -> int | None:
    """The end of a frame of zstd, by the sizes it names (RFC 8878, section 3.1.1)."""
    if at + 5 > len(data):
        return None
    about = data[at + 4]
    is_single = bool(about & 0x20)
    place = at + 5 + (not is_single) + (0, 1, 2, 4)[about & 3] + (int(is_single), 2, 4, 8)[about >> 6]
    while place + 3 <= len(data):
        block = int.from_bytes(data[place : place + 3], "little")
        place += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        if block & 1:
            return place + (4 if about & _HAS_CHECKSUM else 0)
    return None


class _Window:
    """A part of a file, as fastwarc reads it."""

    def __init__(self, data: mmap.mmap, start: int, end: int) -> None:
        self._data = data
        self._place = start
        self._end = end

    def read(self, count: int) -> bytes:
        piece = self._data[self._place : min(self._place + count, self._end)]
        self._place += len(piece)
        return piece

    def tell(self) -> int:
        return self._place

    def close(self) -> None:
        """The file is not ours to close."""


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file that is read once."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with contextlib.suppress(StopIteration):
            while not self._rest:
                self._rest = memoryview(next(self._pieces))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
