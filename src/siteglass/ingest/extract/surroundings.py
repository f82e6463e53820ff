"""What stands around an address or a number on its page: who the words before it name, and what it belongs together
with. The merge decides by it whose it is, see `ingest.ownership`."""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from siteglass.ingest.extract.layout import Layout
from siteglass.ingest.extract.page import Page
from siteglass.query.folding import fold

MAX_LABEL_CHARS = 200
MAX_LINES_BEFORE = 4
MAX_TITLE_CHARS = 60
_SEGMENTS_PER_PARAGRAPH = 64

# Where a sentence ends, or a list goes on with something else.
_ENDS = re.compile(r"[.!?;]\s+|[。！？；]|\s[|·•–—]\s|\s\|\s?")
_ABBREVIATIONS = """
abs al apt av ave blvd bzw ca co corp dipl dott dr ext fax fr hr inc ing inh jr kom ltd me med mme mob mr mrs ms no nr
ph prof rd sig sr st ste str tel tlf tlph tél ul г д корп моб оф пр стр тел ул
"""
_abbreviations = frozenset(_ABBREVIATIONS.split())
_WORD_START = re.compile(r"\b\w")
_START_CHARS = 3
_SHORT_CHARS = 5
_NO_BLANKS = 0x0E00
_LAST_WORD = re.compile(r"([^\W\d_]+)\.$")


class Surroundings(NamedTuple):
    """Of one place in the text of a page."""

    group: int = -1
    """Values of a page with the same number stand in one sentence, or in one paragraph of short lines; -1: unknown."""
    party: str = ""
    """The kind of someone else that the words before it, or its heading, name; "" for none."""
    block: str = ""
    """footer, aside, quote, code, or ""."""


class _Phrases(NamedTuple):
    """Phrases that name someone else, with their kinds."""

    by_start: dict[str, list[tuple[str, str]]]
    """Those that count at the start of a word, by their first letters."""
    anywhere: list[tuple[str, str]]
    """Those of scripts without blanks between words."""


@cache
def _phrases() -> _Phrases:
    table = files("siteglass.ingest.extract").joinpath("third_parties.tsv").read_text(encoding="utf-8")
    found = _Phrases({}, [])
    for line in table.splitlines()[1:]:
        kind, _, words = line.split("\t")
        for phrase in (_spelled(word) for word in words.split(" | ")):
            if ord(phrase[0]) >= _NO_BLANKS:
                found.anywhere.append((phrase, kind))
            else:
                found.by_start.setdefault(phrase[:_START_CHARS], []).append((phrase, kind))
    return found


def _spelled(text: str) -> str:
    return fold(text).replace(" :", ":").replace("：", ":")


class PageSurroundings:
    """Looks up what stands around places of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    @cached_property
    def _layout(self) -> Layout:
        return self._page.layout

    @cached_property
    def _segments(self) -> dict[int, list[int]]:
        return {}

    def at(self, offset: int) -> Surroundings:
        """Of the text at an offset of `page.text`."""
        layout = self._layout
        if not layout.lines or offset < 0:
            return Surroundings()
        number = layout.line_at(offset)
        line = layout.lines[number]
        place = offset - layout.starts[number]
        starts = self._starts(number)
        segment = sum(start <= place for start in starts) - 1
        label = line.text[starts[segment] : place]
        if not segment:
            label = f"{self._before(number)} {label}"
        block = "code" if layout.is_code(offset) else line.block
        party = _party(f"{label[-MAX_LABEL_CHARS:]} ") or _party(line.heading)
        group = line.paragraph * _SEGMENTS_PER_PARAGRAPH + min(segment, _SEGMENTS_PER_PARAGRAPH - 1)
        return Surroundings(group, party, block)

    def of_link(self, url: str) -> Surroundings:
        """Of the first link that leads there."""
        return self.at(next((offset for offset, target in self._layout.contacts if target == url), -1))

    def _starts(self, number: int) -> list[int]:
        """Where the segments of a line start."""
        if number not in self._segments:
            self._segments[number] = _segment_starts(self._layout.lines[number].text)
        return self._segments[number]

    def _before(self, number: int) -> str:
        """The lines before a line that may say whose it is: those of its paragraph, and a title above it."""
        lines = self._layout.lines
        paragraph = lines[number].paragraph
        first = number
        while first and number - first < MAX_LINES_BEFORE and lines[first - 1].paragraph == paragraph:
            first -= 1
        if first and lines[first - 1].block == lines[number].block and _is_title(lines[first - 1].text):
            first -= 1
        return " ".join(line.text[-MAX_LABEL_CHARS:] for line in lines[first:number])


def _is_title(text: str) -> bool:
    is_sentence = text.endswith((".", "!", "?", "。"))
    return len(text) <= MAX_TITLE_CHARS and not is_sentence and not any(map(str.isdigit, text)) and "@" not in text


def _segment_starts(text: str) -> list[int]:
    starts = [0]
    for match in _ENDS.finditer(text):
        mark, behind = match[0].strip(), text[match.end() : match.end() + 1]
        ahead = text[max(0, match.start() - 20) : match.start()]
        if mark == "." and not _ends_sentence(ahead, behind):
            continue
        if mark in "–—·" and ahead[-1:].isdigit() and behind.isdigit():
            continue
        starts.append(match.end())
    return starts


def _ends_sentence(ahead: str, behind: str) -> bool:
    if behind.islower() or behind.isdigit():
        return False
    word = _LAST_WORD.search(f"{ahead}.")
    if not word or "@" in ahead.rpartition(" ")[2]:
        return True
    return len(word[1]) > 1 and word[1].lower() not in _abbreviations


def _party(text: str) -> str:
    """The kind of someone else that a text names last."""
    text = _spelled(text)
    known = _phrases()
    kind, last = "", -1
    for match in _WORD_START.finditer(text):
        start = match.start()
        for phrase, named in known.by_start.get(text[start : start + _START_CHARS], ()):
            if text.startswith(phrase, start) and not _goes_on(text, start, phrase):
                kind, last = named, start
    if not text.isascii():
        for phrase, named in known.anywhere:
            if (start := text.rfind(phrase)) > last:
                kind, last = named, start
    return kind


def _goes_on(text: str, start: int, phrase: str) -> bool:
    """Whether a short phrase is the beginning of another word, as "dpo" or "iod" may be."""
    return (
        len(phrase) <= _SHORT_CHARS
        and phrase.isalpha()
        and text[start + len(phrase) : start + len(phrase) + 1].isalnum()
    )
