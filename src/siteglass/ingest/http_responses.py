"""The bytes of an HTTP answer, as archives hold them: status, headers, and the body without its encodings. Pure."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from fastwarc.stream_io import BrotliReader, ZstdReader

from siteglass.ingest.capture import MAX_BODY_BYTES

MAX_HEADER_BYTES = 128_000
MAX_HEADERS = 200
MAX_HEADER_VALUE_CHARS = 8_000
MAX_CODINGS = 3

_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?:[ \t]|$)")
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_GZIP_MAGIC = b"\x1f\x8b"


class NotAnHttpResponse(ValueError):
    """The bytes are not an HTTP response; the message is the reason, one of a few."""


class Answer(NamedTuple):
    """An answer; names of headers in lower case, the body as it was sent."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """The first value of a header, or ""."""
        return next((value for found, value in self.headers if found == name), "")


def read_answer(message: bytes) -> Answer:
    """Split an answer into its parts; raises NotAnHttpResponse."""
    end = _END_OF_HEADERS.search(message, 0, MAX_HEADER_BYTES)
    head = message[: end.start()] if end else message
    lines = head.split(b"\n", MAX_HEADERS + 1)
    status = _STATUS_LINE.match(lines[0].rstrip(b"\r"))
    if status is None:
        raise NotAnHttpResponse("no HTTP response")
    if end is None and len(message) > MAX_HEADER_BYTES:
        raise NotAnHttpResponse("headers without end")
    return Answer(int(status[1]), tuple(_headers(lines[1 : MAX_HEADERS + 1])), message[end.end() :] if end else b"")


def _headers(lines: list[bytes]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, colon, value = line.partition(b":")
        if colon and name.strip():
            text = value.strip()[:MAX_HEADER_VALUE_CHARS]
            yield name.strip().decode("latin-1").lower(), _text(text)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def plain_body(answer: Answer) -> bytes:
    """The body without transfer and content encoding, at most MAX_BODY_BYTES; raises NotAnHttpResponse.

    Archives often keep the headers and store the body decoded already: what is not encoded is taken as it is.
    """
    body = answer.body
    if "chunked" in answer.header("transfer-encoding").lower():
        body = _unchunked(body)
    codings = [one.strip() for one in answer.header("content-encoding").lower().split(",") if one.strip()]
    if len(codings) > MAX_CODINGS:
        raise NotAnHttpResponse("content encoding")
    for coding in reversed(codings):
        decode = _DECODERS.get(coding)
        if decode is not None and body:
            try:
                body = decode(body)
            except (OSError, zlib.error):
                if not _is_plain(body):
                    raise NotAnHttpResponse("content encoding") from None
    return body[:MAX_BODY_BYTES]


def _is_plain(body: bytes) -> bool:
    """Whether it looks like text, as what is encoded does not."""
    return b"\0" not in body[:256] and body[:256].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"<", b"{", b"U", b"u", b"#")


def _unchunked(body: bytes) -> bytes:
    """The chunks put together; a body that has none comes back as it is, and one cut short as far as it goes."""
    pieces: list[bytes] = []
    at = 0
    while at < len(body):
        end = body.find(b"\r\n", at, at + 1_000)
        size_text = body[at:end].partition(b";")[0].strip() if end >= 0 else b""
        if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", size_text):
            return b"".join(pieces) if pieces else body
        size = int(size_text, 16)
        if size == 0:
            break
        pieces.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(pieces)


def _gzip(body: bytes) -> bytes:
    if not body.startswith(_GZIP_MAGIC):
        raise zlib.error("no gzip")
    return zlib.decompressobj(31).decompress(body, MAX_BODY_BYTES)


def _deflate(body: bytes) -> bytes:
    """By its standard inside of zlib's frame, by habit often without."""
    try:
        return zlib.decompressobj(15).decompress(body, MAX_BODY_BYTES)
    except zlib.error:
        return zlib.decompressobj(-15).decompress(body, MAX_BODY_BYTES)


def _brotli(body: bytes) -> bytes:
    return bytes(BrotliReader(io.BytesIO(body)).read(MAX_BODY_BYTES))


def _zstd(body: bytes) -> bytes:
    return bytes(ZstdReader(io.BytesIO(body)).read(MAX_BODY_BYTES))


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
