"""Writes captures as WARC/1.0, a gzip member per record, as Common Crawl does. Equal input gives equal bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import zlib
from datetime import UTC, datetime
from http import HTTPStatus
from random import Random
from types import TracebackType
from typing import IO
from urllib.parse import urlsplit
from uuid import UUID

from fastwarc.stream_io import BrotliWriter

from siteglass_demo.sites.label import Served

Fields = list[tuple[str, str]]
_CHUNK_BYTES = 4_096
# What a crawl of this size gains from more is not worth the time.
_LEVEL = 4


class WarcWriter:
    """One file. `corrupt_percent` of the responses are broken inside their member: a wrong length, or the end missing.

    The members themselves are whole: nothing after a damaged one would be read.
    """

    def __init__(self, sink: IO[bytes], name: str, seed: int, corrupt_percent: float = 0) -> None:
        self._sink, self._rng, self._corrupt_percent = sink, Random(f"warc {name} {seed}"), corrupt_percent
        info = f"software: siteglass demo\r\nformat: WARC File Format 1.0\r\nisPartOf: seed-{seed}\r\n"
        self._info_id = self._id()
        fields = [("WARC-Filename", name), ("Content-Type", "application/warc-fields")]
        self._write("warcinfo", self._info_id, 0, fields, info.encode())

    def __enter__(self) -> WarcWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._sink.close()

    def add(self, served: Served) -> bool:
        """Write request, answer and metadata of a capture; whether the answer is whole."""
        response_id, whole = self._id(), True
        at_ms = served.captured_at_ms
        common: Fields = [("WARC-Target-URI", served.url), ("WARC-Warcinfo-ID", self._info_id)]
        linked: Fields = [*common, ("WARC-Concurrent-To", response_id)]
        request = _request(served.url)
        self._write(
            "request", self._id(), at_ms, [*linked, ("Content-Type", "application/http; msgtype=request")], request
        )
        head, payload = _answer(served)
        fields: Fields = [
            *common,
            ("WARC-IP-Address", f"203.0.113.{at_ms // 1000 % 254}"),
            ("Content-Type", "application/http; msgtype=response"),
            ("WARC-Payload-Digest", _digest(payload)),
        ]
        if served.revisit:
            profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
            fields += [("WARC-Profile", profile), ("WARC-Refers-To-Target-URI", served.url)]
            self._write("revisit", response_id, at_ms, fields, head)
        else:
            if served.truncated:
                fields.append(("WARC-Truncated", "length"))
            whole = self._write("response", response_id, at_ms, fields, head + payload, self._corrupt_percent)
        told = f"fetchTimeMs: {served.load_time_ms}\r\ncharset-detected: UTF-8\r\n"
        self._write(
            "metadata", self._id(), at_ms, [*linked, ("Content-Type", "application/warc-fields")], told.encode()
        )
        return whole

    def _write(self, kind: str, id_: str, at_ms: int, fields: Fields, block: bytes, corrupt_percent: float = 0) -> bool:
        date = datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        named = [("WARC-Type", kind), ("WARC-Date", date), ("WARC-Record-ID", id_), ("Content-Length", str(len(block)))]
        lines = "".join(f"{name}: {value}\r\n" for name, value in named + fields)
        record = f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"
        broken = corrupt_percent > 0 and self._rng.random() * 100 < corrupt_percent
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
        self._sink.write(packer.compress(self._break(record) if broken else record) + packer.flush())
        return not broken

    def _break(self, record: bytes) -> bytes:
        """The record without its end, or with a length that is not its own."""
        if self._rng.random() < 0.5:
            return record[: len(record) * 3 // 5]
        length = b"Content-Length: "
        return record.replace(length, length + b"%d" % (1 + int(self._rng.random() * 9)), 1)

    def _id(self) -> str:
        return f"<urn:uuid:{UUID(int=self._rng.getrandbits(128), version=4)}>"


def _digest(content: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()


def _request(url: str) -> bytes:
    parts = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return (
        f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: siteglass-test\r\nAccept: */*\r\n\r\n".encode()
    )


def _answer(served: Served) -> tuple[bytes, bytes]:
    """Status line with headers, and the payload as it is in the archive."""
    headers, payload = list(served.headers), served.body
    if served.content_encoding:
        # Common Crawl keeps the header under another name where it keeps the body decoded.
        prefix = "X-Crawl-" if served.decoded else ""
        headers.append((f"{prefix}Content-Encoding", served.content_encoding))
        if not served.decoded:
            payload = packed(payload, served.content_encoding)
    if served.chunked:
        headers.append(("X-Crawl-Transfer-Encoding" if served.decoded else "Transfer-Encoding", "chunked"))
        payload = payload if served.decoded else _chunks(payload)
    if served.decoded or not served.chunked:
        headers.append(("Content-Length", str(len(payload))))
    if zlib.crc32((urlsplit(served.url).hostname or "").encode()) % 4 == 0:
        # Servers that speak HTTP/2 know small letters only.
        headers = [(name.lower(), value) for name, value in headers]
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    reason = HTTPStatus(served.status).phrase
    return f"HTTP/1.1 {served.status} {reason}\r\n{lines}\r\n".encode(), payload


def packed(body: bytes, encoding: str) -> bytes:
    """The body in a content encoding."""
    if encoding == "br":
        sink = io.BytesIO()
        with BrotliWriter(sink) as writer:
            writer.write(body)
            writer.finish()
        return sink.getvalue()
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    return packer.compress(body) + packer.flush()


def _chunks(body: bytes) -> bytes:
    pieces = (body[at : at + _CHUNK_BYTES] for at in range(0, len(body), _CHUNK_BYTES))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
