"""Signals: what of a page can show a technology, read from its tree in one go. Anchors and texts are left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from siteglass.corpus.lead import MarkKind
from siteglass.ingest.extract.page import MAX_URL_CHARS, Page
from siteglass.ingest.extract.technologies.excerpts import Found

MAX_ELEMENTS = 3_000
MAX_INLINE_CHARS = 1_000_000

_ELEMENTS = "script,link,img,iframe,form,meta,video,source,embed"
_KINDS: dict[str, MarkKind] = {
    "script": "script",
    "img": "image",
    "iframe": "frame",
    "video": "media",
    "source": "media",
    "embed": "media",
}
# Elements that are drawn later, or after consent, keep the address in a separate attribute.
_ADDRESSES = ("src", "data-src", "data-lazy-src", "data-cookieblock-src")
# Others name an address without loading from it: canonical, alternate, dns-prefetch.
_LOADING = {"stylesheet", "preload", "modulepreload", "prefetch", "icon", "manifest", "apple-touch-icon"}
_SCRIPTS = {"", "module", "text/plain"}
_ABSOLUTE = re.compile(r"(?:https?:)?//(?:[^/?#@]*@)?([^/?#:]+)(?::\d+)?([^#]*)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--([^\n]{1,120})")
_OTHER_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


class ElementAddress(NamedTuple):
    """The address of an element, as it is written."""

    kind: MarkKind
    text: str

    def found(self, mark: str) -> Found:
        """Where this mark is in it."""
        end = self.text.lower().find(mark.lower()) + len(mark)
        return Found(self.kind, self.text, 0, end if end >= len(mark) else 0)


class Paths:
    """Paths and queries of addresses, searched in one go."""

    def __init__(self, paths: Sequence[str], addresses: Sequence[ElementAddress]) -> None:
        self._text = "\n".join(paths)
        self._addresses = addresses

    def search(self, pattern: re.Pattern[str]) -> Found | None:
        """The first address whose path has the pattern."""
        at = pattern.search(self._text)
        return self._addresses[self._text.count("\n", 0, at.start())].found(at[0].strip()) if at else None


class Signals:
    """Addresses that elements load from, inline scripts and names of generators."""

    def __init__(self, page: Page) -> None:
        self.addresses: dict[tuple[str, str], ElementAddress] = {}
        """(host, path and query), each once; the host of a relative address is that of the page's base."""
        self.generators: list[str] = []
        self._inline: list[LexborNode] = []
        self._domain = page.domain
        self._html = page.html
        base = _ABSOLUTE.match(page.base)
        self._base_host = base[1].lower() if base else page.host
        for node in page.tree.css(_ELEMENTS)[:MAX_ELEMENTS]:
            self._read(node, node.tag or "", node.attributes)

    @cached_property
    def inline(self) -> str:
        """Inline scripts, one after the other."""
        return "\n".join([node.text() for node in self._inline])[:MAX_INLINE_CHARS]

    @cached_property
    def comments(self) -> str:
        """Starts of the comments in the source, one on each line."""
        return "\n".join([text.strip() for text in _COMMENT.findall(self._html[:MAX_INLINE_CHARS])])

    @cached_property
    def paths(self) -> Paths:
        """Of all addresses."""
        return Paths([path for _, path in self.addresses], [*self.addresses.values()])

    @cached_property
    def own_paths(self) -> Paths:
        """Of those of the page's own domain."""
        domain, inner = self._domain, f".{self._domain}"
        own = [key for key in self.addresses if key[0] == domain or key[0].endswith(inner)]
        return Paths([path for _, path in own], [self.addresses[key] for key in own])

    def _read(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "meta":
            if (attributes.get("name") or "").lower() == "generator":
                self.generators.append((attributes.get("content") or "").strip()[:200])
        elif tag == "link":
            if not _LOADING.isdisjoint((attributes.get("rel") or "").lower().split()):
                self._add("link", attributes.get("href"))
        elif tag == "form":
            self._add("form", attributes.get("action"))
        elif not self._add(_KINDS[tag], *map(attributes.get, _ADDRESSES)) and tag == "script":
            kind = (attributes.get("type") or "").lower()
            if kind in _SCRIPTS or "javascript" in kind:
                self._inline.append(node)

    def _add(self, kind: MarkKind, *urls: str | None) -> bool:
        found = False
        for url in urls:
            if not url:
                continue
            found = True
            url = url.strip()[:MAX_URL_CHARS]
            if absolute := _ABSOLUTE.match(url):
                key = absolute[1].lower(), absolute[2].replace("\n", "")
                self.addresses.setdefault(key, ElementAddress(kind, url))
            elif not _OTHER_SCHEME.match(url):
                path = url.partition("#")[0].replace("\n", "")
                key = self._base_host, path if path.startswith("/") else f"/{path}"
                self.addresses.setdefault(key, ElementAddress(kind, url))
        return found
