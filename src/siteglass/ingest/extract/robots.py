"""What robots.txt and a sitemap say of their site."""

from __future__ import annotations

import re
from typing import NamedTuple

from protego import Protego

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.kinds import looks_like_html

# As search engines do: only the first 500 KiB are read.
MAX_ROBOTS_BYTES = 512_000
_MAX_LINES = 20_000
_KNOWN = re.compile(
    r"(?:user-?agent|disallow|allow|sitemap|crawl-delay|host|clean-param|request-rate|visit-time|noindex|cache-delay"
    r"|content-signal|content-usage)\s*:",
    re.IGNORECASE,
)


class Robots(NamedTuple):
    """Facts of a capture of /robots.txt."""

    exists: bool
    names_sitemap: bool
    is_valid: bool
    """Every line is a rule that is known, a comment, or blank."""
    allows_home: bool
    """Whether any crawler may read the first page."""


def robots(capture: Capture) -> Robots:
    """The rules in short. An HTML page does not count as a file: many sites answer every request with one."""
    body = capture.body[:MAX_ROBOTS_BYTES]
    if capture.status >= 300 or looks_like_html(body):
        return Robots(exists=False, names_sitemap=False, is_valid=False, allows_home=True)
    text = "\n".join(body.decode("utf-8-sig", "replace").splitlines()[:_MAX_LINES])
    read = Protego.parse(text)
    rules = [line.partition("#")[0].strip() for line in text.split("\n")]
    return Robots(
        exists=True,
        names_sitemap=any(True for _ in read.sitemaps),
        is_valid=all(_KNOWN.match(rule) for rule in rules if rule),
        allows_home=read.can_fetch("/", "*"),
    )


def has_sitemap(capture: Capture) -> bool:
    """Whether a capture of a sitemap is one: any format but a page in its place."""
    return capture.status < 300 and bool(capture.body) and not looks_like_html(capture.body)
