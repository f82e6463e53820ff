"""The order of the served docs. There is one list, docs/README.md: pages by reader, first mention first.

Error pages, reference pages and runbooks follow the page that lists them.
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
    ROOT / "docs/errors/README.md": ROOT / "docs/errors",
    ROOT / "docs/reference/README.md": ROOT / "docs/reference",
    ROOT / "docs/guides/on-call.md": ROOT / "docs/runbooks",
}
_LINK = re.compile(r"\]\(([^)#\s]*)[^)]*\)")


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
        for source in _linked(LIST, line):
            if group and source in texts and source not in seen and source.parent not in _nested(source):
                entries += [Entry(source, group, None, _words(texts[LIST], LIST, source))]
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
    for source in dict.fromkeys(_linked(parent, texts[parent])):
        if folder and source in texts and source.parent == folder and source != parent:
            listed = [_words(texts[page], page, source) for page in (parent, LIST)]
            yield Entry(source, group, parent, " ".join(listed))


def _linked(page: Path, text: str) -> list[Path]:
    return [Path(os.path.normpath(page.parent / target)) for target in _LINK.findall(text)]


def _words(text: str, page: Path, source: Path) -> str:
    """The lines of a page that link to another one, without the targets."""
    return " ".join(_LINK.sub("]", line) for line in text.splitlines() if source in _linked(page, line))
