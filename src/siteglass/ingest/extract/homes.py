"""Home pages: whether an address is that of a site's first page, and the other site that a home page is a door to."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.ingest.extract.page import Page, joined
from siteglass.ingest.extract.paths import is_home, path_of

MAX_HEAD_LINKS = 200
# A query after "/" is another page, as "/?p=12" is; these say where the reader came from.
_HARMLESS_QUERY = re.compile(r"utm_\w+|gclid|fbclid|msclkid|ref|lang|hl|v")


def is_home_page(url: str) -> bool:
    """Whether an address is the first page of its registrable domain. That of shop.example.com is not."""
    host, address = normalise(url), urlsplit(url)
    asked = [key for key, _ in parse_qsl(address.query, keep_blank_values=True, max_num_fields=100)]
    return (
        host.removeprefix("www.") == registrable(host)
        and is_home(path_of(address.path))
        and all(map(_HARMLESS_QUERY.fullmatch, asked))
    )


def other_home(url: str, target: str) -> str:
    """The registrable domain whose home page a target is, where it is another than that of the address; else ""."""
    try:
        if not target or not is_home_page(target):
            return ""
        domain = registrable(normalise(target))
        return domain if domain != registrable(normalise(url)) else ""
    except (NotAHost, ValueError):
        return ""


def canonical_home(page: Page) -> str:
    """The same for the one address that a page names as its canonical one."""
    nodes = page.tree.head.css("link[rel][href]")[:MAX_HEAD_LINKS] if page.tree.head else []
    named = {
        (node.attributes.get("href") or "").strip()
        for node in nodes
        if "canonical" in (node.attributes.get("rel") or "").lower().split()
    }
    return other_home(page.capture.url, joined(page.base, named.pop())) if len(named) == 1 else ""
