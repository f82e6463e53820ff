"""WARC files written by tests, record by record, so that each can be damaged on its own."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from fastwarc.stream_io import ZstdWriter

Packing = Literal["gzip", "zstd", "plain"]
DATE = "2026-10-01T12:00:00Z"
DATE_MS = 1_790_856_000_000


def record(
    kind: str,
    url: str,
    block: bytes,
    *,
    date: str = DATE,
    content_type: str = "application/http",
    with_digest: bool = True,
    fields: Iterable[str] = (),
) -> bytes:
    """A record as it is written to a plain file; `fields` are more lines of its header."""
    digest = base64.b32encode(hashlib.sha1(block, usedforsecurity=False).digest()).decode()
    lines = (
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        f"WARC-Date: {date}",
        f"Content-Type: {content_type}",
        *([f"WARC-Block-Digest: sha1:{digest}"] if with_digest else []),
        f"Content-Length: {len(block)}",
        *fields,
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def answer(body: bytes = b"<html></html>", *headers: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    """An HTTP answer; `kind` "" leaves its type out."""
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def response(
    url: str, body: bytes = b"<html></html>", *headers: str, date: str = DATE, status: str = "200 OK"
) -> bytes:
    """The record of an answer with a page."""
    return record("response", url, answer(body, *headers, status=status), date=date)


def payload_digest(block: bytes) -> str:
    """The line of a header that names the body of an HTTP answer."""
    payload = block.partition(b"\r\n\r\n")[2]
    digest = base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()
    return f"WARC-Payload-Digest: sha1:{digest}"


def revisit(url: str, block: bytes, *fields: str, date: str = DATE) -> bytes:
    """The record of a visit that found what was there before. As most writers write it, without a digest of its own."""
    return record("revisit", url, block, date=date, with_digest=False, fields=fields)


def metadata(url: str, took_ms: int) -> bytes:
    """The record that follows a response in files of Common Crawl."""
    block = f"fetchTimeMs: {took_ms}\r\ncharset-detected: utf-8\r\n".encode()
    return record("metadata", url, block, content_type="application/warc-fields")


def packed(one: bytes, packing: Packing = "gzip") -> bytes:
    """A record as a file of this packing holds it."""
    if packing == "plain":
        return one
    if packing == "gzip":
        return gzip.compress(one, mtime=0)
    sink = io.BytesIO()
    with ZstdWriter(sink) as writer:
        writer.write(one)
        writer.finish()
    return sink.getvalue()


def write_warc(path: Path, records: Iterable[bytes], packing: Packing = "gzip") -> list[int]:
    """Write records; where each begins."""
    offsets: list[int] = []
    content = bytearray()
    for one in records:
        offsets.append(len(content))
        content += packed(one, packing)
    path.write_bytes(content)
    return offsets
