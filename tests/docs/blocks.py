"""The fenced blocks of the docs: which are run, which are answers, and which say why they are not run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "python"
RUN = ("sh", "python")
ANSWERS = ("json", "http", "text")
DRAWN = ("mermaid",)

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_REASON = re.compile(r"<!-- not run: (?P<reason>[^\n]+) -->\n\Z")


@dataclass(frozen=True)
class Block:
    """A fenced block, and where it is."""

    page: Path
    line: int
    language: str
    text: str
    reason: str | None
    """Why it is not run, from the comment right above it."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Example:
    """A block that is run, and the answer that must follow, if one is shown."""

    block: Block
    answer: Block | None


def pages() -> list[Path]:
    """Every page a reader may copy an example from."""
    return [
        *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
        *sorted((ROOT / "clients").glob("*/README.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]


def section(page: Path, heading: str) -> tuple[int, int]:
    """Where the text of a heading of the second level begins and ends."""
    text = page.read_text()
    start = text.index(f"\n## {heading}\n") + 1
    end = text.find("\n## ", start)
    return start, len(text) if end < 0 else end


def blocks(page: Path, heading: str | None = None) -> Iterator[Block]:
    """The blocks of a page, or of one of its sections, in order."""
    text = page.read_text()
    start, end = section(page, heading) if heading else (0, len(text))
    for fence in _FENCE.finditer(text, start, end):
        reason = _REASON.search(text[: fence.start()])
        line = text.count("\n", 0, fence.start()) + 1
        yield Block(page, line, fence["language"], fence["text"], reason["reason"] if reason else None)


def examples(page: Path, heading: str | None = None) -> list[Example]:
    """What is run of a page, or of one of its sections: each block with the answer that follows it."""
    found: list[Example] = []
    waiting = False
    for block in blocks(page, heading):
        if block.language in RUN and block.reason is None:
            found.append(Example(block, None))
            waiting = True
            continue
        if waiting and block.language in ANSWERS and block.reason is None:
            found[-1] = Example(found[-1].block, block)
        waiting = False
    return found


def neither(page: Path) -> list[str]:
    """Blocks that are neither run, nor an answer of one that is, nor say why not."""
    checked = {block for example in examples(page) for block in (example.block, example.answer)}
    return [
        f"{block.place} ({block.language or 'no language'})"
        for block in blocks(page)
        if block not in checked and block.reason is None and block.language not in DRAWN
    ]
