"""Addresses that scripts of a page put together: cloaks of content systems, joined strings, encoded attributes, data of
frameworks. Texts are returned as a browser would show them, for `emails` to read."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator
from itertools import islice

from siteglass.ingest.extract.page import Page

MAX_MATCHES = 50

_AT = re.compile(r"@|&#64;|&#x40;|\\x40|\\u0040|%40")
_STRING = r"'(?:[^'\\\n]|\\.){0,200}'|\"(?:[^\"\\\n]|\\.){0,200}\""
# Joomla: addy123 = 'na' + 'me' + '&#64;'; addy123 = addy123 + 'domain' + '&#46;' + 'tld';
_CLOAK = re.compile(rf"(addy\w{{0,40}})\s*=\s*((?:(?:\1|{_STRING})\s*\+?\s*){{1,20}});")
_OPERAND = rf"(?:{_STRING}|[\w$]{{1,40}})"
_JOIN = re.compile(rf"(?:{_OPERAND}\s*\+\s*){{1,15}}{_OPERAND}")
_VARIABLE = re.compile(rf"([\w$]{{1,40}})\s*=\s*({_STRING})")
_PART = re.compile(rf"{_STRING}|[\w$]{{1,40}}")
# A value of JSON, also of JSON inside of a string.
_VALUE = re.compile(r"[:,\[]\s*\\?[\"']([^\"'\\\s]{1,64}@[^\"'\\\s]{3,190})\\?[\"']")
# Both begin with letters that are found fast.
_ENCODED = re.compile(r"data-[\w-]{1,30}=[\"']?([A-Za-z0-9+/]{12,340}={0,2})[\"'\s>]")
_DECODED = re.compile(r"atob\((?:&quot;|&#39;|[\"'])([A-Za-z0-9+/]{8,340}={0,2})")
_IN_TWO = re.compile(
    r"data-(?:user|name|local|u|mail-?name)=[\"']([\w.+-]{1,64})[\"'][^<>]{0,200}?"
    r"data-(?:domain|host|website|d|mail-?domain)=[\"']([\w.-]{3,100})[\"']"
)
# Name, host and perhaps its ending in attributes of one element, whatever these are called.
_IN_PARTS = re.compile(
    r"data-[\w-]{1,20}=[\"']([\w.+-]{1,64})[\"'] data-[\w-]{1,20}=[\"']([\w.-]{2,100})[\"']"
    r"(?: data-[\w-]{1,20}=[\"']\.?([a-z.]{2,20})[\"'])?"
)
_CHAR_CODES = re.compile(r"fromCharCode\(([\d\s,]{12,1200})\)")
_REVERSED = re.compile(r"[\"']([^\"'\s]{6,200})[\"']\.split\([\"']{2}\)\.reverse\(\)")
# TYPO3 moves the letters of "mailto:…" by some places.
_MOVED = re.compile(r"UnCryptMailto\((?:'|%27|&#39;|&quot;|\")([^'\"&)]{10,300}?)(?:'|%27|&#39;|&quot;|\")")
_MOVED_SPANS = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))
MAX_MOVES = 26
_BACKWARDS = re.compile(r"[a-z]{2,10}\.[\w.-]{1,100}@[\w.+-]{1,64}", re.IGNORECASE)


def joined_texts(page: Page) -> Iterator[str]:
    """Texts with an address that scripts show to a reader."""
    source = page.html
    if "addy" in source or "document.write" in source or ".innerHTML" in source or "mailto" in source:
        for script in page.scripts:
            if "addy" in script:
                yield from _cloaked(script)
            if "+" in script and _AT.search(script):
                yield from _joined(script)
    yield from _encoded(page)
    if "bidi-override" in source:
        for match in islice(_BACKWARDS.finditer(page.text), MAX_MATCHES):
            yield match[0][::-1]


def _encoded(page: Page) -> Iterator[str]:
    source = page.html
    if "data-" in source:
        for match in islice(_ENCODED.finditer(source), MAX_MATCHES):
            yield from _decoded(match[1])
        for match in islice(_IN_TWO.finditer(source), MAX_MATCHES):
            yield f"{match[1]}@{match[2]}"
        # Any two attributes may look like it: only the site's own domain is certain.
        label = page.domain.partition(".")[0]
        if f'"{label}' in source or f"'{label}" in source:
            for match in islice(_IN_PARTS.finditer(source), MAX_MATCHES):
                host = ".".join(filter(None, (match[2], match[3])))
                if page.domain in (match[2], host):
                    yield f"{match[1]}@{page.domain}"
    if "atob" in source:
        for match in islice(_DECODED.finditer(source), MAX_MATCHES):
            yield from _decoded(match[1])
    if "fromCharCode" in source:
        for match in islice(_CHAR_CODES.finditer(source), MAX_MATCHES):
            yield "".join(map(chr, map(int, re.findall(r"\b\d{2,3}\b", match[1]))))
    if ".reverse()" in source:
        for match in islice(_REVERSED.finditer(source), MAX_MATCHES):
            yield match[1][::-1]
    if "UnCryptMailto" in source:
        for match in islice(_MOVED.finditer(source), MAX_MATCHES):
            yield from _moved_back(match[1])


def script_data(page: Page) -> Iterator[str]:
    """Values with an @ in data of frameworks that draw the page from it."""
    for script in page.scripts:
        if "@" in script or "\\u0040" in script:
            yield from (match[1] for match in islice(_VALUE.finditer(script.replace("\\u0040", "@")), MAX_MATCHES))


def _plain(string: str) -> str:
    """What a string of a script says."""
    inner = string[1:-1].replace("\\x40", "@").replace("\\u0040", "@").replace("\\", "")
    return html.unescape(inner).replace("%40", "@")


def _cloaked(script: str) -> Iterator[str]:
    values: dict[str, str] = {}
    for match in islice(_CLOAK.finditer(script), MAX_MATCHES):
        name = match[1]
        parts = [values.get(name, "") if part == name else _plain(part) for part in _PART.findall(match[2])]
        values[name] = "".join(parts)
    yield from values.values()


def _joined(script: str) -> Iterator[str]:
    variables = islice(_VARIABLE.finditer(script), MAX_MATCHES)
    values = {match[1]: _plain(match[2]) for match in variables}
    for match in islice(_JOIN.finditer(script), MAX_MATCHES):
        parts = [_plain(part) if part[0] in "'\"" else values.get(part, " ") for part in _PART.findall(match[0])]
        if "@" in (text := "".join(parts)):
            yield re.sub(r"[<>\"']|mailto:", " ", text)


def _moved_back(text: str) -> Iterator[str]:
    for by in range(1, MAX_MOVES):
        if (plain := "".join([_moved(letter, by) for letter in text])).startswith("mailto:"):
            yield plain.removeprefix("mailto:")
            return


def _moved(letter: str, by: int) -> str:
    """The letter as many places before within its span: letters, digits and signs stay what they are."""
    code = ord(letter)
    for first, last in _MOVED_SPANS:
        if first <= code <= last:
            return chr(first + (code - first - by) % (last - first + 1))
    return letter


def _decoded(code: str) -> Iterator[str]:
    try:
        text = base64.b64decode(code, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return
    if "@" in text:
        yield text
