"""What a reader sees of a page: its lines, and for each line its paragraph, its heading and the block it is in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from siteglass.ingest.extract.stream import BlockStart, Event, HeadingStart, LinkStart, Mark, Role

MAX_HEADING_CHARS = 120

# Marks that no reader sees, put inside of words against crawlers or for hyphenation.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_CONTACTS = re.compile(
    r"(?:mailto|tel|callto):|(?:https?:)?//(?:wa\.me|(?:api|web|www)?\.?whatsapp\.com)/|whatsapp:", re.I
)


class Line(NamedTuple):
    """A line and where it is."""

    text: str
    paragraph: int
    """Lines that only a line break separates have the same."""
    heading: str
    """The nearest one before it in the same block."""
    block: Role
    section: str
    """The nearest h1 to h6 before it in the same block: `heading` may be a term below that."""


class Layout(NamedTuple):
    """The lines of a page."""

    lines: list[Line]
    texts: list[str]
    starts: list[int]
    """Where in the joined text each line starts."""
    main: list[str] | None
    """Lines outside of navigation, footers and asides; None if there is no such part."""
    contacts: list[tuple[int, str]]
    """Links to addresses and numbers: where in the joined text, and where to."""
    code: list[tuple[int, int]]
    """Spans of the joined text that are code."""

    def line_at(self, offset: int) -> int:
        """The number of the line at an offset of the joined text."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def is_code(self, offset: int) -> bool:
        """Whether the text at an offset is code, an example for programs."""
        return any(start <= offset < end for start, end in self.code)


def is_contact(url: str) -> bool:
    """Whether a link leads to an address or a number."""
    return bool(_CONTACTS.match(url)) or "/cdn-cgi/l/email-protection" in url


def layout_of(events: Iterable[Event]) -> Layout:
    """The lines that the events of a page make."""
    lines = _LineBuilder()
    texts = lines.texts
    for event in events:
        if type(event) is str:
            texts.append(event)
        elif type(event) is LinkStart:
            lines.contacts.append((lines.offset(), event.url))
        elif event is Mark.CODE_START or event is Mark.CODE_END:
            lines.code(starts=event is Mark.CODE_START)
        else:
            lines.end_line()
            if event is not Mark.LINE_BREAK:
                lines.start_paragraph(event)
    return lines.layout()


class _LineBuilder:
    """The lines of the events so far, and the texts of the line that has not ended yet."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """Texts of this line, of which the offset was not asked yet."""
        self.contacts: list[tuple[int, str]] = []
        self._words: list[str] = []  # what was before these, its blanks counted once
        self._has_blank = False  # whether it ends with one
        self._start = self._length = 0  # of the line, and of its words
        self._found: list[Line] = []
        self._starts: list[int] = []
        self._main: list[str] = []
        self._blocks: list[BlockStart] = []
        self._apart, self._has_apart = 0, False
        self._paragraph = 0
        self._heading = self._section = ""
        self._heading_start: HeadingStart | None = None
        self._code: list[tuple[int, int]] = []
        self._code_start = -1

    def offset(self) -> int:
        """Where in the joined text the next word will be."""
        self._settle()
        return self._start + self._length + (self._has_blank and self._length > 0)

    def _settle(self) -> None:
        text = "".join(self.texts)
        self.texts.clear()
        if not text.isascii():
            for mark in _INVISIBLE:
                text = text.replace(mark, "")
        if not text:
            return
        words = " ".join(text.split())
        if words:
            if self._length and (self._has_blank or text[0].isspace()):
                words = f" {words}"
            self._words.append(words)
            self._length += len(words)
            self._has_blank = text[-1].isspace()
        else:
            self._has_blank = True

    def code(self, *, starts: bool) -> None:
        """Code starts or ends here."""
        offset = self.offset()
        if starts:
            self._code_start = offset
        elif self._code_start >= 0:
            self._code.append((self._code_start, offset))
            self._code_start = -1

    def end_line(self) -> None:
        """Add the line to those that are found, if it says anything."""
        if self.texts:
            self._settle()
        if self._length:
            text = "".join(self._words)
            starts_heading = self._heading_start
            role = self._blocks[-1].role if self._blocks else ""
            self._found.append(
                Line(text, self._paragraph, "" if starts_heading else self._heading, role, self._section)
            )
            self._starts.append(self._start)
            if not self._apart:
                self._main.append(text)
            self._start += len(text) + 1
            if starts_heading:
                self._heading = text[:MAX_HEADING_CHARS]
                self._section = self._heading if starts_heading.is_title else self._section
            self._words.clear()
            self._length = 0
        self._has_blank = False

    def start_paragraph(self, event: Event) -> None:
        """Of the lines that follow an event."""
        self._paragraph += 1
        self._heading_start = event if isinstance(event, HeadingStart) else None
        if isinstance(event, BlockStart):
            self._blocks.append(event)
            self._apart += event.is_apart
            self._has_apart |= event.is_apart
            self._heading = self._section = ""
        elif event is Mark.BLOCK_END and self._blocks:
            self._apart -= self._blocks.pop().is_apart
            self._heading = self._section = ""

    def layout(self) -> Layout:
        """All lines, those of the last texts, too."""
        self.end_line()
        if self._code_start >= 0:
            self._code.append((self._code_start, self._start))
        texts = [line.text for line in self._found]
        main = self._main if self._has_apart else None
        return Layout(self._found, texts, self._starts, main, self.contacts, self._code)
