"""Limits that keep the HTML parser's time near linear. Without them, a hostile page of 500 kB would take minutes.

No tag may have thousands of attributes, no element may be nested thousands deep, and no format may stay open for
thousands of blocks.
"""

from __future__ import annotations

import re

MAX_DEPTH = 800
MAX_ATTRIBUTES = 1_000
MAX_REPEATED_FORMATS = 200_000

# Cheap tests first: a page below both cannot be slow, and nearly all pages are.
_TAG_MARKS_UNSUSPECTED = 6_000
_TAG_CHARS_UNSUSPECTED = 16_000

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_QUOTED_VALUE = re.compile(r"[\w-]\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
# Their end tags may be left out, and the next one closes them: they do not nest by themselves.
_SELF_CLOSING = frozenset(
    [
        "p",
        "li",
        "dt",
        "dd",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
        "tfoot",
        "option",
        "optgroup",
        "colgroup",
        "html",
        "head",
        "body",
    ]
)
_FLAT = _VOID | _SELF_CLOSING
_FORMATS = frozenset(("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"))


def bounded(html: str) -> str:
    """The source without overlong tags, cut where it nests too deeply; nearly always the source itself."""
    if _has_long_piece(html):
        html = ">".join([piece for piece in html.split(">") if not _has_too_many_attributes(piece)])
    if html.count("<") > _TAG_MARKS_UNSUSPECTED:
        return html[: _limit(html)]
    return html


def _has_long_piece(html: str) -> bool:
    """Whether ">" is ever so far from the one before; looks at few characters of a usual page."""
    start = 0
    while start + _TAG_CHARS_UNSUSPECTED < len(html):
        found = html.rfind(">", start, start + _TAG_CHARS_UNSUSPECTED)
        if found < 0:
            return True
        start = found + 1
    return False


def _has_too_many_attributes(piece: str) -> bool:
    if len(piece) < _TAG_CHARS_UNSUSPECTED or not (tag := _TAG.search(piece)):
        return False
    return len(re.split(r"[\s/]+", _QUOTED_VALUE.sub("=", piece[tag.start() :]))) > MAX_ATTRIBUTES


def _limit(html: str) -> int:
    """Where the source nests too deeply, or leaves so many formats open that each later element repeats them all; its
    length if it never does."""
    depth = formats = repeated = 0
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name not in _FLAT:
            step = -1 if tag[1] else 1
            depth = max(0, depth + step)
            if name in _FORMATS:
                formats = max(0, formats + step)
        if not tag[1]:
            repeated += formats
        if depth > MAX_DEPTH or repeated > MAX_REPEATED_FORMATS:
            return tag.start()
    return len(html)
