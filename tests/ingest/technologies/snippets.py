"""The table of test pages: what sites serve that use a technology, and what a page must not be taken for.

A file is a row of blocks. `=== A | B` opens one and names all that must be found, the technology it is about first;
`-` says that nothing must be. `@ URL` gives the page's address, `> name: value` a header, `# why` says what it is
for; all else is HTML."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from siteglass.ingest.capture import Capture
from siteglass.ingest.extract.page import Page

FOLDER = Path(__file__).parent / "pages"
TRAPS = "traps.txt"


class Snippet(NamedTuple):
    where: str
    expected: tuple[str, ...]
    page: Page


def snippets(file: Path) -> list[Snippet]:
    return parsed(file.name, file.read_text(encoding="utf-8"))


def parsed(source: str, text: str) -> list[Snippet]:
    found: list[Snippet] = []
    for number, block in enumerate(text.split("\n=== ")):
        title, _, rest = block.removeprefix("=== ").partition("\n")
        url, headers, html = "https://www.example.com/", [("content-type", "text/html; charset=utf-8")], []
        for line in rest.split("\n"):
            if line.startswith("@ "):
                url = line[2:]
            elif line.startswith("> "):
                name, _, value = line[2:].partition(": ")
                headers.append((name, value))
            elif not line.startswith("# "):
                html.append(line)
        names = () if title == "-" else tuple(name.strip() for name in title.split("|"))
        body = "\n".join(html).encode()
        capture = Capture(url=url, captured_at_ms=0, status=200, headers=tuple(headers), body=body)
        found.append(Snippet(f"{source} {number + 1}: {title}", names, Page(capture)))
    return found


def all_snippets() -> list[Snippet]:
    return [one for file in sorted(FOLDER.glob("*.txt")) for one in snippets(file)]
