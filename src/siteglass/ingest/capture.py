"""Capture: one answer of one web server, as an archive holds it."""

from __future__ import annotations

import msgspec

# Larger bodies are cut: what a lead needs is at the start, and no page may use up a worker's memory.
MAX_BODY_BYTES = 5_000_000


class Capture(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for, what came, and where that is kept."""

    url: str
    """The address asked for, absolute, at most 2,048 characters."""
    captured_at_ms: int
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    """In order, names in lower case; a name may recur, as set-cookie does."""
    body: bytes = b""
    """Without transfer and content encoding, at most MAX_BODY_BYTES."""
    load_time_ms: int | None = None
    """How long the fetch took: time of HTTP, not of drawing the page."""
    page_digest: str = ""
    """Of a visit that found a page as it was before, and whose body is elsewhere: `facts.PageFacts.digest` of it."""
    archive: str = ""
    """Name of the file that holds it."""
    offset: int = 0
    """Where in it the record starts."""

    def header(self, name: str) -> str:
        """The first value of a header, its name in lower case; "" if it was not sent."""
        return next((value for found, value in self.headers if found == name), "")
