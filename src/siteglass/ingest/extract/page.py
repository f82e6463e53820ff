"""Page: one capture, decoded and parsed once; what several facts read of it. Everything here is bounded."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

import orjson
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5
from selectolax.lexbor import LexborHTMLParser, LexborNode

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.bounds import bounded

MAX_TEXT_CHARS = 200_000
# A menu must not take the room of what the page is about.
MAX_ASIDE_CHARS = 100_000
MAX_LINKS = 2_000
MAX_METAS = 200
MAX_JSON_LD_BLOCKS = 20
MAX_JSON_LD_CHARS = 200_000
MAX_JSON_LD_NODES = 500
MAX_JSON_LD_DEPTH = 12
MAX_URL_CHARS = 2_048

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
# Raw control characters inside strings are no JSON, yet many pages have them.
_CONTROLS = re.compile(r"[\x00-\x1f]+")
# Marks that no reader sees, put inside of words against crawlers or for hyphenation.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_HIDDEN = re.compile(r"display:\s?none")
# An address in three spans is one all the same.
_GLUE = ("@", ".")
_UNSEEN = frozenset(
    ("-comment", "script", "style", "template", "noscript", "svg", "textarea", "select", "datalist", "iframe", "object")
)
# Parts of a word may stand in these; "wel<b>come</b>" is one word.
_IN_WORDS = """
abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small strike strong sub sup tt u var wbr
"""
# So may they in these; but two of them side by side are two words, as in a menu.
_APART = frozenset(("a", "button", "label", "span", "time"))
_in_words = frozenset(_IN_WORDS.split())
# Blocks that are not what a page is about. Forms stay: some frameworks put the whole page into one. So do headers: the
# first heading often stands there.
_ASIDE = frozenset(("nav", "footer", "aside"))
_LONG_PIECE = 10_000
_BREAK = "\0"  # the parser lets none through


class Link(NamedTuple):
    """An anchor: where it leads, and what it says."""

    url: str
    """As written, without surrounding blanks: `mailto:` and `tel:` among them."""
    text: str


def decoded(body: bytes, content_type: str) -> str:
    """The text of a body: by its mark, its header, its meta tag, else by its looks. Never fails."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")  # what is well-formed UTF-8 is meant so, whatever is declared
    except UnicodeDecodeError:
        pass
    declared = _CHARSET.search(content_type)
    encoding = map_encoding_to_html5(declared[1]) if declared else detect_encoding(body, from_html_meta=True)
    return str(bytes_to_str(body, encoding or "utf-8", fallback_encodings=("windows-1252",)))


class Page:
    """The tree of a capture and its commonest readings, each made when first asked for."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.html = bounded(decoded(capture.body, capture.header("content-type")))
        self.address: SplitResult = urlsplit(capture.url)
        self.host = normalise(capture.url)  # raises NotAHost: such a capture is no page of a domain
        self.domain = registrable(self.host)
        self.tree = LexborHTMLParser(self.html)

    @cached_property
    def base(self) -> str:
        """What relative addresses are relative to."""
        node = self.tree.css_first("base[href]")
        href = node.attributes.get("href") if node else None
        return joined(self.capture.url, href) or self.capture.url if href else self.capture.url

    @cached_property
    def _seen(self) -> _Seen:
        return _seen(self.tree.body, bool(_HIDDEN.search(self.html)))

    @cached_property
    def lines(self) -> list[str]:
        """What a reader sees of the body, broken where blocks start and end; blanks count once."""
        return _lines(self._seen.pieces)

    @cached_property
    def text(self) -> str:
        """What a reader sees of the body, as one line."""
        return " ".join(self.lines)

    @cached_property
    def main_text(self) -> str:
        """The same without navigation, footers and asides."""
        return self.text if self._seen.main is None else " ".join(_lines(self._seen.main))

    @cached_property
    def metas(self) -> dict[str, str]:
        """Content of meta tags by name or property, in lower case; the first of each counts."""
        found: dict[str, str] = {}
        for node in self.tree.css("meta[content]")[:MAX_METAS]:
            attributes = node.attributes
            name = (attributes.get("name") or attributes.get("property") or attributes.get("http-equiv") or "").lower()
            if name:
                found.setdefault(name.strip(), (attributes.get("content") or "").strip())
        return found

    @cached_property
    def links(self) -> list[Link]:
        """Anchors in order."""
        return [
            Link(href.strip(), node.text(strip=True)[:200])
            for node in self.tree.css("a[href], area[href]")[:MAX_LINKS]
            if (href := node.attributes.get("href")) and len(href) <= MAX_URL_CHARS
        ]

    @cached_property
    def json_ld(self) -> list[dict[str, Any]]:
        """All objects of JSON-LD, nested ones too, outer before inner."""
        nodes: list[dict[str, Any]] = []
        for block in self.tree.css('script[type="application/ld+json"]')[:MAX_JSON_LD_BLOCKS]:
            source = block.text()
            if len(source) > MAX_JSON_LD_CHARS:
                continue
            try:
                _gather(_read(source.strip().removesuffix(";")), nodes, MAX_JSON_LD_DEPTH)
            except orjson.JSONDecodeError:
                continue
        return nodes


class _Seen(NamedTuple):
    """Texts outside of what is not shown, with a break wherever a block starts or ends."""

    pieces: list[str]
    main: list[str] | None
    """Those outside of _ASIDE, too; None if there is no such part."""


def _lines(pieces: list[str]) -> list[str]:
    broken = "".join(pieces)
    if not broken.isascii():
        for mark in _INVISIBLE:
            broken = broken.replace(mark, "")
    return [" ".join(words) for piece in broken.split(_BREAK) if (words := piece.split())]


def _seen(body: LexborNode | None, has_hidden: bool) -> _Seen:
    """One walk through the tree, which is the dearest step of all.

    Blocks that are hidden at first may be opened by a reader; a hidden span amid a word is there against crawlers.
    """
    pieces: list[str] = []
    asides: list[tuple[int, int]] = []  # where in the pieces they start and end
    inside: list[int] = []
    above: list[LexborNode] = []
    length = aside_length = 0
    node = body.first_child if body else None
    broken = True
    beside = False  # whether an element that stands apart has just ended
    while length < MAX_TEXT_CHARS:
        if node is None:
            if not above:
                break
            node = above.pop()
            tag = node.tag
            if tag in _ASIDE:
                start = inside.pop()
                if not inside:
                    asides.append((start, len(pieces)))
            beside = tag in _APART
            if not (broken or beside or tag in _in_words):
                pieces.append(_BREAK)
                broken = True
            node = node.next
            continue
        tag = node.tag
        if tag == "-text":
            text = node.text_content or ""
            beside = False
            if text in _GLUE and pieces[-1:] == [" "] and not (inside and inside[-1] == len(pieces)):
                pieces.pop()
            if not (broken and text.isspace()):
                if len(text) > _LONG_PIECE:
                    text = f" {' '.join(text.split())[:MAX_TEXT_CHARS]} "
                chars = len(text.strip())
                if not inside:
                    length += chars
                elif (aside_length := aside_length + chars) > MAX_ASIDE_CHARS:
                    text = ""
                pieces.append(text)
                broken = False
        elif tag not in _UNSEEN and not (has_hidden and tag == "span" and _is_hidden(node)):
            if tag in _APART:
                if beside and pieces and pieces[-1] not in _GLUE:
                    pieces.append(" ")
            elif not (broken or tag in _in_words):
                pieces.append(_BREAK)
                broken = True
            if (inner := node.first_child) is not None:
                if tag in _ASIDE:
                    inside.append(len(pieces))
                above.append(node)
                node = inner
                continue
        node = node.next
    if inside:
        asides.append((inside[0], len(pieces)))
    return _Seen(pieces, _without(pieces, asides) if asides else None)


def _without(pieces: list[str], asides: list[tuple[int, int]]) -> list[str]:
    main: list[str] = []
    end = 0
    for start, after in asides:
        main += pieces[end:start]
        end = after
    return main + pieces[end:]


def _is_hidden(node: LexborNode) -> bool:
    return bool(_HIDDEN.search(node.attributes.get("style") or ""))


def _read(source: str) -> Any:
    try:
        return orjson.loads(source)
    except orjson.JSONDecodeError:
        return orjson.loads(_CONTROLS.sub(" ", source))


def _gather(value: Any, nodes: list[dict[str, Any]], depth: int) -> None:
    if depth == 0 or len(nodes) >= MAX_JSON_LD_NODES:
        return
    if isinstance(value, dict):
        nodes.append(value)
        for inner in value.values():
            if isinstance(inner, dict | list):
                _gather(inner, nodes, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _gather(inner, nodes, depth - 1)


def joined(base: str, href: str) -> str:
    """An absolute http(s) address, or "" where there is none; no fragment."""
    try:
        found = urljoin(base, href.strip()).partition("#")[0]
        parts = urlsplit(found)
        host = normalise(found) if parts.hostname else ""
    except (ValueError, NotAHost):
        return ""
    return found if parts.scheme in ("http", "https") and host and len(found) <= MAX_URL_CHARS else ""
