"""The text around an address or a number on its page: who the words before it name, and what it belongs together with.
The merge decides by it whose it is, see `ingest.ownership`."""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from siteglass.ingest.extract.layout import Layout, Line
from siteglass.ingest.extract.own_words import is_claimed_after, is_independent, names_own_place, own_words_start
from siteglass.ingest.extract.page import Page
from siteglass.query.folding import fold

MAX_LABEL_CHARS = 200
MAX_LINES_BEFORE = 4
MAX_TITLE_CHARS = 60
MAX_OWN_CHARS = 400
SEGMENTS_PER_PARAGRAPH = 64
"""The number of a group is that of its paragraph times this, and the number of the sentence in it."""

# Where a sentence ends, or the next item of a list begins.
_ENDS = re.compile(r"[.!?;]\s+|[。！？；]|\s[|·•–—]\s|\s\|\s?")
_ABBREVIATIONS = """
abs al apt av ave blvd bzw ca co corp dipl dott dr ext fax fr hr inc ing inh jr kom ltd me med mme mob mr mrs ms no nr
ph prof rd sig sr st ste str tel tlf tlph tél ul г д корп моб оф пр стр тел ул
"""
_abbreviations = frozenset(_ABBREVIATIONS.split())
_WORD_START = re.compile(r"\b\w")
_WORD_CHARS = 4
_WORDS = re.compile(rf"[^\W\d_]{{{_WORD_CHARS}}}")
# A sentence in quotation marks, or a rating in stars, at the start of a line.
_QUOTATION = re.compile(r"[\"“”„«»「『‟][^\"“”„«»」』‟]{20,}|[★⭐]{2}")
_OWN = "own"
# Titles of pages that list other businesses; folded.
_LISTS = re.compile(
    r"\b(?:members?(?:hip)? directory|business directory|our members|directory of|dealer locator|find a dealer|"
    r"our dealers|stockists|where to buy|handlersuche|handlerverzeichnis|fachhandler|mitgliederverzeichnis|"
    r"mitgliedsbetriebe|unsere mitglieder|branchenverzeichnis|bezugsquellen|annuaire|nos adherents|nos membres|"
    r"revendeurs|directorio|nuestros socios|distribuidores|rivenditori|elenco soci|i nostri soci|verkooppunten|"
    r"ledenlijst|onze leden|aterforsaljare|forhandlere|jalleenmyyjat|dystrybutorzy|lista czlonkow|prodejci|"
    r"viszonteladok|distribuitori|membrii nostri|дилеры|где купить|каталог компаний|наши члены|bayilerimiz|"
    r"uyelerimiz)\b|会员名录|会員名簿|会員一覧|加盟店一覧|販売店一覧|取扱店|대리점|회원사"
)
# "the state drought hotline", "the dental emergency hotline"; "our hotline" is the business's own.
_PUBLIC_LINE = re.compile(r"\bthe (?:[\w'-]+ ){1,4}(?:hotline|helpline|emergency (?:line|number))\b")
_LISTING_PATH = re.compile(
    r"/(?:(?:member|business)-?)?(?:directory|members|dealers|stockists|resellers|annuaire)(?:/|\.|\Z)"
)
_WITHIN = re.compile(r"\"[^\"]{20,}\"|[“„][^“”„]{20,}[”“]|«[^«»]{20,}»|「[^「」]{10,}」")
_SIGNATURE = re.compile(r"(?:[^\W\d_a-z][\w'’.-]*\s?){2,3}, [^\W\d_]")
_DASHES = "-–—―~"
MAX_SIGNATURE_CHARS = 150
# What is left of an address or a number, from its @ or its start on.
_VALUE = re.compile(r"\A(?:@[\w.-]+\w|[+(]?\d[\d ()./-]*\d)")
_VALUE_CHARS = re.compile(r"[@\d]")
_NEXT_WORD = re.compile(r"\s[^\W\d_]{4}")
_LOCAL_CHARS = re.compile(r"[\w.+-]*")
_HOLDS_VALUE = re.compile(r"@|(?:\d\D{0,2}){7}")
MIN_SENTENCE_WORDS = 6
_START_CHARS = 3
_SHORT_CHARS = 5
_NO_BLANKS = 0x0E00
_LAST_WORD = re.compile(r"([^\W\d_]+)\.$")


class Surroundings(NamedTuple):
    """Of one place in the text of a page."""

    group: int = -1
    """Values of a page with the same number are in one sentence, or in one paragraph of short lines; -1: unknown."""
    party: str = ""
    """The kind of someone else that the words before it, or its heading, name; "" for none."""
    block: str = ""
    """footer, aside, quote, code, branch where the words name an own branch or a sister company, or ""."""


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
        for phrase in (_normalised(word) for word in words.split(" | ")):
            if ord(phrase[0]) >= _NO_BLANKS:
                found.anywhere.append((phrase, kind))
            else:
                found.by_start.setdefault(phrase[:_START_CHARS], []).append((phrase, kind))
    return found


def _normalised(text: str) -> str:
    return fold(text).replace(" :", ":").replace("：", ":")


class PageSurroundings:
    """Looks up the text around places of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    @cached_property
    def _layout(self) -> Layout:
        return self._page.layout

    @cached_property
    def _own_words(self) -> str:
        """What the site calls itself: a taxi company is not someone else where it says "taxi"."""
        page = self._page
        title = page.tree.css_first("title") if page.address.path in ("", "/") else None
        label = page.domain.partition(".")[0]
        names = (label, label.replace("-", " "), page.metas.get("og:site_name", ""), title.text() if title else "")
        return _normalised(" ".join(names)[:MAX_OWN_CHARS])

    @cached_property
    def _lists_others(self) -> bool:
        """Whether the page lists other businesses, each under its name: members, dealers."""
        page = self._page
        title, heading = page.tree.css_first("title"), page.tree.css_first("h1")
        said = " ".join(node.text()[:MAX_OWN_CHARS] for node in (title, heading) if node)
        return bool(_LISTS.search(_normalised(said)) or _LISTING_PATH.search(page.address.path.lower()))

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
        first = segment
        # "Médiateur: Medicys – 01 49 70 15 93": a piece without words takes the label of the piece before it.
        end = place - _local_part_chars(line.text[:place]) if line.text[place : place + 1] == "@" else place
        while first and not _WORDS.search(line.text, starts[first], end):
            end = min(end, starts[first] + _WORD_CHARS - 1)  # what follows has no word, as is known now
            first -= 1
        label = line.text[starts[first] : place]
        if not first:
            label = f"{self._before(number)} {label}"
        party = self._party_at(line, f"{label[-MAX_LABEL_CHARS:]} ", place)
        if not party and line.heading and self._lists_others:
            party = "directory"
        is_quoted = self._is_quoted(number) or _is_within_quotation(line.text, place)
        block: str = "code" if layout.is_code(offset) else line.block or ("quote" if is_quoted else "")
        if party == _OWN:
            # A customer who is quoted says "our office", too.
            party, block = "", block if block in ("quote", "code") else "branch"
        group = line.paragraph * SEGMENTS_PER_PARAGRAPH + min(segment, SEGMENTS_PER_PARAGRAPH - 1)
        return Surroundings(group, party, block)

    def _party_at(self, line: Line, label: str, place: int) -> str:
        own_words = self._own_words
        party = _party(label, own_words)
        after = _normalised(_VALUE.sub("", line.text[place : place + MAX_LABEL_CHARS], count=1))
        if party != _OWN and is_independent(f"{_normalised(label)} {after[:MAX_TITLE_CHARS]}"):
            return party or "partner"
        if party:
            return party
        if is_claimed_after(after):
            return _OWN
        has_label = _has_long_label(line.text[:place])
        for heading in dict.fromkeys((line.heading, line.section)):
            party = _party(heading, own_words) or (_OWN if names_own_place(_normalised(heading)) else "")
            # A heading names the place of a short line; a sentence below it may be about anyone.
            if party and (party != _OWN or (place <= MAX_TITLE_CHARS and not has_label)):
                return party
        return ""

    def of_link(self, url: str) -> Surroundings:
        """Of the first link that leads there."""
        return self.at(next((offset for offset, target in self._layout.contacts if target == url), -1))

    def _is_quoted(self, number: int) -> bool:
        """Whether a line quotes someone, or says who was quoted in the line above."""
        lines = self._layout.lines
        if _QUOTATION.match(lines[number].text):
            return True
        above = lines[number - 1] if number else None
        if above is None or not _QUOTATION.match(above.text) or len(lines[number].text) > MAX_SIGNATURE_CHARS:
            return False
        if lines[number].text[0] in _DASHES or above.paragraph == lines[number].paragraph:
            return True
        # "Dwight Ames, dispatcher, North Fork Aggregate · 307-733-8841": a name, and what its owner is.
        return _SIGNATURE.match(lines[number].text) is not None

    def _starts(self, number: int) -> list[int]:
        """Where the segments of a line start."""
        if number not in self._segments:
            self._segments[number] = _segment_starts(self._layout.lines[number].text)
        return self._segments[number]

    def _before(self, number: int) -> str:
        """The lines before a line that may say whose it is: those of its paragraph, and a title above it."""
        lines = self._layout.lines
        paragraph = lines[number].paragraph
        # A line that says much needs no words of lines above it that have their own values: "Stockists: a@b.example".
        says_much = len(_WORDS.findall(lines[number].text)) >= MIN_SENTENCE_WORDS
        first = number
        while first and number - first < MAX_LINES_BEFORE and lines[first - 1].paragraph == paragraph:
            if says_much and _HOLDS_VALUE.search(lines[first - 1].text):
                return " ".join(line.text[-MAX_LABEL_CHARS:] for line in lines[first:number])
            first -= 1
        if first and lines[first - 1].block == lines[number].block and _is_title(lines[first - 1].text):
            first -= 1
        return " ".join(line.text[-MAX_LABEL_CHARS:] for line in lines[first:number])


def _is_within_quotation(text: str, place: int) -> bool:
    return any(match.start() < place < match.end() for match in _WITHIN.finditer(text))


def _local_part_chars(text: str) -> int:
    """How long the part of an address is that a text ends with."""
    # Backwards: a search for the end of a text starts at every letter of it.
    match = _LOCAL_CHARS.match(text[::-1])
    return match.end() if match else 0


def _has_long_label(text: str) -> bool:
    """Whether a colon ends more than the word for what follows: "Agent for Scandinavia: …"."""
    # In pieces, since one expression for all of it takes minutes for a line of 20 kB.
    labels = (_VALUE_CHARS.split(piece)[-1] for piece in text.split(":")[:-1])
    return any((word := _WORDS.search(label)) and _NEXT_WORD.search(label, word.end()) for label in labels)


def _is_title(text: str) -> bool:
    is_sentence = text.endswith((".", "!", "?", "。"))
    return len(text) <= MAX_TITLE_CHARS and not is_sentence and not any(map(str.isdigit, text)) and "@" not in text


def _segment_starts(text: str) -> list[int]:
    starts = [0]
    unclosed = counted = 0
    for match in _ENDS.finditer(text):
        mark, after = match[0].strip(), text[match.end() : match.end() + 1]
        ahead = text[max(0, match.start() - 20) : match.start()]
        if mark == "." and not _ends_sentence(ahead, after):
            continue
        if mark in "–—·" and ahead[-1:].isdigit() and after.isdigit():
            continue
        if mark in ";；":
            unclosed += text.count("(", counted, match.start()) - text.count(")", counted, match.start())
            counted = match.start()
            if unclosed > 0:
                continue  # "(Jorge Juan 6; tel. 912 663 517; consultas@…)" is said of one
        starts.append(match.end())
    return starts


def _ends_sentence(ahead: str, after: str) -> bool:
    if after.islower() or after.isdigit():
        return False
    word = _LAST_WORD.search(f"{ahead}.")
    if not word or "@" in ahead.rpartition(" ")[2]:
        return True
    return len(word[1]) > 1 and word[1].lower() not in _abbreviations


def _party(text: str, own: str) -> str:
    """The kind of someone else that a text names last, in words that are not the site's own name."""
    text = _normalised(text)
    known = _phrases()
    kind, last = "", -1
    for match in _WORD_START.finditer(text):
        start = match.start()
        for phrase, named in known.by_start.get(text[start : start + _START_CHARS], ()):
            if text.startswith(phrase, start) and not _goes_on(text, start, phrase) and phrase not in own:
                kind, last = named, start
    if (line := _PUBLIC_LINE.search(text)) and line.start() > last:
        kind, last = "hotline", line.start()
    if not text.isascii():
        for phrase, named in known.anywhere:
            if (start := text.rfind(phrase)) > last and phrase not in own:
                kind, last = named, start
    return _OWN if own_words_start(text) > last else kind


def _goes_on(text: str, start: int, phrase: str) -> bool:
    """Whether a short phrase is the beginning of another word, as "dpo" or "iod" may be."""
    return (
        len(phrase) <= _SHORT_CHARS
        and phrase.isalpha()
        and text[start + len(phrase) : start + len(phrase) + 1].isalnum()
    )
