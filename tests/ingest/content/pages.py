"""Captures and pages from snippets of HTML."""

from __future__ import annotations

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.page import Page

HTML = ("content-type", "text/html; charset=utf-8")


def capture(
    body: str | bytes,
    url: str = "https://www.acme-tools.com/",
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (HTML,),
    load_time_ms: int | None = None,
) -> Capture:
    raw = body.encode() if isinstance(body, str) else body
    return Capture(
        url=url, captured_at_ms=1_700_000_000_000, status=status, headers=headers, body=raw, load_time_ms=load_time_ms
    )


def page(body: str, url: str = "https://www.acme-tools.com/", headers: tuple[tuple[str, str], ...] = (HTML,)) -> Page:
    return Page(capture(body, url, headers=headers))
