"""Parts of compound words: a keyword `zahnarzt` also finds "Zahnarztpraxis".

For German, Dutch, Swedish, Danish and Norwegian. Words of pages are split when a document is made; queries never are. A
word is split if it consists of listed parts, with the letters that join parts and an ending: zahnarzt + praxis,
versicherung + s + makler. Of several ways, the one with the fewest parts counts. If a word has other parts too, a long
part is enough at its start or end: "schule" in "Berufsschule".

Which parts are found, and where, is in the files beside this one. "Haus" completes words such as "Krankenhaus", but a
hospital is not a house, so it is not found in them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from siteglass.query.folding import fold

LANGUAGES = ("de", "nl", "sv", "da", "no")
_SAME = {"nb": "no", "nn": "no"}
MIN_WORD_CHARS, MAX_WORD_CHARS = 6, 40
# A part of this length is rarely a word by accident.
MIN_LONG_CHARS, MIN_REST_CHARS = 6, 4
# A part of two letters comes first, and no letters join it with the next: el + firma.
MIN_FIRST_CHARS, MIN_LAST_CHARS = 2, 3
MAX_PARTS = 4

_WORD = re.compile(rf"[^\W\d_]{{{MIN_WORD_CHARS},}}")
# What follows a long part may be just an ending: Elektro + lyse, Partner + schaft.
_NO_REST = re.compile(
    r".*(?:isch|ische|ischer|isches|ischen|lich|liche|licher|liches|lichen|schaft|ung|ungen|ant|ist|lyse|lyt)"
)

_PREPOSITIONS = frozenset({"durch", "unter", "uber", "hinter", "wider", "gegen", "onder", "achter", "under", "efter"})

Where = Literal["both", "first", "last", "silent"]


class _Part(NamedTuple):
    base: str
    where: Where


class _Piece(NamedTuple):
    """A part as it is in a word, and as it is written with letters that may make it a plural: blume, blumen."""

    form: str
    written: str


class _Way(NamedTuple):
    """A way to split the rest of a word: fewer parts are better, then fewer letters between them."""

    parts: int
    joined: int
    pieces: tuple[_Piece, ...]


class _Language:
    """The lists of a language."""

    def __init__(self, code: str) -> None:
        lists = tomllib.loads(files(__package__).joinpath(f"{code}.toml").read_text("utf-8"))
        self.never = frozenset(lists["never"]["words"].split())
        self.parts: dict[str, _Part] = {word: _Part(word, "silent") for word in self.never}
        for where in ("silent", "first", "last", "both"):
            for entry in lists.get(where, "").split():
                base, _, forms = entry.partition("=")
                for form in (*filter(None, forms.split(",")), base):
                    self.parts[form] = _Part(base, where)
                if code == "sv" and base.endswith("are"):
                    self.parts[base[:-1]] = _Part(base, where)  # maklare in maklarbyra
        self.pairs = {base: frozenset(before.split()) for base, before in lists["pairs"].items()}
        self.between: list[str] = lists["between"]
        self.plurals = frozenset(lists["plurals"])
        """Letters between parts that may also make a plural."""
        self.endings = frozenset(lists["endings"])
        self.longest = max(map(len, self.parts))

    def parts_of(self, word: str) -> Iterator[str]:
        """The parts of a folded word that a keyword finds."""
        known = self.parts.get(word)
        if word in self.never or (known and known.where == "silent"):
            return
        if way := self._split(word):
            yield from self._found(way.pieces)
        else:
            yield from self._long(word)

    def _split(self, word: str) -> _Way | None:
        """The best way to split a word into at least two parts."""

        @cache
        def rest(start: int, count: int) -> _Way | None:
            ways: list[_Way] = []
            for end in range(start + MIN_FIRST_CHARS, min(len(word), start + self.longest) + 1):
                if (form := word[start:end]) not in self.parts:
                    continue
                if count and self._may_end(form, start) and word[end:] in self.endings:
                    ways.append(_Way(1, len(word) - end, (_Piece(form, word[start:]),)))
                for letters in self._joining(word, end, count, form):
                    if way := rest(end + len(letters), count + 1):
                        written = form + letters if letters in self.plurals else form
                        pieces = (_Piece(form, written), *way.pieces)
                        ways.append(_Way(way.parts + 1, way.joined + len(letters), pieces))
            return min(ways, key=lambda way: way[:2], default=None)

        return rest(0, 0)

    def _may_end(self, form: str, before: int) -> bool:
        """Whether a word may end with a part, after so many letters. A short one that is never found completes too many
        words by accident: akku + rat."""
        if self.parts[form].where == "silent" and len(form) == MIN_LAST_CHARS:
            return before > len(form) + 1
        return len(form) >= MIN_LAST_CHARS

    def _joining(self, word: str, end: int, count: int, form: str) -> Iterator[str]:
        """Letters after which another part may begin."""
        if count + 1 < MAX_PARTS:
            for letters in self.between if len(form) > MIN_FIRST_CHARS else [""]:
                if word.startswith(letters, end) and end + len(letters) < len(word):
                    yield letters

    def _found(self, pieces: tuple[_Piece, ...]) -> Iterator[str]:
        for number, piece in enumerate(pieces):
            base, where = self.parts[piece.form]
            is_last = number == len(pieces) - 1
            if where == "silent":
                before = self.parts[pieces[number - 1].form].base if is_last else ""
                shown = before in self.pairs.get(base, ())
            else:
                shown = where == "both" or (where == "last") is is_last
            if shown:
                yield base
                if piece.written != f"{base}s":  # it joins parts
                    yield piece.written

    def _long(self, word: str) -> Iterator[str]:
        """A long part at the start, or at the end, of a word whose other parts are not known."""
        for size in range(min(self.longest, len(word) - MIN_REST_CHARS), MIN_LONG_CHARS - 1, -1):
            first, last = self.parts.get(word[:size]), self.parts.get(word[-size:])
            if first and first.where in ("both", "first") and not _NO_REST.fullmatch(word[size:]):
                yield first.base
                return
            if last and last.where in ("both", "last") and word[:-size] not in _PREPOSITIONS:
                yield last.base
                return
            if (first or last) and word[:size] in self.never:
                return


@cache
def _language(code: str) -> _Language:
    return _Language(code)


@lru_cache(200_000)
def parts_of_word(word: str, language: str) -> tuple[str, ...]:
    """The parts of a word, folded; none if it is not a compound, or of another language."""
    code = _SAME.get(language, language)
    folded = fold(word)
    if code not in LANGUAGES or not MIN_WORD_CHARS <= len(folded) <= MAX_WORD_CHARS:
        return ()
    return tuple(dict.fromkeys(_language(code).parts_of(folded)))


def parts_of_texts(texts: Iterable[str], language: str) -> list[str]:
    """The parts of all compounds in some texts, each once."""
    if _SAME.get(language, language) not in LANGUAGES:
        return []
    words = dict.fromkeys(_WORD.findall("\n".join(texts)))
    return list(dict.fromkeys(part for word in words for part in parts_of_word(word, language)))
