"""Excerpts: where a mark was found, as the page writes it. Short, and without what may be a contact."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from siteglass.corpus.lead import MAX_EXCERPT_BYTES, MarkKind
from siteglass.suppression.redaction import without_contacts

# An address that is cut in two is not recognised as one.
_LOOK_AHEAD = 2 * MAX_EXCERPT_BYTES
# One line of ASCII, so that it has as many bytes as characters in every encoding but UTF-16.
_PLAIN = re.compile(r"[\x20-\x7e]*")
# The source may write these characters of an attribute as entities.
_UNESCAPED = re.compile(r"[^&<>\"']*")
# Up to the sign, what comes before it may be the name of an address, unless a version follows: bootstrap@5.
_SIGN = re.compile(
    r"(?=@\d)|[\w.+%-]*(?:@|%40|&(?:#0*64|#x0*40|commat)\b|\\+(?:u00|x|u\{)40|\\100)", re.IGNORECASE | re.ASCII
)
# Raw source may write any letter of an address as an escape, and Cloudflare writes all of it as a number.
_ESCAPE = re.compile(r"&(?:#|[a-z]\w{1,31};)|\\(?:[ux\d]|\Z)|[\w-]*cfemail|email-protection", re.IGNORECASE | re.ASCII)


class Found(NamedTuple):
    """Where a mark was found in a text of the page."""

    kind: MarkKind
    text: str
    start: int
    end: int


def excerpt_of(found: Found) -> str:
    """The text from its start, or, if the mark comes too late for that, from the mark on."""
    start = found.start if found.end - found.start <= MAX_EXCERPT_BYTES else max(0, found.end - MAX_EXCERPT_BYTES)
    text = _first(_PLAIN, found.text[start : start + _LOOK_AHEAD])
    if found.kind not in ("inline_script", "comment", "element", "header"):
        text = _first(_UNESCAPED, text)
    for end in (_SIGN, _ESCAPE):
        if match := end.search(text):
            text = text[: match.start()]
    same = takewhile(lambda pair: pair[0] == pair[1], zip(text, without_contacts(text), strict=False))
    return "".join(char for char, _ in same)[:MAX_EXCERPT_BYTES].rstrip()


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[0] if found else ""
