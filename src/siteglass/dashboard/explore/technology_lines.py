"""The technologies of a lead in words: what shows each, on which page and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

_NOUNS = {
    "script": "script",
    "link": "linked file",
    "image": "image",
    "frame": "frame",
    "form": "form",
    "media": "media file",
    "inline_script": "script with",
    "comment": "comment",
    "element": "element",
    "generator": "generator",
    "header": "header",
    "cookie": "cookie",
    "host": "website at",
    "dns": "DNS record",
}
_LOADED = {"script", "link", "image", "frame", "form", "media"}
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+(?=/|\Z)")


@dataclass(frozen=True, slots=True)
class TechnologyLine:
    """A technology."""

    name: str
    mark: str = ""
    """What shows it, such as "script from static.klaviyo.com"; "" if that is not known."""
    path: str = ""
    day: datetime | None = None
    """When a page last showed it."""


def technology_lines(record: Mapping[str, Any]) -> list[TechnologyLine]:
    """Those of a stored record, in its order."""
    known = {one["value"]: one for one in record.get("technologies_detail", ())}
    return [_line(name, known.get(name)) for name in record["technologies"]]


def _line(name: str, detail: Mapping[str, Any] | None) -> TechnologyLine:
    if detail is None:
        return TechnologyLine(name)
    last_ms = detail["last_seen_ms"]
    return TechnologyLine(
        name,
        _mark(detail["marks"][0]) if detail["marks"] else "",
        urlsplit(detail["page"]).path or "/" if detail["page"] else "",
        None if last_ms is None else datetime.fromtimestamp(last_ms / 1000, UTC),
    )


def _mark(mark: Mapping[str, str]) -> str:
    kind, rule, excerpt = mark["kind"], mark["rule"], mark["excerpt"]
    if kind == "implied":
        return f"comes with {rule}"
    if kind in _LOADED and (host := _HOST.match(rule)):
        return f"{_NOUNS[kind]} from {host[0]}"
    return f"{_NOUNS[kind]} {excerpt or rule}"
