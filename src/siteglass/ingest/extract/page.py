"""Page: one capture, decoded and parsed once; what several facts read of it. Everything here is bounded."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

import orjson
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5
from selectolax.lexbor import LexborHTMLParser

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.bounds import bounded
from siteglass.ingest.extract.layout import Layout, is_contact, layout_of
from siteglass.ingest.extract.stream import events_of

MAX_LINKS = 2_000
MAX_METAS = 200
MAX_SCRIPTS = 60
MAX_SCRIPT_CHARS = 300_000
MAX_JSON_LD_BLOCKS = 20
MAX_JSON_LD_CHARS = 200_000
MAX_JSON_LD_NODES = 500
MAX_JSON_LD_DEPTH = 12
MAX_URL_CHARS = 2_048

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
# Raw control characters inside strings are not valid JSON, yet many pages have them.
_CONTROLS = re.compile(r"[\x00-\x1f]+")


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
        self.host = normalise(capture.url)  # raises NotAHost: such a capture is not a page of a domain
        self.domain = registrable(self.host)
        self.tree = LexborHTMLParser(self.html)

    @cached_property
    def base(self) -> str:
        """What relative addresses are relative to."""
        node = self.tree.css_first("base[href]")
        href = node.attributes.get("href") if node else None
        return joined(self.capture.url, href) or self.capture.url if href else self.capture.url

    @cached_property
    def layout(self) -> Layout:
        """What a reader sees of the body, as lines with the blocks that they are in."""
        contacts = {node: url for node, url in self._anchors[1].items() if is_contact(url)}
        return layout_of(events_of(self.tree, self.html, contacts))

    @cached_property
    def lines(self) -> list[str]:
        """What a reader sees of the body, broken where blocks start and end; blanks count once."""
        return self.layout.texts

    @cached_property
    def text(self) -> str:
        """What a reader sees of the body, as one line."""
        return " ".join(self.lines)

    @cached_property
    def main_text(self) -> str:
        """The same without navigation, footers and asides."""
        return self.text if self.layout.main is None else " ".join(self.layout.main)

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
    def _anchors(self) -> tuple[list[Link], dict[int, str]]:
        """Anchors in order, and the addresses of their nodes."""
        links: list[Link] = []
        urls: dict[int, str] = {}
        for node in self.tree.css("a[href], area[href]")[:MAX_LINKS]:
            if (href := node.attributes.get("href")) and len(href) <= MAX_URL_CHARS:
                links.append(Link(href.strip(), node.text(strip=True)[:200]))
                urls[node.mem_id] = href.strip()
        return links, urls

    @property
    def links(self) -> list[Link]:
        """Anchors in order."""
        return self._anchors[0]

    @cached_property
    def scripts(self) -> list[str]:
        """Sources of inline scripts, in order, up to the first that is too long."""
        found: list[str] = []
        left = MAX_SCRIPT_CHARS
        for node in self.tree.css('script:not([src]):not([type="application/ld+json"])')[:MAX_SCRIPTS]:
            source = node.text()
            if len(source) > left:
                break
            left -= len(source)
            found.append(source)
        return found

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
