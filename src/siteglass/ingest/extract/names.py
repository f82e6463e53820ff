"""The name of the business: JSON-LD of its organisation, og:site_name, the part of the title that is its domain's
name, else that name itself."""

from __future__ import annotations

import html
import re
from typing import Literal

import idna

from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.schema_types import organisations
from siteglass.ingest.extract.texts import folded
from siteglass.query.folding import compact

MAX_NAME_CHARS = 120

NameBasis = Literal["", "json_ld", "og_site_name", "title", "domain"]

_SEPARATORS = re.compile(r"\s*[|»«•·›‹]\s*|\s+[-–—:~/]+\s+|:\s+|\s*[–—]\s*")
_NO_NAMES = frozenset(
    compact(name)
    for name in [
        "home",
        " homepage",
        " website",
        " my website",
        " my site",
        " site",
        " wordpress",
        " my wordpress",
        " just another wordpress site",
        " untitled",
        " company name",
        " your company",
        " your business name",
        " organization",
        " business name",
        " index",
        " welcome",
        " startseite",
        " accueil",
        " inicio",
        " blog",
        " default",
        " example",
        " site name",
        " my blog",
        " online store",
        " shop",
        " n/a",
        " null",
        " undefined",
        " none",
    ]
)


def business_name(page: Page, title: str) -> tuple[str, NameBasis]:
    """The best name and where it comes from. Never empty: the last resort is the domain."""
    label = page.domain.partition(".")[0]
    if name := _stated(page, label):
        return name, "json_ld"
    if name := _clean(page.metas.get("og:site_name")):
        return name, "og_site_name"
    if name := _of_title(title, label):
        return name, "title"
    return _of_label(label), "domain"


def _stated(page: Page, label: str) -> str:
    """That of the organisation which is surely the site's: by address or by name; else the first one."""
    found = [(name, node) for node in organisations(page.json_ld) if (name := _clean(node.get("name")))]
    for name, node in found:
        if isinstance(node.get("url"), str) and page.domain in node["url"]:
            return name
    for name, _ in found:
        if _likeness(name, label):
            return name
    return found[0][0] if found else ""


def _clean(name: object) -> str:
    """A name as people write it; "" for what is none."""
    if not isinstance(name, str):
        return ""
    text = folded(html.unescape(name[:1_000]), MAX_NAME_CHARS + 1).strip("|-–—:·, ")
    if len(text) > MAX_NAME_CHARS or "<" in text or "://" in text or compact(text) in _NO_NAMES:
        return ""
    return text if any(map(str.isalnum, text)) else ""


def _of_title(title: str, label: str) -> str:
    parts = [part for part in map(_clean, _SEPARATORS.split(title)[:20]) if part and len(part) <= 60]
    best = max(parts, key=lambda part: _likeness(part, label), default="")
    return best if best and _likeness(best, label) else ""


def _likeness(name: str, label: str) -> int:
    """3: the same letters; 2: one holds the other, and little more; 1: the label is the initials; 0: neither."""
    key, wanted = compact(name), compact(_decoded(label))
    if key == wanted:
        return 3
    shorter, longer = sorted((key, wanted), key=len)
    if len(shorter) >= 4 and shorter in longer and len(longer) <= 2.5 * len(shorter):
        return 2
    words = re.findall(r"\w+", name)
    initials = "".join([word[0] for word in words]).casefold()
    return 1 if len(words) >= 3 and initials == wanted else 0


def _of_label(label: str) -> str:
    return " ".join([word[:1].upper() + word[1:] for word in re.split(r"[-_]+", _decoded(label)) if word]) or label


def _decoded(label: str) -> str:
    try:
        return idna.decode(label) if label.startswith("xn--") else label
    except idna.IDNAError:
        return label
