"""The order of the served docs. There is one list, docs/README.md: pages by reader, first mention first.

Reference pages and runbooks follow the page that lists them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs/README.md"
CONTRIBUTORS = "For contributors"
FAMILIES = {
    ROOT / "docs/reference/README.md": ROOT / "docs/reference",
    ROOT / "docs/guides/on-call.md": ROOT / "docs/runbooks",
}
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?[^)]*\)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A page in the order."""

    source: Path
    group: str
    """The heading of docs/README.md under which it is listed."""
    parent: Path | None
    """The page that lists it, if it belongs to one."""
    tasks: str
    """What it is listed for: the search takes these words as a part of the title."""


def order(texts: Mapping[Path, str]) -> list[Entry]:
    """Every page once."""
    entries = [Entry(LIST, "Start", None, ""), Entry(ROOT / "README.md", "Start", None, "")]
    seen = {entry.source for entry in entries}
    group = ""
    for line in texts[LIST].splitlines():
        if line.startswith("## "):
            group = line.removeprefix("## ")
        if group == CONTRIBUTORS:
            break
        for source, _ in _linked(LIST, line):
            if group and source in texts and source not in seen and source.parent not in _nested(source):
                entries += [Entry(source, group, None, words_of_links(texts[LIST], LIST, source))]
                entries += _family(source, group, texts)
                seen |= {entry.source for entry in entries}
    if missing := [str(source.relative_to(ROOT)) for source in texts if source not in seen]:
        raise ValueError(f"docs/README.md lists no {', '.join(missing)}: add them where their readers look")
    return entries


def _nested(source: Path) -> set[Path]:
    """Folders whose pages follow another page than this one."""
    return set() if source in FAMILIES else set(FAMILIES.values())


def _family(parent: Path, group: str, texts: Mapping[Path, str]) -> Iterator[Entry]:
    folder = FAMILIES.get(parent)
    for source in dict.fromkeys(source for source, _ in _linked(parent, texts[parent])):
        if folder and source in texts and source.parent == folder and source != parent:
            listed = [words_of_links(texts[page], page, source) for page in (parent, LIST)]
            yield Entry(source, group, parent, " ".join(listed))


def _linked(page: Path, text: str) -> list[tuple[Path, str]]:
    """The file and the anchor of every link, in order."""
    links = _LINK.findall(text)
    return [(Path(os.path.normpath(page.parent / file)) if file else page, anchor) for file, anchor in links]


def words_of_links(text: str, page: Path, source: Path, anchor: str | None = None) -> str:
    """The lines of a page that link to another one, or to this anchor of it, without the targets."""
    lines = [
        line
        for line in text.splitlines()
        if any(target == source and anchor in (None, place) for target, place in _linked(page, line))
    ]
    return " ".join(_LINK.sub("]", line) for line in lines)
